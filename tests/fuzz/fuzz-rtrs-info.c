// SPDX-License-Identifier: GPL-2.0
/* INFO_REQ and INFO_RSP. Input: depth - 1 and size of a chunk / 4096 - 1, a byte each; the message. */
#include <rtrs/proto.h>
#include "fuzz.h"

static void request(const uint8_t *p, size_t size)
{
	struct rtrs_msg_info_req m;
	char name[RTRS_WIRE_NAME_LEN];
	size_t n;

	if (rtrs_info_req_parse(p, size, name))
		return;
	accepted++;
	n = strnlen(name, sizeof(name));
	MUST(size >= sizeof(m));
	MUST(n && n < sizeof(name));
	MUST(!strpbrk(name, "/."));
	MUST(!rtrs_name_check(name, n));
	rtrs_info_req_pack(&m, name);
	MUST(!memcmp(&m, p, 2 + n + 1));
}

/* Every chunk lies in the region that its key belongs to, and none is missing. */
static void chunks(const uint8_t *p, const struct rtrs_geometry *g, const struct rtrs_desc *chunk)
{
	uint32_t regions = rtrs_get_le16(p + 2), r, n = 0;
	uint64_t off;

	for (r = 0; r < regions; r++) {
		uint64_t addr = rtrs_get_le64(p + 8 + 16 * r);
		uint32_t rkey = rtrs_get_le32(p + 16 + 16 * r);
		uint32_t len = rtrs_get_le32(p + 20 + 16 * r);

		MUST(len && addr + len > addr);
		for (off = 0; off < len; off += g->chunk_size, n++) {
			MUST(n < g->queue_depth);
			MUST(chunk[n].addr == addr + off);
			MUST(chunk[n].rkey == rkey);
			MUST(chunk[n].len == g->chunk_size);
		}
		MUST(off == len);
	}
	MUST(n == g->queue_depth);
}

static void response(const uint8_t *p, size_t size, const struct rtrs_geometry *g)
{
	struct rtrs_desc *chunk = malloc(g->queue_depth * sizeof(*chunk));

	if (!chunk)
		abort();
	if (!rtrs_info_rsp_parse(p, size, g, chunk)) {
		accepted++;
		MUST(size >= rtrs_info_rsp_size(rtrs_get_le16(p + 2)));
		chunks(p, g, chunk);
	}
	free(chunk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rtrs_geometry g = { .max_hdr_size = 4096 };
	uint8_t depth, units, *p;

	if (!take(&data, &size, &depth, 1) || !take(&data, &size, &units, 1))
		return 0;
	g.queue_depth = depth + 1;
	g.chunk_size = (units + 1) * 4096;
	g.max_io_size = g.chunk_size - g.max_hdr_size;
	p = exact(data, size);
	request(p, size);
	response(p, size, &g);
	free(p);
	return 0;
}
