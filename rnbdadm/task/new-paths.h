/* SPDX-License-Identifier: GPL-2.0 */
/* Paths to be made: from the command line, back to it, and why one cannot be made. */
#ifndef RNBDADM_TASK_NEW_PATHS_H
#define RNBDADM_TASK_NEW_PATHS_H

#include "app/app.h"

#define WAY_MAX		64	/* paths of one request */

struct ways {
	struct addr_pair *v;
	size_t n;
	bool literal;			/* names of hosts are not resolved, and left out */
};

/* The exit code for what addr_pair_parse() found wrong. */
enum exit_code way_problem_code(const struct addr_pair *p);

/* [SRC@]DST with the port of --dest-port; @what names it in the failure. An exit code. */
int way_add(struct ctx *ctx, struct ways *w, const char *text, const char *what);
/* All that an option gives, which is --path. */
int ways_parse(struct ctx *ctx, enum opt_id id, struct ways *w);
void ways_free(struct ways *w);
/* "ip:10.0.0.1@ip:10.0.0.2", "ip:fe80::1%eth0", as a command takes it; to be freed. */
char *way_text(const struct addr_pair *p);
/* As options of a command: --path for each. */
void ways_words(struct strlist *words, const struct ways *w);
/* The one of @w that the session has no path for, or NULL. */
const struct addr_pair *way_missing(const struct ways *w, const struct session *sess,
				    const struct snapshot *s);

/* Is it the way to the server that a refusal comes from, so that another may do? */
bool way_is_at_fault(int err);
/*
 * What an errno of connecting means: a message and a hint in @f, none where it does not
 * come from the way to the server.
 */
void way_explain(const struct ctx *ctx, struct fail *f, const struct ways *w, int err);

/* What the kernel takes for that of a request. */
#define TIMEOUT_MS_MIN 100
#define TIMEOUT_MS_MAX 600000

/*
 * --timeout of a request that has one: in milliseconds, or M_UNKNOWN. An exit code.
 */
int way_timeout(struct ctx *ctx, const char *command, uint64_t *ms);

#endif
