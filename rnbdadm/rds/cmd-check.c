// SPDX-License-Identifier: GPL-2.0
/* rds check: what is wrong with RDS on this host, and what helps */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "host/rdma-listeners.h"
#include "host/sysfs-file.h"
#include "rds/commands.h"
#include "rds/listen.h"
#include "rds/lists.h"

#define KERNEL_BUFFER	212992	/* net.core.rmem_default and wmem_default, if nobody has changed them */

struct rds_checkup {
	struct checkup k;		/* first: a check gets this one */
	struct rds_module m[RDS_MODULES];
	struct rds_lists lists;
	bool open;			/* the lists were read */
};

static const struct rds_checkup *of(const struct checkup *k)
{
	return (const struct rds_checkup *)k;
}

static bool has_line(const char *text, const char *start)
{
	size_t n = strlen(start);

	while (text && strncmp(text, start, n)) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text;
}

/* "install rds /bin/true" below modprobe.d makes modprobe do nothing: the file, or NULL. */
static char *disabled_by(const struct checkup *k, const char *module)
{
	static const char *const dirs[] = { "/etc/modprobe.d", "/run/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d" };
	char *found = NULL, *line = xasprintf("install %s ", module);

	for (size_t d = 0; d < ARRAY_SIZE(dirs) && !found; d++) {
		struct strlist files = { 0 };

		sys_list(k->root, &files, "%s", dirs[d]);
		for (size_t i = 0; i < files.n && !found; i++) {
			char *file = xasprintf("%s/%s", dirs[d], files.v[i]), *text = sys_text(k->root, file);

			if (has_line(text, line))
				found = xstrdup(file);
			free(text);
			free(file);
		}
		strlist_free(&files);
	}
	free(line);
	return found;
}

static bool is_kernels_file(const char *file)
{
	return file && strstr(file, "/kernel/net/rds/");
}

/* Is the core the kernel's? The one that is loaded, or else the one that modprobe would load. */
static bool core_is_kernels(const struct checkup *k)
{
	const char *origin = of(k)->m[0].origin;
	char *file = origin ? NULL : check_module_file(k, "rds");
	bool is = origin ? !strcmp(origin, "kernel") : is_kernels_file(file);

	free(file);
	return is;
}

/* What modprobe would load is not of the origin of the core: the file, or NULL. */
static char *misfit(const struct checkup *k, const char *module)
{
	char *file = check_module_file(k, module);

	if (file && is_kernels_file(file) != core_is_kernels(k))
		return file;
	free(file);
	return NULL;
}

/* What to load: there is no rds_rdma that fits ours. */
static const char *modprobe_what(const struct checkup *k)
{
	char *file = misfit(k, "rds_rdma");
	bool fits = !file;

	free(file);
	return fits ? "modprobe rds_tcp, or modprobe rds_rdma" : "modprobe rds_tcp";
}

static void rds_module(struct checkup *k)
{
	char *disabled, *file;

	if (of(k)->open) {
		check_tell(k, CHECK_PASS, "rds", "loaded%s%s", of(k)->m[0].version ? ", version " : "",
			   of(k)->m[0].version ? of(k)->m[0].version : "");
		return;
	}
	if (of(k)->m[0].loaded) {
		check_tell(k, CHECK_FAIL, "rds", "its lists cannot be read: %s", k->ctx->fail.message);
		check_hint(k, "%s", k->ctx->fail.hint ? k->ctx->fail.hint : "the kernel log may say why");
		return;
	}
	disabled = disabled_by(k, "rds");
	file = check_module_file(k, "rds");
	check_tell(k, CHECK_FAIL, "rds", "not loaded: programs get EAFNOSUPPORT");
	if (disabled)
		check_hint(k, "%s keeps modprobe from loading it: remove the line 'install rds' there; then modprobe rds_tcp",
			   disabled);
	else if (!file)
		check_hint(k, "this kernel has no such module installed: install the package of its modules");
	else
		check_hint(k, "%s; a name in /etc/modules-load.d loads it at boot", modprobe_what(k));
	free(file);
	free(disabled);
}

static const char *whose(const char *origin)
{
	return !strcmp(origin, "kernel") ? "the kernel's own" : "of rnbd-dkms";
}

