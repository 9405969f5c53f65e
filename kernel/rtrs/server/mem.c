// SPDX-License-Identifier: GPL-2.0
/*
 * What sessions pin, in bytes: taken from the account before it is allocated. Any host that
 * reaches the port may ask for a session; all of them together get no more than the
 * limit. What verbs providers keep is not known, and estimated.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm.h>
#include "server.h"

#define REGION_BYTES	512	/* of a memory region, beside its pages */
#define SEND_BYTES	128	/* of an entry of a send queue, */
#define RECV_BYTES	64	/* a receive queue, */
#define CQE_BYTES	64	/* a completion queue */
#define SENDS_PER_SLOT	5

static u64 limit;
static atomic64_t used;

u64 rtrs_server_mem_session(void)
{
	return (u64)rtrs_server_geo.queue_depth *
	       (rtrs_server_geo.chunk_size + sizeof(struct page *) +
		sizeof(struct rtrs_server_slot));
}

/* Without its connections */
u64 rtrs_server_mem_path(u16 con_num)
{
	const struct rtrs_geometry *geo = &rtrs_server_geo;
	u64 slot = sizeof(struct rtrs_server_op) + sizeof(dma_addr_t) +
		   (geo->chunk_size >> PAGE_SHIFT) * sizeof(u64);

	if (rtrs_server_new_rkey)
		slot += REGION_BYTES + sizeof(struct rtrs_msg_rkey_rsp) + sizeof(struct rtrs_desc);
	return sizeof(struct rtrs_server_path) + con_num * sizeof(void *) +
	       geo->queue_depth * slot;
}

u64 rtrs_server_mem_con(u16 cid)
{
	u64 recvs = cid ? rtrs_server_geo.queue_depth : RTRS_SERVICE_DEPTH;
	u64 sends = cid ? recvs * SENDS_PER_SLOT : recvs * 2;

	return sizeof(struct rtrs_server_con) + sends * (SEND_BYTES + CQE_BYTES) +
	       recvs * (RECV_BYTES + CQE_BYTES);
}

/* -ENOMEM, with a line that says why, where the limit or the memory of this host is too small. */
int rtrs_server_mem_take(struct rtrs_server_session *session, u64 bytes)
{
	u64 here = (u64)max(si_mem_available(), 0L) << PAGE_SHIFT;
	u64 before = atomic64_fetch_add(bytes, &used);
	u64 left = limit > before ? limit - before : 0;

	if (bytes > min(left, here)) {
		atomic64_sub(bytes, &used);
		pr_err_ratelimited("a session needs %llu bytes more, available are %llu of %llu\n",
				   bytes, min(left, here), limit);
		return -ENOMEM;
	}
	atomic64_add(bytes, &session->pinned);
	return 0;
}

void rtrs_server_mem_give(struct rtrs_server_session *session, u64 bytes)
{
	atomic64_sub(bytes, &session->pinned);
	atomic64_sub(bytes, &used);
}

/* @mebibytes: 0 for three quarters of the memory of this host */
void rtrs_server_mem_init(unsigned int mebibytes)
{
	limit = mebibytes ? (u64)mebibytes << 20 : ((u64)totalram_pages() << PAGE_SHIFT) / 4 * 3;
}
