// SPDX-License-Identifier: GPL-2.0
/* Who uses a slot, and when a retry may run: kernel/rtrs/server/fence.c. */
#include "stub/server.h"
#include "tap.h"

#define PATHS	4
#define SLOTS	3

struct rtrs_geometry rtrs_server_geo = { SLOTS, 8192, 4096, 4096 };
bool rtrs_server_new_rkey;

static struct rtrs_server_slot slots[SLOTS];
static struct rtrs_server_session session = { .slots = slots };
static struct rtrs_server_op ops[PATHS][SLOTS];
static struct rtrs_server_path path[PATHS];
static struct rtrs_server_con con[PATHS][2];

/* The operation whose request is being worked on, by slot: there is one at most. */
static struct rtrs_server_op *running[SLOTS];

void stub_lock(spinlock_t *lock)
{
	CHECK(!lock->held);
	lock->held = 1;
}

void stub_unlock(spinlock_t *lock)
{
	CHECK(lock->held);
	lock->held = 0;
}

void rtrs_server_path_close(struct rtrs_server_path *p, int err)
{
	p->closed++;
	p->closing = true;
	p->state = RTRS_SERVER_PATH_CLOSING;
	p->last_err = err;
}

void rtrs_server_op_put(struct rtrs_server_path *p, u32 count)
{
	p->refs -= count;
	CHECK(p->refs >= 0);
}

void rtrs_server_op_begin(struct rtrs_server_op *op)
{
	CHECK(!session.fence_lock.held);
	CHECK(!running[op->slot]);
	running[op->slot] = op;
	op->begun++;
}

static void setup(void)
{
	unsigned int p, s;

	memset(slots, 0, sizeof(slots));
	memset(ops, 0, sizeof(ops));
	memset(path, 0, sizeof(path));
	memset(running, 0, sizeof(running));
	for (p = 0; p < PATHS; p++) {
		path[p].session = &session;
		path[p].ops = ops[p];
		path[p].state = RTRS_SERVER_PATH_CONNECTED;
		con[p][0].path = con[p][1].path = &path[p];
		for (s = 0; s < SLOTS; s++) {
			ops[p][s].path = &path[p];
			ops[p][s].slot = s;
			ops[p][s].err = -EIO;
			ops[p][s].clobbered = 99;
			ops[p][s].req.usr_len = 77;
		}
	}
}

/* As op.c does it */
static enum rtrs_server_slot_verdict arrive(unsigned int p, unsigned int s, u32 off)
{
	enum rtrs_server_slot_verdict verdict;

	path[p].refs++;
	verdict = rtrs_server_fence_enter(&ops[p][s], &con[p][off & 1], off);
	if (verdict == RTRS_SERVER_SLOT_RUN) {
		rtrs_server_op_begin(&ops[p][s]);
	} else if (verdict == RTRS_SERVER_SLOT_REFUSE) {
		rtrs_server_path_close(&path[p], -EPROTO);
		rtrs_server_op_put(&path[p], 1);
	}
	return verdict;
}

/* The answer; true if it may be sent. */
static bool answer(unsigned int s)
{
	struct rtrs_server_op *op = running[s];
	struct rtrs_server_path *p = op->path;
	bool send;

	running[s] = NULL;
	send = rtrs_server_fence_leave(op);
	rtrs_server_op_put(p, 1);
	return send;
}

static void is_fresh(const struct rtrs_server_op *op, const struct rtrs_server_con *c, u32 off)
{
	CHECK(op->con == c);
	EQ(op->off, off);
	EQ(op->err, 0);
	EQ(op->clobbered, 0);
	EQ(op->req.usr_len, 0);
}

