// SPDX-License-Identifier: GPL-2.0
/* sendmsg. */
#include "core.h"

/* MSG_NOSIGNAL has no effect: no signal is ever sent. Some language run-times always set it. */
#define FLAGS_KNOWN	(MSG_DONTWAIT | MSG_ZEROCOPY | MSG_NOSIGNAL | MSG_CMSG_COMPAT)

/**
 * struct request - what a call of sendmsg asks for
 * @rs: socket
 * @to: where to
 * @len: bytes of payload
 * @flags: MSG_*
 * @timeout: jiffies that it may still wait
 * @c: control messages; NULL: none
 */
struct request {
	struct rds_sock *rs;
	struct rds_addr to;
	size_t len;
	unsigned int flags;
	long timeout;
	struct rds_cmsgs *c;
};

static int find_destination(struct request *rq, struct msghdr *msg)
{
	struct rds_sock *rs = rq->rs;
	unsigned int seq;
	int err;

	if (msg->msg_namelen) {
		err = rds_addr_parse(msg->msg_name, msg->msg_namelen, RDS_ADDR_SEND, &rq->to);
		if (err)
			return err;
	} else {
		do {
			seq = read_seqcount_begin(&rs->peer_seq);
			rq->to = rs->peer;
		} while (read_seqcount_retry(&rs->peer_seq, seq));
	}
	if (!rds_bound(rs) || rds_ip_is_any(&rq->to.ip))
		return -ENOTCONN;
	if (rds_ip_is_v4(&rq->to.ip) != rds_ip_is_v4(&rs->laddr))
		return -EOPNOTSUPP;
	if (rs->scope != rq->to.scope)
		return -EINVAL;
	return 0;
}

/* Few messages have any: others need no room for them on the stack, which takes time to clear. */
static int parse_control(struct request *rq, const struct msghdr *msg)
{
	rq->c = kmalloc(sizeof(*rq->c), GFP_KERNEL);
	if (!rq->c)
		return -ENOMEM;
	return rds_cmsgs_parse(msg->msg_control, msg->msg_controllen, rq->c);
}

static int check_size(struct request *rq)
{
	if (rq->len > RDS_MSG_MAX || rq->len > rds_sndbuf(rq->rs) ||
	    (rq->c && rds_rdma_size(rq->c) > RDS_MSG_MAX))
		return -EMSGSIZE;
	return 0;
}

/* Whoever has not switched zerocopy on gets a copy, and must not name it. */
static int check_zcopy(struct request *rq)
{
	bool named = rq->c && rq->c->has & RDS_CMSG_BIT(RDS_CMSG_ZCOPY_COOKIE);

	if (!(rq->flags & MSG_ZEROCOPY))
		return named ? -EINVAL : 0;
	if (!sock_flag(&rq->rs->sk, SOCK_ZEROCOPY))
		return -EINVAL;
	if (!rq->rs->transport->sends_zcopy)
		return -EOPNOTSUPP;
	return named && rq->len ? 0 : -EINVAL;
}

/* In the order in which a mistake is told when there are several */
static int check(struct request *rq, struct msghdr *msg)
{
	int err;

	if (rq->flags & ~FLAGS_KNOWN)
		return -EOPNOTSUPP;
	err = find_destination(rq, msg);
	if (!err && msg->msg_controllen)
		err = parse_control(rq, msg);
	if (!err)
		err = check_size(rq);
	if (!err)
		err = check_zcopy(rq);
	if (!err && rq->c)
		err = rq->c->refused ? -EINVAL : rds_rdma_check(rq->c);
	return err;
}

static struct rds_core_msg *make_message(struct request *rq, struct msghdr *m)
{
	struct rds_core_msg *msg;
	int err;

	if (rq->flags & MSG_ZEROCOPY)
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

static noinline struct rds_core_conn *find_conn(struct request *rq)
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
	if (!IS_ERR(conn))
		rds_conn_use(conn);
	return conn;
}

/*
 * The connection there, with a reference: that of the socket, if it leads there. Who else sends
 * before it is given back finds it in the table.
 */
static struct rds_core_conn *take_conn(struct request *rq)
{
	struct rds_core_conn *conn = xchg(&rq->rs->conn, NULL);

	if (conn && conn->tos == rq->rs->tos && rds_ip_equal(&conn->faddr, &rq->to.ip))
		return conn;
	if (conn)
		rds_core_conn_put(conn);
	return find_conn(rq);
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

static noinline int wait_for_room(struct request *rq)
{
	struct rds_sock *rs = rq->rs;

	rds_stat(RDS_STAT_SEND_QUEUE_FULL);
	if (!rq->timeout)
		return -EAGAIN;
	return rds_waited(wait_event_interruptible_timeout(*sk_sleep(&rs->sk), rds_has_room(rs),
							   rq->timeout), &rq->timeout);
}

/* Into the send list, or over the loop past it */
static int list_message(struct request *rq, struct rds_core_conn *conn, struct rds_core_msg *msg)
{
	int err = 0;

	while (!err && !try_list(rq, conn, msg))
		err = wait_for_room(rq);
	return err;
}

static int choose_path(struct request *rq, struct rds_core_conn *conn, struct rds_core_msg *msg)
{
	struct rds_core_path *path = rds_spread_pick(rq->rs, conn, rq->to.port);

	if (IS_ERR(path))
		return PTR_ERR(path);
	msg->path = path;
	rds_path_wake(path);
	return 0;
}

/* The message is gone then, also if it was not sent. */
static int send_message(struct request *rq, struct rds_core_conn *conn, struct rds_core_msg *msg)
{
	bool loops = conn->transport->loops;
	struct rds_core_path *path;
	int err = 0;

	msg->hdr.sport = ntohs(rq->rs->lport);
	msg->hdr.dport = ntohs(rq->to.port);
	if (!loops)
		err = choose_path(rq, conn, msg);
	if (!err && rds_cong_test(conn->fcong, rq->to.port))
		err = rds_cong_wait(rq->rs, conn, rq->to.port, &rq->timeout);
	if (!err)
		err = list_message(rq, conn, msg);
	if (err) {
		rds_msg_put(msg);
		return err;
	}
	if (rq->flags & MSG_ZEROCOPY)
		rds_zcopy_cookie(msg, rq->c->cookie);
	if (loops) {
		rds_loop_send(conn, msg, false);
		return 0;
	}
	path = msg->path;
	rds_xmit_queue(path, msg);
	rds_msg_put(msg);
	/* It may have gone down since, and had nothing to connect for. */
	rds_path_wake(path);
	rds_xmit_run(path);
	return 0;
}

static int carry_out(struct request *rq, struct msghdr *m)
{
	struct rds_core_msg *msg = make_message(rq, m);
	struct rds_core_conn *conn;
	int err;

	if (IS_ERR(msg))
		return PTR_ERR(msg);
	conn = take_conn(rq);
	if (IS_ERR(conn)) {
		rds_msg_put(msg);
		return PTR_ERR(conn);
	}
	err = send_message(rq, conn, msg);
	conn = xchg(&rq->rs->conn, conn);
	if (conn)
		rds_core_conn_put(conn);
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
	rq.timeout = sock_sndtimeo(&rs->sk, m->msg_flags & MSG_DONTWAIT);
	rq.c = NULL;
	err = check(&rq, m) ?: carry_out(&rq, m);
	kfree(rq.c);
	return err ?: len;
}
