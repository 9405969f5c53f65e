// SPDX-License-Identifier: GPL-2.0
/*
 * I/O on block devices. One bio for each request, its data the chunk of the
 * request. The context of the operation lies in front of the bio: nothing else
 * is allocated.
 *
 * The device is asked not to wait; what it cannot take
 * then goes to a worker, and all that comes behind it, so that nothing is overtaken for ever. So
 * does all that a device gets which does not know how not to wait: many that are made of
 * others. Flushes may always wait, and discards and their like; each of the two has a worker, as a
 * discard may take the disk a minute.
 */
#include <linux/bio.h>
#include <linux/llist.h>
#include "io.h"
#include "prio.h"

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

/*
 * The block layer would refuse most of it, too, but writes to the log for each, and
 * does not know who may write.
 */
static int check(const struct rnbd_server_dev *dev, const struct rnbd_io *io)
{
	struct block_device *bdev = dev->bdev;

	return rnbd_server_io_check(dev, io, bdev_nr_sectors(bdev), bdev_logical_block_size(bdev),
				    bdev_read_only(bdev));
}

/* The block layer would end it at once as well, but in a worker, behind whatever that waits for. */
static bool flushes_nothing(const struct rnbd_server_dev *dev, const struct rnbd_io *io)
{
	return rnbd_server_is_flush(io) && !bdev_write_cache(dev->bdev);
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

	if (rnbd_server_is_flush(io))
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

	bio_put(&io->bio);
	rnbd_server_io_end(dev, op, err);
}

static void join_backlog(struct rnbd_server_io *io)
{
	atomic_inc(&io->dev->backlogged);
	rnbd_server_io_later(io->dev, &io->late, &io->dev->backlog);
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

static void submit(struct rnbd_server_dev *dev, const struct rnbd_io *msg,
		   const struct rtrs_server_request *req)
{
	bool has_data = req->data_len && !rnbd_server_is_flush(msg);
	struct rnbd_server_io *io;
	struct bio *bio;

	/* Comes from a mempool: waits, but does not fail. */
	bio = bio_alloc_bioset(dev->bdev, has_data, opf_of(msg), GFP_NOIO, &io_bios);
	io = container_of(bio, struct rnbd_server_io, bio);
	io->dev = dev;
	io->op = req->op;
	io->sector = rnbd_server_is_flush(msg) ? 0 : msg->sector;
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
		rnbd_server_io_later(dev, &io->late, &dev->flushes);
	} else if (!has_data) {
		rnbd_server_io_later(dev, &io->late, &dev->discards);
	} else if (unlikely(!bdev_nowait(dev->bdev) || atomic_read(&dev->backlogged))) {
		join_backlog(io);
	} else {
		bio->bi_opf |= REQ_NOWAIT;
		submit_bio(bio);
	}
}

int rnbd_server_bdev_io(struct rnbd_server_dev *dev, const struct rnbd_io *msg,
			const struct rtrs_server_request *req)
{
	int err = check(dev, msg);

	if (err || flushes_nothing(dev, msg))
		return err;
	submit(dev, msg, req);
	return -EIOCBQUEUED;
}

int __init rnbd_server_bdev_init(void)
{
	return bioset_init(&io_bios, BIO_POOL_SIZE, offsetof(struct rnbd_server_io, bio),
			   BIOSET_NEED_BVECS);
}

void rnbd_server_bdev_exit(void)
{
	bioset_exit(&io_bios);
}
