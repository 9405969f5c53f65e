// SPDX-License-Identifier: GPL-2.0
/* Lean paths: asked for, half asked for, asked for by a client that goes on as of old. */
#include "device.h"

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

static int eager_up(struct path *p)
{
	path_init(p, 2);
	p->req.lean = true;
	p->req.eager = true;
	WANT(path_connect_all(p), 0);
	WANT(path_info(p, path_new_name()), 0);
	WANT(p->eager_bytes, 4096);
	return 0;
}

static bool moves_keys(const struct path *p) { return p->flags & RTRS_CONN_RSP_NEW_RKEY; }

/* Not but where it is asked for, on a lean path */
static int eager_granted(void)
{
	struct path p;

	WANT(lean_up(&p), 0);
	WANT(p.eager_bytes, 0);
	path_down(&p);
	path_init(&p, 2);
	p.req.eager = true;
	WANT(path_connect_all(&p), 0);
	WANT(path_info(&p, path_new_name()), 0);
	WANT(p.eager_bytes, 0);
	WANT(path_works(&p), 0);
	path_down(&p);
	WANT(eager_up(&p), 0);
	WANT(path_works(&p), 0);
	path_down(&p);
	return 0;
}

/* Of what is eager neither good answers nor errors move the key, of the others all do. */
static int eager_keys(void)
{
	static uint8_t nonsense[600] = { 0xee, 0xee }, data[8192];
	struct request small = proper_request(), bad = small, large = small, long_one = small, most = small;
	struct path p;
	uint32_t key;
	int i;

	WANT(eager_up(&p), 0);
	bad.usr = long_one.usr = large.usr = most.usr = nonsense;
	long_one.usr_len = sizeof(nonsense);	/* eager, and too long */
	most.read = large.read = false;
	most.data = large.data = data;
	most.usr_len = large.usr_len = RTRS_EAGER_USR_MAX;
	most.data_len = p.eager_bytes;
	large.data_len = p.eager_bytes + 1;
	for (i = 0; i < 300; i++) {
		key = p.chunk[small.slot].rkey;
		WANT_FOR(request(&p, &small), 0, "number %d", i);
		WANT_FOR(request(&p, &bad), EINVAL, "number %d", i);
		WANT_FOR(request(&p, &long_one), EMSGSIZE, "number %d", i);
		WANT_FOR(request(&p, &most), EINVAL, "number %d", i);
		WANT(p.chunk[small.slot].rkey, key);
		WANT_FOR(request(&p, &large), EINVAL, "number %d", i);
		WANT(p.chunk[small.slot].rkey == key, !moves_keys(&p));
	}
	path_down(&p);
	return 0;
}

/* The header is where that of an eager request may be, but there is more data than may be copied. */
static int eager_too_much(void)
{
	static const uint8_t nonsense[RTRS_EAGER_USR_MAX] = { 0xee, 0xee };
	static uint8_t data[8192];
	struct request r = proper_request();
	struct path p;
	unsigned int over;

	r.usr = nonsense;
	r.data = data;
	WANT(eager_up(&p), 0);
	for (over = 1; over <= RTRS_EAGER_USR_MAX; over += 31) {
		r.data_len = p.eager_bytes + over;
		r.usr_len = RTRS_EAGER_USR_MAX - over;
		r.read = over & 1;
		WANT_FOR(request(&p, &r), moves_keys(&p) ? EMSGSIZE : EINVAL, "%u bytes more", over);
	}
	WANT(path_works(&p), 0);
	path_down(&p);
	return 0;
}

/* While the disk reads, the client writes to the chunk. It may, but that is not what it gets. */
static int eager_apart(void)
{
	struct rnbd_io io = { .op = RNBD_OP_READ, .bytes = 4096 };
	static const uint8_t nothing[4096];
	struct rnbd_msg_io m;
	struct request r = {
		.cid = 1, .slot = 5, .read = true, .usr = &m, .usr_len = sizeof(m), .data_len = 4096, .sg_cnt = -1,
	};
	struct path p;

	WANT(eager_up(&p), 0);
	WANT(device_open(&p, slow_disk, 0, &io.device_id), 0);
	rnbd_io_pack(&m, &io);
	request_send(&p, &r);
	WANT(path_works(&p), 0);	/* the server has begun with it */
	memset(peer_result(), 0xa5, RESULT_SIZE);
	memset(peer_tx(), 0x77, 4096);
	WANT(con_write(&p.con[1], p.chunk[r.slot].addr, p.chunk[r.slot].rkey, 4096), IBV_WC_SUCCESS);
	WANT(request_wait(&p, &r, 10), 0);
	if (moves_keys(&p))
		WANT(memcmp(peer_result(), nothing, 4096), 0);
	path_down(&p);
	return 0;
}

/* DISK holds requests: so the client writes to the chunk while the disk has yet to look at the data. */
static int held(void)
{
	struct rnbd_io io = { .op = RNBD_OP_WRITE, .bytes = 4096 };
	static uint8_t data[4096];
	struct rnbd_msg_io m;
	struct request r = {
		.cid = 1, .slot = 5, .usr = &m, .usr_len = sizeof(m), .data = data, .data_len = 4096,
	};
	struct path p;

	memset(data, 0x11, sizeof(data));
	WANT(eager_up(&p), 0);
	WANT(device_open_free(&p, disk, &io.device_id), 0);
	rnbd_io_pack(&m, &io);
	request_send(&p, &r);
	WANT(path_works(&p), 0);
	memset(peer_tx(), 0x77, 4096);
	WANT(con_write(&p.con[1], p.chunk[r.slot].addr, p.chunk[r.slot].rkey, 4096), IBV_WC_SUCCESS);
	puts("written");
	fflush(stdout);
	WANT(request_wait(&p, &r, 60), 0);
	io.op = RNBD_OP_READ;
	WANT(device_io(&p, &io, true, NULL, 4096), 0);
	WANT(memcmp(peer_result(), data, 4096), 0);
	path_down(&p);
	return 0;
}

const struct test lean_tests[] = {
	{ "lean-granted", granted },
	{ "lean-mixed", mixed },
	{ "lean-keys", keys },
	{ "lean-need-inval", need_inval },
	{ "lean-old-key", old_key },
	{ "lean-eager-granted", eager_granted },
	{ "lean-eager-keys", eager_keys },
	{ "lean-eager-too-much", eager_too_much },
	{ "lean-eager-apart", eager_apart },
	{ "special-held", held },
	{ NULL, NULL },
};
