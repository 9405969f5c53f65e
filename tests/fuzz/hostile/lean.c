// SPDX-License-Identifier: GPL-2.0
/* Lean paths: asked for, half asked for, asked for by a client that goes on as of old. */
#include "peer.h"

#define LEAN(p)		(!!((p)->flags & RTRS_CONN_RSP_LEAN))

static struct rnbd_msg_sess_info sess_info;

static struct request proper_request(void)
{
	rnbd_sess_info_pack(&sess_info, RNBD_MSG_SESS_INFO, 2);
	return (struct request){
		.cid = 1,
		.slot = 3,
		.read = true,
		.usr = &sess_info,
		.usr_len = sizeof(sess_info),
		.data_len = sizeof(sess_info),
		.sg_cnt = -1,
	};
}

static int lean_up(struct path *p)
{
	path_init(p, 2);
	p->req.lean = true;
	WANT(path_connect_all(p), 0);
	WANT(path_info(p, path_new_name()), 0);
	WANT(LEAN(p), true);
	return 0;
}

static int granted(void)
{
	struct path p;

	WANT(lean_up(&p), 0);
	WANT(path_works(&p), 0);
	path_down(&p);
	WANT(path_up(&p, 2), 0);
	WANT(LEAN(&p), false);
	WANT(path_works(&p), 0);
	path_down(&p);
	return 0;
}

/* Connections of one path that do not agree: the first is right. */
static int mixed(void)
{
	struct path p;
	int lean;

	for (lean = 0; lean < 2; lean++) {
		path_init(&p, 2);
		p.req.lean = lean;
		WANT(path_connect(&p, 0), 0);
		p.req.lean = !lean;
		WANT(path_connect(&p, 1), -ECONNRESET);
		p.req.lean = lean;
		WANT(path_connect(&p, 1), 0);
		WANT(path_info(&p, path_new_name()), 0);
		WANT(LEAN(&p), lean);
		WANT(path_works(&p), 0);
		path_down(&p);
	}
	return 0;
}

/* Good answers and errors in turn move the key on alike, beyond the end of its low byte; nothing else is sent. */
static int keys(void)
{
	static const uint8_t nonsense[600] = { 0xee, 0xee };
	struct request good = proper_request(), bad = good, long_one = good;
	struct path p;
	unsigned int i, messages;

	bad.usr = long_one.usr = nonsense;
	long_one.usr_len = sizeof(nonsense);
	WANT(lean_up(&p), 0);
	messages = p.con[1].messages;
	for (i = 0; i < 300; i++) {
		WANT_FOR(request(&p, &good), 0, "number %u", i);
		WANT(rtrs_imm_type(p.con[1].imm), RTRS_IMM_IO_RSP);
		WANT_FOR(request(&p, i & 1 ? &bad : &long_one), i & 1 ? EINVAL : EMSGSIZE, "number %u", i);
		WANT(rtrs_imm_type(p.con[1].imm), RTRS_IMM_IO_RSP);
	}
	WANT(p.con[1].messages, messages);
	path_down(&p);
	return 0;
}

/* Asks for an invalidation all the same: none is sent, and none is claimed. */
static int need_inval(void)
{
	struct request r = proper_request();
	struct path p;
	unsigned int i;

	r.need_inval = true;
	WANT(lean_up(&p), 0);
	for (i = 0; i < 3; i++) {
		WANT(request(&p, &r), 0);
		WANT(rtrs_imm_type(p.con[1].imm), RTRS_IMM_IO_RSP);
		WANT(p.con[1].messages, 0);
	}
	WANT(path_works(&p), 0);
	path_down(&p);
	return 0;
}

/* Waits for a key that is not sent, and uses the old one: the chunk is not the client's any more. */
static int old_key(void)
{
	struct request r = proper_request();
	uint32_t key;
	struct path p;

	WANT(lean_up(&p), 0);
	key = p.chunk[r.slot].rkey;
	WANT(request(&p, &r), 0);
	if (p.flags & RTRS_CONN_RSP_NEW_RKEY) {
		p.chunk[r.slot].rkey = key;
		WANT(request(&p, &r), CLOSED);
		WANT(path_wait_closed(&p), true);
	}
	path_down(&p);
	return granted();
}

const struct test lean_tests[] = {
	{ "lean-granted", granted },
	{ "lean-mixed", mixed },
	{ "lean-keys", keys },
	{ "lean-need-inval", need_inval },
	{ "lean-old-key", old_key },
	{ NULL, NULL },
};
