// SPDX-License-Identifier: GPL-2.0
/* Private data of connect request, accept and reject. */
#include <rtrs/proto.h>
#include "tap.h"

#define LEN	56

static const __u8 request_bytes[LEN] = {
	0, 0, 0xbd, 0x1b, 0x00, 0x02, 0x03, 0x00, 0x05, 0x00, 0x0a, 0x01,
	0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f,
	0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f,
	0x01,
};

/* The defaults of the in-tree server: 512 chunks of 128 KiB, new keys. */
static const __u8 accept_bytes[LEN] = {
	0xbd, 0x1b, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02, 0x00, 0xf0, 0x01, 0x00, 0x00, 0x10, 0x00, 0x00,
	0x02, 0x00, 0x00, 0x00,
};

/* The end of a request for a lean path, not the first of its session. */
static const __u8 lean_bytes[LEN - 44] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80 };

static const __u8 reject_bytes[LEN] = { 0xbd, 0x1b, 0x00, 0x02, 0x98, 0xff };

static struct rtrs_conn_req request(void)
{
	struct rtrs_conn_req r = { .cid = 3, .cid_num = 5, .recon_cnt = 0x10a, .first_conn = true };
	int i;

	for (i = 0; i < 16; i++) {
		r.sess_uuid[i] = 0x10 + i;
		r.paths_uuid[i] = 0x20 + i;
	}
	return r;
}

/* Of @bytes, with the 16 bits at @off replaced. */
static int parse_request(int off, __u16 value, struct rtrs_conn_req *out)
{
	__u8 *p = EXACT(request_bytes, LEN);

	if (off >= 0)
		rtrs_put_le16(p + off, value);
	NOTE("offset %d = 0x%x", off, value);
	return rtrs_conn_req_parse(p, LEN, out);
}

static int parse_accept(int off, __u16 value, struct rtrs_conn_rsp *out)
{
	__u8 *p = EXACT(accept_bytes, LEN);

	if (off >= 0)
		rtrs_put_le16(p + off, value);
	NOTE("offset %d = 0x%x", off, value);
	return rtrs_accept_parse(p, LEN, out);
}

static void request_pack(void)
{
	struct rtrs_conn_req r = request();
	struct rtrs_msg_conn_req *m = EXACT(NULL, LEN);

	rtrs_conn_req_pack(m, &r);
	MEM(m, request_bytes, LEN);
	r.first_conn = false;
	rtrs_conn_req_pack(m, &r);
	MEM(m, request_bytes, 44);
	EQ(((__u8 *)m)[44], 0);
	r.lean = true;
	rtrs_conn_req_pack(m, &r);
	MEM(m, request_bytes, 44);
	MEM((__u8 *)m + 44, lean_bytes, LEN - 44);
}

static void request_parse(void)
{
	struct rtrs_conn_req want = request(), got;

	EQ(parse_request(-1, 0, &got), 0);
	EQ(got.cid, want.cid);
	EQ(got.cid_num, want.cid_num);
	EQ(got.recon_cnt, want.recon_cnt);
	EQ(got.first_conn, true);
	EQ(got.lean, false);
	MEM(got.sess_uuid, want.sess_uuid, 16);
	MEM(got.paths_uuid, want.paths_uuid, 16);
}

static void request_short(void)
{
	struct rtrs_conn_req got;
	size_t len;

	for (len = 0; len < LEN; len++) {
		NOTE("%zu bytes", len);
		EQ(rtrs_conn_req_parse(EXACT(request_bytes, len), len, &got), -ECONNRESET);
	}
	EQ(rtrs_conn_req_parse(NULL, 0, &got), -ECONNRESET);
	EQ(rtrs_conn_req_parse(NULL, LEN, &got), -ECONNRESET);
	/* RDMA-CM hands over more than was sent: padded to what the fabric carries. */
	for (len = LEN; len < 256; len += 50) {
		__u8 *p = EXACT(NULL, len);

		memcpy(p, request_bytes, LEN);
		NOTE("%zu bytes", len);
		EQ(rtrs_conn_req_parse(p, len, &got), 0);
	}
}

