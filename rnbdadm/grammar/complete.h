/* SPDX-License-Identifier: GPL-2.0 */
/* What may come next on a command line that is still being typed. */
#ifndef RNBDADM_GRAMMAR_COMPLETE_H
#define RNBDADM_GRAMMAR_COMPLETE_H

#include "grammar/parse.h"

struct complete {
	struct ctx *ctx;
	const struct parsed *p;		/* the words before */
	enum opt_id opt;		/* its value is asked for */
	char *head;			/* of the word what stays: "--session=", "name,"; to be freed */
	const char *tail;		/* the rest of it, which all that is offered begins with */
	struct strlist offers;		/* "word<TAB>description" */
	struct strlist others;		/* offered where nothing else fits */
	bool files;
	bool plain;			/* what begins with '-' would be an option there */
};

/* @argv[0] is the program, the last one the word to complete, maybe empty. */
void complete_words(struct complete *c, int argc, char **argv);

void complete_add(struct complete *c, const char *word, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A spelling that is not offered beside others. */
void complete_other(struct complete *c, const char *word, const char *text);
/* Moves what is before the last @sep of the tail to the head. */
void complete_skip(struct complete *c, char sep);

#endif
