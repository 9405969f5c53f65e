// SPDX-License-Identifier: GPL-2.0
/* RDS: headers, checksums, extensions. */
#include <rds/proto.h>
#include "tap.h"

static unsigned int unhex(const char *s, unsigned char *out)
{
	unsigned int n = 0, v;

	for (; *s; s++) {
		if (*s == ' ')
			continue;
		sscanf(s, "%2x", &v);
		out[n++] = v;
		s++;
	}
	return n;
}

/* The specification's headers as bytes */
static const struct vector {
	const char *bytes;
	struct rds_hdr hdr;
	int csum;
} vectors[] = {
	{ "0000000000000001 0000000000000000 00000000 1092 0000 02 00 00000000 ed6c 00000000000000000000000000000000",
	  { .seq = 1, .sport = 0x1092, .flags = 2 }, 1 },
	{ "0000000000000001 0000000000000001 00000000 0000 1092 02 00 00000000 ed6b 00000000000000000000000000000000",
	  { .seq = 1, .ack = 1, .dport = 0x1092, .flags = 2 }, 1 },
	{ "0000000000000000 0000000000000007 00000000 0000 0000 00 00 00000000 fff8 00000000000000000000000000000000",
	  { .ack = 7 }, 1 },
	{ "0000000000000000 0000000000000003 00002000 0000 0000 01 00 00000000 defc 00000000000000000000000000000000",
	  { .ack = 3, .len = RDS_MAP_LEN, .flags = RDS_HDR_MAP }, 1 },
	{ "0000000000000102 000000000000004d 00002710 0fa0 1388 06 00 00000000 ae78 00000000000000000000000000000000",
	  { .seq = 258, .ack = 77, .len = 10000, .sport = 4000, .dport = 5000, .flags = 6 }, 1 },
	{ "0000000000000009 0000000000000008 00000004 13ed 13ee 00 00 00000000 a1fd 02000012340000000000000000000000",
	  { .seq = 9, .ack = 8, .len = 4, .sport = 0x13ed, .dport = 0x13ee, .ext = { 2, 0, 0, 0x12, 0x34 } }, 1 },
	{ "000000000000000a 0000000000000008 00000003 13ee 13ed 00 00 00000000 710c 03000003000000006400000000000000",
	  { .seq = 10, .ack = 8, .len = 3, .sport = 0x13ee, .dport = 0x13ed, .ext = { 3, 0, 0, 3, 0, 0, 0, 0, 0x64 } },
	  1 },
	{ "000000000000000b 0000000000000008 00000000 0001 0002 00 10 00000000 ffd9 00000000000000000000000000000000",
	  { .seq = 11, .ack = 8, .sport = 1, .dport = 2, .credit = 16 }, 1 },
	{ "0000000000000001 0000000000000000 00000000 0001 0000 00 00 00000000 0000 05000800000000000000000000000000",
	  { .seq = 1, .sport = 1, .ext = { 5, 0, 8 } }, 0 },
	{ "0000000000000001 0000000000000000 00000000 0000 0001 00 00 00000000 0000 05000800000000000000000000000000",
	  { .seq = 1, .dport = 1, .ext = { 5, 0, 8 } }, 0 },
};

static void packed(void)
{
	unsigned char want[64], got[RDS_HDR_LEN];
	size_t i;

	for (i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		NOTE("vector %zu", i);
		EQ(unhex(vectors[i].bytes, want), RDS_HDR_LEN);
		memset(got, 0xa5, sizeof(got));
		rds_hdr_pack(got, &vectors[i].hdr, vectors[i].csum);
		MEM(got, want, RDS_HDR_LEN);
		CHECK(rds_hdr_csum_ok(want));
	}
}

static void parsed(void)
{
	unsigned char bytes[64];
	struct rds_hdr h;
	size_t i;

	for (i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		const struct rds_hdr *want = &vectors[i].hdr;

		NOTE("vector %zu", i);
		unhex(vectors[i].bytes, bytes);
		EQ(rds_hdr_parse(EXACT(bytes, RDS_HDR_LEN), RDS_HDR_LEN, &h), 0);
		EQ(h.seq, want->seq);
		EQ(h.ack, want->ack);
		EQ(h.len, want->len);
		EQ(h.sport, want->sport);
		EQ(h.dport, want->dport);
		EQ(h.flags, want->flags);
		EQ(h.credit, want->credit);
		MEM(h.ext, want->ext, RDS_EXT_LEN);
	}
	/* whatever the length, nothing beyond it is read */
	for (i = 0; i < RDS_HDR_LEN; i++)
		EQ(rds_hdr_parse(EXACT(bytes, i), i, &h), -EINVAL);
}

