// SPDX-License-Identifier: GPL-2.0
/*
 * I/O on block devices. One bio for each request, its data the chunk of the
 * request. The context of the operation lies in front of the bio: nothing else
 * is allocated.
 *
 * Requests come in the completion context of the transport, which has other things to do than
 * to wait for a device that takes no more. It is asked not to wait; what it cannot take
 * then goes to a worker, and all that comes behind it, so that nothing is overtaken for ever. So
 * does all that a device gets which does not know how not to wait: many that are made of
 * others. Flushes may always wait, and discards and their like; each of the two has a worker, as a
 * discard may take the disk a minute.
 *
 * Each opening has these three workers, but they run on the queue of their disk, a few at
 * a time: one that takes nothing keeps a few, however often it is open.
 */
#include <linux/bio.h>
#include <linux/llist.h>
#include "prio.h"
#include "server.h"
#include "trace.h"

/**
 * struct rnbd_server_io - an operation on a block device
 * @dev: held by its inflight counter
 * @op: to be answered
 * @late: in the list of a worker that submits it
 * @sector: where it begins
 * @opf: what it is
 * @prio: its priority
 * @bio: must be last
 */
struct rnbd_server_io {
	struct rnbd_server_dev *dev;
	struct rtrs_server_op *op;
	struct llist_node late;
	sector_t sector;
	blk_opf_t opf;
	u16 prio;
	struct bio bio;
};

static struct bio_set io_bios;

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

/* An empty write is a flush: protocol 2.1 sends them with PREFLUSH, before it with FUA. */
static bool is_flush(const struct rnbd_io *io)
{
	return !io->bytes;
}

/*
 * One discard of the whole disk would be thousands for the disk, and keep its worker. Reads and
 * writes end with their chunk; in-tree clients do not look at the limit of the disk.
 */
static bool longer_than_told(const struct rnbd_server_dev *dev, enum rnbd_op op, u32 sectors)
{
	switch (op) {
	case RNBD_OP_DISCARD:
	case RNBD_OP_SECURE_ERASE:
		return dev->max_discard && sectors > READ_ONCE(dev->max_discard);
	case RNBD_OP_WRITE_ZEROES:
		return dev->max_zeroes && sectors > READ_ONCE(dev->max_zeroes);
	default:
		return false;
	}
}

/*
 * The block layer would refuse most of it, too, but writes to the log for each, and
 * does not know who may write.
 */
static int check(const struct rnbd_server_dev *dev, const struct rnbd_io *io)
{
	struct block_device *bdev = dev->bdev;
	sector_t end = bdev_nr_sectors(bdev);
	u32 sectors = io->bytes >> SECTOR_SHIFT;

	/* A write that writes nothing is one, too; a plain flush is for everybody. */
	if (io->op != RNBD_OP_READ && io->op != RNBD_OP_FLUSH &&
	    (dev->read_only || bdev_read_only(bdev)))
		return -EROFS;
	if (is_flush(io))
		return 0;
	if ((io->sector | sectors) & ((bdev_logical_block_size(bdev) >> SECTOR_SHIFT) - 1))
		return -EINVAL;
	if (io->sector > end || sectors > end - io->sector)
		return -EIO;
	return longer_than_told(dev, io->op, sectors) ? -EINVAL : 0;
}

/* The block layer would end it at once as well, but in a worker, behind whatever that waits for. */
static bool flushes_nothing(const struct rnbd_server_dev *dev, const struct rnbd_io *io)
{
	return is_flush(io) && !bdev_write_cache(dev->bdev);
}

static blk_opf_t opf_of(const struct rnbd_io *io)
{
	static const blk_opf_t opf_table[RNBD_OP_COUNT] = {
		[RNBD_OP_READ]		= REQ_OP_READ,
		[RNBD_OP_WRITE]		= REQ_OP_WRITE,
		[RNBD_OP_DISCARD]	= REQ_OP_DISCARD,
		[RNBD_OP_SECURE_ERASE]	= REQ_OP_SECURE_ERASE,
		[RNBD_OP_WRITE_ZEROES]	= REQ_OP_WRITE_ZEROES,
	};
	blk_opf_t opf;

	if (is_flush(io))
		return REQ_OP_WRITE | REQ_SYNC | REQ_PREFLUSH;
	/* The parser left no flag that the operation does not know. */
	opf = opf_table[io->op];
	if (io->flags & RNBD_F_SYNC)
		opf |= REQ_SYNC;
	if (io->flags & RNBD_F_FUA)
		opf |= REQ_FUA;
	if (io->flags & RNBD_F_PREFLUSH)
		opf |= REQ_PREFLUSH;
	if (io->flags & RNBD_F_NOUNMAP)
		opf |= REQ_NOUNMAP;
	return opf;
}

static void finish(struct rnbd_server_io *io)
{
	struct rnbd_server_dev *dev = io->dev;
	struct rtrs_server_op *op = io->op;
	int err = blk_status_to_errno(io->bio.bi_status);

	trace_rnbd_server_io_done(dev, op, err);
	bio_put(&io->bio);
	rtrs_server_respond(op, err);
	percpu_ref_put(&dev->inflight);	/* the device, the session, this module may go now */
}

