// SPDX-License-Identifier: GPL-2.0
/*
 * Which path a request takes. Nothing here is shared between CPUs but what is
 * read only: cursors, counters and latencies are of one CPU each. Only min-inflight
 * has a counter for each path that all share, which is less than a look at all of theirs,
 * and a completion tells the CPU that submitted.
 */
#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include "client.h"

#define LATENCY_WEIGHT		8	/* a new request counts for one part of so many */
#define LATENCY_HALF_NS		(250 * NSEC_PER_MSEC)	/* the average halves in so much time */
#define LATENCY_UNKNOWN_NS	NSEC_PER_SEC	/* while the first request is on its way */

/* Returns how many wait now. */
u32 rtrs_client_latency_chosen(struct rtrs_client_latency *latency, u64 now)
{
	WRITE_ONCE(latency->at, now);
	return atomic_inc_return(&latency->waiting);
}

void rtrs_client_latency_undone(struct rtrs_client_latency *latency)
{
	atomic_dec(&latency->waiting);
}

/* It took @ns among @waiting, and each of these had its share in that. */
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
 * How long one more request will take, which those under way say before any of them is
 * back: a path gets no more than its share while nobody knows yet. What is not renewed
 * fades, so that a path that was slow once is tried again, by one request.
 */
static u64 expected(const struct rtrs_client_latency *latency, u64 now)
{
	u64 ns = READ_ONCE(latency->ns), at = READ_ONCE(latency->at), halvings;
	u32 waiting = atomic_read(&latency->waiting);

	if (waiting)
		return (ns ?: LATENCY_UNKNOWN_NS) * (waiting + 1);
	halvings = now > at ? div_u64(now - at, LATENCY_HALF_NS) : 0;
	return halvings < 64 ? ns >> halvings : 0;
}

/*
 * No request is faster than a heartbeat, nor than one that has been waited for in
 * vain. A path that has shown neither is tried at once.
 */
static u64 latency_of(struct rtrs_client_path *path, u64 now)
{
	u64 ns = expected(&raw_cpu_ptr(path->stats)->latency, now);
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

/* The candidate of the least cost; among equals the first one from the cursor on. */
static unsigned int least(const struct rtrs_client_pick *pick, enum rtrs_client_policy policy)
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
		cost = policy == RTRS_CLIENT_MIN_LATENCY ? latency_of(path, now) :
							   atomic_read(&path->inflight);
		if (cost < min) {
			min = cost;
			best = n;
		}
	}
	return best;
}

/* Round-robin, a cursor for each CPU; one that is moved away in between does no harm. */
void rtrs_client_pick_start(struct rtrs_client_pick *pick, struct rtrs_client_session *session)
{
	enum rtrs_client_policy policy = READ_ONCE(session->settings.policy);

	pick->set = rcu_dereference(session->paths);
	pick->start = this_cpu_inc_return(*session->cursor);
	/* Small, so that the sum below does not overflow and meet a path twice. */
	if (pick->set->count)
		pick->start %= pick->set->count;
	pick->tried = 0;
	if (policy != RTRS_CLIENT_ROUND_ROBIN && pick->set->count > 1)
		pick->start = least(pick, policy);
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