static void request_bounds(void)
{
	static const struct { int off; __u16 value; int want; } c[] = {
		{ 2, 0x1bbc, -ECONNRESET }, { 2, 0x1bbe, -ECONNRESET }, { 2, 0xbd1b, -ECONNRESET },
		{ 2, 0, -ECONNRESET }, { 2, 0x1bbd, 0 },
		/* only the major version counts */
		{ 4, 0x0200, 0 }, { 4, 0x0201, 0 }, { 4, 0x02ff, 0 }, { 4, 0x01ff, -ECONNRESET },
		{ 4, 0x0300, -ECONNRESET }, { 4, 0x0002, -ECONNRESET }, { 4, 0xff02, -ECONNRESET },
		{ 4, 0, -ECONNRESET },
		/* cid, of 5 */
		{ 6, 0, 0 }, { 6, 4, 0 }, { 6, 5, -ECONNRESET }, { 6, 6, -ECONNRESET },
		{ 6, 0xffff, -ECONNRESET },
		/* cid_num, where the cid is 3 */
		{ 8, 0, -ECONNRESET }, { 8, 3, -ECONNRESET }, { 8, 4, 0 }, { 8, 4095, 0 },
		{ 8, 4096, 0 }, { 8, 4097, -ECONNRESET }, { 8, 0xffff, -ECONNRESET },
		{ 10, 0, 0 }, { 10, 0xffff, 0 },
	};
	struct rtrs_conn_req got;
	size_t i;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		EQ(parse_request(c[i].off, c[i].value, &got), c[i].want);
	EQ(parse_request(10, 0xfffe, &got), 0);
	EQ(got.recon_cnt, 0xfffe);
	EQ(parse_request(0, 0x6000, &got), 0);	/* head of RDMA-CM where the address is a GID */
}

static void request_first_conn(void)
{
	struct rtrs_conn_req got;
	int v;

	for (v = 0; v < 256; v++) {
		EQ(parse_request(44, v, &got), 0);
		EQ(got.first_conn, v & 1);
	}
	/* reserved bytes are not looked at */
	for (v = 45; v < LEN - 2; v++) {
		EQ(parse_request(v, 0xffff, &got), 0);
		EQ(got.first_conn, 1);
		EQ(got.lean, false);
	}
}

static void request_lean(void)
{
	struct rtrs_conn_req got;
	int v;

	for (v = 0; v < 256; v++) {
		EQ(parse_request(54, v << 8 | 0xff, &got), 0);
		EQ(got.lean, v >> 7);
		EQ(got.alone, v >> 6 & 1);
		EQ(got.notices, v >> 5 & 1);
		EQ(got.fences, v >> 4 & 1);
		EQ(got.fence_cnt, v >> 3 & 1);
		EQ(got.eager, v >> 2 & 1);
		EQ(got.grants, v >> 1 & 1);
		EQ(got.first_conn, 1);
	}
}

static void request_founding(void)
{
	struct rtrs_conn_req r = request(), got;
	struct rtrs_msg_conn_req m;

	EQ(parse_request(45, 0x1234, &got), 0);
	EQ(got.founding, 0x1234);
	EQ(parse_request(47, 0x1234, &got), 0);
	EQ(got.founding, 0x12340000);
	r.founding = 0x01020304;
	rtrs_conn_req_pack(&m, &r);
	MEM((__u8 *)&m + 45, "\x04\x03\x02\x01\0\0\0\0\0\0\0", 11);
}

static void request_round_trip(void)
{
	static const __u16 cids[] = { 0, 1, 0xff, 0x100, 4094, 4095 };
	struct rtrs_conn_req r = request(), got;
	struct rtrs_msg_conn_req m;
	size_t i;

	for (i = 0; i < sizeof(cids) / sizeof(cids[0]); i++) {
		r.cid = cids[i];
		r.cid_num = cids[i] + 1;
		r.recon_cnt = i ? 0xffff - i : 0;
		r.first_conn = i & 1;
		r.lean = i & 2;
		r.alone = i & 4;
		r.notices = i == 5;
		r.fences = i == 4;
		r.fence_cnt = i == 3;
		r.eager = i == 2;
		r.grants = i == 1;
		r.founding = 0x81234567 >> i;
		rtrs_conn_req_pack(&m, &r);
		EQ(rtrs_conn_req_parse(&m, sizeof(m), &got), 0);
		EQ(got.cid, r.cid);
		EQ(got.cid_num, r.cid_num);
		EQ(got.recon_cnt, r.recon_cnt);
		EQ(got.first_conn, r.first_conn);
		EQ(got.lean, r.lean);
		EQ(got.alone, r.alone);
		EQ(got.notices, r.notices);
		EQ(got.fences, r.fences);
		EQ(got.fence_cnt, r.fence_cnt);
		EQ(got.eager, r.eager);
		EQ(got.grants, r.grants);
		EQ(got.founding, r.founding);
	}
}

