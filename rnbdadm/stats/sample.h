/* SPDX-License-Identifier: GPL-2.0 */
/* The counters of a moment in a file: stats --save writes it, stats --since compares with it. */
#ifndef RNBDADM_STATS_SAMPLE_H
#define RNBDADM_STATS_SAMPLE_H

#include "app/app.h"
#include "stats/select.h"

struct stats_sample {
	enum m_role role;
	enum stats_by by;
	struct stats_list l;			/* paths, or devices where @by says so, ungrouped */
	uint64_t monotonic_ns;
};

/* Exit codes. */
int stats_sample_save(struct ctx *ctx, const char *file, const struct stats_sample *s);
/* Those of @now that were there then, in @then with the ids that they have now. */
int stats_sample_load(struct ctx *ctx, const char *file, const struct stats_sample *now,
		      struct stats_sample *then);

#endif
