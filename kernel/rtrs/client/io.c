// SPDX-License-Identifier: GPL-2.0
/*
 * Requests: out to the server, and done. Nothing here allocates but init, or sleeps but init and
 * fail-over.
 */
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "client.h"

#define REQ_BUF_SIZE	(RTRS_CLIENT_USR_MAX + RTRS_READ_HDR_MAX)

/**
 * struct wire - one request as it goes out
 * @reg: registration of the data, in front of @write if @reg_used
 * @write: the RDMA write
 * @sge: data, then message
 * @reg_used: the data needs a region
 * @signalled: wait for the completion of the send
 */
struct wire {
	struct ib_reg_wr reg;
	struct ib_rdma_wr write;
	struct ib_sge sge[RTRS_CLIENT_SGES];
	bool reg_used;
	bool signalled;
};

static void send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_client_req *req = container_of(wc->wr_cqe, struct rtrs_client_req, send_cqe);

	if (wc->status != IB_WC_SUCCESS) {
		rtrs_client_wc_failed(req->con, wc, "request");
		return;
	}
	rtrs_client_stats_wc(req->con, cq, wc);
	rtrs_client_con_heard(req->con);
	rtrs_client_con_give(req->con, req->wrs);
	rtrs_client_req_put(req, RTRS_CLIENT_REQ_SENT);
}

/*
 * Data of a write: copied to the bounce buffer if it is small, gathered directly if it is in few
 * pieces, else as one region. Retransmission may read the pages until the send is complete, so
 * that is waited for where they are not copied.
 */
static int build_write(struct rtrs_client_req *req, const struct rtrs_client_request *rq,
		       struct wire *w)
{
	struct rtrs_client_path *path = req->con->path;
	struct scatterlist *sg;
	u32 i, sum = 0;
	int err;

	w->write.remote_addr = path->chunk[rq->slot].addr;
	rtrs_write_hdr_pack(req->buf->buf + rq->usr_len, rq->usr_len);
	if (!rq->data_len)
		return sizeof(struct rtrs_msg_write);
	if (req->bounced) {
		w->write.wr.num_sge = 1;
		err = rtrs_client_bounce_fill(path, rq, w->sge);
		return err ?: (int)sizeof(struct rtrs_msg_write);
	}
	w->signalled = true;
	if (req->mapped > path->data_sges) {
		err = rtrs_client_mr_prepare(req, rq->data_len, &w->reg);
		if (err)
			return err;
		w->reg_used = true;
		w->sge[0].addr = req->mr->iova;
		w->sge[0].length = rq->data_len;
		w->sge[0].lkey = req->mr->lkey;
		w->write.wr.num_sge = 1;
		return sizeof(struct rtrs_msg_write);
	}
	for_each_sg(req->sgl, sg, req->mapped, i) {
		w->sge[i].addr = sg_dma_address(sg);
		w->sge[i].length = sg_dma_len(sg);
		w->sge[i].lkey = path->dev->pd->local_dma_lkey;
		sum += sg_dma_len(sg);
	}
	w->write.wr.num_sge = req->mapped;
	return sum == rq->data_len ? sizeof(struct rtrs_msg_write) : -EINVAL;
}

static int build_read(struct rtrs_client_req *req, const struct rtrs_client_request *rq,
		      struct wire *w)
{
	struct rtrs_client_path *path = req->con->path;
	void *hdr = req->buf->buf + rq->usr_len;
	struct rtrs_desc desc;
	int err;

	w->write.remote_addr = path->chunk[rq->slot].addr + rq->data_len;
	if (!rq->data_len)
		return rtrs_read_hdr_pack(hdr, rq->usr_len, NULL, false);
	desc.len = rq->data_len;
	if (req->bounced) {
		desc.addr = path->bounce_mr->iova + rq->slot * path->bounce->size;
		desc.rkey = path->bounce_mr->rkey;
		return rtrs_read_hdr_pack(hdr, rq->usr_len, &desc, false);
	}
	err = rtrs_client_mr_prepare(req, rq->data_len, &w->reg);
	if (err)
		return err;
	w->reg_used = true;
	desc.addr = req->mr->iova;
	desc.rkey = req->mr->rkey;
	return rtrs_read_hdr_pack(hdr, rq->usr_len, &desc, !path->lean);
}

static int build_request(struct rtrs_client_req *req, const struct rtrs_client_request *rq,
			 struct wire *w)
{
	struct rtrs_client_path *path = req->con->path;
	struct ib_device *ib_dev = path->dev->ib_dev;
	struct rtrs_iu *buf = req->buf;
	struct ib_sge *sge;
	int hdr_len;