static void accept_pack(void)
{
	struct rtrs_conn_rsp r = {
		.flags = RTRS_CONN_RSP_NEW_RKEY,
		.geo = { .queue_depth = 512, .chunk_size = 131072, .max_io_size = 126976, .max_hdr_size = 4096 },
	};
	struct rtrs_msg_conn_rsp *m = EXACT(NULL, LEN);

	rtrs_conn_rsp_pack(m, &r);
	MEM(m, accept_bytes, LEN);
	r.flags = 0;
	rtrs_conn_rsp_pack(m, &r);
	EQ(((__u8 *)m)[16], 0);
	r.eager_bytes = 0x01021000;
	rtrs_conn_rsp_pack(m, &r);
	MEM((__u8 *)m + 20, "\0\x10\x02\x01\0\0\0\0", 8);
	r.eager_bytes = 0;
	EQ(rtrs_accept_parse(m, LEN, &r), 0);
	EQ(r.eager_bytes, 0x01021000);
}

static void eager_bounds(void)
{
	EQ(rtrs_is_eager(4096, 0), true);
	EQ(rtrs_is_eager(4096, 4096 + RTRS_EAGER_USR_MAX), true);
	EQ(rtrs_is_eager(4096, 4096 + RTRS_EAGER_USR_MAX + 1), false);
	EQ(rtrs_is_eager(0, 0), false);
}

static void accept_parse(void)
{
	struct rtrs_conn_rsp got;

	EQ(parse_accept(-1, 0, &got), 0);
	EQ(got.err, 0);
	EQ(got.flags, 2);
	EQ(got.geo.queue_depth, 512);
	EQ(got.geo.max_io_size, 126976);
	EQ(got.geo.max_hdr_size, 4096);
	EQ(got.geo.chunk_size, 131072);
	EQ(rtrs_geometry_check(&got.geo), 0);
}

static void accept_short(void)
{
	struct rtrs_conn_rsp got;
	size_t len;

	for (len = 0; len < LEN; len++) {
		NOTE("%zu bytes", len);
		EQ(rtrs_accept_parse(EXACT(accept_bytes, len), len, &got), -ECONNRESET);
	}
	EQ(rtrs_accept_parse(NULL, 0, &got), -ECONNRESET);
	EQ(rtrs_accept_parse(EXACT(accept_bytes, LEN), LEN, &got), 0);
}

static void accept_bounds(void)
{
	static const struct { int off; __u16 value; int want; } c[] = {
		{ 0, 0x1bbc, -ECONNRESET }, { 0, 0x1bbe, -ECONNRESET }, { 0, 0, -ECONNRESET },
		{ 2, 0x02ff, 0 }, { 2, 0x01ff, -ECONNRESET }, { 2, 0x0300, -ECONNRESET },
		/* an accept with an errno is no accept, whatever its sign */
		{ 4, 1, -ECONNRESET }, { 4, 0x7fff, -ECONNRESET }, { 4, 0x8000, -ECONNRESET },
		{ 4, 0xff98, -ECONNRESET }, { 4, 0xffff, -ECONNRESET }, { 4, 0x0100, -ECONNRESET },
		{ 6, 0, 0 }, { 6, 0xffff, 0 },
	};
	struct rtrs_conn_rsp got;
	size_t i;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		EQ(parse_accept(c[i].off, c[i].value, &got), c[i].want);
	EQ(parse_accept(18, 0xffff, &got), 0);
	EQ(got.flags, 0xffff0002);
	/* Sizes that overflow: parsed, refused by the check that follows. */
	EQ(parse_accept(10, 0xffff, &got), 0);
	EQ(got.geo.max_io_size, 0xfffff000);
	EQ(rtrs_geometry_check(&got.geo), -EINVAL);
	EQ(parse_accept(6, 0, &got), 0);
	EQ(rtrs_geometry_check(&got.geo), -EINVAL);
}

