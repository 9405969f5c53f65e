// SPDX-License-Identifier: GPL-2.0
/* Who has an RDS socket open: links /proc/PID/fd/N to "socket:[INODE]", as ss finds them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/processes.h"
#include "host/sysfs-file.h"
#include "rds/lists.h"

struct search {
	struct rds_lists *lists;
	const char *root, *pid;
};

static void add_user(const struct search *s, struct rds_socket_row *row)
{
	uint64_t pid = strtoull(s->pid, NULL, 10);
	char *comm;

	/* it may have it open twice */
	if (row->nusers && row->users[row->nusers - 1].pid == pid)
		return;
	comm = sys_read(s->root, "/proc/%s/comm", s->pid);
	row->users = xrealloc(row->users, (row->nusers + 1) * sizeof(*row->users));
	row->users[row->nusers++] = (struct rds_user){ pid, comm ? comm : xstrdup("?") };
}

static void look_at_file(void *arg, const char *fd, const char *to)
{
	const struct search *s = arg;
	uint64_t inode;

	if (sscanf(to, "socket:[%" SCNu64 "]", &inode) != 1)
		return;
	for (size_t i = 0; i < s->lists->nsockets; i++)
		if (s->lists->sockets[i].s.inode == inode)
			add_user(s, &s->lists->sockets[i]);
}

static void look_at_process(void *arg, const char *pid)
{
	struct search *s = arg;

	s->pid = pid;
	proc_files(s->root, pid, look_at_file, s);
}

void rds_users(const char *root, struct rds_lists *l)
{
	struct search s = { .lists = l, .root = root };

	if (l->nsockets)
		proc_each(root, look_at_process, &s);
}
