// SPDX-License-Identifier: GPL-2.0
/* stats reset */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "output/to-json.h"
#include "stats/columns.h"
#include "stats/select.h"
#include "task/dry-run.h"

/* The groups of --counters as the kernel's bits, 0 for all. False with ctx->fail set. */
static bool parse_only(struct ctx *ctx, uint32_t *groups)
{
	static const char *const names[] = {
		"ios", "latency", "sg", "migrations", "polls", "reconnects",
	};
	const char *only = args_value(&ctx->args, OPT_COUNTERS);
	char *copy = xstrdup(only ? only : ""), *save = NULL, *bad = NULL;

	*groups = 0;
	for (char *t = strtok_r(copy, ",", &save); t && !bad; t = strtok_r(NULL, ",", &save)) {
		bad = t;
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (!strcmp(t, names[i])) {
				*groups |= 1U << i;
				bad = NULL;
			}
	}
	if (bad)
		fail_set(&ctx->fail, XC_USAGE, "--counters: '%s' is not ios, latency, sg, migrations, "
			 "polls or reconnects", bad);
	else if (only && !*groups)
		fail_set(&ctx->fail, XC_USAGE, "--counters: the list is empty");
	free(copy);
	return !ctx->fail.code;
}

static void add_words(struct ctx *ctx, enum m_role role)
{
	const struct parsed *a = &ctx->args;
	struct strlist w = { 0 };

	strlist_add(&w, "stats");
	strlist_add(&w, "reset");
	for (size_t i = 0; i < a->nargs; i++)
		plan_name(&w, a->args[i]);
	if (args_has(a, OPT_HCA))
		strlist_addf(&w, "--hca=%s", args_value(a, OPT_HCA));
	if (!a->nargs)
		strlist_add(&w, "--all");
	if (role == M_SERVER)
		strlist_add(&w, "--role=server");
	if (args_has(a, OPT_COUNTERS)) {
		strlist_add(&w, "--counters");
		strlist_add(&w, args_value(a, OPT_COUNTERS));
	}
	plan_add(ctx, &w);
	strlist_free(&w);
}

/* One request where the selection is one object of the kernel. */
static bool reset(struct ctx *ctx, enum m_role role, const struct stats_list *l, uint32_t groups)
{
	struct nl_stats_reset r = { .role = role, .groups = groups };
	struct nl_error e = { 0 };
	bool ok = true, path = stats_of_path(&ctx->args);

	if (!ctx->args.nargs)
		ok = ctx->kernel->ops->stats_reset(ctx->kernel, &r, &e);
	if (ctx->args.nargs && !path && l->n) {
		r.session_id = l->v[0].session_id;
		ok = ctx->kernel->ops->stats_reset(ctx->kernel, &r, &e);
	}
	for (size_t i = 0; ok && path && i < l->n; i++) {
		r.path_id = l->v[i].path_id;
		ok = ctx->kernel->ops->stats_reset(ctx->kernel, &r, &e);
	}
	if (ok && *e.warning)
		warn(ctx, "%s", e.warning);
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
	out_changed(ctx, &reset_view, list);
}

int cmd_stats_reset_check(struct ctx *ctx)
{
	const struct parsed *a = &ctx->args;
	bool all = args_has(a, OPT_ALL);
	uint32_t groups;

	if (!parse_only(ctx, &groups))
		return XC_USAGE;
	if (!a->nargs && !all)
		return fail_set(&ctx->fail, XC_USAGE, "name a session or a device, or --all");
	if (a->nargs && all)
		return fail_set(&ctx->fail, XC_USAGE, "--all goes without a selector");
	return stats_select_check(ctx, false);
}

int cmd_stats_reset(struct ctx *ctx)
{
	const struct parsed *a = &ctx->args;
	enum m_role role = args_server(a) ? M_SERVER : M_CLIENT;
	struct stats_list l;
	uint32_t groups;
	int rc;

	parse_only(ctx, &groups);
	if (!ctx_lock(ctx))
		return ctx->fail.code;
	rc = stats_read(ctx, role, &l);
	if (rc)
		return rc;
	if (!reset(ctx, role, &l, groups))
		rc = ctx->fail.code;
	else if (ctx->dry_run)
		add_words(ctx, role);
	if (!rc) {
		say(ctx, "counters of %zu path%s are zero", l.n, l.n == 1 ? "" : "s");
		report(ctx, &l);
	}
	stats_list_free(&l);
	return rc;
}
