// SPDX-License-Identifier: GPL-2.0
/*
 * Block requests to RTRS requests and back. Each tag has a slot, so nothing is allocated here. If
 * the server came back with fewer slots than there are tags, whose number is fixed while disks
 * exist, a request takes a free slot from session->slots instead.
 */
#include <linux/scatterlist.h>
#include <compat/blkdev.h>
#include "client.h"

/* blk-mq uses no more hardware queues than there are CPUs. */
static unsigned int io_queues(const struct rnbd_client_session *session)
{
	return min(session->io_cons, nr_cpu_ids);
}

/* Whether a request that finds no path waits for one, or else fails. */
static bool dev_io_waits(const struct rnbd_client_dev *dev)
{
	return test_bit(RNBD_CLIENT_DEV_WAITS, &dev->flags);
}

static bool rq_take_rare_slot(struct rnbd_client_session *session, struct rnbd_client_io *io)
{
	if (test_bit(RNBD_CLIENT_SLOTS_CALM, &session->slot_mode))
		rnbd_client_slots_watch(session);
	if (!test_bit(RNBD_CLIENT_SLOTS_FEW, &session->slot_mode))
		return true;
	io->borrowed = READ_ONCE(session->few_base);
	io->slot = sbitmap_get(&session->slots);
	if (io->slot < 0)
		return false;
	io->slot += io->borrowed;
	return true;
}

/* Takes the slot of the tag of @rq; if there are more tags than slots, a free one. */
static bool rq_take_slot(struct rnbd_client_session *session, struct request *rq)
{
	struct rnbd_client_io *io = blk_mq_rq_to_pdu(rq);

	io->slot = session->slot[rq->tag];
	io->borrowed = 0;
	return likely(!READ_ONCE(session->slot_mode)) || rq_take_rare_slot(session, io);
}

static void rq_put_slot(struct rnbd_client_session *session, struct request *rq)
{
	struct rnbd_client_io *io = blk_mq_rq_to_pdu(rq);

	if (unlikely(io->borrowed))
		sbitmap_put(&session->slots, io->slot - io->borrowed);
}

/*
 * @rq was given up, and the server may still run it: no request may use its slot in this epoch. The
 * tag gets a spare slot. If none is left, all paths are given up, which begins another epoch.
 */
static void rq_lose_slot(struct rnbd_client_session *session, struct request *rq)
{
	struct rnbd_client_io *io = blk_mq_rq_to_pdu(rq);
	u32 *spare = session->slot + session->tags.queue_depth;
	bool found = false;

	spin_lock_bh(&session->slot_lock);
	if (session->spares_epoch != io->epoch) {
		session->spares_epoch = io->epoch;
		session->spares_left = session->spares;
	}
	if (!io->borrowed && session->spares_left &&
	    spare[session->spares_left - 1] < rtrs_client_granted(session->rtrs)) {
		session->spares_left--;
		swap(session->slot[rq->tag], spare[session->spares_left]);
		found = true;
	}
	spin_unlock_bh(&session->slot_lock);
	if (found)
		return;
	rtrs_client_lose(session->rtrs);
	rq_put_slot(session, rq);
}

/*
 * A write without FUA was acknowledged: it may be in the write cache of the server's disk until a
 * flush, and is lost with that cache. The bit is set nearly always. It is read first, so that its
 * cache line stays shared. False: the device was opened again since, maybe on a server that has
 * lost the write.
 */
static bool note_written(struct rnbd_client_dev *dev, const struct rnbd_client_io *io)
{
	if (!test_bit_acquire(RNBD_CLIENT_DEV_DIRTY, &dev->flags)) {
		set_bit(RNBD_CLIENT_DEV_DIRTY, &dev->flags);
		smp_mb__after_atomic();	/* before ->epoch: rnbd_client_disk_reopen() */
	}
	return READ_ONCE(dev->epoch) == io->epoch;
}

static bool has_fua(const struct rnbd_client_io *io)
{
	return rnbd_get_le32(&io->msg.rw) & RNBD_F_FUA;
}

