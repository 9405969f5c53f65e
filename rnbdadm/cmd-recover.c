// SPDX-License-Identifier: GPL-2.0
/* recover: paths that are not connected, then devices that are disconnected */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "objects.h"
#include "path-job.h"
#include "select.h"
#include "way.h"

/* Paths in one job, devices in another: the items differ. */
struct recovery {
	struct job paths, devices;
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

/* Leaves those paths that need it, or that were named. */
static int add_session(struct ctx *ctx, struct recovery *r, const struct session *sess,
		       const char *const *words, size_t n)
{
	int rc = path_job_add(ctx, &r->paths, sess, words, n, false);

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

static int recover_device(struct ctx *ctx, struct recovery *r)
{
	struct device *d = select_device(&r->paths.s, ctx->args.args[0],
					 args_value(&ctx->args, OPT_SESSION), ctx->test_root,
					 &ctx->fail);
	const struct session *sess;

	if (!d)
		return ctx->fail.code;
	if (is_down(d))
		job_add(&r->devices, d, NULL);
	sess = snapshot_session(&r->paths.s, d->session);
	return sess ? add_session(ctx, r, sess, NULL, 0) : XC_OK;
}

static void remap_one(struct ctx *ctx, struct recovery *r, struct item *it)
{
	struct strlist w = { 0 };
	struct device now;
	struct nl_error e;

	if (ctx->dry_run) {
		strlist_add(&w, "remap");
		strlist_add(&w, it->dev->name);
		plan_add(ctx, &w);
		strlist_free(&w);
		it->result = "would-remap";
		return;
	}
	if (!rnl_remap(ctx->nl, it->dev->id, r->timeout, &now, &e)) {
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
	r->devices.changed = true;
	it->dev->state = now.state;
	it->result = "remapped";
	say(ctx, "remapped %s (%s of session %s)", it->dev->name, it->dev->device_path,
	    it->dev->session);
}

static void work(struct ctx *ctx, struct recovery *r)
{
	for (size_t i = 0; i < r->paths.n; i++) {
		struct item *it = &r->paths.v[i];

		if (it->result)
			continue;
		if (ctx->dry_run) {
			path_plan(ctx, "reconnect", it, false);
			it->result = "would-reconnect";
		} else {
			path_reconnect(ctx, &r->paths, it, r->timeout);
		}
	}
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
	struct job all = { .plural = "objects" };
	int rc;

	for (size_t i = 0; i < r->paths.n; i++)
		put_item(ok, failed, &r->paths.v[i], js_item(ctx, &r->paths.v[i], true));
	for (size_t i = 0; i < r->devices.n; i++)
		put_item(ok, failed, &r->devices.v[i], js_item(ctx, &r->devices.v[i], false));
	js_set(ctx->data, "changed", json_boolean(r->paths.changed || r->devices.changed));
	js_set(ctx->data, "recovered", ok);
	js_set(ctx->data, "failed", failed);
	if (ctx->dry_run)
		plan_empty(ctx);
	for (size_t k = 0; k < 2; k++) {
		struct job *j = k ? &r->devices : &r->paths;

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

static int recover(struct ctx *ctx, int (*collect)(struct ctx *ctx, struct recovery *r))
{
	struct recovery r = { 0 };
	int rc = way_timeout(ctx, "recover", &r.timeout);

	if (!rc && args_has(&ctx->args, OPT_ADD_MISSING)) {
		fail_hint(&ctx->fail, "rnbdadm session add-path");
		rc = fail_set(&ctx->fail, XC_UNSUPPORTED,
			      "nothing here lists the paths that a session should have");
	}
	if (!rc)
		rc = path_job_open(ctx, &r.paths, M_CLIENT);
	if (!rc)
		rc = collect(ctx, &r);
	if (!rc) {
		work(ctx, &r);
		rc = report(ctx, &r);
	}
	job_free(&r.devices);
	job_free(&r.paths);
	return rc;
}

int cmd_recover(struct ctx *ctx)
{
	if (!args_has(&ctx->args, OPT_ALL))
		return fail_set(&ctx->fail, XC_USAGE, "--all, or device, or session is missing");
	return recover(ctx, recover_all);
}

int cmd_recover_device(struct ctx *ctx)
{
	return recover(ctx, recover_device);
}

int cmd_session_recover(struct ctx *ctx)
{
	bool all = args_has(&ctx->args, OPT_ALL);

	if (all == !!ctx->args.nargs)
		return fail_set(&ctx->fail, XC_USAGE, all ? "--all goes without SESSION" :
				"name a session, or --all");
	return recover(ctx, all ? recover_all : recover_session);
}
