// SPDX-License-Identifier: GPL-2.0
/* Counters of a path, for each CPU. Nothing is shared where requests come by. */
#include <linux/ktime.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <uapi/linux/rnbd.h>
#include "client.h"

void rtrs_client_stats_submit(struct rtrs_client_path *path, struct rtrs_client_req *req)
{
	struct rtrs_client_session *session = path->session;
	struct rtrs_client_cpu_stats __percpu *s = path->stats;
	unsigned int policy = READ_ONCE(session->settings.policy);

	req->cpu = raw_smp_processor_id();
	this_cpu_inc(s->inflight);
	req->start = ktime_get_ns();
	req->waiting = 0;
	/* Where there is nothing to choose nothing is shared. */
	req->counted = policy == RTRS_CLIENT_MIN_INFLIGHT && READ_ONCE(session->connected) > 1;
	if (req->counted)
		atomic_inc(&path->inflight);
	if (policy == RTRS_CLIENT_MIN_LATENCY)
		req->waiting = rtrs_client_latency_chosen(&per_cpu_ptr(s, req->cpu)->latency,
							  req->start);
}

void rtrs_client_stats_unsubmit(struct rtrs_client_path *path, const struct rtrs_client_req *req)
{
	this_cpu_dec(path->stats->inflight);
	if (req->counted)
		atomic_dec(&path->inflight);
	if (req->waiting)
		rtrs_client_latency_undone(&per_cpu_ptr(path->stats, req->cpu)->latency);
}

void rtrs_client_stats_done(struct rtrs_client_path *path, const struct rtrs_client_req *req)
{
	struct rtrs_client_cpu_stats __percpu *s = path->stats;
	u64 now = ktime_get_ns(), ns = now - req->start;

	this_cpu_dec(s->inflight);
	if (req->counted)
		atomic_dec(&path->inflight);
	this_cpu_inc(s->c.ios[req->is_read]);
	this_cpu_add(s->c.bytes[req->is_read], req->bytes);
	this_cpu_inc(s->c.latency[req->is_read][rtrs_latency_bucket(ns)]);
	rtrs_raise(&s->c.latency_max[req->is_read], ns);
	this_cpu_inc(s->c.sg[rtrs_sg_bucket(req->sg_count)]);
	this_cpu_inc(s->came[req->cpu]);
	if (req->waiting)
		rtrs_client_latency_sample(&per_cpu_ptr(s, req->cpu)->latency, now, ns,
					   req->waiting);
}

void rtrs_client_stats_wc(struct rtrs_client_con *con, const struct ib_cq *cq,
			  const struct ib_wc *wc)
{
	if (!con->c.private_cq)
		rtrs_polls_count(&con->path->stats->c.polls, cq, wc);
}

void rtrs_client_stats_polled(struct rtrs_client_path *path, unsigned int n)
{
	if (!n)
		return;
	this_cpu_inc(path->stats->c.polls.calls);
	this_cpu_add(path->stats->c.polls.total, n);
	rtrs_raise(&path->stats->c.polls.max, n);
}

struct rtrs_client_cpu_stats __percpu *rtrs_client_stats_alloc(void)
{
	return __alloc_percpu(sizeof(struct rtrs_client_cpu_stats) + nr_cpu_ids * sizeof(u32),
			      __alignof__(struct rtrs_client_cpu_stats));
}

void rtrs_client_stats_sum(struct rtrs_client_path *path, struct rtrs_client_counts *sum)
{
	unsigned int cpu, i, b;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const struct rtrs_client_counts *c = &per_cpu_ptr(path->stats, cpu)->c;

		for (i = 0; i < 2; i++) {
			sum->ios[i] += READ_ONCE(c->ios[i]);
			sum->bytes[i] += READ_ONCE(c->bytes[i]);
			sum->latency_max[i] = max(sum->latency_max[i],
						  READ_ONCE(c->latency_max[i]));
			for (b = 0; b < RTRS_LATENCY_BUCKETS; b++)
				sum->latency[i][b] += READ_ONCE(c->latency[i][b]);
		}
		for (b = 0; b < RTRS_SG_BUCKETS; b++)
			sum->sg[b] += READ_ONCE(c->sg[b]);
		sum->polls.calls += READ_ONCE(c->polls.calls);
		sum->polls.total += READ_ONCE(c->polls.total);
		sum->polls.max = max(sum->polls.max, READ_ONCE(c->polls.max));
	}
}

