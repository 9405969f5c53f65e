/* SPDX-License-Identifier: GPL-2.0 */
/* Who uses a device, and what that means for taking it away. */
#ifndef RNBDADM_TASK_IN_USE_H
#define RNBDADM_TASK_IN_USE_H

#include "app/app.h"

/* What uses the device, an open count without a known user included. */
void use_list(const struct device *d, struct strlist *l);
/* "rnbd0 is used by: ..." as a further line of @f; false if nothing uses it. */
bool use_detail(const struct device *d, struct fail *f);

/*
 * Reads the users of the device again until there are none, for @limit ms, -1 without
 * end; they are in @used then. False with ctx->fail set when they cannot be read.
 */
bool use_wait(struct ctx *ctx, const struct device *d, struct strlist *used, int64_t limit);

#endif
