// SPDX-License-Identifier: GPL-2.0
/*
 * The loop: messages of this host for itself. The message of the sender is the one that is read;
 * nothing is copied in between, queued, or acknowledged.
 */
#include "core.h"

static struct rds_core_msg *msg_of(struct rds_core_inc *inc)
{
	return container_of(inc, struct rds_core_msg, inc);
}

static int inc_copy(struct rds_core_inc *inc, struct iov_iter *to)
{
	return rds_msg_copy(msg_of(inc), to);
}

static void inc_free(struct rds_core_inc *inc)
{
	rds_msg_put(msg_of(inc));
}

static const struct rds_core_inc_ops inc_ops = {
	.copy = inc_copy,
	.free = inc_free,
};

/*
 * What goes from the connection's own address comes in at the peer's, which is this host; an
 * answer goes @back. The caller's reference is the receiver's then.
 */
void rds_loop_send(struct rds_core_conn *conn, struct rds_core_msg *msg, bool back)
{
	struct rds_core_path *path = &conn->path;
	struct rds_core_inc *inc = &msg->inc;

	local_bh_disable();
	spin_lock(&path->lock);
	msg->hdr.seq = path->next_tx++;
	path->next_rx = msg->hdr.seq + 1;
	spin_unlock(&path->lock);
	rds_core_inc_init(inc, conn, &inc_ops, &msg->hdr);
	if (!back) {
		inc->saddr = conn->laddr;
		inc->daddr = conn->faddr;
	}
	rds_receive_new(path, inc);
	local_bh_enable();
}

static void pong(struct rds_core_conn *conn, struct rds_core_msg *msg)
{
	rds_loop_send(conn, msg, true);
}

static bool claims(struct net *net, const struct in6_addr *addr, u32 scope)
{
	return rds_ip_is_loopback(addr);
}

struct rds_core_transport rds_loop = {
	.name = "loopback",
	.owner = THIS_MODULE,
	.type = RDS_CORE_TRANSPORT_LOOP,
	.loops = true,
	.claims = claims,
	.pong = pong,
};