static void lengths(void)
{
	static const __u32 lens[] = { 0, 1, RDS_MAP_LEN, RDS_MSG_MAX, RDS_MSG_MAX + 1, 2 << 20, 0x7fffffff, 0xffffffff };
	unsigned char bytes[RDS_HDR_LEN];
	struct rds_hdr h = { 0 };
	size_t i;

	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		NOTE("%u bytes", lens[i]);
		h.len = lens[i];
		rds_hdr_pack(bytes, &h, 0);
		EQ(rds_hdr_parse(bytes, sizeof(bytes), &h), lens[i] > RDS_MSG_MAX ? -EMSGSIZE : 0);
	}
}

static void maps(void)
{
	struct rds_hdr h = { 0 };
	unsigned int flags;

	for (flags = 0; flags < 256; flags++) {
		NOTE("flags %u", flags);
		h.flags = flags;
		EQ(rds_hdr_is_map(&h), flags == 1);
	}
}

static void checksums(void)
{
	unsigned char bytes[64];
	unsigned int i;

	unhex(vectors[4].bytes, bytes);
	for (i = 0; i < RDS_HDR_LEN * 8; i++) {
		bytes[i / 8] ^= 1 << i % 8;
		NOTE("bit %u", i);
		CHECK(!rds_hdr_csum_ok(bytes));
		bytes[i / 8] ^= 1 << i % 8;
	}
	bytes[RDS_HDR_CSUM_AT] = 0;
	bytes[RDS_HDR_CSUM_AT + 1] = 0;
	CHECK(rds_hdr_csum_ok(bytes));
}

static void extensions(void)
{
	unsigned char area[RDS_EXT_LEN] = { 0 };
	unsigned int used = 0;
	struct rds_ext e;

	EQ(rds_ext_add(area, &used, RDS_EXT_PATHS, 8), 0);
	EQ(rds_ext_add(area, &used, RDS_EXT_GENERATION, 0x12345678), 0);
	EQ(used, 8);
	MEM(area, ((unsigned char[]){ 5, 0, 8, 6, 0x12, 0x34, 0x56, 0x78, 0 }), 9);
	rds_ext_parse(EXACT(area, sizeof(area)), &e);
	EQ(e.has, 1 << 5 | 1 << 6);
	EQ(e.paths, 8);
	EQ(e.generation, 0x12345678);
	/* 7 bytes are left, and 1 is the type's */
	EQ(rds_ext_add(area, &used, RDS_EXT_RDMA_DEST, 1), -ENOSPC);
	EQ(rds_ext_add(area, &used, RDS_EXT_RDMA_DONE, 0x300), 0);
	EQ(rds_ext_add(area, &used, RDS_EXT_RDMA_DONE, 0x300), -ENOSPC);
	EQ(rds_ext_add(area, &used, 9, 0), -ENOSPC);
	rds_ext_parse(EXACT(area, sizeof(area)), &e);
	EQ(e.done_key, 0x300);
	memset(area, 0, sizeof(area));
	used = 0;
	EQ(rds_ext_add(area, &used, RDS_EXT_RDMA_DEST, 0x300ULL << 32 | 0x64), 0);
	rds_ext_parse(area, &e);
	EQ(e.dest_key, 0x300);
	EQ(e.dest_offset, 0x64);
}

/* A type that nobody knows has a length that nobody knows: what is behind is not read as types. */
static void extensions_of_strangers(void)
{
	unsigned char area[RDS_EXT_LEN];
	struct rds_ext e;
	unsigned int type, at;

	for (type = 0; type < 256; type++) {
		NOTE("type %u", type);
		memset(area, RDS_EXT_PATHS, sizeof(area));
		area[0] = type;
		rds_ext_parse(EXACT(area, sizeof(area)), &e);
		if (!rds_ext_data_len(type))
			EQ(e.has, 0);
	}
	/* data that would reach beyond the area */
	for (at = RDS_EXT_LEN - 8; at < RDS_EXT_LEN; at++) {
		memset(area, 0, sizeof(area));
		for (type = 0; type + 3 <= at; type += 3)
			area[type] = RDS_EXT_PATHS;
		area[type] = RDS_EXT_RDMA_DEST;
		rds_ext_parse(EXACT(area, sizeof(area)), &e);
		EQ(!!(e.has & 1 << RDS_EXT_RDMA_DEST), type + 9 <= RDS_EXT_LEN);
	}
}

int main(void)
{
	RUN(packed, "rds: headers of the specification, packed");
	RUN(parsed, "rds: the same parsed; fewer bytes are refused unread");
	RUN(lengths, "rds: a message of more than 1 MiB is refused");
	RUN(maps, "rds: flags 1 alone is a congestion map");
	RUN(checksums, "rds: each bit counts in the checksum; 0 is none");
	RUN(extensions, "rds: extensions, several in a header");
	RUN(extensions_of_strangers, "rds: an unknown extension ends the list, one that does not fit is skipped");
	return tap_end();
}
