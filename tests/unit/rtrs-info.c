// SPDX-License-Identifier: GPL-2.0
/* Session names, INFO_REQ and INFO_RSP. */
#include <rtrs/proto.h>
#include "tap.h"

static const struct rtrs_geometry eight = { 8, 8192, 4096, 4096 };

static __u8 *request(const char *name, size_t n)
{
	__u8 *m = EXACT(NULL, 272);

	memset(m, 0, 272);
	memcpy(m + 2, name, n);
	return m;
}

static int parse_name(const char *name, size_t n, char *out)
{
	NOTE("name of %zu bytes, 0x%02x first", n, n ? (unsigned char)*name : 0);
	return rtrs_info_req_parse(request(name, n), 272, out);
}

static void names(void)
{
	char x[300], c;
	int i;

	memset(x, 'x', sizeof(x));
	EQ(rtrs_name_check(x, 0), -EINVAL);
	EQ(rtrs_name_check(x, 1), 0);
	EQ(rtrs_name_check(EXACT(x, 254), 254), 0);
	EQ(rtrs_name_check(x, 255), -EINVAL);
	EQ(rtrs_name_check(x, 256), -EINVAL);
	EQ(rtrs_name_check(x, 300), -EINVAL);
	for (i = 0; i < 256; i++) {
		c = i;
		NOTE("byte %d", i);
		EQ(rtrs_name_check(&c, 1), i == 0 || i == '/' || i == '.' ? -EINVAL : 0);
		/* last of several */
		x[253] = c;
		EQ(rtrs_name_check(EXACT(x, 254), 254), i == 0 || i == '/' || i == '.' ? -EINVAL : 0);
	}
}

static void request_pack(void)
{
	static const char name[] = "client@server";
	struct rtrs_msg_info_req *m = EXACT(NULL, 272);
	__u8 want[272] = { 0 };
	char x[255];

	memcpy(want + 2, name, sizeof(name));
	rtrs_info_req_pack(m, name);
	MEM(m, want, 272);
	memset(x, 'x', 254);
	x[254] = '\0';
	memcpy(want + 2, x, 255);
	rtrs_info_req_pack(m, x);
	MEM(m, want, 272);
}

static void request_parse(void)
{
	char x[256], got[255];

	memset(x, 'x', sizeof(x));
	EQ(parse_name("a", 1, got), 0);
	STR(got, "a");
	EQ(parse_name(x, 254, EXACT(NULL, 255)), 0);
	EQ(parse_name(x, 254, got), 0);
	EQ(strlen(got), 254);
	/* not terminated, empty, not fit */
	EQ(parse_name(x, 255, got), -EINVAL);
	EQ(parse_name("", 0, got), -EINVAL);
	EQ(parse_name("\0abc", 4, got), -EINVAL);
	EQ(parse_name("/", 1, got), -EINVAL);
	EQ(parse_name("a/b", 3, got), -EINVAL);
	EQ(parse_name(".", 1, got), -EINVAL);
	EQ(parse_name("..", 2, got), -EINVAL);
	EQ(parse_name("a.b", 3, got), -EINVAL);
	EQ(parse_name("\xff \n", 3, got), 0);
	STR(got, "\xff \n");
	/* what stands behind the end is nobody's */
	EQ(parse_name("ab\0/..", 6, got), 0);
	STR(got, "ab");
}

static void request_short(void)
{
	const __u8 *m = request("name", 4);
	char got[255];
	size_t len;
	int type;

	for (len = 0; len < 272; len++) {
		NOTE("%zu bytes", len);
		EQ(rtrs_info_req_parse(EXACT(m, len), len, got), -EINVAL);
	}
	EQ(rtrs_info_req_parse(m, 272, got), 0);
	for (type = 1; type < 65536; type += type < 300 ? 1 : 251) {
		__u8 *t = (__u8 *)m;

		rtrs_put_le16(t, type);
		NOTE("type %d", type);
		EQ(rtrs_info_req_parse(t, 272, got), -EINVAL);
	}
}

/* INFO_RSP of @n regions of so many chunks of @g; region i starts at (i + 1) << 32. */
static __u8 *response(const struct rtrs_geometry *g, const __u32 *chunks, __u32 n)
{
	__u8 *m = EXACT(NULL, rtrs_info_rsp_size(n));
	__u32 i;

	rtrs_info_rsp_pack_head((void *)m, n);
	for (i = 0; i < n; i++) {
		struct rtrs_desc d = { (__u64)(i + 1) << 32, 0x100 + i, chunks[i] * g->chunk_size };

		rtrs_desc_pack(&((struct rtrs_msg_info_rsp *)m)->desc[i], &d);
	}
	return m;
}

