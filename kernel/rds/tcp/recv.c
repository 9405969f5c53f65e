// SPDX-License-Identifier: GPL-2.0
/*
 * Records out of the byte stream: a header of 48 bytes, and the payload. Small messages are copied
 * when they arrive; of large ones the socket buffers are kept until they are read.
 */
#include <linux/tcp.h>
#include <net/tcp.h>
#include "tcp.h"

/* A payload of so many bytes is copied: a socket buffer takes more memory than that. */
#define COPY_MAX	1024
/* So large are the buffers that copies of pieces share, if the message is. */
#define COPY_ROOM	((u32)SKB_WITH_OVERHEAD(4096))
#define RETRY(conn)	((conn)->used ? HZ / 50 : HZ / 2)
/* Larger messages of strangers that are not complete: so much at a time, the others wait. */
#define STRANGERS_ROOM	(64 * RDS_MSG_MAX)
static atomic_t strangers_bytes;

/**
 * struct rds_tcp_inc - a message that comes in
 * @inc: core's part
 * @skbs: buffers that have the payload, each with struct piece
 * @flat: payload, if it is small
 */
struct rds_tcp_inc {
	struct rds_core_inc inc;
	struct sk_buff_head skbs;
	u8 flat[];
};

/* Which part of a buffer belongs to the message, and whether there is room for more behind it */
struct piece {
	unsigned int offset;
	unsigned int len;
	bool copied;
};

static struct piece *piece_of(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct piece) > sizeof(skb->cb));
	return (struct piece *)skb->cb;
}

static struct rds_tcp_inc *inc_of(struct rds_core_inc *inc)
{
	return container_of(inc, struct rds_tcp_inc, inc);
}

static int inc_copy(struct rds_core_inc *inc, struct iov_iter *to)
{
	struct rds_tcp_inc *ti = inc_of(inc);
	size_t left = min_t(size_t, inc->hdr.len, iov_iter_count(to)), n;
	struct sk_buff *skb;

	if (inc->hdr.len <= COPY_MAX)
		return copy_to_iter(ti->flat, left, to) == left ? 0 : -EFAULT;
	skb_queue_walk(&ti->skbs, skb) {
		struct piece *p = piece_of(skb);

		n = min_t(size_t, left, p->len);
		if (skb_copy_datagram_iter(skb, p->offset, to, n))
			return -EFAULT;
		left -= n;
		if (!left)
			break;
	}
	return 0;
}

static void inc_free(struct rds_core_inc *inc)
{
	struct rds_tcp_inc *ti = inc_of(inc);

	__skb_queue_purge(&ti->skbs);
	kfree(ti);
}

static const struct rds_core_inc_ops inc_ops = {
	.copy = inc_copy,
	.free = inc_free,
};

static void unreserve(struct rds_tcp_rx *rx)
{
	if (rx->reserved)
		atomic_sub(rx->reserved, &strangers_bytes);
	rx->reserved = 0;
}

/* All of a message before its first byte: who has begun can end. */
static bool reserve(struct rds_tcp_path *tp, u32 len)
{
	if (READ_ONCE(tp->path->conn->used) || len <= COPY_MAX)
		return true;
	tp->rx.reserved = len;
	if (atomic_add_return(len, &strangers_bytes) <= STRANGERS_ROOM)
		return true;
	unreserve(&tp->rx);
	return false;
}

void rds_tcp_rx_reset(struct rds_tcp_rx *rx)
{
	unreserve(rx);
	if (rx->inc)
		inc_free(&rx->inc->inc);
	kfree(rx->map);
	memset(rx, 0, sizeof(*rx));
}

static struct rds_tcp_inc *inc_make(struct rds_tcp_path *tp, const struct rds_hdr *h)
{
	struct rds_tcp_inc *ti;

	ti = kmalloc(struct_size(ti, flat, h->len <= COPY_MAX ? h->len : 0),
		     GFP_ATOMIC | __GFP_NOWARN);
	if (!ti || !reserve(tp, h->len)) {
		kfree(ti);
		return NULL;
	}
	rds_core_inc_init(&ti->inc, tp->path->conn, &inc_ops, h);
	__skb_queue_head_init(&ti->skbs);
	return ti;
}

static void agree(struct rds_tcp_path *tp, unsigned int paths)
{
	struct rds_core_conn *conn = tp->path->conn;
	unsigned int nr = clamp(min(paths, tp->announced), 1U, (unsigned int)RDS_CORE_PATHS);

	if (nr != READ_ONCE(conn->nr_paths))
		rds_core_conn_paths(conn, nr);
}