static void plain(void)
{
	setup();
	EQ(arrive(0, 0, 11), RTRS_SERVER_SLOT_RUN);
	is_fresh(&ops[0][0], &con[0][1], 11);
	EQ(arrive(1, 1, 12), RTRS_SERVER_SLOT_RUN);
	EQ(answer(0), true);
	EQ(slots[0].word, 0);
	/* again, on another path: nothing to fence */
	EQ(arrive(1, 0, 13), RTRS_SERVER_SLOT_RUN);
	EQ(answer(0), true);
	EQ(answer(1), true);
	EQ(path[0].closed + path[1].closed, 0);
	EQ(path[0].refs + path[1].refs, 0);
}

static void twice_on_one_path(void)
{
	setup();
	EQ(arrive(0, 0, 10), RTRS_SERVER_SLOT_RUN);
	EQ(arrive(0, 0, 99), RTRS_SERVER_SLOT_REFUSE);
	/* what runs is not touched, and answers as if nothing had been */
	is_fresh(&ops[0][0], &con[0][0], 10);
	EQ(ops[0][0].begun, 1);
	EQ(answer(0), true);
	EQ(slots[0].word, 0);
}

/* Its first attempt was late, and the retry is through with the slot or has it. */
static void late(void)
{
	setup();
	path[0].state = RTRS_SERVER_PATH_CLOSING;
	EQ(arrive(1, 0, 20), RTRS_SERVER_SLOT_RUN);
	EQ(arrive(0, 0, 10), RTRS_SERVER_SLOT_REFUSE);
	EQ(path[1].closed, 0);
	is_fresh(&ops[1][0], &con[1][0], 20);
	CHECK(!slots[0].retry);
	EQ(answer(0), true);
	EQ(slots[0].word, 0);
}

static void retry(void)
{
	setup();
	EQ(arrive(0, 0, 10), RTRS_SERVER_SLOT_RUN);
	EQ(arrive(1, 0, 21), RTRS_SERVER_SLOT_PARK);
	is_fresh(&ops[1][0], &con[1][1], 21);
	/* the old path is dead, the retry does not run yet */
	EQ(path[0].closed, 1);
	EQ(path[0].last_err, -ECONNABORTED);
	EQ(path[1].closed, 0);
	EQ(ops[1][0].begun, 0);
	/* the old answer is dropped, and still the retry does not run: the old QPs may not be in error yet */
	EQ(answer(0), false);
	EQ(ops[1][0].begun, 0);
	EQ(path[0].refs, 0);
	rtrs_server_fence_drop_retries(&path[0]);
	EQ(ops[1][0].begun, 0);
	rtrs_server_fence_release(&path[0], rtrs_server_op_begin);
	EQ(ops[1][0].begun, 1);
	CHECK(!slots[0].retry);
	/* the retry is an operation like others */
	EQ(arrive(1, 0, 30), RTRS_SERVER_SLOT_REFUSE);
	EQ(answer(0), true);
	EQ(slots[0].word, 0);
	EQ(path[1].refs, 0);
}

static void retry_dies(void)
{
	setup();
	EQ(arrive(0, 0, 10), RTRS_SERVER_SLOT_RUN);
	EQ(arrive(1, 0, 20), RTRS_SERVER_SLOT_PARK);
	rtrs_server_path_close(&path[1], -EIO);
	rtrs_server_fence_drop_retries(&path[1]);
	EQ(path[1].refs, 0);
	rtrs_server_fence_release(&path[1], rtrs_server_op_begin);
	CHECK(slots[0].word);
	EQ(ops[1][0].begun, 0);
	/* the slot stays fenced, and another retry may come */
	EQ(arrive(2, 0, 30), RTRS_SERVER_SLOT_PARK);
	EQ(answer(0), false);
	rtrs_server_fence_release(&path[0], rtrs_server_op_begin);
	EQ(ops[2][0].begun, 1);
	EQ(answer(0), true);
	/* or none comes */
	setup();
	EQ(arrive(0, 0, 10), RTRS_SERVER_SLOT_RUN);
	EQ(arrive(1, 0, 20), RTRS_SERVER_SLOT_PARK);
	rtrs_server_fence_drop_retries(&path[1]);
	EQ(answer(0), false);
	rtrs_server_fence_release(&path[0], rtrs_server_op_begin);
	EQ(slots[0].word, 0);
	EQ(arrive(2, 0, 30), RTRS_SERVER_SLOT_RUN);
}

