// SPDX-License-Identifier: GPL-2.0
/*
 * Frames out of the receive queue. Small messages are copied, and their buffers used again; of
 * large ones the pages are kept until they are read. A connection begins with few buffers and gets
 * more while its peer sends much at a time.
 */
#include <linux/slab.h>
#include "rdma.h"

/* A payload of so many bytes is copied. */
#define COPY_MAX	1024
#define RETRY		(HZ / 50)
/* Without a burst for so long the buffers become few again. */
#define CALM		(10 * HZ)
/* Larger messages of strangers that are not complete */
#define STRANGERS_ROOM	(64 * RDS_MSG_MAX)
static atomic_t strangers_bytes;

/**
 * struct rds_rdma_inc - a message that comes in
 * @inc: core's part
 * @nr: pages that it has
 * @page: them
 * @flat: payload, if it is small
 */
struct rds_rdma_inc {
	struct rds_core_inc inc;
	unsigned int nr;
	union {
		DECLARE_FLEX_ARRAY(struct page *, page);
		DECLARE_FLEX_ARRAY(u8, flat);
	};
};

static struct rds_rdma_inc *inc_of(struct rds_core_inc *inc)
{
	return container_of(inc, struct rds_rdma_inc, inc);
}

static int inc_copy(struct rds_core_inc *inc, struct iov_iter *to)
{
	size_t left = min_t(size_t, inc->hdr.len, iov_iter_count(to)), n;
	struct rds_rdma_inc *ri = inc_of(inc);
	unsigned int i;

	if (inc->hdr.len <= COPY_MAX)
		return copy_to_iter(ri->flat, left, to) == left ? 0 : -EFAULT;
	for (i = 0; left; i++, left -= n) {
		n = min_t(size_t, left, RDS_FRAG_LEN);
		if (copy_page_to_iter(ri->page[i], 0, n, to) != n)
			return -EFAULT;
	}
	return 0;
}

static void inc_free(struct rds_core_inc *inc)
{
	struct rds_rdma_inc *ri = inc_of(inc);

	while (ri->nr)
		__free_page(ri->page[--ri->nr]);
	kfree(ri);
}

static const struct rds_core_inc_ops inc_ops = {
	.copy = inc_copy,
	.free = inc_free,
};

static void unreserve(struct rds_rdma_link *link)
{
	atomic_sub(link->reserved, &strangers_bytes);
	link->reserved = 0;
}

/* All of a message before its first byte */
static bool reserve(struct rds_rdma_link *link, u32 len)
{
	if (READ_ONCE(link->path->conn->used) || len <= COPY_MAX)
		return true;
	link->reserved = len;
	return atomic_add_return(len, &strangers_bytes) <= STRANGERS_ROOM;
}

static struct rds_rdma_inc *inc_make(struct rds_rdma_link *link, const struct rds_hdr *h)
{
	size_t room = h->len <= COPY_MAX ? h->len :
		      DIV_ROUND_UP(h->len, RDS_FRAG_LEN) * sizeof(struct page *);
	struct rds_rdma_inc *ri = kmalloc(sizeof(*ri) + room, GFP_ATOMIC | __GFP_NOWARN);

	if (!ri || !reserve(link, h->len)) {
		kfree(ri);
		return NULL;
	}
	rds_core_inc_init(&ri->inc, link->path->conn, &inc_ops, h);
	ri->nr = 0;
	return ri;
}

/* What was begun is no more. */
static void forget(struct rds_rdma_link *link)
{
	unreserve(link);
	if (link->inc)
		inc_free(&link->inc->inc);
	kfree(link->map);
	link->inc = NULL;
	link->map = NULL;
	link->coming = false;
}

static void rx_free(struct rds_rdma_link *link, struct rds_rdma_rx *rx)
{
	rx->next = link->rx_free;
	link->rx_free = rx;
}

static bool page_give(struct rds_rdma_link *link, struct rds_rdma_rx *rx, gfp_t gfp)
{
	struct ib_device *dev = link->id->device;

	if (rx->page) {
		ib_dma_sync_single_for_device(dev, rx->dma, RDS_FRAG_LEN, DMA_FROM_DEVICE);
		return true;
	}
	rx->page = alloc_page(gfp | __GFP_NOWARN);
	if (!rx->page)
		return false;
	rx->dma = ib_dma_map_page(dev, rx->page, 0, RDS_FRAG_LEN, DMA_FROM_DEVICE);
	if (!ib_dma_mapping_error(dev, rx->dma))
		return true;
	__free_page(rx->page);
	rx->page = NULL;
	return false;
}