/*
 * The first map says what kind of peer it is, each one whether it is the same as before. 0; -EXDEV:
 * the other end is another path. It knew of one alone when this connected: the first path tells it
 * of the others.
 */
static int meet(struct rds_tcp_path *tp, const struct rds_hdr *h)
{
	struct rds_core_path *path = tp->path;
	struct rds_ext e;
	bool told;

	rds_ext_parse(h->ext, &e);
	if (tp->peer == RDS_TCP_PEER_UNKNOWN)
		agree(tp, e.has & BIT_ULL(RDS_EXT_PATHS) ? e.paths : 1);
	if (e.has & BIT_ULL(RDS_EXT_PATH) && e.path != path->index) {
		rds_core_path_call(&path->conn->path);
		return -EXDEV;
	}
	told = e.has & BIT_ULL(RDS_EXT_GENERATION);
	/* One that tells none is another one, too: the kernel's own, in place of ours. */
	if (tp->peer_told && (!told || e.generation != tp->peer_generation))
		rds_core_path_forget(path);
	tp->peer_generation = e.generation;
	tp->peer_told = told;
	if (tp->peer != RDS_TCP_PEER_UNKNOWN)
		return 0;
	if (e.abilities & RDS_ABLE_ACK) {
		WRITE_ONCE(tp->peer, RDS_TCP_PEER_ACKS);
	} else {
		WRITE_ONCE(tp->peer, RDS_TCP_PEER_PLAIN);
		smp_mb(); /* pairs with sent_all() */
		rds_tcp_una(tp);
	}
	if (path->index)
		rds_core_path_writable(path);
	return 0;
}

/* What may be an acknowledgment alone; only of a peer that does acknowledge */
static bool is_ack(const struct rds_hdr *h)
{
	return !h->seq && !h->len && !h->sport && !h->dport && !h->flags;
}

/* 0; -ENOMEM: once more, later; -EPROTO: this is no record; -EXDEV: see meet(). */
static int header(struct rds_tcp_path *tp)
{
	struct rds_tcp_rx *rx = &tp->rx;
	struct rds_hdr *h = &rx->h;
	int err = 0;

	if (rds_hdr_parse(rx->hdr, RDS_HDR_LEN, h))
		return -EPROTO;
	if (tp->peer == RDS_TCP_PEER_ACKS)
		rds_tcp_acked(tp, h->ack);
	if (rds_hdr_is_map(h)) {
		/* Of another length: ignored, as others do. */
		if (h->len == RDS_MAP_LEN) {
			/* Changes come over the first path: what others have may be older. */
			if (!tp->path->index) {
				rx->map = kmalloc(RDS_MAP_LEN, GFP_ATOMIC | __GFP_NOWARN);
				if (!rx->map)
					return -ENOMEM;
			}
			err = meet(tp, h);
		}
	} else if (tp->peer != RDS_TCP_PEER_ACKS || !is_ack(h)) {
		rx->inc = inc_make(tp, h);
		if (!rx->inc)
			return -ENOMEM;
	}
	rx->left = h->len;
	return err;
}

/*
 * A message is acknowledged by the next one that goes back, or alone if none does in time. The work
 * is queued in any case: who transmits may just be taking back @ack_due.
 */
static void acknowledge(struct rds_tcp_path *tp, u8 flags)
{
	if (tp->peer != RDS_TCP_PEER_ACKS)
		return;
	if (flags & RDS_HDR_ACK_REQUIRED) {
		WRITE_ONCE(tp->ack_due, true);
		rds_core_path_writable(tp->path);
	}
	queue_delayed_work(rds_tcp_wq, &tp->ack_work, RDS_TCP_ACK_DELAY);
}

/* True: go on. */
static bool finish(struct rds_tcp_path *tp)
{
	struct rds_tcp_rx *rx = &tp->rx;
	struct rds_tcp_inc *inc = rx->inc;
	u8 flags = rx->h.flags;
	bool go_on = true;

	rx->hdr_have = 0;
	rx->inc = NULL;
	unreserve(rx);
	if (rx->map) {
		/* A change that is not known would leave senders waiting. */
		if (rds_core_map_received(tp->path->conn, rx->map, ~0ULL))
			rds_core_path_drop(tp->path, -ENOMEM);
		kfree(rx->map);
		rx->map = NULL;
	} else if (inc) {
		go_on = rds_core_receive(tp->path, &inc->inc);
		acknowledge(tp, flags);
	}
	return go_on;
}

static int keep(struct rds_tcp_inc *inc, struct sk_buff *skb, unsigned int offset, unsigned int n)
{
	struct sk_buff *clone = skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);

	if (!clone)
		return -ENOMEM;
	*piece_of(clone) = (struct piece){ .offset = offset, .len = n };
	__skb_queue_tail(&inc->skbs, clone);
	return 0;
}