static void retry_of_retry(void)
{
	setup();
	EQ(arrive(0, 0, 10), RTRS_SERVER_SLOT_RUN);
	EQ(arrive(1, 0, 20), RTRS_SERVER_SLOT_PARK);
	EQ(arrive(2, 0, 30), RTRS_SERVER_SLOT_REPLACE);
	EQ(path[1].closed, 1);
	EQ(path[1].refs, 0);
	CHECK(path[0].closed >= 1);
	EQ(path[2].closed, 0);
	rtrs_server_fence_drop_retries(&path[1]);
	EQ(path[1].refs, 0);
	CHECK(slots[0].retry == &ops[2][0]);
	/* twice on the path of what runs, and of what waits */
	EQ(arrive(2, 0, 31), RTRS_SERVER_SLOT_REFUSE);
	EQ(arrive(0, 0, 11), RTRS_SERVER_SLOT_REFUSE);
	is_fresh(&ops[2][0], &con[2][0], 30);
	is_fresh(&ops[0][0], &con[0][0], 10);
	EQ(answer(0), false);
	rtrs_server_fence_release(&path[0], rtrs_server_op_begin);
	EQ(ops[1][0].begun, 0);
	EQ(ops[2][0].begun, 1);
}

static void others_go_on(void)
{
	setup();
	EQ(arrive(0, 0, 10), RTRS_SERVER_SLOT_RUN);
	EQ(arrive(1, 1, 10), RTRS_SERVER_SLOT_RUN);
	EQ(arrive(0, 2, 10), RTRS_SERVER_SLOT_RUN);
	EQ(arrive(1, 0, 20), RTRS_SERVER_SLOT_PARK);
	EQ(answer(0), false);
	EQ(answer(2), true);
	rtrs_server_fence_drop_retries(&path[0]);
	rtrs_server_fence_release(&path[0], rtrs_server_op_begin);
	CHECK(running[0] == &ops[1][0]);
	CHECK(running[1] == &ops[1][1]);
	CHECK(!running[2]);
	EQ(slots[2].word, 0);
	EQ(answer(1), true);
	EQ(answer(0), true);
}

/* The request of what runs now has been parsed. */
static void parsed(struct rtrs_server_op *op, bool is_read, u32 data_len)
{
	op->req.is_read = is_read;
	op->req.data_len = data_len;
	op->req.usr_len = 24;
}

static bool header_spoilt(const struct rtrs_server_op *op)
{
	return rtrs_server_fence_spoilt(op, NULL);
}

static bool spoilt(struct rtrs_server_op *op, bool is_read, u32 data_len)
{
	parsed(op, is_read, data_len);
	return rtrs_server_fence_spoilt(op, &op->req);
}

/* What ran on path @p is over, and what waits for it runs. */
static void let_go(unsigned int p)
{
	EQ(answer(0), false);
	rtrs_server_fence_drop_retries(&path[p]);
	rtrs_server_fence_release(&path[p], rtrs_server_op_begin);
}

static void fence(bool is_read, u32 data_len, u32 retry_off)
{
	setup();
	EQ(arrive(0, 0, data_len + 24), RTRS_SERVER_SLOT_RUN);
	parsed(&ops[0][0], is_read, data_len);
	EQ(arrive(1, 0, retry_off), RTRS_SERVER_SLOT_PARK);
	let_go(0);
	EQ(ops[1][0].begun, 1);
}

