/* SPDX-License-Identifier: GPL-2.0 */
/* Lines of a dry run: commands that do the same. */
#ifndef RNBDADM_TASK_DRY_RUN_H
#define RNBDADM_TASK_DRY_RUN_H

#include "app/app.h"

/* A name among the words of a line; it may begin with '-'. */
void plan_name(struct strlist *words, const char *name);
/* The words as they can be typed: names that begin with '-', and what comes after them, last, behind "--". */
struct strlist plan_typed(const struct strlist *words);
/* The keys of a dry run, with no line yet; nothing if they are there. */
void plan_empty(struct ctx *ctx);
/* Adds "rnbdadm WORDS" to the plan of a dry run: a line of text, or "plan" in JSON. */
void plan_line(struct ctx *ctx, const struct strlist *words);
/* The same with those options of this command that say how: for how long, or what is no failure. */
void plan_add(struct ctx *ctx, const struct strlist *words);
/* As plan_add(). Behind a line of text stands "# would ...", where the words alone do not tell what the command is about. */
void plan_would(struct ctx *ctx, const struct strlist *words, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* --timeout, if it was given. */
void plan_timeout(const struct ctx *ctx, struct strlist *words);

#endif