static int rx_post(struct rds_rdma_link *link, struct rds_rdma_rx *rx)
{
	struct ib_sge sge[] = {
		{ link->rx_hdr_dma + (rx - link->rx) * RDS_RDMA_HDR_ROOM, RDS_HDR_LEN,
		  link->pd->local_dma_lkey },
		{ rx->dma, RDS_FRAG_LEN, link->pd->local_dma_lkey },
	};
	struct ib_recv_wr wr = { .wr_cqe = &rx->cqe, .sg_list = sge, .num_sge = 2 };

	ib_dma_sync_single_for_device(link->id->device, sge[0].addr, RDS_HDR_LEN, DMA_FROM_DEVICE);
	return ib_post_recv(link->id->qp, &wr, NULL);
}

/* Under rx_lock. A socket that has far too much to read gets no more. */
void rds_rdma_refill(struct rds_rdma_link *link, gfp_t gfp)
{
	while (link->posted < link->want && link->rx_free && !link->broken &&
	       !smp_load_acquire(&link->path->stopped)) { /* pairs with rds_recv_resume() */
		struct rds_rdma_rx *rx = link->rx_free;

		if (!page_give(link, rx, gfp)) {
			rds_rdma_stat(RDS_RDMA_STAT_RX_ALLOC_LIMIT);
			queue_delayed_work(rds_rdma_wq, &link->refill_work, RETRY);
			break;
		}
		/* Completions come with rx_lock taken: not before it is off the list. */
		if (rx_post(link, rx))
			break;
		link->rx_free = rx->next;
		link->posted++;
		atomic_inc(&link->offered);
	}
	/* The peer must not come to its last credit. */
	if (link->flow && atomic_read(&link->offered) * 2 >= link->posted && link->posted)
		rds_rdma_ack_send(link);
}

void rds_rdma_refill_work(struct work_struct *work)
{
	struct rds_rdma_link *link = container_of(work, struct rds_rdma_link, refill_work.work);

	rds_rdma_stat(RDS_RDMA_STAT_RX_REFILL_FROM_THREAD);
	spin_lock_bh(&link->rx_lock);
	rds_rdma_refill(link, GFP_ATOMIC);
	spin_unlock_bh(&link->rx_lock);
	rds_rdma_unblock(link);
}

void rds_rdma_resume(struct rds_core_path *path)
{
	struct rds_rdma_path *rp = rds_rdma_path(path);

	spin_lock_bh(&rds_rdma_lock);
	if (rp->link)
		mod_delayed_work(rds_rdma_wq, &rp->link->refill_work, 0);
	spin_unlock_bh(&rds_rdma_lock);
}

void rds_rdma_rx_purge(struct rds_rdma_link *link)
{
	unsigned int i;

	forget(link);
	for (i = 0; i < link->nr_recvs; i++) {
		if (!link->rx[i].page)
			continue;
		ib_dma_unmap_page(link->id->device, link->rx[i].dma, RDS_FRAG_LEN,
				  DMA_FROM_DEVICE);
		__free_page(link->rx[i].page);
	}
}

static bool before_seq(const struct rds_core_msg *msg, u64 seq)
{
	return msg->hdr.seq <= seq;
}

/* -EPROTO: the peer has what was never sent. */
static int acked(struct rds_rdma_link *link, u64 seq)
{
	if (seq == link->acked)
		return 0;
	if (seq >= READ_ONCE(link->path->next_tx))
		return -EPROTO;
	link->acked = seq;
	rds_core_path_acked(link->path, before_seq, seq);
	return 0;
}

/* The first frame of a message, or of a map */
static int begin(struct rds_rdma_link *link, const struct rds_hdr *h)
{
	link->h = *h;
	link->have = 0;
	link->coming = true;
	if (!rds_hdr_is_map(h)) {
		link->inc = inc_make(link, h);
		return link->inc ? 0 : -ENOMEM;
	}
	/* Of another length: ignored, as others do. */
	if (h->len != RDS_MAP_LEN)
		return 0;
	link->map = kmalloc(RDS_MAP_LEN, GFP_ATOMIC | __GFP_NOWARN);
	return link->map ? 0 : -ENOMEM;
}

/* @n bytes of the buffer; a page that is full, or nearly, is the message's then. */
static void keep(struct rds_rdma_link *link, struct rds_rdma_rx *rx, u32 n)
{
	struct ib_device *dev = link->id->device;

	if (!n || (!link->map && !link->inc))
		return;
	if (link->inc && link->h.len > COPY_MAX) {
		ib_dma_unmap_page(dev, rx->dma, RDS_FRAG_LEN, DMA_FROM_DEVICE);
		link->inc->page[link->inc->nr++] = rx->page;
		rx->page = NULL;
		return;
	}
	ib_dma_sync_single_for_cpu(dev, rx->dma, RDS_FRAG_LEN, DMA_FROM_DEVICE);
	memcpy(link->map ? link->map + link->have : link->inc->flat + link->have,
	       page_address(rx->page), n);
}

