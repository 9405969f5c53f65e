// SPDX-License-Identifier: GPL-2.0
/* recover: paths that are not connected, then devices that are disconnected */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "config/sections.h"
#include "output/to-json.h"
#include "task/dry-run.h"
#include "task/new-paths.h"
#include "task/path-targets.h"
#include "task/select.h"
#include "task/wait.h"

/* Paths in one job, those to add in the next, devices in the last: the items differ. */
struct recovery {
	struct job paths, missing, devices;
	struct conf conf;		/* of --add-missing */
	struct ways ways;		/* of @missing, one for each */
	struct strlist names;		/* the same as texts */
	uint64_t timeout;
};

static bool is_down(const struct device *d)
{
	return !strcmp(device_state_name(d->state), "disconnected");
}

static void add_devices(struct recovery *r, const struct session *sess)
{
	struct snapshot *s = &r->paths.s;
	size_t n;
	const struct index_entry *e = index_find(&s->session_devices, sess->id, &n);

	for (size_t i = 0; i < n; i++)
		if (is_down(&s->devices.v[e[i].pos]))
			job_add(&r->devices, &s->devices.v[e[i].pos], NULL);
}

static void add_missing(struct recovery *r, const struct session *sess)
{
	const struct conf_section *sec = conf_find(&r->conf, CONF_SESSION, sess->name);

	for (size_t i = 0; sec && i < sec->npaths; i++) {
		struct addr_pair pair = conf_pair(&r->conf, sec, &sec->paths[i]);
		struct ways one = { .v = &pair, .n = 1 };
		char *text;

		if (!sec->paths[i].resolved || !way_missing(&one, sess, &r->paths.s))
			continue;
		r->ways.v = xrealloc(r->ways.v, (r->ways.n + 1) * sizeof(*r->ways.v));
		r->ways.v[r->ways.n++] = pair;
		text = way_text(&pair);
		strlist_add(&r->names, text);
		free(text);
		job_add(&r->missing, NULL, NULL)->session = sess->name;
	}
	/* they stay where they are from now on */
	for (size_t i = 0; i < r->missing.n; i++)
		r->missing.v[i].word = r->names.v[i];
}

/* Leaves those paths that need it, or that were named. */
static int add_session(struct ctx *ctx, struct recovery *r, const struct session *sess,
		       const char *const *words, size_t n)
{
	int rc = path_job_add(ctx, &r->paths, sess, words, n, false);

	if (args_has(&ctx->args, OPT_ADD_MISSING))
		add_missing(r, sess);
	for (size_t i = 0; i < r->paths.n; i++)
		if (!r->paths.v[i].result && path_is_connected(r->paths.v[i].path))
			r->paths.v[i].result = "connected";
	return rc;
}

static int recover_all(struct ctx *ctx, struct recovery *r)
{
	const struct snapshot *s = &r->paths.s;
	int rc = XC_OK;

	for (size_t i = 0; i < s->sessions.n && !rc; i++) {
		rc = add_session(ctx, r, &s->sessions.v[i], NULL, 0);
		add_devices(r, &s->sessions.v[i]);
	}
	return rc;
}

static int recover_session(struct ctx *ctx, struct recovery *r)
{
	const struct parsed *a = &ctx->args;
	const struct session *sess = select_session(&r->paths.s, a->args[0], &ctx->fail);

	if (!sess)
		return ctx->fail.code;
	add_devices(r, sess);
	return add_session(ctx, r, sess, a->args + 1, a->nargs - 1);
}

