// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/report.h"

/* What to say after the command's words: without the name of the object if they have it. */
static const char *fail_words(const struct fail *f, const char *label)
{
	const char *name = f->object_name;

	if (!f->text)
		return f->message ? f->message : exit_table[f->code].meaning;
	if (!name || !f->message || (label && strstr(label, name)) || strstr(f->text, name))
		return f->text;
	return f->message;
}

char *fail_option(const struct ctx *ctx, const struct fail *f)
{
	return f->attribute ? attr_option(ctx->args.cmd, f->object_type, f->attribute) : NULL;
}

void fail_print(const struct ctx *ctx, const struct fail *f)
{
	const char *label = ctx->args.label;
	char *text;

	if (ctx->quiet > 1 || (ctx->quiet && f->code != XC_USAGE))
		return;
	fflush(stdout);
	text = printable(fail_words(f, label));
	fprintf(stderr, "rnbdadm: %s%s%s\n", label ? label : "", label && *label ? ": " : "", text);
	free(text);
	for (size_t i = 0; i < f->details.n; i++) {
		text = printable(f->details.v[i]);
		fprintf(stderr, "  %s\n", text);
		free(text);
	}
	if (f->extack) {
		char *option = fail_option(ctx, f);

		text = printable(f->extack);
		fprintf(stderr, "  kernel: %s%s%s%s\n", text, option ? " (" : "",
			option ? option : "", option ? ")" : "");
		free(option);
		free(text);
	}
	if (f->hint) {
		text = printable(f->hint);
		fprintf(stderr, "  hint: %s\n", text);
		free(text);
	}
}

static void put_line(FILE *f, const char *before, const char *s)
{
	char *text = printable(s);

	fprintf(f, "%s%s\n", before, text);
	free(text);
}

void tell_line(FILE *f, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	put_line(f, "", s);
	free(s);
}

void warn(struct ctx *ctx, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	json_array_append_new(ctx->warnings, js_str(s));
	if (!ctx->quiet)
		put_line(stderr, "rnbdadm: warning: ", s);
	free(s);
}

void say(const struct ctx *ctx, const char *fmt, ...)
{
	va_list ap;
	char *s;

	if (!ctx->verbose)
		return;
	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	put_line(stderr, "rnbdadm: ", s);
	free(s);
}
