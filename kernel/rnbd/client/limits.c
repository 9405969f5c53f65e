// SPDX-License-Identifier: GPL-2.0
/* The limits of a session, by those of its paths. */
#include "client.h"

#define SEGMENTS_MAX	128

u32 rnbd_client_io_slots(u32 queue_depth)
{
	return min_t(u32, queue_depth - rnbd_client_ctrl_slots(queue_depth) -
			  rnbd_client_spare_slots(queue_depth), BLK_MQ_MAX_DEPTH);
}

/*
 * Under session->lock, once the session is READY. Requests have room for the segments of the first
 * call: later limits are never larger.
 */
int rnbd_client_session_limits(struct rnbd_client_session *session,
			       struct netlink_ext_ack *extack)
{
	const u32 page = RNBD_CLIENT_PAGE_BYTES;
	struct rtrs_client_attrs attrs;
	u32 bytes;

	if (rtrs_client_query(session->rtrs, &attrs))
		return rtrs_fail(extack, -ECONNABORTED, "the session is disconnected");
	if (attrs.queue_depth < 2 || attrs.max_io_size < page || attrs.max_segments < 2)
		return rtrs_fail(extack, -EINVAL, "the server offers too little: depth %u, size %u",
				 attrs.queue_depth, attrs.max_io_size);
	/* A buffer that starts inside of a page touches one page more. */
	attrs.max_segments = min_t(u32, attrs.max_segments, SEGMENTS_MAX);
	bytes = min(attrs.max_io_size, (attrs.max_segments - 1) * page);
	bytes = round_down(bytes, SECTOR_SIZE);
	/* The block layer cuts nothing below a page of this host: it would cut for ever. */
	if (bytes < PAGE_SIZE)
		return rtrs_fail(extack, -EINVAL,
				 "the server takes requests of %u bytes, a page of this host has %lu",
				 bytes, PAGE_SIZE);
	WRITE_ONCE(session->max_bytes, bytes);
	WRITE_ONCE(session->max_segments, DIV_ROUND_UP(session->max_bytes, page) + 1);
	if (session->tags.tags) {
		rnbd_client_queue_shrink(session, attrs.queue_depth,
					 rnbd_client_io_slots(attrs.queue_depth));
		rnbd_client_slots_granted(session);
	}
	return 0;
}
