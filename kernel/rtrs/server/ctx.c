// SPDX-License-Identifier: GPL-2.0
/*
 * The server: devices that come and go, listeners from the first to the last.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitmap.h>
#include <linux/export.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib.h>
#include "server.h"

#define LISTEN_BACKLOG	64

static struct rdma_cm_id *listen_on(struct rtrs_server *srv, const struct sockaddr *addr,
				    enum rdma_ucm_port_space ps)
{
	struct rdma_cm_id *cm_id;
	int err;

	cm_id = rtrs_cm_create(rtrs_server_cm_handler, srv, ps);
	if (IS_ERR(cm_id))
		return cm_id;
	if (addr->sa_family == AF_INET6)
		rdma_set_afonly(cm_id, 0);	/* IPv4 too, whatever net.ipv6.bindv6only says */
	err = rdma_bind_addr(cm_id, (struct sockaddr *)addr);
	if (!err)
		err = rdma_listen(cm_id, LISTEN_BACKLOG);
	if (!err)
		return cm_id;
	rdma_destroy_id(cm_id);
	return ERR_PTR(err);
}

static int listen_start(struct rtrs_server *srv)
{
	struct sockaddr_in6 ip = {
		.sin6_family	= AF_INET6,
		.sin6_port	= cpu_to_be16(srv->port),
	};
	struct sockaddr_ib ib = {
		.sib_family	= AF_IB,
		.sib_sid	= cpu_to_be64(RTRS_IB_SERVICE_ID | srv->port),
		.sib_sid_mask	= cpu_to_be64(~0ULL),
		.sib_pkey	= cpu_to_be16(0xffff),
	};
	struct rdma_cm_id *cm_id;

	cm_id = listen_on(srv, (struct sockaddr *)&ip, RDMA_PS_TCP);
	/* Of an address that is any, the CM can miss nothing but the port. */
	if (IS_ERR(cm_id))
		return PTR_ERR(cm_id) == -EADDRNOTAVAIL ? -EADDRINUSE : PTR_ERR(cm_id);
	srv->cm_ip = cm_id;

	/* Hosts without InfiniBand do without. */
	cm_id = listen_on(srv, (struct sockaddr *)&ib, RDMA_PS_IB);
	srv->cm_ib = IS_ERR(cm_id) ? NULL : cm_id;
	return 0;
}

static void listen_stop(struct rtrs_server *srv)
{
	if (srv->cm_ip)
		rdma_destroy_id(srv->cm_ip);
	if (srv->cm_ib)
		rdma_destroy_id(srv->cm_ib);
	srv->cm_ip = NULL;
	srv->cm_ib = NULL;
}

static void dev_free(struct rtrs_server_dev *sdev)
{
	bitmap_free(sdev->drained);
	kfree(sdev);
}

static int ib_dev_add(struct ib_device *ib_dev)
{
	struct rtrs_server *srv = rtrs_server_current;
	struct rtrs_server_dev *sdev;
	int err = 0;

	sdev = kzalloc(sizeof(*sdev), GFP_KERNEL);
	if (!sdev)
		return -ENOMEM;
	sdev->ib_dev = ib_dev;
	sdev->drained = bitmap_zalloc(ib_dev->phys_port_cnt + 1, GFP_KERNEL);
	if (!sdev->drained) {
		kfree(sdev);
		return -ENOMEM;
	}

	mutex_lock(&srv->lock);
	if (list_empty(&srv->devs)) {
		err = listen_start(srv);
		srv->listen_err = err;
		/* whoever opens us is told */
		if (err && srv->is_open)
			pr_err("%s: cannot listen on port %u: %pe\n", ib_dev->name, srv->port,
			       ERR_PTR(err));
	}
	if (!err)
		list_add_tail(&sdev->entry, &srv->devs);
	mutex_unlock(&srv->lock);
	if (err)
		dev_free(sdev);
	return err;
}

/*
 * Closes the paths of the device and waits until they have left it. New ones cannot
 * come: the device is out of the list. Not called for a device whose addition failed.
 */
static void ib_dev_remove(struct ib_device *ib_dev, void *client_data)
{
	struct rtrs_server *srv = rtrs_server_current;
	struct rtrs_server_dev *sdev;
	struct rtrs_server_path *path;

	mutex_lock(&srv->lock);
	sdev = rtrs_server_dev_find(srv, ib_dev);
	if (!sdev) {
		mutex_unlock(&srv->lock);
		return;
	}
	list_del(&sdev->entry);
	if (list_empty(&srv->devs))
		listen_stop(srv);
	list_for_each_entry(path, &srv->paths, all_entry)
		if (path->sdev == sdev)
			rtrs_server_path_close(path, -ENODEV);
	mutex_unlock(&srv->lock);

	rtrs_server_dev_await(srv, sdev);
	dev_free(sdev);
}

static struct ib_client ib_client = {
	.name	= "rtrs_server",
	.add	= ib_dev_add,
	.remove	= ib_dev_remove,
};

struct rtrs_server *rtrs_server_open(const struct rtrs_server_ops *ops, u16 port)
{
	struct rtrs_server *srv;
	int err;

	srv = kzalloc(sizeof(*srv), GFP_KERNEL);
	if (!srv)
		return ERR_PTR(-ENOMEM);
	srv->ops = ops;
	srv->port = port;
	mutex_init(&srv->lock);
	INIT_LIST_HEAD(&srv->devs);
	INIT_LIST_HEAD(&srv->sessions);
	INIT_LIST_HEAD(&srv->paths);

	err = rtrs_server_set_current(srv);
	if (err) {
		kfree(srv);
		return ERR_PTR(err);
	}
	rtrs_server_live_get();

	err = ib_register_client(&ib_client);
	if (!err && srv->listen_err) {
		err = srv->listen_err;
		ib_unregister_client(&ib_client);
	}
	if (!err) {
		mutex_lock(&srv->lock);
		srv->is_open = true;
		mutex_unlock(&srv->lock);
		return srv;
	}

	rtrs_server_live_put();
	rtrs_server_clear_current();
	kfree(srv);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_GPL(rtrs_server_open);

/*
 * Unregistering removes each device: the listeners go with the last one, and the
 * paths with theirs. Connect requests that are still queued find @closing and are
 * refused. A lookup of netlink may hold a session a moment longer.
 */
void rtrs_server_close(struct rtrs_server *srv)
{
	mutex_lock(&srv->lock);
	srv->closing = true;
	mutex_unlock(&srv->lock);
	ib_unregister_client(&ib_client);
	flush_workqueue(rtrs_server_wq);
	flush_workqueue(rtrs_server_close_wq);

	rtrs_server_live_put();
	rtrs_server_live_await();
	rtrs_server_chunks_exit();
	rtrs_server_clear_current();
	kfree(srv);
}
EXPORT_SYMBOL_GPL(rtrs_server_close);
