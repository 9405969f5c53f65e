// SPDX-License-Identifier: GPL-2.0
/* map: a device of a server becomes a disk here */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/size.h"
#include "cmd/commands.h"
#include "config/save-map.h"
#include "grammar/settings.h"
#include "host/disks.h"
#include "host/owners.h"
#include "output/to-json.h"
#include "task/dry-run.h"
#include "task/new-paths.h"
#include "task/select.h"
#include "task/wait.h"

struct plan {
	struct map_request req;
	char *session;
	struct ways ways;
	struct ways add;		/* of them those that the session lacks */
	struct map_keep keep;
	int64_t wait_ms;
};

/* --server HOST: an address, or a name to resolve. */
static int add_server(struct ctx *ctx, struct plan *p, const char *host)
{
	char *text = addr_of_host(host);
	int rc = way_add(ctx, &p->ways, text, "--server");

	free(text);
	return rc;
}

/* <own host name>@HOST; what the kernel takes in no name becomes '_'. */
static char *default_session(const char *host)
{
	char own[65] = "localhost", *s;

	gethostname(own, sizeof(own) - 1);
	s = xasprintf("%s@%s", own, host);
	for (char *p = s; *p; p++)
		if (*p == '.' || *p == '/')
			*p = '_';
	return s;
}

static int plan_paths(struct ctx *ctx, struct plan *p)
{
	const char *host = args_value(&ctx->args, OPT_SERVER_HOST);
	bool literal = p->ways.literal;
	int rc = ways_parse(ctx, OPT_PATH, &p->ways);

	/* DNS is asked when there is no such session */
	p->ways.literal = true;
	if (!rc && host && !p->ways.n)
		rc = add_server(ctx, p, host);
	p->ways.literal = literal;
	return rc;
}

static int make_plan(struct ctx *ctx, struct plan *p)
{
	const struct parsed *a = &ctx->args;
	const char *session = args_value(a, OPT_SESSION), *host = args_value(a, OPT_SERVER_HOST);
	const char *polls = args_value(a, OPT_POLL_QUEUES);
	static const enum opt_id waits[] = { OPT_WAIT, OPT_NO_WAIT };
	char *msg;

	if (!session && !host)
		return fail_set(&ctx->fail, XC_USAGE, "--session or --server is missing");
	p->session = session ? xstrdup(session) : default_session(host);
	msg = session_name_problem(p->session);
	if (msg)
		return fail_usage(&ctx->fail, msg, NULL);
	if (strlen(a->args[0]) > 254)
		return fail_set(&ctx->fail, XC_USAGE, "DEVICE_PATH has at most 254 bytes");
	p->req = (struct map_request){
		.session = p->session, .device_path = a->args[0],
		.access = M_UNKNOWN, .io_mode = M_UNKNOWN, .poll_queues = M_UNKNOWN,
		.connections = args_uint(a, OPT_CONNECTIONS, M_UNKNOWN),
		.always_fua = args_has(a, OPT_FUA),
	};
	if (settings_parse(&ctx->args, &p->req.set, &ctx->fail))
		return XC_USAGE;
	if (args_has(a, OPT_ACCESS))
		access_parse(args_value(a, OPT_ACCESS), &p->req.access);
	if (args_has(a, OPT_IO_MODE))
		io_mode_parse(args_value(a, OPT_IO_MODE), &p->req.io_mode);
	if (args_has(a, OPT_MP_POLICY))
		mp_policy_parse(args_value(a, OPT_MP_POLICY), &p->req.set.mp_policy);
	if (polls && !strcmp(polls, "all"))
		p->req.poll_queues = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	else if (polls && (!parse_uint(polls, &p->req.poll_queues) || p->req.poll_queues > 4096))
		return fail_set(&ctx->fail, XC_USAGE, "--poll-queues: at most 4096");
	if (way_timeout(ctx, "map", &p->req.timeout_ms))
		return XC_USAGE;
	p->wait_ms = args_time(a, OPT_WAIT, 10000);
	if (args_last(a, waits, ARRAY_SIZE(waits)) == OPT_NO_WAIT)
		p->wait_ms = 0;
	if (keep_parse(ctx, &p->keep, p->session, p->req.device_path))
		return XC_USAGE;
	return plan_paths(ctx, p);
}

static void free_plan(struct plan *p)
{
	free(p->session);
	keep_free(&p->keep);
	ways_free(&p->add);
	ways_free(&p->ways);
}

