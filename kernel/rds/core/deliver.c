// SPDX-License-Identifier: GPL-2.0
/* Messages that come in: duplicates, pings, and the queue of the socket that they are for. */
#include <linux/export.h>
#include <linux/sched/clock.h>
#include "core.h"

/*
 * Stock sockets of the loop are never congested: one sender could fill the memory. Ours are, but
 * late.
 */
#define LOOP_ROOM	8

/*
 * A peer that does not look at maps is not read any more when a socket has so many times what it
 * wants, and this much at least: what was on its way when the map went out has room.
 */
#define STOP_FACTOR	8
#define STOP_LEAST	(8 * (u64)RDS_MSG_MAX)
#define STOP_INCS	(2 * RDS_INCS_MAX)

bool rds_recv_mark(struct rds_sock *rs)
{
	u64 most = (u64)rds_rcvbuf(rs) * (rs->transport->loops ? LOOP_ROOM : 1);
	bool congested = rs->congested;

	if (rs->rcv_bytes > most || rs->nr_incs > RDS_INCS_MAX)
		congested = true;
	else if ((rs->rcv_bytes < most / 2 && rs->nr_incs < RDS_INCS_MAX / 2) ||
		 sock_flag(&rs->sk, SOCK_DEAD))
		congested = false;
	if (congested == rs->congested)
		return false;
	rs->congested = congested;
	rds_cong_mark(rs->cong, rs->lport, congested);
	return true;
}

/* Of @parts of what makes a socket stop its paths it has more to read. */
static bool over(const struct rds_sock *rs, unsigned int parts)
{
	u64 most = max((u64)rds_rcvbuf(rs) * STOP_FACTOR, STOP_LEAST);

	return rs->rcv_bytes > most / parts || rs->nr_incs > STOP_INCS / parts;
}

/* Under rs->lock; true: the path is to be read on. */
static bool may_go_on(struct rds_sock *rs, struct rds_core_path *path)
{
	if (!path->conn->transport->resume || !over(rs, 1))
		return true;
	if (!path->stopped) {
		WRITE_ONCE(path->stopped, true);
		kref_get(&path->conn->ref);
		list_add_tail(&path->stop_entry, &rs->stopped);
	}
	return false;
}

void rds_recv_resume(struct rds_sock *rs)
{
	struct rds_core_path *path, *next;
	LIST_HEAD(stopped);

	spin_lock_bh(&rs->lock);
	if (!over(rs, 2))
		list_splice_init(&rs->stopped, &stopped);
	spin_unlock_bh(&rs->lock);
	list_for_each_entry_safe(path, next, &stopped, stop_entry) {
		struct rds_core_conn *conn = path->conn;

		list_del_init(&path->stop_entry);
		/* From now on it may be in the list of another socket. */
		smp_store_release(&path->stopped, false); /* pairs with who reads on */
		conn->transport->resume(path);
		rds_core_conn_put(conn);
	}
}

static void stamp(const struct rds_sock *rs, struct rds_core_inc *inc)
{
	unsigned int i;

	if (sock_flag(&rs->sk, SOCK_RCVTSTAMP))
		inc->stamp = ktime_get_real_ns();
	if (!rs->traces)
		return;
	/* What the transport did not note took no time. */
	for (i = RDS_CORE_STAMPS; i-- > 0;)
		if (!inc->at[i])
			inc->at[i] = i + 1 < RDS_CORE_STAMPS ? inc->at[i + 1] : local_clock();
}

/* As rds_core_receive(), for a socket */
static bool deliver(struct rds_core_path *path, struct rds_core_inc *inc)
{
	struct net *net = read_pnet(&path->conn->net);
	struct rds_sock *rs = rds_bind_find(net, &inc->daddr, htons(inc->hdr.dport), inc->scope);
	bool dead, stays, changed = false, go_on = true;

	if (!rs) {
		rds_stat(RDS_STAT_RECV_DROP_NO_SOCK);
		inc->ops->free(inc);
		return true;
	}
	stays = rds_conn_use(path->conn);
	stamp(rs, inc);
	spin_lock(&rs->lock);
	dead = sock_flag(&rs->sk, SOCK_DEAD);
	if (!dead) {
		list_add_tail_rcu(&inc->entry, &rs->incs); /* pairs with read_first() */
		rds_stat_add(RDS_STAT_RECV_BYTES_ADDED, inc->hdr.len);
		changed = rds_recv_account(rs, inc->hdr.len, 1);
		/* No list may have a path that is about to go. */
		go_on = !stays || may_go_on(rs, path);
	}
	spin_unlock(&rs->lock);
	if (dead) {
		rds_stat(RDS_STAT_RECV_DROP_DEAD_SOCK);
		inc->ops->free(inc);
	} else {
		rds_stat(RDS_STAT_RECV_QUEUED);
		if (changed)
			rds_cong_changed(rs->cong);
		rs->sk.sk_data_ready(&rs->sk);
	}
	sock_put(&rs->sk);
	return go_on;
}

/* What is not for a socket; true: that was all. */
static bool for_kernel(struct rds_core_path *path, struct rds_core_inc *inc)
{
	const struct rds_core_transport *transport = path->conn->transport;
	const struct rds_hdr *h = &inc->hdr;
	bool probe = h->sport == RDS_PORT_PROBE;

	if (h->dport == RDS_PORT_PROBE && h->sport == RDS_PORT_PING) {
		if (transport->probe)
			transport->probe(path, h);
		return true;
	}
	/* A peer waits for the answer to a probe, whatever the administrator says of pings. */
	if (h->dport != RDS_PORT_PING || (!probe && !READ_ONCE(rds_sysctl_ping)))
		return false;
	rds_stat(RDS_STAT_RECV_PING);
	if (probe && transport->probe)
		transport->probe(path, h);
	if (h->sport != RDS_PORT_PING)
		rds_ping_answer(path, inc);
	return true;
}

bool rds_receive_new(struct rds_core_path *path, struct rds_core_inc *inc)
{
	if (!for_kernel(path, inc))
		return deliver(path, inc);
	inc->ops->free(inc);
	return true;
}

/* Bottom halves are off once for all the locks. */
bool rds_core_receive(struct rds_core_path *path, struct rds_core_inc *inc)
{
	bool old, go_on = true;

	local_bh_disable();
	spin_lock(&path->lock);
	old = inc->hdr.seq < path->next_rx && (inc->hdr.flags & RDS_HDR_RETRANSMITTED);
	if (!old)
		path->next_rx = inc->hdr.seq + 1;
	spin_unlock(&path->lock);
	if (old) {
		rds_stat(RDS_STAT_RECV_DROP_OLD_SEQ);
		inc->ops->free(inc);
	} else {
		go_on = rds_receive_new(path, inc);
	}
	local_bh_enable();
	return go_on;
}
EXPORT_SYMBOL_NS_GPL(rds_core_receive, RDS_CORE);
