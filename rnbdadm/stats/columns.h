/* SPDX-License-Identifier: GPL-2.0 */
/* The views of counters. */
#ifndef RNBDADM_STATS_COLUMNS_H
#define RNBDADM_STATS_COLUMNS_H

#include "output/output.h"

extern const struct view stats_view, stats_cpu_view, stats_latency_view, reset_view;
extern const struct view latency_view, latency_device_view;

#endif
