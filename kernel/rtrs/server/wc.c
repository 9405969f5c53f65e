// SPDX-License-Identifier: GPL-2.0
/* Completions that failed: the path is closed. */
#include "server.h"

/* A completion handler's. The first error of a path is told, what follows it is not. */
void rtrs_server_wc_failed(struct rtrs_server_con *con, const struct ib_wc *wc, const char *what)
{
	struct rtrs_server_path *path = con->path;

	/* Each request of a connection that ends comes here: no lock for those. */
	if (READ_ONCE(path->state) >= RTRS_SERVER_PATH_CLOSING)
		return;
	if (rtrs_wc_tells(&con->base, wc))
		path_err(path, "%s on connection %u: %s\n", what, con->base.cid,
			 ib_wc_status_msg(wc->status));
	rtrs_server_path_close(path, wc->status == IB_WC_WR_FLUSH_ERR ? -ECONNRESET : -EIO);
}
