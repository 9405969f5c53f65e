// SPDX-License-Identifier: GPL-2.0
/* What needs a disk of its own, or half a minute. */
#include <stdlib.h>
#include <unistd.h>

#include "device.h"

#define KIB4	4096

static uint8_t block[RESULT_SIZE];

static int io(struct path *p, uint32_t id, uint8_t op, uint32_t flags, uint64_t sector,
	      uint32_t bytes)
{
	struct rnbd_io m = { .device_id = id, .op = op, .flags = flags, .sector = sector,
			     .bytes = bytes };
	bool read = op == RNBD_OP_READ || op == RNBD_OP_FLUSH;

	return device_io(p, &m, read, block, op <= RNBD_OP_WRITE ? bytes : 0);
}

/* As con_wait_dead(); @alive says that it is there meanwhile. */
static bool dead_beside(struct conn *con, struct conn *alive, double seconds)
{
	double end = peer_now() + seconds;

	while (!con_wait_dead(con, 2) && peer_now() < end) {
		con_imm(alive, rtrs_imm_pack(RTRS_IMM_HB_ACK, 0));
		con_poll(alive);
	}
	return con->dead;
}

/* A client that says nothing, after each step of the handshake, is thrown out. */
static int silent(void)
{
	struct path p[3];
	double start;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		path_init(&p[i], 2);
		WANT(path_connect(&p[i], 0), 0);
		if (i)
			WANT(path_connect(&p[i], 1), 0);
	}
	start = peer_now();
	WANT(path_info(&p[2], path_new_name()), 0);
	for (i = 0; i < 2; i++) {
		WANT_FOR(dead_beside(&p[i].con[0], &p[2].con[0], 45), true,
			 "connection of path %u", i);
		WANT_FOR(peer_now() - start > 20, true, "path %u", i);
	}
	/* The one that is through with it stays. */
	WANT(path_works(&p[2]), 0);
	for (i = 0; i < 3; i++)
		path_down(&p[i]);
	return 0;
}

/* DISK has no size. */
static int empty(void)
{
	struct path p;
	uint32_t id;
	int err;

	WANT(path_up(&p, 2), 0);
	WANT(device_open(&p, disk, 0, &id), 0);
	WANT(rnbd_get_le64(peer_result() + 8), 0);
	WANT(io(&p, id, RNBD_OP_READ, 0, 0, 512), EIO);
	WANT(io(&p, id, RNBD_OP_READ, 0, ~0ULL >> 10, 512), EIO);
	/* Linux 6.12 asks a loop device without a file to flush, which that refuses. */
	err = io(&p, id, RNBD_OP_FLUSH, 0, RNBD_FLUSH_SECTOR, 0);
	WANT(err == 0 || err == EIO, true);
	WANT(device_close(&p, id), 0);
	path_down(&p);
	return 0;
}

static bool all(uint8_t byte)
{
	size_t i;

	for (i = 0; i < KIB4; i++)
		if (peer_result()[i] != byte)
			return false;
	return true;
}

