// SPDX-License-Identifier: GPL-2.0
/* rtrs-client: sessions to RTRS servers over RDMA, the transport of rnbd-client. */
#include <linux/module.h>
#include <linux/rcupdate.h>
#include "client.h"

struct workqueue_struct *rtrs_client_wq;
struct workqueue_struct *rtrs_client_connect_wq;
struct workqueue_struct *rtrs_client_event_wq;
struct workqueue_struct *rtrs_client_drain_wq;
struct workqueue_struct *rtrs_client_remove_wq;

static void queues_destroy(void)
{
	if (rtrs_client_remove_wq)
		destroy_workqueue(rtrs_client_remove_wq);
	if (rtrs_client_event_wq)
		destroy_workqueue(rtrs_client_event_wq);
	if (rtrs_client_connect_wq)
		destroy_workqueue(rtrs_client_connect_wq);
	if (rtrs_client_wq)
		destroy_workqueue(rtrs_client_wq);
	if (rtrs_client_drain_wq)
		destroy_workqueue(rtrs_client_drain_wq);
}

static int __init queues_create(void)
{
	/* Takes paths down. Requests wait for it, so no work here waits for a connect. */
	rtrs_client_wq = alloc_workqueue("rtrs_client", WQ_UNBOUND | WQ_MEM_RECLAIM, WQ_MAX_ACTIVE);
	rtrs_client_connect_wq = alloc_workqueue("rtrs_client_connect", WQ_UNBOUND | WQ_MEM_RECLAIM,
						 WQ_MAX_ACTIVE);
	/* Drains queue pairs. Path workers wait for it. */
	rtrs_client_drain_wq = alloc_workqueue("rtrs_client_drain", WQ_UNBOUND | WQ_MEM_RECLAIM,
					       WQ_MAX_ACTIVE);
	/* Events: callbacks of the user may sleep for long. No path worker waits for them. */
	rtrs_client_event_wq = alloc_workqueue("rtrs_client_event", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	/* Removes paths: waits for path workers and session->admin. No I/O waits for it. */
	rtrs_client_remove_wq = alloc_workqueue("rtrs_client_remove", WQ_UNBOUND, 0);
	if (rtrs_client_wq && rtrs_client_connect_wq && rtrs_client_drain_wq &&
	    rtrs_client_event_wq && rtrs_client_remove_wq)
		return 0;
	queues_destroy();
	return -ENOMEM;
}

static int __init client_init(void)
{
	int err;

	err = queues_create();
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
	queues_destroy();
	return err;
}

/*
 * No user is left, so no session is open. The removal of a path whose writer was killed may still
 * run, and have a reference to its session: queues_destroy() waits for it.
 */
static void __exit client_exit(void)
{
	rtrs_client_nl_exit();
	rtrs_client_sysfs_exit();
	queues_destroy();
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
