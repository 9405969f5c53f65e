// SPDX-License-Identifier: GPL-2.0
/*
 * Operations and the send queue of their connection. What finds no credits waits in a list and goes
 * on when a signalled request completes; there is always one under way where credits are short.
 */
#include "server.h"

static void con_fail(struct rtrs_server_con *con, const char *what, int err)
{
	if (READ_ONCE(con->path->state) != RTRS_SERVER_PATH_CLOSING)
		path_err(con->path, "%s on connection %u: %pe\n", what, con->base.cid,
			 ERR_PTR(err));
	rtrs_server_path_close(con->path, err);
}

void rtrs_server_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_server_con *con = container_of(wc->wr_cqe, struct rtrs_server_con, send_cqe);
	unsigned long flags;
	u32 count;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		rtrs_server_wc_failed(con, wc, "send");
		return;
	}
	rtrs_polls_count(&con->path->counts->polls, cq, wc);
	spin_lock_irqsave(&con->send_lock, flags);
	count = con->fifo[con->fifo_head++ % RTRS_SERVER_BATCHES];
	spin_unlock_irqrestore(&con->send_lock, flags);
	rtrs_server_con_credit(con, count);
}

static int post_invalidate(struct rtrs_server_con *con, struct rtrs_server_op *op)
{
	struct ib_send_wr wr = {
		.wr_cqe			= &op->inv_cqe,
		.opcode			= IB_WR_LOCAL_INV,
		.send_flags		= IB_SEND_SIGNALED,
		.ex.invalidate_rkey	= op->path->mr[op->slot]->rkey,
	};

	con->credits--;		/* its own completion gives it back */
	return ib_post_send(con->base.qp, &wr, NULL);
}

static bool has_credits(const struct rtrs_server_con *con, const struct rtrs_server_op *op)
{
	u32 need = op->stage == RTRS_SERVER_OP_INVALIDATE ? 1 : rtrs_server_resp_count(op);

	return con->credits >= need;
}

/*
 * send_lock held. Counts in @ended those operations that are over with it: they
 * keep the path, and so @con, until they are put without the lock.
 */
static int issue(struct rtrs_server_con *con, struct rtrs_server_op *op, u32 *ended)
{
	bool over = false;
	int err;

	if (op->stage == RTRS_SERVER_OP_INVALIDATE) {
		err = post_invalidate(con, op);
		if (err) {
			rtrs_server_fence_leave(op);
			over = true;
		}
	} else {
		WRITE_ONCE(con->answered, con->answered + 1);
		err = rtrs_server_resp_post(op);
		over = true;
	}
	*ended += over;
	return err;
}

/*
 * Is @op the only request, does none come with another, and has it little data? That is before
 * the header, which may not have been looked at yet.
 */
static bool is_lone(const struct rtrs_server_con *con, const struct rtrs_server_op *op)
{
	return READ_ONCE(con->lone) > 1 && READ_ONCE(con->begun) - READ_ONCE(con->answered) <= 1 &&
	       op->off < 2 * PAGE_SIZE;
}

/*
 * Posts what @op has to post next, or parks it. Drops it where the connection is dead.
 *
 * Softirqs that the device's driver raises (Soft-RoCE for all of its work) run at once for a
 * lone request. Otherwise a thread of the kernel runs them after a while, for several requests
 * together, and this one takes the next requests meanwhile. Behind an interrupt they run anyway.
 */
void rtrs_server_con_submit(struct rtrs_server_con *con, struct rtrs_server_op *op)
{
	struct rtrs_server_path *path = con->path;
	bool lone = is_lone(con, op) && !in_hardirq() && !irqs_disabled();
	unsigned long flags;
	u32 ended = 0;
	int err = 0;

	if (lone)
		local_bh_disable();
	spin_lock_irqsave(&con->send_lock, flags);
	if (unlikely(con->dead)) {
		rtrs_server_fence_leave(op);
		ended = 1;
	} else if (unlikely(!list_empty(&con->parked) || !has_credits(con, op))) {
		list_add_tail(&op->parked, &con->parked);
	} else {
		err = issue(con, op, &ended);
	}
	spin_unlock_irqrestore(&con->send_lock, flags);
	if (lone)
		local_bh_enable();
	if (unlikely(err))
		con_fail(con, "posting", err);
	if (ended)
		rtrs_server_op_put(path, ended);
}

/* Credits came back: goes on with what is parked. The caller keeps the path. */
void rtrs_server_con_credit(struct rtrs_server_con *con, u32 count)
{
	struct rtrs_server_path *path = con->path;
	struct rtrs_server_op *op;
	unsigned long flags;
	u32 ended = 0;
	int err = 0;

	spin_lock_irqsave(&con->send_lock, flags);
	con->credits += count;
	while (unlikely(!list_empty(&con->parked)) && !con->dead && !err) {
		op = list_first_entry(&con->parked, struct rtrs_server_op, parked);
		if (!has_credits(con, op))
			break;
		list_del(&op->parked);
		err = issue(con, op, &ended);
	}
	spin_unlock_irqrestore(&con->send_lock, flags);
	if (unlikely(err))
		con_fail(con, "posting", err);
	if (ended)
		rtrs_server_op_put(path, ended);
}
