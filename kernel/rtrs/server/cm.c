// SPDX-License-Identifier: GPL-2.0
/*
 * Connect requests and CM events. The CM's handler translates and hands over: the
 * memory of a session is not allocated there, other clients would wait for it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>
#include <rdma/ib_cm.h>
#include "server.h"

#define FOUND_MS	1000	/* for what a client without a path has under way to end */

/**
 * struct connect - a connect request on its way to the worker
 * @wait: connect_work()
 * @srv: server; waits for us before it goes
 * @cm_id: of the new connection, ours; no context until it has a struct rtrs_server_con
 * @req: private data
 * @since: jiffies at which it came
 * @given_up: a later one has come
 * @refused: the client has been told why not
 */
struct connect {
	struct rtrs_server_wait wait;
	struct rtrs_server *srv;
	struct rdma_cm_id *cm_id;
	struct rtrs_conn_req req;
	unsigned long since;
	bool given_up;
	bool refused;
};

static void refuse(struct rdma_cm_id *cm_id, int err)
{
	const struct rtrs_conn_rsp rsp = { .err = err == -ESTALE ? -EBUSY : err };
	struct rtrs_msg_conn_rsp msg;
	char addr[RTRS_ADDR_STRLEN];

	rtrs_addr_print(&cm_id->route.addr.dst_addr, addr, sizeof(addr));
	if (err != -EPERM && err != -ESTALE)	/* see admit() */
		pr_err_ratelimited("connection of %s refused: %pe\n", addr, ERR_PTR(err));
	rtrs_conn_rsp_pack(&msg, &rsp);
	rdma_reject(cm_id, &msg, sizeof(msg), IB_CM_REJ_CONSUMER_DEFINED);
}

static int accept(struct rdma_cm_id *cm_id, const struct rtrs_conn_req *req)
{
	const struct rtrs_conn_rsp rsp = {
		.flags	= (rtrs_server_new_rkey ? RTRS_CONN_RSP_NEW_RKEY : 0) |
			  (req->lean ? RTRS_CONN_RSP_LEAN : 0) |
			  (req->fences ? RTRS_CONN_RSP_FENCES : 0) |
			  (req->fence_cnt ? RTRS_CONN_RSP_FENCE_CNT : 0) |
			  (req->grants ? RTRS_CONN_RSP_GRANTS : 0),
		.eager_bytes = req->lean && req->eager ? rtrs_server_eager_bytes : 0,
		.geo	= rtrs_server_geo,
	};
	struct rtrs_msg_conn_rsp msg;
	struct rdma_conn_param param = {
		.rnr_retry_count	= 7,
		.private_data		= &msg,
		.private_data_len	= sizeof(msg),
	};

	rtrs_conn_rsp_pack(&msg, &rsp);
	return rdma_accept(cm_id, &param);
}

static bool between(const struct rtrs_server_path *path, const struct rdma_cm_id *cm_id)
{
	return rtrs_addr_equal(&path->addr.src, &cm_id->route.addr.dst_addr) &&
	       rtrs_addr_equal(&path->addr.dst, &cm_id->route.addr.src_addr);
}

/*
 * A later attempt of a path between the same two addresses: what its client has lost, or given up
 * half connected, is lost here as well, whatever the heartbeat or the handshake's time says. An
 * earlier one may come late, it had to wait.
 */
static bool connects_anew(const struct rtrs_server_path *path, const struct rtrs_conn_req *req)
{
	return READ_ONCE(path->state) < RTRS_SERVER_PATH_CLOSING && !req->cid &&
	       (s16)(req->recon_cnt - path->recon_cnt) > 0;
}

static bool has_live(const struct rtrs_server_session *session)
{
	const struct rtrs_server_path *path;

	list_for_each_entry(path, &session->paths, entry)
		if (READ_ONCE(path->state) < RTRS_SERVER_PATH_CLOSING)
			return true;
	return false;
}

