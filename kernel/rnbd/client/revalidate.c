// SPDX-License-Identifier: GPL-2.0
/*
 * The server says that a device may have another size, or that the other end of a migration has
 * gone. It is asked with an OPEN of what is open already: the answer is what holds now, and the
 * disk follows it. An administrator has it asked, too: for rw, when a migration is over.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/sched/mm.h>
#include "client.h"

static bool is_open(const struct rnbd_client_dev *dev)
{
	lockdep_assert_held(&dev->session->lock);
	return dev->state == RNBD_CLIENT_DEV_MAPPED &&
	       test_bit(RNBD_CLIENT_DEV_OPEN, &dev->flags) &&
	       test_bit(RNBD_CLIENT_DEV_READY, &dev->flags);
}

/* Under session->lock. */
static void take_size(struct rnbd_client_dev *dev, const struct rnbd_device_info *info)
{
	u64 old = dev->info.nsectors;
	int err = rnbd_client_dev_set_size(dev, info->nsectors, NULL);

	if (err)
		pr_warn("%s: %s has %llu sectors now: %pe\n", dev->name, dev->path,
			info->nsectors, ERR_PTR(err));
	else if (old != info->nsectors)
		pr_info("%s: %s has %llu sectors now, not %llu\n", dev->name, dev->path,
			info->nsectors, old);
}

/* Under dev->open_lock. -ENOTCONN: it is not open, or not any more. */
static int ask_server(struct rnbd_client_dev *dev, u8 access_mode, unsigned int timeout_ms)
{
	struct rnbd_client_session *session = dev->session;
	struct rnbd_device_info info;
	bool same = false, lost;
	unsigned int before;
	u32 epoch;
	int err;

	mutex_lock(&session->lock);
	before = session->lost;
	lost = !is_open(dev);
	mutex_unlock(&session->lock);
	if (lost)
		return -ENOTCONN;
	err = rnbd_client_msg_open(dev, access_mode, timeout_ms, true, &info, &epoch);
	if (err)
		return err;
	mutex_lock(&session->lock);
	lost = session->lost != before;
	same = !lost && dev->device_id == info.device_id;
	if (same && is_open(dev)) {
		rnbd_client_take_right(dev, &info);
		take_size(dev, &info);
	} else {
		err = -ENOTCONN;
	}
	mutex_unlock(&session->lock);
	/* It was closed there meanwhile, and this opened it anew: nobody has asked for that. */
	if (!lost && !same)
		rnbd_client_msg_close(dev, info.device_id, epoch);
	return err;
}

static int server_cannot(struct netlink_ext_ack *extack)
{
	return rtrs_fail_by(extack, RNBD_REFUSAL_SERVER, -EOPNOTSUPP,
			    "the server cannot do that: unmap it, and map it with rw");
}

/* Under dev->open_lock. An older server of ours answers with the mode that there is. */
static int ask_for_rw(struct rnbd_client_dev *dev, unsigned int timeout_ms,
		      struct netlink_ext_ack *extack)
{
	int err;

	if (READ_ONCE(dev->access_mode) == RNBD_CLIENT_ACCESS_RW)
		return 0;
	if (READ_ONCE(dev->access_mode) == RNBD_CLIENT_ACCESS_RO)
		return rtrs_fail(extack, -EROFS, "%s is read-only: unmap it, and map it with rw",
				 dev->name);
	if (dev->session->minor < 3)
		return server_cannot(extack);
	err = ask_server(dev, RNBD_CLIENT_ACCESS_RW, timeout_ms);
	switch (err) {
	case 0:
		break;
	case -ENOTCONN:
		return rtrs_fail(extack, err, "%s is not open on the server: remap it first",
				 dev->name);
	case -EPERM:
		return rtrs_fail(extack, -EBUSY, "another client has it open for writing");
	default:
		return rnbd_client_dev_open_failed(dev, err, timeout_ms, extack);
	}
	return READ_ONCE(dev->access_mode) == RNBD_CLIENT_ACCESS_RW ? 0 : server_cannot(extack);
}

int rnbd_client_dev_set_rw(struct rnbd_client_dev *dev, unsigned int timeout_ms,
			   struct netlink_ext_ack *extack)
{
	unsigned int noio;
	int err;

	if (mutex_lock_killable(&dev->open_lock))
		return rtrs_fail(extack, -EINTR, "interrupted");
	noio = memalloc_noio_save();	/* I/O may wait for who opens */
	err = ask_for_rw(dev, timeout_ms ?: rnbd_client_timeout_ms(dev->session), extack);
	memalloc_noio_restore(noio);
	mutex_unlock(&dev->open_lock);
	return err;
}

/* Under dev->open_lock. */
static void revalidate(struct rnbd_client_dev *dev)
{
	int err = ask_server(dev, dev->access_mode, rnbd_client_timeout_ms(dev->session));

	if (err && err != -ENOTCONN)
		pr_warn_ratelimited("%s: session %s: the size of %s: %pe\n", dev->name,
				    dev->session->name, dev->path, ERR_PTR(err));
}

void rnbd_client_revalidate_work(struct work_struct *work)
{
	struct rnbd_client_session *session =
		container_of(work, struct rnbd_client_session, revalidate_work);
	unsigned int noio = memalloc_noio_save();	/* I/O may wait for who opens */
	unsigned long stale = xchg(&session->stale, 0);
	struct rnbd_client_dev *dev;
	u32 id = 0;

	while ((dev = rnbd_client_dev_next(id))) {
		id = dev->id;
		if (dev->session == session &&
		    test_bit(rnbd_client_stale_bit(READ_ONCE(dev->device_id)), &stale)) {
			mutex_lock(&dev->open_lock);
			revalidate(dev);
			mutex_unlock(&dev->open_lock);
		}
		rnbd_client_dev_put(dev);
	}
	memalloc_noio_restore(noio);
}
