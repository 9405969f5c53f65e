/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RNBDADM_STATS_PROM_H
#define RNBDADM_STATS_PROM_H

#include "ctx.h"

/* Counters and states in the text format of Prometheus, to stdout or --textfile. An exit code. */
int stats_prom(struct ctx *ctx, enum m_role role);

#endif
