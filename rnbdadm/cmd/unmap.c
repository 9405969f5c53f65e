// SPDX-License-Identifier: GPL-2.0
/* unmap: one device, several, those of a session, all */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "host/disks.h"
#include "host/owners.h"
#include "output/to-json.h"
#include "task/dry-run.h"
#include "task/in-use.h"
#include "task/targets.h"
#include "task/wait.h"

/* An open file that nobody answers for may be udev having a look: over soon, unless it has much to do. */
static int64_t look_ms(const struct ctx *ctx)
{
	if (ctx->nl_replay)
		return 0;
	return sys_udev_busy(ctx->test_root) ? 10000 : 1000;
}

/* How long to wait for the users to go: --lazy as it says, for all devices together. */
static int64_t patience(const struct ctx *ctx, const struct item *it, int64_t start)
{
	int64_t limit = ctx->timeout_ms == M_UNKNOWN_INT ? 30000 : ctx->timeout_ms, left;

	if (ctx->force)
		return 0;
	if (args_has(&ctx->args, OPT_LAZY)) {
		left = start + limit - now_ms();
		return limit < 0 ? limit : left > 0 ? left : 0;
	}
	return it->dev->users.n || ctx->dry_run ? 0 : look_ms(ctx);
}

/* The safety check: false when the device must stay. */
static bool may_unmap(struct ctx *ctx, struct item *it, int64_t start)
{
	bool lazy = args_has(&ctx->args, OPT_LAZY);
	int64_t limit = patience(ctx, it, start);
	struct strlist used = { 0 };
	char *list;

	use_list(it->dev, &used);
	if (used.n && limit && !ctx->dry_run && !use_wait(ctx, it->dev, &used, limit)) {
		job_fail(ctx, it);
		strlist_free(&used);
		return false;
	}
	/* a dry run does not wait for the last close */
	if (!used.n || ctx->force || (ctx->dry_run && limit)) {
		strlist_free(&used);
		return true;
	}
	list = strlist_join(&used, ", ");
	strlist_free(&used);
	fail_object(&it->fail, "device", it->dev->name);
	if (lazy) {
		it->fail.err = ETIMEDOUT;
		fail_set(&it->fail, XC_TIMEOUT, "the device is still in use");
	} else {
		fail_set(&it->fail, XC_BUSY, "refused, the device is in use");
		fail_hint(&it->fail, "unmount it first; --lazy waits for it, --force loses its data");
	}
	strlist_addf(&it->fail.details, "%s is used by: %s", it->dev->name, list);
	free(list);
	it->result = "refused";
	return false;
}

static void wait_gone(const struct ctx *ctx, struct item *it)
{
	int64_t limit = wait_limit(ctx, 0), end = now_ms() + limit;

	if (!limit || (ctx->nl_replay && !*ctx->test_root))
		return;
	while (sys_node_exists(ctx->test_root, it->dev)) {
		if (limit >= 0 && now_ms() >= end) {
			it->fail.err = ETIMEDOUT;
			fail_set(&it->fail, XC_TIMEOUT, "/dev/%s is still there", it->dev->name);
			fail_object(&it->fail, "device", it->dev->name);
			it->result = "failed";
			return;
		}
		sleep_ms(50);
	}
}

static void plan_one(struct ctx *ctx, struct item *it)
{
	struct strlist w = { 0 };

	strlist_add(&w, "unmap");
	strlist_add(&w, it->dev->name);
	if (ctx->force)
		strlist_add(&w, "--force");
	plan_would(ctx, &w, "unmap %s (%s of session %s)", it->dev->name, it->dev->device_path,
		   it->dev->session);
	strlist_free(&w);
	it->result = "would-unmap";
}

static void unmap_one(struct ctx *ctx, struct job *j, struct item *it)
{
	int64_t end = now_ms() + look_ms(ctx);
	struct nl_error e;
	bool ok;

	/* opened since the look at it: give that a moment to end */
	while (!(ok = ctx->kernel->ops->unmap(ctx->kernel, it->dev, ctx->force, &e)) &&
	       e.kind == NL_FAIL_KERNEL && e.err == EBUSY && now_ms() < end)
		sleep_ms(50);
	if (!ok) {
		if (e.kind == NL_FAIL_KERNEL && e.err == ENOENT && ctx->idempotent) {
			it->result = "absent";
			return;
		}
		fail_nl(&it->fail, &e, "client");
		fail_object(&it->fail, "device", it->dev->name);
		if (e.kind == NL_FAIL_KERNEL && e.err == EBUSY) {
			fail_set(&it->fail, XC_BUSY, "the device is in use (EBUSY)");
			fail_hint(&it->fail, "--lazy waits for the last close, --force does not");
		}
		it->result = "failed";
		return;
	}
	if (*e.warning)
		warn(ctx, "%s", e.warning);
	if (ctx->dry_run) {
		plan_one(ctx, it);
		return;
	}
	registry_forget(ctx->test_root, it->dev->session, it->dev->device_path);
	j->changed = true;
	it->result = "unmapped";
	say(ctx, "unmapped %s (%s of session %s)", it->dev->name, it->dev->device_path,
	    it->dev->session);
	wait_gone(ctx, it);
}

int cmd_unmap_check(struct ctx *ctx)
{
	return job_devices_check(ctx);
}

int cmd_unmap(struct ctx *ctx)
{
	struct job j = { 0 };
	int rc = job_devices(ctx, &j, ctx->idempotent);
	int64_t start = now_ms();

	for (size_t i = 0; !rc && i < j.n; i++) {
		struct item *it = &j.v[i];

		if (!it->result && may_unmap(ctx, it, start))
			unmap_one(ctx, &j, it);
	}
	if (!rc)
		rc = job_report(ctx, &j, &unmap_view, job_device);
	job_free(&j);
	return rc;
}
