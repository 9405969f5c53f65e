// SPDX-License-Identifier: GPL-2.0
/* Grants: slots that a client may use, and asks for. The server has 64. */
#include "device.h"

#define FIRST	16

static struct rnbd_msg_sess_info sess_info;

static int use(struct path *p, uint32_t slot)
{
	const struct request r = {
		.cid = 1, .slot = slot, .read = true, .usr = &sess_info, .usr_len = sizeof(sess_info),
		.data_len = sizeof(sess_info), .sg_cnt = -1,
	};

	rnbd_sess_info_pack(&sess_info, RNBD_MSG_SESS_INFO, 2);
	return request(p, &r);
}

static void slots_init(struct path *p)
{
	path_init(p, 2);
	p->req.lean = true;
	p->req.eager = true;
	p->req.grants = true;
}

/* With what it says that it needs at once; the number that it gets */
static int slots_up(struct path *p, uint16_t need)
{
	struct rtrs_msg_info_req *m = (struct rtrs_msg_info_req *)peer_tx();

	slots_init(p);
	WANT(path_connect_all(p), 0);
	WANT(!(p->flags & RTRS_CONN_RSP_GRANTS), false);
	rtrs_info_req_pack(m, path_new_name());
	rtrs_put_le16(&m->slots, need);
	con_send(&p->con[0], sizeof(*m));
	WANT(con_wait_messages(&p->con[0], 1, 10), true);
	WANT(rtrs_info_rsp_parse(p->con[0].recv_buf, p->con[0].msg_len, &p->geo, p->chunk), 0);
	return rtrs_info_rsp_slots(p->con[0].recv_buf, &p->geo);
}

/* What is granted then, CLOSED, or SILENT */
static int ask(struct path *p, uint32_t number, uint32_t slots, double seconds)
{
	double end = peer_now() + seconds;
	struct conn *con = &p->con[0];
	uint32_t got, granted;

	con->imm = 0;
	con_imm(con, rtrs_imm_pack(RTRS_IMM_SLOTS, rtrs_imm_slots(number, slots)));
	while (!con->dead && peer_now() < end) {
		con_poll(con);
		rtrs_imm_slots_parse(con->imm & RTRS_IMM_PAYLOAD_MASK, &got, &granted);
		if (rtrs_imm_type(con->imm) == RTRS_IMM_SLOTS && got == number)
			return granted;
	}
	return con->dead ? CLOSED : SILENT;
}

/* Its client may have asked a server before this one was started. */
static int any_first_number(void)
{
	static const uint32_t number[] = { 0, 0x7ff, 0x800, 0xfff };
	struct path p;
	size_t i;

	for (i = 0; i < sizeof(number) / sizeof(number[0]); i++) {
		WANT(slots_up(&p, 0), FIRST);
		WANT_FOR(ask(&p, number[i], 20, 10), 20, "%#x first", number[i]);
		path_down(&p);
	}
	return 0;
}

/* The immediate alone: its chunk cannot be written to */
static int closes(struct path *p, uint32_t slot)
{
	con_imm(&p->con[1], rtrs_imm_io_req(&p->geo, slot, 512));
	WANT(path_wait_closed(p), true);
	path_down(p);
	return 0;
}

static int granted(void)
{
	static const struct { uint16_t need, gets; } in[] = {
		{ 0, FIRST }, { 1, FIRST }, { 17, 17 }, { 64, 64 }, { 65, 64 }, { 0xffff, 64 },
	};
	struct path p;
	size_t i;

	WANT(path_up(&p, 2), 0);
	WANT(p.flags & RTRS_CONN_RSP_GRANTS, 0);
	WANT(rtrs_get_le32(p.con[0].recv_buf + 4), 0);
	WANT(use(&p, 63), 0);
	path_down(&p);
	for (i = 0; i < sizeof(in) / sizeof(in[0]); i++) {
		WANT_FOR(slots_up(&p, in[i].need), in[i].gets, "%u needed", in[i].need);
		WANT(use(&p, 0), 0);
		WANT(use(&p, in[i].gets - 1), 0);
		if (in[i].gets < 64)
			WANT(closes(&p, in[i].gets), 0);
		else
			path_down(&p);
	}
	return 0;
}

/* Neither with an immediate nor with a key, which is known */
static int not_granted(void)
{
	struct path p;

	WANT(slots_up(&p, 0), FIRST);
	WANT(closes(&p, 63), 0);
	WANT(slots_up(&p, 0), FIRST);
	con_write(&p.con[1], p.chunk[FIRST].addr, p.chunk[FIRST].rkey, 512);
	WANT(path_wait_closed(&p), true);
	path_down(&p);
	return 0;
}

