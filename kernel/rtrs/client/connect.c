// SPDX-License-Identifier: GPL-2.0
/*
 * Connecting a path, step by step, in the process that opens the session or adds the path,
 * or in path->connect_work. Each step is begun, waited for, and said what is wrong with in the
 * user's terms. What was built is taken down by the caller, whatever the step that failed.
 */
#include "connect.h"

#define RESOLVE_TRY_MS	1000

enum step {
	STEP_ADDR,
	STEP_ROUTE,
	STEP_CONNECT,
	STEP_LOGIN,
};

static const char *const step_name[] = {
	[STEP_ADDR]	= "address resolution",
	[STEP_ROUTE]	= "route resolution",
	[STEP_CONNECT]	= "the connection request",
	[STEP_LOGIN]	= "the login",
};

static int explain_route(struct rtrs_client_path *path, const char *dst, int err,
			 struct netlink_ext_ack *extack)
{
	char src[RTRS_ADDR_STRLEN];

	switch (err) {
	case -EADDRNOTAVAIL:
		rtrs_addr_print(&path->bind, src, sizeof(src));
		return rtrs_fail(extack, err, "%s: not an address of this host", src);
	case -ENODEV:
		return rtrs_fail(extack, err, "%s: no RDMA device leads there", dst);
	case -ENETUNREACH:
		err = -EHOSTUNREACH;
		fallthrough;
	case -EHOSTUNREACH:
		return rtrs_fail(extack, err, "%s: no route to the server", dst);
	}
	return rtrs_fail(extack, err, "%s: no way to the server: %pe", dst, ERR_PTR(err));
}

/* Says what a step failed with, and returns it. */
static int explain_error(struct rtrs_client_path *path, enum step step, int err,
			 struct netlink_ext_ack *extack)
{
	char dst[RTRS_ADDR_STRLEN];

	rtrs_addr_print(&path->addr.dst, dst, sizeof(dst));
	if (err == -EINTR)
		return rtrs_fail(extack, err, "%s: interrupted at %s", dst, step_name[step]);
	if (err == -ETIMEDOUT)
		return rtrs_fail(extack, step == STEP_ADDR ? -EHOSTUNREACH : err,
				 "%s: no answer to %s within %u ms", dst, step_name[step],
				 path->timeout_ms);
	if (step == STEP_ADDR || step == STEP_ROUTE)
		return explain_route(path, dst, err, extack);
	if (path->refused && err == -EEXIST)
		return rtrs_fail(extack, err, "%s: server refused: session has this path", dst);
	if (path->refused && err == -EHOSTDOWN)
		return rtrs_fail(extack, err, "%s: server refused: it drains that port", dst);
	if (path->refused && err == -EBUSY)
		return rtrs_fail(extack, err, "%s: server refused: it has old paths still",
				 dst);
	if (path->refused && err == -EUSERS)
		return rtrs_fail(extack, err, "%s: server refused: too many paths log in", dst);
	if (path->refused && (err == -EACCES || err == -ENOKEY))
		return rtrs_fail_by(extack, RNBD_REFUSAL_ACCESS_LIST, err,
				    "%s: refused by the server's access list", dst);
	if (path->refused)
		return rtrs_fail(extack, err, "%s: server refused: %pe", dst, ERR_PTR(err));
	if (err == -ECONNREFUSED)
		return rtrs_fail(extack, err, "%s: nobody listens on port %u", dst,
				 rtrs_addr_port(&path->addr.dst));
	if (step == STEP_LOGIN && err == -EBUSY)
		return rtrs_fail(extack, err, "%s: the last path was lost meanwhile", dst);
	if (step == STEP_LOGIN && err == -ECONNRESET)
		return rtrs_fail(extack, err,
				 "%s: server hung up at login: name taken or denied, or no memory",
				 dst);
	return rtrs_fail(extack, err, "%s: %s: %pe", dst, step_name[step], ERR_PTR(err));
}

/* rdma_cm bounds these steps itself; what it says is better than our time-out, and may be late. */
static unsigned int resolve_ms(const struct rtrs_client_path *path)
{
	return path->timeout_ms + path->timeout_ms / 4 + 1000;
}

