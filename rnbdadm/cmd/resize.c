// SPDX-License-Identifier: GPL-2.0
/* resize: the size of a mapped disk */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "cmd/commands.h"
#include "host/disks.h"
#include "output/to-json.h"
#include "task/dry-run.h"
#include "task/in-use.h"
#include "task/select.h"
#include "task/wait.h"

#define SIZE_MAX_BYTES	((uint64_t)INT64_MAX)

struct resize {
	const struct device *d;
	char sign;			/* '+', '-' or 0 */
	uint64_t amount, old, new;
};

static bool parse(const char *s, struct resize *r)
{
	if (*s == '+' || *s == '-')
		r->sign = *s++;
	return parse_size(s, &r->amount) && (r->sign || r->amount);
}

static int too_large(struct ctx *ctx)
{
	return fail_set(&ctx->fail, XC_USAGE, "'%s' is more than a disk can have",
			ctx->args.args[1]);
}

int cmd_resize_check(struct ctx *ctx)
{
	const struct parsed *a = &ctx->args;
	struct resize r = { 0 };
	char *q;

	if (!device_word_ok(a->args[0], &ctx->fail))
		return XC_USAGE;
	if (parse(a->args[1], &r))
		return !r.sign && r.amount > SIZE_MAX_BYTES ? too_large(ctx) : XC_OK;
	q = printable(a->args[1]);
	fail_hint(&ctx->fail, "like 10G, +512M, -1T, 2048s; K, M, G are powers of 1024");
	fail_set(&ctx->fail, XC_USAGE, "'%s' is not a size", q);
	free(q);
	return XC_USAGE;
}

/* The new size out of the old one. */
static int compute(struct ctx *ctx, struct resize *r)
{
	uint64_t block = r->d->logical_block;

	r->old = r->d->size_bytes;
	if (r->old == M_UNKNOWN)
		return fail_set(&ctx->fail, XC_FAILED, "the kernel does not tell the size of it");
	if (block == M_UNKNOWN || block < 512)
		block = 512;
	r->new = r->amount;
	if (r->sign == '+')
		r->new = r->amount > SIZE_MAX_BYTES - r->old ? UINT64_MAX : r->old + r->amount;
	if (r->sign == '-')
		r->new = r->amount < r->old ? r->old - r->amount : 0;
	if (!r->new)
		return fail_set(&ctx->fail, XC_USAGE, "nothing would be left of %llu bytes",
				(unsigned long long)r->old);
	if (r->new > SIZE_MAX_BYTES)
		return too_large(ctx);
	if (r->new % block)
		return fail_set(&ctx->fail, XC_USAGE,
				"%llu bytes are not a multiple of the logical block, %llu",
				(unsigned long long)r->new, (unsigned long long)block);
	if (strcmp(device_state_name(r->d->state), "mapped")) {
		fail_object(&ctx->fail, "device", r->d->name);
		fail_hint(&ctx->fail, "rnbdadm remap %s", r->d->name);
		return fail_set(&ctx->fail, XC_CONFLICT, "the device is %s",
				device_state_name(r->d->state));
	}
	return XC_OK;
}

/* The cut-off data is lost: two options. */
static int check_shrink(struct ctx *ctx, const struct resize *r)
{
	bool allowed = args_has(&ctx->args, OPT_ALLOW_SHRINK);
	char *old, *new;

	if (r->new >= r->old || (allowed && ctx->force))
		return XC_OK;
	old = size_text(r->old, 0);
	new = size_text(r->new, 0);
	fail_set(&ctx->fail, XC_BUSY, "refused, %s is smaller than the current %s", new, old);
	use_detail(r->d, &ctx->fail);
	fail_object(&ctx->fail, "device", r->d->name);
	if (allowed)
		fail_hint(&ctx->fail, "--force too: data behind %s is cut off", new);
	else
		fail_hint(&ctx->fail, "--allow-shrink --force if the file system was shrunk first");
	free(old);
	free(new);
	return XC_BUSY;
}

