// SPDX-License-Identifier: GPL-2.0
/* Buckets, sums, differences and quantiles of distributions. */
#include <string.h>

#include "model/objects.h"
#include "tap.h"

static void buckets(void)
{
	bool good = true;

	for (unsigned int i = 0; i < 64; i++) {
		uint64_t p = 1ULL << i;

		good &= latency_bucket(p) == i && latency_end(i) == p;
		good &= latency_bucket(p + 1) == (i ? i + 1 : 1);
	}
	ok(good, "a power of two ends its bucket");
	ok(latency_bucket(0) == 0 && latency_bucket(1) == 0, "the first bucket of times");
	ok(latency_bucket(UINT64_MAX) == M_LATENCY_N - 1 && latency_end(M_LATENCY_N - 1) == M_UNKNOWN, "the last one");
	ok(sg_bucket(0) == 0 && sg_bucket(1) == 1 && sg_bucket(2) == 2 && sg_bucket(3) == 3 && sg_bucket(4) == 3,
	   "entries");
	ok(sg_end(0) == 0 && sg_end(1) == 1 && sg_end(3) == 4, "their ends");
	ok(sg_bucket(UINT64_MAX) == M_SG_N - 1 && sg_end(M_SG_N - 1) == M_UNKNOWN, "entries without end");
}

static void quantiles(void)
{
	struct distributions d;

	distributions_init(&d);
	ok(latency_quantile(&d, M_READ, 50) == M_UNKNOWN, "nothing has no quantile");
	d.latency[M_READ][11] = 100;
	ok(latency_quantile(&d, M_READ, 50) == 1536, "half of a bucket");
	d.max_ns[M_READ] = 1124;
	ok(latency_quantile(&d, M_READ, 50) == 1074, "up to the longest");
	ok(latency_quantile(&d, M_READ, 100) == 1124, "the longest");
	d.latency[M_READ][12] = 100;
	d.max_ns[M_READ] = M_UNKNOWN;
	ok(latency_quantile(&d, M_READ, 50) == 2048 && latency_quantile(&d, M_READ, 75) == 3072, "between two buckets");
	d.latency[M_READ][M_LATENCY_N - 1] = 200;
	ok(latency_quantile(&d, M_READ, 90) == 1ULL << M_LATENCY_LAST, "beyond the last end: at least that");
	d.max_ns[M_READ] = 2ULL << M_LATENCY_LAST;
	ok(latency_quantile(&d, M_READ, 75) == 3ULL << (M_LATENCY_LAST - 1), "or up to the longest");
	ok(latency_quantile(&d, M_WRITE, 99) == M_UNKNOWN, "writes are others");
	d.latency[M_READ][0] = INT64_MAX;
	ok(latency_quantile(&d, M_READ, 50) == M_UNKNOWN, "more than can be counted");
	d.latency[M_READ][0] = M_UNKNOWN;
	ok(latency_count(&d, M_READ) == M_UNKNOWN && latency_quantile(&d, M_READ, 50) == M_UNKNOWN, "a bucket that is unknown");
}

static void sums(void)
{
	struct distributions a, b;
	struct counters c = { .read_ios = 5, .write_ios = M_UNKNOWN }, e = c, big = { .read_ios = INT64_MAX };

	distributions_init(&a);
	distributions_init(&b);
	b.polls = 3;
	b.max_ns[M_READ] = 7;
	b.latency[M_WRITE][4] = 2;
	b.counted = true;
	distributions_add(&a, &b);
	distributions_add(&a, &b);
	ok(a.polls == 6 && a.max_ns[M_READ] == 7 && a.latency[M_WRITE][4] == 4 && a.counted, "a sum, the largest of a maximum");
	ok(a.completions == M_UNKNOWN && a.max_ns[M_WRITE] == M_UNKNOWN, "of unknowns nothing is known");
	counters_add(&c, &e);
	ok(c.read_ios == 10 && c.write_ios == M_UNKNOWN, "counters");
	for (int i = 0; i < 4; i++)
		counters_add(&c, &big);
	ok(c.read_ios > INT64_MAX && c.read_ios != M_UNKNOWN, "too large a sum stays too large");
}

static void differences(void)
{
	struct distributions now, before, d;

	distributions_init(&now);
	distributions_init(&before);
	now.polls = 9;
	before.polls = 4;
	now.max_ns[M_READ] = before.max_ns[M_READ] = 100;
	before.max_ns[M_WRITE] = 100;
	now.max_ns[M_WRITE] = 101;
	now.sg[3] = 8;
	before.sg[3] = 1;
	ok(!distributions_delta(&now, &before, &d) && d.polls == 5 && d.sg[3] == 7, "what was added");
	ok(d.max_ns[M_READ] == M_UNKNOWN && d.max_ns[M_WRITE] == 101, "a maximum is of the interval if it grew in it");
	before.latency[M_READ][7] = 1;
	ok(distributions_delta(&now, &before, &d) && d.latency[M_READ][7] == M_UNKNOWN, "a reset");
}

int main(void)
{
	buckets();
	quantiles();
	sums();
	differences();
	return tap_done();
}
