// SPDX-License-Identifier: GPL-2.0
/*
 * From block requests to RTRS requests and back. The tag of a request is its slot: nothing is
 * allocated here. Only where the server came back with less slots than there are tags, which
 * cannot change under the disks, a request takes one of those.
 */
#include <linux/scatterlist.h>
#include <compat/blkdev.h>
#include "client.h"

/* Several connections for each CPU bring nothing: a hardware queue needs a CPU. */
static unsigned int io_queues(const struct rnbd_client_session *session)
{
	return min(session->io_cons, nr_cpu_ids);
}

/* No path: is that the end of a request, or does it wait for one? */
static bool waits(const struct rnbd_client_dev *dev)
{
	return test_bit(RNBD_CLIENT_DEV_WAITS, &dev->flags);
}

/* The tag of @rq, or where there are more tags than slots, a free one of those. */
static bool take_slot(struct rnbd_client_session *session, struct request *rq)
{
	struct rnbd_client_io *io = blk_mq_rq_to_pdu(rq);

	io->slot = rq->tag;
	io->borrowed = READ_ONCE(session->few_slots);
	if (unlikely(io->borrowed))
		io->slot = sbitmap_get(&session->slots);
	return io->slot >= 0;
}

static void put_slot(struct rnbd_client_session *session, struct request *rq)
{
	struct rnbd_client_io *io = blk_mq_rq_to_pdu(rq);

	if (unlikely(io->borrowed))
		sbitmap_put(&session->slots, io->slot);
}

/* softirq, the process that polls, or a path worker */
static void done(void *priv, int err)
{
	struct request *rq = priv;
	struct rnbd_client_dev *dev = rq->q->queuedata;
	struct rnbd_client_io *io = blk_mq_rq_to_pdu(rq);

	put_slot(dev->session, rq);
	if (unlikely(err == -ENOTCONN))
		rnbd_client_dev_gone(dev);
	if (unlikely(err == -ECONNABORTED && waits(dev))) {
		blk_mq_requeue_request(rq, true);
		return;
	}
	io->status = errno_to_blk_status(err);
	blk_mq_complete_request(rq);
}

static void complete_rq(struct request *rq)
{
	struct rnbd_client_io *io = blk_mq_rq_to_pdu(rq);

	blk_mq_end_request(rq, io->status);
}

static u32 io_flags(const struct request *rq)
{
	u32 flags = 0;

	if (op_is_sync(rq->cmd_flags))
		flags |= RNBD_F_SYNC;
	/* A flush carries the bit as well: peers have always sent it so. */
	if (rq->cmd_flags & (REQ_FUA | REQ_PREFLUSH))
		flags |= RNBD_F_FUA;
	if (req_op(rq) == REQ_OP_WRITE && rq->cmd_flags & REQ_PREFLUSH)
		flags |= RNBD_F_PREFLUSH;
	if (req_op(rq) == REQ_OP_WRITE_ZEROES && rq->cmd_flags & REQ_NOUNMAP)
		flags |= RNBD_F_NOUNMAP;
	return flags;
}

