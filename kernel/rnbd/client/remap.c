// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of a mapped device without a map or unmap: the server loses it, it is
 * opened again, it changes its size.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/blkdev.h>
#include <linux/sched/mm.h>
#include "client.h"

/*
 * Answered by the server with -ENOTCONN: somebody there has closed the device, or the
 * server has lost the session and the client has not. Every request in flight says
 * so; the first one acts.
 */
void rnbd_client_dev_gone(struct rnbd_client_dev *dev)
{
	if (test_and_clear_bit(RNBD_CLIENT_DEV_OPEN, &dev->flags))
		queue_work(rnbd_client_wq, &dev->gone_work);
}

/* Until it has run, the device stays MAPPED: nobody opens it again in between. */
void rnbd_client_dev_gone_work(struct work_struct *work)
{
	struct rnbd_client_dev *dev = container_of(work, struct rnbd_client_dev, gone_work);
	unsigned int noio = memalloc_noio_save();	/* I/O may wait for who wants the lock */

	mutex_lock(&dev->session->lock);
	/* Not what was opened again since: the work may be late. */
	if (dev->state == RNBD_CLIENT_DEV_MAPPED && !test_bit(RNBD_CLIENT_DEV_OPEN, &dev->flags)) {
		pr_warn("%s: the server has closed %s of session %s\n", dev->name, dev->path,
			dev->session->name);
		rnbd_client_dev_disconnect(dev, -ENOTCONN);
		/* There are paths: nothing is to be waited for. */
		rnbd_client_park_forbid(dev);
	}
	mutex_unlock(&dev->session->lock);
	memalloc_noio_restore(noio);
}

/* Under session->lock. */
static int may_remap(const struct rnbd_client_dev *dev, struct netlink_ext_ack *extack)
{
	switch (dev->state) {
	case RNBD_CLIENT_DEV_MAPPED:
		return rtrs_fail(extack, -EALREADY, "%s is mapped", dev->name);
	case RNBD_CLIENT_DEV_UNMAPPED:
		return rtrs_fail(extack, -ENODEV, "%s is being unmapped", dev->name);
	case RNBD_CLIENT_DEV_DISCONNECTED:
		if (test_bit(RNBD_CLIENT_DEV_READY, &dev->flags))
			return 0;
		break;
	default:
		break;
	}
	return rtrs_fail(extack, -EBUSY, "%s is being mapped", dev->name);
}

bool rnbd_client_lost_writes(const struct rnbd_client_dev *dev, const struct rnbd_device_info *now)
{
	lockdep_assert_held(&dev->session->lock);
	/* A flush that fails makes it dirty before it is not under way any more. */
	return rnbd_cache_lost(&dev->info, now) &&
	       (atomic_read_acquire(&dev->flushing) ||
		test_bit(RNBD_CLIENT_DEV_DIRTY, &dev->flags));
}

/* The administrator wants to look at such a disk before anybody goes on with it. */
static bool stays_away(const struct rnbd_client_dev *dev, const struct rnbd_device_info *now)
{
	return READ_ONCE(rtrs_client_settings(dev->session->rtrs)->lost_writes) ==
	       RTRS_CLIENT_LOST_DISCONNECT && rnbd_client_lost_writes(dev, now);
}

/*
 * What still waits is meant for what was there: not for another disk, nor for one that another
 * client has written to meanwhile. Only an administrator goes on then, without what waited. A
 * server of ours has looked at some of it before it opened the device.
 */
static bool is_stale(const struct rnbd_client_dev *dev, const struct rnbd_device_info *now)
{
	return rnbd_is_another(&dev->info, now) ||
	       (dev->access_mode != RNBD_CLIENT_ACCESS_RO && rnbd_others_wrote(&dev->info, now));
}

/* What waited fails: it must not meet what a remap opens. */
static int give_up(struct rnbd_client_dev *dev, int err)
{
	lockdep_assert_held(&dev->session->lock);
	if (dev->state == RNBD_CLIENT_DEV_DISCONNECTED)
		rnbd_client_park_forbid(dev);
	return err;
}

/* Under session->lock, the device is open on the server. */
static int take_over(struct rnbd_client_dev *dev, const struct rnbd_device_info *info, u32 epoch,
		     bool by_itself, struct netlink_ext_ack *extack)
{
	int err;

	err = may_remap(dev, extack);
	if (err)
		return err;
	if (is_stale(dev, info)) {
		if (by_itself)
			return give_up(dev, -ESTALE);
		rnbd_client_park_forbid(dev);
	}
	if (by_itself && stays_away(dev, info))
		return give_up(dev, -EREMOTEIO);
	err = rnbd_client_disk_reopen(dev, info, epoch, extack);
	if (err)
		return err;
	WRITE_ONCE(dev->last_error, 0);
	rnbd_client_take_right(dev, info);
	rnbd_client_dev_move(dev, RNBD_CLIENT_DEV_MAPPED);
	set_capacity_and_notify(dev->disk, info->nsectors);
	rnbd_client_park_allow(dev);
	rnbd_client_unpark(dev);
	rnbd_client_missed_notice(dev);
	kobject_uevent(&disk_to_dev(dev->disk)->kobj, KOBJ_ONLINE);
	pr_info("%s: mapped %s of session %s again, %llu sectors\n", dev->name, dev->path,
		dev->session->name, info->nsectors);
	return 0;
}

