// SPDX-License-Identifier: GPL-2.0
/* Creating, connecting and destroying CM ids. Nothing is sent through a port that is down. */
#include <linux/export.h>
#include <linux/netdevice.h>
#include <rdma/ib_cache.h>
#include <rdma/rdma_cm.h>
#include "core.h"
#include "rxe.h"

/*
 * The network device tells earlier than the cached port state. One that was unregistered does not
 * count as down: nothing waits for a message through it.
 */
static bool netdev_is_down(const struct rdma_cm_id *cm_id)
{
	int ifindex = cm_id->route.addr.dev_addr.bound_dev_if;
	struct net_device *netdev;
	bool down;

	if (!ifindex || !rdma_protocol_roce(cm_id->device, cm_id->port_num))
		return false;
	rcu_read_lock();
	netdev = dev_get_by_index_rcu(&init_net, ifindex);
	down = netdev && !(netif_running(netdev) && netif_carrier_ok(netdev));
	rcu_read_unlock();
	return down;
}

/*
 * By what the RDMA core and the network stack have of the port. ib_query_port() would be a command
 * to the firmware of an adapter, and may take the RTNL lock.
 */
bool rtrs_cm_port_is_down(const struct rdma_cm_id *cm_id)
{
	enum ib_port_state state;

	if (!cm_id->device || !rdma_cap_ib_cm(cm_id->device, cm_id->port_num))
		return false;
	if (netdev_is_down(cm_id))
		return true;
	return !ib_get_cached_port_state(cm_id->device, cm_id->port_num, &state) &&
	       state == IB_PORT_DOWN;
}

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
