// SPDX-License-Identifier: GPL-2.0
/* Completions: those of polled connections, and those that failed, by which the path is lost. */
#include "client.h"

static int wc_errno(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_WR_FLUSH_ERR:
		return -ECONNRESET;
	case IB_WC_RETRY_EXC_ERR:
	case IB_WC_RNR_RETRY_EXC_ERR:
		return -ETIMEDOUT;
	case IB_WC_REM_INV_REQ_ERR:
	case IB_WC_REM_ACCESS_ERR:
	case IB_WC_REM_OP_ERR:
		return -EREMOTEIO;
	default:
		return -EIO;
	}
}

void rtrs_client_wc_failed(struct rtrs_client_con *con, const struct ib_wc *wc, const char *what)
{
	struct rtrs_client_path *path = con->path;

	/* Each request of a connection that ends comes here: no lock for those. */
	if (!rtrs_client_path_may_post(path))
		return;
	if (rtrs_client_path_connected(path) && rtrs_wc_tells(&con->c, wc))
		pr_warn_ratelimited("session %s, path %s, connection %u: %s failed: %s\n",
				    path->session->name, path->name, con->c.cid, what,
				    ib_wc_status_msg(wc->status));
	rtrs_client_path_error(path, wc_errno(wc->status));
}

int rtrs_client_con_poll(struct rtrs_client_con *con)
{
	int n;

	/* Completions of a connection are dealt with in order: one at a time polls it. */
	if (test_and_set_bit_lock(0, &con->polling))
		return 0;
	n = ib_process_cq_direct(con->c.cq, -1);
	rtrs_client_stats_polled(con->path, n);
	clear_bit_unlock(0, &con->polling);
	return n;
}
