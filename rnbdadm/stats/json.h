/* SPDX-License-Identifier: GPL-2.0 */
/* Counters and distributions as JSON. */
#ifndef RNBDADM_STATS_JSON_H
#define RNBDADM_STATS_JSON_H

#include "model/objects.h"
#include "output/output.h"
#include "stats/select.h"

/* What else is wanted of a path. */
struct stats_wants {
	bool per_cpu, latency;
	bool active;			/* of CPUs those with something to tell */
};

/* "object", "session", "name", "hca" and "hca_port" of a path, or of what @by makes of it. */
json_t *js_stats_names(const struct stats *st, enum stats_by by);
json_t *js_rates(const struct counters *c, uint64_t ns);
json_t *js_polling(const struct distributions *d);
/* Buckets that are not empty: {"le_ns", "read", "write"} */
json_t *js_buckets(const struct distributions *d);
/* Adds "latency" as wanted; null where the kernel does not count it. */
void js_distributions(json_t *o, const struct distributions *d, const struct stats_wants *w);
/* {"cpu", ...} of each CPU, what was added since @before unless it is NULL */
json_t *js_per_cpu(const struct stats *st, const struct stats *before,
		   const struct stats_wants *w, bool *reset);
/*
 * The rows of a table of CPUs or latencies: with the names of the path. An object of the
 * other functions is spread over them.
 */
void js_rows(json_t *list, json_t *o, const struct stats_wants *w);

#endif
