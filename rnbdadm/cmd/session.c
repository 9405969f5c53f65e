// SPDX-License-Identifier: GPL-2.0
/* session list, session show */
#include "app/object-opts.h"
#include "cmd/commands.h"
#include "host/disks.h"
#include "task/select.h"

static bool read_sessions(struct ctx *ctx, const struct object_opts *o, struct snapshot *s)
{
	unsigned int what = NL_SESSIONS | NL_PATHS | NL_DEVICES_OPT;

	if (!ctx_snapshot(ctx, M_CLIENT, what | object_stats(ctx, o), s))
		return false;
	sys_paths(ctx->test_root, &s->paths);
	return true;
}

int cmd_session_list(struct ctx *ctx)
{
	struct object_opts o = object_opts(ctx, &session_view);
	json_t *list = json_array();
	struct snapshot s;

	if (!read_sessions(ctx, &o, &s)) {
		json_decref(list);
		return ctx->fail.code;
	}
	for (size_t i = 0; i < s.sessions.n; i++)
		json_array_append_new(list, js_session(&s.sessions.v[i], &s, &o));
	out_list(ctx, &session_view, list);
	snapshot_free(&s);
	return XC_OK;
}

int cmd_session_show(struct ctx *ctx)
{
	struct object_opts o = object_opts(ctx, &session_view);
	const struct session *sess;
	struct snapshot s;

	if (!read_sessions(ctx, &o, &s))
		return ctx->fail.code;
	sess = select_session(&s, ctx->args.args[0], &ctx->fail);
	if (sess)
		out_show(ctx, &session_view, js_session(sess, &s, &o));
	snapshot_free(&s);
	return ctx->fail.code;
}
