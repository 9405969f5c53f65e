// SPDX-License-Identifier: GPL-2.0
/* Paths: made by the first connection, taken down in one way, whatever the reason. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>
#include <linux/timekeeping.h>
#include "notify.h"
#include "server.h"

/* Paths of one host that are not logged in: their number, and their part of the account */
#define NAMELESS_MAX	64
#define NAMELESS_SHARE	4

static int path_hb_send(struct rtrs_hb *hb, enum rtrs_imm_type type)
{
	struct rtrs_server_path *path = container_of(hb, struct rtrs_server_path, hb);
	unsigned int i;
	int err;

	if (READ_ONCE(path->state) != RTRS_SERVER_PATH_CONNECTED)
		return -ECONNABORTED;
	err = rtrs_server_con_send_imm(path->con[0], type, 0);
	if (err == -EAGAIN)
		err = 0;
	if (type != RTRS_IMM_HB)
		return err;
	for (i = 1; i < path->con_num && !err; i++)
		err = rtrs_server_con_look(path->con[i], READ_ONCE(path->hb.missed_max));
	return err;
}

static void path_hb_lost(struct rtrs_hb *hb, int err)
{
	struct rtrs_server_path *path = container_of(hb, struct rtrs_server_path, hb);

	if (READ_ONCE(path->state) == RTRS_SERVER_PATH_CONNECTED)
		path_err(path, "heartbeat lost: %pe\n", ERR_PTR(err));
	rtrs_server_path_close(path, err);
}

static const struct rtrs_hb_ops path_hb_ops = {
	.send	= path_hb_send,
	.lost	= path_hb_lost,
};

static void path_handshake_work(struct work_struct *work)
{
	struct rtrs_server_path *path = container_of(to_delayed_work(work),
						     struct rtrs_server_path, handshake_work);

	if (READ_ONCE(path->state) != RTRS_SERVER_PATH_CONNECTING)
		return;
	path_err(path, "client did not finish the handshake\n");
	rtrs_server_path_close(path, -ETIMEDOUT);
}

/* Any context. The last operation has ended, or there was none. */
static void path_idle(struct percpu_ref *ref)
{
	struct rtrs_server_path *path = container_of(ref, struct rtrs_server_path, inflight);

	queue_work(rtrs_server_close_wq, &path->idle_work);
}

static void path_stay_work(struct work_struct *work)
{
	struct rtrs_server_path *path = container_of(to_delayed_work(work),
						     struct rtrs_server_path, stay_work);

	pr_warn("path %s: closing, waits for requests that the device behind has\n", path->text);
	queue_delayed_work(rtrs_server_close_wq, &path->stay_work,
			   msecs_to_jiffies(RTRS_SERVER_STAY_MS));
}

static void path_stop_cons(struct rtrs_server_path *path)
{
	unsigned int i;

	for (i = 0; i < path->con_num; i++)
		if (path->con[i])
			rtrs_server_con_stop(path->con[i]);
	/* Each is in error by now, or on its way: the drains are short. */
	for (i = 0; i < path->con_num; i++)
		if (path->con[i])
			ib_drain_qp(path->con[i]->base.qp);
	rtrs_server_wait_cancel(&path->info);
	/* A receive may have been posted behind the drain: by the last to succeed, or by INFO. */
	for (i = 0; i < path->con_num; i++)
		if (path->con[i])
			ib_drain_rq(path->con[i]->base.qp);
}

/* What hangs on the RDMA device; nothing posts or completes any more. */
static void path_leave_device(struct rtrs_server_path *path)
{
	unsigned int i;

	for (i = 0; i < path->con_num; i++)
		if (path->con[i])
			rtrs_server_con_detach(path->con[i]);
	rtrs_server_buf_unmap(path);
	rtrs_server_info_free(path);
	rtrs_dev_put(path->dev);
	path->dev = NULL;
}

/*
 * A path is taken down in three parts, each a work of its own that waits for no disk and no peer:
 *
 *	path_close_work		stops it: from the edge to CLOSING on
 *	path_idle_work		from the end of its last operation on, which may be never
 *	rtrs_server_path_end	at once then; behind the last path of a session, from the end of
 *				the close of its disks on
 *
 * When it starts, there may run: a connect request that adds a
 * connection (ends before the first step is through: session->lock), CM events
 * and completions of each connection, the heartbeat, the timer of the handshake,
 * the INFO worker and lost.c, operations at the user of the server and retries that wait
 * for another path, or are just begun by its worker. Each step ends one of them, for
 * good. The RDMA device is left before operations are waited for: its removal must not
 * wait for a disk.
 */
