/* SPDX-License-Identifier: GPL-2.0 */
/* The lines of a batch, in words as a shell takes them. */
#ifndef RNBDADM_GRAMMAR_BATCH_FILE_H
#define RNBDADM_GRAMMAR_BATCH_FILE_H

#include "base/text.h"

struct batch_line {
	unsigned int line;		/* where it begins */
	struct strlist words;		/* with "rnbdadm" before them */
	char *problem;			/* or NULL */
};

struct batch_file {
	struct batch_line *v;
	size_t n;
};

/* Lines without a command are left out. */
void batch_split(struct batch_file *f, const char *text);
void batch_free(struct batch_file *f);

#endif
