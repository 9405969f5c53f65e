// SPDX-License-Identifier: GPL-2.0
/*
 * Devices of a session.
 *
 * Life: OPEN makes one, publishes it under its id and answers. Whoever ends it
 * (CLOSE, the administrator, loss of the session) takes it out of the ids and kills
 * its I/O counter; the last I/O, or the grace period of the kill, queues
 * close_bdev(), and that release_all(). Nobody waits for I/O with a lock held or
 * on a work queue that others need.
 */
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include "access.h"
#include "notify.h"
#include "trace.h"

static void answer_closers(struct rnbd_server_dev *dev)
{
	struct rnbd_server_session *session = dev->session;
	struct rnbd_server_closer *closer, *next;
	LIST_HEAD(closers);

	mutex_lock(&session->lock);
	list_del(&dev->session_entry);
	session->dev_count--;
	list_splice_init(&dev->closers, &closers);
	mutex_unlock(&session->lock);
	list_for_each_entry_safe(closer, next, &closers, entry) {
		rtrs_server_respond(closer->op, 0);
		kfree(closer);
	}
}

/*
 * The last I/O of the device is gone, and so is everybody who may have found it in
 * session->ids: the kill that led here waited for a grace period. Left are netlink, until it
 * is hidden; sysfs, until its directory is gone; the force that one of them began; and
 * those who wait, with a reference.
 */
static void close_bdev(struct work_struct *work)
{
	struct rnbd_server_dev *dev = container_of(work, struct rnbd_server_dev, close_work);

	rnbd_server_export_hide(dev);
	trace_rnbd_server_close(dev);
	rnbd_server_io_dev_exit(dev);
	rnbd_server_close(dev);
	queue_work(rnbd_server_release_wq, &dev->release_work);
}

/* No disk is waited for any more: the queue of this one goes with its last device. */
static void release_all(struct work_struct *work)
{
	struct rnbd_server_dev *dev = container_of(work, struct rnbd_server_dev, release_work);
	struct rnbd_server_session *session = dev->session;

	rnbd_server_export_remove(dev);
	cancel_work_sync(&dev->force_work);
	percpu_ref_exit(&dev->inflight);
	answer_closers(dev);
	rnbd_server_dev_put(dev);
	rnbd_server_session_put(session);
}

/* Any context. */
static void drained(struct percpu_ref *ref)
{
	struct rnbd_server_dev *dev = container_of(ref, struct rnbd_server_dev, inflight);

	queue_work(dev->export->close_wq, &dev->close_work);
}

/* The device is in session->ids no more: its id was erased, or is kept from others. */
static void begin_close(struct rnbd_server_dev *dev)
{
	struct rnbd_server_session *session = dev->session;

	lockdep_assert_held(&session->lock);
	list_move_tail(&dev->session_entry, &session->draining);
	WRITE_ONCE(dev->closing, true);
	percpu_ref_kill(&dev->inflight);
	rnbd_server_size_closed();
}

static struct rnbd_server_dev *find_draining(struct rnbd_server_session *session, u32 id)
{
	struct rnbd_server_dev *dev;

	list_for_each_entry(dev, &session->draining, session_entry)
		if (dev->id == id)
			return dev;
	return NULL;
}

/* The client uses the id no more, whatever it stood for. */
bool rnbd_server_dev_close_id(struct rnbd_server_session *session, u32 id,
			      struct rnbd_server_closer *closer)
{
	struct rnbd_server_dev *dev;

	mutex_lock(&session->lock);
	dev = xa_load(&session->ids, id);
	xa_erase(&session->ids, id);
	if (dev)
		begin_close(dev);
	else
		dev = find_draining(session, id);
	if (dev)
		list_add_tail(&closer->entry, &dev->closers);
	mutex_unlock(&session->lock);
	return dev;
}

/* The client does not know: its id must lead nowhere, and not to another device either. */
void rnbd_server_dev_revoke(struct rnbd_server_dev *dev)
{
	struct rnbd_server_session *session = dev->session;

	lockdep_assert_held(&session->lock);
	if (dev->closing)
		return;
	xa_store(&session->ids, dev->id, XA_ZERO_ENTRY, GFP_KERNEL);	/* in its place */
	begin_close(dev);
}

static void force_close(struct work_struct *work)
{
	struct rnbd_server_dev *dev = container_of(work, struct rnbd_server_dev, force_work);
	struct rnbd_server_session *session = dev->session;

	mutex_lock(&session->lock);
	rnbd_server_dev_revoke(dev);
	mutex_unlock(&session->lock);
}

/*
 * What is under way goes on, and an OPEN comes to nothing. Each device is closed when its own
 * operations have ended, whatever another one waits for: the client may be back for it in another
 * session.
 */
void rnbd_server_dev_session_lost(void *priv)
{
	struct rnbd_server_session *session = priv;
	struct rnbd_server_dev *dev, *next;

	mutex_lock(&session->lock);
	session->lost = true;
	list_for_each_entry_safe(dev, next, &session->devs, session_entry) {
		xa_erase(&session->ids, dev->id);
		begin_close(dev);
	}
	mutex_unlock(&session->lock);
}

