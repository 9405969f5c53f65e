// SPDX-License-Identifier: GPL-2.0
/* Whether something can be sent through a port. */
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
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
