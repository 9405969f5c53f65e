// SPDX-License-Identifier: GPL-2.0
/* Connections: queues, receive buffers, heartbeats of the service connection. */
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "client.h"

static struct kmem_cache *con_cache;

int rtrs_client_con_init(void)
{
	con_cache = KMEM_CACHE(rtrs_client_con, 0);
	return con_cache ? 0 : -ENOMEM;
}

void rtrs_client_con_exit(void)
{
	kmem_cache_destroy(con_cache);
}

static void reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status != IB_WC_SUCCESS)
		rtrs_client_wc_failed(rtrs_client_con_of(wc->qp), wc, "registration");
}

static void imm_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_client_con *con = rtrs_client_con_of(wc->qp);

	if (wc->status != IB_WC_SUCCESS) {
		rtrs_client_wc_failed(con, wc, "heartbeat");
		return;
	}
	rtrs_client_stats_wc(con, cq, wc);
	rtrs_client_con_give(con, 1);
}

static void probe_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_client_con *con = rtrs_client_con_of(wc->qp);
	u32 wrs = con->probe;

	if (wc->status != IB_WC_SUCCESS) {
		rtrs_client_wc_failed(con, wc, "probe");
		return;
	}
	rtrs_client_stats_wc(con, cq, wc);
	rtrs_client_con_heard(con);
	WRITE_ONCE(con->probe, 0);
	rtrs_client_con_give(con, wrs);
}

static void drain_work(struct work_struct *work)
{
	struct rtrs_client_con *con = container_of(work, struct rtrs_client_con, drain);

	ib_drain_qp(con->c.qp);
}

struct rtrs_client_con *rtrs_client_con_create(struct rtrs_client_path *path, u16 cid)
{
	struct rtrs_client_con *con = kmem_cache_zalloc(con_cache, GFP_KERNEL);

	if (!con)
		return NULL;
	rtrs_census_created(RTRS_CENSUS_CLIENT_CON);
	con->path = path;
	con->c.cid = cid;
	con->invalidated = RTRS_CLIENT_NO_KEY;
	con->recv_cqe.done = rtrs_client_recv_done;
	con->reg_cqe.done = reg_done;
	con->imm_cqe.done = imm_done;
	con->probe_cqe.done = probe_done;
	spin_lock_init(&con->send_lock);
	INIT_WORK(&con->drain, drain_work);
	return con;
}

void rtrs_client_con_destroy(struct rtrs_client_con *con)
{
	kmem_cache_free(con_cache, con);
	rtrs_census_destroyed(RTRS_CENSUS_CLIENT_CON);
}

/* path->lean is not known yet when the service connection is made. */
static u32 recvs_wanted(const struct rtrs_client_con *con)
{
	return con->c.cid ? rtrs_client_con_recvs(con->path) : 2 * RTRS_SERVICE_DEPTH;
}

static u32 sges_wanted(const struct rtrs_client_path *path)
{
	return path->con_count - 1 > RTRS_CLIENT_MANY ? RTRS_CLIENT_SGES_OF_MANY : RTRS_CLIENT_SGES;
}

/* The queue depth is not known before the service connection is established. */
int rtrs_client_con_setup(struct rtrs_client_con *con)
{
	struct rtrs_client_path *path = con->path;
	u32 slots = con->c.cid ? path->geo.queue_depth : RTRS_SERVICE_DEPTH;
	struct rtrs_qp_params params = {
		.max_send_wr = rtrs_client_con_sends(slots),
		.min_send_wr = RTRS_CLIENT_SEND_MIN,
		.max_recv_wr = recvs_wanted(con) + 1,
		.max_send_sge = sges_wanted(path),
		.min_send_sge = 2,
		.vector = con->c.cid ? con->c.cid - 1 : 0,
		.poll_ctx = IB_POLL_SOFTIRQ,
	};
	int err;

	if (con->c.cid > path->session->io_cons)
		params.poll_ctx = IB_POLL_DIRECT;
	con->c.dev = path->dev;
	err = rtrs_qp_create(&con->c, &params);
	if (err)
		return err;
	/* The smallest of all connections; the service connection is set up first. */
	if (!con->c.cid || path->data_sges >= con->c.max_send_sge)
		path->data_sges = con->c.max_send_sge - 1;
	con->interval = min_t(u32, RTRS_CLIENT_SIGNAL_INTERVAL, con->c.max_send_wr / 4);
	atomic_set(&con->credits, con->c.max_send_wr);
	return 0;
}

