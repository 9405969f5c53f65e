/* SPDX-License-Identifier: GPL-2.0 */
/* Requests: what io.c, which takes them, shares with those who do them, io-bdev.c and io-file.c. */
#ifndef RNBD_SERVER_IO_H
#define RNBD_SERVER_IO_H

#include "server.h"
#include "trace.h"

/* An empty write is a flush: protocol 2.1 sends them with PREFLUSH, before it with FUA. */
static inline bool rnbd_server_is_flush(const struct rnbd_io *io)
{
	return !io->bytes;
}

/*
 * One discard of the whole disk would be thousands for the disk, and keep its worker. Reads and
 * writes end with their chunk; in-tree clients do not look at the limit of the disk.
 */
static inline bool rnbd_server_longer_than_told(const struct rnbd_server_dev *dev, enum rnbd_op op,
						u32 sectors)
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

/* @end: of the device, in sectors; @block: bytes of a logical block; @read_only: nobody writes */
static inline int rnbd_server_io_check(const struct rnbd_server_dev *dev, const struct rnbd_io *io,
				       u64 end, u32 block, bool read_only)
{
	u32 sectors = io->bytes >> SECTOR_SHIFT;

	/* A write that writes nothing is one, too; a plain flush is for everybody. */
	if (io->op != RNBD_OP_READ && io->op != RNBD_OP_FLUSH && (dev->read_only || read_only))
		return -EROFS;
	if (rnbd_server_is_flush(io))
		return 0;
	if ((io->sector | sectors) & ((block >> SECTOR_SHIFT) - 1))
		return -EINVAL;
	if (io->sector > end || sectors > end - io->sector)
		return -EIO;
	return rnbd_server_longer_than_told(dev, io->op, sectors) ? -EINVAL : 0;
}

/* Answers a request that was under way. Any context. */
static inline void rnbd_server_io_end(struct rnbd_server_dev *dev, struct rtrs_server_op *op,
				      int err)
{
	trace_rnbd_server_io_done(dev, op, err);
	rtrs_server_respond(op, err);
	percpu_ref_put(&dev->inflight);	/* the device, the session, this module may go now */
}

/*
 * Gives a request to the worker of @late. That may run already, and be through with the request
 * before it is queued here.
 */
static inline void rnbd_server_io_later(struct rnbd_server_dev *dev, struct llist_node *io,
					struct rnbd_server_late *late)
{
	percpu_ref_get(&dev->inflight);
	if (llist_add(io, &late->list))
		queue_work(dev->export->submit_wq, &late->work);
	percpu_ref_put(&dev->inflight);
}

/*
 * -EIOCBQUEUED: it will be answered. Else it is to be answered with that, 0 where there is nothing
 * to do.
 */
int rnbd_server_bdev_io(struct rnbd_server_dev *dev, const struct rnbd_io *msg,
			const struct rtrs_server_request *req);
int rnbd_server_file_io(struct rnbd_server_dev *dev, const struct rnbd_io *msg,
			const struct rtrs_server_request *req);

int rnbd_server_bdev_init(void);
void rnbd_server_bdev_exit(void);
int rnbd_server_file_init(void);
void rnbd_server_file_exit(void);

#endif /* RNBD_SERVER_IO_H */
