/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rtrs-core for rtrs-client and rtrs-server: devices, queue pairs, buffers,
 * heartbeats, state tables.
 */
#ifndef RTRS_CORE_H
#define RTRS_CORE_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include <rtrs/proto.h>
#include <rtrs/types.h>
#include "fsm.h"
#include "hb.h"

/*
 * dev.c: one protection domain per RDMA device and session. In a domain of several sessions a peer
 * that guesses a key could write to the memory of another peer's session.
 */

/**
 * struct rtrs_dev_pool - the devices that one session uses
 * @lock: protects @list
 * @list: of struct rtrs_dev
 */
struct rtrs_dev_pool {
	struct mutex lock; /* of @list */
	struct list_head list;
};

static inline void rtrs_dev_pool_init(struct rtrs_dev_pool *pool)
{
	mutex_init(&pool->lock);
	INIT_LIST_HEAD(&pool->list);
}

/**
 * struct rtrs_dev - an RDMA device and our protection domain on it
 * @ib_dev: device; its removal waits until @ref is zero
 * @pd: protection domain
 * @pool: of the session
 * @entry: in @pool->list, under @pool->lock
 * @ref: one for each user
 */
struct rtrs_dev {
	struct ib_device *ib_dev;
	struct ib_pd *pd;
	struct rtrs_dev_pool *pool;
	struct list_head entry;
	struct kref ref;
};

/* -EOPNOTSUPP: the device cannot register memory by work request. Process context. */
struct rtrs_dev *rtrs_dev_get(struct rtrs_dev_pool *pool, struct ib_device *ib_dev);
void rtrs_dev_put(struct rtrs_dev *dev);

/* iu.c: buffers for messages */

/**
 * struct rtrs_iu - a DMA mapped buffer with its completion
 * @cqe: completion; container_of() leads back here
 * @buf: memory, zeroed at allocation
 * @dma: its address for the device
 * @size: bytes
 * @dir: direction of the mapping
 * @mapped: @dma is valid
 */
struct rtrs_iu {
	struct ib_cqe cqe;
	void *buf;
	dma_addr_t dma;
	size_t size;
	enum dma_data_direction dir;
	bool mapped;
};

typedef void (*rtrs_done_fn)(struct ib_cq *cq, struct ib_wc *wc);

/* An array of @count buffers of @size bytes; NULL: no memory. Process context. */
struct rtrs_iu *rtrs_iu_alloc(struct rtrs_dev *dev, u32 count, size_t size,
			      enum dma_data_direction dir, rtrs_done_fn done);
/* As rtrs_iu_alloc(), without DMA mapping and completion handler: for rtrs_iu_map(). */
struct rtrs_iu *rtrs_iu_alloc_unmapped(u32 count, size_t size, enum dma_data_direction dir);
/* Maps all buffers. After -ENOMEM some are mapped, and rtrs_iu_unmap() is needed. */
int rtrs_iu_map(struct rtrs_dev *dev, struct rtrs_iu *iu, u32 count);
void rtrs_iu_free(struct rtrs_dev *dev, struct rtrs_iu *iu, u32 count);
/* Unmaps the buffers. rtrs_iu_free() needs no @dev then. */
void rtrs_iu_unmap(struct rtrs_dev *dev, struct rtrs_iu *iu, u32 count);

/* qp.c: what the connections of both ends have in common */

/**
 * struct rtrs_con - one connection: a queue pair, its completion queue and its CM id
 * @cm_id: CM id; the QP hangs on it
 * @qp: queue pair, NULL before rtrs_qp_create() and after rtrs_qp_destroy()
 * @cq: completion queue
 * @dev: device
 * @cid: number in its path
 * @cqe_count: entries asked of @cq
 * @max_send_wr: send queue entries that we may use
 * @max_recv_wr: receive queue entries that we may use
 * @max_send_sge: gather entries of a send
 * @private_cq: @cq is our own, not one of the device's shared pool
 * @cm_sent: rdma_cm has sent a message to the peer; it sends another one when @cm_id is destroyed
 * @removed: the handler of @cm_id got RDMA_CM_EVENT_DEVICE_REMOVAL
 */
struct rtrs_con {
	struct rdma_cm_id *cm_id;
	struct ib_qp *qp;
	struct ib_cq *cq;
	struct rtrs_dev *dev;
	u16 cid;
	u32 cqe_count;
	u32 max_send_wr;
	u32 max_recv_wr;
	u32 max_send_sge;
	bool private_cq;
	bool cm_sent;
	bool removed;
};

