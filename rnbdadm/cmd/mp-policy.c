// SPDX-License-Identifier: GPL-2.0
/* mp-policy list, show, set: the rule that picks the path of a request */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "host/disks.h"
#include "output/to-json.h"
#include "task/dry-run.h"
#include "task/select.h"
#include "task/targets.h"

static const struct { const char *brief, *meaning; } policies[] = {
	{ "rr", "paths in turn, for each CPU" },
	{ "mi", "the path with the fewest requests in flight" },
	{ "ml", "the path with the lowest latency" },
};

int cmd_mp_policy_list(struct ctx *ctx)
{
	json_t *list;
	uint64_t max;

	if (!ctx_kernel(ctx))
		return ctx->fail.code;
	max = ctx->kernel->ops->max_mp_policy(ctx->kernel);
	list = json_array();
	for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
		json_t *o = json_object();

		js_set(o, "name", json_string(mp_policy_name(i)));
		js_set(o, "short", json_string(policies[i].brief));
		js_set(o, "supported", max == M_UNKNOWN ? json_null() : json_boolean(i <= max));
		js_set(o, "meaning", json_string(policies[i].meaning));
		json_array_append_new(list, o);
	}
	out_list(ctx, &mp_policy_list_view, list);
	return XC_OK;
}

int cmd_mp_policy_show(struct ctx *ctx)
{
	struct object_opts o = { .root = ctx->test_root };
	const struct session *sess;
	struct snapshot s;
	const char *name;

	if (!ctx_snapshot(ctx, M_CLIENT, NL_SESSIONS | NL_PATHS | NL_DEVICES_OPT, &s))
		return ctx->fail.code;
	sys_paths(ctx->test_root, &s.paths);
	sess = select_session(&s, ctx->args.args[0], &ctx->fail);
	if (sess && ctx->out.fmt == OUT_TEXT && !ctx->out.fields) {
		name = mp_policy_name(sess->set.mp_policy);
		puts(name ? name : "-");
	} else if (sess) {
		out_show(ctx, &session_view, js_session(sess, &s, &o));
	}
	snapshot_free(&s);
	return ctx->fail.code;
}

static uint64_t wanted;

static json_t *js_policy(uint64_t v)
{
	return js_str_or_null(mp_policy_name(v));
}

static json_t *js_item(const struct ctx *ctx, const struct item *it)
{
	json_t *o = json_object();

	js_set_str(o, "name", it->sess ? it->sess->name : it->word);
	js_set(o, "old", it->sess ? js_policy(it->old_state) : json_null());
	js_set(o, "new", it->sess ? js_policy(it->sess->set.mp_policy) : json_null());
	job_set_end(ctx, o, it);
	return o;
}

static void plan_one(struct ctx *ctx, struct item *it)
{
	struct strlist w = { 0 };

	strlist_add(&w, "mp-policy");
	strlist_add(&w, "set");
	plan_name(&w, it->sess->name);
	strlist_add(&w, mp_policy_name(wanted));
	plan_add(ctx, &w);
	strlist_free(&w);
	it->result = "would-set";
}

static void set_one(struct ctx *ctx, struct job *j, struct item *it)
{
	struct session_settings want;
	struct session now;
	struct nl_error e;

	it->old_state = it->sess->set.mp_policy;
	if (it->sess->set.mp_policy == wanted) {
		it->result = "unchanged";
		return;
	}
	settings_init(&want);
	want.mp_policy = wanted;
	if (!ctx->kernel->ops->session_set(ctx->kernel, it->sess->id, &want, &now, &e)) {
		fail_nl(&it->fail, &e, "client");
		fail_object(&it->fail, "session", it->sess->name);
		it->result = "failed";
		return;
	}
	if (*e.warning)
		warn(ctx, "%s", e.warning);
	if (ctx->dry_run) {
		plan_one(ctx, it);
		return;
	}
	it->sess->set.mp_policy = now.set.mp_policy == M_UNKNOWN ? wanted : now.set.mp_policy;
	it->result = "set";
	j->changed = true;
	say(ctx, "session %s: %s", it->sess->name, mp_policy_name(wanted));
}

static int collect(struct ctx *ctx, struct job *j)
{
	const struct session *sess;

	j->plural = "sessions";
	if (!ctx_lock(ctx) || !ctx_snapshot(ctx, M_CLIENT, NL_SESSIONS, &j->s))
		return ctx->fail.code;
	if (args_has(&ctx->args, OPT_ALL)) {
		for (size_t i = 0; i < j->s.sessions.n; i++)
			job_add(j, &j->s.sessions.v[i], NULL);
		return XC_OK;
	}
	sess = select_session(&j->s, ctx->args.args[0], &ctx->fail);
	if (sess)
		job_add(j, &j->s.sessions.v[sess - j->s.sessions.v], NULL);
	return ctx->fail.code;
}

int cmd_mp_policy_set_check(struct ctx *ctx)
{
	const struct parsed *a = &ctx->args;
	bool all = args_has(a, OPT_ALL);
	char *problem, *hint = NULL;

	if (a->nargs != (all ? 1 : 2))
		return fail_set(&ctx->fail, XC_USAGE, a->nargs == 2 ? "--all goes without SESSION" :
				"POLICY is missing");
	problem = opt_problem(&opt_table[OPT_SET_POLICY], "--", a->args[!all], &hint);
	return problem ? fail_usage(&ctx->fail, problem, hint) : XC_OK;
}

int cmd_mp_policy_set(struct ctx *ctx)
{
	struct job j = { 0 };
	int rc = collect(ctx, &j);

	mp_policy_parse(ctx->args.args[ctx->args.nargs - 1], &wanted);
	for (size_t i = 0; !rc && i < j.n; i++)
		set_one(ctx, &j, &j.v[i]);
	if (!rc)
		rc = job_report(ctx, &j, &mp_policy_view, js_item);
	job_free(&j);
	return rc;
}