static void remap_one(struct ctx *ctx, struct recovery *r, struct item *it)
{
	struct strlist w = { 0 };
	struct device now;
	struct nl_error e;

	if (!ctx->kernel->ops->remap(ctx->kernel, it->dev->id, r->timeout, &now, &e)) {
		it->result = "mapped";
		/* the session brings them back by itself, too */
		if (e.kind == NL_FAIL_KERNEL && e.err == EALREADY)
			return;
		fail_nl(&it->fail, &e, "client");
		fail_object(&it->fail, "device", it->dev->name);
		it->result = "failed";
		return;
	}
	if (*e.warning)
		warn(ctx, "%s", e.warning);
	if (ctx->dry_run) {
		strlist_add(&w, "remap");
		strlist_add(&w, it->dev->name);
		plan_would(ctx, &w, "remap %s (%s of session %s)", it->dev->name, it->dev->device_path,
			   it->dev->session);
		strlist_free(&w);
		it->result = "would-remap";
		return;
	}
	r->devices.changed = true;
	it->dev->state = now.state;
	it->result = "remapped";
	say(ctx, "remapped %s (%s of session %s)", it->dev->name, it->dev->device_path,
	    it->dev->session);
	if (node_wait(ctx, it->dev, wait_limit(ctx, 0)))
		job_fail(ctx, it);
}

static void plan_add_path(struct ctx *ctx, const struct item *it, const struct addr_pair *pair)
{
	struct parsed *a = &ctx->args;
	struct strlist w = { 0 };

	/* without a time 'path add' waits longer */
	for (size_t i = 0; i < a->nopts; i++)
		if (a->opts[i].id == OPT_WAIT && !a->opts[i].value)
			a->opts[i].value = "10s";
	strlist_add(&w, "path");
	strlist_add(&w, "add");
	plan_name(&w, it->session);
	strlist_add(&w, it->word);
	if (pair->dst.port && pair->dst.port != ADDR_DEFAULT_PORT)
		strlist_addf(&w, "--dest-port=%u", pair->dst.port);
	plan_add(ctx, &w);
	strlist_free(&w);
}

static void add_one(struct ctx *ctx, struct recovery *r, struct item *it, struct addr_pair *pair)
{
	int64_t limit = wait_limit(ctx, 0);
	struct ways one = { .v = pair, .n = 1 };
	struct nl_error e;
	struct path now;

	if (!path_wait_begin(ctx, it, limit))
		return;
	if (ctx->dry_run) {
		plan_add_path(ctx, it, pair);
		it->result = "would-add";
	} else if (ctx->kernel->ops->path_add(ctx->kernel,
					      snapshot_session(&r->paths.s, it->session)->id, pair,
					      r->timeout, &now, &e)) {
		r->missing.changed = true;
		it->result = "added";
		if (*e.warning)
			warn(ctx, "%s", e.warning);
		say(ctx, "added %s to session %s", it->word, it->session);
		if (limit && !path_is_connected(&now))
			path_wait(ctx, it, now.id, WANT_UP, limit);
	} else if (e.kind == NL_FAIL_KERNEL && e.err == EEXIST) {
		it->result = "connected";
	} else {
		path_fail(ctx, it, &e);
		if (e.kind == NL_FAIL_KERNEL)
			way_explain(ctx, &it->fail, &one, e.err);
	}
}

static void work(struct ctx *ctx, struct recovery *r)
{
	for (size_t i = 0; i < r->paths.n; i++) {
		struct item *it = &r->paths.v[i];

		if (!it->result)
			path_reconnect(ctx, &r->paths, it, r->timeout);
	}
	for (size_t i = 0; i < r->missing.n; i++)
		add_one(ctx, r, &r->missing.v[i], &r->ways.v[i]);
	for (size_t i = 0; i < r->devices.n; i++)
		remap_one(ctx, r, &r->devices.v[i]);
}

static void put_item(json_t *ok, json_t *failed, const struct item *it, json_t *o)
{
	if (it->fail.code) {
		json_array_append_new(failed, o);
		return;
	}
	json_object_del(o, "error");
	/* what needed nothing was not recovered */
	if (!strcmp(it->result, "connected") || !strcmp(it->result, "mapped"))
		json_decref(o);
	else
		json_array_append_new(ok, o);
}

static json_t *js_item(const struct ctx *ctx, const struct item *it, bool path)
{
	json_t *o = json_object();

	js_set(o, "type", json_string(path ? "path" : "device"));
	if (path) {
		js_set_str(o, "name", it->path ? it->path->name : it->word);
		js_set_str(o, "session", it->session);
	} else {
		js_set_str(o, "name", it->dev->name);
		js_set_str(o, "session", it->dev->session);
	}
	job_set_end(ctx, o, it);
	return o;
}

