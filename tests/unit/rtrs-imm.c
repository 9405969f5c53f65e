// SPDX-License-Identifier: GPL-2.0
/* Immediates and the geometry that their fields are cut by. */
#include <rtrs/proto.h>
#include "tap.h"

static struct rtrs_geometry geometry(__u32 depth, __u32 chunk)
{
	return (struct rtrs_geometry){ depth, chunk, chunk - 4096, 4096 };
}

static int check(__u32 depth, __u32 chunk, __u32 io, __u32 hdr)
{
	struct rtrs_geometry g = { depth, chunk, io, hdr };

	NOTE("depth %u, chunk %u = %u + %u", depth, chunk, io, hdr);
	return rtrs_geometry_check(&g);
}

/* The examples of sections 6 and 14 of the protocol. */
static void examples(void)
{
	struct rtrs_geometry g = geometry(512, 131072);

	EQ(rtrs_imm_io_req(&g, 5, 4128), 0x00281020);
	EQ(rtrs_imm_io_req(&g, 0, 36 + 36), 0x00000048);
	EQ(rtrs_imm_io_req(&g, 0, 56 + 264), 0x00000140);
	EQ(rtrs_imm_io_req(&g, 0, 8), 0x00000008);
	EQ(rtrs_imm_io_req(&g, 5, 4096 + 32), 0x00281020);
	EQ(rtrs_imm_io_req(&g, 0, 32), 0x00000020);
	EQ(rtrs_imm_io_rsp(5, 0, false), 0x10000005);
	EQ(rtrs_imm_io_rsp(5, 0, true), 0x20000005);
	EQ(rtrs_imm_io_rsp(5, -EIO, false), 0x10280005);
	EQ(rtrs_imm_pack(RTRS_IMM_HB, 0), 0x80000000);
	EQ(rtrs_imm_pack(RTRS_IMM_HB_ACK, 0), 0x90000000);
	EQ(rtrs_imm_pack(RTRS_IMM_NOTICE, 0x1234567), 0xa1234567);
}

static void types(void)
{
	__u32 t;

	for (t = 0; t < 16; t++) {
		NOTE("type %u", t);
		EQ(rtrs_imm_type(t << 28), t);
		EQ(rtrs_imm_type(t << 28 | 0x0fffffff), t);
		EQ(rtrs_imm_pack(t, 0), t << 28);
		EQ(rtrs_imm_pack(t, 0x0fffffff), t << 28 | 0x0fffffff);
		/* a payload that is too large does not reach the type */
		EQ(rtrs_imm_pack(t, 0xffffffff), t << 28 | 0x0fffffff);
		EQ(rtrs_imm_pack(t, 0x10000000), t << 28);
	}
}

static void bits(void)
{
	unsigned int b;

	EQ(rtrs_bits_for(0), 0);
	EQ(rtrs_bits_for(1), 0);
	EQ(rtrs_bits_for(2), 1);
	EQ(rtrs_bits_for(3), 2);
	for (b = 2; b < 32; b++) {
		NOTE("bit %u", b);
		EQ(rtrs_bits_for((1U << b) - 1), b);
		EQ(rtrs_bits_for(1U << b), b);
		EQ(rtrs_bits_for((1U << b) + 1), b + 1);
	}
	EQ(rtrs_bits_for(0xffffffff), 32);
}

static void geometry_bounds(void)
{
	EQ(check(512, 131072, 126976, 4096), 0);
	/* depth */
	EQ(check(0, 8192, 4096, 4096), -EINVAL);
	EQ(check(1, 8192, 4096, 4096), 0);
	EQ(check(32768, 8192, 4096, 4096), 0);
	EQ(check(32769, 8192, 4096, 4096), -EINVAL);
	EQ(check(65535, 4096, 2048, 2048), 0);
	EQ(check(65536, 4096, 2048, 2048), -EINVAL);
	EQ(check(65535, 4097, 2049, 2048), -EINVAL);
	/* slot and offset share 28 bits */
	EQ(check(512, 1 << 19, (1 << 19) - 4096, 4096), 0);
	EQ(check(512, (1 << 19) + 1, (1 << 19) - 4095, 4096), -EINVAL);
	EQ(check(513, 1 << 19, (1 << 19) - 4096, 4096), -EINVAL);
	EQ(check(513, 1 << 18, (1 << 18) - 4096, 4096), 0);
	EQ(check(1, 1 << 28, (1 << 28) - 4096, 4096), 0);
	EQ(check(1, (1 << 28) + 1, (1 << 28) - 4095, 4096), -EINVAL);
	EQ(check(2, 1 << 28, (1 << 28) - 4096, 4096), -EINVAL);
	/* room for payload and for the largest header */
	EQ(check(8, 4096, 0, 4096), -EINVAL);
	EQ(check(8, 4097, 1, 4096), 0);
	EQ(check(8, 4096 + 23, 4096, 23), -EINVAL);
	EQ(check(8, 4096 + 24, 4096, 24), 0);
	EQ(check(8, 4096, 4096, 0), -EINVAL);
	/* 64 KiB pages and chunks that leave nothing */
	EQ(check(8, 65536, 0, 65536), -EINVAL);
	EQ(check(8, 131072, 65536, 65536), 0);
}

