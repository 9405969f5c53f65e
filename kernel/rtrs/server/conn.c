// SPDX-License-Identifier: GPL-2.0
/*
 * Connections: their queue pair, and who may post to its send queue. Credits count
 * work requests. What finds none waits in a list and goes on when a signalled
 * request completes; there is always one under way where credits are short.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>
#include "server.h"

/* Work requests of a slot at most, its LOCAL_INV included. */
static u32 slot_wrs(void)
{
	return rtrs_server_new_rkey ? 5 : 3;
}

static void con_fail(struct rtrs_server_con *con, const char *what, int err)
{
	if (READ_ONCE(con->path->state) != RTRS_SERVER_PATH_CLOSING)
		path_err(con->path, "%s on connection %u: %pe\n", what, con->base.cid,
			 ERR_PTR(err));
	rtrs_server_path_close(con->path, err);
}

/* A completion handler's. The first error of a path is told, what follows it is not. */
void rtrs_server_wc_failed(struct rtrs_server_con *con, const struct ib_wc *wc, const char *what)
{
	struct rtrs_server_path *path = con->path;

	/* Each request of a connection that ends comes here: no lock for those. */
	if (READ_ONCE(path->state) >= RTRS_SERVER_PATH_CLOSING)
		return;
	if (rtrs_wc_tells(&con->base, wc))
		path_err(path, "%s on connection %u: %s\n", what, con->base.cid,
			 ib_wc_status_msg(wc->status));
	rtrs_server_path_close(path, wc->status == IB_WC_WR_FLUSH_ERR ? -ECONNRESET : -EIO);
}

static void send_done(struct ib_cq *cq, struct ib_wc *wc)
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

/* send_lock held, @count credits there. Posts a chain, signals its last request if it is time. */
int rtrs_server_con_post(struct rtrs_server_con *con, struct ib_send_wr *first,
			 struct ib_send_wr *last, u32 count)
{
	lockdep_assert_held(&con->send_lock);
	con->credits -= count;
	con->batch += count;
	if (con->batch >= con->interval) {
		last->send_flags |= IB_SEND_SIGNALED;
		con->fifo[con->fifo_tail++ % RTRS_SERVER_BATCHES] = con->batch;
		con->batch = 0;
	}
	return ib_post_send(con->base.qp, first, NULL);
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

/*
 * A heartbeat, its answer, or a notice. -EAGAIN: the send queue is full, the peer does not take
 * what it has been sent. One more would not help, and silence will tell.
 */
int rtrs_server_con_send_imm(struct rtrs_server_con *con, enum rtrs_imm_type type, u32 payload)
{
	struct ib_rdma_wr wr = {
		.wr.wr_cqe	= &con->send_cqe,
		.wr.opcode	= IB_WR_RDMA_WRITE_WITH_IMM,
		.wr.ex.imm_data	= cpu_to_be32(rtrs_imm_pack(type, payload)),
	};
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&con->send_lock, flags);
	if (!con->dead && con->credits)
		err = rtrs_server_con_post(con, &wr.wr, &wr.wr, 1);
	else if (!con->dead)
		err = -EAGAIN;
	spin_unlock_irqrestore(&con->send_lock, flags);
	return err;
}

/* send_lock held. Nothing signalled is under way, which would do as well. */
static int con_probe(struct rtrs_server_con *con)
{
	con->credits--;
	con->fifo[con->fifo_tail++ % RTRS_SERVER_BATCHES] = con->batch + 1;
	con->batch = 0;
	return rtrs_post_probe(&con->base, &con->send_cqe);
}

/* Has the device done with all that was posted? If not, it is asked to tell when it has. */
bool rtrs_server_con_idle(struct rtrs_server_con *con)
{
	unsigned long flags;
	bool idle;

	spin_lock_irqsave(&con->send_lock, flags);
	idle = con->credits == con->base.max_send_wr;
	/* Where that fails the path is lost, and its heartbeat tells. */
	if (!idle && con->fifo_head == con->fifo_tail && con->credits && !con->dead)
		con_probe(con);
	spin_unlock_irqrestore(&con->send_lock, flags);
	return idle;
}

/*
 * At a tick of the heartbeat, which tells of the service connection only. Answers are under way
 * on this one, and neither are they acknowledged nor comes anything: the client's device is asked.
 * But not where we look at nothing ourselves, as a disk has kept our handler.
 */
int rtrs_server_con_look(struct rtrs_server_con *con, unsigned int misses)
{
	unsigned long flags;
	u32 progress;
	int err = 0;

	spin_lock_irqsave(&con->send_lock, flags);
	progress = con->fifo_head + READ_ONCE(con->begun);
	if (READ_ONCE(con->handling) || con->credits == con->base.max_send_wr ||
	    con->progress != progress)
		con->silent = 0;
	else if (con->silent >= misses)
		err = -ETIMEDOUT;
	else if (!con->silent++ && con->fifo_head == con->fifo_tail && con->credits && !con->dead)
		err = con_probe(con);
	con->progress = progress;
	spin_unlock_irqrestore(&con->send_lock, flags);
	if (err == -ETIMEDOUT)
		path_err(con->path, "connection %u is silent\n", con->base.cid);
	return err;
}

