// SPDX-License-Identifier: GPL-2.0
/* A request as the server gets it, and what the client gets back. Input: immediate, depth, size of a chunk, message. */
#include <rtrs/proto.h>
#include "fuzz.h"

struct head {
	uint32_t imm;
	uint16_t depth;
	uint32_t chunk;
} __attribute__((packed));

static void header(const uint8_t *p, size_t size, uint32_t off)
{
	struct rtrs_request r;
	uint8_t again[RTRS_READ_HDR_MAX], want[RTRS_READ_HDR_MAX];
	size_t n;

	if (rtrs_request_parse(p, size, off, &r))
		return;
	accepted++;
	MUST(r.usr_len <= off);
	MUST(r.data_len + r.usr_len == off);
	MUST(r.is_read || !r.has_desc);
	MUST(r.has_desc || !r.need_inval);
	MUST(r.has_desc ? r.desc.len && r.desc.len <= r.data_len : !r.desc.len && !r.desc.addr);
	if (r.is_read) {
		n = rtrs_read_hdr_pack((void *)again, r.usr_len, r.has_desc ? &r.desc : NULL, r.need_inval);
		memcpy(want, p, n);
		want[4] = r.need_inval;
		want[5] = 0;
	} else {
		n = sizeof(struct rtrs_msg_write);
		rtrs_write_hdr_pack((void *)again, r.usr_len);
		memcpy(want, p, n);
	}
	MUST(n <= size);
	MUST(!memcmp(again, want, n));
}

static void response(uint32_t imm, const struct rtrs_geometry *g)
{
	uint32_t slot;
	int err;

	if (rtrs_imm_type(imm) != RTRS_IMM_IO_RSP && rtrs_imm_type(imm) != RTRS_IMM_IO_RSP_W_INV)
		return;
	if (rtrs_imm_io_rsp_parse(imm, g, &slot, &err))
		return;
	accepted++;
	MUST(slot < g->queue_depth && err <= 0 && err >= -RTRS_IMM_ERRNO_MAX);
	MUST(rtrs_imm_io_rsp(slot, err, rtrs_imm_type(imm) == RTRS_IMM_IO_RSP_W_INV) == imm);
}

static void new_key(const uint8_t *p, size_t size, uint32_t slot)
{
	struct rtrs_msg_rkey_rsp m;
	uint32_t rkey;

	if (rtrs_rkey_rsp_parse(p, size, slot, &rkey))
		return;
	accepted++;
	rtrs_rkey_rsp_pack(&m, slot, rkey);
	MUST(!memcmp(&m, p, sizeof(m)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rtrs_geometry g = { .max_hdr_size = 4096 };
	uint32_t slot, off;
	struct head h;
	uint8_t *p;

	if (!take(&data, &size, &h, sizeof(h)))
		return 0;
	g.queue_depth = h.depth;
	g.chunk_size = h.chunk;
	g.max_io_size = h.chunk - g.max_hdr_size;
	if (rtrs_geometry_check(&g))
		return 0;
	response(h.imm, &g);
	if (rtrs_imm_io_req_parse(h.imm, &g, &slot, &off))
		return 0;
	MUST(slot < g.queue_depth && off < g.chunk_size);
	MUST(rtrs_imm_io_req(&g, slot, off) == (h.imm & RTRS_IMM_PAYLOAD_MASK));
	/* What lies behind the chunk is not there to be read. */
	if (size > g.chunk_size - off)
		size = g.chunk_size - off;
	p = exact(data, size);
	header(p, size, off);
	new_key(p, size, slot);
	free(p);
	return 0;
}
