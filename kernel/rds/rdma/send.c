// SPDX-License-Identifier: GPL-2.0
/*
 * Frames into the send queue: a header, and up to 4096 bytes of a message or of a map. And
 * acknowledgments: each frame carries one; alone they go when nothing else does.
 */
#include <linux/slab.h>
#include "rdma.h"

/* The peer is asked to acknowledge the first message, and each that follows after so many. */
#define UNASKED_MAX	8
/* At least one of so many entries tells when it is done. */
#define UNSIGNALED_MAX	16
/* An acknowledgment waits so long for a message that goes back. */
#define ACK_DELAY	1	/* jiffies */

static struct rds_rdma_link *link_of(const struct rds_core_path *path)
{
	return rds_rdma_path(path)->link;
}

static void tx_free(struct rds_rdma_link *link, struct rds_rdma_tx *tx)
{
	if (tx->len)
		ib_dma_unmap_page(link->id->device, tx->dma, tx->len, DMA_TO_DEVICE);
	if (tx->page)
		__free_page(tx->page);
	if (tx->msg)
		rds_core_msg_put(tx->msg);
	if (tx->ack)
		WRITE_ONCE(link->ack_flying, false);
	tx->len = 0;
	tx->page = NULL;
	tx->msg = NULL;
	tx->ack = false;
}

void rds_rdma_tx_purge(struct rds_rdma_link *link)
{
	while (link->tx_tail != link->tx_head)
		tx_free(link, &link->tx[link->tx_tail++ % link->nr_sends]);
}

void rds_rdma_unblock(struct rds_rdma_link *link)
{
	smp_mb(); /* pairs with is_blocked() */
	if (READ_ONCE(link->blocked)) {
		WRITE_ONCE(link->blocked, false);
		rds_core_path_writable(link->path);
	}
}

/*
 * Of a queue pair that the device has given up some devices tell in no other way than by entries
 * that are flushed.
 */
static int wc_error(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_RETRY_EXC_ERR:
		return -ETIMEDOUT;
	case IB_WC_WR_FLUSH_ERR:
		return -ECONNRESET;
	default:
		return -EIO;
	}
}

/* Entries are done in order: this one, and those before it that do not tell. */
void rds_rdma_tx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rds_rdma_tx *tx = container_of(wc->wr_cqe, struct rds_rdma_tx, cqe), *t;
	struct rds_rdma_link *link = cq->cq_context;
	u32 tail = link->tx_tail;

	rds_rdma_stat(RDS_RDMA_STAT_TX_CQ_EVENT);
	if (wc->status != IB_WC_SUCCESS)
		rds_rdma_link_drop(link, wc_error(wc->status));
	do {
		t = &link->tx[tail++ % link->nr_sends];
		tx_free(link, t);
	} while (t != tx);
	smp_store_release(&link->tx_tail, tail); /* pairs with has_entry() */
	rds_rdma_unblock(link);
	if (READ_ONCE(link->ack_now))
		rds_core_path_writable(link->path);
}

static bool has_entry(const struct rds_rdma_link *link)
{
	/* pairs with rds_rdma_tx_done() */
	return link->tx_head - smp_load_acquire(&link->tx_tail) < link->nr_sends;
}

/* The last credit is for a frame that grants some itself. */
static bool has_credit(const struct rds_rdma_link *link)
{
	int n = link->flow ? atomic_read(&link->credits) : 2;

	return n > 1 || (n && atomic_read(&link->offered));
}

/* What was missing may have come before anybody could know that it was wanted. */
static bool is_blocked(struct rds_rdma_link *link)
{
	if (has_entry(link) && has_credit(link))
		return false;
	rds_rdma_stat(has_entry(link) ? RDS_RDMA_STAT_TX_THROTTLE : RDS_RDMA_STAT_TX_RING_FULL);
	WRITE_ONCE(link->blocked, true);
	smp_mb(); /* pairs with rds_rdma_unblock() */
	return !(has_entry(link) && has_credit(link));
}

static u8 credits_grant(struct rds_rdma_link *link)
{
	int n;

	if (!link->flow)
		return 0;
	atomic_dec(&link->credits);
	n = min(atomic_read(&link->offered), 255);
	atomic_sub(n, &link->offered);
	if (n)
		rds_rdma_stat(RDS_RDMA_STAT_TX_CREDIT_UPDATES);
	return n;
}

