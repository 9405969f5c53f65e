// SPDX-License-Identifier: GPL-2.0
/* unmap: one device, several, those of a session, all */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd.h"
#include "objects.h"
#include "select.h"
#include "sysinfo.h"

enum result { R_NONE, R_UNMAPPED, R_WOULD, R_ABSENT, R_REFUSED, R_FAILED };

static const char *const result_names[] = {
	"", "unmapped", "would-unmap", "absent", "refused", "failed",
};

/* One device to unmap, or a word that names none. */
struct item {
	struct device *dev;
	const char *word;
	enum result result;
	struct fail fail;
};

struct job {
	struct snapshot s;
	struct item *v;
	size_t n;
	bool changed;
};

static struct item *add_item(struct job *j, struct device *dev, const char *word)
{
	struct item *it;

	for (size_t i = 0; dev && i < j->n; i++)
		if (j->v[i].dev == dev)
			return &j->v[i];
	j->v = xrealloc(j->v, (j->n + 1) * sizeof(*j->v));
	it = &j->v[j->n++];
	*it = (struct item){ .dev = dev, .word = word };
	return it;
}

static bool absent_is_fine(const struct ctx *ctx)
{
	return ctx->idempotent || args_has(&ctx->args, OPT_IF_EXISTS);
}

/* The devices that the command line names; a usage error ends it. */
static int collect(struct ctx *ctx, struct job *j)
{
	const struct parsed *a = &ctx->args;
	const char *session = args_value(a, OPT_SESSION);
	struct fail f = { 0 };

	for (size_t i = 0; i < a->nargs; i++) {
		struct device *d = select_device(&j->s, a->args[i], session, ctx->test_root, &f);
		struct item *it = add_item(j, d, a->args[i]);

		if (d)
			continue;
		if (f.code == XC_USAGE) {
			fail_clear(&ctx->fail);
			ctx->fail = f;
			return XC_USAGE;
		}
		if (f.code == XC_NOT_FOUND && absent_is_fine(ctx)) {
			it->result = R_ABSENT;
			fail_clear(&f);
		} else {
			it->result = R_FAILED;
			it->fail = f;
			memset(&f, 0, sizeof(f));
		}
	}
	if (a->nargs)
		return XC_OK;
	if (session && !select_session(&j->s, session, &ctx->fail)) {
		if (!absent_is_fine(ctx))
			return ctx->fail.code;
		fail_clear(&ctx->fail);
		return XC_OK;
	}
	for (size_t i = 0; i < j->s.devices.n; i++)
		if (!session || !strcmp(j->s.devices.v[i].session, session))
			add_item(j, &j->s.devices.v[i], NULL);
	return XC_OK;
}

/* What uses the device, an open count without a known user included. */
static void users(const struct device *d, struct strlist *l)
{
	for (size_t i = 0; i < d->users.n; i++)
		strlist_add(l, d->users.v[i]);
	if (!l->n && d->open_count != M_UNKNOWN && d->open_count)
		strlist_addf(l, "%llu open file%s", (unsigned long long)d->open_count,
			     d->open_count == 1 ? "" : "s");
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
}

/* Reads the users again until there are none, for @limit ms, -1 without end. */
static bool wait_unused(struct ctx *ctx, struct item *it, struct strlist *used, int64_t limit)
{
	int64_t end = now_ms() + limit;
	bool there = true;

	while (there && used->n && (limit < 0 || now_ms() < end)) {
		struct snapshot s;

		nap();
		if (!ctx_snapshot(ctx, M_CLIENT, NL_DEVICES, &s))
			return false;
		sys_devices(ctx->test_root, &s.devices);
		strlist_free(used);
		there = false;
		for (size_t i = 0; i < s.devices.n; i++) {
			if (s.devices.v[i].id != it->dev->id)
				continue;
			there = true;
			users(&s.devices.v[i], used);
		}
		snapshot_free(&s);
	}
	return true;
}

/*
 * How long to wait for the users to go: --lazy as it says; an open file that nobody
 * answers for may be udev having a look, which is over soon.
 */
static int64_t patience(const struct ctx *ctx, const struct item *it)
{
	if (ctx->dry_run || ctx->force)
		return 0;
	if (args_has(&ctx->args, OPT_LAZY))
		return ctx->timeout_ms == M_UNKNOWN_INT ? 30000 : ctx->timeout_ms;
	return it->dev->users.n || ctx->nl_replay ? 0 : 1000;
}