/* Of a session without a name nothing can be under way: what others have begun there is theirs. */
static bool may_end(const struct rtrs_server_session *session, const struct rtrs_server_path *path,
		    const struct rdma_cm_id *cm_id, const struct rtrs_conn_req *req)
{
	if (!req->alone || session->name[0])
		return req->alone;	/* see admit() */
	return rtrs_server_same_origin(path, cm_id) && (s32)(req->founding - path->founding) >= 0;
}

/*
 * A client without a path may have given up what the last ones still have under way here, and
 * use the slots for something else: that would come to chunks which are being written to
 * disks, or be overtaken by them. They are closed and end first. In-tree clients do not tell that
 * they are alone.
 */
static bool must_wait(struct rtrs_server_session *session, const struct rdma_cm_id *cm_id,
		      const struct rtrs_conn_req *req)
{
	struct rtrs_server_path *path;

	if (req->cid)
		return false;
	list_for_each_entry(path, &session->paths, entry)
		if (may_end(session, path, cm_id, req))
			rtrs_server_path_close(path, -ECONNRESET);
	if (has_live(session))
		return false;
	return session->path_count;
}

/*
 * Or they do not end, as a disk hangs. Then the client gets another session, with chunks of its
 * own, once nothing is begun for the last one any more. The disk stays closed to it.
 */
static bool may_leave(struct rtrs_server_session *session, const struct connect *c)
{
	struct rtrs_server_path *path;

	if (!c->req.alone || c->req.cid ||
	    time_before(jiffies, c->since + msecs_to_jiffies(FOUND_MS)))
		return false;
	list_for_each_entry(path, &session->paths, entry)
		if (!READ_ONCE(path->stopped))
			return false;
	return true;
}

/*
 * A client that is alone tries one path after the other, and rdma_cm repeats each request for a
 * while: one of them may come when a later path is up, which must not be closed for it.
 */
static bool comes_late(struct rtrs_server_session *session, const struct rtrs_conn_req *req)
{
	if (!req->founding)
		return false;
	if ((s32)(req->founding - session->founding) < 0 && session->founding)
		return true;
	session->founding = req->founding;
	return false;
}

/*
 * May it join @path, if that is there, and end what its client has lost? -EPERM, or -ESTALE for
 * what is to come again: a client that has moved is let in when its last paths are lost here, too.
 */
static int admit(struct rtrs_server_session *session, const struct rtrs_server_path *path,
		 const struct rdma_cm_id *cm_id, const struct rtrs_conn_req *req)
{
	if (path && !(between(path, cm_id) && rtrs_server_same_origin(path, cm_id))) {
		rtrs_server_stranger(session, cm_id);
		return -EPERM;
	}
	if (!req->alone || req->cid || !session->name[0])
		return 0;
	if (!rtrs_server_is_client(session, cm_id)) {
		if (!has_live(session))
			return 0;	/* what it has left is on its way out */
		rtrs_server_stranger(session, cm_id);
		return -ESTALE;
	}
	return comes_late(session, req) ? -ESTALE : 0;
}

/*
 * session->lock held. The path that the connection belongs to, made where it is the first. -EBUSY:
 * not before others have ended; -ESTALE: nor then.
 */
static struct rtrs_server_path *path_of(struct rtrs_server_session *session,
					struct rdma_cm_id *cm_id, const struct rtrs_conn_req *req)
{
	u32 depth = rtrs_server_geo.queue_depth;
	struct rtrs_server_path *path;
	int err;

