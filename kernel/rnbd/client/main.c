// SPDX-License-Identifier: GPL-2.0
/* rnbd-client: the steps of a mapping; init and exit of the module. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include "client.h"

static int map_bring_up(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack)
{
	int err;

	err = rnbd_client_dev_open(dev, extack);
	if (err)
		return err;
	err = rnbd_client_disk_create(dev, extack);
	if (err)
		return err;
	err = rnbd_client_dev_mapped(dev, extack);
	if (err)
		return err;
	err = rnbd_client_disk_add(dev, extack);
	if (err)
		return err;
	err = rnbd_client_sysfs_dev_add(dev, extack);
	if (err)
		return err;
	/* rnbd_client_dev_ready() lets others unmap the device. */
	rnbd_client_scan_begin(dev);
	err = rnbd_client_dev_ready(dev, extack);
	if (!err)
		rnbd_client_scan_wait(dev);
	return err;
}

static struct rnbd_client_dev *map_create(const struct rnbd_client_map_args *args,
					  struct netlink_ext_ack *extack)
{
	struct rnbd_client_session *session;
	struct rnbd_client_dev *dev;
	int err;

	session = rnbd_client_session_join(args, extack);
	if (IS_ERR(session))
		return ERR_CAST(session);
	dev = rnbd_client_dev_create(session, args, extack);
	if (IS_ERR(dev)) {
		rnbd_client_session_leave(session);
		return dev;
	}
	/* For our caller: once the device is ready, others may unmap it. */
	rnbd_client_dev_get(dev);
	err = map_bring_up(dev, extack);
	if (err) {
		rnbd_client_dev_abort(dev);
		rnbd_client_dev_put(dev);
		return ERR_PTR(err);
	}
	return dev;
}

int rnbd_client_map(const struct rnbd_client_map_args *args, struct netlink_ext_ack *extack,
		    struct rnbd_client_dev **out)
{
	struct rnbd_client_dev *dev;

	if (!args->device_path[0])
		return rtrs_fail(extack, -EINVAL, "the path of the device is empty");
	dev = map_create(args, extack);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	*out = dev;
	return 0;
}

static int __init rnbd_client_init(void)
{
	int err;

	err = rnbd_client_session_init();
	if (err)
		return err;
	err = rnbd_client_dev_init();
	if (err)
		goto err_session;
	err = rnbd_client_msg_init();
	if (err)
		goto err_dev;
	err = rnbd_client_nl_init();
	if (err)
		goto err_msg;
	err = rnbd_client_sysfs_init();
	if (err)
		goto err_nl;
	return 0;

err_nl:
	rnbd_client_nl_exit();
err_msg:
	rnbd_client_msg_exit();
err_dev:
	rnbd_client_dev_exit();
err_session:
	rnbd_client_session_exit();
	return err;
}

/*
 * Each session and each opener of a disk keeps the module loaded: none is left. Who dropped the
 * last reference may still run our code: the write of a file (rnbd_client_sysfs_exit() waits for
 * it), a work item (rnbd_client_dev_exit() does). The provider is kept for each netlink command.
 */
static void __exit rnbd_client_exit(void)
{
	rnbd_client_sysfs_exit();
	rnbd_client_nl_exit();
	rcu_barrier();
	rnbd_client_msg_exit();
	rnbd_client_dev_exit();
	rnbd_client_session_exit();
}

module_init(rnbd_client_init);
module_exit(rnbd_client_exit);

MODULE_DESCRIPTION("RDMA network block device: client");
MODULE_VERSION(RNBD_VERSION);
MODULE_LICENSE("GPL");