static void geometry_sums(void)
{
	EQ(check(512, 131071, 126976, 4096), -EINVAL);
	EQ(check(512, 131073, 126976, 4096), -EINVAL);
	EQ(check(512, 0, 0, 0), -EINVAL);
	/* sums that overflow */
	EQ(check(512, 0, 0xfffff000, 0x1000), -EINVAL);
	EQ(check(512, 8192, 0xfffff000, 0x3000), -EINVAL);
	EQ(check(512, 8192, 0x3000, 0xfffff000), -EINVAL);
	EQ(check(1, 8192, 0x80001000, 0x80001000), -EINVAL);
	EQ(check(1, 0x0fffffff + 24, 0x0fffffff, 24), -EINVAL);
	EQ(check(1, 0x10000000, 0x10000000 - 24, 24), 0);
	EQ(check(1, 0xffffffff, 0xffffffff, 0), -EINVAL);
}

static void parse_request(const struct rtrs_geometry *g, __u32 slot, __u32 off, int want)
{
	__u32 got_slot, got_off;
	__u32 imm = rtrs_imm_io_req(g, slot, off);

	NOTE("depth %u, chunk %u, slot %u, offset %u", g->queue_depth, g->chunk_size, slot, off);
	EQ(rtrs_imm_type(imm), RTRS_IMM_IO_REQ);
	EQ(rtrs_imm_io_req_parse(imm, g, &got_slot, &got_off), want);
	EQ(got_slot, slot);
	EQ(got_off, off);
}

static void requests(void)
{
	static const struct { __u32 depth, chunk; } c[] = {
		{ 1, 8192 }, { 1, 1 << 28 }, { 2, 8192 }, { 3, 8192 }, { 511, 131072 }, { 512, 131072 },
		{ 512, 1 << 19 }, { 513, 131072 }, { 1000, 100000 }, { 32768, 8192 }, { 65535, 4096 },
	};
	size_t i;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct rtrs_geometry g = geometry(c[i].depth, c[i].chunk);
		__u32 last = g.queue_depth - 1, end = g.chunk_size - 1;
		__u32 off_bits = 28 - rtrs_bits_for(g.queue_depth);

		parse_request(&g, 0, 0, 0);
		parse_request(&g, 0, end, 0);
		parse_request(&g, last, 0, 0);
		parse_request(&g, last, end, 0);
		parse_request(&g, last / 2, end / 2, 0);
		/* beyond, where the field can say so */
		if (end + 1 < 1U << off_bits)
			parse_request(&g, last, end + 1, -EINVAL);
		if ((last + 1) << off_bits < 1U << 28)
			parse_request(&g, last + 1, 0, -EINVAL);
	}
}

/* Any 32 bits of a peer stay in bounds or are refused. */
static void requests_of_any_bits(void)
{
	struct rtrs_geometry g = geometry(500, 100000);
	__u32 imm = 0, slot, off, i;

	for (i = 0; i < 20000; i++) {
		imm = imm * 1664525 + 1013904223;
		NOTE("0x%08x", imm);
		if (rtrs_imm_io_req_parse(imm, &g, &slot, &off))
			CHECK(slot >= 500 || off >= 100000);
		else
			EQ(rtrs_imm_io_req(&g, slot, off), imm & 0x0fffffff);
	}
}

static void response(const struct rtrs_geometry *g, __u32 slot, int err, int want_err)
{
	__u32 got_slot;
	int inval, got_err;

	for (inval = 0; inval < 2; inval++) {
		__u32 imm = rtrs_imm_io_rsp(slot, err, inval);

		NOTE("slot %u, errno %d", slot, err);
		EQ(rtrs_imm_type(imm), inval ? 2 : 1);
		EQ(rtrs_imm_io_rsp_parse(imm, g, &got_slot, &got_err), 0);
		EQ(got_slot, slot);
		EQ(got_err, want_err);
	}
}