	path = rtrs_server_path_find(session, req->sess_uuid);
	err = admit(session, path, cm_id, req);
	if (err)
		return ERR_PTR(err);
	if (path && connects_anew(path, req))
		rtrs_server_path_close(path, -ECONNRESET);
	if (path && READ_ONCE(path->state) >= RTRS_SERVER_PATH_CLOSING)
		return ERR_PTR(-EBUSY);
	if (must_wait(session, cm_id, req))
		return ERR_PTR(-EBUSY);
	if (path) {
		if (READ_ONCE(path->state) != RTRS_SERVER_PATH_CONNECTING ||
		    path->con_num != req->cid_num || path->lean != req->lean ||
		    path->con[req->cid])
			return ERR_PTR(-ECONNRESET);
		return path;
	}
	err = rtrs_server_chunks_look(session, req->grants ? rtrs_slots_first(depth) : depth,
				      rtrs_server_mem_path(req) +
				      rtrs_server_mem_con(req->cid));
	if (err)
		return ERR_PTR(err);
	return rtrs_server_path_create(session, cm_id, req);
}

static void tell_refused(struct connect *c, int err)
{
	if (!c->refused) {
		rdma_lock_handler(c->cm_id);
		refuse(c->cm_id, err);
		rdma_unlock_handler(c->cm_id);
	}
	c->refused = true;
}

/* The client learns of the errno before the other connections of the path end. */
static int fail_path(struct connect *c, struct rtrs_server_path *path, int err)
{
	tell_refused(c, err);
	rtrs_server_path_close(path, err);
	return err;
}

/*
 * session->lock held: the worker that closes the path has not begun its work yet, if
 * anything started it meanwhile. Once the connection hangs on the path its CM id is
 * the path's, and only closing the path ends it.
 */
static int connect_path(struct connect *c, struct rtrs_server_session *session)
{
	struct rdma_cm_id *cm_id = c->cm_id;
	struct rtrs_server_path *path;
	struct rtrs_server_con *con;
	u64 bytes;
	int err;

	path = path_of(session, cm_id, &c->req);
	if (IS_ERR(path))
		return PTR_ERR(path);
	bytes = rtrs_server_mem_con(c->req.cid);
	err = rtrs_server_mem_take(session, bytes);
	if (!err) {
		WRITE_ONCE(path->pinned, path->pinned + bytes);
		err = rtrs_server_path_room(path);
	}
	if (err)
		return fail_path(c, path, err);
	con = rtrs_server_con_create(path, cm_id, c->req.cid);
	if (IS_ERR(con))
		return fail_path(c, path, PTR_ERR(con));

	rdma_lock_handler(cm_id);
	cm_id->context = con;
	path->con[c->req.cid] = con;
	path->con_count++;
	c->cm_id = NULL;
	err = accept(cm_id, &c->req);
	if (err) {
		refuse(cm_id, err);
		con->base.removed = true;	/* perhaps, and told before it was ours */
	}
	rdma_unlock_handler(cm_id);
	if (err)
		rtrs_server_path_close(path, err);
	return 0;
}

static void connect_work(struct work_struct *work);

static bool replaces(const struct connect *c, const struct connect *old)
{
	const struct rdma_addr *addr = &c->cm_id->route.addr, *before = &old->cm_id->route.addr;

	if (c->req.alone && !c->req.cid && old->req.alone && !old->req.cid)
		return true;
	return rtrs_addr_equal(&addr->dst_addr, &before->dst_addr) &&
	       rtrs_addr_equal(&addr->src_addr, &before->src_addr);
}

/*
 * session->lock held. Only the last request of a client waits for the end of what is in its
 * way, and those before it give up, however often it asks. False: it has waited long enough.
 */
static bool wait_for(struct rtrs_server_session *session, struct connect *c)
{
	unsigned long until = c->since + msecs_to_jiffies(RTRS_SERVER_LEAVE_MS);
	unsigned long found = c->since + msecs_to_jiffies(FOUND_MS);
	struct rtrs_server_wait *wait;
	struct connect *old;

	if (c->given_up || !time_before(jiffies, until))
		return false;
	list_for_each_entry(wait, &session->waiting, entry) {
		if (wait->work.work.func != connect_work)
			continue;
		old = container_of(wait, struct connect, wait);
		if (replaces(c, old)) {
			old->given_up = true;
			rtrs_server_wait_over(wait);
		}
	}
	rtrs_server_wait(session, &c->wait, time_before(jiffies, found) ? found : until);
	return true;
}

