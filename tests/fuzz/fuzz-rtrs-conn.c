// SPDX-License-Identifier: GPL-2.0
/* Private data of connect request, accept and reject. Input: the message. */
#include <rtrs/proto.h>
#include "fuzz.h"

static void request(const uint8_t *p, size_t size)
{
	struct rtrs_conn_req r, again;
	struct rtrs_msg_conn_req m;
	uint8_t want[sizeof(m)];
	int err = rtrs_conn_req_parse(p, size, &r);

	MUST(err == 0 || err == -ECONNRESET);
	if (err)
		return;
	accepted++;
	MUST(size >= sizeof(m));
	MUST(r.cid < r.cid_num && r.cid_num <= RTRS_CONS_MAX);
	/* Packed again these are the bytes that came, but for those that do not count. */
	memcpy(want, p, sizeof(m));
	memset(want, 0, 2);
	want[4] = 0;
	want[44] &= 1;
	memset(want + 49, 0, 6);
	want[55] &= 0xfe;
	rtrs_conn_req_pack(&m, &r);
	MUST(!memcmp(&m, want, sizeof(m)));
	MUST(!rtrs_conn_req_parse(&m, sizeof(m), &again));
	MUST(again.cid == r.cid && again.first_conn == r.first_conn && again.lean == r.lean &&
	     again.alone == r.alone && again.notices == r.notices &&
	     again.fences == r.fences && again.fence_cnt == r.fence_cnt && again.eager == r.eager &&
	     again.grants == r.grants &&
	     again.founding == r.founding);
}

static void response(const uint8_t *p, size_t size)
{
	struct rtrs_msg_conn_rsp m;
	struct rtrs_conn_rsp r;
	uint8_t want[sizeof(m)];
	int err = rtrs_reject_parse(p, size);

	MUST(err < 0 && err >= -4095);
	err = rtrs_accept_parse(p, size, &r);
	MUST(err == 0 || err == -ECONNRESET);
	if (err)
		return;
	accepted++;
	MUST(size >= sizeof(m) && !r.err);
	memcpy(want, p, sizeof(m));
	want[2] = 0;
	memset(want + 24, 0, 32);
	rtrs_conn_rsp_pack(&m, &r);
	MUST(!memcmp(&m, want, sizeof(m)));
	if (rtrs_geometry_check(&r.geo))
		return;
	MUST(r.geo.queue_depth && r.geo.max_io_size && r.geo.max_hdr_size >= RTRS_READ_HDR_MAX);
	MUST((uint64_t)r.geo.max_io_size + r.geo.max_hdr_size == r.geo.chunk_size);
	MUST((uint64_t)r.geo.chunk_size * r.geo.queue_depth <= 1ULL << 28);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *p = exact(data, size);

	request(p, size);
	response(p, size);
	free(p);
	return 0;
}