static int try_resolve_addr(struct rtrs_client_con *con, unsigned int ms)
{
	struct rtrs_client_path *path = con->path;
	int err;

	con->unresolved = false;
	err = rtrs_client_step_begin(path);
	if (err)
		return err;
	err = rdma_resolve_addr(con->c.cm_id, NULL, (struct sockaddr *)&path->addr.dst, ms);
	return err ?: rtrs_client_step_wait(path, resolve_ms(path));
}

/*
 * By rdma_resolve_addr() it would be bound as well; a device that is removed in that moment makes
 * the kernel warn, then.
 */
static int bind_addr(struct rtrs_client_con *con)
{
	struct sockaddr_storage *src = &con->path->bind;

	if (src->ss_family == AF_UNSPEC)
		return 0;
	return rdma_bind_addr(con->c.cm_id, (struct sockaddr *)src);
}

/*
 * rdma_cm looks for the neighbour once. What becomes of it later, or between that look and the
 * begin of its wait, it may not hear of before its time is over: therefore it gets little.
 */
static int resolve_addr(struct rtrs_client_con *con)
{
	unsigned int left = con->path->timeout_ms;
	unsigned int ms;
	int err;

	err = bind_addr(con);
	if (err)
		return err;
	do {
		ms = min_t(unsigned int, left, RESOLVE_TRY_MS);
		left -= ms;
		err = try_resolve_addr(con, ms);
	} while (!err && con->unresolved && left);
	return !err && con->unresolved ? -ETIMEDOUT : err;
}

static int resolve_route(struct rtrs_client_con *con)
{
	struct rtrs_client_path *path = con->path;
	int err;

	err = rtrs_client_step_begin(path);
	if (err)
		return err;
	err = rdma_resolve_route(con->c.cm_id, path->timeout_ms);
	return err ?: rtrs_client_step_wait(path, resolve_ms(path));
}