static void reject_parse(void)
{
	static const struct { __u16 wire; int want; } c[] = {
		{ 0xff98, -104 }, { 0xfffa, -ENXIO }, { 0xfff4, -ENOMEM }, { 0xffef, -EEXIST },
		{ 0xffff, -1 }, { 0xfe01, -511 },
		/* the kernel's own, or no errno: the reason is not known, but refused is refused */
		{ 0xfe00, -ECONNRESET }, { 0xfdf4, -ECONNRESET }, { 0xf001, -ECONNRESET },
		{ 0xf000, -ECONNRESET }, { 0x8000, -ECONNRESET }, { 0, -ECONNRESET }, { 1, -ECONNRESET },
		{ 104, -ECONNRESET }, { 0x7fff, -ECONNRESET },
	};
	size_t i, len;

	EQ(rtrs_reject_parse(EXACT(reject_bytes, LEN), LEN), -ECONNRESET);
	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		__u8 *p = EXACT(reject_bytes, LEN);

		rtrs_put_le16(p + 4, c[i].wire);
		NOTE("errno 0x%x", c[i].wire);
		EQ(rtrs_reject_parse(p, LEN), c[i].want);
		/* neither magic nor version is looked at */
		memset(p, 0xff, 4);
		EQ(rtrs_reject_parse(p, LEN), c[i].want);
		for (len = 0; len < LEN; len += 5)
			EQ(rtrs_reject_parse(EXACT(p, len), len), -ECONNRESET);
	}
	EQ(rtrs_reject_parse(NULL, 0), -ECONNRESET);
	EQ(rtrs_reject_parse(NULL, LEN), -ECONNRESET);
}

/* Every errno that is for others, and nothing but the errno in the message. */
static void reject_round_trip(void)
{
	struct rtrs_conn_rsp r = {
		.flags = 0xffffffff,
		.geo = { .queue_depth = 512, .max_io_size = 126976, .max_hdr_size = 4096 },
	}, got;
	struct rtrs_msg_conn_rsp m;
	__u8 want[LEN];

	for (r.err = -1; r.err > -512; r.err--) {
		memset(&m, 0xa5, sizeof(m));
		rtrs_conn_rsp_pack(&m, &r);
		memcpy(want, reject_bytes, LEN);
		rtrs_put_le16(want + 4, r.err);
		NOTE("errno %d", r.err);
		MEM(&m, want, LEN);
		EQ(rtrs_reject_parse(&m, sizeof(m)), r.err);
		EQ(rtrs_accept_parse(&m, sizeof(m), &got), -ECONNRESET);
	}
}

int main(void)
{
	RUN(request_pack, "connect request: bytes as in the specification, reserved ones zero");
	RUN(request_parse, "connect request: every field is found");
	RUN(request_short, "connect request: every shorter length is refused");
	RUN(request_bounds, "connect request: magic, version, cid and cid_num at their bounds");
	RUN(request_first_conn, "connect request: first_conn is bit 0 of byte 44");
	RUN(request_lean, "connect request: a lean path is bit 7 of byte 55, a client without a path bit 6, one that takes notices bit 5, one that fences bit 4, by attempts bit 3, eager bit 2");
	RUN(request_founding, "connect request: the number of an attempt without a path is in bytes 45 to 48");
	RUN(request_round_trip, "connect request: packed and parsed again");
	RUN(accept_pack, "accept: bytes as in the specification, reserved ones zero");
	RUN(eager_bounds, "eager requests: data and user message of so many bytes");
	RUN(accept_parse, "accept: every field is found");
	RUN(accept_short, "accept: every shorter length is refused");
	RUN(accept_bounds, "accept: magic, version, errno and sizes at their bounds");
	RUN(reject_parse, "reject: errno of the server, -ECONNRESET where it gives none");
	RUN(reject_round_trip, "reject: every errno of 1..4095 arrives, nothing else is told");
	return tap_end();
}
