// SPDX-License-Identifier: GPL-2.0
/* Namespaces. */
#include "core.h"

unsigned int rds_net_id;

static DEFINE_MUTEX(nets_lock);
static LIST_HEAD(nets);

static int __net_init net_start(struct net *net)
{
	struct rds_net *rnet = rds_net(net);

	spin_lock_init(&rnet->lock);
	INIT_LIST_HEAD(&rnet->socks);
	INIT_LIST_HEAD(&rnet->monitors);
	INIT_LIST_HEAD(&rnet->conns);
	init_waitqueue_head(&rnet->map_wait);
	mutex_lock(&nets_lock);
	list_add_tail(&rnet->entry, &nets);
	mutex_unlock(&nets_lock);
	return 0;
}

/* A transport that goes at the same time finds the connections, or they are gone. */
static void __net_exit net_end(struct net *net)
{
	struct rds_net *rnet = rds_net(net);

	mutex_lock(&nets_lock);
	rds_conn_end_net(rnet);
	list_del(&rnet->entry);
	mutex_unlock(&nets_lock);
}

static struct pernet_operations net_ops = {
	.init = net_start,
	.exit = net_end,
	.id = &rds_net_id,
	.size = sizeof(struct rds_net),
};

void rds_net_each(void (*fn)(struct rds_net *rnet, void *arg), void *arg)
{
	struct rds_net *rnet;

	mutex_lock(&nets_lock);
	list_for_each_entry(rnet, &nets, entry)
		fn(rnet, arg);
	mutex_unlock(&nets_lock);
}

/* As a device: it ends before the addresses and routes of the namespace do. */
int rds_net_init(void)
{
	return register_pernet_device(&net_ops);
}

void rds_net_exit(void)
{
	unregister_pernet_device(&net_ops);
}
