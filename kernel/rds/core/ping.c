// SPDX-License-Identifier: GPL-2.0
/* Pongs. A pong belongs to no socket: whoever sent the ping is told in its own queue. */
#include "core.h"

/*
 * Any context but hard interrupts: whatever is left undone for want of memory, a ping is repeated.
 */
void rds_ping_answer(struct rds_core_path *path, const struct rds_core_inc *ping)
{
	struct rds_core_conn *conn = path->conn;
	struct rds_cong *cong = conn->transport->loops ? conn->lcong : conn->fcong;
	struct rds_core_msg *pong;

	if (rds_cong_test(cong, htons(ping->hdr.sport)))
		return;
	pong = rds_msg_make(0, GFP_ATOMIC | __GFP_ACCOUNT | __GFP_NOWARN);
	if (!pong)
		return;
	pong->path = path;
	pong->hdr.dport = ping->hdr.sport;
	rds_stat(RDS_STAT_SEND_PONG);
	if (conn->transport->pong) {
		conn->transport->pong(conn, pong);
		return;
	}
	rds_xmit_queue(path, pong);
	rds_core_path_writable(path);
	rds_msg_put(pong);
}
