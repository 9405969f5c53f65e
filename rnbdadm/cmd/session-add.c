// SPDX-License-Identifier: GPL-2.0
/* session add, session remove: sessions that need no device */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "grammar/settings.h"
#include "host/disks.h"
#include "host/owners.h"
#include "output/to-json.h"
#include "task/dry-run.h"
#include "task/in-use.h"
#include "task/new-paths.h"
#include "task/select.h"
#include "task/wait.h"

struct plan {
	struct map_request req;
	struct ways ways;
};

static int make_plan(struct ctx *ctx, struct plan *p)
{
	const struct parsed *a = &ctx->args;
	const char *polls = args_value(a, OPT_POLL_QUEUES);
	char *msg = session_name_problem(a->args[0]);

	if (msg)
		return fail_usage(&ctx->fail, msg, NULL);
	p->req = (struct map_request){
		.session = a->args[0], .poll_queues = M_UNKNOWN,
		.connections = args_uint(a, OPT_CONNECTIONS, M_UNKNOWN),
	};
	if (settings_parse(&ctx->args, &p->req.set, &ctx->fail))
		return XC_USAGE;
	if (args_has(a, OPT_MP_POLICY))
		mp_policy_parse(args_value(a, OPT_MP_POLICY), &p->req.set.mp_policy);
	if (polls && !strcmp(polls, "all"))
		p->req.poll_queues = UINT32_MAX;
	else if (polls && (!parse_uint(polls, &p->req.poll_queues) || p->req.poll_queues > 4096))
		return fail_set(&ctx->fail, XC_USAGE, "--poll-queues: at most 4096");
	if (way_timeout(ctx, "session add", &p->req.timeout_ms) ||
	    ways_parse(ctx, OPT_PATH, &p->ways))
		return (int)ctx->fail.code;
	if (!args_has(a, OPT_PATH))
		return fail_set(&ctx->fail, XC_USAGE, "--path is missing");
	p->req.paths = p->ways.v;
	p->req.npaths = p->ways.n;
	return XC_OK;
}

static void print_plan(struct ctx *ctx, const struct plan *p)
{
	const struct parsed *a = &ctx->args;
	struct strlist w = { 0 };

	strlist_add(&w, "session");
	strlist_add(&w, "add");
	plan_name(&w, p->req.session);
	ways_words(&w, &p->ways);
	for (size_t i = 0; i < a->nopts; i++) {
		enum opt_id id = a->opts[i].id;

		if (id == OPT_POLL_QUEUES || id == OPT_CONNECTIONS || id == OPT_DEST_PORT ||
		    id == OPT_MP_POLICY)
			optval_word(&a->opts[i], &w);
	}
	settings_words(&w, &p->req.set);
	plan_add(ctx, &w);
	strlist_free(&w);
}

/* @to_add: this session, see read_at_rest(); or NULL. */
static bool read_sessions(struct ctx *ctx, const char *to_add, struct snapshot *s)
{
	unsigned int what = NL_SESSIONS | NL_PATHS | NL_DEVICES_OPT;

	if (!(to_add ? read_at_rest(ctx, what, to_add, s) : ctx_snapshot(ctx, M_CLIENT, what, s)))
		return false;
	sys_paths(ctx->test_root, &s->paths);
	sys_devices(ctx->test_root, &s->devices);
	sys_openers(ctx->test_root, &s->devices);
	return true;
}

/* "changed", and the session as it is, or none. */
static void report(struct ctx *ctx, const struct snapshot *s, const struct session *sess,
		   bool changed)
{
	struct object_opts o = { .root = ctx->test_root };
	json_t *list = json_array();

	if (sess)
		json_array_append_new(list, js_session(sess, s, &o));
	js_set(ctx->data, "changed", json_boolean(changed));
	if (ctx->dry_run)
		plan_empty(ctx);
	out_changed(ctx, &session_view, list);
}

/* A session of that name is there: with --idempotent it may do. */
static int exists(struct ctx *ctx, const struct plan *p, const struct snapshot *s,
		  const struct session *sess)
{
	const struct addr_pair *missing = way_missing(&p->ways, sess, s);
	char *text;

	fail_object(&ctx->fail, "session", sess->name);
	if (!ctx->idempotent) {
		fail_hint(&ctx->fail, "--idempotent takes that for done; 'session set' and "
			  "'path add' change it");
		return fail_set(&ctx->fail, XC_CONFLICT, "the session exists already");
	}
	if (missing) {
		text = way_text(missing);
		fail_hint(&ctx->fail, "rnbdadm path add %s %s", sess->name, text);
		fail_set(&ctx->fail, XC_CONFLICT, "the session exists and has no path %s", text);
		free(text);
		return XC_CONFLICT;
	}
	if (sess->held != 1) {
		fail_hint(&ctx->fail, "it was made by map; unmap its devices first");
		return fail_set(&ctx->fail, XC_CONFLICT, "the session exists, but ends with its "
				"last device");
	}
	fail_clear(&ctx->fail);
	report(ctx, s, sess, false);
	return XC_OK;
}

