// SPDX-License-Identifier: GPL-2.0
/*
 * Connect requests and CM events. The CM's handler translates and hands over: the
 * memory of a session is not allocated there, other clients would wait for it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>
#include <linux/wait_bit.h>
#include <rdma/ib_cm.h>
#include "server.h"

/**
 * struct connect - a connect request on its way to the worker
 * @work: connect_work()
 * @srv: server; flushes the queue before it goes
 * @cm_id: of the new connection, ours; no context until it has a struct rtrs_server_con
 * @req: private data
 * @number: among those that wait for the end of a path, see struct rtrs_server_path.awaited
 */
struct connect {
	struct work_struct work;
	struct rtrs_server *srv;
	struct rdma_cm_id *cm_id;
	struct rtrs_conn_req req;
	unsigned int number;
};

static void refuse(struct rdma_cm_id *cm_id, int err)
{
	const struct rtrs_conn_rsp rsp = { .err = err };
	struct rtrs_msg_conn_rsp msg;
	char addr[RTRS_ADDR_STRLEN];

	rtrs_addr_print(&cm_id->route.addr.dst_addr, addr, sizeof(addr));
	pr_err_ratelimited("connection of %s refused: %pe\n", addr, ERR_PTR(err));
	rtrs_conn_rsp_pack(&msg, &rsp);
	rdma_reject(cm_id, &msg, sizeof(msg), IB_CM_REJ_CONSUMER_DEFINED);
}

