// SPDX-License-Identifier: GPL-2.0
/* Requests of the transport: immediates, headers, keys, what is sent beside them. */
#include "peer.h"

static struct rnbd_msg_sess_info sess_info;

/* A SESS_INFO that would be answered, for those who break one thing in it */
static struct request proper_request(void)
{
	rnbd_sess_info_pack(&sess_info, RNBD_MSG_SESS_INFO, 2);
	return (struct request){
		.cid = 1,
		.read = true,
		.usr = &sess_info,
		.usr_len = sizeof(sess_info),
		.data_len = sizeof(sess_info),
		.sg_cnt = -1,
	};
}

/* Sends a header of @len bytes at @off; the path must be closed for it. */
static int closes(uint32_t off, const void *hdr, uint32_t len)
{
	struct path p;

	WANT(path_up(&p, 2), 0);
	header_send(&p, 3, off, hdr, len);
	WANT(path_wait_closed(&p), true);
	WANT(p.answered[3], SILENT);
	path_down(&p);
	return 0;
}

/* Same, @off counted back from the end of the chunk */
static int closes_at_end(uint32_t back, const void *hdr, uint32_t len)
{
	struct path p;

	WANT(path_up(&p, 2), 0);
	header_send(&p, 3, p.geo.chunk_size - back, hdr, len);
	WANT(path_wait_closed(&p), true);
	path_down(&p);
	return 0;
}

static int imm_range(void)
{
	unsigned int i;
	struct path p;

	for (i = 0; i < 4; i++) {
		WANT(path_up(&p, 2), 0);
		switch (i) {
		case 0:	/* everything set */
			con_imm(&p.con[1], RTRS_IMM_PAYLOAD_MASK);
			break;
		case 1:	/* the first slot that is none; qd is a power of two: reads as slot 0 */
			con_imm(&p.con[1], rtrs_imm_io_req(&p.geo, p.geo.queue_depth - 1,
							   p.geo.chunk_size));
			break;
		case 2:
			con_imm(&p.con[1], rtrs_imm_io_req(&p.geo, 0, p.geo.chunk_size));
			break;
		case 3:
			con_imm(&p.con[0], rtrs_imm_io_req(&p.geo, 0, p.geo.chunk_size + 1));
			break;
		}
		WANT_FOR(path_wait_closed(&p), true, "case %u", i);
		path_down(&p);
	}
	return 0;
}

/* A header that ends behind its chunk */
static int chunk_end(void)
{
	struct rtrs_msg_read *m = (struct rtrs_msg_read *)(uint8_t[RTRS_READ_HDR_MAX]){ 0 };

	rtrs_put_le16(&m->type, RTRS_MSG_READ);
	rtrs_put_le16(&m->usr_len, 36);
	WANT(closes_at_end(1, m, 1), 0);
	WANT(closes_at_end(2, m, 2), 0);
	WANT(closes_at_end(3, m, 3), 0);
	WANT(closes_at_end(4, m, 4), 0);
	WANT(closes_at_end(7, m, 7), 0);
	rtrs_put_le16(&m->sg_cnt, 1);
	WANT(closes_at_end(8, m, 8), 0);
	WANT(closes_at_end(sizeof(*m) + 15, m, sizeof(*m) + 15), 0);
	return 0;
}

/* A header that just fits at the end is read; its message says nothing. */
static int last_place(void)
{
	struct rtrs_msg_write w;
	struct path p;

	WANT(path_up(&p, 2), 0);
	rtrs_write_hdr_pack(&w, 0);
	header_send(&p, 0, p.geo.chunk_size - sizeof(w), &w, sizeof(w));
	WANT(request_wait(&p, &(struct request){ .cid = 1 }, 10), EINVAL);
	WANT(path_works(&p), 0);
	path_down(&p);
	return 0;
}

static int usr_len(void)
{
	struct rtrs_msg_write w;
	struct rtrs_msg_read r;

	rtrs_write_hdr_pack(&w, 1);
	WANT(closes(0, &w, sizeof(w)), 0);
	rtrs_write_hdr_pack(&w, 101);
	WANT(closes(100, &w, sizeof(w)), 0);
	rtrs_write_hdr_pack(&w, 0xffff);
	WANT(closes(0xfffe, &w, sizeof(w)), 0);
	rtrs_read_hdr_pack(&r, 0xffff, NULL, false);
	WANT(closes(0, &r, sizeof(r)), 0);
	return 0;
}

static int header_types(void)
{
	static const uint16_t wrong[] = { 0, 1, 4, 5, 0x0200, 0xffff };
	struct rtrs_msg_write w;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		rtrs_write_hdr_pack(&w, 0);
		rtrs_put_le16(&w.type, wrong[i]);
		WANT_FOR(closes(64, &w, sizeof(w)), 0, "type %u", wrong[i]);
	}
	return 0;
}