/* session->lock held, @session is not dead. -EINPROGRESS: @c waits. */
static int connect_to(struct connect *c, struct rtrs_server_session *session)
{
	int err = connect_path(c, session);

	if (err == -EBUSY && may_leave(session, c))
		rtrs_server_session_leave(session);
	else if (err == -EBUSY && wait_for(session, c))
		err = -EINPROGRESS;
	else
		rtrs_server_session_reap(session);
	return err;
}

/* A client that removes a path and adds it again is not told of what we have still to do. */
static int connect(struct connect *c)
{
	struct rtrs_server_session *session;
	bool dead;
	int err;

	do {
		err = 0;
		session = rtrs_server_session_lookup(c->srv, &c->req);
		if (IS_ERR(session))
			return PTR_ERR(session);
		mutex_lock(&session->lock);
		if (!session->dead)
			err = connect_to(c, session);
		dead = session->dead;
		mutex_unlock(&session->lock);
		rtrs_server_session_put(session);
	} while (dead && (!err || err == -EBUSY));
	return err;
}

/* Nothing of the client is touched before. */
static int admit_guest(const struct connect *c)
{
	const struct rtrs_path_addr addr = {
		.src = c->cm_id->route.addr.dst_addr,
		.dst = c->cm_id->route.addr.src_addr,
	};
	union ib_gid gid;
	const struct rtrs_server_guest guest = {
		.addr	= &addr,
		.gid	= gid.raw,
		.forged	= rtrs_server_is_forged(c->cm_id),
	};

	rtrs_server_origin(c->cm_id, &gid);
	return c->srv->ops->admit(&guest);
}

static void connect_work(struct work_struct *work)
{
	struct connect *c = container_of(to_delayed_work(work), struct connect, wait.work);
	int err;

	rtrs_server_wait_end(&c->wait);
	err = admit_guest(c) ?: connect(c);
	if (err == -EINPROGRESS)
		return;
	if (c->cm_id) {
		tell_refused(c, err);
		rdma_destroy_id(c->cm_id);
	}
	kfree(c);
	rtrs_server_live_put();
}

static int con_handler(struct rdma_cm_id *cm_id, struct rdma_cm_event *ev)
{
	struct rtrs_server_con *con = cm_id->context;

	if (!con)
		return 0;	/* the worker will see it when it accepts */
	switch (ev->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		rtrs_server_path_close(con->path, -ECONNRESET);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		con->base.removed = true;
		rtrs_server_path_close(con->path, -ENODEV);
		break;
	default:
		path_err(con->path, "%s, status %d\n", rdma_event_msg(ev->event), ev->status);
		rtrs_server_path_close(con->path, -ECONNABORTED);
		break;
	}
	return 0;
}

/* Of the listeners. Any error makes the CM destroy the new id. */
int rtrs_server_cm_handler(struct rdma_cm_id *cm_id, struct rdma_cm_event *ev)
{
	const struct rdma_conn_param *param = &ev->param.conn;
	struct connect *c;
	int err;

	if (ev->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return 0;
	if (!rtrs_server_listens(cm_id)) {
		rdma_reject(cm_id, NULL, 0, IB_CM_REJ_INVALID_SERVICE_ID);
		return -ECONNREFUSED;
	}
	c = kzalloc(sizeof(*c), GFP_KERNEL);
	if (!c)
		return -ENOMEM;
	err = rtrs_conn_req_parse(param->private_data, param->private_data_len, &c->req);
	if (err) {
		refuse(cm_id, err);
		kfree(c);
		return err;
	}
	rtrs_server_wait_init(&c->wait, rtrs_server_wq, connect_work);
	rtrs_server_live_get();
	c->since = jiffies;
	c->srv = cm_id->context;
	c->cm_id = cm_id;
	cm_id->context = NULL;
	cm_id->event_handler = con_handler;
	queue_delayed_work(rtrs_server_wq, &c->wait.work, 0);
	return 0;
}
