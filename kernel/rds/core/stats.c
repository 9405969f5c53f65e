// SPDX-License-Identifier: GPL-2.0
/*
 * Counters: one set per CPU, of all namespaces. Their names and order are the interface of rds-
 * info.
 */
#include "core.h"

DEFINE_PER_CPU(struct rds_stats, rds_stats);

static const char *const stat_name[RDS_STAT_COUNT] = {
	"conn_reset",
	"recv_drop_bad_checksum",
	"recv_drop_old_seq",
	"recv_drop_no_sock",
	"recv_drop_dead_sock",
	"recv_deliver_raced",
	"recv_delivered",
	"recv_queued",
	"recv_immediate_retry",
	"recv_delayed_retry",
	"recv_ack_required",
	"recv_rdma_bytes",
	"recv_ping",
	"send_queue_empty",
	"send_queue_full",
	"send_lock_contention",
	"send_lock_queue_raced",
	"send_immediate_retry",
	"send_delayed_retry",
	"send_drop_acked",
	"send_ack_required",
	"send_queued",
	"send_rdma",
	"send_rdma_bytes",
	"send_pong",
	"page_remainder_hit",
	"page_remainder_miss",
	"copy_to_user",
	"copy_from_user",
	"cong_update_queued",
	"cong_update_received",
	"cong_send_error",
	"cong_send_blocked",
	"recv_bytes_added_to_sock",
	"recv_bytes_freed_fromsock",
	"send_stuck_rm",
};

void rds_stats_fill(struct net *net, struct rds_core_info *info)
{
	rds_core_info_counters(info, stat_name, RDS_STAT_COUNT, rds_stats.n);
	rds_transport_counters(info);
}
