// SPDX-License-Identifier: GPL-2.0
/*
 * What sessions pin, in bytes: taken from the account before it is allocated. Any host that
 * reaches the port may ask for a session; all of them together get no more than the
 * limit. What verbs providers keep is not known, and estimated.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm.h>
#include "fit.h"
#include "server.h"

#define REGION_BYTES	512	/* of a memory region, beside its pages */
#define SEND_BYTES	128	/* of an entry of a send queue, */
#define RECV_BYTES	64	/* a receive queue, */
#define CQE_BYTES	64	/* a completion queue */
#define SENDS_PER_SLOT	5

static u64 limit;
static bool (*make_room)(void) __ro_after_init;
static atomic64_t used;

/* With @chunks */
u64 rtrs_server_mem_session(u32 chunks)
{
	return (u64)rtrs_server_geo.queue_depth *
	       (sizeof(struct page *) + sizeof(struct rtrs_server_slot)) +
	       (u64)chunks * rtrs_server_geo.chunk_size;
}

/* Without its connections, and what comes with chunks */
u64 rtrs_server_mem_path(const struct rtrs_conn_req *req)
{
	const struct rtrs_geometry *geo = &rtrs_server_geo;
	u64 slot = sizeof(struct rtrs_server_op) + sizeof(dma_addr_t) +
		   geo->chunk_size / RTRS_FIT_PAGE_MIN * sizeof(u64);

	if (rtrs_server_new_rkey)
		slot += REGION_BYTES + sizeof(struct rtrs_msg_rkey_rsp) + sizeof(struct rtrs_desc);
	return sizeof(struct rtrs_server_path) + req->cid_num * sizeof(void *) +
	       geo->queue_depth * slot;
}

/* For each of the chunks of its session */
u64 rtrs_server_mem_copy(u32 eager_bytes)
{
	return rtrs_server_new_rkey && eager_bytes ? PAGE_SIZE << get_order(eager_bytes) : 0;
}

u64 rtrs_server_mem_con(u16 cid)
{
	u64 recvs = cid ? rtrs_server_geo.queue_depth : RTRS_SERVICE_DEPTH;
	u64 sends = cid ? recvs * SENDS_PER_SLOT : recvs * 2;

	return sizeof(struct rtrs_server_con) + sends * (SEND_BYTES + CQE_BYTES) +
	       recvs * (RECV_BYTES + CQE_BYTES);
}

/* Takes what the limit and the memory of this host allow, and returns how much more there was. */
static bool take(u64 bytes, u64 *available)
{
	u64 here = (u64)max(si_mem_available(), 0L) << PAGE_SHIFT;
	u64 before = atomic64_fetch_add(bytes, &used);

	*available = min(limit > before ? limit - before : 0, here);
	if (bytes <= *available)
		return true;
	atomic64_sub(bytes, &used);
	return false;
}

/* -ENOMEM, with a line that says why, where there is too little. */
int rtrs_server_mem_take(struct rtrs_server_session *session, u64 bytes)
{
	u64 available;

	while (!take(bytes, &available)) {
		if (make_room())
			continue;
		/* One that has slots is refused more of them, and asks again. */
		if (!READ_ONCE(session->granted))
			pr_err_ratelimited("a session needs %llu bytes more, available are %llu of %llu\n",
					   bytes, available, limit);
		return -ENOMEM;
	}
	atomic64_add(bytes, &session->pinned);
	return 0;
}

/* @session: NULL for what is no session's any more */
void rtrs_server_mem_give(struct rtrs_server_session *session, u64 bytes)
{
	if (session)
		atomic64_sub(bytes, &session->pinned);
	atomic64_sub(bytes, &used);
}

/* To a session that comes or, less than 0, from one that is gone. It stays in the account. */
void rtrs_server_mem_pass(struct rtrs_server_session *session, s64 bytes)
{
	atomic64_add(bytes, &session->pinned);
}

u64 rtrs_server_mem_limit(void)
{
	return limit;
}

/*
 * @mebibytes: 0 for three quarters of the memory of this host. @drop: gives back what nobody uses;
 * false: there is nothing.
 */
void rtrs_server_mem_init(unsigned int mebibytes, bool (*drop)(void))
{
	make_room = drop;
	limit = mebibytes ? (u64)mebibytes << 20 : ((u64)totalram_pages() << PAGE_SHIFT) / 4 * 3;
}