/* Unloads what there is, in an order that works. */
static void hint_exchange(struct checkup *k, const char *module)
{
	check_hint(k, "stop the programs of 'rnbdadm rds socket', modprobe -r%s%s rds, then modprobe %s",
		   of(k)->m[1].loaded ? " rds_tcp" : "", of(k)->m[2].loaded ? " rds_rdma" : "", module);
}

/* Modules of the two origins have the same names. */
static void rds_origin(struct checkup *k)
{
	const char *first = of(k)->m[0].origin;

	for (size_t i = 0; i < RDS_MODULES; i++) {
		const struct rds_module *m = &of(k)->m[i];
		char *file;

		if (!m->loaded)
			continue;
		file = misfit(k, m->name);
		if (first && strcmp(m->origin, first)) {
			check_tell(k, CHECK_FAIL, m->name, "is %s, while rds is %s", whose(m->origin), whose(first));
			check_hint(k, "modprobe -r %s rds, then modprobe %s", m->name, m->name);
		} else if (file) {
			check_tell(k, CHECK_WARN, m->name, "is %s, but the next modprobe loads %s", whose(m->origin), file);
			if (is_kernels_file(file))
				check_hint(k, "install rnbd-dkms for this kernel, and depmod -a");
			else
				hint_exchange(k, m->name);
		} else {
			check_tell(k, CHECK_PASS, m->name, "is %s", whose(m->origin));
		}
		free(file);
	}
	if (!first)
		check_tell(k, CHECK_SKIP, "", "rds is not loaded");
}

static void no_transport(struct checkup *k)
{
	char *file = misfit(k, "rds_tcp");

	if (file) {
		check_tell(k, CHECK_FAIL, "rds_tcp", "%s cannot be loaded beside the rds that is, %s: modprobe says Unknown symbol", file,
			   whose(of(k)->m[0].origin));
		hint_exchange(k, "rds_tcp");
	} else {
		check_tell(k, CHECK_FAIL, "", "none is loaded: bind() to all but 127.0.0.0/8 fails with EADDRNOTAVAIL");
		check_hint(k, "%s", modprobe_what(k));
	}
	free(file);
}

static void rds_transport(struct checkup *k)
{
	const struct rds_module *m = of(k)->m;

	if (!m[0].loaded)
		check_tell(k, CHECK_SKIP, "", "rds is not loaded");
	else if (m[1].loaded || m[2].loaded)
		check_tell(k, CHECK_PASS, "", "%s%s%s", m[1].loaded ? "tcp" : "", m[1].loaded && m[2].loaded ? ", " : "",
			   m[2].loaded ? "infiniband" : "");
	else
		no_transport(k);
}

static void rds_tcp_port(struct checkup *k)
{
	bool loaded = of(k)->m[1].loaded, kernel = false;
	const char *process = NULL;
	struct rds_listeners l;

	rds_listeners(k->root, RDS_TCP_PORT, &l);
	for (size_t i = 0; i < l.n; i++) {
		kernel |= !l.v[i].process;
		process = l.v[i].process ? l.v[i].process : process;
	}
	if (!l.known) {
		check_tell(k, CHECK_SKIP, "", "/proc/net/tcp does not tell");
	} else if (process) {
		check_tell(k, of(k)->m[0].loaded ? CHECK_FAIL : CHECK_WARN, "rds_tcp", "%s listens on TCP port %d, which is that of RDS",
			   process, RDS_TCP_PORT);
		check_hint(k, loaded ? "give that program another port, then modprobe -r rds_tcp and modprobe rds_tcp" :
			   "give that program another port, then modprobe rds_tcp, which else fails: Address family not supported");
	} else if (loaded && !kernel) {
		check_tell(k, CHECK_FAIL, "rds_tcp", "does not listen on TCP port %d: peers cannot connect", RDS_TCP_PORT);
		check_hint(k, "modprobe -r rds_tcp and modprobe rds_tcp; the kernel log has the "
			      "reason");
	} else if (loaded) {
		check_tell(k, CHECK_PASS, "rds_tcp", "listens on TCP port %d", RDS_TCP_PORT);
	} else {
		check_tell(k, CHECK_SKIP, "", "rds_tcp is not loaded");
	}
	rds_listeners_free(&l);
}

