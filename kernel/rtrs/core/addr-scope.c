// SPDX-License-Identifier: GPL-2.0
/* The scope of a link-local address: the part of an address that the host decides. */
#include <linux/if.h>
#include <linux/kernel.h>
#include <linux/netdevice.h>
#include <linux/string.h>
#include <net/net_namespace.h>
#include "addr.h"

int rtrs_addr_scope_index(const char *name, size_t len)
{
	char buf[IFNAMSIZ];
	struct net_device *netdev;
	unsigned int index = 0;

	if (!len || len >= sizeof(buf))
		return -EINVAL;
	memcpy(buf, name, len);
	buf[len] = '\0';

	rcu_read_lock();
	netdev = dev_get_by_name_rcu(&init_net, buf);
	if (!netdev && !kstrtouint(buf, 10, &index))
		netdev = dev_get_by_index_rcu(&init_net, index);
	index = netdev ? netdev->ifindex : 0;
	rcu_read_unlock();
	return index ? index : -EINVAL;
}
