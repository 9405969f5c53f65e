// SPDX-License-Identifier: GPL-2.0
/* Counters: one set per CPU, of all namespaces. The first five are the interface of rds-info. */
#include <linux/rds.h>
#include "tcp.h"

DEFINE_PER_CPU(struct rds_tcp_stats, rds_tcp_stats);

static const char *const stat_name[RDS_TCP_STAT_COUNT] = {
	"tcp_data_ready_calls",
	"tcp_write_space_calls",
	"tcp_sndbuf_full",
	"tcp_connect_raced",
	"tcp_listen_closed_stale",
	"tcp_drop_bad_record",
	"tcp_drop_unanswered",
};

void rds_tcp_counters(struct rds_core_info *info)
{
	struct rds_info_counter c;
	unsigned int i, cpu;

	for (i = 0; i < RDS_TCP_STAT_COUNT; i++) {
		u64 sum = 0;

		memset(&c, 0, sizeof(c));
		strscpy((char *)c.name, stat_name[i], sizeof(c.name));
		for_each_possible_cpu(cpu)
			sum += READ_ONCE(per_cpu(rds_tcp_stats, cpu).n[i]);
		c.value = sum;
		rds_core_info_put(info, &c);
	}
}