int cmd_map_check(struct ctx *ctx)
{
	struct plan p = { .ways.literal = true };
	int rc = make_plan(ctx, &p);

	free_plan(&p);
	return rc;
}

/* Those that an existing session lacks; they are an error without --add-paths. */
static int check_missing(struct ctx *ctx, struct plan *p, const struct session *sess,
			 const struct snapshot *s)
{
	const struct addr_pair *missing = way_missing(&p->ways, sess, s);
	char text[ADDR_TEXT_MAX];

	if (!missing)
		return XC_OK;
	for (size_t i = 0; i < p->ways.n && args_has(&ctx->args, OPT_ADD_PATHS); i++) {
		struct ways one = { .v = &p->ways.v[i], .n = 1 };

		if (!way_missing(&one, sess, s))
			continue;
		p->add.v = xrealloc(p->add.v, (p->add.n + 1) * sizeof(*p->add.v));
		p->add.v[p->add.n++] = p->ways.v[i];
	}
	if (p->add.n)
		return XC_OK;
	addr_format(&missing->dst, text);
	fail_set(&ctx->fail, XC_CONFLICT, "session '%s' exists and has no path to %s", p->session,
		 text);
	fail_object(&ctx->fail, "session", p->session);
	fail_hint(&ctx->fail, "--add-paths adds it; or leave --path out, or name another session");
	return XC_CONFLICT;
}

/* What the kernel does not tell is taken for what is asked for. */
static bool is_other(uint64_t want, uint64_t have)
{
	return want != M_UNKNOWN && have != M_UNKNOWN && want != have;
}

/* The port of a path that is named is looked at with its address. */
static bool is_other_port(const struct ctx *ctx, const struct plan *p, const struct session *sess,
			  const struct snapshot *s)
{
	uint64_t port = args_uint(&ctx->args, OPT_DEST_PORT, 0);
	size_t n;
	const struct index_entry *e = index_find(&s->session_paths, sess->id, &n);

	if (!port || p->ways.n)
		return false;
	for (size_t i = 0; i < n; i++) {
		uint16_t have = s->paths.v[e[i].pos].server.port;

		if (!have || have == port)
			return false;
	}
	return n > 0;
}

/* No map changes what a session was made with. */
static int check_kept(struct ctx *ctx, const struct plan *p, const struct session *sess,
		      const struct snapshot *s)
{
	uint64_t connections = snapshot_connections(s, sess);

	if (settings_any(&p->req.set) || is_other(p->req.set.mp_policy, sess->set.mp_policy))
		fail_hint(&ctx->fail, "rnbdadm session set %s changes them", p->session);
	else if (is_other(p->req.poll_queues, sess->poll_queues))
		fail_hint(&ctx->fail, "it has %llu poll queues; --poll-queues is for a new one",
			  (unsigned long long)sess->poll_queues);
	else if (is_other(p->req.connections, connections))
		fail_hint(&ctx->fail, "it has %llu connections for each path; --connections is for "
			  "a new one", (unsigned long long)connections);
	else if (is_other_port(ctx, p, sess, s))
		fail_hint(&ctx->fail, "no path of it has that port; --dest-port goes with --path");
	else
		return XC_OK;
	fail_object(&ctx->fail, "session", p->session);
	return fail_set(&ctx->fail, XC_CONFLICT, "session '%s' exists and keeps its settings",
			p->session);
}

/* The paths of a new session, or paths that the session has. */
static int check_paths(struct ctx *ctx, struct plan *p, const struct snapshot *s)
{
	const struct session *sess = snapshot_session(s, p->session);
	const char *host = args_value(&ctx->args, OPT_SERVER_HOST);
	bool held;

	if (!sess && !p->ways.n && host) {
		held = ctx_unlock();
		if (add_server(ctx, p, host) || (held && !ctx_lock(ctx)))
			return (int)ctx->fail.code;
	}
	p->req.paths = p->ways.v;
	p->req.npaths = p->ways.n;
	if (!sess && !p->ways.n) {
		fail_set(&ctx->fail, XC_NOT_FOUND, "no session '%s', and no path to make it",
			 p->session);
		fail_object(&ctx->fail, "session", p->session);
		fail_hint(&ctx->fail, "--path [SRC@]DST");
		return XC_NOT_FOUND;
	}
	if (!sess)
		return XC_OK;
	return check_kept(ctx, p, sess, s) ? XC_CONFLICT : check_missing(ctx, p, sess, s);
}

