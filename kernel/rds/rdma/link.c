// SPDX-License-Identifier: GPL-2.0
/* A link: its queue pair, its rings, and the order in which they end. */
#include <linux/log2.h>
#include <linux/slab.h>
#include "rdma.h"

#define SGES	2	/* header and payload */

const char *rds_rdma_lacks(const struct ib_device *dev)
{
	if (dev->attrs.max_send_sge < SGES || dev->attrs.max_recv_sge < SGES)
		return "room for a header and a payload in a work request";
	if (dev->attrs.max_qp_wr <= 2 * RDS_RDMA_RECVS_FIRST)
		return "queues that are long enough";
	return NULL;
}

struct rds_rdma_link *rds_rdma_link_make(void)
{
	struct rds_rdma_link *link = kzalloc(sizeof(*link), GFP_KERNEL_ACCOUNT);

	if (!link)
		return NULL;
	spin_lock_init(&link->rx_lock);
	INIT_DELAYED_WORK(&link->ack_work, rds_rdma_ack_work);
	INIT_DELAYED_WORK(&link->refill_work, rds_rdma_refill_work);
	return link;
}

void rds_rdma_link_drop(struct rds_rdma_link *link, int why)
{
	if (!READ_ONCE(link->closing))
		rds_core_path_drop(link->path, why);
}

/* A frame came before the message that the connection is there, which may be lost. */
static void qp_event(struct ib_event *event, void *arg)
{
	struct rds_rdma_link *link = arg;

	rds_rdma_stat(RDS_RDMA_STAT_EVT_HANDLER_CALL);
	if (event->event == IB_EVENT_COMM_EST)
		rdma_notify(link->id, IB_EVENT_COMM_EST);
}

/* Headers of @nr entries, for the device; they begin at cache lines of their own. */
static u8 *hdrs_make(struct ib_device *dev, u32 nr, dma_addr_t *dma, enum dma_data_direction dir)
{
	u8 *hdrs = kcalloc(nr, RDS_RDMA_HDR_ROOM, GFP_KERNEL);

	if (!hdrs)
		return NULL;
	*dma = ib_dma_map_single(dev, hdrs, nr * RDS_RDMA_HDR_ROOM, dir);
	if (!ib_dma_mapping_error(dev, *dma))
		return hdrs;
	kfree(hdrs);
	return NULL;
}

static void hdrs_free(struct ib_device *dev, u8 *hdrs, u32 nr, dma_addr_t dma,
		      enum dma_data_direction dir)
{
	if (hdrs)
		ib_dma_unmap_single(dev, dma, nr * RDS_RDMA_HDR_ROOM, dir);
	kfree(hdrs);
}

static int rings_make(struct rds_rdma_link *link)
{
	struct ib_device *dev = link->id->device;
	u32 most = dev->attrs.max_qp_wr - 1;	/* one is for ib_drain_qp() */
	unsigned int i;

	link->nr_sends = rounddown_pow_of_two(min_t(u32, RDS_RDMA_SENDS, most));
	link->nr_recvs = min_t(u32, RDS_RDMA_RECVS, most);
	link->want = RDS_RDMA_RECVS_FIRST;
	link->burst_at = jiffies;
	link->tx = kcalloc(link->nr_sends, sizeof(*link->tx), GFP_KERNEL);
	link->rx = kcalloc(link->nr_recvs, sizeof(*link->rx), GFP_KERNEL);
	link->tx_hdr = hdrs_make(dev, link->nr_sends, &link->tx_hdr_dma, DMA_TO_DEVICE);
	link->rx_hdr = hdrs_make(dev, link->nr_recvs, &link->rx_hdr_dma, DMA_FROM_DEVICE);
	if (!link->tx || !link->rx || !link->tx_hdr || !link->rx_hdr)
		return -ENOMEM;
	for (i = 0; i < link->nr_sends; i++)
		link->tx[i].cqe.done = rds_rdma_tx_done;
	for (i = link->nr_recvs; i-- > 0;) {
		link->rx[i].cqe.done = rds_rdma_rx_done;
		link->rx[i].next = link->rx_free;
		link->rx_free = &link->rx[i];
	}
	return 0;
}

static int qp_make(struct rds_rdma_link *link)
{
	struct ib_qp_init_attr init = {
		.event_handler = qp_event,
		.qp_context = link,
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap.max_send_wr = link->nr_sends + 1,
		.cap.max_recv_wr = link->nr_recvs + 1,
		.cap.max_send_sge = SGES,
		.cap.max_recv_sge = SGES,
	};
	struct ib_device *dev = link->id->device;

	link->pd = ib_alloc_pd(dev, 0);
	if (IS_ERR(link->pd)) {
		int err = PTR_ERR(link->pd);

		link->pd = NULL;
		return err;
	}
	link->cq = ib_alloc_cq_any(dev, link, init.cap.max_send_wr + init.cap.max_recv_wr,
				   IB_POLL_SOFTIRQ);
	if (IS_ERR(link->cq)) {
		int err = PTR_ERR(link->cq);

		link->cq = NULL;
		return err;
	}
	init.send_cq = link->cq;
	init.recv_cq = link->cq;
	return rdma_create_qp(link->id, link->pd, &init);
}

/* With the handler lock held. What an error leaves behind is for rds_rdma_link_end(). */
int rds_rdma_link_setup(struct rds_rdma_link *link)
{
	int err = rings_make(link) ?: qp_make(link);

	if (err)
		return err;
	spin_lock_bh(&link->rx_lock);
	rds_rdma_refill(link, GFP_ATOMIC);
	spin_unlock_bh(&link->rx_lock);
	return link->posted ? 0 : -ENOMEM;
}

static void rings_free(struct rds_rdma_link *link)
{
	struct ib_device *dev = link->id->device;

	if (link->tx)
		rds_rdma_tx_purge(link);
	if (link->rx)
		rds_rdma_rx_purge(link);
	hdrs_free(dev, link->tx_hdr, link->nr_sends, link->tx_hdr_dma, DMA_TO_DEVICE);
	hdrs_free(dev, link->rx_hdr, link->nr_recvs, link->rx_hdr_dma, DMA_FROM_DEVICE);
	kfree(link->tx);
	kfree(link->rx);
}

/*
 * When the handler lock has been free no handler uses the link, and none will. Nothing is posted
 * behind what ib_drain_qp() waits for.
 */
void rds_rdma_link_end(struct rds_rdma_link *link)
{
	rdma_lock_handler(link->id);
	WRITE_ONCE(link->closing, true);
	rdma_unlock_handler(link->id);
	spin_lock_bh(&link->rx_lock);
	link->broken = true;
	spin_unlock_bh(&link->rx_lock);
	if (link->id->qp) {
		rdma_disconnect(link->id);
		ib_drain_qp(link->id->qp);
	}
	cancel_delayed_work_sync(&link->ack_work);
	cancel_delayed_work_sync(&link->refill_work);
	if (link->id->qp)
		rdma_destroy_qp(link->id);
	if (link->cq)
		ib_free_cq(link->cq);
	rings_free(link);
	if (link->pd)
		ib_dealloc_pd(link->pd);
	rdma_destroy_id(link->id);
	kfree(link);
}
