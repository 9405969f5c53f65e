// SPDX-License-Identifier: GPL-2.0
/*
 * The login on the service connection: INFO_REQ has our name, INFO_RSP the buffers of the server.
 */
#include "connect.h"

static void info_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_client_con *con = rtrs_client_con_of(wc->qp);

	if (wc->status != IB_WC_SUCCESS) {
		rtrs_client_wc_failed(con, wc, "login");
		return;
	}
	if (wc->opcode != IB_WC_RECV) {
		rtrs_client_path_error(con->path, -EPROTO);
		return;
	}
	con->path->info_len = wc->byte_len;
	rtrs_client_step_done(con->path);
}

static void info_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_client_con *con = rtrs_client_con_of(wc->qp);

	if (wc->status == IB_WC_SUCCESS)
		rtrs_client_con_give(con, con->path->bounce_slots ? 2 : 1);
	else
		rtrs_client_wc_failed(con, wc, "login");
}

/* As many as may be in use, or were: they come back with requests that wait for the path. */
static u32 slots_needed(const struct rtrs_client_path *path)
{
	const struct rtrs_client_session *session = path->session;
	u32 depth = path->geo.queue_depth;

	/* Fewer than before: the user takes them by another order. */
	return depth < session->attrs.queue_depth ? depth : READ_ONCE(session->granted);
}

/* The path frees both buffers when it is drained: until then the queue pair may use them. */
int rtrs_client_info(struct rtrs_client_path *path)
{
	struct rtrs_client_con *con = path->con[0];
	struct ib_send_wr *head = NULL;
	struct ib_reg_wr reg;
	int err;

	path->info_rx = rtrs_iu_alloc(path->dev, 1, rtrs_info_rsp_size(path->geo.queue_depth),
				      DMA_FROM_DEVICE, info_received);
	path->info_tx = rtrs_iu_alloc(path->dev, 1, sizeof(struct rtrs_msg_info_req),
				      DMA_TO_DEVICE, info_sent);
	if (!path->info_rx || !path->info_tx)
		return -ENOMEM;
	err = rtrs_client_step_begin(path);
	if (err)
		return err;
	err = rtrs_post_recv_iu(&con->c, path->info_rx);
	if (err)
		return err;
	rtrs_info_req_pack(path->info_tx->buf, path->session->name);
	if (path->grants)
		rtrs_put_le16(&((struct rtrs_msg_info_req *)path->info_tx->buf)->slots,
			      slots_needed(path));
	if (rtrs_client_bounce_reg(path, &reg))
		head = &reg.wr;
	atomic_sub(head ? 2 : 1, &con->credits);
	err = rtrs_post_send_iu(&con->c, path->info_tx, sizeof(struct rtrs_msg_info_req), head);
	if (err)
		return err;
	err = rtrs_client_step_wait(path, path->timeout_ms);
	if (err)
		return err;
	ib_dma_sync_single_for_cpu(path->dev->ib_dev, path->info_rx->dma, path->info_rx->size,
				   DMA_FROM_DEVICE);
	err = rtrs_info_rsp_parse(path->info_rx->buf, path->info_len, &path->geo, path->chunk);
	path->granted = path->geo.queue_depth;
	if (!err && path->grants) {
		path->granted = rtrs_info_rsp_slots(path->info_rx->buf, &path->geo);
		err = path->granted ? 0 : -EINVAL;
	}
	return err;
}
