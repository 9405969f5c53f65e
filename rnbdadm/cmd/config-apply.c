// SPDX-License-Identifier: GPL-2.0
/* config diff, config apply: what runs made as the configuration says */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "config/access-list.h"
#include "config/plan.h"
#include "host/disks.h"
#include "host/owners.h"
#include "task/dry-run.h"
#include "task/in-use.h"
#include "task/wait.h"

static char *owner(const void *arg, const char *session, const char *device_path)
{
	return registry_owner(arg, session, device_path);
}

static bool is_session(const char *word)
{
	return !strncmp(word, "session:", 8);
}

/* --only: "session:S" or "device:D" */
int cmd_config_only_check(struct ctx *ctx)
{
	const char *word;

	for (size_t i = 0; (word = args_nth(&ctx->args, OPT_ONLY, i)); i++)
		if (!is_session(word) && strncmp(word, "device:", 7))
			return fail_set(&ctx->fail, XC_USAGE, "--only: '%s' is neither session:NAME nor "
					"device:NAME", word);
	return XC_OK;
}

static const struct conf_section *find_only(const struct conf *c, const char *word)
{
	enum conf_kind kind = is_session(word) ? CONF_SESSION : CONF_DEVICE;
	const char *name = strchr(word, ':') + 1;
	const struct conf_section *s = conf_find(c, kind, name);
	char *plain;

	if (s || kind != CONF_DEVICE)
		return s;
	/* an instance of rnbd-device@, as systemd-escape writes it */
	plain = hex_unescape(name);
	s = conf_find(c, kind, plain);
	free(plain);
	return s;
}

/* What --only names must be there. */
static int read_only(struct ctx *ctx, const struct conf *c, struct strlist *only)
{
	const char *word;

	for (size_t i = 0; (word = args_nth(&ctx->args, OPT_ONLY, i)); i++) {
		const struct conf_section *s = find_only(c, word);

		if (!s) {
			fail_object(&ctx->fail, is_session(word) ? "session" : "device", strchr(word, ':') + 1);
			return fail_set(&ctx->fail, XC_NOT_FOUND, "the configuration has no %s",
					word);
		}
		strlist_addf(only, "%s:%s", conf_kind_name(s->kind), s->name);
	}
	return XC_OK;
}

static void read_opts(struct ctx *ctx, struct plan_opts *o)
{
	const char *mode = args_value(&ctx->args, OPT_MODE), *prune = args_value(&ctx->args, OPT_PRUNE);

	o->mode = mode && !strcmp(mode, "add") ? PLAN_ADD_ONLY :
		  mode && !strcmp(mode, "replace") ? PLAN_REPLACE : PLAN_SYNC;
	if (args_has(&ctx->args, OPT_PRUNE))
		o->prune = prune && !strcmp(prune, "all") ? PRUNE_ALL : PRUNE_CONFIG;
	else if (o->mode == PLAN_REPLACE)
		o->prune = PRUNE_CONFIG;
	o->force = ctx->force;
	o->owner = owner;
	o->arg = ctx->test_root;
}

/* The configuration, what runs, and the way from one to the other. */
struct work {
	struct conf c;
	struct snapshot s;
	struct strlist only, map_words;
	struct plan p;
};

/* What bounds all requests; those that connect have a time of their own. */
static void add_timeouts(const struct ctx *ctx, struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].action != PLAN_ADD)
			plan_timeout(ctx, &p->v[i].command);
}

/* The configuration; names of hosts may take their time. */
static int read_conf(struct ctx *ctx, struct work *w)
{
	const char *file = ctx->args.nargs ? ctx->args.args[0] : NULL;
	size_t told;
	int rc;

	w->c.lenient = args_has(&ctx->args, OPT_LENIENT);
	rc = conf_load(ctx, file, &w->c);
	if (!rc)
		rc = read_only(ctx, &w->c, &w->only);
	if (rc)
		return rc;
	told = w->c.nproblems;
	conf_resolve(&w->c);
	for (size_t i = told; i < w->c.nproblems; i++)
		warn(ctx, "%s", w->c.problems[i].message);
	return XC_OK;
}

