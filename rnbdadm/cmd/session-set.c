// SPDX-License-Identifier: GPL-2.0
/* session set: settings of a session, of which only those that differ are written */
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "grammar/settings.h"
#include "host/disks.h"
#include "output/to-json.h"
#include "task/dry-run.h"
#include "task/select.h"
#include "task/wait.h"

static int parse(struct ctx *ctx, struct session_settings *want)
{
	const char *policy = args_value(&ctx->args, OPT_SET_POLICY);
	int rc = settings_parse(&ctx->args, want, &ctx->fail);

	if (!rc && policy)
		mp_policy_parse(policy, &want->mp_policy);
	return rc;
}

int cmd_session_set_check(struct ctx *ctx)
{
	struct session_settings want;
	int rc = parse(ctx, &want);

	if (rc || want.mp_policy != M_UNKNOWN || settings_any(&want))
		return rc;
	fail_hint(&ctx->fail, "rnbdadm help session set");
	return fail_set(&ctx->fail, XC_USAGE, "nothing to set");
}

static void add_change(json_t *changes, const char *key, json_t *old, json_t *new)
{
	json_t *c = json_object();

	js_set(c, "key", json_string(key));
	js_set(c, "old", old);
	js_set(c, "new", new);
	json_array_append_new(changes, c);
}

static json_t *js_policy(uint64_t v)
{
	return js_str_or_null(mp_policy_name(v));
}

/* What differs, as the document tells it; what does not is not asked for. */
static json_t *differences(const struct session *s, struct session_settings *want)
{
	json_t *changes = json_array();

	if (want->mp_policy == s->set.mp_policy)
		want->mp_policy = M_UNKNOWN;
	if (want->mp_policy != M_UNKNOWN)
		add_change(changes, "mp_policy", js_policy(s->set.mp_policy),
			   js_policy(want->mp_policy));
	for (int i = 0; i < SET_N; i++) {
		if (want->v[i] == s->set.v[i])
			want->v[i] = M_UNKNOWN_INT;
		if (want->v[i] != M_UNKNOWN_INT)
			add_change(changes, setting_name(i), js_setting(i, s->set.v[i]),
				   js_setting(i, want->v[i]));
	}
	return changes;
}

/* A kernel that does not tell a setting does not have it. */
static bool has_settings(struct ctx *ctx, const struct session *s,
			 const struct session_settings *want)
{
	for (int i = 0; i < SET_N; i++) {
		if (want->v[i] == M_UNKNOWN_INT || s->set.v[i] != M_UNKNOWN_INT)
			continue;
		fail_object(&ctx->fail, "session", s->name);
		fail_set(&ctx->fail, XC_UNSUPPORTED, "the loaded modules have no %s",
			 setting_name(i));
		return false;
	}
	return true;
}

static void print_plan(struct ctx *ctx, const struct session *s,
		       const struct session_settings *want)
{
	struct strlist w = { 0 };

	strlist_add(&w, "session");
	strlist_add(&w, "set");
	plan_name(&w, s->name);
	if (want->mp_policy != M_UNKNOWN)
		strlist_addf(&w, "--mp-policy=%s", mp_policy_name(want->mp_policy));
	settings_words(&w, want);
	plan_add(ctx, &w);
	strlist_free(&w);
}

static int do_set(struct ctx *ctx, struct session *sess, const struct session_settings *want,
		  const json_t *changes)
{
	struct session now;
	struct nl_error e;
	const json_t *c;
	size_t i;

	fail_object(&ctx->fail, "session", sess->name);
	if (!ctx->kernel->ops->session_set(ctx->kernel, sess->id, want, &now, &e))
		return fail_nl(&ctx->fail, &e, "client");
	if (*e.warning)
		warn(ctx, "%s", e.warning);
	if (ctx->dry_run) {
		print_plan(ctx, sess, want);
		return XC_OK;
	}
	if (now.set.mp_policy != M_UNKNOWN)
		sess->set.mp_policy = now.set.mp_policy;
	for (int k = 0; k < SET_N; k++)
		if (now.set.v[k] != M_UNKNOWN_INT)
			sess->set.v[k] = now.set.v[k];
	json_array_foreach(changes, i, c)
		say(ctx, "set %s of session %s",
		    json_string_value(json_object_get(c, "key")), sess->name);
	return XC_OK;
}

static int set(struct ctx *ctx, struct snapshot *s, struct session_settings *want)
{
	struct object_opts o = { .root = ctx->test_root };
	const struct session *found = select_session(s, ctx->args.args[0], &ctx->fail);
	struct session *sess;
	json_t *changes, *list;
	bool differs;
	int rc = XC_OK;

	if (!found || !has_settings(ctx, found, want))
		return ctx->fail.code;
	sess = &s->sessions.v[found - s->sessions.v];
	changes = differences(sess, want);
	differs = json_array_size(changes);
	if (ctx->dry_run)
		plan_empty(ctx);
	if (differs)
		rc = do_set(ctx, sess, want, changes);
	js_set(ctx->data, "changed", json_boolean(differs && !rc && !ctx->dry_run));
	if (rc)
		json_array_clear(changes);
	js_set(ctx->data, "changes", changes);
	list = json_array();
	json_array_append_new(list, js_session(sess, s, &o));
	out_changed(ctx, &session_view, list);
	return rc;
}

int cmd_session_set(struct ctx *ctx)
{
	struct session_settings want;
	struct snapshot s;
	int rc;

	parse(ctx, &want);
	if (!ctx_lock(ctx) ||
	    !ctx_snapshot(ctx, M_CLIENT, NL_SESSIONS | NL_PATHS | NL_DEVICES_OPT, &s))
		return ctx->fail.code;
	sys_paths(ctx->test_root, &s.paths);
	rc = set(ctx, &s, &want);
	snapshot_free(&s);
	return rc;
}
