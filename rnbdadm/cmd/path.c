// SPDX-License-Identifier: GPL-2.0
/* path list, show, server path list, show */
#include <string.h>

#include "app/object-opts.h"
#include "cmd/commands.h"
#include "host/disks.h"
#include "task/select.h"

static struct object_opts path_opts(const struct ctx *ctx, bool table, enum m_role role)
{
	struct object_opts o = object_opts(ctx, role == M_SERVER ? &server_path_view : &path_view);

	/* the table has columns of latencies */
	o.stats |= table && ctx->out.fmt == OUT_TEXT;
	o.role = role == M_SERVER;
	return o;
}

static bool read_paths(struct ctx *ctx, const struct object_opts *o, enum m_role role,
		       struct snapshot *s)
{
	if (!ctx_snapshot(ctx, role, NL_SESSIONS | NL_PATHS | object_stats(ctx, o), s))
		return false;
	sys_paths(ctx->test_root, &s->paths);
	return true;
}

static const struct session *select_owner(const struct snapshot *s, const char *name,
					  enum m_role role, struct fail *f)
{
	return role == M_SERVER ? select_client(s, name, f) : select_session(s, name, f);
}

static int list_paths(struct ctx *ctx, enum m_role role)
{
	struct object_opts o = path_opts(ctx, true, role);
	const char *name = args_value(&ctx->args, OPT_SESSION);
	bool down = args_has(&ctx->args, OPT_DOWN);
	json_t *list = json_array();
	struct snapshot s;

	if (!read_paths(ctx, &o, role, &s)) {
		json_decref(list);
		return ctx->fail.code;
	}
	if (name && !select_owner(&s, name, role, &ctx->fail)) {
		json_decref(list);
		snapshot_free(&s);
		return ctx->fail.code;
	}
	for (size_t i = 0; i < s.paths.n; i++) {
		const struct path *p = &s.paths.v[i];

		if (name && strcmp(p->session, name))
			continue;
		if (down && !strcmp(path_state_name(p->state), "connected"))
			continue;
		json_array_append_new(list, js_path(p, &s, &o));
	}
	out_list(ctx, ctx->args.cmd->view, list);
	snapshot_free(&s);
	return XC_OK;
}

int cmd_path_show_check(struct ctx *ctx)
{
	const struct parsed *a = &ctx->args;

	if (a->nargs < 2 && !args_has(a, OPT_HCA))
		return fail_set(&ctx->fail, XC_USAGE, "name the path, SRC@DST or --hca");
	return a->nargs < 2 || path_word_ok(a->args[1], &ctx->fail) ? XC_OK : XC_USAGE;
}

static int show_path(struct ctx *ctx, enum m_role role)
{
	const char *word = ctx->args.nargs > 1 ? ctx->args.args[1] : NULL;
	const char *hca = args_value(&ctx->args, OPT_HCA);
	struct object_opts o = path_opts(ctx, false, role);
	const struct session *sess;
	const struct path *p;
	struct snapshot s;

	if (!read_paths(ctx, &o, role, &s))
		return ctx->fail.code;
	sess = select_owner(&s, ctx->args.args[0], role, &ctx->fail);
	p = sess ? select_path(&s, sess, word, hca, &ctx->fail) : NULL;
	if (p)
		out_show(ctx, ctx->args.cmd->view, js_path(p, &s, &o));
	snapshot_free(&s);
	return ctx->fail.code;
}

int cmd_path_list(struct ctx *ctx)
{
	return list_paths(ctx, M_CLIENT);
}

int cmd_path_show(struct ctx *ctx)
{
	return show_path(ctx, M_CLIENT);
}

int cmd_server_path_list(struct ctx *ctx)
{
	return list_paths(ctx, M_SERVER);
}

int cmd_server_path_show(struct ctx *ctx)
{
	return show_path(ctx, M_SERVER);
}
