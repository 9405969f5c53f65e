// SPDX-License-Identifier: GPL-2.0
/* sendmsg. */
#include <linux/sched/signal.h>
#include "core.h"

/* MSG_NOSIGNAL has no effect: no signal is ever sent. Some language run-times always set it. */
#define FLAGS_KNOWN	(MSG_DONTWAIT | MSG_ZEROCOPY | MSG_NOSIGNAL | MSG_CMSG_COMPAT)

/**
 * struct request - what a call of sendmsg asks for
 * @rs: socket
 * @to: where to
 * @len: bytes of payload
 * @flags: MSG_*
 * @zcopy: the pages of the application are sent
 * @timeout: jiffies that it may still wait
 * @c: control messages
 * @conn: connection there, with a reference; NULL: it is not known yet
 */
struct request {
	struct rds_sock *rs;
	struct rds_addr to;
	size_t len;
	unsigned int flags;
	bool zcopy;
	long timeout;
	struct rds_cmsgs c;
	struct rds_core_conn *conn;
};

/* Takes the connection that was used last, if it leads there; under rs->lock. */
static void take_last_conn(struct request *rq)
{
	struct rds_sock *rs = rq->rs;
	struct rds_core_conn *conn = rs->conn;

	if (!conn || conn->tos != rs->tos || !rds_ip_equal(&conn->faddr, &rq->to.ip))
		return;
	kref_get(&conn->ref);
	rq->conn = conn;
}

static int find_destination(struct request *rq, struct msghdr *msg)
{
	struct rds_sock *rs = rq->rs;
	int err;

	if (msg->msg_namelen) {
		err = rds_addr_parse(msg->msg_name, msg->msg_namelen, RDS_ADDR_SEND, &rq->to);
		if (err)
			return err;
		spin_lock_bh(&rs->lock);
		take_last_conn(rq);
		spin_unlock_bh(&rs->lock);
	} else {
		spin_lock_bh(&rs->lock);
		rq->to = rs->peer;
		take_last_conn(rq);
		spin_unlock_bh(&rs->lock);
	}
	if (!rds_bound(rs) || rds_ip_is_any(&rq->to.ip))
		return -ENOTCONN;
	if (rds_ip_is_v4(&rq->to.ip) != rds_ip_is_v4(&rs->laddr))
		return -EOPNOTSUPP;
	if (rs->scope != rq->to.scope)
		return -EINVAL;
	return 0;
}

static int check_size(struct request *rq)
{
	if (rq->len > RDS_MSG_MAX || rds_rdma_size(&rq->c) > RDS_MSG_MAX ||
	    rq->len > rds_sndbuf(rq->rs))
		return -EMSGSIZE;
	return 0;
}

/* Whoever has not switched zerocopy on gets a copy, and must not name it. */
static int check_zcopy(struct request *rq)
{
	if (!(rq->flags & MSG_ZEROCOPY))
		return rq->c.has & RDS_CMSG_BIT(RDS_CMSG_ZCOPY_COOKIE) ? -EINVAL : 0;
	if (!sock_flag(&rq->rs->sk, SOCK_ZEROCOPY))
		return -EINVAL;
	if (!rq->rs->transport->sends_zcopy)
		return -EOPNOTSUPP;
	if (!(rq->c.has & RDS_CMSG_BIT(RDS_CMSG_ZCOPY_COOKIE)) || !rq->len)
		return -EINVAL;
	rq->zcopy = true;
	return 0;
}

/* In the order in which a mistake is told when there are several */
static int check(struct request *rq, struct msghdr *msg)
{
	int err;

	if (rq->flags & ~FLAGS_KNOWN)
		return -EOPNOTSUPP;
	err = find_destination(rq, msg);
	if (!err && msg->msg_controllen)
		err = rds_cmsgs_parse(msg->msg_control, msg->msg_controllen, &rq->c);
	if (!err)
		err = check_size(rq);
	if (!err)
		err = check_zcopy(rq);
	if (!err && rq->c.refused)
		err = -EINVAL;
	if (!err && rq->c.has)
		err = rds_rdma_check(&rq->c);
	return err;
}

static struct rds_core_msg *make_message(struct request *rq, struct msghdr *m)
{
	struct rds_core_msg *msg;
	int err;

	if (rq->zcopy)
		return rds_msg_pin(rq->rs, &m->msg_iter, rq->len);
	msg = rds_msg_make(rq->len, GFP_KERNEL_ACCOUNT);
	if (!msg)
		return ERR_PTR(-ENOMEM);
	err = rds_msg_fill(msg, &m->msg_iter);
	if (!err)
		return msg;
	rds_msg_put(msg);
	return ERR_PTR(err);
}

