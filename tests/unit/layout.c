// SPDX-License-Identifier: GPL-2.0
/* Offset and size of every field on the wire, and every constant, against the numbers of the specification. */
#include <rtrs/proto.h>
#include <rnbd/proto.h>
#include "tap.h"

struct field {
	const char *name;
	size_t offset, size, want_offset, want_size;
};

#define F(type, member, off, len)	\
	{ #type "." #member, offsetof(struct type, member), sizeof(((struct type *)0)->member), off, len }

static void fields(const struct field *f, size_t count, size_t size, size_t want_size)
{
	size_t i, end = 0;

	for (i = 0; i < count; i++) {
		NOTE("%s", f[i].name);
		EQ(f[i].offset, f[i].want_offset);
		EQ(f[i].size, f[i].want_size);
		/* Nothing between the fields: what is not named here would go out unset. */
		EQ(f[i].want_offset, end);
		end = f[i].want_offset + f[i].want_size;
	}
	NOTE("size");
	EQ(size, want_size);
	EQ(end, want_size);
}

#define FIELDS(type, size, ...) do {						\
	static const struct field f_[] = { __VA_ARGS__ };			\
	fields(f_, sizeof(f_) / sizeof(f_[0]), sizeof(struct type), size);	\
} while (0)

static void conn_req(void)
{
	FIELDS(rtrs_msg_conn_req, 56,
	       F(rtrs_msg_conn_req, cma_version, 0, 1),
	       F(rtrs_msg_conn_req, ip_version, 1, 1),
	       F(rtrs_msg_conn_req, magic, 2, 2),
	       F(rtrs_msg_conn_req, version, 4, 2),
	       F(rtrs_msg_conn_req, cid, 6, 2),
	       F(rtrs_msg_conn_req, cid_num, 8, 2),
	       F(rtrs_msg_conn_req, recon_cnt, 10, 2),
	       F(rtrs_msg_conn_req, sess_uuid, 12, 16),
	       F(rtrs_msg_conn_req, paths_uuid, 28, 16),
	       F(rtrs_msg_conn_req, first_conn, 44, 1),
	       F(rtrs_msg_conn_req, founding, 45, 4),
	       F(rtrs_msg_conn_req, reserved, 49, 6),
	       F(rtrs_msg_conn_req, flags, 55, 1));
}

static void conn_rsp(void)
{
	FIELDS(rtrs_msg_conn_rsp, 56,
	       F(rtrs_msg_conn_rsp, magic, 0, 2),
	       F(rtrs_msg_conn_rsp, version, 2, 2),
	       F(rtrs_msg_conn_rsp, errno_, 4, 2),
	       F(rtrs_msg_conn_rsp, queue_depth, 6, 2),
	       F(rtrs_msg_conn_rsp, max_io_size, 8, 4),
	       F(rtrs_msg_conn_rsp, max_hdr_size, 12, 4),
	       F(rtrs_msg_conn_rsp, flags, 16, 4),
	       F(rtrs_msg_conn_rsp, eager_bytes, 20, 4),
	       F(rtrs_msg_conn_rsp, reserved, 24, 32));
}

static void info(void)
{
	FIELDS(rtrs_msg_info_req, 272,
	       F(rtrs_msg_info_req, type, 0, 2),
	       F(rtrs_msg_info_req, name, 2, 255),
	       F(rtrs_msg_info_req, slots, 257, 2),
	       F(rtrs_msg_info_req, reserved, 259, 13));
	FIELDS(rtrs_msg_info_rsp, 8,
	       F(rtrs_msg_info_rsp, type, 0, 2),
	       F(rtrs_msg_info_rsp, sg_cnt, 2, 2),
	       F(rtrs_msg_info_rsp, slots, 4, 4));
	EQ(offsetof(struct rtrs_msg_info_rsp, desc[0].addr), 8);
	EQ(offsetof(struct rtrs_msg_info_rsp, desc[0].rkey), 16);
	EQ(offsetof(struct rtrs_msg_info_rsp, desc[0].len), 20);
	EQ(offsetof(struct rtrs_msg_info_rsp, desc[511].addr), 8 + 16 * 511);
	EQ(rtrs_info_rsp_size(0), 8);
	EQ(rtrs_info_rsp_size(1), 24);
	EQ(rtrs_info_rsp_size(512), 8200);
	EQ(rtrs_info_rsp_size(65535), 8 + 16 * 65535);
}

static void requests(void)
{
	FIELDS(rtrs_msg_desc, 16,
	       F(rtrs_msg_desc, addr, 0, 8),
	       F(rtrs_msg_desc, rkey, 8, 4),
	       F(rtrs_msg_desc, len, 12, 4));
	FIELDS(rtrs_msg_write, 4,
	       F(rtrs_msg_write, type, 0, 2),
	       F(rtrs_msg_write, usr_len, 2, 2));
	FIELDS(rtrs_msg_read, 8,
	       F(rtrs_msg_read, type, 0, 2),
	       F(rtrs_msg_read, usr_len, 2, 2),
	       F(rtrs_msg_read, flags, 4, 2),
	       F(rtrs_msg_read, sg_cnt, 6, 2));
	EQ(offsetof(struct rtrs_msg_read, desc[0]), 8);
	FIELDS(rtrs_msg_rkey_rsp, 8,
	       F(rtrs_msg_rkey_rsp, type, 0, 2),
	       F(rtrs_msg_rkey_rsp, buf_id, 2, 2),
	       F(rtrs_msg_rkey_rsp, rkey, 4, 4));
	EQ(RTRS_READ_HDR_MAX, 24);
}