int rtrs_client_con_post_recvs(struct rtrs_client_con *con)
{
	u32 count = min(recvs_wanted(con), con->c.max_recv_wr);
	int err = 0;
	u32 i;

	if (con->path->new_rkey && !con->path->lean) {
		con->recv = rtrs_iu_alloc(con->path->dev, count, sizeof(struct rtrs_msg_rkey_rsp),
					  DMA_FROM_DEVICE, rtrs_client_recv_done);
		if (!con->recv)
			return -ENOMEM;
		con->recv_count = count;
	}
	for (i = 0; i < count && !err; i++)
		err = con->recv ? rtrs_post_recv_iu(&con->c, &con->recv[i]) :
				  rtrs_post_recv_empty(&con->c, &con->recv_cqe);
	return err;
}

void rtrs_client_con_gone(struct rtrs_client_con *con)
{
	WRITE_ONCE(con->gone, true);
	wake_up_all(&con->path->wait);
}

void rtrs_client_con_disconnect(struct rtrs_client_con *con)
{
	if (con->live && rtrs_cm_disconnect(&con->c))
		rtrs_client_con_gone(con);
}

/* In a work, as the drain of a polled connection takes 0.2 s: connections drain in parallel. */
void rtrs_client_con_drain(struct rtrs_client_con *con)
{
	if (con->live && con->c.qp)
		queue_work(rtrs_client_drain_wq, &con->drain);
}

void rtrs_client_con_drained(struct rtrs_client_con *con)
{
	flush_work(&con->drain);
}

void rtrs_client_con_release(struct rtrs_client_con *con)
{
	rtrs_qp_destroy(&con->c);
	rtrs_iu_free(con->path->dev, con->recv, con->recv_count);
	con->recv = NULL;
}

void rtrs_client_con_leave(struct rtrs_client_con *con)
{
	if (con->c.cm_id)
		rtrs_cm_destroy(&con->c);
}

static int con_probe(struct rtrs_client_con *con)
{
	unsigned long flags;
	int err;

	spin_lock_irqsave(&con->send_lock, flags);
	WRITE_ONCE(con->probe, con->unsignalled + 1);
	con->unsignalled = 0;
	atomic_dec(&con->credits);
	err = rtrs_post_probe(&con->c, &con->probe_cqe);
	spin_unlock_irqrestore(&con->send_lock, flags);
	return err;
}

/*
 * Heartbeats check the service connection only. If another connection has requests in flight and no
 * completion for a tick, it sends a probe, which the device of the peer acknowledges, however slow
 * its disks are. A probe that is not acknowledged for as long as heartbeats may be missed means
 * that packets are lost, or that a device has given up the queue pair without an event.
 */
static int con_check_silence(struct rtrs_client_con *con, unsigned int misses)
{
	if (con->c.private_cq)
		rtrs_client_con_poll(con);
	if (READ_ONCE(con->heard) || atomic_read(&con->credits) == con->c.max_send_wr) {
		WRITE_ONCE(con->heard, false);
		con->silent = 0;
		return 0;
	}
	if (con->silent >= misses) {
		pr_warn_ratelimited("session %s, path %s, connection %u: silent\n",
				    con->path->session->name, con->path->name, con->c.cid);
		return -ETIMEDOUT;
	}
	return con->silent++ || READ_ONCE(con->probe) ? 0 : con_probe(con);
}

static int path_check_cons(struct rtrs_client_path *path)
{
	unsigned int i;
	int err = 0;

	for (i = 1; i < path->con_count && !err; i++)
		err = con_check_silence(path->con[i], READ_ONCE(path->hb.missed_max));
	return err;
}

int rtrs_client_con_send_imm(struct rtrs_client_con *con, enum rtrs_imm_type type, u32 payload)
{
	int err;

	if (atomic_dec_if_positive(&con->credits) < 0)
		return -EAGAIN;
	err = rtrs_post_imm(&con->c, &con->imm_cqe, rtrs_imm_pack(type, payload), true);
	if (err)
		rtrs_client_con_give(con, 1);
	return err;
}

static int hb_send(struct rtrs_hb *hb, enum rtrs_imm_type type)
{
	struct rtrs_client_path *path = container_of(hb, struct rtrs_client_path, hb);
	int err = -ECONNABORTED;

	rcu_read_lock();
	if (rtrs_client_path_may_post(path)) {
		err = rtrs_client_con_send_imm(path->con[0], type, 0);
		if (!err && type == RTRS_IMM_HB)
			err = path_check_cons(path);
	}
	rcu_read_unlock();
	return err;
}

static void hb_lost(struct rtrs_hb *hb, int err)
{
	rtrs_client_path_error(container_of(hb, struct rtrs_client_path, hb), err);
}

const struct rtrs_hb_ops rtrs_client_hb_ops = {
	.send = hb_send,
	.lost = hb_lost,
};
