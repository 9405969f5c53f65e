// SPDX-License-Identifier: GPL-2.0
/* server client list, show, disconnect: sessions as this server sees them */
#include <errno.h>
#include <stdlib.h>

#include "app/object-opts.h"
#include "cmd/commands.h"
#include "host/disks.h"
#include "task/dry-run.h"
#include "task/in-use.h"
#include "task/path-targets.h"
#include "task/select.h"
#include "task/wait.h"

static bool read_clients(struct ctx *ctx, const struct object_opts *o, struct snapshot *s)
{
	unsigned int what = NL_SESSIONS | NL_PATHS | NL_EXPORTS_OPT;

	if (!ctx_snapshot(ctx, M_SERVER, what | object_stats(ctx, o), s))
		return false;
	sys_paths(ctx->test_root, &s->paths);
	return true;
}

int cmd_client_list(struct ctx *ctx)
{
	struct object_opts o = object_opts(ctx, &client_view);
	json_t *list;
	struct snapshot s;

	if (!read_clients(ctx, &o, &s))
		return ctx->fail.code;
	list = json_array();
	for (size_t i = 0; i < s.sessions.n; i++)
		json_array_append_new(list, js_session(&s.sessions.v[i], &s, &o));
	out_list(ctx, &client_view, list);
	snapshot_free(&s);
	return XC_OK;
}

int cmd_client_show(struct ctx *ctx)
{
	struct object_opts o = object_opts(ctx, &client_view);
	const struct session *sess;
	struct snapshot s;

	if (!read_clients(ctx, &o, &s))
		return ctx->fail.code;
	sess = select_client(&s, ctx->args.args[0], &ctx->fail);
	if (sess)
		out_show(ctx, &client_view, js_session(sess, &s, &o));
	snapshot_free(&s);
	return ctx->fail.code;
}

struct look {
	uint32_t id;
};

static enum wait_is look_gone(struct ctx *ctx, void *arg)
{
	const struct look *l = arg;
	enum wait_is is = WAIT_DONE;
	struct snapshot s;

	if (!ctx_snapshot(ctx, M_SERVER, NL_SESSIONS, &s))
		return WAIT_FAIL;
	for (size_t i = 0; i < s.sessions.n; i++)
		if (s.sessions.v[i].id == l->id)
			is = WAIT_MORE;
	snapshot_free(&s);
	return is;
}

/* It always takes I/O away: refused without --force, with what the client has open. */
static int check(struct ctx *ctx, const struct snapshot *s, const struct session *sess)
{
	size_t n;

	fail_object(&ctx->fail, "client", sess->name);
	if (ctx->force)
		return XC_OK;
	index_find(&s->session_exports, sess->id, &n);
	path_opens(s, sess, &ctx->fail);
	fail_hint(&ctx->fail, "--force disconnects it; the client may come back at once");
	return fail_set(&ctx->fail, XC_BUSY, "refused, the client is connected and has %zu "
			"device%s open", n, n == 1 ? "" : "s");
}

static void print_plan(struct ctx *ctx, const struct snapshot *s, const struct session *sess)
{
	struct strlist w = { 0 };
	size_t n;

	strlist_add(&w, "server");
	strlist_add(&w, "client");
	strlist_add(&w, "disconnect");
	plan_name(&w, sess->name);
	strlist_add(&w, "--force");
	index_find(&s->session_exports, sess->id, &n);
	plan_would(ctx, &w, "disconnect a client that has %zu device%s open", n, n == 1 ? "" : "s");
	strlist_free(&w);
}

static int disconnect(struct ctx *ctx, const struct snapshot *s, const struct session *sess)
{
	struct look l = { .id = sess->id };
	struct wait w = { .group = "session", .look = look_gone, .arg = &l };
	int64_t limit = wait_limit(ctx, 0);
	struct nl_error e;
	int rc;

	if (limit && !ctx->dry_run && !wait_begin(ctx, &w))
		return ctx->fail.code;
	if (!ctx->kernel->ops->session_disconnect(ctx->kernel, sess->id, &e)) {
		if (e.kind == NL_FAIL_KERNEL && e.err == ENOENT && ctx->idempotent)
			return XC_OK;
		return fail_nl(&ctx->fail, &e, "server");
	}
	if (*e.warning)
		warn(ctx, "%s", e.warning);
	if (ctx->dry_run) {
		print_plan(ctx, s, sess);
		return XC_OK;
	}
	js_set(ctx->data, "changed", json_true());
	say(ctx, "disconnected %s; nothing keeps it from coming back", sess->name);
	rc = limit ? wait_end(ctx, &w, limit) : XC_OK;
	if (rc == XC_TIMEOUT && !ctx->fail.code)
		fail_set(&ctx->fail, XC_TIMEOUT, "the session is still there");
	return rc;
}

int cmd_client_disconnect(struct ctx *ctx)
{
	struct object_opts o = { .root = ctx->test_root };
	json_t *list = json_array();
	const struct session *sess;
	struct snapshot s;
	int rc;

	if (!ctx_lock(ctx) || !read_clients(ctx, &o, &s)) {
		json_decref(list);
		return ctx->fail.code;
	}
	js_set(ctx->data, "changed", json_false());
	sess = select_client(&s, ctx->args.args[0], &ctx->fail);
	if (!sess && ctx->idempotent)
		fail_clear(&ctx->fail);
	if (sess) {
		/* as it was */
		json_array_append_new(list, js_session(sess, &s, &o));
		rc = check(ctx, &s, sess);
		if (!rc)
			disconnect(ctx, &s, sess);
	}
	if (ctx->dry_run)
		plan_empty(ctx);
	out_changed(ctx, &client_view, list);
	snapshot_free(&s);
	return ctx->fail.code;
}