/**
 * struct rtrs_qp_params - queue sizes; those above a maximum of the device are reduced to it
 * @max_send_wr: send queue entries
 * @min_send_wr: with fewer rtrs_qp_create() fails
 * @max_recv_wr: receive queue entries
 * @max_send_sge: gather entries of a send
 * @min_send_sge: with fewer rtrs_qp_create() fails
 * @vector: completion vector, taken modulo what the device has
 * @poll_ctx: IB_POLL_SOFTIRQ, IB_POLL_UNBOUND_WORKQUEUE / IB_POLL_WORKQUEUE or IB_POLL_DIRECT
 * @private_cq: no shared completion queue; IB_POLL_DIRECT implies it
 */
struct rtrs_qp_params {
	u32 max_send_wr;
	u32 min_send_wr;
	u32 max_recv_wr;
	u32 max_send_sge;
	u32 min_send_sge;
	int vector;
	enum ib_poll_context poll_ctx;
	bool private_cq;
};

/*
 * Makes CQ and QP on con->cm_id, which must be bound to con->dev. One send and
 * one receive entry are added for ib_drain_qp() and not counted in con->max_*.
 * -EOPNOTSUPP: a maximum of the device is below a minimum of @params.
 */
int rtrs_qp_create(struct rtrs_con *con, const struct rtrs_qp_params *params);

/* Idempotent. The QP must be drained; the CM id stays. */
void rtrs_qp_destroy(struct rtrs_con *con);
/*
 * Whether @wc, a completion with an error, is to be reported. On iWARP a flush is not: it follows
 * the end of the connection. On other transports a flush before we end the connection is all that
 * the device says of an error. Any context.
 */
bool rtrs_wc_tells(const struct rtrs_con *con, const struct ib_wc *wc);

int rtrs_post_recv_iu(struct rtrs_con *con, struct rtrs_iu *iu);
int rtrs_post_recv_empty(struct rtrs_con *con, struct ib_cqe *cqe);

/* Plain SEND of the first @len bytes, signalled, behind the chain @head (may be NULL). */
int rtrs_post_send_iu(struct rtrs_con *con, struct rtrs_iu *iu, u32 len, struct ib_send_wr *head);

/* Zero-length RDMA WRITE WITH IMMEDIATE. */
int rtrs_post_imm(struct rtrs_con *con, struct ib_cqe *cqe, u32 imm, bool signalled);

/* Zero-length RDMA WRITE, signalled: the device of the peer acknowledges it, its CPU sees none. */
int rtrs_post_probe(struct rtrs_con *con, struct ib_cqe *cqe);

/* Counters of one CPU */

/**
 * struct rtrs_polls - completions of a path by polls of completion queues
 * @calls: polls whose first completion was of the path; a queue may serve several paths
 * @total: completions of the path
 * @max: most completions of one poll
 */
struct rtrs_polls {
	u64 calls;
	u64 total;
	u64 max;
};

/* Raises a maximum of this CPU. */
static inline void rtrs_raise(u64 __percpu *max, u64 v)
{
	u64 old = this_cpu_read(*max), seen;

	while (v > old) {
		seen = this_cpu_cmpxchg(*max, old, v);
		if (seen == old)
			return;
		old = seen;
	}
}

/*
 * counts.c: calls @reset for each possible CPU: on that CPU, in an interrupt, where it is online.
 * So no update of a counter, which is a read and a write, has the zero in between. Process context.
 */
void rtrs_counts_reset(void (*reset)(void *arg, unsigned int cpu), void *arg);

/*
 * Counts @wc, a completion of a queue that the RDMA core polls. The core does not tell where a
 * poll begins. It polls into the array cq->wc, so the first entry of that begins one. The array is
 * the core's own; nothing else tells: handlers get one completion at a time, and a completion that
 * follows another one of the path may be of the next poll. Should the core poll elsewhere, each
 * completion counts as a poll of its own.
 */
static inline void rtrs_polls_count(struct rtrs_polls __percpu *polls, const struct ib_cq *cq,
				    const struct ib_wc *wc)
{
	size_t place = ((uintptr_t)wc - (uintptr_t)cq->wc) / sizeof(*wc);

	if (unlikely(place >= cq->cqe))
		place = 0;
	if (!place)
		this_cpu_inc(polls->calls);
	this_cpu_inc(polls->total);
	rtrs_raise(&polls->max, place + 1);
}

/* cm-id.c: CM ids; process context */

struct rdma_cm_id *rtrs_cm_create(rdma_cm_event_handler handler, void *context,
				  enum rdma_ucm_port_space ps);

/* rdma_connect(); -ENETDOWN where the port is down: nothing was sent. */
int rtrs_cm_connect(struct rtrs_con *con, struct rdma_conn_param *param);

/* rdma_disconnect(); -ENETDOWN where the port is down: nothing was sent. */
int rtrs_cm_disconnect(struct rtrs_con *con);

/* No CM handler of the caller runs behind it. The queue pair must be destroyed before. */
void rtrs_cm_destroy(struct rtrs_con *con);

#endif /* RTRS_CORE_H */
