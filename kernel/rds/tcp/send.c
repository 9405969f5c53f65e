// SPDX-License-Identifier: GPL-2.0
/*
 * Records into the byte stream, and when a message is the peer's.
 *
 * What a TCP has acknowledged is lost if the peer's socket ends before it is read. So two ends of
 * this implementation acknowledge messages in the headers; that they do so they tell each other in
 * the header of the map, which is the first record of each connection. Others read no extensions
 * there. Towards them the acknowledgment of TCP has to do.
 */
#include <linux/tcp.h>
#include <net/tcp.h>
#include "tcp.h"
#include "../../compat/tcp-send.h"

/* A mark of a message is 0, or this and the TCP sequence number behind its last byte. */
#define MARKED	BIT_ULL(32)

static u64 received(const struct rds_core_path *path)
{
	u64 next = READ_ONCE(path->next_rx);

	return next ? next - 1 : 0;
}

static void begin(struct rds_tcp_path *tp, const struct rds_hdr *hdr)
{
	struct rds_hdr h = *hdr;

	if (READ_ONCE(tp->peer) == RDS_TCP_PEER_ACKS) {
		h.ack = received(tp->path);
		WRITE_ONCE(tp->tx_acked, h.ack);
	} else {
		h.flags &= ~RDS_HDR_ACK_REQUIRED;
	}
	rds_hdr_pack(tp->tx_hdr, &h, false);
}

/*
 * There may have been room again before anybody could know that it was wanted. If there is room
 * and TCP takes nothing all the same it has no memory: not at once, then.
 */
static int wait_for_room(struct rds_tcp_path *tp)
{
	bool again = READ_ONCE(tp->blocked);

	rds_tcp_stat(RDS_TCP_STAT_SNDBUF_FULL);
	WRITE_ONCE(tp->blocked, true);
	smp_mb(); /* pairs with the lock of the socket, under which write_space() is called */
	if (!sk_stream_is_writeable(tp->sock->sk))
		return -EAGAIN;
	if (again)
		queue_delayed_work(rds_tcp_wq, &tp->ack_work, 1);
	else
		rds_core_path_writable(tp->path);
	return -EAGAIN;
}

/* What TCP said to a record: how many bytes it took, or -errno */
static int took(struct rds_tcp_path *tp, ssize_t sent)
{
	if (sent == -EAGAIN)
		return wait_for_room(tp);
	if (sent < 0)
		return sent;
	tp->tx_sent += sent;
	WRITE_ONCE(tp->blocked, false);
	return 0;
}

/* What is left of the header, and of @payload behind it, which is not in pages of its own */
static int send_flat(struct rds_tcp_path *tp, void *payload, u32 len, int flags)
{
	struct kvec v[2] = { { tp->tx_hdr, RDS_HDR_LEN }, { payload, len } };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL | flags };
	u32 total = RDS_HDR_LEN + len;
	int err = 0;

	while (!err && tp->tx_sent < total) {
		iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, v, len ? 2 : 1, total);
		iov_iter_advance(&msg.msg_iter, tp->tx_sent);
		err = took(tp, sock_sendmsg(tp->sock, &msg));
	}
	return err;
}

static int send_pages(struct rds_tcp_path *tp, struct rds_core_msg *msg)
{
	struct iov_iter iter;
	int err = 0;

	rds_core_msg_iter(msg, &iter);
	iov_iter_advance(&iter, tp->tx_sent - RDS_HDR_LEN);
	while (!err && iov_iter_count(&iter))
		err = took(tp, rnbd_tcp_send_pages(tp->sock, &iter));
	return err;
}

/* An acknowledgment that did not fit is before everything else. */
static int end_ack(struct rds_tcp_path *tp)
{
	int err = tp->tx_ack ? send_flat(tp, NULL, 0, 0) : 0;

	if (!err && tp->tx_ack) {
		tp->tx_ack = false;
		tp->tx_sent = 0;
	}
	return err;
}

static void sent_all(struct rds_tcp_path *tp)
{
	tp->tx_sent = 0;
	rds_tcp_watch(tp);
	if (READ_ONCE(tp->peer) == RDS_TCP_PEER_ACKS)
		return;
	smp_mb(); /* pairs with meet(): it finds the mark, or this finds what peer it is */
	rds_tcp_una(tp);
}