/* DISK, of blocks of 4 KiB, knows all operations but the secure erase. */
static int operations(void)
{
	static const struct { uint8_t op; uint32_t flags; } zeroing[] = {
		{ RNBD_OP_WRITE_ZEROES, 0 },
		{ RNBD_OP_WRITE_ZEROES, RNBD_F_NOUNMAP },
		{ RNBD_OP_WRITE_ZEROES, RNBD_F_ALL | 0xf000 },
		{ RNBD_OP_DISCARD, 0 },
		{ RNBD_OP_DISCARD, RNBD_F_ALL },
	};
	struct path p;
	uint32_t id;
	size_t i;

	WANT(path_up(&p, 2), 0);
	WANT(device_open_free(&p, disk, &id), 0);
	for (i = 0; i < sizeof(zeroing) / sizeof(zeroing[0]); i++) {
		memset(block, 0x5b, sizeof(block));
		WANT(io(&p, id, RNBD_OP_WRITE, 0, 64, 3 * KIB4), 0);
		WANT_FOR(io(&p, id, zeroing[i].op, zeroing[i].flags, 72, KIB4), 0, "number %zu", i);
		WANT(io(&p, id, RNBD_OP_READ, 0, 64, KIB4), 0);
		WANT(all(0x5b), true);
		WANT(io(&p, id, RNBD_OP_READ, 0, 72, KIB4), 0);
		WANT_FOR(all(0), true, "number %zu", i);
		WANT(io(&p, id, RNBD_OP_READ, 0, 80, KIB4), 0);
		WANT(all(0x5b), true);
	}
	WANT(io(&p, id, RNBD_OP_SECURE_ERASE, 0, 64, KIB4), EOPNOTSUPP);
	/* Blocks are of 4 KiB */
	WANT(io(&p, id, RNBD_OP_DISCARD, 0, 64, 512), EINVAL);
	WANT(io(&p, id, RNBD_OP_DISCARD, 0, 65, KIB4), EINVAL);
	WANT(io(&p, id, RNBD_OP_WRITE_ZEROES, 0, 64, KIB4 + 512), EINVAL);
	WANT(io(&p, id, RNBD_OP_WRITE, 0, 64, 512), EINVAL);
	WANT(io(&p, id, RNBD_OP_READ, 0, 63, KIB4), EINVAL);
	/* All flags, each alone */
	WANT(io(&p, id, RNBD_OP_WRITE, RNBD_F_FUA, 64, KIB4), 0);
	WANT(io(&p, id, RNBD_OP_WRITE, RNBD_F_PREFLUSH, 64, KIB4), 0);
	WANT(io(&p, id, RNBD_OP_WRITE, RNBD_F_SYNC, 64, KIB4), 0);
	WANT(io(&p, id, RNBD_OP_WRITE, RNBD_F_FUA, 0, 0), 0);
	WANT(io(&p, id, RNBD_OP_WRITE, RNBD_F_PREFLUSH, RNBD_FLUSH_SECTOR, 0), 0);
	WANT(io(&p, id, RNBD_OP_FLUSH, 0, 0, 0), 0);
	path_down(&p);
	return 0;
}

/* DISK counts its flushes: one for each write that asks for it, none for the others. */
static int flushes(void)
{
	struct path p;
	uint32_t id;
	int i;

	WANT(path_up(&p, 2), 0);
	WANT(device_open_free(&p, disk, &id), 0);
	for (i = 0; i < 5; i++)
		WANT(io(&p, id, RNBD_OP_WRITE, RNBD_F_PREFLUSH, 0, KIB4), 0);
	for (i = 0; i < 7; i++)
		WANT(io(&p, id, RNBD_OP_WRITE, RNBD_F_FUA, 8, KIB4), 0);
	for (i = 0; i < 9; i++)
		WANT(io(&p, id, RNBD_OP_WRITE, RNBD_F_SYNC, 16, KIB4), 0);
	for (i = 0; i < 11; i++)
		WANT(io(&p, id, RNBD_OP_WRITE, RNBD_F_PREFLUSH | RNBD_F_FUA, 24, KIB4), 0);
	path_down(&p);
	return 0;
}

/* DISK takes discards of 64 KiB at most, and says so. */
static int long_discard(void)
{
	struct rnbd_io m = { .op = RNBD_OP_DISCARD, .bytes = 64 << 10 };
	struct path p;

	WANT(path_up(&p, 2), 0);
	WANT(device_open_free(&p, disk, &m.device_id), 0);
	WANT(device_io(&p, &m, false, NULL, 0), 0);
	m.bytes += 512;
	WANT(device_io(&p, &m, false, NULL, 0), EINVAL);
	path_down(&p);
	return 0;
}

/*
 * DISK leads to the device of $SECTORS sectors, or nowhere: its way is changed all the time. Ends
 * when both have been seen often enough.
 */
static int moving(void)
{
	const char *want = getenv("SECTORS");
	unsigned int i, found = 0, failed = 0;
	struct path p;
	uint32_t id;
	int err;

	WANT(path_up(&p, 2), 0);
	for (i = 0; i < 3000 && (found < 500 || failed < 100); i++) {
		err = device_open(&p, disk, 0, &id);
		if (err) {
			WANT_FOR(err == EXDEV || err == ENOENT || err == EAGAIN || err == ENOTDIR,
				 true, "%d", err);
			failed++;
			continue;
		}
		found++;
		WANT_FOR(rnbd_get_le64(peer_result() + 8), strtol(want, NULL, 0), "try %u", i);
		WANT(device_close(&p, id), 0);
	}
	printf("found %u times, not %u times\n", found, failed);
	WANT(found >= 10 && failed >= 5, true);
	path_down(&p);
	return 0;
}

/*
 * Takes no answer, until it is killed. Each slot serves twice: an answer is two work requests,
 * of the 3 * queue_depth + 1 that there is room for, so that every fourth has to wait.
 */
