// SPDX-License-Identifier: GPL-2.0
/* Memory of a path, computed from what the server offers, and a check against what is available. */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include "client.h"

/*
 * Bytes of queue entries. No driver tells them; these are those of mlx5. There a send queue entry
 * has room for a registration, and the size of a queue is a power of two.
 */
#define SEND_ENTRY(sges)	round_up(132 + 16 * (sges), 64)
#define RECV_ENTRY		16
#define COMPLETION_ENTRY	64

/* What kmalloc() allocates for @size, at most. */
static u64 kmalloc_bytes(size_t size)
{
	return roundup_pow_of_two(size);
}

/* A slot has a message buffer, a region with its page list and a bounce buffer. */
static u64 slot_bytes(const struct rtrs_client_path *path)
{
	u32 bounce = rtrs_client_bounce_bytes(path);

	return (bounce ? kmalloc_bytes(bounce) + sizeof(struct rtrs_iu) : 0) +
	       sizeof(struct rtrs_client_req) + sizeof(struct rtrs_desc) +
	       sizeof(struct rtrs_iu) + kmalloc_bytes(RTRS_CLIENT_USR_MAX + RTRS_READ_HDR_MAX) +
	       sizeof(struct ib_mr) + kmalloc_bytes(path->max_segments * sizeof(u64));
}

/* An I/O connection has a send queue, a receive queue and a completion queue. */
static u64 con_bytes(const struct rtrs_client_path *path)
{
	u64 slots = path->geo.queue_depth, limit = path->dev->ib_dev->attrs.max_qp_wr;
	u64 sends = min_t(u64, rtrs_client_con_sends(slots), limit);
	u64 recvs = min_t(u64, rtrs_client_con_recvs(path) + 1, limit);
	u64 bytes = roundup_pow_of_two(sends * SEND_ENTRY(path->data_sges + 1)) +
		    roundup_pow_of_two(recvs * RECV_ENTRY) +
		    roundup_pow_of_two((sends + recvs) * COMPLETION_ENTRY);

	/* With buffers, if keys come with responses */
	if (path->new_rkey && !path->lean)
		bytes += 2 * slots * (sizeof(struct rtrs_iu) +
				      kmalloc_bytes(sizeof(struct rtrs_msg_rkey_rsp)));
	return bytes;
}

int rtrs_client_pin(struct rtrs_client_path *path, struct netlink_ext_ack *extack)
{
	u64 slots = path->geo.queue_depth, available;
	u64 need = slots * slot_bytes(path) + (path->con_count - 1) * con_bytes(path);

	available = (u64)max(si_mem_available(), 0L) << PAGE_SHIFT;
	/* I/O may wait for a path that was up, and memory for this I/O: its allocations tell. */
	if (need > available && !path->was_up)
		return rtrs_fail(extack, -ENOMEM,
				 "a path of %llu slots needs %llu KiB, %llu are available",
				 slots, need >> 10, available >> 10);
	WRITE_ONCE(path->pinned, need);
	return 0;
}

u64 rtrs_client_pinned(struct rtrs_client_session *session)
{
	const struct rtrs_client_path_set *set;
	unsigned int i;
	u64 sum = 0;

	rcu_read_lock();
	set = rcu_dereference(session->paths);
	for (i = 0; i < set->count; i++)
		if (READ_ONCE(set->path[i]->state) < RTRS_CLIENT_PATH_CLOSED)
			sum += READ_ONCE(set->path[i]->pinned);
	rcu_read_unlock();
	return sum;
}
