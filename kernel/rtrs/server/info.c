// SPDX-License-Identifier: GPL-2.0
/*
 * INFO, the last step of a handshake: the name of the session comes, the regions
 * are registered, the path is up, the client learns where it may write to. There
 * is no way to say no but to close the path. What has to wait is -EINPROGRESS: the work
 * ends, and runs again when that is over.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "server.h"

static void info_req_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_iu *iu = container_of(wc->wr_cqe, struct rtrs_iu, cqe);
	struct rtrs_server_con *con = wc->qp->qp_context;
	struct rtrs_server_path *path = con->path;

	if (wc->status != IB_WC_SUCCESS) {
		rtrs_server_path_close(path, -ECONNRESET);
		return;
	}
	ib_dma_sync_single_for_cpu(path->dev->ib_dev, iu->dma, iu->size, iu->dir);
	if (wc->opcode != IB_WC_RECV || rtrs_info_req_parse(iu->buf, wc->byte_len, path->name)) {
		path_err(path, "bad INFO request\n");
		rtrs_server_path_close(path, -EINVAL);
		return;
	}
	queue_delayed_work(path->info.wq, &path->info.work, 0);
}

static void info_rsp_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_server_con *con = wc->qp->qp_context;

	if (wc->status == IB_WC_SUCCESS)
		rtrs_server_con_credit(con, 1);
	else
		rtrs_server_path_close(con->path, -ECONNRESET);
}

int rtrs_server_info_alloc(struct rtrs_server_path *path)
{
	path->reg_cqe.done = rtrs_server_regions_done;
	path->info_req = rtrs_iu_alloc(path->dev, 1, sizeof(struct rtrs_msg_info_req),
				       DMA_FROM_DEVICE, info_req_done);
	return path->info_req ? 0 : -ENOMEM;
}

void rtrs_server_info_free(struct rtrs_server_path *path)
{
	rtrs_iu_free(path->dev, path->info_req, 1);
	rtrs_iu_free(path->dev, path->info_rsp, 1);
	path->info_req = NULL;
	path->info_rsp = NULL;
}

static int send_rsp(struct rtrs_server_path *path)
{
	struct rtrs_server_con *con = path->con[0];
	struct rtrs_msg_info_rsp *rsp = path->info_rsp->buf;
	int err = -ECONNABORTED;
	u32 i;

	rtrs_info_rsp_pack_head(rsp, path->region_count);
	if (path->grants)
		rtrs_put_le32(&rsp->slots, path->want);
	for (i = 0; i < path->region_count; i++) {
		const struct rtrs_desc desc = {
			.addr	= path->mr[i]->iova,
			.rkey	= path->mr[i]->rkey,
			.len	= path->region_chunks * rtrs_server_geo.chunk_size,
		};

		rtrs_desc_pack(&rsp->desc[i], &desc);
	}
	spin_lock_irq(&con->send_lock);
	if (!con->dead && con->credits) {
		con->credits--;
		err = rtrs_post_send_iu(&con->base, path->info_rsp, path->info_rsp->size, NULL);
		/* What is sent from now on comes after it. */
		WRITE_ONCE(path->told_info, !err);
	}
	spin_unlock_irq(&con->send_lock);
	return err;
}

/* Chunks that the client needs at once. The session may have more, which are another path's. */
static u32 chunks_needed(const struct rtrs_server_path *path)
{
	const struct rtrs_msg_info_req *req = path->info_req->buf;
	u32 depth = rtrs_server_geo.queue_depth;

	if (!path->grants)
		return depth;
	return clamp_t(u32, rtrs_get_le16(&req->slots), rtrs_slots_first(depth), depth);
}

/* What is much comes now: a connect request is all that many a host can send. */
static int get_memory(struct rtrs_server_path *path)
{
	struct rtrs_server_session *session = path->session;
	int err = -EPROTO;

	mutex_lock(&session->lock);
	if (path->con_count == path->con_num)
		err = rtrs_server_chunks_get(session, path->dev->ib_dev, chunks_needed(path));
	if (!err) {
		WRITE_ONCE(path->want, session->chunk_count);
		path->fits = true;
		path->usable = path->want;
	}
	mutex_unlock(&session->lock);
	if (!err)
		err = rtrs_server_ops_alloc(path);
	if (!err)
		err = rtrs_server_buf_map(path, path->want);
	if (err)
		return err;
	path->info_rsp = rtrs_iu_alloc(path->dev, 1, rtrs_info_rsp_size(path->region_count),
				       DMA_TO_DEVICE, info_rsp_done);
	return path->info_rsp ? 0 : -ENOMEM;
}

static int begin(struct rtrs_server_path *path)
{
	int err;
	u32 i;

	err = get_memory(path);
	for (i = 0; i < path->con_num && !err; i++)
		err = rtrs_server_con_post_recvs(path->con[i]);
	return err;
}

static int info(struct rtrs_server_path *path)
{
	int err = path->ops ? 0 : begin(path);

	if (!err)
		err = rtrs_server_regions_fit(path);
	if (!err)
		err = rtrs_server_session_path_up(path);
	if (err)
		return err;
	if (!rtrs_server_path_connected(path))
		return -ECONNABORTED;
	err = send_rsp(path);
	/* Not before: the client has one receive, for that. Nothing once the worker stopped it. */
	if (!err)
		rtrs_hb_start(&path->hb);
	rtrs_server_slots_kick(path->session);
	return err;
}

/* The worker that closes the path waits for this one; what was done here it undoes. */
void rtrs_server_info_work(struct work_struct *work)
{
	struct rtrs_server_path *path = container_of(to_delayed_work(work), struct rtrs_server_path,
						     info.work);
	int err;

	rtrs_server_wait_end(&path->info);
	if (path->told_info) {
		rtrs_server_slots_fit(path);
		return;
	}
	err = info(path);
	if (!err || err == -EINPROGRESS)
		return;
	if (READ_ONCE(path->state) != RTRS_SERVER_PATH_CLOSING)
		path_err(path, "session '%*pE' refused: %pe\n", (int)strlen(path->name), path->name,
			 ERR_PTR(err));
	rtrs_server_path_close(path, err);
}