static void rds_cm_port(struct checkup *k)
{
	static const unsigned int ports[] = { RDS_TCP_PORT, RDS_CM_PORT };
	bool other = false;

	for (size_t i = 0; i < ARRAY_SIZE(ports) && of(k)->m[2].loaded && !*k->root; i++) {
		char object[8];
		struct strlist who = { 0 };

		snprintf(object, sizeof(object), "%u", ports[i]);
		rdma_listeners(ports[i], &who);
		for (size_t w = 0; w < who.n; w++) {
			if (!strcmp(who.v[w], "the kernel module rds_rdma"))
				continue;
			other = true;
			check_tell(k, CHECK_FAIL, object, "%s listens on this RDMA port, which is that of rds_rdma", who.v[w]);
			check_hint(k, "give that program another port, then modprobe -r rds_rdma and modprobe rds_rdma");
		}
		strlist_free(&who);
	}
	if (!of(k)->m[2].loaded)
		check_tell(k, CHECK_SKIP, "", "rds_rdma is not loaded");
	else if (!other)
		check_tell(k, CHECK_PASS, "", "nobody else listens on the RDMA ports of RDS");
}

static void rds_ping_enable(struct checkup *k)
{
	uint64_t v = sys_number(k->root, "/proc/sys/net/rds/ping_enable");

	if (v == UINT64_MAX) {
		check_tell(k, CHECK_SKIP, "", "there is no sysctl net.rds.ping_enable here");
	} else if (v) {
		check_tell(k, CHECK_PASS, "", "pings and probes of peers are answered");
	} else {
		check_tell(k, CHECK_FAIL, "", "net.rds.ping_enable is 0: probes are not answered either, and senders of peers hang");
		check_hint(k, "sysctl net.rds.ping_enable=1");
	}
}

static void rds_buffers(struct checkup *k)
{
	static const char *const names[] = { "rmem_default", "wmem_default" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		uint64_t v = sys_number(k->root, "/proc/sys/net/core/%s", names[i]);

		if (v == UINT64_MAX) {
			check_tell(k, CHECK_SKIP, names[i], "the kernel does not tell");
		} else if (v < KERNEL_BUFFER) {
			check_tell(k, CHECK_WARN, names[i], "a socket holds %" PRIu64 " bytes of messages, fewer than the %d that programs expect",
				   v / 2, KERNEL_BUFFER / 2);
			check_hint(k, "sysctl net.core.%s=%d", names[i], KERNEL_BUFFER);
		} else {
			check_tell(k, CHECK_PASS, names[i], "a socket holds %" PRIu64 " bytes of messages", v / 2);
		}
	}
}

/* The names of processes are what they like. */
static char *user_of(const struct rds_socket_row *row)
{
	return row->nusers ? xasprintf("process %" PRIu64 " (%s)", row->users[0].pid, row->users[0].name) :
			     xasprintf("the process with inode %" PRIu64, row->s.inode);
}

static void rds_queues(struct checkup *k)
{
	bool full = false;

	for (size_t i = 0; i < of(k)->lists.nsockets; i++) {
		const struct rds_socket_row *row = &of(k)->lists.sockets[i];
		char *end, *user;

		if (!row->receive.known || row->receive.bytes <= row->s.receive_buffer)
			continue;
		full = true;
		end = rds_end(&row->s.local);
		user = user_of(row);
		check_tell(k, CHECK_WARN, end, "%s does not read: %" PRIu64 " bytes wait, %" PRIu32 " are its buffer; senders get ENOBUFS",
			   user, row->receive.bytes, row->s.receive_buffer);
		check_hint(k, "let the process read, or give it a larger SO_RCVBUF");
		free(user);
		free(end);
	}
	if (!of(k)->open)
		check_tell(k, CHECK_SKIP, "", "the lists of RDS were not read");
	else if (!full)
		check_tell(k, CHECK_PASS, "", "no socket has more to read than its buffer holds");
}

