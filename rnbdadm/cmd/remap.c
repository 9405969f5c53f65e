// SPDX-License-Identifier: GPL-2.0
/* remap: open devices on the server again, or make them anew */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "grammar/settings.h"
#include "output/to-json.h"
#include "task/dry-run.h"
#include "task/in-use.h"
#include "task/new-paths.h"
#include "task/targets.h"
#include "task/wait.h"

/* A disk that --recreate made; the item keeps the old one. */
struct made {
	const struct item *it;
	char name[M_DISK_MAX];
};

static struct made *made;
static size_t nmade;

static bool recreates(const struct ctx *ctx)
{
	return args_has(&ctx->args, OPT_RECREATE);
}

static bool is_mapped(const struct device *d)
{
	return !strcmp(device_state_name(d->state), "mapped");
}

static void fail_item(struct item *it, const struct nl_error *e)
{
	fail_nl(&it->fail, e, "client");
	fail_object(&it->fail, "device", it->dev->name);
	it->result = "failed";
}

static int64_t request_timeout(const struct ctx *ctx)
{
	return ctx->timeout_ms == M_UNKNOWN_INT ? -1 : ctx->timeout_ms;
}

static void plan_one(struct ctx *ctx, struct item *it)
{
	struct strlist w = { 0 };

	strlist_add(&w, "remap");
	strlist_add(&w, it->dev->name);
	if (recreates(ctx))
		strlist_add(&w, "--recreate");
	if (recreates(ctx) && ctx->force)
		strlist_add(&w, "--force");
	plan_would(ctx, &w, "%s %s (%s of session %s)", recreates(ctx) ? "unmap and map" : "remap",
		   it->dev->name, it->dev->device_path, it->dev->session);
	strlist_free(&w);
	it->result = recreates(ctx) ? "would-recreate" : "would-remap";
}

static void remap_one(struct ctx *ctx, struct job *j, struct item *it)
{
	int64_t timeout = request_timeout(ctx);
	struct device now;
	struct nl_error e;

	if (!ctx->kernel->ops->remap(ctx->kernel, it->dev->id,
				     timeout < 0 ? M_UNKNOWN : (uint64_t)timeout, &now, &e)) {
		if (e.kind == NL_FAIL_KERNEL && e.err == EALREADY) {
			it->result = "mapped";
			return;
		}
		fail_item(it, &e);
		if (e.kind == NL_FAIL_KERNEL && e.err == ENOENT && e.refusal == RNBD_REFUSAL_SERVER)
			fail_hint(&it->fail, "the server has no such device any more");
		return;
	}
	if (*e.warning)
		warn(ctx, "%s", e.warning);
	if (ctx->dry_run) {
		plan_one(ctx, it);
		return;
	}
	j->changed = true;
	it->result = "remapped";
	say(ctx, "remapped %s (%s of session %s)", it->dev->name, it->dev->device_path,
	    it->dev->session);
	if (node_wait(ctx, it->dev, wait_limit(ctx, 0)))
		job_fail(ctx, it);
}

/* blockio may have been nobody's wish, and the server's choice be another one by now. */
static uint64_t io_mode_asked(const struct device *d)
{
	const char *mode = io_mode_name(d->io_mode);

	return mode && !strcmp(mode, "fileio") ? d->io_mode : M_UNKNOWN;
}

/* The request that maps the device as it is mapped now. */
static void request_like(const struct ctx *ctx, const struct snapshot *s, const struct device *d,
			 struct map_request *req, struct addr_pair *pairs, size_t max)
{
	const struct session *sess = snapshot_session(s, d->session);
	int64_t timeout = request_timeout(ctx);
	const struct index_entry *p;
	size_t n;

	*req = (struct map_request){
		.session = d->session, .device_path = d->device_path, .access = d->access,
		.io_mode = io_mode_asked(d), .always_fua = d->always_fua == 1,
		.poll_queues = d->poll_queues, .connections = M_UNKNOWN,
		.timeout_ms = timeout < 0 ? M_UNKNOWN : (uint64_t)timeout, .paths = pairs,
	};
	settings_init(&req->set);
	if (sess) {
		req->set.mp_policy = sess->set.mp_policy;
		req->connections = snapshot_connections(s, sess);
	}
	/* the last device takes the session along, so it may have to be made again */
	p = index_find(&s->session_paths, d->session_id, &n);
	for (size_t i = 0; i < n && i < max; i++) {
		const struct path *path = &s->paths.v[p[i].pos];

		pairs[req->npaths].src = path->client;
		pairs[req->npaths++].dst = path->server;
	}
}