static int deaf(void)
{
	struct rnbd_msg_sess_info msg;
	struct request r = {
		.cid = 1, .read = true, .usr = &msg, .usr_len = sizeof(msg),
		.data_len = sizeof(msg), .sg_cnt = -1, .ignored = true,
	};
	struct path p;
	unsigned int i;

	path_init(&p, 2);
	p.con[1].deaf = true;
	WANT(path_connect_all(&p), 0);
	WANT(path_info(&p, path_new_name()), 0);
	WANT(p.flags & RTRS_CONN_RSP_NEW_RKEY, 0);
	rnbd_sess_info_pack(&msg, RNBD_MSG_SESS_INFO, 2);
	for (i = 0; i < 2 * p.geo.queue_depth; i++) {
		r.slot = i % p.geo.queue_depth;
		request_send(&p, &r);
	}
	WANT(p.con[1].dead, false);
	pause();
	return 0;
}

/* One disk, opened under as many names as it takes; with max_devices=8 on the server. */
static int openings(void)
{
	char name[64] = "";
	uint32_t id, first, n;
	struct path p;
	int err = 0;

	WANT(path_up(&p, 2), 0);
	for (n = 0; n < 32 && !err; n++) {
		snprintf(name, sizeof(name), "%.*s%s", n, "////////////////////////////////", disk);
		err = device_open(&p, name, 0, n ? &id : &first);
	}
	WANT(err, EMFILE);
	WANT(n, 9);
	WANT(device_open(&p, disk, 0, &id), 0);	/* what it has already */
	WANT(id, first);
	WANT(device_close(&p, id), 0);
	WANT(device_open(&p, name, 0, &id), 0);
	WANT(path_works(&p), 0);
	path_down(&p);
	return 0;
}

/*
 * Paths of one host, each of a session of its own, that begin and say nothing, until the server
 * takes no more of them. Then it waits to be killed.
 */
static int crowd(void)
{
	static struct path p[80];
	unsigned int n = 0;
	int err;

	do {
		path_init(&p[n], 2);
		p[n].con[0].recv_size = 64;
		err = path_connect(&p[n], 0);
	} while (!err && ++n < 80);
	printf("%u paths, then errno %d\n", n, -err);
	fflush(stdout);
	sleep(120);
	return 1;
}

/* Opens it @n times, under as many names, and reads from each opening, without an answer. */
static int read_under_names(struct path *p, unsigned int n)
{
	struct rnbd_io io = { .op = RNBD_OP_READ, .bytes = KIB4 };
	struct rnbd_msg_io msg;
	struct request r = {
		.cid = 1, .read = true, .usr = &msg, .usr_len = sizeof(msg),
		.data_len = KIB4, .sg_cnt = -1, .ignored = true,
	};
	char name[64];
	unsigned int i;

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%.*s%s", i, "////////////////////////////////", disk);
		WANT_FOR(device_open(p, name, 0, &io.device_id), 0, "opening %u", i);
		rnbd_io_pack(&msg, &io);
		r.slot = i + 1;
		request_send(p, &r);
	}
	return 0;
}

/*
 * DISK hangs: $PATHS paths, each of a session of its own, with $OPENINGS openings each, all of
 * which wait for a read. Says so, and waits to be killed.
 */
static int hang(void)
{
	static struct path p[64];
	unsigned int i, paths = atoi(getenv("PATHS")), openings = atoi(getenv("OPENINGS"));

	WANT(paths <= 64 && openings < 32, true);
	for (i = 0; i < paths; i++) {
		path_init(&p[i], 2);
		p[i].con[0].recv_size = rtrs_info_rsp_size(32);
		WANT(path_connect_all(&p[i]), 0);
		WANT(path_info(&p[i], path_new_name()), 0);
		if (read_under_names(&p[i], openings))
			return 1;
	}
	printf("%u openings\n", paths * openings);
	fflush(stdout);
	pause();
	return 1;
}

const struct test special_tests[] = {
	{ "special-silent", silent },
	{ "special-empty", empty },
	{ "special-operations", operations },
	{ "special-flushes", flushes },
	{ "special-long-discard", long_discard },
	{ "special-moving", moving },
	{ "special-deaf", deaf },
	{ "special-openings", openings },
	{ "special-crowd", crowd },
	{ "special-hang", hang },
	{ NULL, NULL },
};