static int accept(struct rdma_cm_id *cm_id, const struct rtrs_conn_req *req)
{
	const struct rtrs_conn_rsp rsp = {
		.flags	= (rtrs_server_new_rkey ? RTRS_CONN_RSP_NEW_RKEY : 0) |
			  (req->lean ? RTRS_CONN_RSP_LEAN : 0) |
			  (req->fences ? RTRS_CONN_RSP_FENCES : 0),
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
static bool connects_anew(const struct rtrs_server_path *path, struct rdma_cm_id *cm_id,
			  const struct rtrs_conn_req *req)
{
	return READ_ONCE(path->state) < RTRS_SERVER_PATH_CLOSING && !req->cid &&
	       (s16)(req->recon_cnt - path->recon_cnt) > 0 && between(path, cm_id);
}

/*
 * A client without a path may have given up what the last ones still have under way here, and
 * use the slots for something else: that would come to chunks which are being written to
 * disks, or be overtaken by them. They are closed and end first; the client comes again. In-tree
 * clients do not tell that they are alone.
 */
static bool must_wait(struct rtrs_server_session *session, const struct rtrs_conn_req *req)
{
	struct rtrs_server_path *path;

	if (req->cid)
		return false;
	list_for_each_entry(path, &session->paths, entry) {
		if (req->alone)
			rtrs_server_path_close(path, -ECONNRESET);
		else if (READ_ONCE(path->state) < RTRS_SERVER_PATH_CLOSING)
			return false;
	}
	return session->path_count;
}

/*
 * A client that is alone tries one path after the other, and rdma_cm repeats each request for a
 * while: one of them may come when a later path is up, which must not be closed for it.
 */
static bool comes_late(struct rtrs_server_session *session, const struct rtrs_conn_req *req)
{
	if (!req->alone || !req->founding)
		return false;
	if ((s32)(req->founding - session->founding) < 0 && session->founding)
		return true;
	session->founding = req->founding;
	return false;
}

/*
 * session->lock held. The path that the connection belongs to, made where it is the first. -EBUSY:
 * not before others have ended; -ESTALE: nor then.
 */
static struct rtrs_server_path *path_of(struct rtrs_server_session *session,
					struct rdma_cm_id *cm_id, const struct rtrs_conn_req *req)
{
	struct rtrs_server_path *path;
	int err;

	if (comes_late(session, req))
		return ERR_PTR(-ESTALE);
	path = rtrs_server_path_find(session, req->sess_uuid);
	if (path && connects_anew(path, cm_id, req))
		rtrs_server_path_close(path, -ECONNRESET);
	if (path && READ_ONCE(path->state) >= RTRS_SERVER_PATH_CLOSING)
		return ERR_PTR(-EBUSY);
	if (must_wait(session, req))
		return ERR_PTR(-EBUSY);
	if (path) {
		if (READ_ONCE(path->state) != RTRS_SERVER_PATH_CONNECTING ||
		    path->con_num != req->cid_num || path->lean != req->lean ||
		    path->con[req->cid])
			return ERR_PTR(-ECONNRESET);
		return path;
	}
	if (!session->chunk) {
		err = rtrs_server_chunks_alloc(session, cm_id->device);
		if (err)
			return ERR_PTR(err);
	}
	return rtrs_server_path_create(session, cm_id, req);
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
	if (err) {
		rtrs_server_path_close(path, err);
		return err;
	}
	path->pinned += bytes;
	con = rtrs_server_con_create(path, cm_id, c->req.cid);
	if (IS_ERR(con)) {
		rtrs_server_path_close(path, PTR_ERR(con));
		return PTR_ERR(con);
	}

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

/*
 * session->lock held. A path in the way of @c, that is being closed. The last one to wait for it
 * does, and those before give up: a client has one worker of ours for each, however often it asks.
 * With a reference.
 */
static struct rtrs_server_path *last_path(struct rtrs_server_session *session,
					  struct connect *c)
{
	bool any = c->req.alone && !c->req.cid;	/* see must_wait() */
	struct rtrs_server_path *path;

	list_for_each_entry(path, &session->paths, entry) {
		if (READ_ONCE(path->state) == RTRS_SERVER_PATH_CLOSING &&
		    (any || between(path, c->cm_id))) {
			c->number = path->awaited + 1;
			WRITE_ONCE(path->awaited, c->number);
			smp_mb();	/* before the look for who waits */
			wake_up_var(&path->state);
			kref_get(&path->ref);
			return path;
		}
	}
	return NULL;
}

/* A client that removes a path and adds it again is not told of what we have still to do. */
static int connect(struct connect *c)
{
	unsigned long until = jiffies + msecs_to_jiffies(RTRS_SERVER_LEAVE_MS);
	struct rtrs_server_session *session;
	struct rtrs_server_path *last;
	bool dead, gave_up = false;
	int err = 0;

	do {
		last = NULL;
		session = rtrs_server_session_lookup(c->srv, &c->req);
		if (IS_ERR(session))
			return PTR_ERR(session);
		mutex_lock(&session->lock);
		dead = session->dead;
		if (!dead) {
			err = connect_path(c, session);
			if (err == -EBUSY && time_before(jiffies, until))
				last = last_path(session, c);
			rtrs_server_session_reap(session);
		}
		mutex_unlock(&session->lock);
		rtrs_server_session_put(session);
		if (last) {
			wait_var_event_timeout(&last->state,
					       READ_ONCE(last->state) == RTRS_SERVER_PATH_CLOSED ||
					       READ_ONCE(last->awaited) != c->number,
					       msecs_to_jiffies(RTRS_SERVER_LEAVE_MS));
			gave_up = READ_ONCE(last->state) != RTRS_SERVER_PATH_CLOSED &&
				  READ_ONCE(last->awaited) != c->number;
			rtrs_server_path_put(last);
		}
	} while (dead || (last && !gave_up));
	return err == -ESTALE ? -EBUSY : err;
}

static void connect_work(struct work_struct *work)
{
	struct connect *c = container_of(work, struct connect, work);
	int err = connect(c);

	if (c->cm_id) {
		rdma_lock_handler(c->cm_id);
		refuse(c->cm_id, err);
		rdma_unlock_handler(c->cm_id);
		rdma_destroy_id(c->cm_id);
	}
	kfree(c);
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
	c = kzalloc(sizeof(*c), GFP_KERNEL);
	if (!c)
		return -ENOMEM;
	err = rtrs_conn_req_parse(param->private_data, param->private_data_len, &c->req);
	if (err) {
		refuse(cm_id, err);
		kfree(c);
		return err;
	}
	INIT_WORK(&c->work, connect_work);
	c->srv = cm_id->context;
	c->cm_id = cm_id;
	cm_id->context = NULL;
	cm_id->event_handler = con_handler;
	queue_work(rtrs_server_wq, &c->work);
	return 0;
}
