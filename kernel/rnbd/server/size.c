// SPDX-License-Identifier: GPL-2.0
/* What clients have been told of sizes. */
#include <linux/wait.h>
#include "server.h"

DECLARE_WAIT_QUEUE_HEAD(rnbd_server_told);

/* The word is the id of the device as the client knows it, as much of it as fits. */
int rnbd_server_tell_size(struct rnbd_server_dev *dev)
{
	return rtrs_server_notify(dev->session->transport, dev->id & RNBD_NOTICE_ID_MASK);
}

void rnbd_server_size_told(struct rnbd_server_dev *dev, u64 sectors)
{
	lockdep_assert_held(&dev->session->lock);
	WRITE_ONCE(dev->told_sectors, sectors);
	WRITE_ONCE(dev->answers, dev->answers + 1);
	wake_up_all(&rnbd_server_told);
}

void rnbd_server_size_closed(void)
{
	wake_up_all(&rnbd_server_told);
}