static int copy(struct rds_tcp_rx *rx, struct sk_buff *skb, unsigned int offset, unsigned int n)
{
	struct sk_buff *to = skb_peek_tail(&rx->inc->skbs);

	if (!to || !piece_of(to)->copied || skb_tailroom(to) < n) {
		to = alloc_skb(max(n, min(rx->left, COPY_ROOM)), GFP_ATOMIC | __GFP_NOWARN);
		if (!to)
			return -ENOMEM;
		*piece_of(to) = (struct piece){ .copied = true };
		__skb_queue_tail(&rx->inc->skbs, to);
	}
	piece_of(to)->len += n;
	return skb_copy_bits(skb, offset, skb_put(to, n), n);
}

static int take_payload(struct rds_tcp_rx *rx, struct sk_buff *skb, unsigned int offset,
			unsigned int n)
{
	u32 at = rx->h.len - rx->left;

	if (rx->map)
		return skb_copy_bits(skb, offset, rx->map + at, n);
	if (!rx->inc)
		return 0;
	if (rx->h.len <= COPY_MAX)
		return skb_copy_bits(skb, offset, rx->inc->flat + at, n);
	/* A peer that sends a byte at a time would have a buffer kept for each. */
	if (n <= COPY_ROOM && n < skb->truesize / 4)
		return copy(rx, skb, offset, n);
	return keep(rx->inc, skb, offset, n);
}

/* Of the header or of the payload, as far as they go. How many bytes, or -errno */
static int take(struct rds_tcp_path *tp, struct sk_buff *skb, unsigned int offset, size_t len)
{
	struct rds_tcp_rx *rx = &tp->rx;
	unsigned int n;
	int err;

	if (rx->hdr_have < RDS_HDR_LEN) {
		n = min_t(size_t, len, RDS_HDR_LEN - rx->hdr_have);
		err = skb_copy_bits(skb, offset, rx->hdr + rx->hdr_have, n);
		if (!err && rx->hdr_have + n == RDS_HDR_LEN)
			err = header(tp);
		if (err)
			return err;
		rx->hdr_have += n;
		return n;
	}
	n = min_t(size_t, len, rx->left);
	err = take_payload(rx, skb, offset, n);
	if (err)
		return err;
	rx->left -= n;
	return n;
}

static void refuse(struct rds_tcp_path *tp, int why)
{
	tp->rx.broken = true;
	rds_tcp_stat(why == -EXDEV ? RDS_TCP_STAT_CONNECT_RACED : RDS_TCP_STAT_DROP_BAD_RECORD);
	rds_core_path_drop(tp->path, why);
}

/* Ends with desc->count 0 when no more is to be read now. */
static int actor(read_descriptor_t *desc, struct sk_buff *skb, unsigned int offset, size_t len)
{
	struct rds_tcp_path *tp = desc->arg.data;
	size_t done = 0;
	int n;

	while (done < len && desc->count) {
		n = take(tp, skb, offset + done, len - done);
		if (n < 0) {
			desc->error = n;
			desc->count = 0;
			break;
		}
		done += n;
		if (tp->rx.hdr_have == RDS_HDR_LEN && !tp->rx.left && !finish(tp) &&
		    !desc->written)
			desc->count = 0;
	}
	return done;
}

/* @all: also what a socket has no room for */
void rds_tcp_read(struct rds_tcp_path *tp, struct sock *sk, bool all)
{
	read_descriptor_t desc = { .count = 1, .written = all, .arg.data = tp };

	if (tp->rx.broken || (READ_ONCE(tp->path->stopped) && !all))
		return;
	tcp_read_sock(sk, &desc, actor);
	if (desc.error == -ENOMEM && !all)
		queue_delayed_work(rds_tcp_wq, &tp->recv_work, RETRY(tp->path->conn));
	else if (desc.error && desc.error != -ENOMEM)
		refuse(tp, desc.error);
}

void rds_tcp_recv_work(struct work_struct *work)
{
	struct rds_tcp_path *tp = container_of(work, struct rds_tcp_path, recv_work.work);

	mutex_lock(&tp->path->sending);
	if (tp->sock) {
		lock_sock(tp->sock->sk);
		rds_tcp_read(tp, tp->sock->sk, false);
		release_sock(tp->sock->sk);
	}
	mutex_unlock(&tp->path->sending);
}

void rds_tcp_resume(struct rds_core_path *path)
{
	mod_delayed_work(rds_tcp_wq, &rds_tcp_path(path)->recv_work, 0);
}
