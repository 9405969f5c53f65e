// SPDX-License-Identifier: GPL-2.0
/* Counters: one set per CPU, of all namespaces. The first five are the interface of rds-info. */
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
	rds_core_info_counters(info, stat_name, RDS_TCP_STAT_COUNT, rds_tcp_stats.n);
}
