// SPDX-License-Identifier: GPL-2.0
/*
 * Operations, from the request to the answer: take the slot, invalidate the chunk,
 * copy and parse the header, hand over. In the end the slot is let go, and the
 * reference on the path is put.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/export.h>
#include <linux/mm.h>
#include "server.h"

static void sync_for_cpu(const struct rtrs_server_op *op, u32 off, u32 len)
{
	if (len)
		ib_dma_sync_single_for_cpu(op->path->dev->ib_dev, op->path->dma[op->slot] + off,
					   len, DMA_BIDIRECTIONAL);
}

/*
 * The client cannot write to what is looked at: it is copied, as all of an eager request is, or
 * its MR is invalid. A retry is begun by the worker of another path: its own may be leaving its
 * RDMA device.
 */
static int op_parse(struct rtrs_server_op *op)
{
	u8 hdr[RTRS_READ_HDR_MAX];
	u32 len = min_t(u32, sizeof(hdr), rtrs_server_geo.chunk_size - op->off);
	u8 *chunk = rtrs_server_chunk(op->path, op->slot);
	int err;

	if (unlikely(READ_ONCE(op->con->dead)))
		return -ECONNABORTED;
	if (unlikely(rtrs_server_fence_spoilt(op, NULL)))
		return -ESTALE;
	sync_for_cpu(op, op->off, len);
	memcpy(hdr, chunk + op->off, len);
	err = rtrs_request_parse(hdr, len, op->off, &op->req);
	if (err)
		return err;
	if (unlikely(rtrs_server_fence_spoilt(op, &op->req)))
		return -ESTALE;
	if (op->req.usr_len > RTRS_SERVER_USR_MAX)
		return -EMSGSIZE;
	sync_for_cpu(op, op->req.data_len, op->req.usr_len);
	memcpy(op->usr, chunk + op->req.data_len, op->req.usr_len);
	if (op->eager && op->req.data_len > op->path->eager_bytes)
		return -EMSGSIZE;
	if (op->req.is_read)
		return 0;
	sync_for_cpu(op, 0, op->req.data_len);
	if (op->eager)
		memcpy(op->copy, chunk, op->req.data_len);
	return 0;
}

static void op_run(struct rtrs_server_op *op)
{
	struct rtrs_server_session *session = op->path->session;
	struct rtrs_server_request req;
	int err;

	rcu_read_lock();
	err = op_parse(op);
	rcu_read_unlock();
	if (err == -ECONNABORTED) {
		rtrs_server_op_drop(op);
		return;
	}
	if (err == -EMSGSIZE || err == -ESTALE) {
		rtrs_server_respond(op, err);
		return;
	}
	if (err) {
		path_err(op->path, "bad request for slot %u\n", op->slot);
		rtrs_server_path_close(op->path, -EBADMSG);
		rtrs_server_op_drop(op);
		return;
	}
	rtrs_server_stats_begin(op->path, op->req.is_read, op->req.data_len + op->req.usr_len);
	req = (struct rtrs_server_request) {
		.op		= op,
		.slot		= op->slot,
		.is_read	= op->req.is_read,
		.usr		= op->usr,
		.usr_len	= op->req.usr_len,
		.data		= op->eager ? op->copy : rtrs_server_chunk(op->path, op->slot),
		.data_len	= op->req.data_len,
	};
	session->srv->ops->request(session->priv, &req);
}

static void inv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_server_op *op = container_of(wc->wr_cqe, struct rtrs_server_op, inv_cqe);
	struct rtrs_server_con *con = op->con;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		rtrs_server_wc_failed(con, wc, "invalidation");
		rtrs_server_op_drop(op);
		return;
	}
	rtrs_server_con_credit(con, 1);
	WRITE_ONCE(con->handling, true);
	op_run(op);
	WRITE_ONCE(con->handling, false);
}

/*
 * The slot is the operation's. Looks at the grant behind the full barrier of the cmpxchg() that
 * took the slot: see may_shrink() in slots.c.
 */
void rtrs_server_op_begin(struct rtrs_server_op *op)
{
	if (unlikely(op->slot >= READ_ONCE(op->path->usable))) {
		path_err(op->path, "slot %u was not granted\n", op->slot);
		rtrs_server_path_close(op->path, -EPROTO);
		rtrs_server_op_drop(op);
		return;
	}
	if (!rtrs_server_new_rkey || op->eager) {
		op_run(op);
		return;
	}
	op->stage = RTRS_SERVER_OP_INVALIDATE;
	rtrs_server_con_submit(op->con, op);
}

/* A request came. Where the path closes it is forgotten: no answer would arrive. */
void rtrs_server_op_start(struct rtrs_server_con *con, u32 slot, u32 off)
{
	struct rtrs_server_path *path = con->path;
	struct rtrs_server_op *op = &path->ops[slot];

	if (unlikely(READ_ONCE(path->state) != RTRS_SERVER_PATH_CONNECTED)) {
		if (READ_ONCE(path->state) == RTRS_SERVER_PATH_CONNECTING)
			path_err(path, "request before INFO\n");
		rtrs_server_path_close(path, -EPROTO);
		return;
	}
	if (unlikely(!percpu_ref_tryget_live(&path->inflight)))
		return;
	this_cpu_inc(path->counts->inflight);
	WRITE_ONCE(con->begun, con->begun + 1);

	switch (rtrs_server_fence_enter(op, con, off)) {
	case RTRS_SERVER_SLOT_RUN:
		rtrs_server_op_begin(op);
		break;
	case RTRS_SERVER_SLOT_REFUSE:
		if (READ_ONCE(path->state) == RTRS_SERVER_PATH_CONNECTED)
			path_err(path, "slot %u is used twice\n", slot);
		rtrs_server_path_close(path, -EPROTO);
		rtrs_server_op_put(path, 1);
		break;
	default:
		break;
	}
}

void rtrs_server_respond(struct rtrs_server_op *op, int err)
{
	op->err = err;
	op->stage = RTRS_SERVER_OP_RESPOND;
	rtrs_server_con_submit(op->con, op);
}
EXPORT_SYMBOL_GPL(rtrs_server_respond);

const struct rtrs_path_addr *rtrs_server_op_addr(const struct rtrs_server_op *op)
{
	return &op->path->addr;
}
EXPORT_SYMBOL_GPL(rtrs_server_op_addr);

/* On failure the caller frees. */
int rtrs_server_ops_alloc(struct rtrs_server_path *path)
{
	u32 i;

	path->ops = kvcalloc(rtrs_server_geo.queue_depth, sizeof(path->ops[0]), GFP_KERNEL);
	if (!path->ops)
		return -ENOMEM;
	for (i = 0; i < rtrs_server_geo.queue_depth; i++) {
		path->ops[i].path = path;
		path->ops[i].slot = i;
		path->ops[i].inv_cqe.done = inv_done;
	}
	return 0;
}

void rtrs_server_ops_free(struct rtrs_server_path *path)
{
	rtrs_server_copies_free(path, 0);
	kvfree(path->ops);
	path->ops = NULL;
}
