// SPDX-License-Identifier: GPL-2.0
/* stats reset */
#include <stdlib.h>

#include "cmd.h"
#include "objects.h"
#include "select.h"
#include "stats-select.h"

static void add_words(struct ctx *ctx, enum m_role role)
{
	const struct parsed *a = &ctx->args;
	struct strlist w = { 0 };

	strlist_add(&w, "stats");
	strlist_add(&w, "reset");
	for (size_t i = 0; i < a->nargs; i++)
		strlist_add(&w, a->args[i]);
	if (!a->nargs)
		strlist_add(&w, "--all");
	if (role == M_SERVER)
		strlist_add(&w, "--server");
	plan_add(ctx, &w);
	strlist_free(&w);
}

/* One request where the selection is one object of the kernel. */
static bool reset(struct ctx *ctx, enum m_role role, const struct stats_list *l)
{
	struct nl_error e = { 0 };
	bool ok = true;

	if (!ctx->args.nargs)
		ok = rnl_stats_reset(ctx->nl, role, 0, 0, &e);
	else if (ctx->args.nargs == 1)
		ok = !l->n || rnl_stats_reset(ctx->nl, role, 0, l->v[0].session_id, &e);
	for (size_t i = 0; ok && ctx->args.nargs > 1 && i < l->n; i++)
		ok = rnl_stats_reset(ctx->nl, role, l->v[i].path_id, 0, &e);
	if (!ok)
		fail_nl(&ctx->fail, &e, role == M_SERVER ? "server" : "client");
	return ok;
}

static void report(struct ctx *ctx, const struct stats_list *l)
{
	json_t *list = json_array();

	for (size_t i = 0; i < l->n; i++) {
		json_t *o = json_object();

		js_set_str(o, "session", l->v[i].session);
		js_set_str(o, "name", l->v[i].path);
		js_set(o, "result", json_string(ctx->dry_run ? "would-reset" : "reset"));
		json_array_append_new(list, o);
	}
	js_set(ctx->data, "changed", json_boolean(!ctx->dry_run && l->n));
	if (ctx->out.fmt == OUT_CSV)
		out_list(ctx, &reset_view, list);
	else if (ctx->out.fmt == OUT_TEXT)
		json_decref(list);
	else
		out_attach(ctx, &reset_view, list);
}

int cmd_stats_reset(struct ctx *ctx)
{
	const struct parsed *a = &ctx->args;
	enum m_role role = args_has(a, OPT_SERVER_ROLE) ? M_SERVER : M_CLIENT;
	bool all = args_has(a, OPT_ALL);
	struct stats_list l;
	int rc;

	if (!a->nargs && !all)
		return fail_set(&ctx->fail, XC_USAGE, "name a session or a device, or --all");
	if (a->nargs && all)
		return fail_set(&ctx->fail, XC_USAGE, "--all goes without a selector");
	if (!ctx_lock(ctx))
		return ctx->fail.code;
	rc = stats_read(ctx, role, &l);
	if (rc)
		return rc;
	if (all && !ctx->dry_run && !ctx_confirm(ctx, "Reset the counters of all paths"))
		rc = ctx->fail.code;
	else if (ctx->dry_run)
		add_words(ctx, role);
	else if (!reset(ctx, role, &l))
		rc = ctx->fail.code;
	if (!rc) {
		say(ctx, "counters of %zu path%s are zero", l.n, l.n == 1 ? "" : "s");
		report(ctx, &l);
	}
	stats_list_free(&l);
	return rc;
}
