// SPDX-License-Identifier: GPL-2.0
/* One command line: its options, its checks, its command. */
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "app/invoke.h"

/* What RNBDADM_OUTPUT asks for. */
static const char *format_wanted(void)
{
	const char *env = getenv("RNBDADM_OUTPUT");

	return env && *env ? env : "text";
}

static void set_format(struct ctx *ctx)
{
	struct out_opts *o = &ctx->out;

	if (!strcmp(format_wanted(), "json"))
		o->fmt = OUT_JSON;
	/* three spellings of one setting, the last one wins */
	for (size_t i = 0; i < ctx->args.nopts; i++) {
		const struct optval *v = &ctx->args.opts[i];

		if (v->id == OPT_JSON || v->id == OPT_PRETTY) {
			o->pretty |= v->id == OPT_PRETTY;
			o->fmt = OUT_JSON;
		} else if (v->id == OPT_OUTPUT) {
			o->fmt = !strcmp(v->value, "json") ? OUT_JSON :
				 !strcmp(v->value, "jsonl") ? OUT_JSONL :
				 !strcmp(v->value, "csv") ? OUT_CSV :
				 !strcmp(v->value, "prom") ? OUT_PROM : OUT_TEXT;
		}
	}
}

static bool want_color(const struct ctx *ctx)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	const char *when = args_value(&ctx->args, OPT_COLOR);

	if (ctx->out.fmt != OUT_TEXT)
		return false;
	if (args_has(&ctx->args, OPT_COLOR) && (!when || !strcmp(when, "always")))
		return true;
	if (when && !strcmp(when, "never"))
		return false;
	return ctx->out.tty && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

static unsigned int terminal_width(void)
{
	const char *env = getenv("COLUMNS");
	struct winsize ws;
	uint64_t n;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && ws.ws_col)
		return ws.ws_col;
	if (env && parse_uint(env, &n) && n && n < 10000)
		return (unsigned int)n;
	return 0;
}

static void set_output(struct ctx *ctx)
{
	const struct parsed *p = &ctx->args;
	struct out_opts *o = &ctx->out;
	const char *unit = args_value(p, OPT_UNIT);

	set_format(ctx);
	o->fields = args_value(p, OPT_FIELDS);
	o->sort = args_value(p, OPT_SORT);
	o->filter = args_value(p, OPT_FILTER);
	o->unit = unit && strcmp(unit, "auto") ? unit[0] : '\0';
	o->no_headers = args_has(p, OPT_NO_HEADERS);
	o->wide = args_has(p, OPT_WIDE);
	o->brief = args_has(p, OPT_BRIEF);
	o->verbose = ctx->verbose;
	o->tty = isatty(STDOUT_FILENO);
	o->totals = args_has(p, OPT_TOTALS);
	o->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	o->width = o->tty ? terminal_width() : 0;
	o->color = want_color(ctx);
}

static void set_globals(struct ctx *ctx)
{
	const struct parsed *p = &ctx->args;
	const char *backend = args_value(p, OPT_BACKEND);

	for (size_t i = 0; i < p->nopts; i++) {
		ctx->quiet += p->opts[i].id == OPT_QUIET;
		ctx->verbose += p->opts[i].id == OPT_VERBOSE;
	}
	ctx->trace = args_has(p, OPT_TRACE);
	ctx->dry_run = args_has(p, OPT_DRY_RUN);
	ctx->force = args_has(p, OPT_FORCE);
	ctx->idempotent = args_has(p, OPT_IDEMPOTENT);
	ctx->no_lock = args_has(p, OPT_NO_LOCK);
	ctx->timeout_ms = args_time(p, OPT_TIMEOUT, M_UNKNOWN_INT);
	ctx->lock_timeout_ms = args_time(p, OPT_LOCK_TIMEOUT, 60000);
	ctx->test_root = args_value(p, OPT_TEST_ROOT) ? args_value(p, OPT_TEST_ROOT) : "";
	ctx->test_time = args_value(p, OPT_TEST_TIME);
	ctx->nl_record = args_value(p, OPT_NL_RECORD);
	ctx->nl_replay = args_value(p, OPT_NL_REPLAY);
	ctx->backend = !backend || !strcmp(backend, "auto") ? NL_AUTO :
		       !strcmp(backend, "sysfs") ? NL_SYSFS : NL_NETLINK;
}

void run_options(struct ctx *ctx)
{
	set_globals(ctx);
	set_output(ctx);
}

int run_usage_error(struct ctx *ctx, char *message, char *hint, bool usage)
{
	char *line;

	fail_usage(&ctx->fail, message, hint);
	fail_print(ctx, &ctx->fail);
	if (usage && ctx->quiet < 2) {
		line = usage_line(&ctx->args);
		fprintf(stderr, "%s\n", line);
		free(line);
	}
	return XC_USAGE;
}

/* The view that this command line will print with. */
static const struct view *chosen_view(const struct ctx *ctx)
{
	const struct cmd *c = ctx->args.cmd;

	return c->choose ? c->choose(ctx) : c->view;
}

/* What is wrong with the format, the fields or the filter, or NULL. */
static char *output_problem(const struct ctx *ctx, char **hint)
{
	const struct cmd *c = ctx->args.cmd;
	const struct view *v = chosen_view(ctx);
	char *message = NULL;

	if (strcmp(format_wanted(), "text") && strcmp(format_wanted(), "json") &&
	    !(c->flags & CMD_HIDDEN))
		return xasprintf("RNBDADM_OUTPUT: '%s' is neither text nor json", format_wanted());
	if (ctx->out.fmt == OUT_CSV && (c->flags & CMD_PLAIN))
		return xstrdup("this command has no csv output");
	if (ctx->out.fmt == OUT_PROM && !(c->flags & CMD_PROM))
		return xstrdup("this command has no prom output");
	if (v)
		out_check(&ctx->out, v, &message, hint);
	return message;
}

int run_check(struct ctx *ctx)
{
	const struct cmd *c = ctx->args.cmd;
	char *hint = NULL, *message = output_problem(ctx, &hint);

	if (message)
		return run_usage_error(ctx, message, hint, false);
	if (!c->check || out_asks_fields(&ctx->out) || !c->check(ctx))
		return XC_OK;
	fail_print(ctx, &ctx->fail);
	return (int)ctx->fail.code;
}

int run_command(struct ctx *ctx)
{
	const struct view *v = chosen_view(ctx);
	int rc;

	if (v && out_asks_fields(&ctx->out)) {
		out_fields_help(v);
		ctx->streamed = true;
		return XC_OK;
	}
	rc = ctx->args.cmd->run(ctx);
	if (rc && !ctx->fail.code)
		ctx->fail.code = (enum exit_code)rc;
	/* a usage error found late keeps its line too */
	if (rc)
		fail_print(ctx, &ctx->fail);
	return rc;
}