static void path_close_work(struct work_struct *work)
{
	struct rtrs_server_path *path = container_of(work, struct rtrs_server_path, close_work);
	struct rtrs_server_session *session = path->session;
	unsigned int i;

	/* Behind this a connect request that saw the path connecting is through with it. */
	mutex_lock(&session->lock);
	rtrs_server_path_tell(path, RTRS_SERVER_PATH_CLOSING);
	mutex_unlock(&session->lock);
	cancel_delayed_work_sync(&path->handshake_work);
	rtrs_hb_stop(&path->hb);
	path_stop_cons(path);
	rtrs_server_wait_cancel(&path->lost);
	for (i = 0; i < path->con_num; i++)
		if (path->con[i])
			rtrs_server_con_flush(path->con[i]);
	rtrs_server_fence_drop_retries(path);
	rtrs_server_session_path_off(path);
	synchronize_rcu();
	path_leave_device(path);
	rtrs_server_dev_left(path);
	queue_delayed_work(rtrs_server_close_wq, &path->stay_work,
			   msecs_to_jiffies(RTRS_SERVER_STAY_MS));
	percpu_ref_kill(&path->inflight);	/* path_idle() may come at once */
}

static void path_idle_work(struct work_struct *work)
{
	struct rtrs_server_path *path = container_of(work, struct rtrs_server_path, idle_work);

	cancel_delayed_work_sync(&path->stay_work);
	/* Nothing of ours writes to a chunk any more, neither we nor the device. */
	rtrs_server_fence_release(path, rtrs_server_op_begin);
	if (rtrs_server_session_path_down(path))
		rtrs_server_path_end(path);
}

static struct rtrs_server_path *path_alloc(struct rtrs_server_session *session, u16 con_num)
{
	struct rtrs_server_path *path;

	path = kmem_cache_zalloc(rtrs_server_path_cache, GFP_KERNEL);
	if (!path)
		return NULL;
	path->con = kvcalloc(con_num, sizeof(path->con[0]), GFP_KERNEL);
	path->counts = alloc_percpu(struct rtrs_server_counts);
	if (!path->con || !path->counts ||
	    percpu_ref_init(&path->inflight, path_idle, 0, GFP_KERNEL)) {
		free_percpu(path->counts);
		kvfree(path->con);
		kmem_cache_free(rtrs_server_path_cache, path);
		return NULL;
	}
	kref_init(&path->ref);
	kref_get(&session->ref);
	path->session = session;
	path->con_num = con_num;
	path->since_ns = ktime_get_real_ns();
	spin_lock_init(&path->state_lock);
	rtrs_hb_init(&path->hb, &path_hb_ops, READ_ONCE(rtrs_server_hb_interval_ms),
		     READ_ONCE(rtrs_server_hb_misses));
	INIT_DELAYED_WORK(&path->handshake_work, path_handshake_work);
	rtrs_server_wait_init(&path->info, rtrs_server_wq, rtrs_server_info_work);
	rtrs_server_wait_init(&path->lost, rtrs_server_close_wq, rtrs_server_lost_work);
	INIT_WORK(&path->close_work, path_close_work);
	INIT_WORK(&path->idle_work, path_idle_work);
	INIT_DELAYED_WORK(&path->stay_work, path_stay_work);
	rtrs_census_created(RTRS_CENSUS_SERVER_PATH);
	return path;
}

struct rtrs_server_path *rtrs_server_path_find(struct rtrs_server_session *session, const u8 *uuid)
{
	struct rtrs_server_path *path;

	lockdep_assert_held(&session->lock);
	list_for_each_entry(path, &session->paths, entry)
		if (!memcmp(path->uuid, uuid, sizeof(path->uuid)))
			return path;
	return NULL;
}

static int path_may_be(struct rtrs_server_session *session, const struct rtrs_path_addr *addr)
{
	struct rtrs_server_path *path;

	if (session->path_count >= RTRS_PATHS_MAX)
		return -ECONNRESET;
	list_for_each_entry(path, &session->paths, entry)
		if (rtrs_addr_equal(&path->addr.src, &addr->src) &&
		    rtrs_addr_equal(&path->addr.dst, &addr->dst))
			return READ_ONCE(path->state) < RTRS_SERVER_PATH_CLOSING ? -EEXIST : -EBUSY;
	return 0;
}

/*
 * srv->lock held. -EUSERS: the host of @newest begins more than it ends. Anybody may send connect
 * requests, and what is not logged in yet must not take the account.
 */
