/* SPDX-License-Identifier: GPL-2.0 */
/* Failures, warnings and remarks on their way to stderr and into the JSON document. */
#ifndef RNBDADM_APP_REPORT_H
#define RNBDADM_APP_REPORT_H

#include <stdio.h>

#include "app/ctx.h"

/* The option or argument at fault, to be freed, or NULL. */
char *fail_option(const struct ctx *ctx, const struct fail *f);
/* Writes the lines for @f to stderr unless quiet. */
void fail_print(const struct ctx *ctx, const struct fail *f);

/* A line of text, without control characters. */
void tell_line(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A warning: stderr, and "warnings" of the document. */
void warn(struct ctx *ctx, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A sentence on stderr with -v. */
void say(const struct ctx *ctx, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