static void rtrs_numbers(void)
{
	EQ(RTRS_MAGIC, 0x1bbd);
	EQ(RTRS_VERSION, 0x0200);
	EQ(RTRS_DEFAULT_PORT, 1234);
	EQ(RTRS_IB_SERVICE_ID, 0x13f0000);
	EQ(RTRS_CONS_MAX, 4096);
	EQ(RTRS_QUEUE_DEPTH_MAX, 65535);
	EQ(RTRS_MIN_CHUNK_SIZE, 8192);
	EQ(RTRS_SERVICE_DEPTH, 512);
	EQ(RTRS_HB_INTERVAL_MS, 5000);
	EQ(RTRS_HB_MISSED_MAX, 5);
	EQ(RTRS_CONN_RSP_NEW_RKEY, 2);
	EQ(RTRS_READ_NEED_INVAL, 1);
	EQ(RTRS_MSG_INFO_REQ, 0);
	EQ(RTRS_MSG_INFO_RSP, 1);
	EQ(RTRS_MSG_WRITE, 2);
	EQ(RTRS_MSG_READ, 3);
	EQ(RTRS_MSG_RKEY_RSP, 4);
	EQ(RTRS_IMM_IO_REQ, 0);
	EQ(RTRS_IMM_IO_RSP, 1);
	EQ(RTRS_IMM_IO_RSP_W_INV, 2);
	EQ(RTRS_IMM_HB, 8);
	EQ(RTRS_IMM_HB_ACK, 9);
	EQ(RTRS_IMM_NOTICE, 10);
}

static void rnbd_control(void)
{
	FIELDS(rnbd_msg_hdr, 4,
	       F(rnbd_msg_hdr, type, 0, 2),
	       F(rnbd_msg_hdr, padding, 2, 2));
	FIELDS(rnbd_msg_sess_info, 36,
	       F(rnbd_msg_sess_info, hdr, 0, 4),
	       F(rnbd_msg_sess_info, version, 4, 1),
	       F(rnbd_msg_sess_info, minor, 5, 1),
	       F(rnbd_msg_sess_info, mark, 6, 4),
	       F(rnbd_msg_sess_info, reserved, 10, 26));
	FIELDS(rnbd_msg_open, 264,
	       F(rnbd_msg_open, hdr, 0, 4),
	       F(rnbd_msg_open, access_mode, 4, 1),
	       F(rnbd_msg_open, reserved1, 5, 1),
	       F(rnbd_msg_open, path, 6, 255),
	       F(rnbd_msg_open, flags, 261, 1),
	       F(rnbd_msg_open, reserved, 262, 2));
	FIELDS(rnbd_msg_open_claim, 24,
	       F(rnbd_msg_open_claim, start, 0, 4),
	       F(rnbd_msg_open_claim, writers, 4, 4),
	       F(rnbd_msg_open_claim, identity, 8, 16));
	FIELDS(rnbd_msg_close, 8,
	       F(rnbd_msg_close, hdr, 0, 4),
	       F(rnbd_msg_close, device_id, 4, 4));
}

static void rnbd_open_rsp(void)
{
	FIELDS(rnbd_msg_open_rsp, 56,
	       F(rnbd_msg_open_rsp, hdr, 0, 4),
	       F(rnbd_msg_open_rsp, device_id, 4, 4),
	       F(rnbd_msg_open_rsp, nsectors, 8, 8),
	       F(rnbd_msg_open_rsp, max_hw_sectors, 16, 4),
	       F(rnbd_msg_open_rsp, max_write_zeroes_sectors, 20, 4),
	       F(rnbd_msg_open_rsp, max_discard_sectors, 24, 4),
	       F(rnbd_msg_open_rsp, discard_granularity, 28, 4),
	       F(rnbd_msg_open_rsp, discard_alignment, 32, 4),
	       F(rnbd_msg_open_rsp, physical_block_size, 36, 2),
	       F(rnbd_msg_open_rsp, logical_block_size, 38, 2),
	       F(rnbd_msg_open_rsp, max_segments, 40, 2),
	       F(rnbd_msg_open_rsp, secure_discard, 42, 2),
	       F(rnbd_msg_open_rsp, rotational, 44, 1),
	       F(rnbd_msg_open_rsp, cache_policy, 45, 1),
	       F(rnbd_msg_open_rsp, io_mode, 46, 1),
	       F(rnbd_msg_open_rsp, reserved, 47, 1),
	       F(rnbd_msg_open_rsp, start, 48, 4),
	       F(rnbd_msg_open_rsp, writers, 52, 4));
	FIELDS(rnbd_msg_open_rsp_more, 32,
	       F(rnbd_msg_open_rsp_more, identity, 0, 16),
	       F(rnbd_msg_open_rsp_more, boot, 16, 4),
	       F(rnbd_msg_open_rsp_more, diskseq, 20, 4),
	       F(rnbd_msg_open_rsp_more, access_mode, 24, 1),
	       F(rnbd_msg_open_rsp_more, flags, 25, 1),
	       F(rnbd_msg_open_rsp_more, io_min_sectors, 26, 2),
	       F(rnbd_msg_open_rsp_more, io_opt, 28, 4));
}