static int make_plan(struct ctx *ctx, struct work *w)
{
	struct plan_opts o = { .only = &w->only, .map_words = &w->map_words };
	const struct parsed *a = &ctx->args;

	if (!read_at_rest(ctx, NL_SESSIONS | NL_PATHS | NL_DEVICES_OPT, NULL, &w->s))
		return ctx->fail.code;
	sys_devices(ctx->test_root, &w->s.devices);
	read_opts(ctx, &o);
	for (size_t i = 0; i < a->nopts; i++)
		if (a->opts[i].id == OPT_WAIT || a->opts[i].id == OPT_NO_WAIT)
			optval_word(&a->opts[i], &w->map_words);
	plan_make(&w->p, &w->c, &w->s, &o);
	add_timeouts(ctx, &w->p);
	return XC_OK;
}

static void work_free(struct work *w)
{
	plan_free(&w->p);
	snapshot_free(&w->s);
	strlist_free(&w->only);
	strlist_free(&w->map_words);
	conf_free(&w->c);
}

static int differs(struct ctx *ctx, const struct plan *p, size_t access)
{
	size_t n = p->n + access;
	const char *s = n == 1 ? "" : "s";

	if (!p->nunmet)
		return fail_set(&ctx->fail, XC_DIFFERS, "%zu change%s", n, s);
	return fail_set(&ctx->fail, XC_DIFFERS,
			"%zu change%s, and %zu that apply cannot make", n, s, p->nunmet);
}

/* The list that is loaded; false where that or a configured one is not there. --only is of sessions and devices alone. */
static bool read_access(struct ctx *ctx, struct work *w, struct access_list *now, int *rc)
{
	*now = (struct access_list){ 0 };
	*rc = XC_OK;
	if (w->only.n || !conf_access(&w->c))
		return false;
	if (access_load_if(ctx, now, rc))
		return true;
	if (!*rc)
		warn(ctx, "[peer] and [export] are left out: there is no server with an access list (modprobe "
		     "rnbd_server)");
	return false;
}

/* The access list, in a document of its own; *@n: how much differs. */
static int diff_access(struct ctx *ctx, struct work *w, size_t *n)
{
	json_t *doc = json_pack("{sb}", "changed", 0);
	struct access_list now;
	int rc;

	if (read_access(ctx, w, &now, &rc)) {
		*n = access_diff(&now, &w->c.access, doc);
		js_set(doc, "ended", json_array());
		js_set(doc, "error", json_null());
		if (ctx->out.fmt == OUT_TEXT)
			access_print_changes(doc);
		json_object_set(ctx->data, "access", doc);
	}
	json_decref(doc);
	access_free(&now);
	return rc;
}

static void print_access_plan(struct ctx *ctx)
{
	struct strlist words = { 0 };

	strlist_add(&words, "server");
	strlist_add(&words, "access");
	strlist_add(&words, "apply");
	if (ctx->args.nargs)
		plan_name(&words, ctx->args.args[0]);
	plan_line(ctx, &words);
	strlist_free(&words);
}

/* The list comes first: a server lets its clients in before it maps disks of others. Its failure does not keep those back. */
static int apply_access(struct ctx *ctx, struct work *w, bool *failed)
{
	json_t *doc = json_pack("{sb}", "changed", 0);
	struct access_list now;
	int rc;

	if (read_access(ctx, w, &now, &rc)) {
		rc = access_replace(ctx, &now, &w->c.access, doc);
		js_set(doc, "error", rc ? js_fail(ctx, &ctx->fail) : json_null());
		json_object_set(ctx->data, "access", doc);
		if (!rc && ctx->dry_run && access_differ(&now, &w->c.access) && ctx->out.fmt == OUT_TEXT)
			print_access_plan(ctx);
		*failed = rc;
	}
	json_decref(doc);
	access_free(&now);
	if (!*failed || args_has(&ctx->args, OPT_STOP_ON_ERROR))
		return rc;
	fail_print(ctx, &ctx->fail);
	fail_clear(&ctx->fail);
	return XC_OK;
}

