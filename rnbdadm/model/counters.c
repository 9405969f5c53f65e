// SPDX-License-Identifier: GPL-2.0
/* Counters and how requests are distributed over times and sizes: sums, differences, quantiles. */
#include <string.h>

#include "model/objects.h"

static void sum(uint64_t *a, uint64_t b)
{
	if (b == M_UNKNOWN)
		return;
	if (*a == M_UNKNOWN)
		*a = b;
	else if (__builtin_add_overflow(*a, b, a))
		*a = M_UNKNOWN - 1;	/* too large to be shown, and it stays so */
}

static bool delta(uint64_t now, uint64_t before, uint64_t *d)
{
	*d = M_UNKNOWN;
	if (now == M_UNKNOWN || before == M_UNKNOWN)
		return false;
	if (now < before)
		return true;
	*d = now - before;
	return false;
}

void counters_add(struct counters *a, const struct counters *b)
{
	sum(&a->read_ios, b->read_ios);
	sum(&a->read_bytes, b->read_bytes);
	sum(&a->write_ios, b->write_ios);
	sum(&a->write_bytes, b->write_bytes);
	sum(&a->inflight, b->inflight);
	sum(&a->failovers, b->failovers);
	sum(&a->reconnects_ok, b->reconnects_ok);
	sum(&a->reconnects_failed, b->reconnects_failed);
}

bool counters_delta(const struct counters *now, const struct counters *before,
		    struct counters *d)
{
	bool reset = false;

	d->inflight = now->inflight;
	reset |= delta(now->read_ios, before->read_ios, &d->read_ios);
	reset |= delta(now->read_bytes, before->read_bytes, &d->read_bytes);
	reset |= delta(now->write_ios, before->write_ios, &d->write_ios);
	reset |= delta(now->write_bytes, before->write_bytes, &d->write_bytes);
	reset |= delta(now->failovers, before->failovers, &d->failovers);
	reset |= delta(now->reconnects_ok, before->reconnects_ok, &d->reconnects_ok);
	reset |= delta(now->reconnects_failed, before->reconnects_failed,
		       &d->reconnects_failed);
	return reset;
}

void distributions_init(struct distributions *d)
{
	memset(d, 0, sizeof(*d));
	d->completions = d->polls = d->completions_max = M_UNKNOWN;
	d->max_ns[M_READ] = d->max_ns[M_WRITE] = M_UNKNOWN;
}

static void raise_to(uint64_t *a, uint64_t b)
{
	if (b != M_UNKNOWN && (*a == M_UNKNOWN || *a < b))
		*a = b;
}

void distributions_add(struct distributions *a, const struct distributions *b)
{
	sum(&a->completions, b->completions);
	sum(&a->polls, b->polls);
	raise_to(&a->completions_max, b->completions_max);
	a->counted |= b->counted;
	for (size_t op = 0; op < 2; op++) {
		raise_to(&a->max_ns[op], b->max_ns[op]);
		for (size_t i = 0; i < M_LATENCY_N; i++)
			sum(&a->latency[op][i], b->latency[op][i]);
	}
	for (size_t i = 0; i < M_SG_N; i++)
		sum(&a->sg[i], b->sg[i]);
}

static uint64_t new_max(uint64_t now, uint64_t before)
{
	return now != M_UNKNOWN && before != M_UNKNOWN && now > before ? now : M_UNKNOWN;
}

bool distributions_delta(const struct distributions *now, const struct distributions *before,
			 struct distributions *d)
{
	bool reset = false;

	reset |= delta(now->completions, before->completions, &d->completions);
	reset |= delta(now->polls, before->polls, &d->polls);
	d->completions_max = new_max(now->completions_max, before->completions_max);
	d->counted = now->counted;
	for (size_t op = 0; op < 2; op++) {
		d->max_ns[op] = new_max(now->max_ns[op], before->max_ns[op]);
		for (size_t i = 0; i < M_LATENCY_N; i++)
			reset |= delta(now->latency[op][i], before->latency[op][i],
				       &d->latency[op][i]);
	}
	for (size_t i = 0; i < M_SG_N; i++)
		reset |= delta(now->sg[i], before->sg[i], &d->sg[i]);
	return reset;
}

uint64_t latency_end(size_t i)
{
	return i + 1 < M_LATENCY_N ? 1ULL << i : M_UNKNOWN;
}

uint64_t sg_end(size_t i)
{
	if (!i)
		return 0;
	return i + 1 < M_SG_N ? 1ULL << (i - 1) : M_UNKNOWN;
}

size_t latency_bucket(uint64_t ns)
{
	return ns > 1 ? 64 - (size_t)__builtin_clzll(ns - 1) : 0;
}

size_t sg_bucket(uint64_t entries)
{
	size_t i = entries ? 1 + latency_bucket(entries) : 0;

	return i < M_SG_N ? i : M_SG_N - 1;
}

uint64_t latency_count(const struct distributions *d, enum m_op op)
{
	uint64_t n = 0;

	for (size_t i = 0; i < M_LATENCY_N; i++) {
		if (d->latency[op][i] == M_UNKNOWN)
			return M_UNKNOWN;
		sum(&n, d->latency[op][i]);
	}
	return n;
}

uint64_t latency_quantile(const struct distributions *d, enum m_op op, double percent)
{
	uint64_t all = latency_count(d, op);
	double want, seen = 0, n, low, high;
	size_t i, last = M_LATENCY_N - 1;

	if (!all || all > INT64_MAX)
		return M_UNKNOWN;
	while (!d->latency[op][last])
		last--;
	want = (double)all * percent / 100;
	for (i = 0; i < last && seen + (double)d->latency[op][i] < want; i++)
		seen += (double)d->latency[op][i];
	n = (double)d->latency[op][i];
	low = i ? (double)latency_end(i + 1 < M_LATENCY_N ? i - 1 : M_LATENCY_LAST) : 0;
	high = i + 1 < M_LATENCY_N ? (double)latency_end(i) : low;
	/* nothing is longer than the longest */
	if (i == last && d->max_ns[op] != M_UNKNOWN && (double)d->max_ns[op] > low)
		high = (double)d->max_ns[op];
	return n > 0 ? (uint64_t)(low + (high - low) * (want - seen) / n) : (uint64_t)low;
}

uint64_t latency_quantile_all(const struct distributions *d, double percent)
{
	struct distributions all;

	if (!d->counted)
		return M_UNKNOWN;
	all = *d;
	raise_to(&all.max_ns[M_READ], d->max_ns[M_WRITE]);
	for (size_t i = 0; i < M_LATENCY_N; i++)
		sum(&all.latency[M_READ][i], d->latency[M_WRITE][i]);
	return latency_quantile(&all, M_READ, percent);
}

void cpu_counters_add(struct cpu_counters *a, const struct cpu_counters *b)
{
	sum(&a->read_ios, b->read_ios);
	sum(&a->read_bytes, b->read_bytes);
	sum(&a->write_ios, b->write_ios);
	sum(&a->write_bytes, b->write_bytes);
	sum(&a->inflight, b->inflight);
	sum(&a->failovers, b->failovers);
	sum(&a->migrations_from, b->migrations_from);
	sum(&a->migrations_to, b->migrations_to);
	distributions_add(&a->d, &b->d);
}