static void rnbd_io(void)
{
	FIELDS(rnbd_msg_io, 32,
	       F(rnbd_msg_io, hdr, 0, 4),
	       F(rnbd_msg_io, device_id, 4, 4),
	       F(rnbd_msg_io, sector, 8, 8),
	       F(rnbd_msg_io, rw, 16, 4),
	       F(rnbd_msg_io, bi_size, 20, 4),
	       F(rnbd_msg_io, prio, 24, 2),
	       F(rnbd_msg_io, padding, 26, 6));
}

static void rnbd_numbers(void)
{
	EQ(RNBD_VERSION_MAJOR, 2);
	EQ(RNBD_MSG_SESS_INFO, 0);
	EQ(RNBD_MSG_SESS_INFO_RSP, 1);
	EQ(RNBD_MSG_OPEN, 2);
	EQ(RNBD_MSG_OPEN_RSP, 3);
	EQ(RNBD_MSG_IO, 4);
	EQ(RNBD_MSG_CLOSE, 5);
	EQ(RNBD_OP_READ, 0);
	EQ(RNBD_OP_WRITE, 1);
	EQ(RNBD_OP_FLUSH, 2);
	EQ(RNBD_OP_DISCARD, 3);
	EQ(RNBD_OP_SECURE_ERASE, 4);
	EQ(RNBD_OP_WRITE_ZEROES, 5);
	EQ(RNBD_OP_COUNT, 6);
	EQ(RNBD_OP_MASK, 0xff);
	EQ(RNBD_F_SYNC, 0x100);
	EQ(RNBD_F_FUA, 0x200);
	EQ(RNBD_F_PREFLUSH, 0x400);
	EQ(RNBD_F_NOUNMAP, 0x800);
	EQ(RNBD_F_ALL, 0xf00);
	EQ(RNBD_CACHE_FUA, 1);
	EQ(RNBD_CACHE_WRITEBACK, 2);
	EQ(RNBD_WIRE_ACCESS_MAX, 2);
	EQ(RNBD_SECTOR_SHIFT, 9);
	CHECK(RNBD_FLUSH_SECTOR == 0xffffffffffffffffULL);
}

/* Odd address: every byte goes to its place and comes back. */
static void accessors(void)
{
	static const __u8 le[] = { 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff };
	const __u8 *p = EXACT(le, sizeof(le));
	__u8 *q = EXACT(NULL, sizeof(le));

	EQ(rtrs_get_le16(p), 0x9988);
	EQ(rtrs_get_le32(p), 0xbbaa9988);
	CHECK(rtrs_get_le64(p) == 0xffeeddccbbaa9988ULL);
	EQ(rnbd_get_le16(p), 0x9988);
	EQ(rnbd_get_le32(p), 0xbbaa9988);
	CHECK(rnbd_get_le64(p) == 0xffeeddccbbaa9988ULL);
	rtrs_put_le64(q, 0xffeeddccbbaa9988ULL);
	MEM(q, le, 8);
	rnbd_put_le64(q, 0);
	rnbd_put_le64(q, 0xffeeddccbbaa9988ULL);
	MEM(q, le, 8);
	rtrs_put_le32(q + 4, 0xbbaa9988);
	MEM(q, le, 4);
	MEM(q + 4, le, 4);
	rnbd_put_le32(q, 0xffeeddcc);
	MEM(q, le + 4, 4);
	rtrs_put_le16(q, 0x9988);
	rnbd_put_le16(q + 2, 0xbbaa);
	MEM(q, le, 4);
}

int main(void)
{
	RUN(conn_req, "layout: connect request, 56 bytes");
	RUN(conn_rsp, "layout: accept and reject, 56 bytes");
	RUN(info, "layout: INFO_REQ, INFO_RSP");
	RUN(requests, "layout: WRITE, READ, RKEY_RSP");
	RUN(rtrs_numbers, "numbers of the RTRS protocol");
	RUN(rnbd_control, "layout: SESS_INFO, OPEN, CLOSE");
	RUN(rnbd_open_rsp, "layout: OPEN_RSP, 56 bytes");
	RUN(rnbd_io, "layout: IO, 32 bytes");
	RUN(rnbd_numbers, "numbers of the RNBD protocol");
	RUN(accessors, "little-endian accessors");
	return tap_end();
}
