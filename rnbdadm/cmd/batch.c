// SPDX-License-Identifier: GPL-2.0
/* batch: the commands of a file, over one socket and under one lock */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/invoke.h"
#include "base/file.h"
#include "cmd/commands.h"
#include "grammar/batch-file.h"

struct job_line {
	struct ctx ctx;
	char *command;			/* as it was written */
	int rc;
	bool done;
};

struct batch {
	const char *file;
	struct batch_file text;
	struct job_line *v;
	size_t failed;
};

static int read_file(struct ctx *ctx, struct batch *b)
{
	struct strbuf text = { 0 };
	int err = whole_read(b->file, &text);

	if (err)
		whole_fail(&ctx->fail, b->file, err);
	else if (strlen(text.s) != text.len)
		fail_set(&ctx->fail, XC_USAGE, "%s: has a NUL byte", b->file);
	else
		batch_split(&b->text, text.s);
	free(text.s);
	return ctx->fail.code;
}

/* What has no place in a line: one format and one kernel for the run, and one document at most. */
static const char *not_here(const struct ctx *ctx)
{
	static const enum opt_id run_wide[] = {
		OPT_JSON, OPT_PRETTY, OPT_OUTPUT, OPT_COLOR, OPT_BACKEND, OPT_NO_LOCK,
		OPT_LOCK_TIMEOUT, OPT_TEST_ROOT, OPT_TEST_TIME, OPT_NL_RECORD, OPT_NL_REPLAY, OPT_HELP,
		OPT_VERSION,
	};
	static const char *const alone[] = { "batch", "monitor", "schema", "metadata", "completion",
						"__complete" };
	const struct parsed *p = &ctx->args;

	for (size_t i = 0; i < ARRAY_SIZE(run_wide); i++)
		if (args_has(p, run_wide[i]))
			return opt_table[run_wide[i]].name;
	for (size_t i = 0; i < ARRAY_SIZE(alone); i++)
		if (p->cmd && !strcmp(p->cmd->object, alone[i]))
			return alone[i];
	return args_has(p, OPT_INTERVAL) ? opt_table[OPT_INTERVAL].name : NULL;
}

static void label_line(const struct batch *b, size_t i)
{
	struct parsed *p = &b->v[i].ctx.args;
	const char *words = p->label ? p->label : "";
	char *label = xasprintf("%s:%u%s%s", b->file, b->text.v[i].line, *words ? ": " : "", words);

	free(p->label);
	p->label = label;
}

/* The options of the run hold for each line. */
static void inherit(struct ctx *line, const struct ctx *ctx)
{
	run_options(line);
	line->out.fmt = ctx->out.fmt == OUT_JSONL ? OUT_JSON : ctx->out.fmt;
	line->out.color = ctx->out.color;
	line->quiet += ctx->quiet;
	line->verbose += ctx->verbose;
	line->trace |= ctx->trace;
	line->dry_run |= ctx->dry_run;
	line->force |= ctx->force;
	line->idempotent |= ctx->idempotent;
	if (line->timeout_ms == M_UNKNOWN_INT)
		line->timeout_ms = ctx->timeout_ms;
	line->no_lock |= ctx->no_lock;
	line->lock_timeout_ms = ctx->lock_timeout_ms;
	line->test_root = ctx->test_root;
	line->test_time = ctx->test_time;
	line->nl_record = ctx->nl_record;
	line->nl_replay = ctx->nl_replay;
	line->backend = ctx->backend;
}

/* False with the line's problem on stderr. */
static bool parse_line(struct ctx *ctx, struct batch *b, size_t i)
{
	struct batch_line *l = &b->text.v[i];
	struct job_line *j = &b->v[i];
	char *message = NULL, *hint = NULL;
	const char *odd;

	j->ctx = (struct ctx){ .data = json_object(), .warnings = json_array() };
	j->command = xstrdup("");
	for (size_t k = 1; k < l->words.n; k++) {
		char *q = shell_quote(l->words.v[k]), *all = xasprintf("%s%s%s", j->command, k > 1 ? " " : "", q);

		free(q);
		free(j->command);
		j->command = all;
	}
	if (l->problem)
		message = xstrdup(l->problem);
	else
		args_parse((int)l->words.n, l->words.v, &j->ctx.args, &message, &hint);
	inherit(&j->ctx, ctx);
	odd = message ? NULL : not_here(&j->ctx);
	if (odd)
		message = xasprintf("'%s' has no place in a batch", odd);
	label_line(b, i);
	j->rc = message ? run_usage_error(&j->ctx, message, hint, false) : run_check(&j->ctx);
	return !j->rc;
}