static void explain(struct ctx *ctx, const struct plan *p, const struct nl_error *e)
{
	struct fail *f = &ctx->fail;

	fail_object(f, "session", p->req.session);
	if (e->kind == NL_FAIL_NO_FILE)
		return;
	if (e->kind == NL_FAIL_NO_OP || e->err == EOPNOTSUPP) {
		if (f->code == XC_UNSUPPORTED)
			fail_set(f, XC_UNSUPPORTED, "this kernel creates sessions only on map");
		return;
	}
	if (e->kind != NL_FAIL_KERNEL)
		return;
	if (e->err == EEXIST)
		fail_set(f, XC_CONFLICT, "the session exists already");
	else
		way_explain(ctx, f, &p->ways, e->err);
}

static enum wait_is look_connected(struct ctx *ctx, void *arg)
{
	const uint32_t *id = arg;
	enum wait_is is = WAIT_MORE;
	struct snapshot s;

	if (!ctx_snapshot(ctx, M_CLIENT, NL_SESSIONS, &s))
		return WAIT_FAIL;
	for (size_t i = 0; i < s.sessions.n; i++)
		if (s.sessions.v[i].id == *id &&
		    !strcmp(session_state_name(s.sessions.v[i].state), "connected"))
			is = WAIT_DONE;
	snapshot_free(&s);
	return is;
}

static enum wait_is look_gone(struct ctx *ctx, void *arg)
{
	const uint32_t *id = arg;
	enum wait_is is = WAIT_DONE;
	struct snapshot s;

	if (!ctx_snapshot(ctx, M_CLIENT, NL_SESSIONS, &s))
		return WAIT_FAIL;
	for (size_t i = 0; i < s.sessions.n; i++)
		if (s.sessions.v[i].id == *id)
			is = WAIT_MORE;
	snapshot_free(&s);
	return is;
}

static int do_add(struct ctx *ctx, const struct plan *p, const struct snapshot *before)
{
	int64_t limit = wait_limit(ctx, 0);
	struct session now;
	struct snapshot s;
	struct nl_error e;
	struct wait w = { .group = "session", .look = look_connected, .arg = &now.id };
	int rc;

	if (limit && !ctx->dry_run && !wait_begin(ctx, &w))
		return ctx->fail.code;
	if (!ctx->kernel->ops->session_add(ctx->kernel, &p->req, &now, &e)) {
		fail_nl(&ctx->fail, &e, "client");
		explain(ctx, p, &e);
		return ctx->fail.code;
	}
	if (*e.warning)
		warn(ctx, "%s", e.warning);
	if (ctx->dry_run) {
		print_plan(ctx, p);
		report(ctx, before, NULL, false);
		return XC_OK;
	}
	say(ctx, "made session %s; it stays until 'session remove'", p->req.session);
	js_set(ctx->data, "changed", json_true());
	rc = limit ? wait_end(ctx, &w, limit) : XC_OK;
	if (rc && !ctx->fail.code)
		fail_set(&ctx->fail, XC_TIMEOUT, "not all paths are connected");
	if (rc || !read_sessions(ctx, NULL, &s))
		return ctx->fail.code;
	report(ctx, &s, snapshot_session(&s, p->req.session), true);
	snapshot_free(&s);
	return XC_OK;
}

int cmd_session_add_check(struct ctx *ctx)
{
	struct plan p = { .ways.literal = true };
	int rc = make_plan(ctx, &p);

	ways_free(&p.ways);
	return rc;
}

int cmd_session_add(struct ctx *ctx)
{
	struct snapshot s = { 0 };
	const struct session *sess;
	struct plan p = { 0 };
	int rc = make_plan(ctx, &p);

	if (!rc && (!ctx_lock(ctx) || !read_sessions(ctx, p.req.session, &s)))
		rc = ctx->fail.code;
	if (!rc) {
		sess = snapshot_session(&s, p.req.session);
		if (sess) {
			rc = exists(ctx, &p, &s, sess);
		} else {
			if (!ctx->dry_run)
				registry_forget(ctx->test_root, p.req.session, NULL);
			rc = do_add(ctx, &p, &s);
		}
	}
	snapshot_free(&s);
	ways_free(&p.ways);
	return rc;
}

/* Asked first: what is unmapped for a session that then stays is lost for nothing. */
static int can_remove(struct ctx *ctx, const struct session *sess)
{
	struct nl_error e;

	if (ctx->kernel->ops->can_session_del(ctx->kernel, &e))
		return XC_OK;
	fail_nl(&ctx->fail, &e, "client");
	fail_object(&ctx->fail, "session", sess->name);
	return ctx->fail.code;
}