static struct rnbd_device_info bdev_info(struct block_device *bdev)
{
	struct request_queue *q = bdev_get_queue(bdev);
	struct rnbd_device_info info = {
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

	if (info.max_discard_sectors)
		info.discard_alignment = bdev_discard_alignment(bdev);
	/* Of a partition that begins askew these would be wrong. */
	if (!bdev_alignment_offset(bdev)) {
		info.io_min = bdev_io_min(bdev);
		info.io_opt = bdev_io_opt(bdev);
	}
	return info;
}

static void put_info(struct rnbd_server_dev *dev, struct rnbd_device_info *info)
{
	*info = dev->bdev ? bdev_info(dev->bdev) : (struct rnbd_device_info){};
	if (dev->file)
		rnbd_server_file_info(dev, info);
	info->device_id = dev->id;
	info->nsectors = rnbd_server_sectors(dev);
	info->io_mode = dev->io_mode;
	info->weak = dev->identity.weak;
	info->boot = rnbd_server_boot();
	info->diskseq = dev->identity.diskseq;
	info->access_mode = dev->access_mode;
	memcpy(info->identity, dev->identity.hash, sizeof(info->identity));
	if (dev->tell_writers && dev->writers) {
		info->start = dev->start;
		info->writers = dev->writers;
	}
	rnbd_server_size_told(dev, info->nsectors);
	WRITE_ONCE(dev->max_discard, max(dev->max_discard, info->max_discard_sectors));
	WRITE_ONCE(dev->max_zeroes, max(dev->max_zeroes, info->max_write_zeroes_sectors));
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

/* The device or file that the client may open by this name, in the mode of the export. */
static int find_disk(struct rnbd_server_dev *dev, const struct rnbd_open *open, u8 *reason)
{
	struct rnbd_server_right *right = kmalloc(sizeof(*right), GFP_KERNEL);
	int err;

	if (!right)
		return -ENOMEM;
	mutex_lock(&rnbd_server_access_lock);
	err = rnbd_server_access_judge(&rnbd_server_access, dev->session->peer,
				       dev->session->name, open->path, open->access_mode, right);
	mutex_unlock(&rnbd_server_access_lock);
	if (!err && right->io_mode != RNBD_IO_ANY) {
		if (dev->io_mode != RNBD_IO_ANY && dev->io_mode != right->io_mode)
			err = -EINVAL;
		dev->io_mode = right->io_mode;
	}
	if (!err)
		err = rnbd_server_lookup(dev, right);
	*reason = right->reason;
	if (!err) {
		dev->access_number = right->number;
		strscpy(dev->by, right->export, sizeof(dev->by));
		dev->where = kstrdup(right->path.text, GFP_KERNEL);
		if (!dev->where) {
			rnbd_server_close(dev);
			err = -ENOMEM;
		}
	}
	kfree(right);
	return err;
}

static struct rnbd_server_dev *create(struct rnbd_server_session *session,
				      const struct rnbd_open *open, struct rnbd_server_wait *wait)
{
	struct rnbd_server_dev *dev = rnbd_server_dev_alloc();
	int err;

	if (!dev)
		return ERR_PTR(-ENOMEM);
	INIT_WORK(&dev->force_work, force_close);
	INIT_WORK(&dev->close_work, close_bdev);
	INIT_WORK(&dev->release_work, release_all);
	INIT_LIST_HEAD(&dev->closers);
	rnbd_server_io_dev_init(dev);
	init_completion(&dev->released);
	dev->session = session;
	dev->from = *wait->from;
	dev->access_mode = open->access_mode;
	dev->read_only = open->access_mode == RNBD_ACCESS_MODE_RO;
	dev->io_mode = open->io_mode;
	dev->tell_writers = open->tell_writers;
	dev->since_ns = ktime_get_real_ns();
	strscpy(dev->path, open->path, sizeof(dev->path));
	err = percpu_ref_init(&dev->inflight, drained, 0, GFP_KERNEL);
	if (err)
		goto free;
	err = find_disk(dev, open, &wait->reason);
	if (err)
		goto exit_ref;
	err = rnbd_server_identify(dev, &dev->identity);
	if (err)
		goto close;
	return dev;

close:
	rnbd_server_close(dev);
exit_ref:
	percpu_ref_exit(&dev->inflight);
free:
	rnbd_server_dev_put(dev);
	return ERR_PTR(err);
}

/* Of what was not published. */
static void destroy(struct rnbd_server_dev *dev)
{
	rnbd_server_close(dev);
	percpu_ref_exit(&dev->inflight);
	rnbd_server_dev_put(dev);
}

/*
 * Gives the device its names. From here on the client can reach it, were it by guessing the id,
 * and everybody can close it, which begins with session->lock.
 */
static int publish(struct rnbd_server_dev *dev, bool came_back, struct rnbd_server_wait *wait)
{
	struct rnbd_server_session *session = dev->session;
	int err;

	lockdep_assert_held(&session->lock);
	if (session->lost)
		return -ENOTCONN;
	if (session->dev_count >= READ_ONCE(rnbd_server_max_devices))
		return -EMFILE;
	err = reserve_id(session, &dev->id);
	if (err)
		return err;
	err = rnbd_server_export_add(dev, wait);
	if (err) {
		xa_erase(&session->ids, dev->id);
		return err;
	}
	/* The other end of the migration went while this one was away. */
	if (came_back && rnbd_server_export_alone(dev))
		WRITE_ONCE(dev->access_mode, RNBD_ACCESS_MODE_RW);
	kref_get(&session->ref);
	list_add_tail(&dev->session_entry, &session->devs);
	session->dev_count++;
	xa_store(&session->ids, dev->id, dev, GFP_KERNEL);	/* reserved: needs no memory */
	rnbd_server_events->opening_event(dev, RNBD_EVENT_CREATE);
	return 0;
}

/*
 * The right to write is counted before anybody can use it, and not for who does not get it. The
 * answer is made before anybody can close the device.
 */
static int grant(struct rnbd_server_dev *dev, const struct rnbd_open *open,
		 struct rnbd_device_info *info, struct rnbd_server_wait *wait)
{
	struct rnbd_server_session *session = dev->session;
	int err;

	err = rnbd_server_writers_begin(dev, open->claims ? &open->claim : NULL);
	if (err)
		return err;
	err = rnbd_server_export_check(dev, wait) ?: rnbd_server_writers_enter(dev);
	if (!err) {
		rnbd_server_file_begin(dev);
		mutex_lock(&rnbd_server_access_lock);
		mutex_lock(&session->lock);
		err = rnbd_server_access_confirm(dev, &wait->reason) ?:
		      publish(dev, open->claims, wait);
		if (!err) {
			put_info(dev, info);
			rnbd_server_access_note_open(RNBD_ACCESS_EVENT_GRANTED, dev,
						     RNBD_ACCESS_REASON_NONE);
		}
		mutex_unlock(&session->lock);
		mutex_unlock(&rnbd_server_access_lock);
		if (err)
			rnbd_server_writers_undo(dev);
	}
	rnbd_server_writers_end(dev);
	return err;
}

static int open_new(struct rnbd_server_session *session, const struct rnbd_open *open,
		    struct rnbd_device_info *info, struct rnbd_server_wait *wait)
{
	struct rnbd_server_dev *dev = create(session, open, wait);
	int err;

	if (IS_ERR(dev))
		return PTR_ERR(dev);
	err = grant(dev, open, info, wait);
	if (err)
		destroy(dev);
	return err;
}

/* The other writer has gone: from now on it was this one that wrote last. */
static int note_alone(struct rnbd_server_dev *dev)
{
	int err;

	if (!rnbd_server_export_alone(dev))
		return 0;
	err = rnbd_server_writers_begin(dev, NULL);
	if (err)
		return err;
	dev->beside = !rnbd_server_export_alone(dev);
	if (!dev->beside)
		err = rnbd_server_writers_enter(dev);
	rnbd_server_writers_end(dev);
	return err;
}

/*
 * A path that is open already is answered again: a client that lost some of its
 * state comes back like that, or asks for what is new. The access mode stays what it is, but for
 * one that came for a migration and asks for rw: it gets that if it is on record as the only one.
 */
static bool answer_again(struct rnbd_server_session *session, const struct rnbd_open *open,
			 struct rnbd_device_info *info, int *err)
{
	struct rnbd_server_dev *dev;
	bool is_open;

	mutex_lock(&session->lock);
	dev = find_path(session, open->path);
	if (dev)
		kref_get(&dev->ref);
	mutex_unlock(&session->lock);
	if (!dev)
		return false;
	*err = note_alone(dev);
	mutex_lock(&session->lock);
	is_open = !dev->closing;
	if (open->access_mode != RNBD_ACCESS_MODE_RW ||
	    READ_ONCE(dev->access_mode) != RNBD_ACCESS_MODE_MIGRATION)
		*err = 0;
	else if (is_open && !*err && !rnbd_server_export_become_rw(dev))
		*err = -EPERM;
	if (open->io_mode != RNBD_IO_ANY && open->io_mode != dev->io_mode)
		*err = -EMEDIUMTYPE;
	if (is_open && !*err)
		put_info(dev, info);
	mutex_unlock(&session->lock);
	rnbd_server_dev_put(dev);
	return is_open;
}

/* Those of a path come one after the other: nobody in this session opens it meanwhile. */
int rnbd_server_dev_open(struct rnbd_server_session *session, const struct rnbd_open *open,
			 struct rnbd_device_info *info, struct rnbd_server_wait *wait)
{
	int err = 0;

	if (!answer_again(session, open, info, &err))
		err = open_new(session, open, info, wait);
	trace_rnbd_server_open(session, open, err);
	return err;
}
