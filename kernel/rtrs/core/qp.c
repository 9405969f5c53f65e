// SPDX-License-Identifier: GPL-2.0
/* Queue pairs and the few ways to post that both ends share. */
#include <linux/export.h>
#include "core.h"
#include "fit.h"
#include "rxe.h"

static int cq_create(struct rtrs_con *con, const struct rtrs_qp_params *params)
{
	struct ib_device *ib_dev = con->cm_id->device;
	int vector = params->vector % max_t(int, ib_dev->num_comp_vectors, 1);
	struct ib_cq *cq;

	con->private_cq = params->private_cq || params->poll_ctx == IB_POLL_DIRECT;
	if (con->private_cq)
		cq = ib_alloc_cq(ib_dev, con, con->cqe_count, vector, params->poll_ctx);
	else
		cq = ib_cq_pool_get(ib_dev, con->cqe_count, vector, params->poll_ctx);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	con->cq = cq;
	return 0;
}

static void cq_destroy(struct rtrs_con *con)
{
	if (!con->cq)
		return;
	if (con->private_cq)
		ib_free_cq(con->cq);
	else
		ib_cq_pool_put(con->cq, con->cqe_count);
	con->cq = NULL;
}

/*
 * IB_EVENT_COMM_EST: a message of the peer arrived before its RTU, which may be lost. rdma_cm takes
 * the event for the RTU. Any context. Events end with rdma_destroy_qp(), before the CM id goes.
 */
static void qp_event(struct ib_event *event, void *qp_context)
{
	struct rtrs_con *con = qp_context;

	if (event->event == IB_EVENT_COMM_EST)
		rdma_notify(con->cm_id, IB_EVENT_COMM_EST);
}

static int qp_create(struct rtrs_con *con, const struct rtrs_qp_params *params)
{
	struct ib_qp_init_attr init = {
		.event_handler = qp_event,
		.qp_context = con,
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap.max_recv_sge = 1,
		.cap.max_send_sge = con->max_send_sge,
		.cap.max_send_wr = con->max_send_wr + 1,
		.cap.max_recv_wr = con->max_recv_wr + 1,
	};
	int err;

	con->cqe_count = init.cap.max_send_wr + init.cap.max_recv_wr;
	if (con->cqe_count > con->cm_id->device->attrs.max_cqe)
		return -EOPNOTSUPP;

	err = cq_create(con, params);
	if (err)
		return err;
	init.send_cq = con->cq;
	init.recv_cq = con->cq;
	err = rdma_create_qp(con->cm_id, con->dev->pd, &init);
	if (err) {
		cq_destroy(con);
		return err;
	}
	con->qp = con->cm_id->qp;
	rtrs_rxe_set_ack_timeout(con->cm_id);
	return 0;
}

/*
 * Maxima of a device need not hold together: a send queue of mlx5 has no room for max_qp_wr entries
 * of max_send_sge. Smaller ones are tried until the driver takes one.
 */
int rtrs_qp_create(struct rtrs_con *con, const struct rtrs_qp_params *params)
{
	const struct ib_device_attr *attrs = &con->cm_id->device->attrs;
	u32 wr_max = attrs->max_qp_wr - 1;	/* one is for ib_drain_qp() */
	int err;

	con->max_send_wr = min(params->max_send_wr, wr_max);
	con->max_recv_wr = min(params->max_recv_wr, wr_max);
	con->max_send_sge = min_t(u32, params->max_send_sge, attrs->max_send_sge);
	if (con->max_send_wr < params->min_send_wr || con->max_send_sge < params->min_send_sge)
		return -EOPNOTSUPP;
	do {
		err = qp_create(con, params);
	} while ((err == -ENOMEM || err == -EINVAL) &&
		 rtrs_fit_send_queue(&con->max_send_wr, params->min_send_wr,
				     &con->max_send_sge, params->min_send_sge));
	return err;
}
EXPORT_SYMBOL_GPL(rtrs_qp_create);

void rtrs_qp_destroy(struct rtrs_con *con)
{
	if (con->qp) {
		rdma_destroy_qp(con->cm_id);
		con->qp = NULL;
	}
	cq_destroy(con);
}
EXPORT_SYMBOL_GPL(rtrs_qp_destroy);

bool rtrs_wc_tells(const struct rtrs_con *con, const struct ib_wc *wc)
{
	return wc->status != IB_WC_WR_FLUSH_ERR ||
	       !rdma_protocol_iwarp(con->cm_id->device, con->cm_id->port_num);
}
EXPORT_SYMBOL_GPL(rtrs_wc_tells);

int rtrs_post_recv_iu(struct rtrs_con *con, struct rtrs_iu *iu)
{
	struct ib_sge sge = {
		.addr = iu->dma,
		.length = iu->size,
		.lkey = con->dev->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &iu->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ib_post_recv(con->qp, &wr, NULL);
}
EXPORT_SYMBOL_GPL(rtrs_post_recv_iu);

int rtrs_post_recv_empty(struct rtrs_con *con, struct ib_cqe *cqe)
{
	struct ib_recv_wr wr = {
		.wr_cqe = cqe,
	};

	return ib_post_recv(con->qp, &wr, NULL);
}
EXPORT_SYMBOL_GPL(rtrs_post_recv_empty);

int rtrs_post_send_iu(struct rtrs_con *con, struct rtrs_iu *iu, u32 len, struct ib_send_wr *head)
{
	struct ib_sge sge = {
		.addr = iu->dma,
		.length = len,
		.lkey = con->dev->pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.wr_cqe = &iu->cqe,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct ib_send_wr *last;

	if (WARN_ON_ONCE(len > iu->size))
		return -EINVAL;
	ib_dma_sync_single_for_device(con->dev->ib_dev, iu->dma, len, iu->dir);
	if (!head)
		return ib_post_send(con->qp, &wr, NULL);
	for (last = head; last->next; last = last->next)
		;
	last->next = &wr;
	return ib_post_send(con->qp, head, NULL);
}
EXPORT_SYMBOL_GPL(rtrs_post_send_iu);

int rtrs_post_probe(struct rtrs_con *con, struct ib_cqe *cqe)
{
	struct ib_rdma_wr wr = {
		.wr.wr_cqe = cqe,
		.wr.opcode = IB_WR_RDMA_WRITE,
		.wr.send_flags = IB_SEND_SIGNALED,
	};

	return ib_post_send(con->qp, &wr.wr, NULL);
}
EXPORT_SYMBOL_GPL(rtrs_post_probe);

int rtrs_post_imm(struct rtrs_con *con, struct ib_cqe *cqe, u32 imm, bool signalled)
{
	struct ib_rdma_wr wr = {
		.wr.wr_cqe = cqe,
		.wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM,
		.wr.send_flags = signalled ? IB_SEND_SIGNALED : 0,
		.wr.ex.imm_data = cpu_to_be32(imm),
	};

	return ib_post_send(con->qp, &wr.wr, NULL);
}
EXPORT_SYMBOL_GPL(rtrs_post_imm);