static void print_device(struct ctx *ctx, const struct device *d, bool changed)
{
	struct object_opts o = { .root = ctx->test_root };
	struct device_list l = { 0 };
	json_t *list = json_array();

	l.v = xcalloc(1, sizeof(*l.v));
	l.v[0] = *d;
	l.n = 1;
	/* those of @d are its own */
	l.v[0].holders = l.v[0].mountpoints = l.v[0].links = l.v[0].users = l.v[0].openers = (struct strlist){ 0 };
	sys_devices(ctx->test_root, &l);
	json_array_append_new(list, js_device(&l.v[0], &o));
	js_set(ctx->data, "changed", json_boolean(changed));
	if (ctx->out.fmt == OUT_TEXT && (ctx->dry_run || !ctx->out.fields)) {
		/* a plan is all that a dry run prints */
		if (!ctx->dry_run)
			printf("/dev/%s\n", d->name);
		json_decref(list);
	} else if (ctx->out.fmt == OUT_CSV || ctx->out.fmt == OUT_TEXT) {
		out_list(ctx, &device_view, list);
	} else {
		out_attach(ctx, &device_view, list);
	}
	snapshot_free(&(struct snapshot){ .devices = l });
}

/* A file of sysfs has no more than the errno: these are the server's. */
static bool by_server(const struct nl_error *e)
{
	if (!e->by_sysfs)
		return e->refusal == RNBD_REFUSAL_SERVER;
	return e->err == ENOENT || e->err == EBUSY || e->err == EROFS || e->err == EOPNOTSUPP;
}

/* The server was reached and would not open the device. */
static bool explain_open(struct fail *f, const struct plan *p, const struct nl_error *e)
{
	if (e->err == EEXIST && e->refusal != RNBD_REFUSAL_SESSION) {
		fail_set(f, XC_CONFLICT, "already mapped");
		fail_hint(f, "rnbdadm device list");
		return true;
	}
	if (!by_server(e))
		return false;
	switch (e->err) {
	case ENOENT:
		fail_no_device(f, p->req.device_path);
		return true;
	case EPERM:
		fail_set(f, XC_BUSY, "already open read-write by another client");
		fail_hint(f, "use --access migration or ro");
		return true;
	case EBUSY:
		fail_set(f, XC_BUSY, "in use on the server");
		fail_hint(f, "the server's kernel log says how: by another session, or by the server itself");
		return true;
	case EACCES:
		fail_set(f, XC_FAILED, "the server refuses '%s' to this client (%s)", p->req.device_path,
			 errno_name(e->err));
		fail_hint(f, "--access ro; on the server 'rnbdadm server access test' tells its "
			     "rights");
		return true;
	case EROFS:
		fail_set(f, XC_FAILED, "the server may not write to '%s' (%s)",
			 p->req.device_path, errno_name(e->err));
		fail_hint(f, "--access ro");
		return true;
	case ENODEV:
	case ENXIO:
	case ENOTBLK:
		fail_set(f, XC_FAILED, "the server cannot open '%s' (%s)", p->req.device_path,
			 errno_name(e->err));
		return true;
	case EINVAL:
		if (p->req.io_mode == M_UNKNOWN)
			return false;
		fail_set(f, XC_FAILED, "the server has not '%s' in this I/O mode, or not at all (%s)",
			 p->req.device_path, errno_name(e->err));
		fail_hint(f, "without --io-mode it has the mode of the export");
		return true;
	case EOPNOTSUPP:
		if (p->req.io_mode == M_UNKNOWN)
			return false;
		fail_set(f, XC_UNSUPPORTED, "the server knows no fileio");
		fail_hint(f, "without --io-mode it is mapped with blockio");
		return true;
	case EMFILE:
		fail_set(f, XC_FAILED, "the server allows this client no more devices");
		fail_hint(f, "max_devices of rnbd_server, or max-devices of its access list, on the server");
		return true;
	default:
		return false;
	}
}

/* A message and a hint for each way in which a map is refused. */
static void explain(struct ctx *ctx, const struct plan *p, const struct nl_error *e)
{
	struct fail *f = &ctx->fail;
	char *option;

	fail_object(f, "device", p->req.device_path);
	option = e->missing ? fail_option(ctx, f) : NULL;
	if (option) {
		fail_set(f, XC_FAILED, "the kernel needs %s", option);
		fail_hint(f, "give %s", option);
		free(option);
		return;
	}
	if (!explain_open(f, p, e))
		way_explain(ctx, f, &p->ways, e->err);
}

