// SPDX-License-Identifier: GPL-2.0
/*
 * Choice of the path of a request. CPUs share read-only data alone: cursors, counters
 * and latencies are per CPU. Exceptions: min-inflight has one counter for each path,
 * which costs less than reading those of all CPUs, and a completion writes the latency
 * of the CPU that submitted.
 */
#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include "client.h"

#define LATENCY_WEIGHT		8	/* a new sample has the weight 1/8 */
#define LATENCY_HALF_NS		(250 * NSEC_PER_MSEC)	/* half-life without samples */
#define LATENCY_UNKNOWN_NS	NSEC_PER_SEC	/* until the first request is completed */

/* Returns how many requests are in flight now. */
u32 rtrs_client_latency_chosen(struct rtrs_client_latency *latency, u64 now)
{
	WRITE_ONCE(latency->at, now);
	return atomic_inc_return(&latency->waiting);
}

void rtrs_client_latency_undone(struct rtrs_client_latency *latency)
{
	atomic_dec(&latency->waiting);
}

/* Adds a sample: the request took @ns while @waiting shared the path. */
void rtrs_client_latency_sample(struct rtrs_client_latency *latency, u64 now, u64 ns, u32 waiting)
{
	u64 old = READ_ONCE(latency->ns);

	ns = div_u64(ns, waiting);
	if (old)
		ns = old - old / LATENCY_WEIGHT + ns / LATENCY_WEIGHT;
	WRITE_ONCE(latency->ns, max(ns, 1ULL));
	WRITE_ONCE(latency->at, now);
	atomic_dec(&latency->waiting);
}

/*
 * Estimated time of one more request: grows with the requests in flight, so that a path
 * without a sample gets no more than its share. Without new samples the average decays,
 * so that a path that was slow is tried again, by one request.
 */
static u64 latency_expected(const struct rtrs_client_latency *latency, u64 now)
{
	u64 ns = READ_ONCE(latency->ns), at = READ_ONCE(latency->at), halvings;
	u32 waiting = atomic_read(&latency->waiting);

	if (waiting)
		return (ns ?: LATENCY_UNKNOWN_NS) * (waiting + 1);
	halvings = now > at ? div_u64(now - at, LATENCY_HALF_NS) : 0;
	return halvings < 64 ? ns >> halvings : 0;
}

/*
 * The estimate is at least the round trip of the last heartbeat, and the time since one
 * that is not answered. A path without samples and heartbeats has 0: it is tried at once.
 */
static u64 path_latency(struct rtrs_client_path *path, u64 now)
{
	u64 ns = latency_expected(&raw_cpu_ptr(path->stats)->latency, now);
	u64 rtt = atomic64_read(&path->hb.rtt_ns);

	if (atomic_read(&path->hb.missed)) {
		u64 sent;

		smp_rmb();	/* pairs with hb_tick() */
		sent = ktime_to_ns(READ_ONCE(path->hb.sent));
		if (now > sent)
			rtt = max(rtt, now - sent);
	}
	return max(ns, rtt);
}

/* The path of the lowest cost; among equals the first one from the cursor on. */
static unsigned int pick_least(const struct rtrs_client_pick *pick, enum rtrs_client_policy policy)
{
	u64 now = policy == RTRS_CLIENT_MIN_LATENCY ? ktime_get_ns() : 0;
	const struct rtrs_client_path_set *set = pick->set;
	unsigned int i, best = pick->start;
	u64 min = U64_MAX;

	for (i = 0; i < set->count; i++) {
		unsigned int n = (pick->start + i) % set->count;
		struct rtrs_client_path *path = set->path[n];
		u64 cost;

		if (!rtrs_client_path_connected(path))
			continue;
		cost = policy == RTRS_CLIENT_MIN_LATENCY ? path_latency(path, now) :
							   atomic_read(&path->inflight);
		if (cost < min) {
			min = cost;
			best = n;
		}
	}
	return best;
}

/* The cursor is per CPU; a migration between read and use does no harm. */
void rtrs_client_pick_start(struct rtrs_client_pick *pick, struct rtrs_client_session *session)
{
	enum rtrs_client_policy policy = READ_ONCE(session->settings.policy);

	pick->set = rcu_dereference(session->paths);
	pick->start = this_cpu_inc_return(*session->cursor);
	/* Below count, so that start + tried in rtrs_client_pick_next() does not overflow. */
	if (pick->set->count)
		pick->start %= pick->set->count;
	pick->tried = 0;
	if (policy != RTRS_CLIENT_ROUND_ROBIN && pick->set->count > 1)
		pick->start = pick_least(pick, policy);
}

struct rtrs_client_path *rtrs_client_pick_next(struct rtrs_client_pick *pick)
{
	const struct rtrs_client_path_set *set = pick->set;

	while (pick->tried < set->count) {
		struct rtrs_client_path *path =
			set->path[(pick->start + pick->tried++) % set->count];

		if (rtrs_client_path_connected(path))
			return path;
	}
	return NULL;
}
