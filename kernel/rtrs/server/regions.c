// SPDX-License-Identifier: GPL-2.0
/* Registers the regions of a path, or takes them back, in batches on its service connection. */
#include <linux/slab.h>
#include "server.h"

#define REG_BATCH_MAX	128U
#define RETRY		(HZ / 50)	/* for a send queue to be free */

/* Of the last request of a batch, or of any that failed. */
void rtrs_server_regions_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_server_path *path = container_of(wc->wr_cqe, struct rtrs_server_path, reg_cqe);
	u32 count = path->registers;

	if (wc->status != IB_WC_SUCCESS)
		path->reg_err = wc->status == IB_WC_WR_FLUSH_ERR ? -ECONNABORTED : -EIO;
	/* Its error before it is over, for rtrs_server_regions_fit() */
	smp_store_release(&path->registers, 0);
	if (wc->status == IB_WC_SUCCESS)
		rtrs_server_con_credit(path->con[0], count);
	queue_delayed_work(path->info.wq, &path->info.work, 0);
}

/* Heartbeats and answers have room beside it. */
static int post_batch(struct rtrs_server_path *path, struct ib_reg_wr *wr, u32 count)
{
	struct rtrs_server_con *con = path->con[0];
	int err = -ECONNABORTED;
	u32 i;

	for (i = 0; i < count; i++) {
		wr[i].wr.wr_cqe = &path->reg_cqe;
		wr[i].wr.next = i + 1 < count ? &wr[i + 1].wr : NULL;
	}
	wr[count - 1].wr.send_flags = IB_SEND_SIGNALED;

	spin_lock_irq(&con->send_lock);
	if (!con->dead && con->credits <= count) {
		err = -EAGAIN;
	} else if (!con->dead) {
		con->credits -= count;
		path->registers = count;	/* it may be done before we are back */
		err = ib_post_send(con->base.qp, &wr[0].wr, NULL);
	}
	spin_unlock_irq(&con->send_lock);
	return err;
}

/* The next batch towards @goal regions: registers them, or invalidates from the last one on. */
static int next_batch(struct rtrs_server_path *path, u32 goal)
{
	bool more = goal > path->registered;
	u32 left = more ? goal - path->registered : path->registered - goal;
	u32 count = min3(REG_BATCH_MAX, path->con[0]->base.max_send_wr / 2, left);
	u32 first = more ? path->registered : path->registered - count;
	struct ib_reg_wr *wr;
	int err;
	u32 i;

	wr = kcalloc(count, sizeof(*wr), GFP_KERNEL);
	if (!wr)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		if (more) {
			rtrs_server_buf_reg_wr(path->mr[first + i], &wr[i]);
			continue;
		}
		wr[i].wr.opcode = IB_WR_LOCAL_INV;
		wr[i].wr.ex.invalidate_rkey = path->mr[first + i]->rkey;
	}
	err = post_batch(path, wr, count);
	kfree(wr);
	if (!err)
		path->registered = more ? first + count : first;
	return err;
}

static bool cons_idle(struct rtrs_server_path *path)
{
	bool idle = true;
	u32 i;

	for (i = 1; i < path->con_num; i++)
		idle &= rtrs_server_con_idle(path->con[i]);
	return idle;
}

/*
 * Has the first path->want chunks registered, and no others. -EINPROGRESS: a completion leads here
 * again. What is taken back may be in an answer that the device has still to repeat: all answers
 * are waited for. In INFO all have the time of the handshake.
 */
int rtrs_server_regions_fit(struct rtrs_server_path *path)
{
	u32 want = READ_ONCE(path->want), goal = want / path->region_chunks;
	int err = 0;

	/* Pairs with the release in rtrs_server_regions_done(): its error */
	if (smp_load_acquire(&path->registers))
		return -EINPROGRESS;
	if (path->reg_err)
		return path->reg_err;
	if (goal > path->filled)
		err = rtrs_server_buf_fill(path, want);
	if (!err && goal < path->registered && READ_ONCE(path->shrinks)) {
		if (cons_idle(path))
			WRITE_ONCE(path->shrinks, false);
		else
			err = -EAGAIN;
	}
	if (!err && goal != path->registered)
		err = next_batch(path, goal) ?: -EINPROGRESS;
	if (!err)
		rtrs_server_buf_empty(path, want);
	if (err != -EAGAIN)
		return err;
	queue_delayed_work(path->info.wq, &path->info.work, RETRY);
	return -EINPROGRESS;
}
