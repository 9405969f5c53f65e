// SPDX-License-Identifier: GPL-2.0
/* The end of a request. */
#include <linux/rcupdate.h>
#include "client.h"

void rtrs_client_req_complete(struct rtrs_client_req *req, int err)
{
	void (*done)(void *priv, int err) = req->done;
	void *priv = req->priv;

	if (req->bounced && req->is_read && !err)
		rtrs_client_bounce_copy(req, req - req->con->path->req);
	rtrs_client_mr_unmap_data(req);
	rtrs_client_stats_done(req->con->path, req);
	/* The slot is the user's again. */
	done(priv, err);
}

static void req_finish(struct rtrs_client_req *req)
{
	struct rtrs_client_con *con = req->con;

	if (req->registered) {
		int err = 0;

		/* If the path dies now, its worker finds the request waiting. */
		atomic_set(&req->pending, RTRS_CLIENT_REQ_INVAL);
		rcu_read_lock();
		if (rtrs_client_path_may_post(con->path))
			err = rtrs_client_mr_invalidate(req);
		rcu_read_unlock();
		if (err)
			rtrs_client_path_error(con->path, err);
		return;
	}
	rtrs_client_con_give(con, RTRS_CLIENT_SEND_HELD);
	rtrs_client_req_complete(req, req->err);
}

void rtrs_client_req_put(struct rtrs_client_req *req, int clear)
{
	if (atomic_fetch_andnot(clear, &req->pending) == clear)
		req_finish(req);
}

void rtrs_client_req_invalidated(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_client_req *req = container_of(wc->wr_cqe, struct rtrs_client_req, inval_cqe);

	if (wc->status != IB_WC_SUCCESS) {
		rtrs_client_wc_failed(req->con, wc, "invalidation");
		return;
	}
	rtrs_client_stats_wc(req->con, cq, wc);
	req->registered = false;
	rtrs_client_req_put(req, RTRS_CLIENT_REQ_INVAL);
}