static void clobbered(void)
{
	/* a retry of the same read, and of a write */
	fence(true, 4096, 4096 + 24);
	EQ(header_spoilt(&ops[1][0]), false);
	EQ(spoilt(&ops[1][0], true, 4096), false);
	fence(false, 4096, 4096 + 24);
	EQ(header_spoilt(&ops[1][0]), false);
	EQ(spoilt(&ops[1][0], false, 4096), false);
	/* the read wrote over the data of a write, whatever its length */
	fence(true, 512, 4096 + 24);
	EQ(header_spoilt(&ops[1][0]), false);
	EQ(spoilt(&ops[1][0], false, 4096), true);
	EQ(spoilt(&ops[1][0], false, 0), true);
	EQ(spoilt(&ops[1][0], true, 4096), false);
	EQ(spoilt(&ops[1][0], true, 512), false);
	/* over the message of a shorter read, and its header */
	EQ(spoilt(&ops[1][0], true, 511), true);
	fence(true, 4096, 512 + 24);
	EQ(header_spoilt(&ops[1][0]), true);
	fence(true, 4096, 4096);
	EQ(header_spoilt(&ops[1][0]), false);
	fence(true, 4096, 4095);
	EQ(header_spoilt(&ops[1][0]), true);
	/* what never was parsed, a flush: neither writes to the chunk */
	fence(true, 0, 24);
	EQ(spoilt(&ops[1][0], false, 0), false);
	/* nor does a read that is over before the next one comes */
	EQ(answer(0), true);
	EQ(arrive(2, 0, 4096), RTRS_SERVER_SLOT_RUN);
	EQ(ops[2][0].clobbered, 0);
}

/* The data of an eager read are not in the chunk, that of a server which invalidates nothing are. */
static void clobbered_eager(void)
{
	for (int invalidates = 1; invalidates >= 0; invalidates--) {
		rtrs_server_new_rkey = invalidates;
		setup();
		path[0].eager_bytes = 4096;
		EQ(arrive(0, 0, 4096 + 24), RTRS_SERVER_SLOT_RUN);
		EQ(ops[0][0].eager, invalidates);
		parsed(&ops[0][0], true, 4096);
		EQ(arrive(1, 0, 512 + 24), RTRS_SERVER_SLOT_PARK);
		let_go(0);
		EQ(header_spoilt(&ops[1][0]), !invalidates);
	}
}

static void clobbered_before(void)
{
	/* a read, then a shorter one, then what waits for that */
	fence(true, 4096, 4096 + 24);
	parsed(&ops[1][0], true, 512);
	EQ(arrive(2, 0, 4096 + 24), RTRS_SERVER_SLOT_PARK);
	let_go(1);
	EQ(ops[2][0].begun, 1);
	EQ(spoilt(&ops[2][0], true, 4095), true);
	EQ(spoilt(&ops[2][0], true, 4096), false);
	/* a retry that takes another's place waits for the same read */
	setup();
	EQ(arrive(0, 0, 4096 + 24), RTRS_SERVER_SLOT_RUN);
	parsed(&ops[0][0], true, 4096);
	EQ(arrive(1, 0, 4096 + 24), RTRS_SERVER_SLOT_PARK);
	EQ(arrive(2, 0, 4096 + 24), RTRS_SERVER_SLOT_REPLACE);
	let_go(0);
	EQ(spoilt(&ops[2][0], false, 4096), true);
}

/* What must be, by a plainer way of keeping it; an index of a path or -1. */
static struct {
	int owner, waits;
	bool fenced;
} model[SLOTS];

static enum rtrs_server_slot_verdict expected(int p, int s)
{
	if (model[s].owner < 0)
		return RTRS_SERVER_SLOT_RUN;
	if (model[s].owner == p || model[s].waits == p || path[p].closing)
		return RTRS_SERVER_SLOT_REFUSE;
	return model[s].waits < 0 ? RTRS_SERVER_SLOT_PARK : RTRS_SERVER_SLOT_REPLACE;
}