/* Nine bits: what does not fit must not become a success or another error. */
static void responses(void)
{
	static const __u32 slots[] = { 0, 1, 511, 512, 65534 };
	struct rtrs_geometry g = geometry(65535, 4096);
	size_t i;
	int e;

	for (i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		for (e = 0; e <= 511; e++)
			response(&g, slots[i], -e, -e);
		response(&g, slots[i], -512, -EIO);
		response(&g, slots[i], -513, -EIO);
		response(&g, slots[i], -524, -EIO);
		response(&g, slots[i], -1024, -EIO);
		response(&g, slots[i], -4095, -EIO);
		response(&g, slots[i], -2147483647 - 1, -EIO);
		/* written with the wrong sign it is an error still */
		response(&g, slots[i], EIO, -EIO);
		response(&g, slots[i], 511, -511);
		response(&g, slots[i], 512, -EIO);
	}
}

static void response_bounds(void)
{
	struct rtrs_geometry g = geometry(512, 131072);
	__u32 slot;
	int err;

	EQ(rtrs_imm_io_rsp_parse(0x10000000 | 511, &g, &slot, &err), 0);
	EQ(slot, 511);
	EQ(rtrs_imm_io_rsp_parse(0x10000000 | 512, &g, &slot, &err), -EINVAL);
	EQ(rtrs_imm_io_rsp_parse(0x10000000 | 0x7ffff, &g, &slot, &err), -EINVAL);
	/* the lowest bit of the errno is no bit of the slot */
	EQ(rtrs_imm_io_rsp_parse(0x10000000 | 1 << 19, &g, &slot, &err), 0);
	EQ(slot, 0);
	EQ(err, -1);
	EQ(rtrs_imm_io_rsp_parse(0x2ff80000, &g, &slot, &err), 0);
	EQ(slot, 0);
	EQ(err, -511);
	EQ(rtrs_imm_io_rsp(0x80000, 0, false), 0x10000000);
}

/* Of a later attempt of a path it is another; for a peer that does not count them all have one. */
static void fence_tags(void)
{
	static const __u8 uuid[RTRS_UUID_LEN] = { 0xfe, 0xff, 0xff, 0x4f, 1 };

	EQ(rtrs_fence_tag(uuid, 0), 0x0ffffffe);
	EQ(rtrs_fence_tag(uuid, 1), 0x0fffffff);
	EQ(rtrs_fence_tag(uuid, 2), 0);
	EQ(rtrs_fence_tag(uuid, 0xffff), 0xfffd);
}

static void slots(void)
{
	__u32 number, count, n;

	EQ(rtrs_imm_pack(RTRS_IMM_SLOTS, rtrs_imm_slots(0x123, 0x200)), 0xd1230200);
	EQ(rtrs_imm_slots(0xffff, 0x1ffff), 0x0fffffff);
	rtrs_imm_slots_parse(0x0abc1234, &number, &count);
	EQ(number, 0xabc);
	EQ(count, 0x1234);
	for (n = 0; n < 4096; n += 273) {
		EQ(rtrs_slots_newer(n, n), false);
		EQ(rtrs_slots_newer((n + 1) & 0xfff, n), true);
		EQ(rtrs_slots_newer((n + 0x7ff) & 0xfff, n), true);
		EQ(rtrs_slots_newer((n + 0x800) & 0xfff, n), false);
		EQ(rtrs_slots_newer(n, (n + 1) & 0xfff), false);
	}
	EQ(rtrs_slots_first(512), 16);
	EQ(rtrs_slots_first(65535), 2047);
	EQ(rtrs_slots_first(17), 16);
	EQ(rtrs_slots_first(3), 3);
}

int main(void)
{
	RUN(examples, "immediates: the worked examples of the specification");
	RUN(types, "immediates: type and payload do not mix");
	RUN(bits, "bits for a number of things, at every power of two");
	RUN(geometry_bounds, "geometry: depth, chunk and header at their bounds");
	RUN(geometry_sums, "geometry: parts that do not add up or overflow");
	RUN(requests, "request: slot and offset at their bounds, eleven geometries");
	RUN(requests_of_any_bits, "request: 20000 arbitrary immediates");
	RUN(responses, "response: errno 0..511 arrives, 512, 524, 4095 and more become EIO");
	RUN(response_bounds, "response: slot at its bounds");
	RUN(fence_tags, "tag of a lost path: 28 bits, another one for each attempt");
	RUN(slots, "grants: number and slots of an immediate, which question is newer, the first grant");
	return tap_end();
}