/*
 * The frame acknowledges what has come. A message that does so in time shows that there is no need
 * of acknowledgments alone.
 */
static u64 ack_take(struct rds_rdma_link *link, bool alone)
{
	if (alone) {
		link->ack_at = jiffies;
	} else if (READ_ONCE(link->ack_wanted)) {
		rds_rdma_stat(RDS_RDMA_STAT_ACK_SEND_PIGGYBACKED);
		WRITE_ONCE(link->quick, false);
	} else if (link->quick && time_before_eq(jiffies, link->ack_at + ACK_DELAY)) {
		WRITE_ONCE(link->quick, false);
	}
	WRITE_ONCE(link->ack_wanted, false);
	WRITE_ONCE(link->ack_now, false);
	smp_mb(); /* pairs with rds_rdma_ack_asked(): this finds its number, or it asks again */
	return READ_ONCE(link->rx_seq);
}

/* An entry was filled in: it is the device's from now on. */
static int post(struct rds_rdma_link *link, struct rds_rdma_tx *tx, const struct rds_hdr *hdr,
		bool last)
{
	u32 i = link->tx_head % link->nr_sends;
	u8 *bytes = link->tx_hdr + i * RDS_RDMA_HDR_ROOM;
	struct ib_sge sge[] = {
		{ link->tx_hdr_dma + i * RDS_RDMA_HDR_ROOM, RDS_HDR_LEN,
		  link->pd->local_dma_lkey },
		{ tx->dma, tx->len, link->pd->local_dma_lkey },
	};
	struct ib_send_wr wr = {
		.wr_cqe = &tx->cqe,
		.sg_list = sge,
		.num_sge = tx->len ? 2 : 1,
		.opcode = IB_WR_SEND,
		/* Who waits for a whole message alone looks when this is set. */
		.send_flags = last ? IB_SEND_SOLICITED | IB_SEND_SIGNALED : 0,
	};
	struct rds_hdr h = *hdr;
	int err;

	h.ack = ack_take(link, tx->ack);
	h.credit = credits_grant(link);
	rds_hdr_pack(bytes, &h, true);
	ib_dma_sync_single_for_device(link->id->device, sge[0].addr, RDS_HDR_LEN, DMA_TO_DEVICE);
	if (++link->unsignaled >= UNSIGNALED_MAX)
		wr.send_flags |= IB_SEND_SIGNALED;
	if (wr.send_flags & IB_SEND_SIGNALED)
		link->unsignaled = 0;
	err = ib_post_send(link->id->qp, &wr, NULL);
	if (err)
		tx_free(link, tx);
	else
		link->tx_head++;
	return err;
}

static int map_error(struct rds_rdma_link *link, struct rds_rdma_tx *tx)
{
	tx->len = 0;
	tx_free(link, tx);
	rds_rdma_stat(RDS_RDMA_STAT_TX_SG_MAPPING_FAILURE);
	return -EIO;
}

static struct rds_rdma_tx *next_entry(struct rds_rdma_link *link)
{
	return &link->tx[link->tx_head % link->nr_sends];
}

/* @n bytes of the message from @at on: they are in one page, or behind the structure. */
static int frag_map(struct rds_rdma_link *link, struct rds_rdma_tx *tx, struct rds_core_msg *msg,
		    u32 at, u32 n)
{
	struct ib_device *dev = link->id->device;

	rds_core_msg_get(msg);
	tx->msg = msg;
	tx->len = n;
	if (!n)
		return 0;
	if (msg->nr_pages)
		tx->dma = ib_dma_map_page(dev, msg->page[at / PAGE_SIZE].bv_page, at % PAGE_SIZE, n,
					  DMA_TO_DEVICE);
	else
		tx->dma = ib_dma_map_single(dev, rds_core_msg_flat(msg) + at, n, DMA_TO_DEVICE);
	return ib_dma_mapping_error(dev, tx->dma) ? map_error(link, tx) : 0;
}