/* Before the flush is sent: a write that is acknowledged from here on sets DIRTY again. */
static void flush_begin(struct rnbd_client_dev *dev, struct rnbd_client_io *io)
{
	io->took_dirty = test_bit(RNBD_CLIENT_DEV_DIRTY, &dev->flags);
	if (!io->took_dirty)
		return;
	atomic_inc(&dev->flushing);
	smp_mb__after_atomic();	/* rnbd_client_lost_writes() sees ->flushing or DIRTY */
	clear_bit(RNBD_CLIENT_DEV_DIRTY, &dev->flags);
	smp_mb__after_atomic();	/* note_written() of a write that this flush misses sees 0 */
}

static void flush_end(struct rnbd_client_dev *dev, const struct rnbd_client_io *io, int err)
{
	if (!io->took_dirty)
		return;
	if (err)
		set_bit(RNBD_CLIENT_DEV_DIRTY, &dev->flags);
	smp_mb__before_atomic();	/* rnbd_client_lost_writes() sees ->flushing or DIRTY */
	atomic_dec(&dev->flushing);
}

/* True for the first flush or FUA write behind a loss of acknowledged writes: it has to fail. */
static bool rq_takes_loss(struct rnbd_client_dev *dev, const struct request *rq)
{
	return op_is_flush(rq->cmd_flags) &&
	       unlikely(test_bit(RNBD_CLIENT_DEV_LOST, &dev->flags)) &&
	       test_and_clear_bit(RNBD_CLIENT_DEV_LOST, &dev->flags);
}

/* The path of the request was lost: whether it may go to another one. */
static bool rq_is_wanted(const void *priv)
{
	const struct request *rq = priv;
	const struct rnbd_client_dev *dev = rq->q->queuedata;

	return !test_bit(RNBD_CLIENT_DEV_DROPS, &dev->flags);
}

/*
 * The server has answered a request with -ENOTCONN: an administrator there has closed the
 * device, or the server has lost the session and the client has not. Each request in flight
 * gets that answer; the first one queues the work.
 */
static void dev_gone(struct rnbd_client_dev *dev)
{
	if (test_and_clear_bit(RNBD_CLIENT_DEV_OPEN, &dev->flags))
		queue_work(rnbd_client_wq, &dev->gone_work);
}

/* softirq, the process that polls, or a path worker */
static void rq_done(void *priv, int err)
{
	struct request *rq = priv;
	struct rnbd_client_dev *dev = rq->q->queuedata;
	struct rnbd_client_io *io = blk_mq_rq_to_pdu(rq);

	if (unlikely(err == -ECONNABORTED && !rq_is_wanted(rq) &&
		     rnbd_client_epoch_is(dev->session, io->epoch)))
		rq_lose_slot(dev->session, rq);
	else
		rq_put_slot(dev->session, rq);
	if (req_op(rq) == REQ_OP_FLUSH)
		flush_end(dev, io, err);
	else if (op_is_write(req_op(rq)) && !err && !has_fua(io) &&
		 unlikely(!note_written(dev, io)))
		err = -ECONNABORTED;
	if (unlikely(err == -ENOTCONN && READ_ONCE(dev->epoch) == io->epoch))
		dev_gone(dev);
	if (unlikely(err == -ECONNABORTED && dev_io_waits(dev))) {
		blk_mq_requeue_request(rq, true);
		return;
	}
	io->status = errno_to_blk_status(err);
	blk_mq_complete_request(rq);
}

static void rq_complete(struct request *rq)
{
	struct rnbd_client_io *io = blk_mq_rq_to_pdu(rq);

	blk_mq_end_request(rq, io->status);
}

static u32 io_flags(const struct rnbd_client_dev *dev, const struct request *rq)
{
	u32 flags = 0;

	if (op_is_sync(rq->cmd_flags))
		flags |= RNBD_F_SYNC;
	/* A flush carries the bit as well: peers have always sent it so. */
	if (rq->cmd_flags & (REQ_FUA | REQ_PREFLUSH) ||
	    (req_op(rq) == REQ_OP_WRITE && test_bit(RNBD_CLIENT_DEV_FUA, &dev->flags)))
		flags |= RNBD_F_FUA;
	if (req_op(rq) == REQ_OP_WRITE && rq->cmd_flags & REQ_PREFLUSH)
		flags |= RNBD_F_PREFLUSH;
	if (req_op(rq) == REQ_OP_WRITE_ZEROES && rq->cmd_flags & REQ_NOUNMAP)
		flags |= RNBD_F_NOUNMAP;
	return flags;
}