static int whole(struct rds_rdma_link *link)
{
	struct rds_rdma_inc *ri = link->inc;
	int err = 0;

	link->inc = NULL;
	if (link->map) {
		/* A change that is not known would leave senders waiting. */
		err = rds_core_map_received(link->path->conn, link->map, ~0ULL);
	} else if (ri) {
		rds_rdma_stat(RDS_RDMA_STAT_RX_TOTAL_INCS);
		WRITE_ONCE(link->rx_seq, link->h.seq);
		/* What was posted comes still; nothing more is posted until it is to go on. */
		rds_core_receive(link->path, &ri->inc);
		if (link->h.flags & RDS_HDR_ACK_REQUIRED)
			rds_rdma_ack_asked(link);
	}
	forget(link);
	return err;
}

static int frame(struct rds_rdma_link *link, struct rds_rdma_rx *rx, const struct ib_wc *wc)
{
	size_t at = (rx - link->rx) * RDS_RDMA_HDR_ROOM;
	struct rds_hdr h;
	int err, n;

	if (wc->opcode != IB_WC_RECV)
		return -EPROTO;
	ib_dma_sync_single_for_cpu(link->id->device, link->rx_hdr_dma + at, RDS_HDR_LEN,
				   DMA_FROM_DEVICE);
	err = rds_frame_parse(link->rx_hdr + at, wc->byte_len, &h) ?: acked(link, h.ack);
	if (err)
		return err;
	if (h.credit) {
		rds_rdma_stat(RDS_RDMA_STAT_RX_CREDIT_UPDATES);
		/* More than anybody has buffers is no reason to count beyond a number's end. */
		if (atomic_add_return(h.credit, &link->credits) > RDS_FRAGS_MAX * 256)
			return -EPROTO;
	}
	/* The kernel's module sends these between the fragments of a message, too. */
	if (rds_frame_is_ack(&h)) {
		rds_rdma_stat(RDS_RDMA_STAT_ACK_RECEIVED);
		return 0;
	}
	err = link->coming ? 0 : begin(link, &h);
	if (err)
		return err;
	n = rds_frag_take(&link->h, link->have, &h, wc->byte_len - RDS_HDR_LEN);
	if (n < 0)
		return n;
	rds_rdma_stat(RDS_RDMA_STAT_RX_TOTAL_FRAGS);
	keep(link, rx, n);
	link->have += n;
	return link->have == link->h.len ? whole(link) : 0;
}

/* Many frames at a time: more buffers. None for a while: few. */
static void grow(struct rds_rdma_link *link)
{
	if (time_after(jiffies, link->burst_at)) {
		if (time_after(jiffies, link->burst_at + CALM))
			link->want = RDS_RDMA_RECVS_FIRST;
		link->burst_at = jiffies;
		link->burst = 0;
	}
	if (++link->burst > link->want / 2)
		link->want = min(link->want * 2, link->nr_recvs);
}

/* 0; -ENOMEM; -ECONNRESET: the queue pair has ended; -EPROTO: such a frame nobody may send. */
static int taken(struct rds_rdma_link *link, struct rds_rdma_rx *rx, const struct ib_wc *wc)
{
	int err;

	if (wc->status == IB_WC_WR_FLUSH_ERR)
		return -ECONNRESET;
	err = wc->status == IB_WC_SUCCESS ? frame(link, rx, wc) : -EPROTO;
	if (!err || err == -ENOMEM)
		return err;
	rds_rdma_stat(RDS_RDMA_STAT_DROP_BAD_FRAME);
	return -EPROTO;
}

void rds_rdma_rx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rds_rdma_rx *rx = container_of(wc->wr_cqe, struct rds_rdma_rx, cqe);
	struct rds_rdma_link *link = cq->cq_context;
	int err = 0;

	rds_rdma_stat(RDS_RDMA_STAT_RX_CQ_EVENT);
	spin_lock_bh(&link->rx_lock);
	link->posted--;
	if (!link->broken)
		err = taken(link, rx, wc);
	rx_free(link, rx);
	if (err) {
		link->broken = true;
		rds_rdma_link_drop(link, err);
	}
	if (!link->posted)
		rds_rdma_stat(RDS_RDMA_STAT_RX_RING_EMPTY);
	grow(link);
	rds_rdma_refill(link, GFP_ATOMIC);
	spin_unlock_bh(&link->rx_lock);
	rds_rdma_unblock(link);
}