static int con_create_qp(struct rtrs_server_con *con, u32 vector)
{
	u32 depth = rtrs_server_geo.queue_depth;
	bool io = con->base.cid;
	struct rtrs_qp_params params = {
		.max_send_wr	= io ? depth * slot_wrs() + 1 : 2 * RTRS_SERVICE_DEPTH + 2,
		.min_send_wr	= slot_wrs(),
		.max_recv_wr	= io ? depth + 1 : RTRS_SERVICE_DEPTH + 2,
		.max_send_sge	= 1,
		.min_send_sge	= 1,
		.vector		= vector,
		.poll_ctx	= IB_POLL_WORKQUEUE,
		/* A disk that takes no more requests must not hold up another client. */
		.private_cq	= true,
	};
	int err;

	err = rtrs_qp_create(&con->base, &params);
	if (err)
		return err;
	if (con->base.max_recv_wr < 2) {
		rtrs_qp_destroy(&con->base);
		return -EOPNOTSUPP;
	}
	con->credits = con->base.max_send_wr;
	con->interval = max(con->credits / 4, 1U);
	return 0;
}

/*
 * session->lock held. A connection of @path on @cm_id, which stays the caller's on
 * failure. Vectors are given out in the order of arrival.
 */
struct rtrs_server_con *rtrs_server_con_create(struct rtrs_server_path *path,
					       struct rdma_cm_id *cm_id, u16 cid)
{
	u32 vectors = min_t(u32, nr_cpu_ids, max(cm_id->device->num_comp_vectors, 1));
	struct rtrs_server_con *con;
	int err;

	con = kmem_cache_zalloc(rtrs_server_con_cache, GFP_KERNEL);
	if (!con)
		return ERR_PTR(-ENOMEM);
	con->path = path;
	con->base.cid = cid;
	con->base.cm_id = cm_id;
	con->base.cm_sent = true;	/* a refusal, if nothing else */
	con->base.dev = path->dev;
	con->recv_cqe.done = rtrs_server_recv_done;
	con->send_cqe.done = send_done;
	spin_lock_init(&con->send_lock);
	INIT_LIST_HEAD(&con->parked);

	err = con_create_qp(con, path->con_count % vectors);
	if (err)
		goto free;
	if (!cid) {
		err = rtrs_post_recv_iu(&con->base, path->info_req);
		if (err)
			goto qp;
	}
	rtrs_census_created(RTRS_CENSUS_SERVER_CON);
	return con;
qp:
	rtrs_qp_destroy(&con->base);
free:
	kmem_cache_free(rtrs_server_con_cache, con);
	return ERR_PTR(err);
}

/* As many as the protocol wants, or as the device has; each is posted again when it completes. */
int rtrs_server_con_post_recvs(struct rtrs_server_con *con)
{
	u32 count = con->base.cid ? rtrs_server_geo.queue_depth : RTRS_SERVICE_DEPTH;
	int err = 0;

	for (count = min(count, con->base.max_recv_wr); count && !err; count--)
		err = rtrs_post_recv_empty(&con->base, &con->recv_cqe);
	return err;
}

/* Nothing is posted behind this; the queue pair goes to error. */
void rtrs_server_con_stop(struct rtrs_server_con *con)
{
	unsigned long flags;

	spin_lock_irqsave(&con->send_lock, flags);
	con->dead = true;
	spin_unlock_irqrestore(&con->send_lock, flags);
	rtrs_cm_disconnect(&con->base);
}

/* Stopped and drained: drops what is parked. */
void rtrs_server_con_flush(struct rtrs_server_con *con)
{
	struct rtrs_server_op *op, *next;
	LIST_HEAD(parked);

	spin_lock_irq(&con->send_lock);
	list_splice_init(&con->parked, &parked);
	spin_unlock_irq(&con->send_lock);
	list_for_each_entry_safe(op, next, &parked, parked)
		rtrs_server_op_drop(op);
}

/* Flushed: leaves its RDMA device. Operations that have still to end find it dead. */
void rtrs_server_con_detach(struct rtrs_server_con *con)
{
	rtrs_qp_destroy(&con->base);
	rtrs_cm_destroy(&con->base);	/* waits for its handler */
}

void rtrs_server_con_free(struct rtrs_server_con *con)
{
	kmem_cache_free(rtrs_server_con_cache, con);
	rtrs_census_destroyed(RTRS_CENSUS_SERVER_CON);
}
