// SPDX-License-Identifier: GPL-2.0
/* Headers of requests, RKEY_RSP, and whole requests as they stand in a chunk. */
#include <rtrs/proto.h>
#include <rnbd/proto.h>
#include "tap.h"

static const __u8 write_bytes[4] = { 2, 0, 0x20, 0 };
static const __u8 flush_bytes[8] = { 3, 0, 0x20, 0, 0, 0, 0, 0 };
static const __u8 read_bytes[24] = {
	3, 0, 0x20, 0, 1, 0, 1, 0,
	0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0xdd, 0xcc, 0xbb, 0xaa, 0x00, 0x10, 0x00, 0x00,
};

static int parse(const __u8 *bytes, size_t len, __u32 off, struct rtrs_request *out)
{
	memset(out, 0xff, sizeof(*out));
	NOTE("type %u, usr_len %u, %zu bytes, offset %u", bytes[0], bytes[2] | bytes[3] << 8, len, off);
	return rtrs_request_parse(EXACT(bytes, len), len, off, out);
}

static void pack(void)
{
	struct rtrs_desc d = { 0x1122334455667788ULL, 0xaabbccdd, 4096 };
	__u8 *m = EXACT(NULL, 24);

	rtrs_write_hdr_pack((void *)m, 32);
	MEM(m, write_bytes, 4);
	EQ(m[4], 0xa5);
	EQ(rtrs_read_hdr_pack((void *)m, 32, NULL, true), 8);
	MEM(m, flush_bytes, 8);
	EQ(m[8], 0xa5);
	EQ(rtrs_read_hdr_pack((void *)m, 32, &d, true), 24);
	MEM(m, read_bytes, 24);
	EQ(rtrs_read_hdr_pack((void *)m, 32, &d, false), 24);
	EQ(m[4], 0);
	m[4] = read_bytes[4];
	MEM(m, read_bytes, 24);
	rtrs_write_hdr_pack((void *)m, 0xffff);
	EQ(rtrs_get_le16(m + 2), 0xffff);
}

static void write_parse(void)
{
	struct rtrs_request r;

	EQ(parse(write_bytes, 4, 4096 + 32, &r), 0);
	EQ(r.is_read, false);
	EQ(r.has_desc, false);
	EQ(r.need_inval, false);
	EQ(r.usr_len, 32);
	EQ(r.data_len, 4096);
	/* no payload */
	EQ(parse(write_bytes, 4, 32, &r), 0);
	EQ(r.data_len, 0);
	EQ(r.usr_len, 32);
	/* at the very end of the chunk */
	EQ(parse(write_bytes, 4, 131068, &r), 0);
	EQ(r.data_len, 131068 - 32);
}

static void read_parse(void)
{
	struct rtrs_request r;

	EQ(parse(read_bytes, 24, 4096 + 32, &r), 0);
	EQ(r.is_read, true);
	EQ(r.has_desc, true);
	EQ(r.need_inval, true);
	EQ(r.usr_len, 32);
	EQ(r.data_len, 4096);
	EQ(r.desc.addr, 0x1122334455667788LL);
	EQ(r.desc.rkey, 0xaabbccdd);
	EQ(r.desc.len, 4096);
	EQ(parse(flush_bytes, 8, 32, &r), 0);
	EQ(r.is_read, true);
	EQ(r.has_desc, false);
	EQ(r.need_inval, false);
	EQ(r.data_len, 0);
	EQ(r.desc.len, 0);
}

/* A header of which a part would lie behind the end of the chunk. */
static void too_short(void)
{
	struct rtrs_request r;
	size_t len;

	for (len = 0; len < 4; len++)
		EQ(parse(write_bytes, len, 32, &r), -EINVAL);
	for (len = 0; len < 8; len++)
		EQ(parse(flush_bytes, len, 32, &r), -EINVAL);
	for (len = 0; len < 24; len++)
		EQ(parse(read_bytes, len, 4096 + 32, &r), -EINVAL);
	EQ(parse(read_bytes, 24, 4096 + 32, &r), 0);
}

/* CVE-2026-97413: usr_len beyond the offset made data_len huge. */
static void usr_len(void)
{
	static const struct { __u32 off; __u16 usr; int want; } c[] = {
		{ 0, 0, 0 }, { 0, 1, -EINVAL }, { 0, 0xffff, -EINVAL }, { 1, 1, 0 }, { 1, 2, -EINVAL },
		{ 32, 31, 0 }, { 32, 32, 0 }, { 32, 33, -EINVAL }, { 65534, 65535, -EINVAL },
		{ 65535, 65535, 0 }, { 65536, 65535, 0 }, { 131071, 0, 0 }, { 0xfffffff, 65535, 0 },
	};
	struct rtrs_request r;
	__u8 m[8] = { 0 };
	size_t i;
	int type;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		for (type = RTRS_MSG_WRITE; type <= RTRS_MSG_READ; type++) {
			rtrs_put_le16(m, type);
			rtrs_put_le16(m + 2, c[i].usr);
			EQ(parse(m, 8, c[i].off, &r), c[i].want);
			if (c[i].want)
				continue;
			EQ(r.usr_len, c[i].usr);
			EQ(r.data_len, c[i].off - c[i].usr);
		}
}