/* Down is what a connection is that nobody has needed yet, or that the peer is to make again. */
static bool is_stuck(const struct rds_connection_row *row)
{
	const char *state = rds_state(&row->c);

	return !strcmp(state, "connecting") || (!strcmp(state, "down") && row->unsent.known && row->unsent.messages);
}

static void tell_connection(struct checkup *k, const struct rds_connection *c)
{
	char local[ADDR_TEXT_MAX], remote[ADDR_TEXT_MAX], object[2 * ADDR_TEXT_MAX];

	addr_format_bare(&c->local, local);
	addr_format_bare(&c->remote, remote);
	snprintf(object, sizeof(object), "%s-%s", local, remote);
	check_tell(k, CHECK_WARN, object, "%s, over %s", rds_state(c), c->transport);
	if (strcmp(c->transport, "tcp"))
		check_hint(k, "on %s: is the module loaded? rnbdadm rds ping %s", remote, remote);
	else if (rds_unanswered(k->root, RDS_TCP_PORT, &c->remote))
		check_hint(k, "%s does not answer at TCP port %d: the host is down, or a firewall drops it", remote, RDS_TCP_PORT);
	else
		check_hint(k, "on %s: modprobe rds_tcp, and let TCP port %d in; then rnbdadm rds ping %s", remote, RDS_TCP_PORT,
			   remote);
}

static void rds_connections(struct checkup *k)
{
	const struct rds_lists *l = &of(k)->lists;
	bool all = true;

	for (size_t i = 0; i < l->nconnections; i++) {
		if (!is_stuck(&l->connections[i]))
			continue;
		all = false;
		tell_connection(k, &l->connections[i].c);
	}
	if (!of(k)->open)
		check_tell(k, CHECK_SKIP, "", "the lists of RDS were not read");
	else if (all)
		check_tell(k, CHECK_PASS, "", "none of %zu is stuck", l->nconnections);
}

/* Messages of two transports have no order between them. */
static void rds_mixed(struct checkup *k)
{
	const struct rds_lists *l = &of(k)->lists;
	bool mixed = false;

	for (size_t i = 1; i < l->nconnections; i++) {
		const struct rds_connection *a = &l->connections[i - 1].c, *b = &l->connections[i].c;
		char remote[ADDR_TEXT_MAX];

		if (!addr_equal(&a->local, &b->local) || !addr_equal(&a->remote, &b->remote) || !strcmp(a->transport, b->transport))
			continue;
		mixed = true;
		addr_format_bare(&b->remote, remote);
		check_tell(k, CHECK_WARN, remote, "is reached over %s and over %s: messages of the two have no order", a->transport,
			   b->transport);
		check_hint(k, "load one transport on both hosts, or set SO_RDS_TRANSPORT in the programs");
	}
	if (!of(k)->open)
		check_tell(k, CHECK_SKIP, "", "the lists of RDS were not read");
	else if (!mixed)
		check_tell(k, CHECK_PASS, "", "each peer is reached over one transport");
}

static const struct {
	const char *id;
	void (*run)(struct checkup *k);
} checks[] = {
	{ "rds.module", rds_module }, { "rds.origin", rds_origin }, { "rds.transport", rds_transport },
	{ "rds.tcp_port", rds_tcp_port }, { "rds.rdma_port", rds_cm_port }, { "rds.ping_enable", rds_ping_enable },
	{ "rds.buffers", rds_buffers }, { "rds.queues", rds_queues }, { "rds.connections", rds_connections },
	{ "rds.mixed", rds_mixed },
};

int cmd_rds_check(struct ctx *ctx)
{
	struct rds_checkup c = { .k = { .ctx = ctx, .root = ctx->test_root, .results = json_array() } };
	struct rds r;
	int rc;

	rds_modules(ctx->test_root, c.m);
	c.open = rds_open(ctx, &r) && rds_lists(ctx, &r, &c.lists);
	rds_close(&r);
	if (c.open)
		rds_users(ctx->test_root, &c.lists);
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		c.k.id = checks[i].id;
		checks[i].run(&c.k);
	}
	/* what cannot be read is a finding, and no failure of the run */
	fail_clear(&ctx->fail);
	rc = check_report(&c.k);
	json_decref(c.k.results);
	rds_lists_free(&c.lists);
	rds_modules_free(c.m);
	return rc;
}