static void print_plan(struct ctx *ctx, const struct resize *r)
{
	char *old = size_text(r->old, 0), *new = size_text(r->new, 0);
	struct strlist w = { 0 };

	strlist_add(&w, "resize");
	strlist_add(&w, r->d->name);
	strlist_addf(&w, "%llu", (unsigned long long)r->new);
	if (r->new < r->old) {
		strlist_add(&w, "--allow-shrink");
		strlist_add(&w, "--force");
	}
	plan_would(ctx, &w, "take %s (%s of session %s) from %s to %s", r->d->name,
		   r->d->device_path, r->d->session, old, new);
	strlist_free(&w);
	free(old);
	free(new);
}

struct look {
	uint32_t id;
	uint64_t want, have;
};

/* The size as the kernel tells it when asked again. */
static enum wait_is look_size(struct ctx *ctx, void *arg)
{
	struct look *l = arg;
	struct snapshot s;

	if (!ctx_snapshot(ctx, M_CLIENT, NL_DEVICES, &s))
		return WAIT_FAIL;
	l->have = M_UNKNOWN;
	for (size_t i = 0; i < s.devices.n; i++)
		if (s.devices.v[i].id == l->id)
			l->have = s.devices.v[i].size_bytes;
	snapshot_free(&s);
	return l->have == l->want ? WAIT_DONE : WAIT_MORE;
}

static int do_resize(struct ctx *ctx, const struct resize *r)
{
	struct look l = { .id = r->d->id, .want = r->new };
	struct wait w = { .group = "device", .look = look_size, .arg = &l };
	char *old = size_text(r->old, 0), *new = size_text(r->new, 0);
	struct device now;
	struct nl_error e;
	int rc = XC_OK;

	fail_object(&ctx->fail, "device", r->d->name);
	if (!ctx->dry_run && wait_limit(ctx, 0) && !wait_begin(ctx, &w))
		rc = ctx->fail.code;
	if (!rc && !ctx->kernel->ops->resize(ctx->kernel, r->d->id, r->new, &now, &e))
		rc = fail_nl(&ctx->fail, &e, "client");
	if (!rc && ctx->dry_run) {
		print_plan(ctx, r);
	} else if (!rc) {
		if (*e.warning)
			warn(ctx, "%s", e.warning);
		js_set(ctx->data, "changed", json_true());
		rc = wait_end(ctx, &w, wait_limit(ctx, 0));
		js_set(ctx->data, "new_size_bytes", js_u64(l.have));
		if (rc == XC_TIMEOUT)
			rc = fail_set(&ctx->fail, XC_FAILED,
				      "the size is %llu bytes now, not the %llu asked for",
				      (unsigned long long)l.have, (unsigned long long)r->new);
		else if (!rc)
			say(ctx, "resized %s: %s -> %s", r->d->name, old, new);
	}
	free(old);
	free(new);
	return rc;
}

int cmd_resize(struct ctx *ctx)
{
	const struct parsed *a = &ctx->args;
	struct resize r = { 0 };
	struct snapshot s;
	int rc;

	parse(a->args[1], &r);
	if (!ctx_lock(ctx) || !ctx_snapshot(ctx, M_CLIENT, NL_DEVICES, &s))
		return ctx->fail.code;
	sys_devices(ctx->test_root, &s.devices);
	sys_openers(ctx->test_root, &s.devices);
	r.d = select_device(&s, a->args[0], args_value(a, OPT_SESSION), ctx->test_root,
			    &ctx->fail);
	rc = r.d ? compute(ctx, &r) : (int)ctx->fail.code;
	if (r.d) {
		js_set_str(ctx->data, "device", r.d->name);
		js_set(ctx->data, "old_size_bytes", js_u64(r.d->size_bytes));
		js_set(ctx->data, "new_size_bytes", js_u64(r.d->size_bytes));
	}
	if (!rc)
		rc = check_shrink(ctx, &r);
	if (!rc && ctx->dry_run)
		plan_empty(ctx);
	if (!rc && r.new != r.old) {
		rc = do_resize(ctx, &r);
	} else if (!rc && !ctx->dry_run) {
		say(ctx, "%s has that size already", r.d->name);
	}
	snapshot_free(&s);
	return rc;
}
