// SPDX-License-Identifier: GPL-2.0
/* Mapped devices: creation, opening and removal. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/sched/mm.h>
#include <rtrs/aside.h>
#include "client.h"
#include "notify.h"

#define UNMAP_MS	24000	/* less than the tool waits for */
#define DROP_MS		6000	/* at most this much of it is for the end of a path and the CLOSE */

static int check_duplicate(const struct rnbd_client_session *session, const char *path,
			   struct netlink_ext_ack *extack)
{
	struct rnbd_client_dev *dev;

	lockdep_assert_held(&session->lock);
	list_for_each_entry(dev, &session->devs, session_entry) {
		if (strcmp(dev->path, path))
			continue;
		if (dev->state == RNBD_CLIENT_DEV_UNMAPPED)
			return rtrs_fail(extack, -EEXIST, "%s is being unmapped", dev->name);
		return rtrs_fail(extack, -EEXIST, "already mapped as %s", dev->name);
	}
	return 0;
}

/* Gives the device its number and puts it into the lists. */
static int dev_publish(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack)
{
	struct rnbd_client_session *session = dev->session;
	int err;

	lockdep_assert_held(&session->lock);
	err = check_duplicate(session, dev->path, extack);
	if (err)
		return err;
	err = rnbd_client_dev_enter(dev, extack);
	if (err)
		return err;
	list_add_tail(&dev->session_entry, &session->devs);
	rnbd_client_events->dev_created(dev);
	return 0;
}

/* How long an unmap waits for answers of the server. The rest of its time is for the transport. */
static unsigned int unmap_answer_ms(const struct rnbd_client_dev *dev)
{
	return dev->unmap_ms - min_t(unsigned int, dev->unmap_ms / 2, DROP_MS);
}

/* What is left of the unmap's time, for the CLOSE. */
static unsigned int unmap_close_ms(const struct rnbd_client_dev *dev, unsigned long end)
{
	unsigned int left = time_before(jiffies, end) ? jiffies_to_msecs(end - jiffies) : 0;

	return clamp(left, 100U, rnbd_client_timeout_ms(dev->session));
}

/*
 * Who may still run, in the order in which they are shut out: readers of sysfs (the removal of the
 * files waits for them), openers of the disk (disk_open() fails from now on), requests
 * (del_gendisk() waits for them; drop_work ends those that the server does not answer), work that
 * requests have queued, rnbd_client_dev_lost() (sees UNMAPPED, clears the OPEN bit only), a remap
 * (sees UNMAPPED and closes what it has opened), netlink with a reference.
 */
static void dev_remove(struct rnbd_client_dev *dev)
{
	struct rnbd_client_session *session = dev->session;
	unsigned long end = jiffies + msecs_to_jiffies(dev->unmap_ms);
	int err = 0;

	rnbd_client_files->remove_dev(dev);
	queue_delayed_work(rnbd_client_wq, &dev->drop_work, msecs_to_jiffies(unmap_answer_ms(dev)));
	rnbd_client_disk_remove(dev);
	cancel_delayed_work_sync(&dev->drop_work);
	cancel_work_sync(&dev->gone_work);
	cancel_work_sync(&dev->limits_work);
	mutex_lock(&dev->open_lock);
	if (test_and_clear_bit(RNBD_CLIENT_DEV_OPEN, &dev->flags))
		err = rnbd_client_msg_close_within(dev, dev->device_id, dev->epoch,
						   unmap_close_ms(dev, end));
	mutex_unlock(&dev->open_lock);
	if (test_bit(RNBD_CLIENT_DEV_READY, &dev->flags))
		pr_info("%s: unmapped\n", dev->name);
	if (err && err != -ECONNABORTED)
		pr_warn_ratelimited("%s: session %s: CLOSE of %s: %pe\n", dev->name, session->name,
				    dev->path, ERR_PTR(err));

	mutex_lock(&session->lock);
	list_del(&dev->session_entry);
	rnbd_client_dev_withdraw(dev);
	mutex_unlock(&session->lock);
	rnbd_client_events->dev_destroyed(dev);

	/* Who waits for ->removed has a reference. The last device closes the session here. */
	rnbd_client_session_leave(session);
	complete_all(&dev->removed);
	rnbd_client_dev_put(dev);
}

static void dev_remove_work(struct work_struct *work)
{
	dev_remove(container_of(work, struct rnbd_client_dev, remove_work));
}

struct rnbd_client_dev *rnbd_client_dev_create(struct rnbd_client_session *session,
					       const struct rnbd_client_map_args *args,
					       struct netlink_ext_ack *extack)
{
	struct rnbd_client_dev *dev;
	unsigned int noio;
	int err;

	dev = rnbd_client_dev_alloc(session);
	if (!dev)
		return ERR_PTR(-ENOMEM);
	dev->state = RNBD_CLIENT_DEV_INIT;
	dev->access_mode = args->access_mode;
	dev->io_mode = args->io_mode;
	if (args->always_fua)
		set_bit(RNBD_CLIENT_DEV_FUA, &dev->flags);
	dev->timeout_ms = args->timeout_ms ?: rnbd_client_timeout_ms(session);
	INIT_WORK(&dev->gone_work, rnbd_client_dev_gone_work);
	INIT_WORK(&dev->aside_work, rnbd_client_aside_work);
	INIT_WORK(&dev->limits_work, rnbd_client_disk_limits_work);
	INIT_WORK(&dev->read_work, rnbd_client_first_read_work);
	INIT_WORK(&dev->scan_work, rnbd_client_scan_work);
	init_completion(&dev->scanned);
	INIT_WORK(&dev->remove_work, dev_remove_work);
	INIT_DELAYED_WORK(&dev->drop_work, rnbd_client_queue_drop_work);
	dev->unmap_ms = UNMAP_MS;
	init_completion(&dev->removed);
	spin_lock_init(&dev->aside_lock);
	bio_list_init(&dev->aside);
	INIT_LIST_HEAD(&dev->aside_flushes);
	mutex_init(&dev->open_lock);
	strscpy(dev->path, args->device_path, sizeof(dev->path));