	ib_dma_sync_single_for_cpu(ib_dev, buf->dma, buf->size, buf->dir);
	memcpy(buf->buf, rq->usr, rq->usr_len);
	hdr_len = rq->is_read ? build_read(req, rq, w) : build_write(req, rq, w);
	if (hdr_len < 0)
		return hdr_len;
	ib_dma_sync_single_for_device(ib_dev, buf->dma, buf->size, buf->dir);

	sge = &w->sge[w->write.wr.num_sge++];
	sge->addr = buf->dma;
	sge->length = rq->usr_len + hdr_len;
	sge->lkey = path->dev->pd->local_dma_lkey;
	w->write.wr.wr_cqe = &req->send_cqe;
	w->write.wr.sg_list = w->sge;
	w->write.wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM;
	w->write.wr.ex.imm_data = cpu_to_be32(rtrs_imm_io_req(&path->geo, rq->slot,
							      rq->data_len + rq->usr_len));
	w->write.rkey = READ_ONCE(path->chunk[rq->slot].rkey);
	if (w->reg_used)
		w->reg.wr.next = &w->write.wr;
	return 0;
}

/*
 * Puts a request on the send queue if there is room for all of it. Completions
 * are asked for now and again; each gives back all entries posted up to it. What
 * the request holds until it is done is room for the invalidation, and keeps those
 * in flight below half the queue: a device of short queues has no more receives
 * for their responses.
 */
static int post_request(struct rtrs_client_req *req, struct wire *w)
{
	struct rtrs_client_con *con = req->con;
	u32 wrs = w->reg_used ? 2 : 1, wait = RTRS_CLIENT_REQ_AWAIT | RTRS_CLIENT_REQ_ANSWER;
	unsigned long flags;
	int err;

	spin_lock_irqsave(&con->send_lock, flags);
	if (atomic_read(&con->credits) < wrs + RTRS_CLIENT_SEND_HELD + RTRS_CLIENT_SEND_SPARE) {
		spin_unlock_irqrestore(&con->send_lock, flags);
		return -EAGAIN;
	}
	atomic_sub(wrs + RTRS_CLIENT_SEND_HELD, &con->credits);
	con->unsignalled += wrs;
	if (w->signalled || con->unsignalled >= con->interval) {
		w->write.wr.send_flags = IB_SEND_SIGNALED;
		wait |= RTRS_CLIENT_REQ_SENT;
		req->wrs = con->unsignalled;
		con->unsignalled = 0;
	}
	atomic_or(wait, &req->pending);
	err = ib_post_send(con->c.qp, w->reg_used ? &w->reg.wr : &w->write.wr, NULL);
	spin_unlock_irqrestore(&con->send_lock, flags);

	/* Some of it may be out: only the path worker can end this request. */
	if (err)
		rtrs_client_path_error(con->path, err);
	else
		rtrs_client_req_put(req, RTRS_CLIENT_REQ_POSTING);
	return 0;
}

/*
 * Do requests come one at a time? Softirqs that the device's driver raises (Soft-RoCE for all of
 * its work) run at once for a lone request: to wake the kernel's thread for one costs more than to
 * send it. Otherwise that thread runs them after a while, for several requests together. Requests
 * that are sent at once may be done before the next one comes, so a few of each round are not: had
 * the user more to submit, one of those would find another one in flight.
 */
static bool is_lone(struct rtrs_client_con *con)
{
	u32 idle = atomic_read(&con->credits) + READ_ONCE(con->unsignalled);
	u32 lone = idle >= con->c.max_send_wr ? READ_ONCE(con->lone) + 1 : 0;

	WRITE_ONCE(con->lone, lone);
	return lone % RTRS_CLIENT_LONE_ROUND >= RTRS_CLIENT_LONE_PROOF && !irqs_disabled();
}

static int send_request(struct rtrs_client_req *req, struct wire *w)
{
	int err;

	if (!is_lone(req->con))
		return post_request(req, w);
	local_bh_disable();
	err = post_request(req, w);
	local_bh_enable();
	return err;
}

static int submit_on_path(struct rtrs_client_path *path, const struct rtrs_client_request *rq)
{
	struct rtrs_client_req *req = &path->req[rq->slot];
	struct wire w;
	int err;

	if (atomic_cmpxchg(&req->pending, 0, RTRS_CLIENT_REQ_POSTING))
		return -EINVAL;
	req->con = path->con[rq->con + 1];
	req->err = 0;
	req->is_read = rq->is_read;
	req->usr_len = rq->usr_len;
	req->registered = false;
	req->eager = rtrs_is_eager(path->eager_bytes, rq->data_len + rq->usr_len);
	req->bounced = rq->data_len && rq->slot < path->bounce_slots &&
		       rq->data_len <= path->bounce->size;
	req->mapped = 0;
	req->sg_count = rq->sg_count;
	req->bytes = rq->data_len + rq->usr_len;
	req->done = rq->done;
	req->wanted = rq->wanted;
	req->priv = rq->priv;
	memset(&w.write, 0, sizeof(w.write));
	w.reg_used = false;
	w.signalled = false;

	if (req->bounced) {
		req->sgl = rq->sgl;
	} else if (rq->data_len) {
		err = rtrs_client_mr_map_data(req, rq);
		if (err)
			goto idle;
	}
	err = build_request(req, rq, &w);
	if (err)
		goto unmap;
	rtrs_client_stats_submit(path, req);
	err = send_request(req, &w);
	if (!err)
		return 0;
	rtrs_client_stats_unsubmit(path, req);
unmap:
	rtrs_client_mr_unmap_data(req);
idle:
	atomic_set(&req->pending, 0);
	return err;
}

