// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "host/disks.h"
#include "task/dry-run.h"
#include "task/select.h"
#include "task/targets.h"

struct item *job_add(struct job *j, void *obj, const char *word)
{
	struct item *it;

	j->v = xgrow(j->v, j->n, sizeof(*j->v));
	it = &j->v[j->n++];
	*it = (struct item){ .dev = obj, .word = word };
	return it;
}

static bool has_device(const struct job *j, const struct device *d)
{
	for (size_t i = 0; i < j->n; i++)
		if (j->v[i].dev == d)
			return true;
	return false;
}

struct item *job_miss(struct ctx *ctx, struct job *j, const char *word, struct fail *f,
		      bool absent_ok)
{
	struct item *it;

	if (f->code == XC_USAGE) {
		fail_clear(&ctx->fail);
		ctx->fail = *f;
		return NULL;
	}
	it = job_add(j, NULL, word);
	if (f->code == XC_NOT_FOUND && absent_ok) {
		it->result = "absent";
		fail_clear(f);
	} else {
		it->result = "failed";
		it->fail = *f;
	}
	return it;
}

static int add_word(struct ctx *ctx, struct job *j, const char *word, bool absent_ok)
{
	const char *session = args_value(&ctx->args, OPT_SESSION);
	struct fail f = { 0 };
	struct device *d = select_device(&j->s, word, session, ctx->test_root, &f);

	if (!d)
		return job_miss(ctx, j, word, &f, absent_ok) ? XC_OK : XC_USAGE;
	if (!has_device(j, d))
		job_add(j, d, word);
	return XC_OK;
}

int job_devices_check(struct ctx *ctx)
{
	const struct parsed *a = &ctx->args;
	const char *session = args_value(a, OPT_SESSION);

	if (!a->nargs && !args_has(a, OPT_ALL) && !session)
		return fail_set(&ctx->fail, XC_USAGE, "name a device, --session or --all");
	if (args_has(a, OPT_ALL) && (a->nargs || session))
		return fail_set(&ctx->fail, XC_USAGE, "--all goes with neither DEVICE nor --session");
	for (size_t i = 0; i < a->nargs; i++)
		if (!device_word_ok(a->args[i], &ctx->fail))
			return XC_USAGE;
	return XC_OK;
}

int job_devices(struct ctx *ctx, struct job *j, bool absent_ok)
{
	const struct parsed *a = &ctx->args;
	const char *session = args_value(a, OPT_SESSION);
	unsigned int what = NL_SESSIONS | NL_DEVICES;
	int rc = XC_OK;

	/* to make the session again */
	if (args_has(a, OPT_RECREATE))
		what |= NL_PATHS;
	j->plural = "devices";
	if (!ctx_lock(ctx) || !ctx_snapshot(ctx, M_CLIENT, what, &j->s))
		return ctx->fail.code;
	sys_devices(ctx->test_root, &j->s.devices);
	sys_openers(ctx->test_root, &j->s.devices);
	for (size_t i = 0; i < a->nargs && !rc; i++)
		rc = add_word(ctx, j, a->args[i], absent_ok);
	if (a->nargs)
		return rc;
	if (session && !select_session(&j->s, session, &ctx->fail)) {
		if (!absent_ok)
			return ctx->fail.code;
		fail_clear(&ctx->fail);
		return XC_OK;
	}
	for (size_t i = 0; i < j->s.devices.n; i++)
		if (!session || !strcmp(j->s.devices.v[i].session, session))
			job_add(j, &j->s.devices.v[i], NULL);
	return XC_OK;
}

void job_fail(struct ctx *ctx, struct item *it)
{
	fail_clear(&it->fail);
	it->fail = ctx->fail;
	memset(&ctx->fail, 0, sizeof(ctx->fail));
	it->result = "failed";
}

void job_set_end(const struct ctx *ctx, json_t *o, const struct item *it)
{
	js_set(o, "result", json_string(it->result ? it->result : ""));
	js_set(o, "error", it->fail.code ? js_fail(ctx, &it->fail) : json_null());
}

json_t *job_device(const struct ctx *ctx, const struct item *it)
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
	job_set_end(ctx, o, it);
	return o;
}

static void print_failures(const struct ctx *ctx, struct job *j)
{
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
}

int job_conclude(struct ctx *ctx, struct job *j)
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
	print_failures(ctx, j);
	if (failed < j->n || !same)
		code = XC_PARTIAL;
	return fail_set(&ctx->fail, code, "%zu of %zu %s failed", failed, j->n, j->plural);
}

int job_report(struct ctx *ctx, struct job *j, const struct view *v,
	       json_t *(*js)(const struct ctx *ctx, const struct item *it))
{
	json_t *list = json_array();

	for (size_t i = 0; i < j->n; i++)
		json_array_append_new(list, js(ctx, &j->v[i]));
	js_set(ctx->data, "changed", json_boolean(j->changed));
	if (ctx->dry_run)
		plan_empty(ctx);
	out_changed(ctx, v, list);
	return job_conclude(ctx, j);
}

void job_free(struct job *j)
{
	for (size_t i = 0; i < j->n; i++)
		fail_clear(&j->v[i].fail);
	free(j->v);
	snapshot_free(&j->s);
}
