// SPDX-License-Identifier: GPL-2.0
/*
 * CM ids that end while their port is down. To end is to say goodbye, and Soft-RoCE takes what is
 * sent through such a port for an error of the queue pair, which is that of all messages of the
 * connection manager: none comes in any more, nobody can connect. Where several are sent one behind
 * the other, Linux 6.1 forgets some in addition, and rdma_destroy_id() waits for them for ever.
 * So those that have sent something are kept until somebody can hear it, or the RDMA device goes,
 * or this module.
 */
#include <linux/export.h>
#include <linux/netdevice.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <rdma/ib_cache.h>
#include <rdma/rdma_cm.h>
#include "core.h"
#include "main.h"

#define LOOK_DELAY	(HZ / 2)

/**
 * struct kept - a CM id that nobody but this file knows
 * @entry: of the ids that are kept, or that are about to be destroyed
 * @cm_id: the id; its device waits for it
 * @removed: that device goes
 */
struct kept {
	struct list_head entry;
	struct rdma_cm_id *cm_id;
	bool removed;
};

static LIST_HEAD(kept_list);
static DEFINE_MUTEX(kept_lock);	/* inside of an id's handler lock */

static void kept_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(look, kept_work);

/* The RDMA core hears of it later. One that is gone takes no goodbye, and is not waited for. */
static bool netdev_is_down(const struct rdma_cm_id *cm_id)
{
	int ifindex = cm_id->route.addr.dev_addr.bound_dev_if;
	struct net_device *netdev;
	bool down;

	if (!ifindex || !rdma_protocol_roce(cm_id->device, cm_id->port_num))
		return false;
	rcu_read_lock();
	netdev = dev_get_by_index_rcu(&init_net, ifindex);
	down = netdev && !(netif_running(netdev) && netif_carrier_ok(netdev));
	rcu_read_unlock();
	return down;
}

/* Adapters are not asked: that is a command to their firmware, and may take the lock of netlink. */
static bool port_is_down(const struct rdma_cm_id *cm_id)
{
	enum ib_port_state state;

	if (!cm_id->device || !rdma_cap_ib_cm(cm_id->device, cm_id->port_num))
		return false;
	if (netdev_is_down(cm_id))
		return true;
	return !ib_get_cached_port_state(cm_id->device, cm_id->port_num, &state) &&
	       state == IB_PORT_DOWN;
}

static int kept_handler(struct rdma_cm_id *cm_id, struct rdma_cm_event *ev)
{
	struct kept *k = cm_id->context;

	if (ev->event == RDMA_CM_EVENT_DEVICE_REMOVAL) {
		WRITE_ONCE(k->removed, true);
		mod_delayed_work(system_unbound_wq, &look, 0);
	}
	return 0;
}

/* Destroys those that need not be kept, or all; one after the other. */
static void kept_end(bool all)
{
	struct kept *k, *next;
	LIST_HEAD(list);

	mutex_lock(&kept_lock);
	list_for_each_entry_safe(k, next, &kept_list, entry)
		if (all || READ_ONCE(k->removed) || !port_is_down(k->cm_id))
			list_move_tail(&k->entry, &list);
	if (!list_empty(&kept_list))
		queue_delayed_work(system_unbound_wq, &look, LOOK_DELAY);
	mutex_unlock(&kept_lock);
	list_for_each_entry_safe(k, next, &list, entry) {
		rdma_destroy_id(k->cm_id);	/* waits for its handler */
		kfree(k);
	}
}

static void kept_work(struct work_struct *work)
{
	unsigned int noio = memalloc_noio_save();	/* I/O may wait for who wants the lock */

	kept_end(false);
	memalloc_noio_restore(noio);
}

static bool keep(struct rtrs_con *con)
{
	struct kept *k;

	if (!con->cm_sent || !port_is_down(con->cm_id))
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
	list_add_tail(&k->entry, &kept_list);
	mutex_unlock(&kept_lock);
	rdma_unlock_handler(con->cm_id);
	queue_delayed_work(system_unbound_wq, &look, LOOK_DELAY);
	return true;
}

/* The kernel keeps the name of the module whose text this is, for as long as the id is there. */
struct rdma_cm_id *rtrs_cm_create(rdma_cm_event_handler handler, void *context,
				  enum rdma_ucm_port_space ps)
{
	return rdma_create_id(&init_net, handler, context, ps, IB_QPT_RC);
}
EXPORT_SYMBOL_GPL(rtrs_cm_create);

int rtrs_cm_connect(struct rtrs_con *con, struct rdma_conn_param *param)
{
	if (port_is_down(con->cm_id))
		return -ENETDOWN;
	con->cm_sent = true;
	return rdma_connect(con->cm_id, param);
}
EXPORT_SYMBOL_GPL(rtrs_cm_connect);

int rtrs_cm_disconnect(struct rtrs_con *con)
{
	return port_is_down(con->cm_id) ? -ENETDOWN : rdma_disconnect(con->cm_id);
}
EXPORT_SYMBOL_GPL(rtrs_cm_disconnect);

void rtrs_cm_destroy(struct rtrs_con *con)
{
	if (!keep(con))
		rdma_destroy_id(con->cm_id);
	con->cm_id = NULL;
}
EXPORT_SYMBOL_GPL(rtrs_cm_destroy);

void rtrs_cm_exit(void)
{
	cancel_delayed_work_sync(&look);
	kept_end(true);
	cancel_delayed_work_sync(&look);	/* of a handler */
}