static int asked(void)
{
	struct path p;

	WANT(slots_up(&p, 0), FIRST);
	WANT(ask(&p, 1, 20, 10), 20);
	WANT(use(&p, 19), 0);
	WANT(ask(&p, 2, 64, 10), 64);
	WANT(use(&p, 63), 0);
	WANT(use(&p, 63), 0);
	/* More than once, and from 4095 on */
	WANT(ask(&p, 2, 16, 0.3), SILENT);
	WANT(use(&p, 63), 0);
	WANT(ask(&p, 0x7ff, 63, 10), 63);
	WANT(ask(&p, 0xffe, 64, 10), 64);
	WANT(ask(&p, 3, 62, 10), 62);
	WANT(ask(&p, 0xfff, 64, 0.3), SILENT);
	WANT(closes(&p, 62), 0);
	return 0;
}

static int bad_numbers(void)
{
	static const uint32_t slots[] = { 0, 65, 0x8000, 0xffff };
	struct path p;
	size_t i;

	for (i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		WANT(slots_up(&p, 0), FIRST);
		WANT_FOR(ask(&p, 1, slots[i], 1), CLOSED, "%#x slots", slots[i]);
		path_down(&p);
	}
	WANT(path_up(&p, 2), 0);	/* which has not asked for grants */
	WANT(ask(&p, 1, 32, 1), CLOSED);
	path_down(&p);
	return 0;
}

/* With the keys that they had; what was given back is nobody's. */
static int given_back(void)
{
	uint32_t rkey;
	uint64_t addr;
	struct path p;

	WANT(slots_up(&p, 64), 64);
	WANT(use(&p, 63), 0);
	WANT(ask(&p, 1, 5, 10), FIRST);
	WANT(use(&p, FIRST - 1), 0);
	WANT(ask(&p, 2, 64, 10), 64);
	WANT(use(&p, 63), 0);
	WANT(use(&p, 30), 0);
	WANT(ask(&p, 3, FIRST, 10), FIRST);
	addr = p.chunk[30].addr;
	rkey = p.chunk[30].rkey;
	con_write(&p.con[1], addr, rkey, 512);
	WANT(path_wait_closed(&p), true);
	path_down(&p);
	WANT(slots_up(&p, 64), 64);
	WANT(ask(&p, 1, FIRST, 10), FIRST);
	WANT(closes(&p, FIRST), 0);
	return 0;
}

/* A slot is given back in which the server has an operation: it stays as it is. */
static int given_back_busy(void)
{
	struct rnbd_io what = { .op = RNBD_OP_READ, .bytes = 16384, .flags = RNBD_F_SYNC };
	struct rnbd_msg_io io;
	const struct request r = {
		.cid = 1, .slot = 40, .read = true, .usr = &io, .usr_len = sizeof(io),
		.data_len = 16384, .sg_cnt = -1,
	};
	struct path p;

	WANT(slots_up(&p, 64), 64);
	WANT(device_open(&p, slow_disk, 0, &what.device_id), 0);
	rnbd_io_pack(&io, &what);
	request_send(&p, &r);
	WANT(ask(&p, 1, FIRST, 0.8), 64);
	WANT(p.answered[40], SILENT);
	WANT(request_wait(&p, &r, 10), 0);
	WANT(use(&p, 63), 0);
	WANT(ask(&p, 2, FIRST, 10), FIRST);
	path_down(&p);
	return 0;
}

/* As fast as it can, up and down, beside requests for what it may or may not have */
static int flood(void)
{
	struct path p;
	uint32_t i;

	WANT(slots_up(&p, 0), FIRST);
	for (i = 1; i < 300; i++) {
		con_imm(&p.con[0], rtrs_imm_pack(RTRS_IMM_SLOTS, rtrs_imm_slots(i, i % 2 ? 64 : FIRST)));
		if (i % 10 == 0)
			WANT(use(&p, i / 10 % FIRST), 0);
	}
	WANT(ask(&p, 300, 64, 20), 64);
	WANT(use(&p, 63), 0);
	for (i = 301; i < 400 && !p.con[0].dead; i++) {
		con_imm(&p.con[0], rtrs_imm_pack(RTRS_IMM_SLOTS, rtrs_imm_slots(i, i % 2 ? FIRST : 64)));
		con_imm(&p.con[1], rtrs_imm_io_req(&p.geo, 16 + i % 48, 512));
	}
	WANT(path_wait_closed(&p), true);
	path_down(&p);
	return 0;
}

const struct test slots_tests[] = {
	{ "slots-granted", granted },
	{ "slots-not-granted", not_granted },
	{ "slots-asked", asked },
	{ "slots-any-first-number", any_first_number },
	{ "slots-bad-numbers", bad_numbers },
	{ "slots-given-back", given_back },
	{ "slots-given-back-busy", given_back_busy },
	{ "slots-flood", flood },
	{ NULL, NULL },
};