u32 rtrs_client_stats_inflight(struct rtrs_client_path *path)
{
	unsigned int cpu;
	s32 sum = 0;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(path->stats, cpu)->inflight);
	/* Requests go on during the sum. */
	return max(sum, 0);
}

u64 rtrs_client_stats_failovers(struct rtrs_client_path *path)
{
	unsigned int cpu;
	u64 sum = 0;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(path->stats, cpu)->failovers);
	return sum;
}

/* The slots are there while the path is connected, under rcu_read_lock(). */
static void moves_count_inflight(struct rtrs_client_path *path, struct rtrs_client_moves *of)
{
	u32 i;

	rcu_read_lock();
	for (i = 0; rtrs_client_path_connected(path) && i < path->slots; i++)
		if (atomic_read(&path->req[i].pending))
			of[READ_ONCE(path->req[i].cpu)].inflight++;
	rcu_read_unlock();
}

/* Reads the counters of each CPU once, in the order of memory. */
struct rtrs_client_moves *rtrs_client_stats_moves(struct rtrs_client_path *path)
{
	struct rtrs_client_moves *of = kvcalloc(nr_cpu_ids, sizeof(*of), GFP_KERNEL);
	unsigned int from, to;

	if (!of)
		return NULL;
	for_each_possible_cpu(to) {
		const u32 *came = per_cpu_ptr(path->stats, to)->came;

		for_each_possible_cpu(from) {
			u32 n = from == to ? 0 : READ_ONCE(came[from]);

			of[from].from += n;
			of[to].to += n;
		}
	}
	moves_count_inflight(path, of);
	return of;
}

/* Resets */

/**
 * struct stats_reset - arguments of stats_reset_cpu()
 * @path: path
 * @groups: RNBD_COUNTERS_*
 */
struct stats_reset {
	struct rtrs_client_path *path;
	u32 groups;
};

static void stats_reset_cpu(void *arg, unsigned int cpu)
{
	const struct stats_reset *r = arg;
	struct rtrs_client_cpu_stats *s = per_cpu_ptr(r->path->stats, cpu);

	if (r->groups & RNBD_COUNTERS_IOS) {
		memset(s->c.ios, 0, sizeof(s->c.ios));
		memset(s->c.bytes, 0, sizeof(s->c.bytes));
		WRITE_ONCE(s->failovers, 0);
	}
	if (r->groups & RNBD_COUNTERS_LATENCY) {
		memset(s->c.latency, 0, sizeof(s->c.latency));
		memset(s->c.latency_max, 0, sizeof(s->c.latency_max));
	}
	if (r->groups & RNBD_COUNTERS_SG)
		memset(s->c.sg, 0, sizeof(s->c.sg));
	if (r->groups & RNBD_COUNTERS_POLLS)
		memset(&s->c.polls, 0, sizeof(s->c.polls));
	if (r->groups & RNBD_COUNTERS_MIGRATIONS)
		memset(s->came, 0, nr_cpu_ids * sizeof(*s->came));
}

void rtrs_client_stats_reset(struct rtrs_client_path *path, u32 groups)
{
	struct stats_reset r = { .path = path, .groups = groups };

	rtrs_counts_reset(stats_reset_cpu, &r);
	if (groups & RNBD_COUNTERS_RECONNECTS) {
		atomic64_set(&path->reconnects_ok, 0);
		atomic64_set(&path->reconnects_failed, 0);
	}
}