static int descriptors(void)
{
	uint8_t buf[RTRS_READ_HDR_MAX + sizeof(struct rtrs_msg_desc)] = { 0 };
	struct rtrs_msg_read *m = (struct rtrs_msg_read *)buf;
	struct rtrs_desc d = {
		.addr = (uintptr_t)peer_result(),
		.rkey = peer_rkey(),
		.len = 36,
	};

	rtrs_read_hdr_pack(m, 36, &d, false);
	rtrs_put_le16(&m->sg_cnt, 2);
	WANT(closes(72, buf, sizeof(buf)), 0);
	rtrs_put_le16(&m->sg_cnt, 0xffff);
	WANT(closes(72, buf, sizeof(buf)), 0);
	rtrs_put_le16(&m->sg_cnt, 1);
	rtrs_put_le32(&m->desc[0].len, 37);	/* more than there is room for */
	WANT(closes(72, buf, RTRS_READ_HDR_MAX), 0);
	rtrs_put_le32(&m->desc[0].len, 0xffffffff);
	WANT(closes(72, buf, RTRS_READ_HDR_MAX), 0);
	rtrs_put_le32(&m->desc[0].len, 0);
	WANT(closes(72, buf, RTRS_READ_HDR_MAX), 0);
	return 0;
}

/* A result that the server cannot write where it is told to */
static int bad_target(void)
{
	struct request r = proper_request();
	struct rtrs_msg_read *m;
	struct path p;

	WANT(path_up(&p, 2), 0);
	memcpy(peer_tx(), &sess_info, sizeof(sess_info));
	m = (struct rtrs_msg_read *)(peer_tx() + sizeof(sess_info));
	rtrs_read_hdr_pack(m, r.usr_len, &(struct rtrs_desc){ 0xdead0000, 0x12345678, 36 }, false);
	con_write_imm(&p.con[1], p.chunk[0].addr + 36, p.chunk[0].rkey, 36 + RTRS_READ_HDR_MAX,
		      rtrs_imm_io_req(&p.geo, 0, 72));
	WANT(path_wait_closed(&p), true);
	path_down(&p);
	return 0;
}

/* Writes to where there is no chunk of ours */
static int bad_chunk(void)
{
	struct path p;

	WANT(path_up(&p, 2), 0);
	con_write(&p.con[1], p.chunk[0].addr - 4096, p.chunk[0].rkey, 64);
	WANT(path_wait_closed(&p), true);
	path_down(&p);
	WANT(path_up(&p, 2), 0);
	con_write(&p.con[1], p.chunk[0].addr, p.chunk[0].rkey ^ 0x5500, 64);
	WANT(path_wait_closed(&p), true);
	path_down(&p);
	return 0;
}

/* With always_invalidate a key serves once: then it opens nothing. */
static int old_key(void)
{
	struct request r = proper_request();
	uint32_t old;
	struct path p;

	WANT(path_up(&p, 2), 0);
	if (p.flags & RTRS_CONN_RSP_NEW_RKEY) {
		old = p.chunk[0].rkey;
		WANT(request(&p, &r), 0);
		if (p.chunk[0].rkey == old) {
			printf("the key of the chunk did not change\n");
			return 1;
		}
		con_write(&p.con[1], p.chunk[0].addr, old, 64);
		WANT(path_wait_closed(&p), true);
	}
	path_down(&p);
	return 0;
}

/* The disk takes a second for each request: two on one slot are two at once. */
static int slot_twice(void)
{
	struct rnbd_msg_open open;
	struct rnbd_msg_io io;
	struct request r = {
		.cid = 1, .read = true, .usr = &open, .usr_len = sizeof(open),
		.data_len = sizeof(struct rnbd_msg_open_rsp), .sg_cnt = -1,
	};
	struct rnbd_io what = { .op = RNBD_OP_READ, .bytes = 4096, .flags = RNBD_F_SYNC };
	struct path p;

	WANT(path_up(&p, 2), 0);
	rnbd_open_pack(&open, slow_disk, 0);
	WANT(request(&p, &r), 0);
	what.device_id = rnbd_get_le32(peer_result() + 4);
	rnbd_io_pack(&io, &what);
	r = (struct request){
		.cid = 1, .slot = 5, .read = true, .usr = &io, .usr_len = sizeof(io),
		.data_len = 4096, .sg_cnt = -1,
	};
	request_send(&p, &r);
	if (p.flags & RTRS_CONN_RSP_NEW_RKEY)	/* its key is gone: the immediate alone will do */
		con_imm(&p.con[1], rtrs_imm_io_req(&p.geo, 5, 4096 + sizeof(io)));
	else
		request_send(&p, &r);
	WANT(path_wait_closed(&p), true);
	path_down(&p);
	return 0;
}

