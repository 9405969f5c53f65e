// SPDX-License-Identifier: GPL-2.0
/* rnbd-client: init and exit of the module. */
#include <linux/module.h>
#include "client.h"
#include "notify.h"

static int __init rnbd_client_init(void)
{
	int err;

	rnbd_client_events = &rnbd_client_nl_events;
	rnbd_client_files = &rnbd_client_sysfs_files;
	err = rnbd_client_objects_init();
	if (err)
		return err;
	err = rnbd_client_queues_create();
	if (err)
		goto err_objects;
	err = rnbd_client_msg_init();
	if (err)
		goto err_queues;
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
err_queues:
	rnbd_client_queues_destroy();
err_objects:
	rnbd_client_objects_exit();
	return err;
}

/*
 * Each session and each opener of a disk keeps the module loaded: none is left. Who dropped the
 * last reference may still run our code: the write of a file (rnbd_client_sysfs_exit() waits for
 * it), a work item (rnbd_client_queues_destroy() does). The provider is kept for each netlink
 * command.
 */
static void __exit rnbd_client_exit(void)
{
	rnbd_client_sysfs_exit();
	rnbd_client_nl_exit();
	rcu_barrier();
	rnbd_client_msg_exit();
	rnbd_client_queues_destroy();
	rnbd_client_objects_exit();
}

module_init(rnbd_client_init);
module_exit(rnbd_client_exit);

MODULE_DESCRIPTION("RDMA network block device: client");
MODULE_VERSION(RNBD_VERSION);
MODULE_LICENSE("GPL");
