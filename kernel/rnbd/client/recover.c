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

static bool may_pass(int err)
{
	return err == -ETIMEDOUT || err == -ENOMEM;
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
		pr_warn("%s: session %s is back, but not %s: %pe\n", dev->name, session->name,
			dev->path, ERR_PTR(err));
		WRITE_ONCE(dev->last_error, err);
		rnbd_client_nl_changed(dev, dev->state);
	}
	parked = test_bit(RNBD_CLIENT_DEV_PARKED, &dev->flags);
	mutex_unlock(&session->lock);
	return parked || may_pass(err);
}

static bool wants_back(struct rnbd_client_dev *dev)
{
	bool wants;

	mutex_lock(&dev->session->lock);
	wants = dev->state == RNBD_CLIENT_DEV_DISCONNECTED &&
		test_bit(RNBD_CLIENT_DEV_READY, &dev->flags);
	mutex_unlock(&dev->session->lock);
	return wants;
}

/* A server that was just started may show its disks late. */
static void again(struct rnbd_client_session *session)
{
	spin_lock_irq(&session->msg_lock);
	if (!session->closing)
		mod_delayed_work(rnbd_client_wq, &session->recover_work, AGAIN);
	spin_unlock_irq(&session->msg_lock);
}

/* Without a path there is nothing to be tried: the next one begins anew. */
static bool is_up(struct rnbd_client_session *session)
{
	struct rtrs_client_attrs attrs;

	return !rtrs_client_query(session->rtrs, &attrs);
}

void rnbd_client_recover(struct rnbd_client_session *session)
{
	const unsigned int timeout_ms = rnbd_client_timeout_ms(session);
	struct rnbd_client_dev *dev;
	bool waits = false;
	int session_err, err;
	u32 id = 0;

	session_err = rnbd_client_msg_sess_info(session, timeout_ms);
	waits = may_pass(session_err);
	while ((dev = rnbd_client_dev_next(id))) {
		id = dev->id;
		if (dev->session == session && wants_back(dev)) {
			err = session_err ?: rnbd_client_dev_remap(dev, timeout_ms, true, NULL);
			if (err)
				waits |= not_reopened(dev, err);
		}
		rnbd_client_dev_put(dev);
	}
	if (waits && is_up(session))
		again(session);
}

void rnbd_client_recover_work(struct work_struct *work)
{
	unsigned int noio = memalloc_noio_save();

	rnbd_client_recover(container_of(to_delayed_work(work), struct rnbd_client_session,
					 recover_work));
	memalloc_noio_restore(noio);
}
