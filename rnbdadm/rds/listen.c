// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/processes.h"
#include "host/sysfs-file.h"
#include "rds/listen.h"

#define TCP_SYN_SENT	2
#define TCP_LISTEN	10

struct tcp_line {
	struct addr local, remote;
	unsigned int state;
	uint64_t inode;
};

/* Words of 32 bits in the order of the host, as the kernel prints them. */
static bool parse_end(const char *text, struct addr *a)
{
	size_t hex = strcspn(text, ":"), words = hex / 8;
	uint32_t w[4] = { 0 };

	memset(a, 0, sizeof(*a));
	if (text[hex] != ':' || (words != 1 && words != 4))
		return false;
	for (size_t i = 0; i < words; i++) {
		char one[9] = "";

		memcpy(one, text + 8 * i, 8);
		w[i] = (uint32_t)strtoul(one, NULL, 16);
	}
	a->port = (uint16_t)strtoul(text + hex + 1, NULL, 16);
	if (!(w[0] | w[1] | w[2] | w[3]))
		return true;
	/* an IPv4 address in the table of IPv6 */
	if (words == 4 && !w[0] && !w[1] && !memcmp(&w[2], "\0\0\xff\xff", 4)) {
		w[0] = w[3];
		words = 1;
	}
	a->family = words == 1 ? ADDR_IPV4 : ADDR_IPV6;
	memcpy(a->raw, w, 4 * words);
	return true;
}

static bool parse_line(const char *line, struct tcp_line *t)
{
	char local[64], remote[64];

	return sscanf(line, " %*u: %63s %63s %x %*s %*s %*s %*s %*s %" SCNu64, local, remote, &t->state, &t->inode) == 4 &&
	       parse_end(local, &t->local) && parse_end(remote, &t->remote);
}

/* Calls @each for the lines of both tables; false if there is neither. */
static bool each_line(const char *root, void (*each)(void *arg, const struct tcp_line *t), void *arg)
{
	static const char *const files[] = { "/proc/net/tcp", "/proc/net/tcp6" };
	struct tcp_line t;
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char *text = sys_text(root, files[i]), *save = NULL;

		any |= text != NULL;
		for (char *l = text ? strtok_r(text, "\n", &save) : NULL; l; l = strtok_r(NULL, "\n", &save))
			if (parse_line(l, &t))
				each(arg, &t);
		free(text);
	}
	return any;
}

struct search {
	const char *root, *pid;
	unsigned int port;
	struct rds_listeners *l;
	const struct addr *remote;
	bool found;
};

static void add_listener(void *arg, const struct tcp_line *t)
{
	struct search *s = arg;
	struct rds_listeners *l = s->l;

	if (t->state != TCP_LISTEN || t->local.port != s->port)
		return;
	l->v = xrealloc(l->v, (l->n + 1) * sizeof(*l->v));
	l->v[l->n++] = (struct rds_listener){ .local = t->local, .inode = t->inode };
}

static void look_at_file(void *arg, const char *fd, const char *to)
{
	struct search *s = arg;
	uint64_t inode;

	if (sscanf(to, "socket:[%" SCNu64 "]", &inode) != 1)
		return;
	for (size_t i = 0; i < s->l->n; i++) {
		struct rds_listener *one = &s->l->v[i];
		char *comm;

		if (one->inode != inode || one->process)
			continue;
		comm = sys_read(s->root, "/proc/%s/comm", s->pid);
		one->process = xasprintf("process %s (%s)", s->pid, comm ? comm : "?");
		free(comm);
	}
}

static void look_at_process(void *arg, const char *pid)
{
	struct search *s = arg;

	s->pid = pid;
	proc_files(s->root, pid, look_at_file, s);
}

void rds_listeners(const char *root, unsigned int port, struct rds_listeners *l)
{
	struct search s = { .root = root, .port = port, .l = l };

	memset(l, 0, sizeof(*l));
	l->known = each_line(root, add_listener, &s);
	if (l->n)
		proc_each(root, look_at_process, &s);
}

void rds_listeners_free(struct rds_listeners *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].process);
	free(l->v);
}

static void look_for_syn(void *arg, const struct tcp_line *t)
{
	struct search *s = arg;

	s->found |= t->state == TCP_SYN_SENT && t->remote.port == s->port && addr_equal(&t->remote, s->remote);
}

bool rds_unanswered(const char *root, unsigned int port, const struct addr *remote)
{
	struct search s = { .root = root, .port = port, .remote = remote };

	each_line(root, look_for_syn, &s);
	return s.found;
}
