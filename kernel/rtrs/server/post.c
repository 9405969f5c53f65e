// SPDX-License-Identifier: GPL-2.0
/* The send queue of a connection: what is posted to it is counted. */
#include "server.h"

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