static void types(void)
{
	__u8 m[24];
	struct rtrs_request r;
	__u32 type;

	memcpy(m, read_bytes, 24);
	for (type = 0; type < 65536; type += type < 300 ? 1 : 251) {
		rtrs_put_le16(m, type);
		EQ(parse(m, 24, 4096 + 32, &r), type == 2 || type == 3 ? 0 : -EINVAL);
	}
	/* both bytes of the type count */
	rtrs_put_le16(m, 0x0103);
	EQ(parse(m, 24, 4096 + 32, &r), -EINVAL);
	rtrs_put_le16(m, 0x0302);
	EQ(parse(m, 24, 4096 + 32, &r), -EINVAL);
}

static void sg_cnt(void)
{
	__u8 m[40];
	struct rtrs_request r;
	__u32 n;

	memset(m, 0, sizeof(m));
	memcpy(m, read_bytes, 24);
	for (n = 0; n < 65536; n += n < 300 ? 1 : 251) {
		rtrs_put_le16(m + 6, n);
		EQ(parse(m, 40, 4096 + 32, &r), n <= 1 ? 0 : -EINVAL);
		if (n <= 1)
			EQ(r.has_desc, n);
	}
	/* little-endian: 1 in the other byte is 256 */
	rtrs_put_le16(m + 6, 0x0100);
	EQ(parse(m, 40, 4096 + 32, &r), -EINVAL);
	/* a wish to invalidate nothing is no wish */
	memcpy(m, flush_bytes, 8);
	m[4] = 1;
	EQ(parse(m, 40, 32, &r), 0);
	EQ(r.need_inval, false);
}

static void flags(void)
{
	__u8 m[24];
	struct rtrs_request r;
	__u32 bit;

	memcpy(m, read_bytes, 24);
	for (bit = 0; bit < 16; bit++) {
		rtrs_put_le16(m + 4, 1U << bit);
		EQ(parse(m, 24, 4096 + 32, &r), 0);
		EQ(r.need_inval, bit == 0);
	}
}

/* CVE-2026-64269: no more than the answer may go back. */
static void desc_len(void)
{
	static const struct { __u32 len, data; int want; } c[] = {
		{ 0, 0, -EINVAL }, { 0, 4096, -EINVAL }, { 1, 0, -EINVAL }, { 1, 1, 0 }, { 1, 4096, 0 },
		{ 4095, 4096, 0 }, { 4096, 4096, 0 }, { 4097, 4096, -EINVAL }, { 131072, 56, -EINVAL },
		{ 0xffffffff, 4096, -EINVAL }, { 0x80000000, 4096, -EINVAL }, { 36, 36, 0 }, { 37, 36, -EINVAL },
	};
	struct rtrs_request r;
	__u8 m[24];
	size_t i;

	memcpy(m, read_bytes, 24);
	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		rtrs_put_le32(m + 20, c[i].len);
		NOTE("region of %u, room for %u", c[i].len, c[i].data);
		EQ(rtrs_request_parse(m, 24, c[i].data + 32, &r), c[i].want);
		if (!c[i].want)
			EQ(r.desc.len, c[i].len);
	}
}

static void rkey(void)
{
	static const __u8 bytes[8] = { 4, 0, 0x05, 0x01, 0xdd, 0xcc, 0xbb, 0xaa };
	__u8 *m = EXACT(NULL, 8);
	__u32 key = 0, v;
	size_t len;

	rtrs_rkey_rsp_pack((void *)m, 0x105, 0xaabbccdd);
	MEM(m, bytes, 8);
	EQ(rtrs_rkey_rsp_parse(m, 8, 0x105, &key), 0);
	EQ(key, 0xaabbccdd);
	for (len = 0; len < 8; len++) {
		NOTE("%zu bytes", len);
		EQ(rtrs_rkey_rsp_parse(EXACT(bytes, len), len, 0x105, &key), -EINVAL);
	}
	NOTE("other slot");
	EQ(rtrs_rkey_rsp_parse(m, 8, 0x104, &key), -EINVAL);
	EQ(rtrs_rkey_rsp_parse(m, 8, 0x106, &key), -EINVAL);
	EQ(rtrs_rkey_rsp_parse(m, 8, 0x005, &key), -EINVAL);
	EQ(rtrs_rkey_rsp_parse(m, 8, 0x10105, &key), -EINVAL);
	for (v = 0; v < 65536; v += v < 300 ? 1 : 251) {
		rtrs_put_le16(m, v);
		NOTE("type %u", v);
		EQ(rtrs_rkey_rsp_parse(m, 8, 0x105, &key), v == 4 ? 0 : -EINVAL);
	}
	for (v = 0; v < 65536; v += 257) {
		rtrs_rkey_rsp_pack((void *)m, v, ~v);
		NOTE("slot %u", v);
		EQ(rtrs_rkey_rsp_parse(m, 8, v, &key), 0);
		EQ(key, ~v);
	}
}