/* The safety check: false when the device must stay. */
static bool may_unmap(struct ctx *ctx, struct item *it)
{
	struct strlist used = { 0 };
	bool lazy = args_has(&ctx->args, OPT_LAZY);
	char *list;

	users(it->dev, &used);
	if (used.n && patience(ctx, it) && !wait_unused(ctx, it, &used, patience(ctx, it))) {
		it->fail = ctx->fail;
		memset(&ctx->fail, 0, sizeof(ctx->fail));
		it->result = R_FAILED;
		strlist_free(&used);
		return false;
	}
	if (!used.n || ctx->force) {
		strlist_free(&used);
		return true;
	}
	list = strlist_join(&used, ", ");
	strlist_free(&used);
	fail_object(&it->fail, "device", it->dev->name);
	if (lazy && !ctx->dry_run) {
		it->fail.err = ETIMEDOUT;
		fail_set(&it->fail, XC_TIMEOUT, "the device is still in use");
	} else {
		fail_set(&it->fail, XC_BUSY, "refused, the device is in use");
		fail_hint(&it->fail, "unmount it first; --lazy waits for it, --force loses its data");
	}
	strlist_addf(&it->fail.details, "%s is used by: %s", it->dev->name, list);
	free(list);
	it->result = R_REFUSED;
	return false;
}

static void wait_gone(const struct ctx *ctx, struct item *it)
{
	int64_t limit = args_time(&ctx->args, OPT_WAIT, 10000), end = now_ms() + limit;

	if (ctx->nl_replay && !*ctx->test_root)
		return;
	while (sys_node_exists(ctx->test_root, it->dev)) {
		if (limit >= 0 && now_ms() >= end) {
			it->fail.err = ETIMEDOUT;
			fail_set(&it->fail, XC_TIMEOUT, "/dev/%s is still there", it->dev->name);
			fail_object(&it->fail, "device", it->dev->name);
			it->result = R_FAILED;
			return;
		}
		nap();
	}
}

static void unmap_one(struct ctx *ctx, struct job *j, struct item *it)
{
	int64_t end = now_ms() + (ctx->nl_replay ? 0 : 1000);
	struct nl_error e;
	bool ok;

	/* opened since the look at it: give that a moment to end */
	while (!(ok = rnl_unmap(ctx->nl, it->dev, ctx->force, &e)) &&
	       e.kind == NL_FAIL_KERNEL && e.err == EBUSY && now_ms() < end)
		nap();
	if (!ok) {
		if (e.kind == NL_FAIL_KERNEL && e.err == ENOENT && absent_is_fine(ctx)) {
			it->result = R_ABSENT;
			return;
		}
		fail_nl(&it->fail, &e, "client");
		fail_object(&it->fail, "device", it->dev->name);
		if (e.kind == NL_FAIL_KERNEL && e.err == EBUSY) {
			fail_set(&it->fail, XC_BUSY, "the device is in use (EBUSY)");
			fail_hint(&it->fail, "--lazy waits for the last close, --force does not");
		}
		if (it->fail.attribute && !strcmp(it->fail.attribute, "force"))
			it->fail.attribute[0] = '\0';
		it->result = R_FAILED;
		return;
	}
	if (*e.warning)
		warn(ctx, "%s", e.warning);
	j->changed = true;
	it->result = R_UNMAPPED;
	say(ctx, "unmapped %s (%s of session %s)", it->dev->name, it->dev->device_path,
	    it->dev->session);
	if (args_has(&ctx->args, OPT_WAIT))
		wait_gone(ctx, it);
}

static void plan_one(struct ctx *ctx, struct item *it)
{
	struct strlist w = { 0 };

	strlist_add(&w, "unmap");
	strlist_add(&w, it->dev->name);
	if (ctx->force)
		strlist_add(&w, "--force");
	plan_add(ctx, &w);
	strlist_free(&w);
	it->result = R_WOULD;
}

/* --all is refused without --force, and asked about on a terminal. */
static int check_all(struct ctx *ctx, const struct job *j)
{
	size_t used = 0;

	if (!args_has(&ctx->args, OPT_ALL) || ctx->args.nargs || !j->n)
		return XC_OK;
	for (size_t i = 0; i < j->n; i++) {
		struct strlist l = { 0 };
		char *list;

		users(j->v[i].dev, &l);
		if (l.n) {
			used++;
			list = strlist_join(&l, ", ");
			strlist_addf(&ctx->fail.details, "%s is used by: %s", j->v[i].dev->name,
				     list);
			free(list);
		}
		strlist_free(&l);
	}
	if (ctx->force)
		return XC_OK;
	fail_set(&ctx->fail, XC_BUSY, "refused, this unmaps all devices (%zu, in use %zu)", j->n,
		 used);
	fail_hint(&ctx->fail, "--force if that is meant");
	return XC_BUSY;
}

