// SPDX-License-Identifier: GPL-2.0
/*
 * A session that was lost is back. The server may be another than before the loss, started
 * anew: it is told who we are, and every device is opened again, with the size and limits
 * that it has now. One that the server does not give, or that another client has written to,
 * stays disconnected, with the reason.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "client.h"

/* Why the device did not come back, for those who look. */
static void not_reopened(struct rnbd_client_dev *dev, int err)
{
	struct rnbd_client_session *session = dev->session;

	mutex_lock(&session->lock);
	if (dev->state == RNBD_CLIENT_DEV_DISCONNECTED) {
		pr_warn("%s: session %s is back, but not %s: %pe\n", dev->name, session->name,
			dev->path, ERR_PTR(err));
		WRITE_ONCE(dev->last_error, err);
		rnbd_client_nl_changed(dev, dev->state);
	}
	mutex_unlock(&session->lock);
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

void rnbd_client_recover(struct rnbd_client_session *session)
{
	const unsigned int timeout_ms = READ_ONCE(rtrs_client_settings(session->rtrs)->connect_ms);
	struct rnbd_client_dev *dev;
	int session_err, err;
	u32 id = 0;

	session_err = rnbd_client_session_limits(session, NULL);
	if (!session_err)
		session_err = rnbd_client_msg_sess_info(session, timeout_ms);
	while ((dev = rnbd_client_dev_next(id))) {
		id = dev->id;
		if (dev->session == session && wants_back(dev)) {
			err = session_err ?: rnbd_client_dev_remap(dev, timeout_ms, true, NULL);
			if (err)
				not_reopened(dev, err);
		}
		rnbd_client_dev_put(dev);
	}
}