static int parse(const __u8 *m, __u32 n, struct rtrs_desc *chunk)
{
	return rtrs_info_rsp_parse(m, rtrs_info_rsp_size(n), &eight, chunk);
}

static void response_bytes(void)
{
	static const __u8 want[24] = {
		1, 0, 1, 0, 0, 0, 0, 0,
		0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0xdd, 0xcc, 0xbb, 0xaa, 0x00, 0x00, 0x01, 0x00,
	};
	struct rtrs_desc d = { 0x1122334455667788ULL, 0xaabbccdd, 65536 };
	struct rtrs_msg_info_rsp *m = EXACT(NULL, 24);
	struct rtrs_desc chunk[8];

	rtrs_info_rsp_pack_head(m, 1);
	rtrs_desc_pack(&m->desc[0], &d);
	MEM(m, want, 24);
	EQ(rtrs_info_rsp_parse(m, 24, &eight, chunk), 0);
	EQ(chunk[0].addr, 0x1122334455667788LL);
	EQ(chunk[7].addr, 0x1122334455667788LL + 7 * 8192);
	EQ(chunk[7].rkey, 0xaabbccdd);
	EQ(chunk[7].len, 8192);
}

static void response_slots(void)
{
	static const struct { __u32 in, out; } t[] = { { 0, 0 }, { 1, 1 }, { 8, 8 }, { 9, 0 }, { 0x10000, 0 }, { 0xffffffff, 0 } };
	__u8 m[8] = { 1 };
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		NOTE("%#x slots", t[i].in);
		rtrs_put_le32(m + 4, t[i].in);
		EQ(rtrs_info_rsp_slots(EXACT(m, 8), &eight), t[i].out);
	}
}

/* @chunks of each region; the list must name every chunk in order. */
static void whole(const __u32 *chunks, __u32 n)
{
	struct rtrs_desc chunk[8];
	__u32 r, i, k = 0;

	memset(chunk, 0xff, sizeof(chunk));
	NOTE("%u regions, %u first", n, chunks[0]);
	EQ(parse(response(&eight, chunks, n), n, chunk), 0);
	for (r = 0; r < n; r++)
		for (i = 0; i < chunks[r]; i++, k++) {
			EQ(chunk[k].addr, ((__u64)(r + 1) << 32) + i * 8192);
			EQ(chunk[k].rkey, 0x100 + r);
			EQ(chunk[k].len, 8192);
		}
	EQ(k, 8);
}

static void response_regions(void)
{
	whole((__u32[]){ 1, 1, 1, 1, 1, 1, 1, 1 }, 8);	/* always_invalidate=Y */
	whole((__u32[]){ 8 }, 1);
	whole((__u32[]){ 4, 4 }, 2);
	whole((__u32[]){ 3, 3, 2 }, 3);		/* does not divide the depth */
	whole((__u32[]){ 7, 1 }, 2);
	whole((__u32[]){ 1, 7 }, 2);
	whole((__u32[]){ 2, 1, 1, 1, 1, 1, 1 }, 7);
}

static void broken(const __u32 *chunks, __u32 n)
{
	struct rtrs_desc chunk[8];

	NOTE("%u regions, %u first", n, chunks[0]);
	EQ(parse(response(&eight, chunks, n), n, chunk), -EINVAL);
}

static void response_wrong_sum(void)
{
	broken((__u32[]){ 7 }, 1);
	broken((__u32[]){ 9 }, 1);
	broken((__u32[]){ 8, 1 }, 2);
	broken((__u32[]){ 8, 0 }, 2);
	broken((__u32[]){ 0, 8 }, 2);
	broken((__u32[]){ 4, 0, 4 }, 3);
	broken((__u32[]){ 3, 3, 3 }, 3);
	broken((__u32[]){ 1, 1, 1, 1, 1, 1, 1 }, 7);
	broken((__u32[]){ 1, 1, 1, 1, 1, 1, 1, 1, 1 }, 9);
	broken((__u32[]){ 524287 }, 1);	/* almost 4 GiB */
}