int rds_rdma_xmit(struct rds_core_path *path, struct rds_core_msg *msg)
{
	struct rds_rdma_link *link = link_of(path);
	struct rds_hdr h = msg->hdr;
	struct rds_rdma_tx *tx;
	bool last;
	int err;
	u32 n;

	do {
		if (is_blocked(link))
			return -EAGAIN;
		if (!link->unasked)
			h.flags |= RDS_HDR_ACK_REQUIRED;
		n = min_t(u32, h.len - link->tx_sent, RDS_FRAG_LEN);
		last = link->tx_sent + n == h.len;
		tx = next_entry(link);
		err = frag_map(link, tx, msg, link->tx_sent, n) ?: post(link, tx, &h, last);
		if (err)
			return err;
		link->tx_sent += n;
	} while (!last);
	link->tx_sent = 0;
	link->unasked = h.flags & RDS_HDR_ACK_REQUIRED ? UNASKED_MAX : link->unasked - 1;
	return 0;
}

/* A copy: the map changes meanwhile. */
static int piece_map(struct rds_rdma_link *link, struct rds_rdma_tx *tx, const void *bits)
{
	struct ib_device *dev = link->id->device;

	tx->page = alloc_page(GFP_NOIO);
	if (!tx->page)
		return -ENOMEM;
	memcpy(page_address(tx->page), bits, RDS_FRAG_LEN);
	tx->len = RDS_FRAG_LEN;
	tx->dma = ib_dma_map_page(dev, tx->page, 0, tx->len, DMA_TO_DEVICE);
	return ib_dma_mapping_error(dev, tx->dma) ? map_error(link, tx) : 0;
}

int rds_rdma_xmit_map(struct rds_core_path *path, const void *bits)
{
	const struct rds_hdr h = { .len = RDS_MAP_LEN, .flags = RDS_HDR_MAP };
	struct rds_rdma_link *link = link_of(path);
	struct rds_rdma_tx *tx;
	bool last;
	int err;

	do {
		if (is_blocked(link))
			return -EAGAIN;
		last = link->tx_sent + RDS_FRAG_LEN == RDS_MAP_LEN;
		tx = next_entry(link);
		err = piece_map(link, tx, bits + link->tx_sent) ?: post(link, tx, &h, last);
		if (err)
			return err;
		link->tx_sent += RDS_FRAG_LEN;
	} while (!last);
	link->tx_sent = 0;
	return 0;
}

/* One at a time: while it is on its way others are one. */
int rds_rdma_xmit_ack(struct rds_core_path *path)
{
	static const struct rds_hdr h;
	struct rds_rdma_link *link = link_of(path);
	struct rds_rdma_tx *tx;
	int err;

	if (!READ_ONCE(link->ack_now))
		return 0;
	if (READ_ONCE(link->ack_flying)) {
		rds_rdma_stat(RDS_RDMA_STAT_ACK_SEND_DELAYED);
		return 0;
	}
	if (is_blocked(link))
		return -EAGAIN;
	tx = next_entry(link);
	tx->ack = true;
	WRITE_ONCE(link->ack_flying, true);
	rds_rdma_stat(RDS_RDMA_STAT_ACK_SENT);
	err = post(link, tx, &h, true);
	if (err)
		rds_rdma_stat(RDS_RDMA_STAT_ACK_SEND_FAILURE);
	return err;
}

void rds_rdma_ack_send(struct rds_rdma_link *link)
{
	WRITE_ONCE(link->ack_now, true);
	rds_core_path_writable(link->path);
}

void rds_rdma_ack_asked(struct rds_rdma_link *link)
{
	bool again = READ_ONCE(link->ack_wanted);

	WRITE_ONCE(link->ack_wanted, true);
	smp_mb(); /* pairs with ack_take() */
	if (again)
		WRITE_ONCE(link->quick, true);
	if (READ_ONCE(link->quick))
		rds_rdma_ack_send(link);
	else
		queue_delayed_work(rds_rdma_wq, &link->ack_work, ACK_DELAY);
}

void rds_rdma_ack_work(struct work_struct *work)
{
	struct rds_rdma_link *link = container_of(work, struct rds_rdma_link, ack_work.work);

	if (!READ_ONCE(link->ack_wanted))
		return;
	WRITE_ONCE(link->quick, true);
	rds_rdma_ack_send(link);
}
