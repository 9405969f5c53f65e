// SPDX-License-Identifier: GPL-2.0
/* The work queues of the module. */
#include <linux/workqueue.h>
#include "client.h"

struct workqueue_struct *rtrs_client_wq;
struct workqueue_struct *rtrs_client_connect_wq;
struct workqueue_struct *rtrs_client_event_wq;
struct workqueue_struct *rtrs_client_drain_wq;
struct workqueue_struct *rtrs_client_remove_wq;

void rtrs_client_queues_destroy(void)
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

int __init rtrs_client_queues_create(void)
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
	rtrs_client_queues_destroy();
	return -ENOMEM;
}