static int check_request(const struct rtrs_client_session *session,
			 const struct rtrs_client_request *rq)
{
	const struct rtrs_client_attrs *attrs = &session->attrs;

	if (rq->slot >= attrs->queue_depth || !rq->data_len != !rq->sg_count ||
	    rq->con < RTRS_CLIENT_CON_SERVICE ||
	    rq->con >= (int)(attrs->io_cons + attrs->poll_cons))
		return -EINVAL;
	if (rq->usr_len > attrs->max_usr_len || rq->data_len > attrs->max_io_size)
		return -EMSGSIZE;
	return 0;
}

/* The limits are those of the epoch: a request of another one has no path, and breaks none. */
int rtrs_client_submit(struct rtrs_client_session *session, const struct rtrs_client_request *rq)
{
	struct rtrs_client_path *path;
	struct rtrs_client_pick pick;
	int err = -ECONNABORTED;

	rcu_read_lock();
	rtrs_client_pick_start(&pick, session);
	while ((path = rtrs_client_pick_next(&pick))) {
		if (unlikely(path->epoch != rq->epoch))
			continue;
		err = check_request(session, rq) ?: submit_on_path(path, rq);
		if (!err || err == -EINVAL || err == -EMSGSIZE)
			break;
	}
	rcu_read_unlock();
	return err;
}
EXPORT_SYMBOL_GPL(rtrs_client_submit);

