// SPDX-License-Identifier: GPL-2.0
/* Buckets of distributions: kernel/rtrs/core/hist.h. */
#include "kernel/rtrs/core/hist.h"
#include "tap.h"

/* Each value next to a power of two, and the ends of what there is. */
static u64 value(unsigned int i)
{
	u64 power = 1ULL << (i / 3 % 64);

	return i < 192 ? power - 1 + i % 3 : ~0ULL - (i - 192);
}

#define VALUES	194

static void latency(void)
{
	unsigned int i, b;

	for (i = 0; i < VALUES; i++) {
		u64 v = value(i);

		NOTE("%llu ns", (unsigned long long)v);
		b = rtrs_latency_bucket(v);
		CHECK(b < RTRS_LATENCY_BUCKETS);
		CHECK(v <= rtrs_latency_end(b));
		CHECK(!b || v > rtrs_latency_end(b - 1));
	}
}

static void latency_ends(void)
{
	unsigned int b;

	EQ(rtrs_latency_end(0), 1024);
	for (b = 1; b + 1 < RTRS_LATENCY_BUCKETS; b++)
		EQ(rtrs_latency_end(b), 2 * rtrs_latency_end(b - 1));
	EQ(rtrs_latency_end(b - 1), 1ULL << 36);
	CHECK(rtrs_latency_end(b) == ~0ULL);
	EQ(rtrs_latency_bucket(0), 0);
	EQ(rtrs_latency_bucket(1), 0);
	EQ(rtrs_latency_bucket(1024), 0);
	EQ(rtrs_latency_bucket(1025), 1);
	/* a millisecond of the old table is where a bucket ends */
	EQ(rtrs_latency_end(20 - RTRS_LATENCY_ORDER), 1 << 20);
}

static void sg(void)
{
	static const u64 ends[RTRS_SG_BUCKETS] = { 0, 1, 2, 4, 8, 16, 32, 64, 128, ~0ULL };
	unsigned int i, b;

	for (b = 0; b < RTRS_SG_BUCKETS; b++)
		CHECK(rtrs_sg_end(b) == ends[b]);
	for (i = 0; i < 96; i++) {
		u32 v = value(i);

		NOTE("%u entries", v);
		b = rtrs_sg_bucket(v);
		CHECK(b < RTRS_SG_BUCKETS);
		CHECK(v <= rtrs_sg_end(b));
		CHECK(!b || v > rtrs_sg_end(b - 1));
	}
}

int main(void)
{
	RUN(latency, "a latency is in the one bucket that it fits");
	RUN(latency_ends, "where the buckets of latencies end");
	RUN(sg, "entries of lists: none, 1, 2, 4 up to 128, more");
	return tap_end();
}