/* false: nothing that the protocol has a word for, or this server */
static bool pack(struct rnbd_client_dev *dev, struct request *rq, struct rnbd_msg_io *msg)
{
	struct rnbd_io io = {
		.device_id = dev->device_id,
		.sector = blk_rq_pos(rq),
		.bytes = blk_rq_bytes(rq),
		.flags = io_flags(rq),
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
	 * Where it would overlook a flag, zeroes are written by the block layer. That also
	 * sends a flush on its own in front of a write that wants one, so none is lost here.
	 */
	return rnbd_flags_understood(io.flags, dev->session->minor);
}

static bool has_data(const struct request *rq)
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
		.done = done,
		.priv = rq,
	};
	int err;

	/*
	 * Not the state: what the page cache of a disk that is being unmapped still
	 * holds is written. What waits comes again until it can be set aside.
	 */
	if (unlikely(!test_bit_acquire(RNBD_CLIENT_DEV_OPEN, &dev->flags))) {
		if (!waits(dev))
			return BLK_STS_IOERR;
		return rnbd_client_set_aside(rq) ? BLK_STS_OK : BLK_STS_RESOURCE;
	}
	req.epoch = READ_ONCE(dev->epoch);
	if (unlikely(!pack(dev, rq, &io->msg))) {
		rq->rq_flags |= RQF_QUIET;
		return BLK_STS_NOTSUPP;
	}
	if (has_data(rq) && unlikely(blk_rq_bytes(rq) > READ_ONCE(dev->session->max_bytes))) {
		rnbd_client_resplit(rq);
		return BLK_STS_OK;
	}
	if (unlikely(!take_slot(dev->session, rq)))
		return BLK_STS_RESOURCE;
	req.slot = io->slot;
	blk_mq_start_request(rq);
	if (has_data(rq)) {
		req.sg_count = blk_rq_map_sg(rq->q, rq, io->sgl);
		req.sgl = io->sgl;
		req.data_len = blk_rq_bytes(rq);
	}
	err = rtrs_client_submit(dev->session->rtrs, &req);
	if (likely(!err))
		return BLK_STS_OK;
	put_slot(dev->session, rq);
	/* The block layer comes again by itself, after a while at the latest. */
	if (err == -EAGAIN || err == -ENOMEM || (err == -ECONNABORTED && waits(dev)))
		return BLK_STS_RESOURCE;
	return BLK_STS_IOERR;
}

static int poll(struct blk_mq_hw_ctx *hctx, struct io_comp_batch *batch)
{
	struct rnbd_client_dev *dev = hctx->queue->queuedata;

	return rtrs_client_poll(dev->session->rtrs, (unsigned long)hctx->driver_data);
}

/*
 * A request cannot be taken back while the server may still touch its pages, and need not
 * be: a server that is alive may take its time, as its disk does; one that is not loses its
 * paths by the heartbeat. Where the administrator has set a time, the path of the request is
 * given up, and that ends it or brings it to another one.
 */
static enum blk_eh_timer_return timeout(struct request *rq)
{
	struct rnbd_client_dev *dev = rq->q->queuedata;
	struct rtrs_client_session *rtrs = dev->session->rtrs;
	struct rnbd_client_io *io = blk_mq_rq_to_pdu(rq);
	struct blk_mq_hw_ctx *hctx = rq->mq_hctx;

	/* Answered perhaps, and its owner does not poll: nobody is to wait for him. */
	if (hctx->type == HCTX_TYPE_POLL) {
		rtrs_client_poll(rtrs, (unsigned long)hctx->driver_data);
		if (blk_mq_rq_state(rq) != MQ_RQ_IN_FLIGHT)
			return BLK_EH_DONE;
	}
	if (READ_ONCE(rtrs_client_settings(rtrs)->io_ms))
		rtrs_client_timed_out(rtrs, io->slot, rq);
	return BLK_EH_RESET_TIMER;
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
	/* Reads go with the rest. */
	map[HCTX_TYPE_READ].nr_queues = 0;
	map[HCTX_TYPE_POLL].nr_queues = session->poll_cons;
	map[HCTX_TYPE_POLL].queue_offset = io_queues(session);
	blk_mq_map_queues(&map[HCTX_TYPE_POLL]);
}

const struct blk_mq_ops rnbd_client_mq_ops = {
	.queue_rq	= queue_rq,
	.complete	= complete_rq,
	.timeout	= timeout,
	.poll		= poll,
	.init_hctx	= init_hctx,
	.init_request	= init_request,
	.map_queues	= map_queues,
};

void rnbd_client_queue_shrink(struct rnbd_client_session *session, u32 count)
{
	lockdep_assert_held(&session->lock);
	if (count >= session->slots.depth)
		return;
	sbitmap_resize(&session->slots, count);
	WRITE_ONCE(session->few_slots, true);
}

int rnbd_client_queue_init(struct rnbd_client_session *session, u32 depth)
{
	struct blk_mq_tag_set *set = &session->tags;
	int err;

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
	 * The block layer stops the one queue of a tag set when a second one comes, or the second
	 * goes: until its requests are done. This one has none, and no disk is ever the only one.
	 */
	session->no_disk = rnbd_queue_alloc(set);
	return PTR_ERR_OR_ZERO(session->no_disk);
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
}