static void model_arrive(int p, int s, u32 off)
{
	enum rtrs_server_slot_verdict want = expected(p, s);

	EQ(arrive(p, s, off), want);
	switch (want) {
	case RTRS_SERVER_SLOT_RUN:
		model[s].owner = p;
		break;
	case RTRS_SERVER_SLOT_PARK:
	case RTRS_SERVER_SLOT_REPLACE:
		CHECK(path[model[s].owner].closing);
		CHECK(model[s].waits < 0 || path[model[s].waits].closing);
		model[s].fenced = true;
		model[s].waits = p;
		break;
	case RTRS_SERVER_SLOT_REFUSE:
		CHECK(path[p].closing);
		break;
	}
}

static void model_answer(int s)
{
	EQ(answer(s), !model[s].fenced);
	if (!model[s].fenced)
		model[s].owner = -1;
}

/* One step of the worker of a path that closes. */
static void model_worker(int p)
{
	int s;

	if (!path[p].dropped) {
		rtrs_server_fence_drop_retries(&path[p]);
		path[p].dropped = true;
		for (s = 0; s < SLOTS; s++)
			if (model[s].waits == p)
				model[s].waits = -1;
		return;
	}
	if (path[p].refs)
		return;
	rtrs_server_fence_release(&path[p], rtrs_server_op_begin);
	for (s = 0; s < SLOTS; s++) {
		if (model[s].owner != p)
			continue;
		model[s].owner = model[s].waits;
		model[s].waits = -1;
		model[s].fenced = false;
		CHECK(model[s].owner < 0 ? !running[s] : running[s] == &ops[model[s].owner][s]);
	}
	/* connected anew */
	path[p].closing = path[p].dropped = false;
	path[p].state = RTRS_SERVER_PATH_CONNECTED;
}

static void random_walk(void)
{
	__u32 x = 12345, i;
	int p, s, round;

	setup();
	for (s = 0; s < SLOTS; s++)
		model[s].owner = model[s].waits = -1;
	for (i = 0; i < 200000; i++) {
		x = x * 1664525 + 1013904223;
		p = (x >> 8) % PATHS;
		s = (x >> 16) % SLOTS;
		NOTE("step %u, path %d, slot %d", i, p, s);
		switch ((x >> 24) % 4) {
		case 0:
			if (!path[p].dropped)
				model_arrive(p, s, i);
			break;
		case 1:
			if (running[s])
				model_answer(s);
			break;
		case 2:
			if (path[p].closing)
				model_worker(p);
			break;
		case 3:
			if (x >> 26 == 5)
				rtrs_server_path_close(&path[p], -EIO);
			break;
		}
		if (tap.bad)
			return;
	}
	/* Everything ends. */
	for (round = 0; round < 20; round++) {
		for (s = 0; s < SLOTS; s++)
			if (running[s])
				model_answer(s);
		for (p = 0; p < PATHS; p++)
			if (path[p].closing)
				model_worker(p);
	}
	for (s = 0; s < SLOTS; s++) {
		EQ(slots[s].word, 0);
		CHECK(!slots[s].retry && !running[s]);
	}
	for (p = 0; p < PATHS; p++)
		EQ(path[p].refs, 0);
}

int main(void)
{
	RUN(plain, "requests for idle slots run, on any path");
	RUN(twice_on_one_path, "a busy slot on the same path: refused, what runs goes on");
	RUN(retry, "a retry closes the old path, waits for its end, drops its answer, then runs");
	RUN(late, "a request of a path that closes finds a slot busy: refused, the other path stays");
	RUN(retry_dies, "a retry whose path dies is forgotten");
	RUN(retry_of_retry, "a retry of a retry takes its place");
	RUN(others_go_on, "other slots and paths go on");
	RUN(clobbered, "what a read may have written over while it waited does not run; a retry of that read does");
	RUN(clobbered_eager, "an eager read writes over nothing");
	RUN(clobbered_before, "nor what an earlier read may have");
	RUN(random_walk, "200000 random steps of 4 paths and 3 slots, against a model");
	return tap_end();
}