/* What the session was told after it was made. */
static void restore_session(struct ctx *ctx, const struct snapshot *s, const struct device *old,
			    const struct device *new)
{
	const struct session *sess = snapshot_session(s, old->session);
	struct session_settings want;
	struct session now;
	struct nl_error e;

	if (!sess || old->session_id == new->session_id)
		return;
	want = sess->set;
	want.mp_policy = M_UNKNOWN;
	/* so are all sessions made */
	if (want.v[SET_MAX_RECONNECT_ATTEMPTS] == -1)
		want.v[SET_MAX_RECONNECT_ATTEMPTS] = M_UNKNOWN_INT;
	if (settings_any(&want) &&
	    !ctx->kernel->ops->session_set(ctx->kernel, new->session_id, &want, &now, &e))
		warn(ctx, "session %s does not have the settings any more that it had",
		     old->session);
}

static void recreate_one(struct ctx *ctx, struct job *j, struct item *it)
{
	struct addr_pair pairs[64];
	struct map_request req;
	struct device new;
	struct nl_error e;

	request_like(ctx, &j->s, it->dev, &req, pairs, ARRAY_SIZE(pairs));
	if (!ctx->kernel->ops->can_map(ctx->kernel, &req, &e) ||
	    !ctx->kernel->ops->unmap(ctx->kernel, it->dev, ctx->force, &e)) {
		fail_item(it, &e);
		return;
	}
	if (*e.warning)
		warn(ctx, "%s", e.warning);
	j->changed = !ctx->dry_run;
	if (!ctx->kernel->ops->map(ctx->kernel, &req, &new, &e)) {
		fail_item(it, &e);
		fail_text(&it->fail, "unmapped, but not mapped again: %s", it->fail.message);
		fail_hint(&it->fail, "rnbdadm map %s --session %s --path ...", req.device_path,
			  req.session);
		return;
	}
	if (*e.warning)
		warn(ctx, "%s", e.warning);
	if (ctx->dry_run) {
		plan_one(ctx, it);
		return;
	}
	restore_session(ctx, &j->s, it->dev, &new);
	it->result = "recreated";
	made = xrealloc(made, (nmade + 1) * sizeof(*made));
	made[nmade].it = it;
	snprintf(made[nmade++].name, sizeof(made->name), "%s", new.name);
	if (ctx->out.fmt == OUT_TEXT)
		printf("/dev/%s\n", new.name);
	say(ctx, "%s (%s of session %s) is /dev/%s now", it->dev->name, it->dev->device_path,
	    it->dev->session, new.name);
	if (node_wait(ctx, &new, wait_limit(ctx, 10000)))
		job_fail(ctx, it);
}

/* A disk is taken away by --recreate: what is in use stays without --force. */
static bool may_recreate(const struct ctx *ctx, struct item *it)
{
	if (ctx->force || !use_detail(it->dev, &it->fail))
		return true;
	fail_set(&it->fail, XC_BUSY, "refused, the device is in use");
	fail_object(&it->fail, "device", it->dev->name);
	fail_hint(&it->fail, "unmount it first; --force loses its data");
	it->result = "refused";
	return false;
}

static void work(struct ctx *ctx, struct job *j, struct item *it)
{
	bool mapped = it->dev && is_mapped(it->dev);

	if (it->result)
		return;
	if (mapped && (args_has(&ctx->args, OPT_ONLY_DISCONNECTED) ||
		       (ctx->dry_run && !recreates(ctx))))
		it->result = "mapped";
	else if (recreates(ctx) && !may_recreate(ctx, it))
		return;
	else if (recreates(ctx))
		recreate_one(ctx, j, it);
	else
		remap_one(ctx, j, it);
}

static json_t *js_item(const struct ctx *ctx, const struct item *it)
{
	json_t *o = job_device(ctx, it), *name = json_null();

	for (size_t i = 0; i < nmade; i++)
		if (made[i].it == it)
			name = js_str(made[i].name);
	js_set(o, "new_name", name);
	return o;
}

int cmd_remap_check(struct ctx *ctx)
{
	uint64_t ms;
	int rc = way_timeout(ctx, "remap", &ms);

	return rc ? rc : job_devices_check(ctx);
}

int cmd_remap(struct ctx *ctx)
{
	struct job j = { 0 };
	int rc = job_devices(ctx, &j, ctx->idempotent);

	for (size_t i = 0; !rc && i < j.n; i++)
		work(ctx, &j, &j.v[i]);
	if (!rc)
		rc = job_report(ctx, &j, &remap_view, js_item);
	free(made);
	made = NULL;
	nmade = 0;
	job_free(&j);
	return rc;
}
