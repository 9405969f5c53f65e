// SPDX-License-Identifier: GPL-2.0
/*
 * A session that was lost is back. The server may be another than before the loss, started
 * anew: it is told who we are, and every device is opened again, with the size and limits
 * that it has now. One that the server does not give, or that another client has written to,
 * stays disconnected, with the reason.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/sched/mm.h>
#include "client.h"

#define AGAIN	HZ	/* while I/O waits, or what failed may work the next time */

#define REMAP	": a remap takes it as it is"

/* What there is to be known of a disk that waits for an administrator. */
static const char *why(int err)
{
	switch (err) {
	case -ESTALE:
		return ", others may have written to it, or it is another disk" REMAP;
	case -EREMOTEIO:
		return ", it may have lost what was written since the last flush" REMAP;
	}
	return "";
}

/* Busy is a disk that what we have lost is not through with. */
static bool may_pass(int err)
{
	return err == -ETIMEDOUT || err == -ENOMEM || err == -EBUSY;
}

/*
 * Why the device did not come back, for those who look; once for each reason. True: it is tried
 * again.
 */
static bool not_reopened(struct rnbd_client_dev *dev, int err)
{
	struct rnbd_client_session *session = dev->session;
	bool parked;

	mutex_lock(&session->lock);
	if (dev->state == RNBD_CLIENT_DEV_DISCONNECTED && dev->last_error != err) {
		pr_warn("%s: session %s is back, but not %s: %pe%s\n", dev->name, session->name,
			dev->path, ERR_PTR(err), why(err));
		WRITE_ONCE(dev->last_error, err);
		rnbd_client_nl_changed(dev, dev->state);
	}
	parked = test_bit(RNBD_CLIENT_DEV_PARKED, &dev->flags);
	mutex_unlock(&session->lock);
	return parked || may_pass(err);
}

static bool wants_back(const struct rnbd_client_dev *dev)
{
	return dev->state == RNBD_CLIENT_DEV_DISCONNECTED &&
	       test_bit(RNBD_CLIENT_DEV_READY, &dev->flags);
}

/* A server that was just started may show its disks late. A try that is due earlier stays so. */
static void again(struct rnbd_client_session *session)
{
	spin_lock_irq(&session->msg_lock);
	if (!session->closing)
		queue_delayed_work(rnbd_client_recover_wq, &session->recover_work, AGAIN);
	spin_unlock_irq(&session->msg_lock);
}

/* Without a path there is nothing to be tried: the next one begins anew. */
static bool is_up(struct rnbd_client_session *session)
{
	struct rtrs_client_attrs attrs;

	return !rtrs_client_query(session->rtrs, &attrs);
}

/*
 * The next one, with a reference, for the caller alone; NULL when there is none. *@err: what the
 * server said of the session, *@lost: how often that was lost.
 */
static struct rnbd_client_dev *take_next(struct rnbd_client_session *session, int *err,
					 unsigned int *lost)
{
	struct rnbd_client_dev *dev, *found = NULL;

	mutex_lock(&session->lock);
	*err = session->recover_err;
	*lost = session->lost;
	list_for_each_entry(dev, &session->devs, session_entry) {
		if (dev->id <= session->recovered || !wants_back(dev) ||
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

/* Whether the session was lost meanwhile. */
static bool let_go(struct rnbd_client_dev *dev, unsigned int lost)
{
	bool moved;

	mutex_lock(&dev->session->lock);
	clear_bit(RNBD_CLIENT_DEV_RECOVERS, &dev->flags);
	moved = dev->session->lost != lost;
	mutex_unlock(&dev->session->lock);
	return moved;
}

/*
 * Opens one device after the other. As many do so as there are slots for messages: one that the
 * server does not open holds up none of the others. The session may have been lost, and come
 * back, while one had a device, which was passed over then: it is tried again.
 */
static void recover_some(struct work_struct *work)
{
	struct rnbd_client_session *session =
		container_of(work, struct rnbd_client_recoverer, work)->session;
	const unsigned int timeout_ms = rnbd_client_timeout_ms(session);
	unsigned int noio = memalloc_noio_save();	/* I/O waits for it */
	struct rnbd_client_dev *dev;
	unsigned int lost;
	bool tried_again;
	int err;

	while ((dev = take_next(session, &err, &lost))) {
		err = err ?: rnbd_client_dev_remap(dev, timeout_ms, true, NULL);
		tried_again = err && (not_reopened(dev, err) || err == -ECONNABORTED);
		if (let_go(dev, lost) && err)
			tried_again = true;
		if (tried_again && is_up(session))
			again(session);
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
	if (may_pass(err) && is_up(session))
		again(session);
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
		INIT_WORK(&session->recover[i].work, recover_some);
	}
}

/* Nobody begins anything any more: the messages are stopped. */
void rnbd_client_recover_stop(struct rnbd_client_session *session)
{
	unsigned int i;

	cancel_delayed_work_sync(&session->recover_work);
	for (i = 0; i < ARRAY_SIZE(session->recover); i++)
		cancel_work_sync(&session->recover[i].work);
}