int cmd_config_diff(struct ctx *ctx)
{
	struct work w = { 0 };
	int rc = read_conf(ctx, &w);
	size_t access = 0;

	if (!rc)
		rc = diff_access(ctx, &w, &access);
	if (!rc)
		rc = make_plan(ctx, &w);
	if (!rc) {
		plan_document(ctx, &w.p);
		if (ctx->out.fmt == OUT_TEXT && (w.p.n || w.p.nunlisted || w.p.nunmet))
			plan_print(&w.p);
		if (w.p.n || w.p.nunmet || access)
			rc = differs(ctx, &w.p, access);
	}
	work_free(&w);
	return rc;
}

/* What nobody has noted as the configuration's is taken away with --force alone. */
static int may_prune(struct ctx *ctx, const struct work *w)
{
	const char *prune = args_value(&ctx->args, OPT_PRUNE);
	struct strlist lost = { 0 };
	int rc = XC_OK;
	char *list;

	for (size_t i = 0; i < w->p.n; i++)
		if (w->p.v[i].stage == STAGE_PRUNE)
			strlist_addf(&lost, "%s %s", plan_object_name(w->p.v[i].object), w->p.v[i].name);
	if (lost.n && !ctx->force && prune && !strcmp(prune, "all")) {
		list = strlist_join(&lost, ", ");
		fail_hint(&ctx->fail, "--force removes them");
		rc = fail_set(&ctx->fail, XC_BUSY, "refused, this would remove %s", list);
		free(list);
	}
	strlist_free(&lost);
	return rc;
}

static void print_plan(struct ctx *ctx, const struct plan *p)
{
	bool stop = args_has(&ctx->args, OPT_STOP_ON_ERROR);

	/* in JSON the commands are with the changes */
	for (size_t i = 0; i < p->n && ctx->out.fmt == OUT_TEXT; i++) {
		if (!p->v[i].fail.code)
			plan_line(ctx, &p->v[i].command);
		else if (stop && !p->v[i].optional)
			break;
	}
}

static void warn_unmet(struct ctx *ctx, const struct plan *p)
{
	for (size_t i = 0; i < p->nunmet; i++) {
		char *text = plan_unmet_text(&p->unmet[i]);

		warn(ctx, "%s", text);
		free(text);
	}
}

int cmd_config_apply(struct ctx *ctx)
{
	struct work w = { 0 };
	int rc = read_conf(ctx, &w);
	bool plan, access_failed = false;

	if (!rc)
		rc = ctx_lock(ctx) ? apply_access(ctx, &w, &access_failed) : (int)ctx->fail.code;
	/* a change gives it back */
	if (!rc)
		rc = ctx_lock(ctx) ? make_plan(ctx, &w) : (int)ctx->fail.code;
	plan = !rc;
	if (!rc) {
		warn_unmet(ctx, &w.p);
		rc = may_prune(ctx, &w);
	}
	if (!rc) {
		rc = plan_apply(ctx, &w.c, &w.p, &w.s, args_has(&ctx->args, OPT_STOP_ON_ERROR));
		if (ctx->dry_run) {
			js_set(ctx->data, "dry_run", json_true());
			print_plan(ctx, &w.p);
		}
	}
	/* with what became of each */
	if (plan)
		plan_document(ctx, &w.p);
	work_free(&w);
	if (!rc && access_failed)
		rc = fail_set(&ctx->fail, XC_PARTIAL, "the access list was not loaded");
	return rc;
}