	noio = memalloc_noio_save();	/* I/O may wait for who wants the lock */
	mutex_lock(&session->lock);
	err = dev_publish(dev, extack);
	mutex_unlock(&session->lock);
	memalloc_noio_restore(noio);
	if (err) {
		rnbd_client_dev_put(dev);
		return ERR_PTR(err);
	}
	return dev;
}

static int explain_map_open(const struct rnbd_client_dev *dev, int err,
			    struct netlink_ext_ack *extack)
{
	return rnbd_client_dev_open_failed(dev, err, dev->timeout_ms, extack);
}

int rnbd_client_dev_open(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack)
{
	struct rnbd_client_session *session = dev->session;
	struct rnbd_device_info info = {};
	unsigned int lost;
	bool moved;
	u32 epoch;
	int err;

	/* The session may have had no device for long, and its server smaller chunks since. */
	mutex_lock(&session->lock);
	lost = session->lost;
	err = rnbd_client_session_limits(session, extack);
	mutex_unlock(&session->lock);
	if (err)
		return err;

	dev->notices = READ_ONCE(session->notices);
	err = rnbd_client_msg_open(dev, dev->access_mode, dev->timeout_ms, false, &info, &epoch);
	if (err)
		return explain_map_open(dev, err, extack);

	/* The server forgets the ids of a session that is lost. */
	mutex_lock(&session->lock);
	moved = session->lost != lost && !rnbd_client_epoch_is(session, epoch);
	if (moved) {
		err = -ECONNABORTED;
	} else {
		rnbd_client_dev_take_id(dev, info.device_id, epoch);
		dev->info = info;
		dev->device_id = info.device_id;
		dev->epoch = epoch;
		rnbd_client_dev_set_open(dev);
	}
	mutex_unlock(&session->lock);
	if (moved)
		rnbd_client_msg_close(dev, info.device_id, epoch);
	return err ? explain_map_open(dev, err, extack) : 0;
}

int rnbd_client_dev_mapped(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack)
{
	struct rnbd_client_session *session = dev->session;
	bool open;

	mutex_lock(&session->lock);
	open = test_bit(RNBD_CLIENT_DEV_OPEN, &dev->flags);
	if (open)
		rnbd_client_dev_move(dev, RNBD_CLIENT_DEV_MAPPED);
	mutex_unlock(&session->lock);
	return open ? 0 : explain_map_open(dev, -ECONNABORTED, extack);
}

int rnbd_client_dev_ready(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack)
{
	struct rnbd_client_session *session = dev->session;
	unsigned int noio = memalloc_noio_save();
	int err = 0;

	/* Under the lock, so that the uevents of this and of a loss of the session are in order. */
	mutex_lock(&session->lock);
	if (dev->state == RNBD_CLIENT_DEV_MAPPED) {
		set_bit(RNBD_CLIENT_DEV_READY, &dev->flags);
		rnbd_client_park_allow(dev);
		rnbd_client_missed_notice(dev);
		kobject_uevent(&disk_to_dev(dev->disk)->kobj, KOBJ_ONLINE);
		pr_info("%s: mapped %s of session %s, %llu sectors\n", dev->name, dev->path,
			session->name, dev->info.nsectors);
	} else {
		err = explain_map_open(dev, -ECONNABORTED, extack);
	}
	mutex_unlock(&session->lock);
	memalloc_noio_restore(noio);
	return err;
}

int rnbd_client_dev_claim(struct rnbd_client_dev *dev, bool force, unsigned int timeout_ms,
			  struct netlink_ext_ack *extack)
{
	struct rnbd_client_session *session = dev->session;
	int err = 0;

	mutex_lock(&session->lock);
	if (dev->state == RNBD_CLIENT_DEV_UNMAPPED)
		err = rtrs_fail(extack, -EALREADY, "%s is being unmapped", dev->name);
	else if (!test_bit(RNBD_CLIENT_DEV_READY, &dev->flags))
		err = rtrs_fail(extack, -EBUSY, "%s is being mapped", dev->name);
	else if (dev->openers && !force)
		err = rtrs_fail(extack, -EBUSY, "%s is in use, opened %u times", dev->name,
				dev->openers);
	else
		rnbd_client_dev_move(dev, RNBD_CLIENT_DEV_UNMAPPED);
	if (!err) {
		dev->unmap_ms = timeout_ms ?: UNMAP_MS;
		rnbd_client_park_forbid(dev);
	}
	mutex_unlock(&session->lock);
	return err;
}

int rnbd_client_dev_unmap(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack)
{
	queue_work(rnbd_client_remove_wq, &dev->remove_work);
	if (!wait_for_completion_state(&dev->removed, RTRS_WAIT_STATE))
		return 0;
	return rtrs_fail(extack, -EINTR, "interrupted; %s goes when its requests are done",
			 dev->name);
}

void rnbd_client_dev_abort(struct rnbd_client_dev *dev)
{
	mutex_lock(&dev->session->lock);
	rnbd_client_dev_move(dev, RNBD_CLIENT_DEV_UNMAPPED);
	mutex_unlock(&dev->session->lock);
	dev_remove(dev);
}
