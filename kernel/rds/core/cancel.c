// SPDX-License-Identifier: GPL-2.0
/* Messages that their socket does not want any more. */
#include "core.h"

static bool goes_to(const struct rds_core_msg *msg, const struct rds_addr *to)
{
	return !to || (htons(msg->hdr.dport) == to->port &&
		       rds_ip_equal(&msg->path->conn->faddr, &to->ip));
}

/*
 * Off its path. What the transport has begun goes on, as long as the peer takes nothing; the peer
 * may get it. The socket is let go at once: who took the message off its path is the only one that
 * looks at it.
 */
static void unqueue(struct rds_core_msg *msg)
{
	struct rds_core_path *path;
	bool was;

	/* It may be moved to another path. */
	for (;;) {
		path = READ_ONCE(msg->path);
		spin_lock_bh(&path->lock);
		if (msg->path == path)
			break;
		spin_unlock_bh(&path->lock);
	}
	__set_bit(RDS_CORE_MSG_CANCELED, &msg->flags);
	was = __test_and_clear_bit(RDS_CORE_MSG_QUEUED, &msg->flags);
	if (was)
		list_del_init(&msg->path_entry);
	spin_unlock_bh(&path->lock);
	if (!was)
		return;
	rds_msg_leave(msg);
	rds_msg_put(msg);
}

void rds_cancel(struct rds_sock *rs, const struct rds_addr *to)
{
	struct rds_core_msg *msg, *next;
	LIST_HEAD(canceled);

	spin_lock_bh(&rs->lock);
	list_for_each_entry_safe(msg, next, &rs->sends, sock_entry) {
		if (!goes_to(msg, to))
			continue;
		msg->listed = false;
		rs->snd_bytes -= msg->hdr.len;
		rs->nr_sends--;
		list_move_tail(&msg->sock_entry, &canceled);
	}
	spin_unlock_bh(&rs->lock);
	if (list_empty(&canceled))
		return;
	list_for_each_entry_safe(msg, next, &canceled, sock_entry) {
		list_del_init(&msg->sock_entry);
		unqueue(msg);
		rds_msg_put(msg);
	}
	rds_wake_writers(rs);
}
