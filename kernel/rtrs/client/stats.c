// SPDX-License-Identifier: GPL-2.0
/* Counters of a path, for each CPU. */
#include <linux/ktime.h>
#include <linux/smp.h>
#include "client.h"

void rtrs_client_stats_submit(struct rtrs_client_path *path, struct rtrs_client_req *req)
{
	req->cpu = raw_smp_processor_id();
	this_cpu_inc(path->stats->inflight);
	req->start = 0;
	if (READ_ONCE(path->session->settings.policy) != RTRS_CLIENT_MIN_LATENCY)
		return;
	req->start = ktime_get_ns();
	rtrs_client_latency_chosen(&per_cpu_ptr(path->stats, req->cpu)->latency, req->start);
}

void rtrs_client_stats_unsubmit(struct rtrs_client_path *path)
{
	this_cpu_dec(path->stats->inflight);
}

void rtrs_client_stats_done(struct rtrs_client_path *path, const struct rtrs_client_req *req)
{
	unsigned int cpu = raw_smp_processor_id();

	this_cpu_dec(path->stats->inflight);
	if (req->start) {
		u64 now = ktime_get_ns();

		rtrs_client_latency_sample(&per_cpu_ptr(path->stats, req->cpu)->latency, now,
					   now - req->start);
	}
	this_cpu_inc(path->stats->ios[req->is_read]);
	this_cpu_add(path->stats->bytes[req->is_read], req->bytes);
	if (cpu == req->cpu)
		return;
	this_cpu_inc(path->stats->migrations_to);
	atomic_inc(&per_cpu_ptr(path->stats, req->cpu)->migrations_from);
}

void rtrs_client_stats_sum(struct rtrs_client_path *path, struct rtrs_client_cpu_stats *sum)
{
	unsigned int cpu, i;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const struct rtrs_client_cpu_stats *s = per_cpu_ptr(path->stats, cpu);

		for (i = 0; i < 2; i++) {
			sum->ios[i] += READ_ONCE(s->ios[i]);
			sum->bytes[i] += READ_ONCE(s->bytes[i]);
		}
		sum->inflight += READ_ONCE(s->inflight);
	}
	/* Summed up while requests go on. */
	sum->inflight = max(sum->inflight, 0);
}

void rtrs_client_stats_reset_ios(struct rtrs_client_path *path)
{
	unsigned int cpu, i;

	for_each_possible_cpu(cpu) {
		struct rtrs_client_cpu_stats *s = per_cpu_ptr(path->stats, cpu);

		for (i = 0; i < 2; i++) {
			WRITE_ONCE(s->ios[i], 0);
			WRITE_ONCE(s->bytes[i], 0);
		}
	}
	atomic64_set(&path->failovers, 0);
}

void rtrs_client_stats_reset_migrations(struct rtrs_client_path *path)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct rtrs_client_cpu_stats *s = per_cpu_ptr(path->stats, cpu);

		atomic_set(&s->migrations_from, 0);
		WRITE_ONCE(s->migrations_to, 0);
	}
}

void rtrs_client_stats_reset_reconnects(struct rtrs_client_path *path)
{
	atomic64_set(&path->reconnects_ok, 0);
	atomic64_set(&path->reconnects_failed, 0);
}

/* What is in flight is not touched. */
void rtrs_client_stats_reset(struct rtrs_client_path *path)
{
	rtrs_client_stats_reset_reconnects(path);
	rtrs_client_stats_reset_ios(path);
	rtrs_client_stats_reset_migrations(path);
}
