// SPDX-License-Identifier: GPL-2.0
/*
 * Devices of a session.
 *
 * Life: OPEN makes one, publishes it under its id and answers. Whoever ends it
 * (CLOSE, loss of the session) takes it out of the ids and kills its reference
 * counter; the last I/O, or the grace period of the kill, queues finish_close(),
 * which releases everything. Nobody waits for I/O with a lock held or on a
 * work queue that others need.
 */
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include "server.h"
#include "trace.h"

static const char *const access_name[] = {
	[RNBD_ACCESS_MODE_RO]		= "ro",
	[RNBD_ACCESS_MODE_RW]		= "rw",
	[RNBD_ACCESS_MODE_MIGRATION]	= "migration",
};

static struct kmem_cache *dev_cache;
static struct workqueue_struct *close_wq;

const char *rnbd_server_access_name(u8 access_mode)
{
	return access_mode < ARRAY_SIZE(access_name) ? access_name[access_mode] : "unknown";
}

/*
 * The last user of the device is gone, and so is everybody who may have found it in
 * session->ids: the kill that led here waited for a grace period. Left are
 * sysfs and netlink, which end under the lock of the exports.
 */
static void finish_close(struct work_struct *work)
{
	struct rnbd_server_dev *dev = container_of(work, struct rnbd_server_dev, close_work);
	struct rnbd_server_session *session = dev->session;
	struct rtrs_server_op *op = dev->close_op;

	rnbd_server_export_remove(dev);
	rnbd_server_nl_event(dev, RNBD_EVENT_DESTROY);
	trace_rnbd_server_close(dev);
	rnbd_bdev_close(&dev->handle);
	percpu_ref_exit(&dev->inflight);
	kmem_cache_free(dev_cache, dev);
	rtrs_census_destroyed(RTRS_CENSUS_RNBD_SERVER_DEV);

	if (op)
		rtrs_server_respond(op, 0);
	/* The session may be gone after the decrement. */
	if (atomic_dec_and_test(&session->open_count))
		wake_up_var(&session->open_count);
}

/* Any context but hard interrupts. */
static void drained(struct percpu_ref *ref)
{
	struct rnbd_server_dev *dev = container_of(ref, struct rnbd_server_dev, inflight);

	queue_work(close_wq, &dev->close_work);
}

static void begin_close(struct rnbd_server_dev *dev, struct rtrs_server_op *op)
{
	struct rnbd_server_session *session = dev->session;

	lockdep_assert_held(&session->lock);
	xa_erase(&session->ids, dev->id);
	list_del(&dev->session_entry);
	dev->close_op = op;
	percpu_ref_kill(&dev->inflight);
}

bool rnbd_server_dev_close_id(struct rnbd_server_session *session, u32 id,
			      struct rtrs_server_op *op)
{
	struct rnbd_server_dev *dev;

	mutex_lock(&session->lock);
	dev = xa_load(&session->ids, id);
	if (dev)
		begin_close(dev, op);
	mutex_unlock(&session->lock);
	return dev;
}

/*
 * The session is down: no message of it is being handled. What still runs are
 * closes that drain and I/O that was answered but has not let go of its device.
 */
void rnbd_server_dev_close_all(struct rnbd_server_session *session)
{
	struct rnbd_server_dev *dev, *next;

	mutex_lock(&session->lock);
	list_for_each_entry_safe(dev, next, &session->devs, session_entry)
		begin_close(dev, NULL);
	mutex_unlock(&session->lock);
	wait_var_event(&session->open_count, !atomic_read(&session->open_count));
}

static void put_info(const struct rnbd_server_dev *dev, struct rnbd_device_info *info)
{
	struct block_device *bdev = dev->bdev;
	struct request_queue *q = bdev_get_queue(bdev);

	*info = (struct rnbd_device_info){
		.device_id = dev->id,
		.nsectors = bdev_nr_sectors(bdev),
		.max_hw_sectors = queue_max_hw_sectors(q),
		.max_write_zeroes_sectors = bdev_write_zeroes_sectors(bdev),
		.max_discard_sectors = bdev_max_discard_sectors(bdev),
		.discard_granularity = bdev_discard_granularity(bdev),
		.physical_block_size = bdev_physical_block_size(bdev),
		.logical_block_size = bdev_logical_block_size(bdev),
		.max_segments = queue_max_segments(q),
		.secure_erase = bdev_max_secure_erase_sectors(bdev),
		.fua = bdev_fua(bdev),
		.writeback = bdev_write_cache(bdev),
	};
	if (info->max_discard_sectors)
		info->discard_alignment = bdev_discard_alignment(bdev);
}

