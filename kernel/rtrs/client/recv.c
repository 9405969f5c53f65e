// SPDX-License-Identifier: GPL-2.0
/* What comes from the server: responses, invalidations, heartbeats. */
#include <linux/rcupdate.h>
#include "client.h"

/**
 * struct incoming - an immediate and what came with it
 * @imm: in host order
 * @msg: message; taken out of its buffer, which is posted again already
 * @len: bytes of it
 */
struct incoming {
	u32 imm;
	u8 msg[sizeof(struct rtrs_msg_rkey_rsp)];
	u32 len;
};

static int recv_protocol_error(struct rtrs_client_con *con, const char *what, u32 value)
{
	pr_warn_ratelimited("session %s, path %s, connection %u: server sent %s (%#x)\n",
			    con->path->session->name, con->path->name, con->c.cid, what, value);
	return -EPROTO;
}

/* The server has registered the buffer of @slot anew. */
static int take_rkey(struct rtrs_client_path *path, const struct incoming *in, u32 slot)
{
	u32 rkey = path->chunk[slot].rkey;
	int err = 0;

	if (path->lean)
		rkey = rtrs_rkey_next(rkey);
	else
		err = rtrs_rkey_rsp_parse(in->msg, in->len, slot, &rkey);
	WRITE_ONCE(path->chunk[slot].rkey, rkey);
	return err;
}

static int handle_response(struct rtrs_client_con *con, const struct incoming *in)
{
	struct rtrs_client_path *path = con->path;
	bool inval = rtrs_imm_type(in->imm) == RTRS_IMM_IO_RSP_W_INV;
	u64 invalidated = con->invalidated;
	struct rtrs_client_req *req;
	u32 slot;
	int err;

	con->invalidated = RTRS_CLIENT_NO_KEY;
	if (inval && path->lean)
		return recv_protocol_error(con, "an invalidation on a lean path", in->imm);
	if (rtrs_imm_io_rsp_parse(in->imm, &path->geo, &slot, &err))
		return recv_protocol_error(con, "a response for no slot", in->imm);
	req = &path->req[slot];
	if (!(atomic_fetch_andnot(RTRS_CLIENT_REQ_AWAIT, &req->pending) & RTRS_CLIENT_REQ_AWAIT) ||
	    req->con != con)
		return recv_protocol_error(con, "a response for a slot without a request", slot);
	if ((path->lean ? path->new_rkey && !req->eager : in->len) && take_rkey(path, in, slot))
		return recv_protocol_error(con, "a response with a bad key message for slot", slot);
	req->err = err;
	/* The word of the server is not enough: the device must have seen our key. */
	if (inval && req->registered && invalidated == req->mr->rkey)
		req->registered = false;
	rtrs_client_req_put(req, RTRS_CLIENT_REQ_ANSWER);
	return 0;
}

static void handle_notice(struct rtrs_client_session *session, u32 what)
{
	if (READ_ONCE(session->opened) && session->ops->notice)
		session->ops->notice(session->priv, what);
}

/* The answer to the last question: an older one may count slots that were given back since. */
static int handle_slots(struct rtrs_client_con *con, u32 imm)
{
	struct rtrs_client_path *path = con->path;
	struct rtrs_client_session *session = path->session;
	u32 number, slots;
	bool last;

	rtrs_imm_slots_parse(imm & RTRS_IMM_PAYLOAD_MASK, &number, &slots);
	if (!path->grants || !slots || slots > path->geo.queue_depth)
		return recv_protocol_error(con, "a grant of too many slots", imm);
	spin_lock_bh(&session->state_lock);
	last = number == session->question && session->opened;
	if (last)
		WRITE_ONCE(session->granted, slots);
	spin_unlock_bh(&session->state_lock);
	if (last)
		session->ops->granted(session->priv);
	return 0;
}

static int handle_immediate(struct rtrs_client_con *con, const struct incoming *in)
{
	struct rtrs_client_path *path = con->path;
	u32 type = rtrs_imm_type(in->imm);

	switch (type) {
	case RTRS_IMM_IO_RSP:
	case RTRS_IMM_IO_RSP_W_INV:
		return handle_response(con, in);
	case RTRS_IMM_HB:
		return rtrs_hb_recv(&path->hb);
	case RTRS_IMM_HB_ACK:
		rtrs_hb_recv_ack(&path->hb);
		return 0;
	case RTRS_IMM_NOTICE:
		handle_notice(path->session, in->imm & RTRS_IMM_PAYLOAD_MASK);
		return 0;
	case RTRS_IMM_SLOTS:
		return handle_slots(con, in->imm);
	case RTRS_IMM_FENCED:
		WRITE_ONCE(path->fenced, true);
		wake_up_all(&path->wait);
		return 0;
	}
	return 0;	/* of a later version */
}

/* Takes the message out of a used receive and posts it again. */
static int repost_recv(struct rtrs_client_con *con, const struct ib_wc *wc, struct incoming *in)
{
	struct ib_device *ib_dev = con->path->dev->ib_dev;
	struct rtrs_iu *iu;

	in->len = 0;
	if (!con->recv)
		return rtrs_post_recv_empty(&con->c, &con->recv_cqe);
	iu = container_of(wc->wr_cqe, struct rtrs_iu, cqe);
	if (wc->opcode == IB_WC_RECV && wc->byte_len) {
		in->len = min_t(u32, wc->byte_len, sizeof(in->msg));
		ib_dma_sync_single_for_cpu(ib_dev, iu->dma, iu->size, iu->dir);
		memcpy(in->msg, iu->buf, in->len);
		ib_dma_sync_single_for_device(ib_dev, iu->dma, iu->size, iu->dir);
	}
	return rtrs_post_recv_iu(&con->c, iu);
}

static int handle_message(struct rtrs_client_con *con, const struct ib_wc *wc)
{
	struct incoming in;
	int err;

	err = repost_recv(con, wc, &in);
	if (err)
		return err;
	if (wc->wc_flags & IB_WC_WITH_IMM) {
		in.imm = be32_to_cpu(wc->ex.imm_data);
		return handle_immediate(con, &in);
	}
	if (wc->opcode == IB_WC_RECV && wc->wc_flags & IB_WC_WITH_INVALIDATE) {
		con->invalidated = wc->ex.invalidate_rkey;
		return 0;
	}
	return recv_protocol_error(con, "a message that it must not send, opcode", wc->opcode);
}

void rtrs_client_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_client_con *con = rtrs_client_con_of(wc->qp);
	struct rtrs_client_path *path = con->path;
	int err = 0;

	if (wc->status != IB_WC_SUCCESS) {
		rtrs_client_wc_failed(con, wc, "receive");
		return;
	}
	rtrs_client_stats_wc(con, cq, wc);
	rtrs_hb_heard(&path->hb);
	rtrs_client_con_heard(con);
	rcu_read_lock();
	if (rtrs_client_path_may_post(path))
		err = handle_message(con, wc);
	rcu_read_unlock();
	if (err)
		rtrs_client_path_error(path, err);
}
