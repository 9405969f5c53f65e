/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RNBDADM_STATS_PROMETHEUS_H
#define RNBDADM_STATS_PROMETHEUS_H

#include "app/app.h"

/* Counters and states in the text format of Prometheus, to stdout or --textfile. An exit code. */
int stats_prom(struct ctx *ctx, enum m_role role);

#endif
