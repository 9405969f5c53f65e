// SPDX-License-Identifier: GPL-2.0
/* Counters of a path, per CPU. */
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
		inflight += READ_ONCE(c->inflight);
	}
	sum->inflight = max(inflight, 0L);
}

/* What is in flight stays. */
void rtrs_server_stats_reset(struct rtrs_server_path *path)
{
	int cpu, i;

	for_each_possible_cpu(cpu) {
		struct rtrs_server_counts *c = per_cpu_ptr(path->counts, cpu);

		for (i = 0; i < 2; i++) {
			WRITE_ONCE(c->ios[i], 0);
			WRITE_ONCE(c->bytes[i], 0);
		}
	}
}
