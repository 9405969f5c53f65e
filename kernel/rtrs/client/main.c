// SPDX-License-Identifier: GPL-2.0
/* rtrs-client: sessions to RTRS servers over RDMA, the transport of rnbd-client. */
#include <linux/module.h>
#include <linux/rcupdate.h>
#include "client.h"
#include "notify.h"

static int __init client_init(void)
{
	int err;

	rtrs_client_events = &rtrs_client_nl_events;
	rtrs_client_files = &rtrs_client_sysfs_files;
	err = rtrs_client_queues_create();
	if (err)
		return err;
	err = rtrs_client_session_init();
	if (err)
		goto out_queues;
	err = rtrs_client_path_init();
	if (err)
		goto out_session;
	err = rtrs_client_con_init();
	if (err)
		goto out_path;
	err = rtrs_client_sysfs_init();
	if (err)
		goto out_con;
	err = rtrs_client_nl_init();
	if (err)
		goto out_sysfs;
	return 0;

out_sysfs:
	rtrs_client_sysfs_exit();
out_con:
	rtrs_client_con_exit();
out_path:
	rtrs_client_path_exit();
out_session:
	rtrs_client_session_exit();
out_queues:
	rtrs_client_queues_destroy();
	return err;
}

/*
 * No user is left, so no session is open. The removal of a path whose writer was killed may still
 * run, and have a reference to its session: rtrs_client_queues_destroy() waits for it.
 */
static void __exit client_exit(void)
{
	rtrs_client_nl_exit();
	rtrs_client_sysfs_exit();
	rtrs_client_queues_destroy();
	rcu_barrier();
	rtrs_client_con_exit();
	rtrs_client_path_exit();
	rtrs_client_session_exit();
}

module_init(client_init);
module_exit(client_exit);

MODULE_DESCRIPTION("RDMA transport: client");
MODULE_VERSION(RNBD_VERSION);
MODULE_LICENSE("GPL");