/* False: the protocol has no such operation, or the server does not know a flag of it. */
static bool rq_pack(struct rnbd_client_dev *dev, struct request *rq, struct rnbd_msg_io *msg)
{
	struct rnbd_io io = {
		.device_id = dev->device_id,
		.sector = blk_rq_pos(rq),
		.bytes = blk_rq_bytes(rq),
		.flags = io_flags(dev, rq),
		.prio = req_get_ioprio(rq),
	};

	switch (req_op(rq)) {
	case REQ_OP_READ:
		io.op = RNBD_OP_READ;
		break;
	case REQ_OP_WRITE:
		io.op = RNBD_OP_WRITE;
		break;
	case REQ_OP_FLUSH:
		io.op = RNBD_OP_FLUSH;
		io.sector = RNBD_FLUSH_SECTOR;
		io.bytes = 0;
		break;
	case REQ_OP_DISCARD:
		io.op = RNBD_OP_DISCARD;
		break;
	case REQ_OP_SECURE_ERASE:
		io.op = RNBD_OP_SECURE_ERASE;
		break;
	case REQ_OP_WRITE_ZEROES:
		io.op = RNBD_OP_WRITE_ZEROES;
		break;
	default:
		return false;
	}
	rnbd_io_pack(msg, &io);
	/*
	 * For a flag of WRITE_ZEROES that the server does not know, the block layer writes zeroes
	 * itself. A PREFLUSH it sends as a flush of its own, so no flush is dropped here.
	 */
	return rnbd_flags_understood(io.flags, dev->session->minor);
}

static bool rq_has_data(const struct request *rq)
{
	return req_op(rq) == REQ_OP_READ || req_op(rq) == REQ_OP_WRITE;
}

static blk_status_t queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	struct request *rq = bd->rq;
	struct rnbd_client_dev *dev = rq->q->queuedata;
	struct rnbd_client_io *io = blk_mq_rq_to_pdu(rq);
	struct rtrs_client_request req = {
		.con = (unsigned long)hctx->driver_data,
		.is_read = !op_is_write(req_op(rq)), /* a flush, too */
		.usr = &io->msg,
		.usr_len = sizeof(io->msg),
		.done = rq_done,
		.wanted = rq_is_wanted,
		.priv = rq,
	};
	int err;

	/*
	 * ->state is not read: dirty pages of a disk that is being unmapped are written. A request
	 * that waits is queued again until it can be set aside.
	 */
	if (unlikely(!test_bit_acquire(RNBD_CLIENT_DEV_OPEN, &dev->flags) || !rq_is_wanted(rq))) {
		if (!dev_io_waits(dev))
			return BLK_STS_IOERR;
		return rnbd_client_set_aside(rq) ? BLK_STS_OK : BLK_STS_RESOURCE;
	}
	if (rq_takes_loss(dev, rq))
		return BLK_STS_IOERR;
	req.epoch = READ_ONCE(dev->epoch);
	io->epoch = req.epoch;
	if (unlikely(!rq_pack(dev, rq, &io->msg))) {
		rq->rq_flags |= RQF_QUIET;
		return BLK_STS_NOTSUPP;
	}
	if (rq_has_data(rq) && unlikely(blk_rq_bytes(rq) > READ_ONCE(dev->session->max_bytes))) {
		rnbd_client_resplit(rq);
		return BLK_STS_OK;
	}
	if (unlikely(!rq_take_slot(dev->session, rq)))
		return BLK_STS_RESOURCE;
	req.slot = io->slot;
	blk_mq_start_request(rq);
	if (rq_has_data(rq)) {
		req.sg_count = blk_rq_map_sg(rq->q, rq, io->sgl);
		req.sgl = io->sgl;
		req.data_len = blk_rq_bytes(rq);
	}
	if (req_op(rq) == REQ_OP_FLUSH)
		flush_begin(dev, io);
	err = rtrs_client_submit(dev->session->rtrs, &req);
	if (likely(!err))
		return BLK_STS_OK;
	if (req_op(rq) == REQ_OP_FLUSH)
		flush_end(dev, io, err);
	rq_put_slot(dev->session, rq);
	/* The block layer queues it again, after a delay at the latest. */
	if (err == -EAGAIN || err == -ENOMEM || (err == -ECONNABORTED && dev_io_waits(dev)))
		return BLK_STS_RESOURCE;
	return BLK_STS_IOERR;
}