/* --force on a terminal: what would be lost is shown and must be confirmed. */
static int confirm(struct ctx *ctx, const struct job *j)
{
	bool all = args_has(&ctx->args, OPT_ALL) && !ctx->args.nargs;
	struct strlist lost = { 0 };
	char *list, *question;
	int rc = XC_OK;

	strlist_free(&ctx->fail.details);
	if (!ctx->force || ctx->dry_run || ctx->yes || !ctx_can_ask())
		return XC_OK;
	for (size_t i = 0; i < j->n; i++) {
		struct strlist l = { 0 };

		if (!j->v[i].dev)
			continue;
		users(j->v[i].dev, &l);
		if (l.n) {
			list = strlist_join(&l, ", ");
			strlist_addf(&lost, "%s (%s)", j->v[i].dev->name, list);
			free(list);
		} else if (all) {
			strlist_add(&lost, j->v[i].dev->name);
		}
		strlist_free(&l);
	}
	if (lost.n) {
		list = strlist_join(&lost, ", ");
		question = xasprintf("Unmap %s", list);
		if (!ctx_confirm(ctx, question))
			rc = ctx->fail.code;
		free(question);
		free(list);
	}
	strlist_free(&lost);
	return rc;
}

static json_t *js_item(const struct ctx *ctx, const struct item *it)
{
	json_t *o = json_object();

	js_set_str(o, "name", it->dev ? it->dev->name : it->word);
	if (it->dev) {
		js_set_str(o, "device_path", it->dev->device_path);
		js_set_str(o, "session", it->dev->session);
	} else {
		js_set(o, "device_path", json_null());
		js_set(o, "session", json_null());
	}
	js_set(o, "result", json_string(result_names[it->result]));
	js_set(o, "error", it->fail.code ? js_fail(ctx, &it->fail) : json_null());
	return o;
}

/* The failure of the whole: that of its only device, or one that counts. */
static int conclude(struct ctx *ctx, struct job *j)
{
	enum exit_code code = XC_OK;
	size_t failed = 0;
	bool same = true;

	for (size_t i = 0; i < j->n; i++) {
		if (!j->v[i].fail.code)
			continue;
		failed++;
		same = same && (!code || code == j->v[i].fail.code);
		code = j->v[i].fail.code;
	}
	if (!failed)
		return XC_OK;
	if (j->n == 1) {
		fail_clear(&ctx->fail);
		ctx->fail = j->v[0].fail;
		memset(&j->v[0].fail, 0, sizeof(j->v[0].fail));
		return ctx->fail.code;
	}
	for (size_t i = 0; i < j->n; i++) {
		struct fail *f = &j->v[i].fail;
		char *text;

		if (!f->code)
			continue;
		/* each line says which of them */
		text = xstrdup(f->text ? f->text : f->message);
		fail_text(f, "%s: %s", f->object_name ? f->object_name : "", text);
		free(text);
		fail_print(ctx, f);
	}
	if (failed < j->n || !same)
		code = XC_PARTIAL;
	return fail_set(&ctx->fail, code, "%zu of %zu devices failed", failed, j->n);
}

static void work(struct ctx *ctx, struct job *j)
{
	for (size_t i = 0; i < j->n; i++) {
		struct item *it = &j->v[i];

		if (it->result != R_NONE || !may_unmap(ctx, it))
			continue;
		if (ctx->dry_run)
			plan_one(ctx, it);
		else
			unmap_one(ctx, j, it);
	}
}

static int report(struct ctx *ctx, struct job *j)
{
	json_t *list = json_array();
	int rc;

	for (size_t i = 0; i < j->n; i++)
		json_array_append_new(list, js_item(ctx, &j->v[i]));
	js_set(ctx->data, "changed", json_boolean(j->changed));
	if (ctx->dry_run && !json_object_get(ctx->data, "plan")) {
		js_set(ctx->data, "dry_run", json_true());
		js_set(ctx->data, "plan", json_array());
	}
	if (ctx->out.fmt == OUT_CSV) {
		out_list(ctx, &unmap_view, list);
	} else if (ctx->out.fmt == OUT_TEXT) {
		json_decref(list);
	} else {
		out_attach(ctx, &unmap_view, list);
	}
	rc = conclude(ctx, j);
	return rc;
}

int cmd_unmap(struct ctx *ctx)
{
	const struct parsed *a = &ctx->args;
	struct job j = { 0 };
	int rc;

	if (!a->nargs && !args_has(a, OPT_ALL) && !args_has(a, OPT_SESSION))
		return fail_set(&ctx->fail, XC_USAGE, "name a device, --session or --all");
	if (args_has(a, OPT_ALL) && (a->nargs || args_has(a, OPT_SESSION)))
		return fail_set(&ctx->fail, XC_USAGE, "--all goes with neither DEVICE nor --session");
	if (!ctx_lock(ctx))
		return ctx->fail.code;
	if (!ctx_snapshot(ctx, M_CLIENT, NL_SESSIONS | NL_DEVICES, &j.s))
		return ctx->fail.code;
	sys_devices(ctx->test_root, &j.s.devices);
	rc = collect(ctx, &j);
	if (!rc)
		rc = check_all(ctx, &j);
	if (!rc)
		rc = confirm(ctx, &j);
	if (!rc) {
		work(ctx, &j);
		rc = report(ctx, &j);
	}
	for (size_t i = 0; i < j.n; i++)
		fail_clear(&j.v[i].fail);
	free(j.v);
	snapshot_free(&j.s);
	return rc;
}
