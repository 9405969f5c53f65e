// SPDX-License-Identifier: GPL-2.0
/* RDS over RDMA: private data, versions, fragments. */
#include <rds/rdma-proto.h>
#include "tap.h"

static const unsigned char v4[RDS_PRIV_LEN4] = {
	0x0a, 0x08, 0, 1, 0x0a, 0x08, 0, 2, 3, 1, 0, 3
};

static struct rds_priv captured(void)
{
	struct rds_priv d = { .version = RDS_VERSION_3_1, .minors = RDS_MINORS };

	memcpy(d.saddr + 10, "\xff\xff\x0a\x08\0\1", 6);
	memcpy(d.daddr + 10, "\xff\xff\x0a\x08\0\2", 6);
	return d;
}

static void same(const struct rds_priv *got, const struct rds_priv *want)
{
	MEM(got->saddr, want->saddr, 16);
	MEM(got->daddr, want->daddr, 16);
	EQ(got->version, want->version);
	EQ(got->minors, want->minors);
	EQ(got->tos, want->tos);
	EQ(got->able, want->able);
	EQ(got->ack, want->ack);
	EQ(got->credit, want->credit);
}

static void private_data(void)
{
	struct rds_priv d = captured(), got;
	unsigned char bytes[RDS_PRIV_LEN6];
	unsigned int i;

	memset(bytes, 0xa5, sizeof(bytes));
	EQ(rds_priv_pack(bytes, 0, &d), RDS_PRIV_LEN4);
	MEM(bytes, v4, sizeof(v4));
	EQ(rds_priv_parse(EXACT(v4, sizeof(v4)), sizeof(v4), 0, &got), 0);
	same(&got, &d);
	for (i = 0; i < RDS_PRIV_LEN4; i++)
		EQ(rds_priv_parse(EXACT(v4, i), i, 0, &got), -EINVAL);
	for (i = 0; i < RDS_PRIV_LEN6; i++)
		EQ(rds_priv_parse(EXACT(bytes, i), i, 1, &got), -EINVAL);
}

static void all_fields(void)
{
	struct rds_priv d = {
		.saddr = { 0xfd, 1, [15] = 1 }, .daddr = { 0xfd, 2, [15] = 2 }, .version = RDS_VERSION_4_1,
		.minors = 0x8002, .tos = 5, .able = 0x81, .ack = 0x0102030405060708, .credit = 0x11121314,
	}, got;
	static const unsigned char want[] = {
		4, 1, 0x80, 2, 5, 0x81, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13, 0x14, 0, 0, 0, 0
	};
	unsigned char bytes[RDS_PRIV_LEN6];

	memset(bytes, 0xa5, sizeof(bytes));
	EQ(rds_priv_pack(bytes, 1, &d), RDS_PRIV_LEN6);
	MEM(bytes, d.saddr, 16);
	MEM(bytes + 16, d.daddr, 16);
	MEM(bytes + 32, want, sizeof(want));
	EQ(rds_priv_parse(EXACT(bytes, sizeof(bytes)), sizeof(bytes), 1, &got), 0);
	same(&got, &d);
}

static void versions(void)
{
	static const struct {
		unsigned int version, minors, answer, agreed;
	} v[] = {
		{ 0x0000, 0, 0, 0x401 }, { 0x0000, 3, 0, 0x401 }, { 0x0001, 3, 0, 0x401 },
		{ 0x0300, 3, 0, 0 }, { 0x0301, 3, 0x301, 0x301 }, { 0x0301, 0, 0x301, 0x301 }, { 0x0302, 3, 0, 0x302 },
		{ 0x0400, 1, 0x400, 0x400 }, { 0x0400, 3, 0x401, 0x400 }, { 0x0401, 2, 0x401, 0x401 },
		{ 0x0401, 4, 0, 0x401 }, { 0x0500, 3, 0, 0x500 }, { 0x0201, 3, 0, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct rds_priv d = { .version = v[i].version, .minors = v[i].minors };

		NOTE("version %x minors %x", v[i].version, v[i].minors);
		EQ(rds_version_answer(&d), v[i].answer);
		EQ(rds_version_agreed(&d), v[i].agreed);
	}
}

static void frames(void)
{
	struct rds_hdr h = { .ack = 7 }, got;
	unsigned char bytes[RDS_HDR_LEN];

	rds_hdr_pack(bytes, &h, 1);
	EQ(rds_frame_parse(EXACT(bytes, sizeof(bytes)), sizeof(bytes), &got), 0);
	CHECK(rds_frame_is_ack(&got));
	bytes[15] ^= 1;
	EQ(rds_frame_parse(bytes, sizeof(bytes), &got), -EBADMSG);
	EQ(rds_frame_parse(bytes, sizeof(bytes) - 1, &got), -EINVAL);
	rds_hdr_pack(bytes, &h, 0);
	EQ(rds_frame_parse(bytes, sizeof(bytes), &got), 0);
	h.len = RDS_MSG_MAX + 1;
	rds_hdr_pack(bytes, &h, 1);
	EQ(rds_frame_parse(bytes, sizeof(bytes), &got), -EMSGSIZE);
	h = (struct rds_hdr){ .flags = RDS_HDR_MAP };
	CHECK(!rds_frame_is_ack(&h));
	h = (struct rds_hdr){ .sport = 1 };
	CHECK(!rds_frame_is_ack(&h));
	h = (struct rds_hdr){ .dport = 1 };
	CHECK(!rds_frame_is_ack(&h));
	h = (struct rds_hdr){ .len = 1 };
	CHECK(!rds_frame_is_ack(&h));
}

static void fragments(void)
{
	const struct rds_hdr first = { .seq = 22, .len = 10000, .sport = 4000, .dport = 5000, .ack = 1 };
	struct rds_hdr h = first;

	EQ(rds_frag_take(&first, 0, &h, 4096), 4096);
	EQ(rds_frag_take(&first, 4096, &h, 4096), 4096);
	EQ(rds_frag_take(&first, 8192, &h, 1808), 1808);
	EQ(rds_frag_take(&first, 8192, &h, 4096), 1808);
	EQ(rds_frag_take(&first, 0, &h, 4095), -EPROTO);
	EQ(rds_frag_take(&first, 8192, &h, 1807), -EPROTO);
	h.ack = 2;
	h.credit = 9;
	EQ(rds_frag_take(&first, 4096, &h, 4096), 4096);
	h.seq++;
	EQ(rds_frag_take(&first, 4096, &h, 4096), -EPROTO);
	h = first;
	h.len++;
	EQ(rds_frag_take(&first, 4096, &h, 4096), -EPROTO);
	h = first;
	h.sport++;
	EQ(rds_frag_take(&first, 4096, &h, 4096), -EPROTO);
	h = first;
	h.dport++;
	EQ(rds_frag_take(&first, 4096, &h, 4096), -EPROTO);
	h = (struct rds_hdr){ .seq = 1 };
	EQ(rds_frag_take(&h, 0, &h, 0), 0);
}

int main(void)
{
	RUN(private_data, "rds over RDMA: private data as captured; fewer bytes are refused unread");
	RUN(all_fields, "rds over RDMA: each field of the private data, IPv6");
	RUN(versions, "rds over RDMA: which version is answered, which agreed");
	RUN(frames, "rds over RDMA: a frame needs a whole header and its checksum; an acknowledgment alone");
	RUN(fragments, "rds over RDMA: a fragment of another message, or too short, is refused");
	return tap_end();
}
