// SPDX-License-Identifier: GPL-2.0
/* Counters of a path, per CPU. */
#include <uapi/linux/rnbd.h>
#include "server.h"

void rtrs_server_stats_sum(struct rtrs_server_path *path, struct rtrs_server_totals *sum)
{
	long inflight = 0;
	int cpu, i;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const struct rtrs_server_counts *c = per_cpu_ptr(path->counts, cpu);

		for (i = 0; i < 2; i++) {
			sum->ios[i] += READ_ONCE(c->ios[i]);
			sum->bytes[i] += READ_ONCE(c->bytes[i]);
		}
		sum->polls.calls += READ_ONCE(c->polls.calls);
		sum->polls.total += READ_ONCE(c->polls.total);
		sum->polls.max = max(sum->polls.max, READ_ONCE(c->polls.max));
		inflight += READ_ONCE(c->inflight);
	}
	sum->inflight = max(inflight, 0L);
}

/**
 * struct stats_reset - what to reset
 * @path: of this path
 * @groups: RNBD_COUNTERS_*
 */
struct stats_reset {
	struct rtrs_server_path *path;
	u32 groups;
};

static void reset_cpu(void *arg, unsigned int cpu)
{
	const struct stats_reset *r = arg;
	struct rtrs_server_counts *c = per_cpu_ptr(r->path->counts, cpu);

	if (r->groups & RNBD_COUNTERS_IOS) {
		memset(c->ios, 0, sizeof(c->ios));
		memset(c->bytes, 0, sizeof(c->bytes));
	}
	if (r->groups & RNBD_COUNTERS_POLLS)
		memset(&c->polls, 0, sizeof(c->polls));
}

/* What is in flight stays. */
void rtrs_server_stats_reset(struct rtrs_server_path *path, u32 groups)
{
	struct stats_reset r = { .path = path, .groups = groups };

	rtrs_counts_reset(reset_cpu, &r);
}