static int parse_all(struct ctx *ctx, struct batch *b)
{
	size_t wrong = 0;

	b->v = xcalloc(b->text.n + 1, sizeof(*b->v));
	for (size_t i = 0; i < b->text.n; i++)
		wrong += !parse_line(ctx, b, i);
	if (!wrong)
		return XC_OK;
	b->failed = wrong;
	return fail_set(&ctx->fail, XC_USAGE, "%zu of %zu lines %s wrong; nothing was done", wrong,
			b->text.n, wrong == 1 ? "is" : "are");
}

static bool changes_anything(const struct batch *b)
{
	for (size_t i = 0; i < b->text.n; i++)
		if (b->v[i].ctx.args.cmd->flags & CMD_CHANGES && !b->v[i].ctx.dry_run)
			return true;
	return false;
}

static void run_line(struct ctx *ctx, struct batch *b, size_t i)
{
	struct job_line *j = &b->v[i];

	if (ctx->kernel && ctx->kernel->stuck)
		ctx->kernel = NULL;
	j->ctx.kernel = ctx->kernel;
	if (j->ctx.kernel)
		j->ctx.kernel->cfg.limit_ms = j->ctx.timeout_ms == M_UNKNOWN_INT ? -1 : j->ctx.timeout_ms;
	j->rc = run_command(&j->ctx);
	j->done = true;
	ctx->kernel = j->ctx.kernel;
	b->failed += j->rc != XC_OK;
	fflush(stdout);
}

static int run_all(struct ctx *ctx, struct batch *b)
{
	bool go_on = args_has(&ctx->args, OPT_KEEP_GOING);
	size_t i;

	if (changes_anything(b) && !ctx_lock(ctx))
		return ctx->fail.code;
	for (i = 0; i < b->text.n && (go_on || !b->failed); i++)
		run_line(ctx, b, i);
	if (!b->failed)
		return XC_OK;
	if (go_on)
		return fail_set(&ctx->fail, XC_PARTIAL, "%zu of %zu lines failed", b->failed, b->text.n);
	return fail_set(&ctx->fail, (enum exit_code)b->v[i - 1].rc, "line %u failed, %zu not run",
			b->text.v[i - 1].line, b->text.n - i);
}

static json_t *js_line(const struct batch *b, size_t i)
{
	struct job_line *j = &b->v[i];
	json_t *o = json_object(), *changed = json_object_get(j->ctx.data, "changed");

	js_set(o, "line", json_integer(b->text.v[i].line));
	js_set_str(o, "command", j->command);
	js_set(o, "exit_status", j->done || j->rc ? json_integer(j->rc) : json_null());
	js_set(o, "changed", json_boolean(json_is_true(changed)));
	json_object_del(j->ctx.data, "changed");
	js_set(o, "output", json_object_size(j->ctx.data) ? json_incref(j->ctx.data) : json_null());
	js_set(o, "skipped", json_boolean(!j->done && !j->rc));
	js_set(o, "error", j->ctx.fail.code ? js_fail(&j->ctx, &j->ctx.fail) : json_null());
	return o;
}

static void report(struct ctx *ctx, const struct batch *b)
{
	json_t *list = json_array(), *v;
	size_t k;

	js_set_str(ctx->data, "file", b->file);
	js_set(ctx->data, "lines_total", json_integer((json_int_t)b->text.n));
	js_set(ctx->data, "failed", json_integer((json_int_t)b->failed));
	for (size_t i = 0; b->v && i < b->text.n; i++) {
		json_array_append_new(list, js_line(b, i));
		json_array_foreach(b->v[i].ctx.warnings, k, v)
			json_array_append(ctx->warnings, v);
	}
	js_set(ctx->data, "results", list);
}

static void free_batch(struct batch *b)
{
	for (size_t i = 0; b->v && i < b->text.n; i++) {
		json_decref(b->v[i].ctx.data);
		json_decref(b->v[i].ctx.warnings);
		fail_clear(&b->v[i].ctx.fail);
		args_free(&b->v[i].ctx.args);
		free(b->v[i].command);
	}
	free(b->v);
	batch_free(&b->text);
}

int cmd_batch(struct ctx *ctx)
{
	struct batch b = { .file = ctx->args.args[0] };
	int rc = read_file(ctx, &b);

	if (!rc)
		rc = parse_all(ctx, &b);
	if (!rc)
		rc = run_all(ctx, &b);
	report(ctx, &b);
	free_batch(&b);
	return rc;
}
