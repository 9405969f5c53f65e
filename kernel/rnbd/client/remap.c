// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of a mapped device: it is opened again, its size changes.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/blkdev.h>
#include <linux/sched/mm.h>
#include "client.h"
#include "notify.h"

/* Under session->lock. */
static int check_remap(const struct rnbd_client_dev *dev, struct netlink_ext_ack *extack)
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

/* lost_writes=disconnect: after lost writes the administrator has to remap the disk. */
static bool keep_disconnected(const struct rnbd_client_dev *dev,
			      const struct rnbd_device_info *now)
{
	return READ_ONCE(rtrs_client_settings(dev->session->rtrs)->lost_writes) ==
	       RTRS_CLIENT_LOST_DISCONNECT && rnbd_client_lost_writes(dev, now);
}

/*
 * I/O that waits must reach neither another disk nor one that another client has written to since.
 * Such a disk comes back by a remap of the administrator only, and the I/O fails. Our server has
 * checked a part of this before it opened the device.
 */
static bool disk_is_stale(const struct rnbd_client_dev *dev, const struct rnbd_device_info *now)
{
	return rnbd_is_another(&dev->info, now) ||
	       (dev->access_mode != RNBD_CLIENT_ACCESS_RO && rnbd_others_wrote(&dev->info, now));
}

/* Fails the I/O that waits: a remap must not send it. Returns @err. */
static int fail_parked(struct rnbd_client_dev *dev, int err)
{
	lockdep_assert_held(&dev->session->lock);
	if (dev->state == RNBD_CLIENT_DEV_DISCONNECTED)
		rnbd_client_park_forbid(dev);
	return err;
}

/* Takes over the device, which is open on the server. Under session->lock. */
static int dev_take_over(struct rnbd_client_dev *dev, const struct rnbd_device_info *info,
			 u32 epoch, bool by_itself, struct netlink_ext_ack *extack)
{
	int err;

	err = check_remap(dev, extack);
	if (err)
		return err;
	if (disk_is_stale(dev, info)) {
		if (by_itself)
			return fail_parked(dev, -ESTALE);
		rnbd_client_park_forbid(dev);
	}
	if (by_itself && keep_disconnected(dev, info))
		return fail_parked(dev, -EREMOTEIO);
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
static int dev_reopen(struct rnbd_client_dev *dev, unsigned int timeout_ms, bool by_itself,
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
	err = check_remap(dev, extack) ?: rnbd_client_session_limits(session, extack);
	mutex_unlock(&session->lock);
	if (err)
		return err;

	timeout_ms = timeout_ms ?: rnbd_client_timeout_ms(session);
	dev->notices = READ_ONCE(session->notices);
	err = rnbd_client_msg_open(dev, dev->access_mode, timeout_ms, by_itself, &info, &epoch);
	if (err == -ESTALE && by_itself) {
		mutex_lock(&session->lock);
		fail_parked(dev, err);
		mutex_unlock(&session->lock);
	}
	if (err)
		return rnbd_client_dev_open_failed(dev, err, timeout_ms, extack);

	/* Outside of session->lock, so that devices share one grace period. */
	cond_synchronize_rcu(closed_gp);
	/* The server forgets the ids of a session that is lost. */
	mutex_lock(&session->lock);
	valid = session->lost == lost || rnbd_client_epoch_is(session, epoch);
	if (valid) {
		rnbd_client_dev_take_id(dev, info.device_id, epoch);
		err = dev_take_over(dev, &info, epoch, by_itself, extack);
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

	/* A user that saw an I/O error may remap at once. */
	flush_work(&dev->gone_work);
	if (mutex_lock_killable(&dev->open_lock))
		return rtrs_fail(extack, -EINTR, "interrupted");
	noio = memalloc_noio_save();	/* I/O may wait for the reopen */
	err = dev_reopen(dev, timeout_ms, by_itself, extack);
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
				 rnbd_client_dev_state_name[dev->state]);
	if (sectors >= RNBD_SECTORS_MAX)
		return rtrs_fail(extack, -EINVAL, "no disk can be that large");
	if (sectors & ((block >> SECTOR_SHIFT) - 1))
		return rtrs_fail(extack, -EINVAL, "%s has blocks of %u bytes: no multiple of them",
				 dev->name, block);
	if (sectors == dev->info.nsectors)
		return 0;
	dev->info.nsectors = sectors;
	set_capacity_and_notify(dev->disk, sectors);
	rnbd_client_events->dev_changed(dev, dev->state);
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
