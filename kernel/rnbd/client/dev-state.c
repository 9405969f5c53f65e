// SPDX-License-Identifier: GPL-2.0
/* The states of a device, and what a loss of its session does to it. */
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include "client.h"
#include "notify.h"
#include "trace.h"

/* False: there is no such edge. Whoever makes the edge to UNMAPPED removes the device. */
bool rnbd_client_dev_move(struct rnbd_client_dev *dev, enum rnbd_client_dev_state state)
{
	enum rnbd_client_dev_state old = dev->state;

	lockdep_assert_held(&dev->session->lock);
	if (!rtrs_fsm_may(&rnbd_client_dev_fsm, old, state))
		return false;
	WRITE_ONCE(dev->state, state);
	trace_rnbd_client_dev_state(dev->id, dev->index, old, state);
	rnbd_client_events->dev_changed(dev, old);
	return true;
}

void rnbd_client_dev_disconnect(struct rnbd_client_dev *dev, int err)
{
	lockdep_assert_held(&dev->session->lock);
	WRITE_ONCE(dev->last_error, err);
	dev->closed_gp = get_state_synchronize_rcu();	/* behind it no queue_rq() sees OPEN */
	if (rnbd_client_dev_move(dev, RNBD_CLIENT_DEV_DISCONNECTED) &&
	    test_bit(RNBD_CLIENT_DEV_READY, &dev->flags))
		kobject_uevent(&disk_to_dev(dev->disk)->kobj, KOBJ_OFFLINE);
}

/*
 * The server has opened @dev under @id. In-tree servers that close a device give its id to the
 * next one: a device that had this id here must not use it any more.
 */
void rnbd_client_dev_take_id(struct rnbd_client_dev *dev, u32 id, u32 epoch)
{
	struct rnbd_client_dev *other;

	lockdep_assert_held(&dev->session->lock);
	list_for_each_entry(other, &dev->session->devs, session_entry) {
		if (other == dev || other->device_id != id || other->epoch != epoch ||
		    !test_and_clear_bit(RNBD_CLIENT_DEV_OPEN, &other->flags))
			continue;
		pr_warn("%s: the server has closed %s and given its id to %s\n", other->name,
			other->path, dev->name);
		rnbd_client_dev_disconnect(other, -ENOTCONN);
		rnbd_client_park_forbid(other);
	}
}

void rnbd_client_dev_lost(struct rnbd_client_session *session, int err)
{
	struct rnbd_client_dev *dev;

	mutex_lock(&session->lock);
	session->lost++;
	session->lost_at = jiffies;
	session->down = true;
	/* The next server may be older: flags are not used before it has told its version. */
	session->minor = 0;
	list_for_each_entry(dev, &session->devs, session_entry) {
		/* The device was opened since the loss: the event comes late. */
		if (test_bit(RNBD_CLIENT_DEV_OPEN, &dev->flags) &&
		    rnbd_client_epoch_is(session, dev->epoch))
			continue;
		clear_bit(RNBD_CLIENT_DEV_OPEN, &dev->flags);
		if (dev->state == RNBD_CLIENT_DEV_MAPPED && err)
			pr_warn("%s: session %s is lost: %pe\n", dev->name, session->name,
				ERR_PTR(err));
		else if (dev->state == RNBD_CLIENT_DEV_MAPPED)
			pr_info("%s: session %s was disconnected\n", dev->name, session->name);
		rnbd_client_dev_disconnect(dev, err);
	}
	rnbd_client_park(session);
	mutex_unlock(&session->lock);
}

/* The device stays MAPPED until here, so no remap opens it in between. */
void rnbd_client_dev_gone_work(struct work_struct *work)
{
	struct rnbd_client_dev *dev = container_of(work, struct rnbd_client_dev, gone_work);
	unsigned int noio = memalloc_noio_save();	/* I/O may wait for who wants the lock */

	mutex_lock(&dev->session->lock);
	/* The work may run late: the device may have been opened again since. */
	if (dev->state == RNBD_CLIENT_DEV_MAPPED && !test_bit(RNBD_CLIENT_DEV_OPEN, &dev->flags)) {
		pr_warn("%s: the server has closed %s of session %s\n", dev->name, dev->path,
			dev->session->name);
		rnbd_client_dev_disconnect(dev, -ENOTCONN);
		/* The session has paths: no event would end a wait of I/O. */
		rnbd_client_park_forbid(dev);
	}
	mutex_unlock(&dev->session->lock);
	memalloc_noio_restore(noio);
}

bool rnbd_client_lost_writes(const struct rnbd_client_dev *dev, const struct rnbd_device_info *now)
{
	lockdep_assert_held(&dev->session->lock);
	/* flush_end() sets DIRTY for a flush that failed before it counts ->flushing down. */
	return rnbd_cache_lost(&dev->info, now) &&
	       (atomic_read_acquire(&dev->flushing) ||
		test_bit(RNBD_CLIENT_DEV_DIRTY, &dev->flags));
}
