// SPDX-License-Identifier: GPL-2.0
/* rds_tcp: RDS over TCP. */
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/rds.h>
#include <net/addrconf.h>
#include <net/route.h>
#include "tcp.h"

static bool claims6(struct net *net, const struct in6_addr *addr, u32 scope)
{
	struct net_device *dev = NULL;
	bool local;

	rcu_read_lock();
	if (scope)
		dev = dev_get_by_index_rcu(net, scope);
	local = (!scope || dev) && ipv6_chk_addr(net, addr, dev, 0);
	rcu_read_unlock();
	return local;
}

/* Every address of the namespace */
static bool claims(struct net *net, const struct in6_addr *addr, u32 scope)
{
	if (ipv6_addr_v4mapped(addr))
		return inet_addr_type(net, addr->s6_addr32[3]) == RTN_LOCAL;
	return IS_ENABLED(CONFIG_IPV6) && claims6(net, addr, scope);
}

/* TCP connections of all types of service are one. */
static u8 maps_tos(u8 tos)
{
	return 0;
}

static struct rds_core_transport transport = {
	.name = "tcp",
	.owner = THIS_MODULE,
	.type = RDS_TRANS_TCP,
	.prefer_loop = true,
	.sends_zcopy = true,
	.claims = claims,
	.path_init = rds_tcp_path_init,
	.path_exit = rds_tcp_path_exit,
	.connect = rds_tcp_connect,
	.shutdown = rds_tcp_shutdown,
	.xmit = rds_tcp_xmit,
	.xmit_map = rds_tcp_xmit_map,
	.xmit_ack = rds_tcp_xmit_ack,
	.resume = rds_tcp_resume,
	.ends = rds_tcp_ends,
	.counters = rds_tcp_counters,
	.maps_tos = maps_tos,
};

static int __init rds_tcp_init(void)
{
	int err;

	rds_tcp_transport = &transport;
	rds_tcp_wq = alloc_workqueue("rds_tcp", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!rds_tcp_wq)
		return -ENOMEM;
	err = rds_tcp_net_init();
	if (err)
		goto out_wq;
	/* Sockets can be bound through it from now on. */
	err = rds_core_transport_register(&transport);
	if (err)
		goto out_net;
	rds_tcp_info_init();
	return 0;

out_net:
	rds_tcp_net_exit();
out_wq:
	destroy_workqueue(rds_tcp_wq);
	return err;
}

static void __exit rds_tcp_exit(void)
{
	rds_tcp_info_exit();
	rds_tcp_net_exit();
	rds_core_transport_unregister(&transport);
	destroy_workqueue(rds_tcp_wq);
}

module_init(rds_tcp_init);
module_exit(rds_tcp_exit);

MODULE_DESCRIPTION("RDS over TCP");
MODULE_VERSION(RNBD_VERSION);
MODULE_LICENSE("GPL");
RDS_CORE_TRANSPORT_MODULE;