static void response_wrong_region(void)
{
	static const __u32 bad[] = { 0, 1, 8191, 8193, 8192 * 2 - 1, 8192 * 8 - 1, 8192 * 8 + 1, 0xffffffff };
	__u8 *m = response(&eight, (__u32[]){ 4, 4 }, 2);
	struct rtrs_desc chunk[8];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		NOTE("length %u", bad[i]);
		rtrs_put_le32(m + 20, bad[i]);
		EQ(parse(m, 2, chunk), -EINVAL);
	}
	rtrs_put_le32(m + 20, 4 * 8192);
	EQ(parse(m, 2, chunk), 0);
	/* ends beyond all addresses */
	rtrs_put_le64(m + 8, ~0ULL);
	EQ(parse(m, 2, chunk), -EINVAL);
	rtrs_put_le64(m + 8, 0ULL - 4 * 8192 + 1);
	EQ(parse(m, 2, chunk), -EINVAL);
	rtrs_put_le64(m + 8, 0ULL - 4 * 8192 - 1);
	EQ(parse(m, 2, chunk), 0);
	rtrs_put_le64(m + 8, 0);
	EQ(parse(m, 2, chunk), 0);
}

static void response_short(void)
{
	__u8 *m = response(&eight, (__u32[]){ 4, 4 }, 2);
	struct rtrs_desc chunk[8];
	size_t len;

	for (len = 0; len < 40; len++) {
		NOTE("%zu bytes", len);
		EQ(rtrs_info_rsp_parse(EXACT(m, len), len, &eight, chunk), -EINVAL);
	}
	EQ(rtrs_info_rsp_parse(m, 40, &eight, chunk), 0);
	/* the buffer is as long as the depth may ask for */
	EQ(rtrs_info_rsp_parse(memcpy(EXACT(NULL, 136), m, 40), 136, &eight, chunk), 0);
}

static void response_head(void)
{
	struct rtrs_desc chunk[8];
	__u32 v;

	for (v = 0; v < 65536; v += v < 300 ? 1 : 251) {
		__u8 *m = response(&eight, (__u32[]){ 4, 4 }, 2);

		rtrs_put_le16(m, v);
		NOTE("type %u", v);
		EQ(parse(m, 2, chunk), v == 1 ? 0 : -EINVAL);
		rtrs_put_le16(m, 1);
		rtrs_put_le16(m + 2, v);
		NOTE("%u regions", v);
		EQ(parse(m, 2, chunk), v == 2 ? 0 : -EINVAL);
		rtrs_put_le16(m + 2, 2);
		memset(m + 4, v | 1, 4);
		EQ(parse(m, 2, chunk), 0);
		tap_drop();
	}
}

/* The largest session that the immediate allows for, and the longest message. */
static void response_large(void)
{
	static const struct rtrs_geometry g = { 32768, 8192, 4096, 4096 };
	static struct rtrs_desc chunk[32768];
	__u32 *one = calloc(32769, sizeof(*one)), i;

	for (i = 0; i < 32769; i++)
		one[i] = 1;
	EQ(rtrs_info_rsp_parse(response(&g, one, 32768), rtrs_info_rsp_size(32768), &g, chunk), 0);
	EQ(chunk[32767].rkey, 0x100 + 32767);
	EQ(rtrs_info_rsp_parse(response(&g, one, 32769), rtrs_info_rsp_size(32769), &g, chunk), -EINVAL);
	one[0] = 32768;
	EQ(rtrs_info_rsp_parse(response(&g, one, 1), rtrs_info_rsp_size(1), &g, chunk), 0);
	EQ(chunk[32767].addr, (1LL << 32) + 32767LL * 8192);
	free(one);
}

int main(void)
{
	RUN(names, "session name: 1..254 bytes, every byte but NUL, '/' and '.'");
	RUN(request_pack, "INFO_REQ: bytes as in the specification, the rest zero");
	RUN(request_parse, "INFO_REQ: names that are taken and names that are not");
	RUN(request_short, "INFO_REQ: every shorter length and every other type is refused");
	RUN(response_bytes, "INFO_RSP: bytes as in the specification");
	RUN(response_slots, "INFO_RSP: granted slots, at their bounds");
	RUN(response_regions, "INFO_RSP: regions even and uneven become all chunks");
	RUN(response_wrong_sum, "INFO_RSP: too few, too many and empty regions are refused");
	RUN(response_wrong_region, "INFO_RSP: length and address of a region at their bounds");
	RUN(response_short, "INFO_RSP: every shorter length is refused");
	RUN(response_head, "INFO_RSP: type and number of regions");
	RUN(response_large, "INFO_RSP: 32768 chunks");
	return tap_end();
}
