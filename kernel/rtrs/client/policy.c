// SPDX-License-Identifier: GPL-2.0
/*
 * Which path a request takes. Nothing here is shared between CPUs but what is
 * read only: cursors, counters and latencies are of one CPU each, and only
 * min-inflight looks at those of the others.
 */
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include "client.h"

#define LATENCY_WEIGHT		8	/* a new request counts for one part of so many */
#define LATENCY_HALF_NS		(250 * NSEC_PER_MSEC)	/* the average halves in so much time */
#define LATENCY_UNKNOWN_NS	NSEC_PER_SEC	/* while the first request is on its way */

/*
 * A path without an average gets one request, not a flood of them, until that one is
 * back; so does one whose average has faded.
 */
void rtrs_client_latency_chosen(struct rtrs_client_latency *latency, u64 now)
{
	if (!latency->ns)
		latency->ns = LATENCY_UNKNOWN_NS;
	latency->at = now;
}

void rtrs_client_latency_sample(struct rtrs_client_latency *latency, u64 now, u64 ns)
{
	u64 old = READ_ONCE(latency->ns);

	if (old && old != LATENCY_UNKNOWN_NS)
		ns = old - old / LATENCY_WEIGHT + ns / LATENCY_WEIGHT;
	WRITE_ONCE(latency->ns, max(ns, 1ULL));
	WRITE_ONCE(latency->at, now);
}

/* What is not renewed fades, so that a path that was slow once is tried again. */
static u64 faded(const struct rtrs_client_latency *latency, u64 now)
{
	u64 at = READ_ONCE(latency->at);
	u64 halvings = now > at ? (now - at) / LATENCY_HALF_NS : 0;

	return halvings < 64 ? READ_ONCE(latency->ns) >> halvings : 0;
}

/*
 * No request is faster than a heartbeat, nor than one that has been waited for in
 * vain. A path that has shown neither is tried at once.
 */
static u64 latency_of(struct rtrs_client_path *path, u64 now)
{
	u64 rtt = atomic64_read(&path->hb.rtt_ns);
	u64 ns = faded(&raw_cpu_ptr(path->stats)->latency, now);

	if (atomic_read(&path->hb.missed)) {
		u64 sent;

		smp_rmb();	/* pairs with hb_tick() */
		sent = ktime_to_ns(READ_ONCE(path->hb.sent));
		if (now > sent)
			rtt = max(rtt, now - sent);
	}
	return max(ns, rtt);
}

static u64 inflight_of(struct rtrs_client_path *path)
{
	unsigned int cpu;
	s32 sum = 0;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(path->stats, cpu)->inflight);
	/* Summed up while requests go on. */
	return max(sum, 0);
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
							   inflight_of(path);
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