static int send_connect_request(struct rtrs_client_con *con)
{
	struct rtrs_client_path *path = con->path;
	struct rtrs_conn_req req = {
		.cid = con->c.cid,
		.cid_num = path->con_count,
		.recon_cnt = path->recon_cnt,
		.lean = true,
		.notices = path->session->ops->notice,
		.fences = true,
		.fence_cnt = true,
		.eager = true,
		.grants = path->session->ops->granted,
	};
	struct rtrs_msg_conn_req msg;
	struct rdma_conn_param param = {
		.private_data = &msg,
		.private_data_len = sizeof(msg),
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
	int err;

	if (!con->c.cid) {
		err = rtrs_client_session_found(path);
		if (err)
			return err;
	}
	req.first_conn = path->founds;
	req.alone = path->founds;
	req.founding = path->founds ? path->founding : 0;
	memcpy(req.sess_uuid, path->uuid, sizeof(req.sess_uuid));
	memcpy(req.paths_uuid, path->session->uuid, sizeof(req.paths_uuid));
	rtrs_conn_req_pack(&msg, &req);
	err = rtrs_client_step_begin(path);
	if (err)
		return err;
	err = rtrs_cm_connect(&con->c, &param);
	err = err ?: rtrs_client_step_wait(path, path->timeout_ms);
	if (!err)
		rtrs_client_session_answered(path);
	return err;
}

/* The first connection tells which device and source address the path has. */
static int bind_device(struct rtrs_client_con *con, struct netlink_ext_ack *extack)
{
	struct rtrs_client_path *path = con->path;
	struct rdma_cm_id *id = con->c.cm_id;
	struct rtrs_dev *dev;

	if (path->dev)
		return path->dev->ib_dev == id->device ? 0 :
		       rtrs_fail(extack, -ENODEV, "the connections of a path lead to two devices");
	dev = rtrs_dev_get(&path->session->devs, id->device);
	if (IS_ERR(dev))
		return rtrs_fail(extack, PTR_ERR(dev), "RDMA device %s cannot be used: %pe",
				 id->device->name, dev);
	path->dev = dev;
	spin_lock_bh(&path->session->state_lock);
	path->addr.src = id->route.addr.src_addr;
	rtrs_addr_set_port(&path->addr.src, 0);
	rtrs_addr_print_path(&path->addr, path->name, sizeof(path->name));
	/* From now on it is this pair of addresses, wherever a route may lead. */
	path->bind = path->addr.src;
	strscpy(path->hca_name, id->device->name, sizeof(path->hca_name));
	path->hca_port = id->port_num;
	spin_unlock_bh(&path->session->state_lock);
	return 0;
}

/* The accept of the service connection came with the geometry. */
static int check_geometry(struct rtrs_client_path *path, struct netlink_ext_ack *extack)
{
	if (rtrs_geometry_check(&path->geo))
		return rtrs_fail(extack, -EINVAL, "server offers %u slots of %u bytes: impossible",
				 path->geo.queue_depth, path->geo.chunk_size);
	if (path->geo.queue_depth < 2)
		return rtrs_fail(extack, -EINVAL,
				 "server offers a queue depth of 1; at least 2 are needed");
	if (rtrs_client_mr_limits(path))
		return rtrs_fail(extack, -EOPNOTSUPP, "RDMA device %s registers too little memory",
				 path->hca_name);
	return rtrs_client_pin(path, extack);
}

static int connect_con(struct rtrs_client_path *path, u16 cid, struct netlink_ext_ack *extack)
{
	enum rdma_ucm_port_space ps = path->addr.dst.ss_family == AF_IB ? RDMA_PS_IB : RDMA_PS_TCP;
	struct rtrs_client_con *con = rtrs_client_con_create(path, cid);
	struct rdma_cm_id *id;
	int err;

	if (!con)
		return -ENOMEM;
	path->con[cid] = con;
	id = rtrs_cm_create(rtrs_client_cm_handler, con, ps);
	if (IS_ERR(id))
		return PTR_ERR(id);
	con->c.cm_id = id;
	err = rdma_set_reuseaddr(id, 1);
	if (err)
		return err;
	err = resolve_addr(con);
	if (err)
		return explain_error(path, STEP_ADDR, err, extack);
	err = cid ? 0 : rtrs_client_session_found(path);
	if (err)
		return explain_error(path, STEP_CONNECT, err, extack);
	err = bind_device(con, extack);
	if (err)
		return err;
	err = rtrs_client_con_setup(con);
	if (err)
		return rtrs_fail(extack, err, "RDMA device %s: queue pair of connection %u: %pe",
				 path->hca_name, cid, ERR_PTR(err));
	err = resolve_route(con);
	if (err)
		return explain_error(path, STEP_ROUTE, err, extack);
	err = send_connect_request(con);
	if (err)
		return explain_error(path, STEP_CONNECT, err, extack);
	return cid ? 0 : check_geometry(path, extack);
}

int rtrs_client_connect(struct rtrs_client_path *path, struct netlink_ext_ack *extack)
{
	unsigned int cid;
	int err;

	path->recon_cnt++;
	path->refused = false;
	path->founds = false;
	for (cid = 0; cid < path->con_count; cid++) {
		err = connect_con(path, cid, extack);
		if (err)
			return err;
	}
	err = rtrs_client_io_init(path);
	if (err && err != -EINTR)
		return rtrs_fail(extack, err, "RDMA device %s: no memory regions for %u slots: %pe",
				 path->hca_name, path->geo.queue_depth, ERR_PTR(err));
	err = err ?: rtrs_client_info(path);
	if (err)
		return explain_error(path, STEP_LOGIN, err, extack);
	for (cid = 0; cid < path->con_count; cid++) {
		err = rtrs_client_con_post_recvs(path->con[cid]);
		if (err)
			return explain_error(path, STEP_LOGIN, err, extack);
	}
	err = rtrs_client_session_join(path, extack);
	if (err)
		return err;
	err = rtrs_client_path_up(path);
	return err ? explain_error(path, STEP_LOGIN, err, extack) : 0;
}
