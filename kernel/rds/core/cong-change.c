// SPDX-License-Identifier: GPL-2.0
/* Changes of congestion maps: who is told, and who waits for them. */
#include <linux/export.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include "core.h"

/* Those that wait for @freed, or for any change */
static void cong_wake(struct rds_cong *cong, u64 freed)
{
	struct rds_net *rnet = cong->rnet;
	struct rds_sock *rs;
	u64 told;

	atomic_inc(&rnet->map_gen);
	wake_up_all(&cong->wait);
	wake_up_interruptible_poll(&rnet->map_wait, EPOLLIN | EPOLLRDNORM | EPOLLWRBAND);
	spin_lock_bh(&rnet->lock);
	list_for_each_entry(rs, &rnet->monitors, monitor_entry) {
		spin_lock(&rs->lock);
		told = rs->cong_mask & freed;
		rs->cong_mask &= ~told;
		rs->cong_notify |= told;
		spin_unlock(&rs->lock);
		if (told)
			rs->sk.sk_data_ready(&rs->sk);
	}
	spin_unlock_bh(&rnet->lock);
}

void rds_cong_changed(struct rds_cong *cong)
{
	struct rds_net *rnet = cong->rnet;
	struct rds_core_conn *conn;

	rds_stat(RDS_STAT_CONG_UPDATE_QUEUED);
	spin_lock_bh(&rnet->lock);
	list_for_each_entry(conn, &rnet->conns, net_entry)
		if (conn->lcong == cong && !conn->transport->loops)
			rds_path_map_due(&conn->path);
	spin_unlock_bh(&rnet->lock);
	cong_wake(cong, ~0ULL);
}

int rds_core_map_received(struct rds_core_conn *conn, const void *bits, u64 freed)
{
	struct rds_cong *cong = conn->fcong;
	unsigned long *room;

	rds_stat(RDS_STAT_CONG_UPDATE_RECEIVED);
	/* Most peers never have a congested port: their maps take no memory. */
	if (!cong->bits && memchr_inv(bits, 0, RDS_MAP_LEN)) {
		room = kzalloc(RDS_MAP_LEN, GFP_ATOMIC | __GFP_NOWARN);
		if (!room)
			return -ENOMEM;
		rds_cong_give_bits(cong, room);
	}
	if (cong->bits)
		memcpy(cong->bits, bits, RDS_MAP_LEN);
	cong_wake(cong, freed);
	return 0;
}
EXPORT_SYMBOL_NS_GPL(rds_core_map_received, RDS_CORE);

void rds_cong_monitor(struct rds_sock *rs, bool on)
{
	struct rds_net *rnet = rds_net(sock_net(&rs->sk));

	spin_lock_bh(&rnet->lock);
	if (on != rs->monitor) {
		rs->monitor = on;
		if (on)
			list_add_tail(&rs->monitor_entry, &rnet->monitors);
		else
			list_del(&rs->monitor_entry);
	}
	spin_unlock_bh(&rnet->lock);
}

/*
 * The map may change between the look that found the port congested and the entry into the mask:
 * look again.
 */
static int refuse(struct rds_sock *rs, struct rds_cong *cong, __be16 port)
{
	if (rs->monitor) {
		spin_lock_bh(&rs->lock);
		rs->cong_mask |= RDS_CONG_MONITOR_MASK(ntohs(port));
		spin_unlock_bh(&rs->lock);
		smp_mb(); /* pairs with the change of the bit before cong_wake() takes rs->lock */
		if (!rds_cong_test(cong, port))
			return 0;
	}
	rds_stat(RDS_STAT_CONG_SEND_ERROR);
	return -ENOBUFS;
}

/* Nobody else may have a reason to connect: the map would never come. */
static bool told(struct rds_core_conn *conn, __be16 port)
{
	if (!rds_cong_test(conn->fcong, port))
		return true;
	rds_path_wake(&conn->path);
	return false;
}

int rds_cong_wait(struct rds_sock *rs, struct rds_core_conn *conn, __be16 port, long *timeout)
{
	struct rds_cong *cong = conn->fcong;

	if (!*timeout)
		return refuse(rs, cong, port);
	rds_stat(RDS_STAT_CONG_SEND_BLOCKED);
	return rds_waited(wait_event_interruptible_timeout(cong->wait, told(conn, port), *timeout),
			  timeout);
}
