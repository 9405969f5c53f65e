/* SPDX-License-Identifier: GPL-2.0 */
/* One command line that was parsed, on the way to its end. */
#ifndef RNBDADM_APP_INVOKE_H
#define RNBDADM_APP_INVOKE_H

#include "app/app.h"

/* What the global options and those of the output say. */
void run_options(struct ctx *ctx);
/*
 * Format, fields, filter, words and values against the command; what is wrong is on stderr
 * then. An exit code.
 */
int run_check(struct ctx *ctx);
/* The command, which was checked, and the line on stderr of its failure. An exit code. */
int run_command(struct ctx *ctx);
/* Prints and frees @message and @hint; @usage: a line of usage, too. XC_USAGE. */
int run_usage_error(struct ctx *ctx, char *message, char *hint, bool usage);

#endif