/* The worker may run already, and be through with @io before it is queued here. */
static void submit_later(struct rnbd_server_io *io, struct rnbd_server_late *late)
{
	struct rnbd_server_dev *dev = io->dev;

	percpu_ref_get(&dev->inflight);
	if (llist_add(&io->late, &late->list))
		queue_work(dev->export->submit_wq, &late->work);
	percpu_ref_put(&dev->inflight);
}

static void join_backlog(struct rnbd_server_io *io)
{
	atomic_inc(&io->dev->backlogged);
	submit_later(io, &io->dev->backlog);
}

/* The device would have had to wait, or has become one that does not know how not to. */
static bool would_wait(const struct bio *bio)
{
	return bio->bi_opf & REQ_NOWAIT &&
	       (bio->bi_status == BLK_STS_AGAIN || bio->bi_status == BLK_STS_NOTSUPP);
}

/* Many drivers end bios in their interrupt handler, and there they are answered. */
static void end_io(struct bio *bio)
{
	struct rnbd_server_io *io = container_of(bio, struct rnbd_server_io, bio);

	if (unlikely(would_wait(bio)))
		join_backlog(io);
	else
		finish(io);
}

/* A part of it may have been submitted and done. */
static void submit_again(struct rnbd_server_io *io)
{
	struct bio *bio = &io->bio;

	bio_reset(bio, io->dev->bdev, io->opf);
	bio->bi_end_io = end_io;
	bio->bi_ioprio = io->prio;
	bio->bi_iter.bi_sector = io->sector;
	bio->bi_iter.bi_size = bio->bi_io_vec->bv_len;
	bio->bi_vcnt = 1;
	submit_bio(bio);
}

static void backlog_work(struct work_struct *work)
{
	struct rnbd_server_dev *dev = container_of(work, struct rnbd_server_dev, backlog.work);
	struct llist_node *first = llist_reverse_order(llist_del_all(&dev->backlog.list));
	struct rnbd_server_io *io, *next;

	llist_for_each_entry_safe(io, next, first, late) {
		submit_again(io);
		/* The device waits for us to be through, not for its I/O alone. */
		atomic_dec(&dev->backlogged);
	}
}

static void late_work(struct work_struct *work)
{
	struct rnbd_server_late *late = container_of(work, struct rnbd_server_late, work);
	struct llist_node *first = llist_reverse_order(llist_del_all(&late->list));
	struct rnbd_server_io *io, *next;

	llist_for_each_entry_safe(io, next, first, late)
		submit_bio(&io->bio);
}

void rnbd_server_io_dev_init(struct rnbd_server_dev *dev)
{
	INIT_WORK(&dev->backlog.work, backlog_work);
	INIT_WORK(&dev->flushes.work, late_work);
	INIT_WORK(&dev->discards.work, late_work);
}

/* Nothing is in the lists: what has not begun need not wait for its turn. */
void rnbd_server_io_dev_exit(struct rnbd_server_dev *dev)
{
	cancel_work_sync(&dev->backlog.work);
	cancel_work_sync(&dev->flushes.work);
	cancel_work_sync(&dev->discards.work);
}

static void submit(struct rnbd_server_dev *dev, const struct rnbd_io *msg,
		   const struct rtrs_server_request *req)
{
	bool has_data = req->data_len && !is_flush(msg);
	struct rnbd_server_io *io;
	struct bio *bio;

	/* Comes from a mempool: waits, but does not fail. */
	bio = bio_alloc_bioset(dev->bdev, has_data, opf_of(msg), GFP_NOIO, &io_bios);
	io = container_of(bio, struct rnbd_server_io, bio);
	io->dev = dev;
	io->op = req->op;
	io->sector = is_flush(msg) ? 0 : msg->sector;
	io->opf = bio->bi_opf;
	io->prio = rnbd_server_prio(msg->prio);
	bio->bi_end_io = end_io;
	bio->bi_ioprio = io->prio;
	bio->bi_iter.bi_sector = io->sector;
	if (has_data)
		__bio_add_page(bio, virt_to_page(req->data), req->data_len,
			       offset_in_page(req->data));
	else
		bio->bi_iter.bi_size = msg->bytes;
	trace_rnbd_server_io(dev, req->op, msg);
	if (io->opf & REQ_PREFLUSH) {
		submit_later(io, &dev->flushes);
	} else if (!has_data) {
		submit_later(io, &dev->discards);
	} else if (unlikely(!bdev_nowait(dev->bdev) || atomic_read(&dev->backlogged))) {
		join_backlog(io);
	} else {
		bio->bi_opf |= REQ_NOWAIT;
		submit_bio(bio);
	}
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
	err = check(dev, &msg);
	if (err || flushes_nothing(dev, &msg)) {
		percpu_ref_put(&dev->inflight);
		goto respond;
	}
	submit(dev, &msg, req);
	return;

respond:
	rtrs_server_respond(req->op, err);
}

int __init rnbd_server_io_init(void)
{
	return bioset_init(&io_bios, BIO_POOL_SIZE, offsetof(struct rnbd_server_io, bio),
			   BIOSET_NEED_BVECS);
}

void rnbd_server_io_exit(void)
{
	bioset_exit(&io_bios);
}