static int hctx_poll(struct blk_mq_hw_ctx *hctx, struct io_comp_batch *batch)
{
	struct rnbd_client_dev *dev = hctx->queue->queuedata;

	return rtrs_client_poll(dev->session->rtrs, (unsigned long)hctx->driver_data);
}

/*
 * A request cannot be aborted while the server may access its pages, and need not be: the disk of a
 * live server may be slow, and the heartbeat ends the paths of a dead one. If the administrator has
 * set io_timeout, the path of the request is given up. That ends the request or moves it to another
 * path.
 */
static enum blk_eh_timer_return rq_timeout(struct request *rq)
{
	struct rnbd_client_dev *dev = rq->q->queuedata;
	struct rtrs_client_session *rtrs = dev->session->rtrs;
	struct rnbd_client_io *io = blk_mq_rq_to_pdu(rq);
	struct blk_mq_hw_ctx *hctx = rq->mq_hctx;

	/* It may be answered, and the task that submitted it may not poll. */
	if (hctx->type == HCTX_TYPE_POLL) {
		rtrs_client_poll(rtrs, (unsigned long)hctx->driver_data);
		if (blk_mq_rq_state(rq) != MQ_RQ_IN_FLIGHT)
			return BLK_EH_DONE;
	}
	if (READ_ONCE(rtrs_client_settings(rtrs)->io_ms))
		rtrs_client_timed_out(rtrs, io->slot, rq);
	return BLK_EH_RESET_TIMER;
}

static bool rq_drop(struct request *rq, void *priv)
{
	struct rnbd_client_dev *dev = priv;
	struct rnbd_client_io *io = blk_mq_rq_to_pdu(rq);

	/* The iterator holds a reference to @rq, so ->slot stays its own. */
	if (rq->q->queuedata == dev && blk_mq_rq_state(rq) == MQ_RQ_IN_FLIGHT)
		rtrs_client_timed_out(dev->session->rtrs, io->slot, rq);
	return true;
}

/*
 * The device is being unmapped, and the server had time to answer. The paths of the requests that
 * it has not answered are given up, and the requests fail, as later ones do.
 */
void rnbd_client_queue_drop_work(struct work_struct *work)
{
	struct rnbd_client_dev *dev = container_of(to_delayed_work(work), struct rnbd_client_dev,
						   drop_work);

	if (!test_and_set_bit(RNBD_CLIENT_DEV_DROPS, &dev->flags))
		pr_warn("%s: session %s has not answered all in time: the rest is given up\n",
			dev->name, dev->session->name);
	blk_mq_tagset_busy_iter(&dev->session->tags, rq_drop, dev);
	/* Again: a request may have been moving to another path. */
	queue_delayed_work(rnbd_client_wq, &dev->drop_work, HZ / 5);
}

/* driver_data: number of the connection */
static int init_hctx(struct blk_mq_hw_ctx *hctx, void *data, unsigned int index)
{
	struct rnbd_client_session *session = data;
	unsigned int io = io_queues(session);
	unsigned long con = index < io ? index : session->io_cons + index - io;

	hctx->driver_data = (void *)con;
	return 0;
}

static int init_request(struct blk_mq_tag_set *set, struct request *rq, unsigned int hctx,
			unsigned int node)
{
	struct rnbd_client_session *session = set->driver_data;
	struct rnbd_client_io *io = blk_mq_rq_to_pdu(rq);

	sg_init_table(io->sgl, session->max_segments);
	return 0;
}

static void map_queues(struct blk_mq_tag_set *set)
{
	struct rnbd_client_session *session = set->driver_data;
	struct blk_mq_queue_map *map = set->map;

	map[HCTX_TYPE_DEFAULT].nr_queues = min(io_queues(session), set->nr_hw_queues);
	blk_mq_map_queues(&map[HCTX_TYPE_DEFAULT]);
	if (set->nr_maps == 1)
		return;
	/* Reads use the default queues. */
	map[HCTX_TYPE_READ].nr_queues = 0;
	map[HCTX_TYPE_POLL].nr_queues = session->poll_cons;
	map[HCTX_TYPE_POLL].queue_offset = io_queues(session);
	blk_mq_map_queues(&map[HCTX_TYPE_POLL]);
}

