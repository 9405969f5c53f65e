/* SPDX-License-Identifier: GPL-2.0 */
/* The paths that "stats [SELECTOR [PATH]]" means. */
#ifndef RNBDADM_STATS_SELECT_H
#define RNBDADM_STATS_SELECT_H

#include "ctx.h"

/*
 * Reads the counters of the selected paths, sorted. Returns an exit code with
 * ctx->fail set.
 */
int stats_read(struct ctx *ctx, enum m_role role, struct stats_list *l);
void stats_list_free(struct stats_list *l);

#endif
