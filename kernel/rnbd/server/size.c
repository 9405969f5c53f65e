// SPDX-License-Identifier: GPL-2.0
/* What clients have been told of sizes. */
#include <linux/wait.h>
#include "server.h"

static DECLARE_WAIT_QUEUE_HEAD(told);

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
	wake_up_all(&told);
}

void rnbd_server_size_closed(void)
{
	wake_up_all(&told);
}

long rnbd_server_size_await(const struct rnbd_server_dev *dev, u32 answers, long timeout)
{
	return wait_event_killable_timeout(told, READ_ONCE(dev->answers) != answers ||
					   READ_ONCE(dev->closing), timeout);
}
