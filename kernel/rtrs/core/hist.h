/* SPDX-License-Identifier: GPL-2.0 */
/* Distributions: buckets end at powers of two, the last one has no end. Pure. */
#ifndef RTRS_HIST_H
#define RTRS_HIST_H

#include <linux/bitops.h>
#include <linux/types.h>

#define RTRS_LATENCY_ORDER	10	/* the first bucket ends at 2^10 ns */
#define RTRS_LATENCY_BUCKETS	28	/* the last but one at 2^36 ns, 69 s */
#define RTRS_SG_BUCKETS		10	/* none, 1, 2, 4 ... 128 entries, more */

/* Where @v is counted: the first bucket ends at 2^@order, each other one at twice as much. */
static inline unsigned int rtrs_hist_bucket(u64 v, unsigned int order, unsigned int count)
{
	unsigned int o = v > 1 ? fls64(v - 1) : 0;

	if (o <= order)
		return 0;
	return o - order < count ? o - order : count - 1;
}

/* The largest value in @bucket; U64_MAX: it has no end. */
static inline u64 rtrs_hist_end(unsigned int bucket, unsigned int order, unsigned int count)
{
	return bucket + 1 < count ? 1ULL << (order + bucket) : ~0ULL;
}

static inline unsigned int rtrs_latency_bucket(u64 ns)
{
	return rtrs_hist_bucket(ns, RTRS_LATENCY_ORDER, RTRS_LATENCY_BUCKETS);
}

static inline u64 rtrs_latency_end(unsigned int bucket)
{
	return rtrs_hist_end(bucket, RTRS_LATENCY_ORDER, RTRS_LATENCY_BUCKETS);
}

static inline unsigned int rtrs_sg_bucket(u32 entries)
{
	return entries ? 1 + rtrs_hist_bucket(entries, 0, RTRS_SG_BUCKETS - 1) : 0;
}

static inline u64 rtrs_sg_end(unsigned int bucket)
{
	return bucket ? rtrs_hist_end(bucket - 1, 0, RTRS_SG_BUCKETS - 1) : 0;
}

#endif /* RTRS_HIST_H */