/* Devices are not taken away without --force, and then those in use only if that is meant. */
static int may_remove(struct ctx *ctx, const struct snapshot *s, const struct session *sess)
{
	size_t n, used = 0;
	const struct index_entry *e = index_find(&s->session_devices, sess->id, &n);

	if (!n || ctx->force)
		return XC_OK;
	fail_object(&ctx->fail, "session", sess->name);
	for (size_t i = 0; i < n; i++) {
		const struct device *d = &s->devices.v[e[i].pos];

		if (use_detail(d, &ctx->fail))
			used++;
		else
			strlist_addf(&ctx->fail.details, "%s (%s) is mapped", d->name,
				     d->device_path);
	}
	fail_hint(&ctx->fail, "unmap them first; --force does it%s",
		  used ? ", and loses the data of those in use" : "");
	return fail_set(&ctx->fail, XC_BUSY, "refused, %zu device%s mapped over it", n,
			n == 1 ? " is" : "s are");
}

/* All devices, with --force; the last one may take the session along. */
static bool unmap_devices(struct ctx *ctx, const struct snapshot *s, const struct session *sess)
{
	size_t n;
	const struct index_entry *e = index_find(&s->session_devices, sess->id, &n);
	struct nl_error err;

	for (size_t i = 0; i < n; i++) {
		const struct device *d = &s->devices.v[e[i].pos];

		if (!ctx->kernel->ops->unmap(ctx->kernel, d, true, &err) &&
		    !(err.kind == NL_FAIL_KERNEL && err.err == ENOENT)) {
			fail_nl(&ctx->fail, &err, "client");
			fail_object(&ctx->fail, "device", d->name);
			return false;
		}
		if (*err.warning)
			warn(ctx, "%s", err.warning);
		js_set(ctx->data, "changed", json_true());
		say(ctx, "unmapped %s (%s of session %s)", d->name, d->device_path, d->session);
	}
	return true;
}

static int do_remove(struct ctx *ctx, const struct snapshot *s, const struct session *sess)
{
	uint32_t id = sess->id;
	struct wait w = { .group = "session", .look = look_gone, .arg = &id };
	int64_t limit = wait_limit(ctx, 0);
	struct nl_error e;
	size_t devices;
	int rc;

	index_find(&s->session_devices, sess->id, &devices);
	if (limit && !wait_begin(ctx, &w))
		return ctx->fail.code;
	if (!unmap_devices(ctx, s, sess))
		return ctx->fail.code;
	if (!ctx->kernel->ops->session_del(ctx->kernel, id, &e)) {
		bool gone = e.kind == NL_FAIL_KERNEL && e.err == ENOENT;

		if (!gone || (!devices && !ctx->idempotent)) {
			fail_nl(&ctx->fail, &e, "client");
			fail_object(&ctx->fail, "session", sess->name);
			return ctx->fail.code;
		}
	} else {
		js_set(ctx->data, "changed", json_true());
		if (*e.warning)
			warn(ctx, "%s", e.warning);
	}
	registry_forget(ctx->test_root, sess->name, NULL);
	say(ctx, "removed session %s", sess->name);
	rc = limit ? wait_end(ctx, &w, limit) : XC_OK;
	if (rc == XC_TIMEOUT && !ctx->fail.code)
		fail_set(&ctx->fail, XC_TIMEOUT, "the session is still there");
	return rc;
}

static void plan_remove(struct ctx *ctx, const struct snapshot *s, const struct session *sess)
{
	struct strlist w = { 0 };
	size_t n;

	strlist_add(&w, "session");
	strlist_add(&w, "remove");
	plan_name(&w, sess->name);
	if (ctx->force)
		strlist_add(&w, "--force");
	index_find(&s->session_devices, sess->id, &n);
	plan_would(ctx, &w, "end the session, which has %zu device%s", n, n == 1 ? "" : "s");
	strlist_free(&w);
}

int cmd_session_remove(struct ctx *ctx)
{
	const struct session *sess;
	struct snapshot s;
	int rc;

	if (!ctx_lock(ctx) || !read_sessions(ctx, NULL, &s))
		return ctx->fail.code;
	sess = select_session(&s, ctx->args.args[0], &ctx->fail);
	if (!sess && ctx->idempotent)
		fail_clear(&ctx->fail);
	rc = ctx->fail.code;
	/* as it was */
	report(ctx, &s, sess, false);
	if (sess)
		rc = can_remove(ctx, sess);
	if (sess && !rc)
		rc = may_remove(ctx, &s, sess);
	if (sess && !rc && ctx->dry_run)
		plan_remove(ctx, &s, sess);
	else if (sess && !rc)
		rc = do_remove(ctx, &s, sess);
	snapshot_free(&s);
	return rc;
}
