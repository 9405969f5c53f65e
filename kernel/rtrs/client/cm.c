// SPDX-License-Identifier: GPL-2.0
/* Events of rdma_cm, turned into the end of a step or the loss of a path. */
#include <rdma/ib_cm.h>
#include "connect.h"

/* The service connection sets the geometry; other connections of the path must have the same. */
static int cm_established(struct rtrs_client_con *con, const struct rdma_conn_param *param)
{
	struct rtrs_client_path *path = con->path;
	struct rtrs_conn_rsp rsp;
	int err;

	con->live = true;
	err = rtrs_accept_parse(param->private_data, param->private_data_len, &rsp);
	if (err)
		return err;
	if (con->c.cid)
		return rsp.geo.queue_depth == path->geo.queue_depth ? 0 : -ECONNRESET;
	path->geo = rsp.geo;
	path->new_rkey = rsp.flags & RTRS_CONN_RSP_NEW_RKEY;
	path->lean = rsp.flags & RTRS_CONN_RSP_LEAN;
	path->eager_bytes = path->lean ? min(rsp.eager_bytes, rsp.geo.max_io_size) : 0;
	path->fences = rsp.flags & RTRS_CONN_RSP_FENCES;
	path->fence_cnt = rsp.flags & RTRS_CONN_RSP_FENCE_CNT;
	path->grants = path->session->ops->granted && rsp.flags & RTRS_CONN_RSP_GRANTS;
	return 0;
}

static int cm_reject_errno(struct rtrs_client_con *con, struct rdma_cm_event *event)
{
	const void *data;
	u8 len = 0;

	data = rdma_consumer_reject_data(con->c.cm_id, event, &len);
	if (data && len >= sizeof(struct rtrs_msg_conn_rsp)) {
		con->path->refused = true;
		return rtrs_reject_parse(data, len);
	}
	if (event->status == IB_CM_REJ_INVALID_SERVICE_ID || event->status == -ECONNREFUSED)
		return -ECONNREFUSED;
	return -ECONNRESET;
}

static int cm_event_errno(struct rtrs_client_con *con, struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_ERROR:
		return event->status == -ENODEV ? -ENODEV : -EHOSTUNREACH;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return -EHOSTUNREACH;
	case RDMA_CM_EVENT_REJECTED:
		return cm_reject_errno(con, event);
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return -ENODEV;
	default:
		return -ECONNRESET;
	}
}

int rtrs_client_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct rtrs_client_con *con = id->context;
	int err = 0;

	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
		con->c.removed = true;
	if (event->event == RDMA_CM_EVENT_ESTABLISHED)
		err = cm_established(con, &event->param.conn);
	else if (event->event == RDMA_CM_EVENT_ADDR_ERROR && event->status == -ETIMEDOUT)
		con->unresolved = true;
	else if (event->event != RDMA_CM_EVENT_ADDR_RESOLVED &&
		 event->event != RDMA_CM_EVENT_ROUTE_RESOLVED)
		err = cm_event_errno(con, event);

	if (err)
		rtrs_client_path_error(con->path, err);
	else
		rtrs_client_step_done(con->path);
	/*
	 * The peer has answered our disconnect, or sent its own; else there is a status. On iWARP
	 * the event tells of our own end only.
	 */
	if (event->event == RDMA_CM_EVENT_DISCONNECTED && !event->status &&
	    rdma_cap_ib_cm(id->device, id->port_num))
		WRITE_ONCE(con->told, true);
	if (err && event->event != RDMA_CM_EVENT_ESTABLISHED)
		rtrs_client_con_gone(con);
	return 0;
}
