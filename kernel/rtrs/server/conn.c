// SPDX-License-Identifier: GPL-2.0
/* Connections: their queue pair, from the connect request to the end. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>
#include "server.h"

/* Work requests of a slot at most, its LOCAL_INV included. */
static u32 slot_wrs(void)
{
	return rtrs_server_new_rkey ? 5 : 3;
}

static int con_create_qp(struct rtrs_server_con *con, u32 vector)
{
	u32 depth = rtrs_server_geo.queue_depth;
	bool io = con->base.cid;
	struct rtrs_qp_params params = {
		.max_send_wr	= io ? depth * slot_wrs() + 1 : 2 * RTRS_SERVICE_DEPTH + 2,
		.min_send_wr	= slot_wrs(),
		.max_recv_wr	= io ? depth + 1 : RTRS_SERVICE_DEPTH + 2,
		.max_send_sge	= 1,
		.min_send_sge	= 1,
		.vector		= vector,
		.poll_ctx	= IB_POLL_WORKQUEUE,
		/* A disk that takes no more requests must not hold up another client. */
		.private_cq	= true,
	};
	int err;

	err = rtrs_qp_create(&con->base, &params);
	if (err)
		return err;
	if (con->base.max_recv_wr < 2) {
		rtrs_qp_destroy(&con->base);
		return -EOPNOTSUPP;
	}
	con->credits = con->base.max_send_wr;
	con->interval = max(con->credits / 4, 1U);
	return 0;
}

/*
 * session->lock held. A connection of @path on @cm_id, which stays the caller's on
 * failure. Vectors are given out in the order of arrival.
 */
struct rtrs_server_con *rtrs_server_con_create(struct rtrs_server_path *path,
					       struct rdma_cm_id *cm_id, u16 cid)
{
	u32 vectors = min_t(u32, nr_cpu_ids, max(cm_id->device->num_comp_vectors, 1));
	struct rtrs_server_con *con;
	int err;

	con = kmem_cache_zalloc(rtrs_server_con_cache, GFP_KERNEL);
	if (!con)
		return ERR_PTR(-ENOMEM);
	con->path = path;
	con->base.cid = cid;
	con->base.cm_id = cm_id;
	con->base.cm_sent = true;	/* a refusal, if nothing else */
	con->base.dev = path->dev;
	con->recv_cqe.done = rtrs_server_recv_done;
	con->send_cqe.done = rtrs_server_send_done;
	spin_lock_init(&con->send_lock);
	INIT_LIST_HEAD(&con->parked);

	err = con_create_qp(con, path->con_count % vectors);
	if (err)
		goto free;
	if (!cid) {
		err = rtrs_post_recv_iu(&con->base, path->info_req);
		if (err)
			goto qp;
	}
	rtrs_census_created(RTRS_CENSUS_SERVER_CON);
	return con;
qp:
	rtrs_qp_destroy(&con->base);
free:
	kmem_cache_free(rtrs_server_con_cache, con);
	return ERR_PTR(err);
}

/* As many as the protocol wants, or as the device has; each is posted again when it completes. */
int rtrs_server_con_post_recvs(struct rtrs_server_con *con)
{
	u32 count = con->base.cid ? rtrs_server_geo.queue_depth : RTRS_SERVICE_DEPTH;
	int err = 0;

	for (count = min(count, con->base.max_recv_wr); count && !err; count--)
		err = rtrs_post_recv_empty(&con->base, &con->recv_cqe);
	return err;
}

/* Nothing is posted behind this; the queue pair goes to error. */
void rtrs_server_con_stop(struct rtrs_server_con *con)
{
	unsigned long flags;

	spin_lock_irqsave(&con->send_lock, flags);
	con->dead = true;
	spin_unlock_irqrestore(&con->send_lock, flags);
	rtrs_cm_disconnect(&con->base);
}

/* Stopped and drained: drops what is parked. */
void rtrs_server_con_flush(struct rtrs_server_con *con)
{
	struct rtrs_server_op *op, *next;
	LIST_HEAD(parked);

	spin_lock_irq(&con->send_lock);
	list_splice_init(&con->parked, &parked);
	spin_unlock_irq(&con->send_lock);
	list_for_each_entry_safe(op, next, &parked, parked)
		rtrs_server_op_drop(op);
}

/* Flushed: leaves its RDMA device. Operations that have still to end find it dead. */
void rtrs_server_con_detach(struct rtrs_server_con *con)
{
	rtrs_qp_destroy(&con->base);
	rtrs_cm_destroy(&con->base);	/* waits for its handler */
}

void rtrs_server_con_free(struct rtrs_server_con *con)
{
	kmem_cache_free(rtrs_server_con_cache, con);
	rtrs_census_destroyed(RTRS_CENSUS_SERVER_CON);
}