/* Empty SENDs take a receive each: they must not run out. */
static int empty_sends(void)
{
	unsigned int cid, i;
	struct path p;

	for (cid = 0; cid < 2; cid++) {
		WANT(path_up(&p, 2), 0);
		for (i = 0; i < 2 * p.geo.queue_depth + 2; i++)
			if (con_send(&p.con[cid], 0))
				break;
		if (i == 2 * p.geo.queue_depth + 2)
			WANT_FOR(path_works(&p), 0, "connection %u", cid);
		else
			WANT_FOR(path_wait_closed(&p), true, "connection %u", cid);
		path_down(&p);
	}
	return 0;
}

static int sends_with_data(void)
{
	unsigned int cid;
	struct path p;

	for (cid = 0; cid < 2; cid++) {
		WANT(path_up(&p, 2), 0);
		con_send(&p.con[cid], 8);
		WANT_FOR(path_wait_closed(&p), true, "connection %u", cid);
		path_down(&p);
	}
	return 0;
}

/* Types that mean nothing are ignored, and their receives come back. */
static int unknown_imm(void)
{
	static const uint8_t types[] = { 1, 2, 3, 4, 7, 10, 15 };
	unsigned int i, k;
	struct path p;

	WANT(path_up(&p, 2), 0);
	for (i = 0; i < p.geo.queue_depth / 4; i++)
		for (k = 0; k < sizeof(types); k++)
			con_imm(&p.con[i & 1], (uint32_t)types[k] << 28 | i);
	WANT(path_works(&p), 0);
	path_down(&p);
	return 0;
}

static int heartbeats(void)
{
	unsigned int i;
	struct path p;

	WANT(path_up(&p, 2), 0);
	for (i = 0; i < 200; i++) {
		con_imm(&p.con[0], rtrs_imm_pack(RTRS_IMM_HB, 0));
		con_imm(&p.con[0], rtrs_imm_pack(RTRS_IMM_HB_ACK, 0));
	}
	WANT(path_works(&p), 0);
	WANT(p.con[0].imm_count >= 200 + 1, true);
	/* On another connection they are out of place: closed or ignored, both will do. */
	con_imm(&p.con[1], rtrs_imm_pack(RTRS_IMM_HB, 0));
	con_imm(&p.con[1], rtrs_imm_pack(RTRS_IMM_HB_ACK, 0));
	if (!con_wait_dead(&p.con[1], 0.5))
		WANT(path_works(&p), 0);
	path_down(&p);
	return 0;
}

/* Longer than any message that the server takes */
static int long_message(void)
{
	static const uint32_t lens[] = { 513, 1000, 4000, 60000 };
	static uint8_t usr[65536];
	struct request r = { .cid = 1, .usr = usr };
	struct path p;
	size_t i;

	WANT(path_up(&p, 2), 0);
	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		r.usr_len = lens[i];
		WANT_FOR(request(&p, &r), EMSGSIZE, "%u bytes", lens[i]);
	}
	WANT(path_works(&p), 0);
	path_down(&p);
	return 0;
}

/* Every slot, on both connections, more than once */
static int all_slots(void)
{
	struct request r = proper_request();
	struct path p;
	unsigned int i;

	WANT(path_up(&p, 2), 0);
	for (i = 0; i < 3 * p.geo.queue_depth; i++) {
		r.slot = i % p.geo.queue_depth;
		r.cid = i & 1;
		WANT_FOR(request(&p, &r), 0, "slot %u", r.slot);
	}
	path_down(&p);
	return 0;
}

/* With a key of another session, which is easily guessed: nothing is written. */
static int others_chunk(void)
{
	struct path p, other;
	unsigned int sends;

	WANT(path_up(&p, 2), 0);
	WANT(path_up(&other, 2), 0);
	WANT(con_write(&p.con[1], p.chunk[0].addr, p.chunk[0].rkey, 512), IBV_WC_SUCCESS);
	sends = p.con[1].sends;
	con_write(&p.con[1], other.chunk[0].addr, other.chunk[0].rkey, 512);
	/* The event that the connection is gone may overtake the completion that says why. */
	WANT(con_wait_sends(&p.con[1], sends + 1, 10), true);
	WANT(p.con[1].send_status, IBV_WC_REM_ACCESS_ERR);
	WANT(path_wait_closed(&p), true);
	WANT(path_works(&other), 0);
	path_down(&p);
	path_down(&other);
	return 0;
}

const struct test request_tests[] = {
	{ "request-others-chunk", others_chunk },
	{ "request-imm-range", imm_range },
	{ "request-chunk-end", chunk_end },
	{ "request-last-place", last_place },
	{ "request-usr-len", usr_len },
	{ "request-header-types", header_types },
	{ "request-descriptors", descriptors },
	{ "request-bad-target", bad_target },
	{ "request-bad-chunk", bad_chunk },
	{ "request-old-key", old_key },
	{ "request-slot-twice", slot_twice },
	{ "request-empty-sends", empty_sends },
	{ "request-sends-with-data", sends_with_data },
	{ "request-unknown-imm", unknown_imm },
	{ "request-heartbeats", heartbeats },
	{ "request-long-message", long_message },
	{ "request-all-slots", all_slots },
	{ NULL, NULL },
};