static struct rnbd_server_dev *find_path(struct rnbd_server_session *session, const char *path)
{
	struct rnbd_server_dev *dev;

	list_for_each_entry(dev, &session->devs, session_entry)
		if (!strcmp(dev->path, path))
			return dev;
	return NULL;
}

/*
 * Ids go up and begin anywhere: neither a client that missed a CLOSE nor one
 * that missed the restart of this server reaches another device with an old id.
 */
static int reserve_id(struct rnbd_server_session *session, u32 *id)
{
	int err = xa_alloc_cyclic(&session->ids, id, NULL, xa_limit_32b, &session->next_id,
				  GFP_KERNEL);

	return err < 0 ? err : 0;
}

/* Opens the block device and gives the device its names. */
static int set_up(struct rnbd_server_dev *dev, const struct rnbd_open *open)
{
	struct rnbd_server_session *session = dev->session;
	int err;

	err = rnbd_server_lookup(session, open, &dev->handle);
	if (err)
		return err;
	dev->bdev = dev->handle.bdev;
	err = reserve_id(session, &dev->id);
	if (err)
		goto close;
	err = rnbd_server_export_add(dev);
	if (err)
		goto release_id;
	return 0;

release_id:
	xa_erase(&session->ids, dev->id);
close:
	rnbd_bdev_close(&dev->handle);
	return err;
}

static struct rnbd_server_dev *create(struct rnbd_server_session *session,
				      const struct rnbd_open *open)
{
	struct rnbd_server_dev *dev = kmem_cache_zalloc(dev_cache, GFP_KERNEL);
	int err;

	if (!dev)
		return ERR_PTR(-ENOMEM);
	INIT_WORK(&dev->close_work, finish_close);
	dev->session = session;
	dev->access_mode = open->access_mode;
	dev->read_only = open->access_mode == RNBD_ACCESS_MODE_RO;
	strscpy(dev->path, open->path, sizeof(dev->path));
	err = percpu_ref_init(&dev->inflight, drained, 0, GFP_KERNEL);
	if (err)
		goto free;
	err = set_up(dev, open);
	if (err)
		goto exit_ref;

	/* From here on the client can reach it, were it by guessing the id. */
	atomic_inc(&session->open_count);
	list_add_tail(&dev->session_entry, &session->devs);
	xa_store(&session->ids, dev->id, dev, GFP_KERNEL);	/* reserved: needs no memory */
	rtrs_census_created(RTRS_CENSUS_RNBD_SERVER_DEV);
	rnbd_server_nl_event(dev, RNBD_EVENT_CREATE);
	return dev;

exit_ref:
	percpu_ref_exit(&dev->inflight);
free:
	kmem_cache_free(dev_cache, dev);
	return ERR_PTR(err);
}

/*
 * A path that is open already is answered again: a client that lost some of its
 * state comes back like that. The access mode stays what it was.
 */
int rnbd_server_dev_open(struct rnbd_server_session *session, const struct rnbd_open *open,
			 struct rnbd_device_info *info)
{
	struct rnbd_server_dev *dev;

	mutex_lock(&session->lock);
	dev = find_path(session, open->path);
	if (!dev)
		dev = create(session, open);
	if (!IS_ERR(dev))
		put_info(dev, info);
	mutex_unlock(&session->lock);
	trace_rnbd_server_open(session, open, PTR_ERR_OR_ZERO(dev));
	return PTR_ERR_OR_ZERO(dev);
}

int __init rnbd_server_dev_init(void)
{
	dev_cache = KMEM_CACHE(rnbd_server_dev, 0);
	if (!dev_cache)
		return -ENOMEM;
	close_wq = alloc_workqueue("rnbd-server-close", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!close_wq) {
		kmem_cache_destroy(dev_cache);
		return -ENOMEM;
	}
	return 0;
}

void rnbd_server_dev_exit(void)
{
	destroy_workqueue(close_wq);
	kmem_cache_destroy(dev_cache);
}
