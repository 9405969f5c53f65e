// SPDX-License-Identifier: GPL-2.0
/*
 * What Soft-RoCE (rdma_rxe) of Linux 6.1 and 6.12 needs and no adapter does. No other file asks
 * for the driver of a device.
 *
 * rtrs_rxe_keep_id(): a CM id that is destroyed says goodbye to its peer. Through a port that is
 * down, Soft-RoCE takes that for an error of the queue pair, which is the one of all messages of
 * the connection manager: no message comes in any more, nobody can connect. Of several that are
 * sent one after the other, Soft-RoCE of Linux 6.1 forgets some in addition, and rdma_destroy_id()
 * waits for them for ever. So an id that has sent something is kept until its port is up, its RDMA
 * device is removed, or this module exits. This file changes .context and .event_handler of the
 * id, under its handler lock: rdma_cm has no call for that.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_cm.h>
#include "core.h"
#include "rxe.h"

#define ACK_TIMEOUT	20	/* 4.096 us * 2^20: 4.3 s */
#define LOOK_DELAY	(HZ / 2)

static bool is_rxe(const struct ib_device *ib_dev)
{
	return ib_dev->ops.driver_id == RDMA_DRIVER_RXE;
}

/*
 * Where Soft-RoCE retransmits, it executes the registrations among the work requests again, and so
 * breaks the connection. In Linux 6.12 it retransmits after half a second, in which a busy host
 * may not have acknowledged anything.
 */
void rtrs_rxe_set_ack_timeout(struct rdma_cm_id *cm_id)
{
	if (is_rxe(cm_id->device))
		rdma_set_ack_timeout(cm_id, ACK_TIMEOUT);
}

/**
 * struct kept_id - a CM id that has no user any more
 * @entry: in kept_ids, or in a list of those that are about to be destroyed
 * @cm_id: the id; its device waits for it
 * @removed: its RDMA device is being removed
 */
struct kept_id {
	struct list_head entry;
	struct rdma_cm_id *cm_id;
	bool removed;
};

static LIST_HEAD(kept_ids);
static DEFINE_MUTEX(kept_lock);	/* inside of an id's handler lock */

static void kept_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(end_kept, kept_work);

static int kept_handler(struct rdma_cm_id *cm_id, struct rdma_cm_event *ev)
{
	struct kept_id *k = cm_id->context;

	if (ev->event == RDMA_CM_EVENT_DEVICE_REMOVAL) {
		WRITE_ONCE(k->removed, true);
		mod_delayed_work(system_unbound_wq, &end_kept, 0);
	}
	return 0;
}

/* Destroys those that need not be kept, or all; one after the other. */
static void destroy_kept(bool all)
{
	struct kept_id *k, *next;
	LIST_HEAD(list);

	mutex_lock(&kept_lock);
	list_for_each_entry_safe(k, next, &kept_ids, entry)
		if (all || READ_ONCE(k->removed) || !rtrs_cm_port_is_down(k->cm_id))
			list_move_tail(&k->entry, &list);
	if (!list_empty(&kept_ids))
		queue_delayed_work(system_unbound_wq, &end_kept, LOOK_DELAY);
	mutex_unlock(&kept_lock);
	list_for_each_entry_safe(k, next, &list, entry) {
		rdma_destroy_id(k->cm_id);	/* waits for its handler */
		kfree(k);
	}
}

static void kept_work(struct work_struct *work)
{
	unsigned int noio = memalloc_noio_save();	/* I/O may wait for who wants the lock */

	destroy_kept(false);
	memalloc_noio_restore(noio);
}

bool rtrs_rxe_keep_id(struct rtrs_con *con)
{
	struct kept_id *k;

	if (!con->cm_sent || !is_rxe(con->cm_id->device) || !rtrs_cm_port_is_down(con->cm_id))
		return false;
	k = kmalloc(sizeof(*k), GFP_KERNEL);
	if (!k)
		return false;
	k->cm_id = con->cm_id;
	k->removed = false;
	rdma_lock_handler(con->cm_id);
	if (con->removed) {
		rdma_unlock_handler(con->cm_id);
		kfree(k);
		return false;
	}
	con->cm_id->context = k;
	con->cm_id->event_handler = kept_handler;
	mutex_lock(&kept_lock);
	list_add_tail(&k->entry, &kept_ids);
	mutex_unlock(&kept_lock);
	rdma_unlock_handler(con->cm_id);
	queue_delayed_work(system_unbound_wq, &end_kept, LOOK_DELAY);
	return true;
}

void rtrs_rxe_exit(void)
{
	cancel_delayed_work_sync(&end_kept);
	destroy_kept(true);
	cancel_delayed_work_sync(&end_kept);	/* of a handler */
}