/* Under dev->open_lock. */
static int reopen(struct rnbd_client_dev *dev, unsigned int timeout_ms, bool by_itself,
		  struct netlink_ext_ack *extack)
{
	struct rnbd_client_session *session = dev->session;
	struct rnbd_device_info info = {};
	unsigned long closed_gp;
	unsigned int lost;
	bool valid;
	u32 epoch;
	int err;

	mutex_lock(&session->lock);
	lost = session->lost;
	closed_gp = dev->closed_gp;
	err = may_remap(dev, extack) ?: rnbd_client_session_limits(session, extack);
	mutex_unlock(&session->lock);
	if (err)
		return err;

	timeout_ms = timeout_ms ?: rnbd_client_timeout_ms(session);
	dev->notices = READ_ONCE(session->notices);
	err = rnbd_client_msg_open(dev, dev->access_mode, timeout_ms, by_itself, &info, &epoch);
	if (err == -ESTALE && by_itself) {
		mutex_lock(&session->lock);
		give_up(dev, err);
		mutex_unlock(&session->lock);
	}
	if (err)
		return rnbd_client_dev_open_failed(dev, err, timeout_ms, extack);

	/* Before the lock is taken: one grace period serves all devices that a session has lost. */
	cond_synchronize_rcu(closed_gp);
	/* An id that the server gave before the session was lost means nothing any more. */
	mutex_lock(&session->lock);
	valid = session->lost == lost || rnbd_client_epoch_is(session, epoch);
	if (valid) {
		rnbd_client_dev_take_id(dev, info.device_id, epoch);
		err = take_over(dev, &info, epoch, by_itself, extack);
	}
	mutex_unlock(&session->lock);
	if (!valid || err)
		rnbd_client_msg_close(dev, info.device_id, epoch);
	if (!valid)
		return rnbd_client_dev_open_failed(dev, -ECONNABORTED, timeout_ms, extack);
	return err;
}

int rnbd_client_dev_remap(struct rnbd_client_dev *dev, unsigned int timeout_ms, bool by_itself,
			  struct netlink_ext_ack *extack)
{
	unsigned int noio;
	int err;

	/* Whoever has met the loss may remap at once. */
	flush_work(&dev->gone_work);
	if (mutex_lock_killable(&dev->open_lock))
		return rtrs_fail(extack, -EINTR, "interrupted");
	noio = memalloc_noio_save();	/* I/O may wait for it */
	err = reopen(dev, timeout_ms, by_itself, extack);
	memalloc_noio_restore(noio);
	mutex_unlock(&dev->open_lock);
	return err;
}

int rnbd_client_dev_set_size(struct rnbd_client_dev *dev, u64 sectors,
			     struct netlink_ext_ack *extack)
{
	u32 block = dev->info.logical_block_size;

	lockdep_assert_held(&dev->session->lock);
	if (dev->state != RNBD_CLIENT_DEV_MAPPED || !test_bit(RNBD_CLIENT_DEV_READY, &dev->flags))
		return rtrs_fail(extack, -ENOENT, "%s is %s, not mapped", dev->name,
				 rnbd_client_dev_fsm.state_name[dev->state]);
	if (sectors >= RNBD_SECTORS_MAX)
		return rtrs_fail(extack, -EINVAL, "no disk can be that large");
	if (sectors & ((block >> SECTOR_SHIFT) - 1))
		return rtrs_fail(extack, -EINVAL, "%s has blocks of %u bytes: no multiple of them",
				 dev->name, block);
	if (sectors == dev->info.nsectors)
		return 0;
	dev->info.nsectors = sectors;
	set_capacity_and_notify(dev->disk, sectors);
	rnbd_client_nl_changed(dev, dev->state);
	return 0;
}

int rnbd_client_dev_resize(struct rnbd_client_dev *dev, u64 sectors,
			   struct netlink_ext_ack *extack)
{
	unsigned int noio = memalloc_noio_save();	/* I/O may wait for who wants the lock */
	int err;

	mutex_lock(&dev->session->lock);
	err = rnbd_client_dev_set_size(dev, sectors, extack);
	mutex_unlock(&dev->session->lock);
	memalloc_noio_restore(noio);
	return err;
}
