// SPDX-License-Identifier: GPL-2.0
/*
 * rnbdadm: start, global options, and the end, where every result and every
 * failure leaves by the same door.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/invoke.h"
#include "cmd/commands.h"
#include "output/to-json.h"

/* A socket must not become stdout; a closed stream stays one that fails. */
static void guard_streams(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		int null;

		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		null = open("/dev/null", fd ? O_RDONLY : O_WRONLY);
		if (null >= 0 && null != fd) {
			dup2(null, fd);
			close(null);
		}
	}
}

/* Everything written must have arrived; errno is that of the failure. */
static bool flush_stdout(void)
{
	bool bad = ferror(stdout);

	errno = 0;
	if (fflush(stdout))
		return false;
	if (!bad)
		return true;
	/* an earlier write failed and its errno is gone; one byte more brings it back */
	clearerr(stdout);
	putchar('\n');
	fflush(stdout);
	return false;
}

static int close_stdout(struct ctx *ctx, int rc)
{
	bool ok = flush_stdout();

	if (!ok && errno == EPIPE && ctx->args.cmd && (ctx->args.cmd->flags & CMD_STREAM))
		return rc;
	if (ok && (!close(STDOUT_FILENO) || errno == EBADF))
		return rc;
	if (ctx->quiet < 1)
		fprintf(stderr, "rnbdadm: write error%s%s\n", errno ? ": " : "",
			errno ? strerror(errno) : "");
	return rc ? rc : XC_FAILED;
}

static const struct cmd *find_cmd(const char *object)
{
	for (size_t i = 0; i < grammar->ncmds; i++)
		if (!strcmp(grammar->cmds[i].object, object))
			return &grammar->cmds[i];
	return NULL;
}

/* -h: the text, or with JSON what "help -j" would print. */
static int show_help(struct ctx *ctx)
{
	char *text = help_for(&ctx->args);

	if (ctx->out.fmt == OUT_JSON || ctx->out.fmt == OUT_JSONL) {
		js_set(ctx->data, "lines", js_lines(text));
		ctx->args.cmd = find_cmd("help");
	} else {
		fputs(text, stdout);
	}
	free(text);
	return XC_OK;
}

static int start(struct ctx *ctx, int argc, char **argv)
{
	char *message = NULL, *hint = NULL;
	bool ok;
	int rc;

	ok = args_parse(argc, argv, &ctx->args, &message, &hint);

	run_options(ctx);
	if (!ok) {
		if (args_scan(argc, argv, &ctx->quiet) && ctx->out.fmt != OUT_JSONL)
			ctx->out.fmt = OUT_JSON;
		return run_usage_error(ctx, message, hint, true);
	}
	if (ctx->args.help)
		return show_help(ctx);
	if (args_has(&ctx->args, OPT_VERSION)) {
		ctx->args.cmd = find_cmd("version");
		ctx->args.nargs = 0;
	}
	rc = run_check(ctx);
	return rc ? rc : run_command(ctx);
}

int main(int argc, char **argv)
{
	struct ctx ctx = { 0 };
	int rc;

	grammar = &rnbdadm_grammar;
	guard_streams();
	signal(SIGPIPE, SIG_DFL);
	setlocale(LC_CTYPE, "");
	ctx.data = json_object();
	ctx.warnings = json_array();
	rc = start(&ctx, argc, argv);
	if ((ctx.out.fmt == OUT_JSON || ctx.out.fmt == OUT_JSONL) && (!ctx.streamed || rc))
		json_document(&ctx);
	rc = close_stdout(&ctx, rc);
	ctx_unlock();
	kernel_close(ctx.kernel);
	json_decref(ctx.data);
	json_decref(ctx.warnings);
	fail_clear(&ctx.fail);
	args_free(&ctx.args);
	return rc;
}
