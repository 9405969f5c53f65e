// SPDX-License-Identifier: GPL-2.0
/* Namespaces. */
#include "core.h"

unsigned int rds_net_id;

static int __net_init net_start(struct net *net)
{
	struct rds_net *rnet = rds_net(net);

	spin_lock_init(&rnet->lock);
	INIT_LIST_HEAD(&rnet->socks);
	INIT_LIST_HEAD(&rnet->monitors);
	INIT_LIST_HEAD(&rnet->conns);
	INIT_DELAYED_WORK(&rnet->tidy_work, rds_conn_tidy_work);
	init_waitqueue_head(&rnet->map_wait);
	return 0;
}

static void __net_exit net_end(struct net *net)
{
	rds_conn_end_net(rds_net(net));
}

static struct pernet_operations net_ops = {
	.init = net_start,
	.exit = net_end,
	.id = &rds_net_id,
	.size = sizeof(struct rds_net),
};

/* As a device: it ends before the addresses and routes of the namespace do. */
int rds_net_init(void)
{
	return register_pernet_device(&net_ops);
}

void rds_net_exit(void)
{
	unregister_pernet_device(&net_ops);
}