static void print_plan(struct ctx *ctx, const struct plan *p)
{
	const struct parsed *a = &ctx->args;
	struct strlist w = { 0 };

	strlist_add(&w, "map");
	plan_name(&w, p->req.device_path);
	strlist_add(&w, "--session");
	strlist_add(&w, p->session);
	ways_words(&w, &p->ways);
	if (p->req.always_fua)
		strlist_add(&w, "--fua");
	for (size_t i = 0; i < a->nopts; i++) {
		enum opt_id id = a->opts[i].id;

		if (id != OPT_ACCESS && id != OPT_IO_MODE && id != OPT_POLL_QUEUES && id != OPT_CONNECTIONS &&
		    id != OPT_DEST_PORT && id != OPT_MP_POLICY)
			continue;
		strlist_addf(&w, "--%s", opt_table[id].name);
		strlist_add(&w, a->opts[i].value);
	}
	settings_words(&w, &p->req.set);
	keep_words(&w, &p->keep);
	plan_add(ctx, &w);
	strlist_free(&w);
}

/* It is as it was asked for, and may be left to be saved. */
static int found_mapped(struct ctx *ctx, struct plan *p, const struct snapshot *s,
			const struct device *d)
{
	int rc = keep_check(ctx, &p->keep, d);
	bool saved = false;

	if (!rc && ctx->dry_run) {
		plan_empty(ctx);
		if (keep_pending(&p->keep))
			print_plan(ctx, p);
	} else if (!rc) {
		rc = keep_save(ctx, &p->keep, s, &saved);
	}
	if (!rc)
		print_device(ctx, d, saved);
	return rc;
}

/* Modules that do not tell whether each write of @d goes with FUA do not know of it. */
static bool has_fua(const struct plan *p, const struct device *d)
{
	return p->req.always_fua == (d->always_fua == 1);
}

static bool has_io_mode(const struct plan *p, const struct device *d)
{
	return p->req.io_mode == M_UNKNOWN || p->req.io_mode == d->io_mode;
}

/* 0: go on; an exit code, or -1: nothing left to do. */
static int check_mapped(struct ctx *ctx, struct plan *p, const struct snapshot *s)
{
	uint64_t want = p->req.access;
	int rc;

	for (size_t i = 0; i < s->devices.n; i++) {
		const struct device *d = &s->devices.v[i];

		if (strcmp(d->session, p->session) || strcmp(d->device_path, p->req.device_path))
			continue;
		if (want == M_UNKNOWN)
			access_parse("rw", &want);
		if (ctx->idempotent && d->access == want && has_fua(p, d) &&
		    has_io_mode(p, d)) {
			rc = found_mapped(ctx, p, s, d);
			return rc ? rc : -1;
		}
		ctx->fail.err = EEXIST;
		fail_object(&ctx->fail, "device", d->name);
		if (ctx->idempotent)
			return fail_set(&ctx->fail, XC_CONFLICT,
					"already mapped as /dev/%s with access %s%s%s%s", d->name,
					access_name(d->access) ? access_name(d->access) : "unknown",
					has_io_mode(p, d) ? "" : " and --io-mode ",
					has_io_mode(p, d) || !io_mode_name(d->io_mode) ? "" :
					io_mode_name(d->io_mode),
					d->always_fua == 1 ? " and --fua" : "");
		return fail_set(&ctx->fail, XC_CONFLICT, "already mapped as /dev/%s", d->name);
	}
	return XC_OK;
}

static void print_plan_paths(struct ctx *ctx, const struct plan *p)
{
	struct strlist w = { 0 };

	strlist_add(&w, "path");
	strlist_add(&w, "add");
	plan_name(&w, p->session);
	for (size_t i = 0; i < p->add.n; i++) {
		char *text = way_text(&p->add.v[i]);

		strlist_add(&w, text);
		free(text);
	}
	if (args_has(&ctx->args, OPT_DEST_PORT))
		strlist_addf(&w, "--dest-port=%s", args_value(&ctx->args, OPT_DEST_PORT));
	/* what is to be waited for is the disk */
	plan_timeout(ctx, &w);
	if (p->add.n)
		plan_line(ctx, &w);
	strlist_free(&w);
}

