// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of clients: parsed here, done as bios of the block device (io-bdev.c), or as reads and
 * writes of a file (io-file.c).
 *
 * They come in the completion context of the transport, which has other things to do than to wait
 * for a device. What may have to wait is done by workers. Each opening has some, but they run
 * on the queue of their disk, a few at a time: one that takes nothing keeps a few, however often
 * it is open.
 */
#include "io.h"

/* The device with a reference on its inflight counter, or NULL. */
static struct rnbd_server_dev *get_dev(struct rnbd_server_session *session, u32 id)
{
	struct rnbd_server_dev *dev;

	rcu_read_lock();
	dev = xa_load(&session->ids, id);
	if (dev && !percpu_ref_tryget_live_rcu(&dev->inflight))
		dev = NULL;
	rcu_read_unlock();
	return dev;
}

void rnbd_server_io_request(struct rnbd_server_session *session,
			    const struct rtrs_server_request *req)
{
	struct rnbd_server_dev *dev;
	struct rnbd_io msg;
	int err;

	err = rnbd_io_parse(req->usr, req->usr_len, req->data_len, req->is_read, &msg);
	if (err)
		goto respond;
	if (READ_ONCE(session->version) < RNBD_VERSION_MAJOR)
		msg.prio = 0;
	dev = get_dev(session, msg.device_id);
	if (!dev) {
		err = -ENOTCONN;
		goto respond;
	}
	if (unlikely(dev->file))
		err = rnbd_server_file_io(dev, &msg, req);
	else
		err = rnbd_server_bdev_io(dev, &msg, req);
	if (err == -EIOCBQUEUED)
		return;
	percpu_ref_put(&dev->inflight);

respond:
	rtrs_server_respond(req->op, err);
}

/* Nothing is in the lists: what has not begun need not wait for its turn. */
void rnbd_server_io_dev_exit(struct rnbd_server_dev *dev)
{
	cancel_work_sync(&dev->backlog.work);
	cancel_work_sync(&dev->flushes.work);
	cancel_work_sync(&dev->discards.work);
}

int __init rnbd_server_io_init(void)
{
	int err = rnbd_server_bdev_init();

	if (err)
		return err;
	err = rnbd_server_file_init();
	if (err)
		rnbd_server_bdev_exit();
	return err;
}

void rnbd_server_io_exit(void)
{
	rnbd_server_file_exit();
	rnbd_server_bdev_exit();
}