int rds_tcp_xmit(struct rds_core_path *path, struct rds_core_msg *msg)
{
	struct rds_tcp_path *tp = rds_tcp_path(path);
	int err = end_ack(tp);

	if (err)
		return err;
	/* It may be another peer than the one that had so many paths: meet() tells. */
	if (path->index && READ_ONCE(tp->peer) == RDS_TCP_PEER_UNKNOWN)
		return -EAGAIN;
	if (!tp->tx_sent)
		begin(tp, &msg->hdr);
	if (msg->nr_pages) {
		err = tp->tx_sent < RDS_HDR_LEN ? send_flat(tp, NULL, 0, MSG_MORE) : 0;
		err = err ?: send_pages(tp, msg);
	} else {
		err = send_flat(tp, rds_core_msg_flat(msg), msg->hdr.len, 0);
	}
	if (err)
		return err;
	WRITE_ONCE(msg->mark, MARKED | READ_ONCE(tcp_sk(tp->sock->sk)->write_seq));
	sent_all(tp);
	return 0;
}

int rds_tcp_xmit_map(struct rds_core_path *path, const void *bits)
{
	struct rds_tcp_path *tp = rds_tcp_path(path);
	struct rds_hdr h = { .len = RDS_MAP_LEN, .flags = RDS_HDR_MAP };
	unsigned int used = 0;
	int err = end_ack(tp);

	if (err)
		return err;
	if (!tp->tx_sent) {
		rds_ext_add(h.ext, &used, RDS_EXT_GENERATION, tp->generation);
		rds_ext_add(h.ext, &used, RDS_EXT_PATHS, tp->announced);
		rds_ext_add(h.ext, &used, RDS_EXT_PATH, path->index);
		rds_ext_add(h.ext, &used, RDS_EXT_ABILITIES, RDS_ABLE_ACK);
		begin(tp, &h);
	}
	err = send_flat(tp, (void *)bits, RDS_MAP_LEN, 0);
	if (!err)
		sent_all(tp);
	return err;
}

int rds_tcp_xmit_ack(struct rds_core_path *path)
{
	struct rds_tcp_path *tp = rds_tcp_path(path);
	struct rds_hdr h = { 0 };
	int err = end_ack(tp);

	if (err || !READ_ONCE(tp->ack_due))
		return err;
	WRITE_ONCE(tp->ack_due, false);
	if (received(path) == tp->tx_acked || READ_ONCE(tp->peer) != RDS_TCP_PEER_ACKS)
		return 0;
	begin(tp, &h);
	tp->tx_ack = true;
	return end_ack(tp);
}

void rds_tcp_ack_work(struct work_struct *work)
{
	struct rds_tcp_path *tp = container_of(work, struct rds_tcp_path, ack_work.work);

	if (received(tp->path) != READ_ONCE(tp->tx_acked))
		WRITE_ONCE(tp->ack_due, true);
	else if (!READ_ONCE(tp->blocked))
		return;
	rds_core_path_writable(tp->path);
}

static bool before_una(const struct rds_core_msg *msg, u64 una)
{
	u64 mark = READ_ONCE(msg->mark);

	return mark && !after((u32)mark, (u32)una);
}

void rds_tcp_una(struct rds_tcp_path *tp)
{
	if (READ_ONCE(tp->peer) != RDS_TCP_PEER_PLAIN)
		return;
	/* TCP tells of each acknowledgment from now on. One may have come already. */
	set_bit(SOCK_NOSPACE, &tp->sock->flags);
	smp_mb__after_atomic(); /* pairs with tcp_check_space() */
	rds_core_path_acked(tp->path, before_una, READ_ONCE(tcp_sk(tp->sock->sk)->snd_una));
}

static bool before_seq(const struct rds_core_msg *msg, u64 seq)
{
	return msg->hdr.seq <= seq;
}

void rds_tcp_acked(struct rds_tcp_path *tp, u64 seq)
{
	/* Of what was never sent the peer has nothing. */
	if (seq < READ_ONCE(tp->path->next_tx))
		rds_core_path_acked(tp->path, before_seq, seq);
}
