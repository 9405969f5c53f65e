// SPDX-License-Identifier: GPL-2.0
/* device set: rw in place of migration, while the disk is in use */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "host/disks.h"
#include "output/to-json.h"
#include "task/dry-run.h"
#include "task/new-paths.h"
#include "task/select.h"
#include "task/wait.h"

static int check_access(struct ctx *ctx, const char *s)
{
	uint64_t mode;
	char *q;

	if (!s) {
		fail_hint(&ctx->fail, "rnbdadm help device set");
		return fail_set(&ctx->fail, XC_USAGE, "nothing to set");
	}
	if (!strcmp(s, "rw"))
		return XC_OK;
	if (access_parse(s, &mode)) {
		fail_hint(&ctx->fail, "unmap the device, and map it with --access %s", s);
		return fail_set(&ctx->fail, XC_USAGE,
				"a mapped device can be set to rw only, not to %s", s);
	}
	q = printable(s);
	fail_set(&ctx->fail, XC_USAGE, "'%s' is not a value of --access (rw)", q);
	free(q);
	return XC_USAGE;
}

int cmd_device_set_check(struct ctx *ctx)
{
	uint64_t ms;
	int rc = cmd_device_check(ctx);

	if (!rc)
		rc = check_access(ctx, args_value(&ctx->args, OPT_SET_ACCESS));
	return rc ? rc : way_timeout(ctx, "device set", &ms);
}

static bool has_access(const struct device *d, const char *name)
{
	const char *have = access_name(d->access);

	return have && !strcmp(have, name);
}

/* The rest is up to the server. */
static int may_set(struct ctx *ctx, const struct device *d)
{
	const char *state = device_state_name(d->state);

	fail_object(&ctx->fail, "device", d->name);
	if (has_access(d, "ro")) {
		fail_hint(&ctx->fail, "unmap it, and map it with --access rw");
		return fail_set(&ctx->fail, XC_CONFLICT, "the device is mapped read-only");
	}
	if (strcmp(state, "mapped")) {
		fail_hint(&ctx->fail, "rnbdadm remap %s", d->name);
		return fail_set(&ctx->fail, XC_CONFLICT, "the device is %s", state);
	}
	return XC_OK;
}

static int explain(struct fail *f, const struct nl_error *e)
{
	int rc = fail_nl(f, e, "client");

	if (e->kind != NL_FAIL_KERNEL)
		return rc;
	if (e->err == EBUSY) {
		fail_hint(f, "unmap it there first; on the server 'rnbdadm server export list' names "
			  "the client");
		fail_set(f, XC_BUSY, "refused, the device stays in migration");
	} else if (e->err == EOPNOTSUPP && e->refusal == RNBD_REFUSAL_SERVER) {
		fail_hint(f, "unmap it, and map it with --access rw");
		fail_set(f, XC_UNSUPPORTED, "the server has no such operation");
	}
	return f->code;
}

static void print_plan(struct ctx *ctx, const struct device *d)
{
	struct strlist w = { 0 };

	strlist_add(&w, "device");
	strlist_add(&w, "set");
	strlist_add(&w, d->name);
	strlist_add(&w, "--access=rw");
	plan_would(ctx, &w, "end the migration of %s (%s of session %s)", d->name, d->device_path,
		   d->session);
	strlist_free(&w);
}

static int set_rw(struct ctx *ctx, struct device *d)
{
	struct device now;
	struct nl_error e;
	uint64_t ms;

	way_timeout(ctx, "device set", &ms);
	if (!ctx->kernel->ops->device_set_rw(ctx->kernel, d->id, ms, &now, &e))
		return explain(&ctx->fail, &e);
	if (*e.warning)
		warn(ctx, "%s", e.warning);
	if (ctx->dry_run) {
		print_plan(ctx, d);
		return XC_OK;
	}
	d->access = now.access;
	say(ctx, "set access of %s: migration -> rw", d->name);
	return XC_OK;
}

static json_t *js_changes(bool changed, const char *old)
{
	json_t *changes = json_array(), *c;

	if (!changed)
		return changes;
	c = json_object();
	js_set(c, "key", json_string("access"));
	js_set(c, "old", js_str_or_null(old));
	js_set(c, "new", json_string("rw"));
	json_array_append_new(changes, c);
	return changes;
}

static int set(struct ctx *ctx, struct snapshot *s)
{
	struct object_opts o = { .root = ctx->test_root };
	const struct device *found = select_device(s, ctx->args.args[0],
						   args_value(&ctx->args, OPT_SESSION),
						   ctx->test_root, &ctx->fail);
	bool differs, changed;
	struct device *d;
	const char *old;
	json_t *list;
	int rc = XC_OK;

	if (!found)
		return ctx->fail.code;
	d = &s->devices.v[found - s->devices.v];
	old = access_name(d->access);
	differs = !has_access(d, "rw");
	if (ctx->dry_run)
		plan_empty(ctx);
	if (differs) {
		rc = may_set(ctx, d);
		if (!rc)
			rc = set_rw(ctx, d);
	} else {
		say(ctx, "%s is rw already", d->name);
	}
	changed = differs && !rc && !ctx->dry_run;
	js_set(ctx->data, "changed", json_boolean(changed));
	js_set(ctx->data, "changes", js_changes(differs && !rc, old));
	list = json_array();
	json_array_append_new(list, js_device(d, &o));
	out_changed(ctx, &device_view, list);
	return rc;
}

int cmd_device_set(struct ctx *ctx)
{
	struct snapshot s;
	int rc;

	if (!ctx_lock(ctx) || !ctx_snapshot(ctx, M_CLIENT, NL_DEVICES, &s))
		return ctx->fail.code;
	sys_devices(ctx->test_root, &s.devices);
	sys_openers(ctx->test_root, &s.devices);
	rc = set(ctx, &s);
	snapshot_free(&s);
	return rc;
}