/* --add-paths; without all of them nothing is mapped. */
static int add_paths(struct ctx *ctx, const struct plan *p, const struct session *sess)
{
	for (size_t i = 0; i < p->add.n; i++) {
		struct ways one = { .v = &p->add.v[i], .n = 1 };
		struct nl_error e;
		struct path now;

		if (ctx->kernel->ops->path_add(ctx->kernel, sess->id, one.v, p->req.timeout_ms,
					       &now, &e)) {
			if (*e.warning)
				warn(ctx, "%s", e.warning);
			if (!ctx->dry_run)
				say(ctx, "added path %s to session %s", now.name, sess->name);
			continue;
		}
		/* another one was quicker */
		if (e.kind == NL_FAIL_KERNEL && e.err == EEXIST)
			continue;
		fail_nl(&ctx->fail, &e, "client");
		if (e.kind == NL_FAIL_KERNEL)
			way_explain(ctx, &ctx->fail, &one, e.err);
		return ctx->fail.code;
	}
	return XC_OK;
}

/* It is mapped, and that is told, whatever became of the rest. */
static void save_mapping(struct ctx *ctx, struct plan *p, const struct device *d, struct fail *f)
{
	bool changed;
	char *why;

	if (!keep_pending(&p->keep) || (ctx_lock(ctx) && !keep_again(ctx, &p->keep) &&
					!keep_save(ctx, &p->keep, NULL, &changed)))
		return;
	why = xstrdup(ctx->fail.message);
	fail_set(&ctx->fail, ctx->fail.code, "mapped as /dev/%s, but not saved: %s", d->name, why);
	free(why);
	*f = ctx->fail;
	memset(&ctx->fail, 0, sizeof(ctx->fail));
}

static int do_map(struct ctx *ctx, struct plan *p)
{
	struct fail unsaved = { 0 };
	struct nl_error e;
	struct device d;
	char *size;
	int rc;

	if (!ctx->kernel->ops->map(ctx->kernel, &p->req, &d, &e)) {
		/* who was quicker has the note now */
		if (!ctx->dry_run && !(e.kind == NL_FAIL_KERNEL && e.err == EEXIST))
			keep_forget(ctx, &p->keep);
		fail_nl(&ctx->fail, &e, "client");
		if (e.kind == NL_FAIL_KERNEL && e.refusal != RNBD_REFUSAL_UNLOADED)
			explain(ctx, p, &e);
		return ctx->fail.code;
	}
	if (*e.warning)
		warn(ctx, "%s", e.warning);
	if (ctx->dry_run) {
		print_plan_paths(ctx, p);
		print_plan(ctx, p);
		return XC_OK;
	}
	save_mapping(ctx, p, &d, &unsaved);
	ctx_unlock();
	if (!*d.name) {
		fail_clear(&unsaved);
		return fail_set(&ctx->fail, XC_FAILED, "the kernel did not name the disk");
	}
	rc = node_wait(ctx, &d, p->wait_ms);
	if (!rc && unsaved.code) {
		ctx->fail = unsaved;
		memset(&unsaved, 0, sizeof(unsaved));
		rc = (int)ctx->fail.code;
	} else if (rc && ctx->out.fmt == OUT_TEXT) {
		fail_clear(&unsaved);
		return rc;
	}
	print_device(ctx, &d, true);
	size = size_text(d.size_bytes == M_UNKNOWN ? 0 : d.size_bytes, 0);
	say(ctx, "mapped %s of session %s as /dev/%s (%s)", p->req.device_path, p->session,
	    d.name, size);
	free(size);
	fail_clear(&unsaved);
	return rc;
}

int cmd_map(struct ctx *ctx)
{
	struct plan p = { 0 };
	struct snapshot s = { 0 };
	int rc = make_plan(ctx, &p);

	if (!rc && !ctx_lock(ctx))
		rc = ctx->fail.code;
	if (!rc && !read_at_rest(ctx, NL_SESSIONS | NL_PATHS | NL_DEVICES, p.session, &s))
		rc = ctx->fail.code;
	if (!rc)
		rc = check_mapped(ctx, &p, &s);
	if (!rc)
		rc = check_paths(ctx, &p, &s);
	if (!rc)
		rc = keep_check(ctx, &p.keep, NULL);
	if (!rc && !ctx->dry_run && !snapshot_session(&s, p.session))
		registry_forget(ctx->test_root, p.session, NULL);
	if (!rc && p.add.n)
		rc = add_paths(ctx, &p, snapshot_session(&s, p.session));
	if (!rc && !ctx->dry_run)
		rc = keep_note(ctx, &p.keep);
	if (!rc)
		rc = do_map(ctx, &p);
	snapshot_free(&s);
	free_plan(&p);
	return rc < 0 ? XC_OK : rc;
}
