/* SPDX-License-Identifier: GPL-2.0 */
/* Waiting: for the node of a disk, and for anything that the family tells of. */
#ifndef RNBDADM_TASK_WAIT_H
#define RNBDADM_TASK_WAIT_H

#include "app/app.h"

/* Until the node can be opened, for @limit ms (-1 no limit); an exit code. */
int node_wait(struct ctx *ctx, const struct device *d, int64_t limit);

/* --wait, --no-wait and neither as the limit of a wait: 0 none, -1 no limit. --wait alone is as long as neither, or ten seconds. */
int64_t wait_limit(const struct ctx *ctx, int64_t without);

enum wait_is { WAIT_MORE, WAIT_DONE, WAIT_FAIL };

struct wait {
	const char *group;	/* multicast groups that wake it up, with spaces between them */
	const char *node;	/* file below /dev that does, too, or NULL */
	/* looks; on WAIT_FAIL ctx->fail is set */
	enum wait_is (*look)(struct ctx *ctx, void *arg);
	void *arg;
};

/* From here on no event is missed; before that which is to be awaited. */
bool wait_begin(struct ctx *ctx, const struct wait *w);
/* XC_OK, the code of ctx->fail, or XC_TIMEOUT with ctx->fail still to be set. */
int wait_end(struct ctx *ctx, const struct wait *w, int64_t limit);

/*
 * ctx_snapshot() of the client, sessions and paths among it, for those who add what is not there:
 * when nothing of @session (NULL: of all) is on its way out any more. A command that was killed
 * leaves such. After ten seconds, or the time of --timeout if that is less, it is a warning, and
 * what there is is taken. On failure there is nothing to free.
 */
bool read_at_rest(struct ctx *ctx, unsigned int what, const char *session, struct snapshot *s);

#endif