/*
 * A request as section 14 has it: where the RDMA write goes, how long it is, its
 * immediate; and what the server makes of it. @carried: payload that is written.
 */
struct example {
	const char *name;
	bool read;
	__u32 slot, data, carried, usr, at, bytes, imm;
};

static void request(const struct example *e)
{
	static const struct rtrs_geometry g = { 512, 131072, 126976, 4096 };
	struct rtrs_desc d = { 0x1000, 7, e->data };
	__u32 off = e->data + e->usr, hdr, slot, got_off;
	struct rtrs_request r;
	__u8 m[24];

	if (e->read) {
		hdr = rtrs_read_hdr_pack((void *)m, e->usr, e->data ? &d : NULL, true);
	} else {
		rtrs_write_hdr_pack((void *)m, e->usr);
		hdr = 4;
	}
	NOTE("%s", e->name);
	EQ(e->data - e->carried, e->at);
	EQ(e->carried + e->usr + hdr, e->bytes);
	EQ(rtrs_imm_io_req(&g, e->slot, off), e->imm);

	EQ(rtrs_imm_io_req_parse(e->imm, &g, &slot, &got_off), 0);
	EQ(slot, e->slot);
	EQ(rtrs_request_parse(EXACT(m, hdr), hdr, got_off, &r), 0);
	EQ(r.is_read, e->read);
	EQ(r.data_len, e->data);
	EQ(r.usr_len, e->usr);
	EQ(r.has_desc, e->read && e->data);
	EQ(r.need_inval, e->read && e->data);
	EQ(r.desc.len, e->read ? e->data : 0);
}

static void rkey_next(void)
{
	__u32 key = 0xaabbcc00;
	int i;

	for (i = 0; i < 255; i++) {
		EQ(rtrs_rkey_next(key), key + 1);
		key++;
	}
	EQ(rtrs_rkey_next(key), 0xaabbcc00);
	EQ(rtrs_rkey_next(0xffffffff), 0xffffff00);
}

static void examples(void)
{
	static const struct example e[] = {
		{ "SESS_INFO", true, 0, 36, 0, 36, 36, 60, 0x00000048 },
		{ "OPEN", true, 0, 56, 0, 264, 56, 288, 0x00000140 },
		{ "CLOSE", false, 0, 0, 0, 8, 0, 12, 0x00000008 },
		{ "4 KiB read", true, 5, 4096, 0, 32, 4096, 56, 0x00281020 },
		{ "4 KiB write", false, 5, 4096, 4096, 32, 0, 4132, 0x00281020 },
		{ "flush", true, 0, 0, 0, 32, 0, 40, 0x00000020 },
		{ "discard", false, 0, 0, 0, 32, 0, 36, 0x00000020 },
		/* the largest write of the default geometry, in the last slot */
		{ "124 KiB write", false, 511, 126976, 126976, 32, 0, 127012, 0x0ff9f020 },
	};
	size_t i;

	EQ(sizeof(struct rnbd_msg_sess_info), e[0].usr);
	EQ(sizeof(struct rnbd_msg_sess_info), e[0].data);
	EQ(sizeof(struct rnbd_msg_open), e[1].usr);
	EQ(sizeof(struct rnbd_msg_open_rsp), e[1].data);
	EQ(sizeof(struct rnbd_msg_close), e[2].usr);
	EQ(sizeof(struct rnbd_msg_io), e[3].usr);
	for (i = 0; i < sizeof(e) / sizeof(e[0]); i++)
		request(&e[i]);
}

/* Two headers one after the other in one structure: nothing of the first remains. */
static void nothing_remains(void)
{
	struct rtrs_request r;

	EQ(rtrs_request_parse(read_bytes, 24, 4096 + 32, &r), 0);
	EQ(rtrs_request_parse(write_bytes, 4, 32, &r), 0);
	EQ(r.is_read, false);
	EQ(r.has_desc, false);
	EQ(r.need_inval, false);
	EQ(r.desc.len, 0);
	EQ(r.desc.rkey, 0);
	EQ(r.desc.addr, 0);
}

int main(void)
{
	RUN(pack, "headers: bytes as in the specification, none beyond");
	RUN(write_parse, "WRITE: every field is found");
	RUN(read_parse, "READ: every field is found, with and without a region");
	RUN(too_short, "headers: every shorter length is refused");
	RUN(usr_len, "headers: usr_len against the offset");
	RUN(types, "headers: every type but WRITE and READ is refused");
	RUN(sg_cnt, "READ: one region at most");
	RUN(flags, "READ: bit 0 alone asks for invalidation");
	RUN(desc_len, "READ: region against the room for the answer");
	RUN(nothing_remains, "headers: nothing of the last one remains");
	RUN(rkey, "RKEY_RSP: bytes, type, slot, length");
	RUN(rkey_next, "next key: low byte, modulo 256");
	RUN(examples, "requests: the worked examples of the specification");
	return tap_end();
}
