/* SPDX-License-Identifier: GPL-2.0 */
/* The paths that "stats [SELECTOR [PATH]] [--hca]" means. */
#ifndef RNBDADM_STATS_SELECT_H
#define RNBDADM_STATS_SELECT_H

#include "app/app.h"

/* The words; @devices: they select disks. See check of struct cmd. */
int stats_select_check(struct ctx *ctx, bool devices);
/*
 * Reads the counters of the selected paths, sorted. Returns an exit code with
 * ctx->fail set.
 */
int stats_read(struct ctx *ctx, enum m_role role, struct stats_list *l);
/* Is it about one path? */
bool stats_of_path(const struct parsed *a);
/* Counters of the block layer for the devices that the selector means; "path" is the name of the disk. */
int stats_read_devices(struct ctx *ctx, struct stats_list *l);
void stats_list_free(struct stats_list *l);
/* The same with the session list and whatever else @what names; the caller frees @s. */
int stats_snapshot(struct ctx *ctx, enum m_role role, unsigned int what, struct snapshot *s);

enum stats_by { STATS_BY_PATH, STATS_BY_SESSION, STATS_BY_HCA, STATS_BY_DEVICE };

/* NULL: paths */
enum stats_by stats_by(const char *word);
/* Adds up those of one session or of one port of an RDMA device; paths and devices stay as they are. */
void stats_group(struct stats_list *l, enum stats_by by);

#endif
