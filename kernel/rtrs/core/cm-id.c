// SPDX-License-Identifier: GPL-2.0
/* Creating, connecting and destroying CM ids. Nothing is sent through a port that is down. */
#include <linux/export.h>
#include <rdma/rdma_cm.h>
#include "core.h"
#include "rxe.h"

/* rdma_cm notes the name of the module that calls: ids are those of rtrs-core. */
struct rdma_cm_id *rtrs_cm_create(rdma_cm_event_handler handler, void *context,
				  enum rdma_ucm_port_space ps)
{
	return rdma_create_id(&init_net, handler, context, ps, IB_QPT_RC);
}
EXPORT_SYMBOL_GPL(rtrs_cm_create);

int rtrs_cm_connect(struct rtrs_con *con, struct rdma_conn_param *param)
{
	if (rtrs_cm_port_is_down(con->cm_id))
		return -ENETDOWN;
	con->cm_sent = true;
	return rdma_connect(con->cm_id, param);
}
EXPORT_SYMBOL_GPL(rtrs_cm_connect);

int rtrs_cm_disconnect(struct rtrs_con *con)
{
	return rtrs_cm_port_is_down(con->cm_id) ? -ENETDOWN : rdma_disconnect(con->cm_id);
}
EXPORT_SYMBOL_GPL(rtrs_cm_disconnect);

void rtrs_cm_destroy(struct rtrs_con *con)
{
	if (!rtrs_rxe_keep_id(con))
		rdma_destroy_id(con->cm_id);
	con->cm_id = NULL;
}
EXPORT_SYMBOL_GPL(rtrs_cm_destroy);
