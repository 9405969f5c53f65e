// SPDX-License-Identifier: GPL-2.0
/* Receive completions: translate and hand over. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "server.h"

static void recv_imm(struct rtrs_server_con *con, u32 imm)
{
	struct rtrs_server_path *path = con->path;
	u32 slot, off;

	switch (rtrs_imm_type(imm)) {
	case RTRS_IMM_IO_REQ:
		if (!rtrs_imm_io_req_parse(imm, &rtrs_server_geo, &slot, &off)) {
			rtrs_server_op_start(con, slot, off);
			break;
		}
		path_err(path, "bad immediate %#x\n", imm);
		rtrs_server_path_close(path, -EBADMSG);
		break;
	case RTRS_IMM_HB:
		/* Before the path is up nobody answers; on any connection the service one does. */
		if (READ_ONCE(path->state) == RTRS_SERVER_PATH_CONNECTED && rtrs_hb_recv(&path->hb))
			rtrs_server_path_close(path, -EIO);
		break;
	case RTRS_IMM_HB_ACK:
		rtrs_hb_recv_ack(&path->hb);
		break;
	case RTRS_IMM_FENCE:
		if (READ_ONCE(path->state) == RTRS_SERVER_PATH_CONNECTED)
			rtrs_server_lost_ask(path, imm & RTRS_IMM_PAYLOAD_MASK);
		break;
	case RTRS_IMM_SLOTS:
		if (READ_ONCE(path->state) == RTRS_SERVER_PATH_CONNECTED)
			rtrs_server_slots_ask(path, imm & RTRS_IMM_PAYLOAD_MASK);
		break;
	default:
		break;	/* of a later protocol */
	}
}

/* Does the client send one request after the other, or several at once? */
static void note_poll(struct rtrs_server_con *con)
{
	u32 poll = this_cpu_read(con->path->counts->polls.calls);

	WRITE_ONCE(con->lone, poll == con->poll ? 0 : con->lone + 1);
	con->poll = poll;
}

void rtrs_server_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_server_con *con = container_of(wc->wr_cqe, struct rtrs_server_con, recv_cqe);

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		rtrs_server_wc_failed(con, wc, "receive");
		return;
	}
	rtrs_polls_count(&con->path->counts->polls, cq, wc);
	note_poll(con);
	if (unlikely(rtrs_post_recv_empty(&con->base, &con->recv_cqe))) {
		rtrs_server_path_close(con->path, -EIO);
		return;
	}
	/* Empty SENDs mean nothing, but took a receive. */
	if (wc->opcode != IB_WC_RECV_RDMA_WITH_IMM)
		return;
	rtrs_hb_heard(&con->path->hb);
	WRITE_ONCE(con->handling, true);
	recv_imm(con, be32_to_cpu(wc->ex.imm_data));
	WRITE_ONCE(con->handling, false);
}
