// SPDX-License-Identifier: GPL-2.0
/* What the server says of devices that are open, without being asked. */
#include "client.h"
#include "notify.h"

unsigned int rnbd_client_stale_bit(u32 device_id)
{
	BUILD_BUG_ON((RNBD_NOTICE_ID_MASK + 1) % BITS_PER_LONG);
	return device_id % BITS_PER_LONG;
}

void rnbd_client_stale(struct rnbd_client_session *session, u32 device_id)
{
	lockdep_assert_held(&session->msg_lock);
	set_bit(rnbd_client_stale_bit(device_id), &session->stale);
	WRITE_ONCE(session->notices, session->notices + 1);
	if (!session->closing)
		queue_work(rnbd_client_recover_wq, &session->revalidate_work);
}

/* The server sends a notice on each path. Those that come before the worker runs are one. */
void rnbd_client_notice(void *priv, u32 what)
{
	struct rnbd_client_session *session = priv;
	unsigned long flags;

	spin_lock_irqsave(&session->msg_lock, flags);
	rnbd_client_stale(session, what);
	spin_unlock_irqrestore(&session->msg_lock, flags);
}

/*
 * Under session->lock. A notice that came while the device was being opened found no open device:
 * the server is asked now.
 */
void rnbd_client_missed_notice(struct rnbd_client_dev *dev)
{
	struct rnbd_client_session *session = dev->session;

	lockdep_assert_held(&session->lock);
	spin_lock_irq(&session->msg_lock);
	if (dev->notices != session->notices)
		rnbd_client_stale(session, dev->device_id);
	spin_unlock_irq(&session->msg_lock);
}

/* The other end of the migration has gone, or has never come. */
void rnbd_client_take_right(struct rnbd_client_dev *dev, const struct rnbd_device_info *info)
{
	lockdep_assert_held(&dev->session->lock);
	dev->info.start = info->start;
	dev->info.writers = info->writers;
	if (!info->more || info->access_mode != RNBD_CLIENT_ACCESS_RW ||
	    dev->access_mode != RNBD_CLIENT_ACCESS_MIGRATION)
		return;
	pr_info("%s: is rw from now on, nobody else writes to it\n", dev->name);
	WRITE_ONCE(dev->access_mode, RNBD_CLIENT_ACCESS_RW);
	rnbd_client_events->dev_changed(dev, dev->state);
}
