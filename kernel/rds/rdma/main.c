// SPDX-License-Identifier: GPL-2.0
/* rds_rdma: RDS over RDMA. */
#include <linux/module.h>
#include <linux/slab.h>
#include "rdma.h"

/* An attempt to connect may take so long at first. Each that took longer doubles it. */
#define PATIENCE	HZ

struct workqueue_struct *rds_rdma_wq;
DEFINE_SPINLOCK(rds_rdma_lock);	/* protects the list, and the link of each path */
LIST_HEAD(rds_rdma_paths);

static int no_events(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	return 0;
}

/* Addresses on a device that has what is needed, whatever its kind */
static bool claims(struct net *net, const struct in6_addr *addr, u32 scope)
{
	struct sockaddr_storage ss;
	const char *lacks = NULL;
	struct rdma_cm_id *id;
	bool ours = false;

	if (!net_eq(net, &init_net))
		return false;
	id = rdma_create_id(&init_net, no_events, NULL, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return false;
	rds_rdma_addr_put(&ss, addr, scope, 0);
	if (!rdma_bind_addr(id, (struct sockaddr *)&ss) && id->device) {
		lacks = rds_rdma_lacks(id->device);
		ours = !lacks;
	}
	if (lacks)
		pr_info_ratelimited("%pI6c: %s has no %s\n", addr, dev_name(&id->device->dev),
				    lacks);
	rdma_destroy_id(id);
	return ours;
}

static int path_init(struct rds_core_path *path)
{
	struct rds_rdma_path *rp = kzalloc(sizeof(*rp), GFP_KERNEL_ACCOUNT);

	if (!rp)
		return -ENOMEM;
	rp->path = path;
	rp->patience = PATIENCE;
	INIT_DELAYED_WORK(&rp->watch_work, rds_rdma_watch_work);
	path->transport_data = rp;
	spin_lock_bh(&rds_rdma_lock);
	list_add_tail(&rp->entry, &rds_rdma_paths);
	spin_unlock_bh(&rds_rdma_lock);
	return 0;
}

/* The path is down and stays so. */
static void path_exit(struct rds_core_path *path)
{
	struct rds_rdma_path *rp = rds_rdma_path(path);

	cancel_delayed_work_sync(&rp->watch_work);
	spin_lock_bh(&rds_rdma_lock);
	list_del(&rp->entry);
	spin_unlock_bh(&rds_rdma_lock);
	kfree(rp);
}

/* Each type of service has a connection of its own. */
static u8 maps_tos(u8 tos)
{
	return tos;
}

struct rds_core_transport rds_rdma_transport = {
	.name = "infiniband",
	.owner = THIS_MODULE,
	.type = RDS_TRANS_IB,
	.prefer_loop = true,
	.claims = claims,
	.path_init = path_init,
	.path_exit = path_exit,
	.connect = rds_rdma_connect,
	.shutdown = rds_rdma_shutdown,
	.xmit = rds_rdma_xmit,
	.xmit_map = rds_rdma_xmit_map,
	.xmit_ack = rds_rdma_xmit_ack,
	.resume = rds_rdma_resume,
	.counters = rds_rdma_counters,
	.maps_tos = maps_tos,
};

static int __init rds_rdma_init(void)
{
	int err;

	rds_rdma_wq = alloc_workqueue("rds_rdma", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!rds_rdma_wq)
		return -ENOMEM;
	err = rds_rdma_listen_start();
	if (err)
		goto out_wq;
	/* Sockets can be bound through it from now on. */
	err = rds_core_transport_register(&rds_rdma_transport);
	if (err)
		goto out_listen;
	rds_rdma_info_init();
	return 0;

out_listen:
	rds_rdma_listen_stop();
	rds_core_transport_leave(&rds_rdma_transport, &init_net);
out_wq:
	destroy_workqueue(rds_rdma_wq);
	return err;
}

static void __exit rds_rdma_exit(void)
{
	rds_rdma_info_exit();
	rds_rdma_listen_stop();
	rds_core_transport_leave(&rds_rdma_transport, &init_net);
	rds_core_transport_unregister(&rds_rdma_transport);
	destroy_workqueue(rds_rdma_wq);
}

module_init(rds_rdma_init);
module_exit(rds_rdma_exit);

MODULE_DESCRIPTION("RDS over RDMA");
MODULE_VERSION(RNBD_VERSION);
MODULE_LICENSE("GPL");
RDS_CORE_TRANSPORT_MODULE;