const struct blk_mq_ops rnbd_client_mq_ops = {
	.queue_rq	= queue_rq,
	.complete	= rq_complete,
	.timeout	= rq_timeout,
	.poll		= hctx_poll,
	.init_hctx	= init_hctx,
	.init_request	= init_request,
	.map_queues	= map_queues,
};

void rnbd_client_queue_shrink(struct rnbd_client_session *session, u32 depth, u32 count)
{
	lockdep_assert_held(&session->lock);
	if (count >= session->slots.depth)
		return;
	sbitmap_resize(&session->slots, count);
	WRITE_ONCE(session->few_base, rnbd_client_ctrl_slots(depth));
	smp_mb__before_atomic();	/* for rq_take_rare_slot() */
	set_bit(RNBD_CLIENT_SLOTS_FEW, &session->slot_mode);
}

/*
 * The slots for control messages are the first ones, as the server grants these first. Spare ones
 * are among all others: one of each so many, the lowest is taken first.
 */
static void assign_slots(struct rnbd_client_session *session, u32 slot, u32 depth, u32 spares)
{
	u32 tag = 0, left = spares;

	for (; tag < depth; slot++) {
		if (left && slot % RNBD_CLIENT_SPARE_SHARE == RNBD_CLIENT_SPARE_SHARE / 2 - 1)
			session->slot[depth + --left] = slot;
		else
			session->slot[tag++] = slot;
	}
	while (left)
		session->slot[depth + --left] = slot++;
}

int rnbd_client_queue_init(struct rnbd_client_session *session, u32 depth, u32 spares)
{
	struct blk_mq_tag_set *set = &session->tags;
	struct rtrs_client_attrs attrs;
	int err;

	rtrs_client_query(session->rtrs, &attrs);
	session->slot = kvcalloc(depth + spares, sizeof(*session->slot), GFP_KERNEL);
	if (!session->slot)
		return -ENOMEM;
	assign_slots(session, rnbd_client_ctrl_slots(attrs.queue_depth), depth, spares);
	session->spares = spares;
	session->spares_left = spares;
	spin_lock_init(&session->slot_lock);
	err = sbitmap_init_node(&session->slots, depth, -1, GFP_KERNEL, NUMA_NO_NODE, false, true);
	if (err)
		return err;
	set->ops = &rnbd_client_mq_ops;
	set->driver_data = session;
	set->queue_depth = depth;
	set->nr_hw_queues = io_queues(session) + session->poll_cons;
	set->nr_maps = session->poll_cons ? HCTX_MAX_TYPES : 1;
	set->numa_node = NUMA_NO_NODE;
	set->flags = BLK_MQ_F_SHOULD_MERGE | BLK_MQ_F_TAG_HCTX_SHARED |
		     BLK_MQ_F_NO_SCHED_BY_DEFAULT;
	set->cmd_size = struct_size((struct rnbd_client_io *)NULL, sgl, session->max_segments);
	err = blk_mq_alloc_tag_set(set);
	if (err)
		return err;
	/*
	 * When a second queue joins a tag set, or the last but one leaves it, the block layer
	 * freezes the first one to change BLK_MQ_F_TAG_QUEUE_SHARED of its hardware queues, and so
	 * waits for the requests of that disk. These may wait for a path, with no end; a map or an
	 * unmap of another disk must not. The flag is not ours to set: the block layer clears it
	 * when one queue is left. This queue has no requests and stays as long as the tag set, so
	 * the set is shared from the first disk to the last.
	 */
	session->no_disk = rnbd_queue_alloc(set);
	return PTR_ERR_OR_ZERO(session->no_disk) ?: rnbd_client_slots_init(session);
}

void rnbd_client_queue_exit(struct rnbd_client_session *session)
{
	if (!IS_ERR_OR_NULL(session->no_disk)) {
		blk_mq_destroy_queue(session->no_disk);
		blk_put_queue(session->no_disk);
	}
	if (session->tags.tags)
		blk_mq_free_tag_set(&session->tags);
	sbitmap_free(&session->slots);
	kvfree(session->slot);
	session->slot = NULL;
	bitmap_free(session->kept);
	session->kept = NULL;
}