void rtrs_client_timed_out(struct rtrs_client_session *session, u32 slot, const void *priv)
{
	const struct rtrs_client_path_set *set;
	unsigned int i;

	rcu_read_lock();
	set = rcu_dereference(session->paths);
	for (i = 0; i < set->count; i++) {
		struct rtrs_client_path *path = set->path[i];

		if (rtrs_client_path_connected(path) && slot < path->slots &&
		    atomic_read(&path->req[slot].pending) && path->req[slot].priv == priv)
			rtrs_client_path_error(path, -ETIMEDOUT);
	}
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(rtrs_client_timed_out);

void rtrs_client_lose(struct rtrs_client_session *session)
{
	const struct rtrs_client_path_set *set;
	unsigned int i;

	rcu_read_lock();
	set = rcu_dereference(session->paths);
	for (i = 0; i < set->count; i++)
		if (rtrs_client_path_connected(set->path[i]))
			rtrs_client_path_error(set->path[i], -ETIMEDOUT);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(rtrs_client_lose);

int rtrs_client_poll(struct rtrs_client_session *session, int con)
{
	const struct rtrs_client_path_set *set;
	unsigned int i;
	int n = 0;

	if (con < (int)session->io_cons)
		return 0;
	rcu_read_lock();
	set = rcu_dereference(session->paths);
	for (i = 0; i < set->count; i++) {
		struct rtrs_client_path *path = set->path[i];

		if (rtrs_client_path_connected(path) && con + 1 < path->con_count)
			n += rtrs_client_con_poll(path->con[con + 1]);
	}
	rcu_read_unlock();
	return n;
}
EXPORT_SYMBOL_GPL(rtrs_client_poll);

/* A path that comes back has the slots that it had, unless the server offers another number. */
static int alloc_slots(struct rtrs_client_path *path)
{
	u32 i, count = path->geo.queue_depth;

	if (path->slots == count)
		return 0;
	rtrs_client_io_exit(path);
	path->slots = count;
	path->chunk = kvcalloc(count, sizeof(*path->chunk), GFP_KERNEL);
	path->req = kvcalloc(count, sizeof(*path->req), GFP_KERNEL);
	path->req_buf = rtrs_iu_alloc_unmapped(count, REQ_BUF_SIZE, DMA_TO_DEVICE);
	if (!path->chunk || !path->req || !path->req_buf) {
		rtrs_client_io_exit(path);
		return -ENOMEM;
	}
	for (i = 0; i < count; i++) {
		struct rtrs_client_req *req = &path->req[i];

		req->buf = &path->req_buf[i];
		req->send_cqe.done = send_done;
		req->inval_cqe.done = rtrs_client_req_invalidated;
	}
	return 0;
}

int rtrs_client_io_init(struct rtrs_client_path *path)
{
	u32 i;
	int err;

	err = alloc_slots(path) ?: rtrs_iu_map(path->dev, path->req_buf, path->slots);
	err = err ?: rtrs_client_bounce_init(path);
	if (err)
		return err;
	for (i = 0; i < path->slots; i++) {
		struct ib_mr *mr;

		if (fatal_signal_pending(current))
			return -EINTR;
		if (READ_ONCE(path->state) != RTRS_CLIENT_PATH_CONNECTING)
			return -ECONNABORTED;
		mr = rtrs_client_mr_alloc(path);
		if (IS_ERR(mr))
			return PTR_ERR(mr);
		path->req[i].mr = mr;
	}
	return 0;
}

/*
 * The same request on another path, in the same slot: the server knows it again by that,
 * should it still be at the first one. Where the queues of the others are full, they are
 * waited for: what is on them gets done, or they are lost, too.
 */
static void failover_request(struct rtrs_client_path *path, struct rtrs_client_req *req, u32 slot)
{
	const struct rtrs_client_request rq = {
		.slot = slot,
		.epoch = path->epoch,
		.con = (int)req->con->c.cid - 1,
		.is_read = req->is_read,
		.usr = req->buf->buf,
		.usr_len = req->usr_len,
		.sgl = req->sgl,
		.sg_count = req->sgl ? req->sg_count : 0,
		.data_len = req->bytes - req->usr_len,
		.done = req->done,
		.wanted = req->wanted,
		.priv = req->priv,
	};
	u64 *failovers = &per_cpu_ptr(path->stats, req->cpu)->failovers;
	int err;

	rtrs_client_mr_unmap_data(req);
	rtrs_client_stats_unsubmit(path, req);
	if (rq.wanted && !rq.wanted(rq.priv)) {
		rq.done(rq.priv, -ECONNABORTED);
		return;
	}
	while ((err = rtrs_client_submit(path->session, &rq)) == -EAGAIN || err == -ENOMEM)
		usleep_range(100, 200);
	if (err)
		rq.done(rq.priv, -ECONNABORTED);
	else
		WRITE_ONCE(*failovers, *failovers + 1);
}

/* What the server has answered is done; only a completion of ours was missing. */
static void settle_request(struct rtrs_client_path *path, struct rtrs_client_req *req, u32 slot)
{
	int pending = atomic_xchg(&req->pending, 0);

	if (pending & (RTRS_CLIENT_REQ_AWAIT | RTRS_CLIENT_REQ_ANSWER))
		failover_request(path, req, slot);
	else if (pending)
		rtrs_client_req_complete(req, req->err);
}

/*
 * The RDMA device and the server lose their access to the data of @req: first its own queue pair
 * is destroyed, the only one by which an honest server writes to the region, then the region is
 * deregistered. Queue pairs and regions of other requests have no part in these data.
 */
static void revoke_access(struct rtrs_client_req *req,
			  void (*release)(struct rtrs_client_con *con))
{
	release(req->con);
	if (!req->registered || !req->mr)
		return;
	ib_dereg_mr(req->mr);
	req->mr = NULL;
}

void rtrs_client_io_failover(struct rtrs_client_path *path,
			     void (*release)(struct rtrs_client_con *con))
{
	u32 i;

	for (i = 0; i < path->slots; i++) {
		struct rtrs_client_req *req = &path->req[i];

		if (!atomic_read(&req->pending))
			continue;
		revoke_access(req, release);
		settle_request(path, req, i);
	}
}

void rtrs_client_io_release(struct rtrs_client_path *path)
{
	u32 i;

	for (i = 0; i < path->slots; i++) {
		struct rtrs_client_req *req = &path->req[i];

		if (req->mr)
			ib_dereg_mr(req->mr);
		req->mr = NULL;
		rtrs_client_mr_release_data(req);
	}
	rtrs_client_bounce_release(path);
	rtrs_iu_unmap(path->dev, path->req_buf, path->slots);
	rtrs_iu_free(path->dev, path->info_rx, 1);
	path->info_rx = NULL;
	rtrs_iu_free(path->dev, path->info_tx, 1);
	path->info_tx = NULL;
}

void rtrs_client_io_exit(struct rtrs_client_path *path)
{
	kvfree(path->req);
	path->req = NULL;
	kvfree(path->chunk);
	path->chunk = NULL;
	rtrs_iu_free(NULL, path->req_buf, path->slots);
	path->req_buf = NULL;
	rtrs_client_bounce_exit(path);
	path->slots = 0;
}
