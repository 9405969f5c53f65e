// SPDX-License-Identifier: GPL-2.0
/* The work queues of the module. */
#include <linux/workqueue.h>
#include "client.h"

struct workqueue_struct *rnbd_client_wq;
struct workqueue_struct *rnbd_client_recover_wq;
struct workqueue_struct *rnbd_client_remove_wq;
struct workqueue_struct *rnbd_client_aside_wq;

void rnbd_client_queues_destroy(void)
{
	if (rnbd_client_aside_wq)
		destroy_workqueue(rnbd_client_aside_wq);
	if (rnbd_client_remove_wq)
		destroy_workqueue(rnbd_client_remove_wq);
	if (rnbd_client_recover_wq)
		destroy_workqueue(rnbd_client_recover_wq);
	if (rnbd_client_wq)
		destroy_workqueue(rnbd_client_wq);
}

int __init rnbd_client_queues_create(void)
{
	rnbd_client_wq = alloc_workqueue("rnbd_client", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	rnbd_client_recover_wq = alloc_workqueue("rnbd_client_recover",
						 WQ_UNBOUND | WQ_MEM_RECLAIM, WQ_MAX_ACTIVE);
	rnbd_client_remove_wq = alloc_workqueue("rnbd_client_remove", WQ_UNBOUND, 0);
	rnbd_client_aside_wq = alloc_workqueue("rnbd_client_aside", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (rnbd_client_wq && rnbd_client_recover_wq && rnbd_client_remove_wq &&
	    rnbd_client_aside_wq)
		return 0;
	rnbd_client_queues_destroy();
	return -ENOMEM;
}