static int path_fits(const struct rtrs_server_path *newest)
{
	u64 limit = rtrs_server_mem_limit() / NAMELESS_SHARE;
	u64 bytes = READ_ONCE(newest->pinned);
	struct rtrs_server_path *path;
	unsigned int count = 1;

	list_for_each_entry(path, &newest->session->srv->paths, all_entry) {
		if (path == newest || READ_ONCE(path->told_info) ||
		    memcmp(&path->origin, &newest->origin, sizeof(path->origin)))
			continue;
		bytes += READ_ONCE(path->pinned);
		count++;
	}
	if (count <= NAMELESS_MAX && bytes <= limit)
		return 0;
	path_err(newest, "its host has %u paths that are not logged in, of %llu bytes: at most %d, of %llu\n",
		 count, bytes, NAMELESS_MAX, limit);
	return -EUSERS;
}

/* For another connection, counted already */
int rtrs_server_path_room(struct rtrs_server_path *path)
{
	int err;

	mutex_lock(&path->session->srv->lock);
	err = path_fits(path);
	mutex_unlock(&path->session->srv->lock);
	return err;
}

static int path_publish(struct rtrs_server_path *path)
{
	struct rtrs_server_session *session = path->session;
	struct rtrs_server *srv = session->srv;
	int err = -ECONNRESET;

	mutex_lock(&srv->lock);
	path->sdev = rtrs_server_dev_find(srv, path->dev->ib_dev);
	if (path->sdev && rtrs_server_port_drained(path->sdev, path->hca_port))
		err = -EHOSTDOWN;
	else if (path->sdev && !srv->closing)
		err = path_fits(path);
	if (!err) {
		path->sdev->paths++;
		path->id = rtrs_new_id();
		list_add_tail(&path->all_entry, &srv->paths);
		list_add_tail(&path->entry, &session->paths);
		session->path_count++;
	}
	mutex_unlock(&srv->lock);
	if (!err)
		rtrs_server_events->path_event(path, RNBD_EVENT_CREATE, path->told, path->told);
	return err;
}

/*
 * session->lock held. From here on only its worker takes the path down; where
 * this fails nothing is left of it.
 */
struct rtrs_server_path *rtrs_server_path_create(struct rtrs_server_session *session,
						 struct rdma_cm_id *cm_id,
						 const struct rtrs_conn_req *req)
{
	const struct rtrs_path_addr addr = {
		.src = cm_id->route.addr.dst_addr,
		.dst = cm_id->route.addr.src_addr,
	};
	struct rtrs_server_path *path;
	u64 bytes;
	int err;

	lockdep_assert_held(&session->lock);
	err = path_may_be(session, &addr);
	if (err)
		return ERR_PTR(err);
	bytes = rtrs_server_mem_path(req);
	err = rtrs_server_mem_take(session, bytes);
	if (err)
		return ERR_PTR(err);
	path = path_alloc(session, req->cid_num);
	if (!path) {
		rtrs_server_mem_give(session, bytes);
		return ERR_PTR(-ENOMEM);
	}
	path->pinned = bytes;
	memcpy(path->uuid, req->sess_uuid, sizeof(path->uuid));
	path->lean = req->lean;
	if (req->lean && req->eager)
		path->eager_bytes = rtrs_server_eager_bytes;
	path->grants = req->grants;
	path->notices = req->notices;
	path->fence_cnt = req->fence_cnt;
	path->recon_cnt = req->recon_cnt;
	path->founding = req->alone ? req->founding : 0;
	/* In-tree clients, and our first ones, do not tell. */
	path->beside = req->fences && !req->alone;
	path->addr = addr;
	rtrs_server_origin(cm_id, &path->origin);
	path->forged = rtrs_server_is_forged(cm_id);
	rtrs_addr_print_path(&addr, path->text, sizeof(path->text));
	strscpy(path->hca_name, dev_name(&cm_id->device->dev), sizeof(path->hca_name));
	path->hca_port = cm_id->port_num;

	path->dev = rtrs_dev_get(&session->devs, cm_id->device);
	if (IS_ERR(path->dev)) {
		err = PTR_ERR(path->dev);
		rtrs_server_mem_give(session, bytes);
		goto put;
	}
	err = rtrs_server_info_alloc(path);
	if (!err)
		err = path_publish(path);
	if (err) {
		path_leave_device(path);
		rtrs_server_path_free_ops(path);
		goto put;
	}
	queue_delayed_work(rtrs_server_wq, &path->handshake_work,
			   msecs_to_jiffies(RTRS_SERVER_HANDSHAKE_MS));
	rtrs_server_session_tell(session);
	return path;
put:
	rtrs_server_path_put(path);
	return ERR_PTR(err);
}