/* The failure of the whole counts paths and devices together. */
static int report(struct ctx *ctx, struct recovery *r)
{
	json_t *ok = json_array(), *failed = json_array();
	struct job all = { .plural = "objects" }, *jobs[] = { &r->paths, &r->missing, &r->devices };
	int rc;

	for (size_t i = 0; i < r->paths.n; i++)
		put_item(ok, failed, &r->paths.v[i], js_item(ctx, &r->paths.v[i], true));
	for (size_t i = 0; i < r->missing.n; i++)
		put_item(ok, failed, &r->missing.v[i], js_item(ctx, &r->missing.v[i], true));
	for (size_t i = 0; i < r->devices.n; i++)
		put_item(ok, failed, &r->devices.v[i], js_item(ctx, &r->devices.v[i], false));
	js_set(ctx->data, "changed", json_boolean(r->paths.changed || r->missing.changed ||
						  r->devices.changed));
	js_set(ctx->data, "recovered", ok);
	js_set(ctx->data, "failed", failed);
	if (ctx->dry_run)
		plan_empty(ctx);
	for (size_t k = 0; k < ARRAY_SIZE(jobs); k++) {
		struct job *j = jobs[k];

		for (size_t i = 0; i < j->n; i++) {
			const char *result = j->v[i].result;

			if (!strcmp(result, "connected") || !strcmp(result, "mapped"))
				continue;
			*job_add(&all, NULL, NULL) = j->v[i];
			memset(&j->v[i].fail, 0, sizeof(j->v[i].fail));
		}
	}
	rc = job_conclude(ctx, &all);
	job_free(&all);
	return rc;
}

/* --add-missing: where the paths that a session should have are listed. */
static int read_conf(struct ctx *ctx, struct conf *c)
{
	size_t told;
	int rc;

	if (!args_has(&ctx->args, OPT_ADD_MISSING))
		return XC_OK;
	rc = conf_load(ctx, NULL, c);
	told = c->nproblems;
	if (!rc)
		conf_resolve(c);
	for (size_t i = told; i < c->nproblems; i++)
		warn(ctx, "%s", c->problems[i].message);
	return rc;
}

static int recover(struct ctx *ctx, int (*collect)(struct ctx *ctx, struct recovery *r))
{
	struct recovery r = { 0 };
	int rc = read_conf(ctx, &r.conf);

	way_timeout(ctx, "recover", &r.timeout);
	if (!rc)
		rc = args_has(&ctx->args, OPT_ADD_MISSING) ?
		     path_job_open_to_add(ctx, &r.paths, NULL) :
		     path_job_open(ctx, &r.paths, M_CLIENT);
	if (!rc)
		rc = collect(ctx, &r);
	if (!rc) {
		work(ctx, &r);
		rc = report(ctx, &r);
	}
	job_free(&r.devices);
	job_free(&r.missing);
	job_free(&r.paths);
	conf_free(&r.conf);
	ways_free(&r.ways);
	strlist_free(&r.names);
	return rc;
}

static int check_timeout(struct ctx *ctx)
{
	uint64_t timeout;

	return way_timeout(ctx, "recover", &timeout);
}

int cmd_recover_check(struct ctx *ctx)
{
	const struct parsed *a = &ctx->args;
	bool device = a->nargs > 1 && !strcmp(a->args[0], "device");
	int rc = path_job_check(ctx);

	/* A session may be called so; then an address follows. */
	if (rc && a->nargs > 1 && (device || !strcmp(a->args[0], "session"))) {
		fail_hint(&ctx->fail, "use '%s'", device ? "remap DEVICE" : "recover SESSION");
		return fail_set(&ctx->fail, XC_USAGE, "'recover %s' does not exist any more", a->args[0]);
	}
	return rc ? rc : check_timeout(ctx);
}

int cmd_recover(struct ctx *ctx)
{
	return recover(ctx, args_has(&ctx->args, OPT_ALL) ? recover_all : recover_session);
}