static void cache_conn(struct rds_sock *rs, struct rds_core_conn *conn)
{
	struct rds_core_conn *old;

	kref_get(&conn->ref);
	spin_lock_bh(&rs->lock);
	old = rs->conn;
	rs->conn = conn;
	spin_unlock_bh(&rs->lock);
	if (old)
		rds_core_conn_put(old);
}

static int find_conn(struct request *rq)
{
	struct rds_sock *rs = rq->rs;
	struct rds_core_key key = {
		.net = sock_net(&rs->sk),
		.laddr = rs->laddr,
		.faddr = rq->to.ip,
		.scope = rs->scope,
		.tos = rs->tos,
	};
	struct rds_core_transport *transport = rs->transport;
	struct rds_core_conn *conn;

	if (transport->prefer_loop && rds_transport_local(key.net, &key.faddr, key.scope))
		transport = &rds_loop;
	/* Its module is held by the socket. */
	conn = rds_core_conn_get(transport, &key);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	rds_conn_use(conn);
	cache_conn(rs, conn);
	rq->conn = conn;
	return 0;
}

static bool try_list(struct request *rq, struct rds_core_conn *conn, struct rds_core_msg *msg)
{
	struct rds_sock *rs = rq->rs;
	bool room;

	if (conn->transport->loops)
		return rds_has_room(rs);
	spin_lock_bh(&rs->lock);
	room = rds_has_room(rs);
	if (room) {
		/* So that a peer that acknowledges late does so before the list is full */
		rs->unasked += msg->hdr.len;
		if (rs->unasked >= rds_sndbuf(rs) / 4) {
			msg->hdr.flags |= RDS_HDR_ACK_REQUIRED;
			rs->unasked = 0;
		}
		sock_hold(&rs->sk);
		rds_msg_get(msg);
		msg->rs = rs;
		msg->listed = true;
		list_add_tail(&msg->sock_entry, &rs->sends);
		rs->snd_bytes += msg->hdr.len;
		rs->nr_sends++;
	}
	spin_unlock_bh(&rs->lock);
	return room;
}

/* Into the send list, or over the loop past it */
static int list_message(struct request *rq, struct rds_core_conn *conn, struct rds_core_msg *msg)
{
	struct rds_sock *rs = rq->rs;
	long left;

	while (!try_list(rq, conn, msg)) {
		rds_stat(RDS_STAT_SEND_QUEUE_FULL);
		if (!rq->timeout)
			return -EAGAIN;
		left = wait_event_interruptible_timeout(*sk_sleep(&rs->sk), rds_has_room(rs),
							rq->timeout);
		if (left < 0)
			return sock_intr_errno(rq->timeout);
		if (!left)
			return -ETIMEDOUT;
		if (rq->timeout != MAX_SCHEDULE_TIMEOUT)
			rq->timeout = left;
	}
	return 0;
}

static int send_message(struct request *rq, struct rds_core_conn *conn, struct rds_core_msg *msg)
{
	struct rds_core_path *path = rds_spread_pick(rq->rs, conn, rq->to.port);
	int err;

	if (IS_ERR(path))
		return PTR_ERR(path);
	msg->path = path;
	msg->dport = rq->to.port;
	msg->hdr.sport = ntohs(rq->rs->lport);
	msg->hdr.dport = ntohs(rq->to.port);
	if (!conn->transport->loops)
		rds_path_wake(path);
	err = rds_cong_wait(rq->rs, conn, rq->to.port, &rq->timeout);
	if (!err)
		err = list_message(rq, conn, msg);
	if (err)
		return err;
	if (rq->zcopy)
		rds_zcopy_cookie(msg, rq->c.cookie);
	if (conn->transport->loops) {
		rds_loop_send(conn, msg);
	} else {
		rds_xmit_queue(path, msg);
		/* It may have gone down since, and had nothing to connect for. */
		rds_path_wake(path);
		rds_xmit_run(path);
	}
	return 0;
}

static int carry_out(struct request *rq, struct msghdr *m)
{
	struct rds_core_msg *msg = make_message(rq, m);
	int err = 0;

	if (IS_ERR(msg))
		return PTR_ERR(msg);
	if (!rq->conn)
		err = find_conn(rq);
	if (!err)
		err = send_message(rq, rq->conn, msg);
	rds_msg_put(msg);
	return err;
}

int rds_sendmsg(struct socket *sock, struct msghdr *m, size_t len)
{
	struct rds_sock *rs = rds_sk(sock->sk);
	struct request rq;
	int err;

	rq.rs = rs;
	rq.len = len;
	rq.flags = m->msg_flags;
	rq.zcopy = false;
	rq.timeout = sock_sndtimeo(&rs->sk, m->msg_flags & MSG_DONTWAIT);
	rq.c.has = 0;
	rq.c.refused = false;
	rq.conn = NULL;
	err = check(&rq, m) ?: carry_out(&rq, m);
	if (rq.conn)
		rds_core_conn_put(rq.conn);
	return err ?: len;
}
