// SPDX-License-Identifier: GPL-2.0
/*
 * Recovery of a session that was lost and is back. The server may have been started since, or be
 * another one: it is greeted, and each device is opened again, with its present size and limits.
 * A device that the server does not open, or that another client has written to, stays
 * disconnected, with the reason.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/sched/mm.h>
#include "client.h"
#include "notify.h"

#define RETRY_DELAY	HZ	/* while I/O waits, or the error may be temporary */

#define REMAP	": a remap takes it as it is"

/* For the log: why the disk waits for an administrator. */
static const char *advice_of(int err)
{
	switch (err) {
	case -ESTALE:
		return ", others may have written to it, or it is another disk" REMAP;
	case -EREMOTEIO:
		return ", it may have lost what was written since the last flush" REMAP;
	}
	return "";
}

/* -EBUSY: requests of the lost session still run on the disk. */
static bool is_temporary(int err)
{
	return err == -ETIMEDOUT || err == -ENOMEM || err == -EBUSY;
}

/*
 * Logs and stores why the device did not come back, once for each reason. True: try again.
 */
static bool note_reopen_failed(struct rnbd_client_dev *dev, int err)
{
	struct rnbd_client_session *session = dev->session;
	bool parked;

	mutex_lock(&session->lock);
	if (dev->state == RNBD_CLIENT_DEV_DISCONNECTED && dev->last_error != err) {
		pr_warn("%s: session %s is back, but not %s: %pe%s\n", dev->name, session->name,
			dev->path, ERR_PTR(err), advice_of(err));
		WRITE_ONCE(dev->last_error, err);
		rnbd_client_events->dev_changed(dev, dev->state);
	}
	parked = test_bit(RNBD_CLIENT_DEV_PARKED, &dev->flags);
	mutex_unlock(&session->lock);
	return parked || is_temporary(err);
}

static bool dev_wants_reopen(const struct rnbd_client_dev *dev)
{
	return dev->state == RNBD_CLIENT_DEV_DISCONNECTED &&
	       test_bit(RNBD_CLIENT_DEV_READY, &dev->flags);
}

/* A server that was just started may find its disks late. An earlier retry stays queued. */
static void retry_later(struct rnbd_client_session *session)
{
	spin_lock_irq(&session->msg_lock);
	if (!session->closing)
		queue_delayed_work(rnbd_client_recover_wq, &session->recover_work, RETRY_DELAY);
	spin_unlock_irq(&session->msg_lock);
}

/* Without a path no retry is needed: the next path starts a recovery. */
static bool session_is_up(struct rnbd_client_session *session)
{
	struct rtrs_client_attrs attrs;

	return !rtrs_client_query(session->rtrs, &attrs);
}

/*
 * The next device to reopen, with a reference and for the caller alone, or NULL. *@err: result of
 * the greeting, *@lost: number of losses of the session so far.
 */
static struct rnbd_client_dev *next_to_reopen(struct rnbd_client_session *session, int *err,
					      unsigned int *lost)
{
	struct rnbd_client_dev *dev, *found = NULL;

	mutex_lock(&session->lock);
	*err = session->recover_err;
	*lost = session->lost;
	list_for_each_entry(dev, &session->devs, session_entry) {
		if (dev->id <= session->recovered || !dev_wants_reopen(dev) ||
		    test_and_set_bit(RNBD_CLIENT_DEV_RECOVERS, &dev->flags))
			continue;
		session->recovered = dev->id;
		rnbd_client_dev_get(dev);
		found = dev;
		break;
	}
	mutex_unlock(&session->lock);
	return found;
}

/* Lets other recoverers take @dev. True: the session was lost since it was taken. */
static bool end_reopen(struct rnbd_client_dev *dev, unsigned int lost)
{
	bool moved;

	mutex_lock(&dev->session->lock);
	clear_bit(RNBD_CLIENT_DEV_RECOVERS, &dev->flags);
	moved = dev->session->lost != lost;
	mutex_unlock(&dev->session->lock);
	return moved;
}

/*
 * Reopens one device after the other. There are as many of these works as slots for messages, so
 * that a device whose OPEN hangs does not hold up the others. If the session was lost and came back
 * while a work had a device, the new recovery has skipped that device: it is tried again.
 */
static void reopen_work(struct work_struct *work)
{
	struct rnbd_client_session *session =
		container_of(work, struct rnbd_client_recoverer, work)->session;
	const unsigned int timeout_ms = rnbd_client_timeout_ms(session);
	unsigned int noio = memalloc_noio_save();	/* I/O waits for the reopen */
	struct rnbd_client_dev *dev;
	unsigned int lost;
	bool retry;
	int err;

	while ((dev = next_to_reopen(session, &err, &lost))) {
		err = err ?: rnbd_client_dev_remap(dev, timeout_ms, true, NULL);
		retry = err && (note_reopen_failed(dev, err) || err == -ECONNABORTED);
		if (end_reopen(dev, lost) && err)
			retry = true;
		if (retry && session_is_up(session))
			retry_later(session);
		rnbd_client_dev_put(dev);
	}
	memalloc_noio_restore(noio);
}

static void recover_work(struct work_struct *work)
{
	struct rnbd_client_session *session =
		container_of(to_delayed_work(work), struct rnbd_client_session, recover_work);
	unsigned int noio = memalloc_noio_save();
	unsigned int i;
	int err;

	err = rnbd_client_msg_sess_info(session, rnbd_client_timeout_ms(session));
	mutex_lock(&session->lock);
	session->recover_err = err;
	session->recovered = 0;
	mutex_unlock(&session->lock);
	for (i = 0; i < ARRAY_SIZE(session->recover); i++)
		queue_work(rnbd_client_recover_wq, &session->recover[i].work);
	if (is_temporary(err) && session_is_up(session))
		retry_later(session);
	memalloc_noio_restore(noio);
}

void rnbd_client_recover(struct rnbd_client_session *session)
{
	spin_lock_irq(&session->msg_lock);
	if (!session->closing)
		mod_delayed_work(rnbd_client_recover_wq, &session->recover_work, 0);
	spin_unlock_irq(&session->msg_lock);
}

void rnbd_client_recover_init(struct rnbd_client_session *session)
{
	unsigned int i;

	INIT_DELAYED_WORK(&session->recover_work, recover_work);
	for (i = 0; i < ARRAY_SIZE(session->recover); i++) {
		session->recover[i].session = session;
		INIT_WORK(&session->recover[i].work, reopen_work);
	}
}

/* Messages are stopped, so no recovery starts any more. */
void rnbd_client_recover_stop(struct rnbd_client_session *session)
{
	unsigned int i;

	cancel_delayed_work_sync(&session->recover_work);
	for (i = 0; i < ARRAY_SIZE(session->recover); i++)
		cancel_work_sync(&session->recover[i].work);
}
