// SPDX-License-Identifier: GPL-2.0
/* RNBD's IO. */
#include <stdlib.h>
#include <unistd.h>

#include "device.h"

#define KIB4	4096

static struct path path;
static uint32_t rw, ro;	/* ids */
static uint64_t sectors;
static uint8_t block[RESULT_SIZE];

int device_open(struct path *p, const char *name, uint8_t access_mode, uint32_t *id)
{
	struct rnbd_device_info info;
	struct rnbd_msg_open m;
	struct request r = {
		.cid = 0, .read = true, .usr = &m, .usr_len = sizeof(m),
		.data_len = sizeof(struct rnbd_msg_open_rsp), .sg_cnt = -1,
	};
	int err;

	rnbd_open_pack(&m, name, access_mode);
	err = request(p, &r);
	if (!err && rnbd_open_rsp_parse(peer_result(), r.data_len, &info))
		err = SILENT;
	if (!err) {
		*id = info.device_id;
		sectors = info.nsectors;
	}
	return err;
}

/* The one who had it before may be gone, but not yet for the server. */
int device_open_free(struct path *p, const char *name, uint32_t *id)
{
	int err, tries;

	for (tries = 0; tries < 200; tries++) {
		err = device_open(p, name, 1, id);
		if (err != EPERM)
			break;
		usleep(50000);
	}
	return err;
}

int device_close(struct path *p, uint32_t id)
{
	struct rnbd_msg_close m;
	struct request r = { .cid = 0, .usr = &m, .usr_len = sizeof(m) };

	rnbd_close_pack(&m, id);
	return request(p, &r);
}

int device_io(struct path *p, const struct rnbd_io *io, bool read, const void *data,
	      uint32_t data_len)
{
	struct rnbd_msg_io m;
	struct request r = {
		.cid = p->cons - 1, .read = read, .usr = &m, .usr_len = sizeof(m), .data = data,
		.data_len = data_len, .sg_cnt = -1,
	};

	rnbd_io_pack(&m, io);
	return request(p, &r);
}

static int start(void)
{
	char other[64];

	snprintf(other, sizeof(other), "/%s", disk);
	WANT(path_up(&path, 2), 0);
	WANT(device_open_free(&path, disk, &rw), 0);
	WANT(device_open(&path, other, 0, &ro), 0);
	return 0;
}

static int end(void)
{
	WANT(path_works(&path), 0);
	path_down(&path);
	return 0;
}

static int io(uint8_t op, uint32_t flags, uint64_t sector, uint32_t bytes, uint32_t data_len)
{
	struct rnbd_io m = { .device_id = rw, .op = op, .flags = flags, .sector = sector,
			     .bytes = bytes };

	return device_io(&path, &m, op == RNBD_OP_READ || op == RNBD_OP_FLUSH, block, data_len);
}

static int round_trip(void)
{
	static uint8_t pattern[RESULT_SIZE];
	uint32_t len, i;

	WANT(start(), 0);
	for (i = 0; i < sizeof(pattern); i++)
		pattern[i] = i * 31 + (i >> 8);
	for (len = 512; len <= path.geo.max_io_size; len = len * 2 + 512) {
		memcpy(block, pattern + 1, len);
		WANT_FOR(io(RNBD_OP_WRITE, 0, 8, len, len), 0, "%u bytes", len);
		WANT_FOR(io(RNBD_OP_READ, RNBD_F_SYNC, 8, len, len), 0, "%u bytes", len);
		WANT_FOR(memcmp(peer_result(), pattern + 1, len), 0, "%u bytes", len);
		WANT(peer_result()[len], 0xa5);
	}
	WANT(io(RNBD_OP_FLUSH, RNBD_F_SYNC | RNBD_F_FUA, RNBD_FLUSH_SECTOR, 0, 0), 0);
	WANT(io(RNBD_OP_WRITE, RNBD_F_FUA | RNBD_F_SYNC, 0, KIB4, KIB4), 0);
	WANT(io(RNBD_OP_WRITE, RNBD_F_PREFLUSH | RNBD_F_FUA, 0, KIB4, KIB4), 0);
	WANT(io(RNBD_OP_WRITE, RNBD_F_PREFLUSH, 0, 0, 0), 0);
	WANT(io(RNBD_OP_WRITE, RNBD_F_FUA | RNBD_F_SYNC, RNBD_FLUSH_SECTOR >> 12, 0, 0), 0);
	return end();
}

static int lengths(void)
{
	WANT(start(), 0);
	WANT(io(RNBD_OP_READ, 0, 0, KIB4, 0), EINVAL);
	WANT(io(RNBD_OP_READ, 0, 0, 0, 0), EINVAL);
	WANT(io(RNBD_OP_READ, 0, 0, 0, KIB4), EINVAL);
	WANT(io(RNBD_OP_READ, 0, 0, 0xfffffe00, KIB4), EINVAL);
	WANT(io(RNBD_OP_READ, 0, 0, KIB4, KIB4 + 512), EINVAL);
	WANT(io(RNBD_OP_READ, 0, 0, 100, 100), EINVAL);
	WANT(io(RNBD_OP_WRITE, 0, 0, KIB4, 0), EINVAL);
	WANT(io(RNBD_OP_WRITE, 0, 0, 0, 0), EINVAL);
	WANT(io(RNBD_OP_WRITE, 0, 0, 0, KIB4), EINVAL);
	WANT(io(RNBD_OP_WRITE, 0, 0, 2 * KIB4, KIB4), EINVAL);
	WANT(io(RNBD_OP_WRITE, 0, 0, 513, 513), EINVAL);
	WANT(io(RNBD_OP_FLUSH, 0, 0, KIB4, 0), EINVAL);
	WANT(io(RNBD_OP_FLUSH, 0, 0, KIB4, KIB4), EINVAL);
	WANT(io(RNBD_OP_DISCARD, 0, 0, KIB4, KIB4), EINVAL);
	WANT(io(RNBD_OP_DISCARD, 0, 0, 0, 0), EINVAL);
	WANT(io(RNBD_OP_WRITE_ZEROES, 0, 0, 0, KIB4), EINVAL);
	WANT(io(RNBD_OP_SECURE_ERASE, 0, 0, 0, 0), EINVAL);
	return end();
}

static int places(void)
{
	WANT(start(), 0);
	WANT(io(RNBD_OP_READ, 0, sectors - 8, KIB4, KIB4), 0);
	WANT(io(RNBD_OP_READ, 0, sectors - 7, KIB4, KIB4), EIO);
	WANT(io(RNBD_OP_READ, 0, sectors, 512, 512), EIO);
	WANT(io(RNBD_OP_READ, 0, sectors + 1, 512, 512), EIO);
	WANT(io(RNBD_OP_WRITE, 0, sectors - 1, KIB4, KIB4), EIO);
	WANT(io(RNBD_OP_WRITE, 0, 1ULL << 40, KIB4, KIB4), EIO);
	WANT(io(RNBD_OP_WRITE, 0, 1ULL << 55, KIB4, KIB4), EINVAL);
	WANT(io(RNBD_OP_WRITE, 0, ~0ULL, KIB4, KIB4), EINVAL);
	WANT(io(RNBD_OP_WRITE, 0, ~0ULL - 7, KIB4, KIB4), EINVAL);
	WANT(io(RNBD_OP_WRITE_ZEROES, 0, sectors - 1, 0xfffffe00, 0), EIO);
	WANT(io(RNBD_OP_DISCARD, 0, sectors, 512, 0), EIO);
	return end();
}

static int directions(void)
{
	struct rnbd_io m = { .device_id = rw, .bytes = KIB4 };
	uint8_t op;

	WANT(start(), 0);
	m.device_id = rw;
	m.op = RNBD_OP_READ;
	WANT(device_io(&path, &m, false, block, KIB4), EINVAL);
	m.op = RNBD_OP_WRITE;
	WANT(device_io(&path, &m, true, NULL, KIB4), EINVAL);
	for (op = RNBD_OP_DISCARD; op < RNBD_OP_COUNT; op++) {
		m.op = op;
		WANT(device_io(&path, &m, true, NULL, 0), EINVAL);
	}
	return end();
}

/* RAM disks learnt to discard in Linux 6.8. */
static bool knows_discard(void)
{
	unsigned long long most = 0;
	char file[96];
	FILE *f;

	snprintf(file, sizeof(file), "/sys/block/%.32s/queue/discard_max_bytes",
		 strrchr(disk, '/') + 1);
	f = fopen(file, "r");
	if (f) {
		if (fscanf(f, "%llu", &most) != 1)
			most = 0;
		fclose(f);
	}
	return most;
}

static int unknown_ops(void)
{
	uint32_t op;

	WANT(start(), 0);
	for (op = RNBD_OP_COUNT; op < 256; op++) {
		WANT_FOR(io(op, 0, 0, KIB4, KIB4), EOPNOTSUPP, "op %u", op);
		WANT_FOR(io(op, 0xffffff00, 0, KIB4, 0), EOPNOTSUPP, "op %u", op);
	}
	/* Flags that nobody knows do nothing, those of writes nothing to a read. */
	WANT(io(RNBD_OP_READ, 0xffffff00, 0, KIB4, KIB4), 0);
	WANT(io(RNBD_OP_WRITE, 0xfffff100, 0, KIB4, KIB4), 0);
	/* Operations that know no FUA, and that this disk does not know: an errno, no warning. */
	WANT(io(RNBD_OP_WRITE_ZEROES, RNBD_F_FUA, 0, KIB4, 0), EOPNOTSUPP);
	WANT(io(RNBD_OP_DISCARD, RNBD_F_PREFLUSH, 0, KIB4, 0), knows_discard() ? 0 : EOPNOTSUPP);
	WANT(io(RNBD_OP_SECURE_ERASE, RNBD_F_ALL, 0, KIB4, 0), EOPNOTSUPP);
	return end();
}

static int read_only(void)
{
	struct rnbd_io m = { .bytes = KIB4 };

	WANT(start(), 0);
	m.device_id = ro;
	m.op = RNBD_OP_READ;
	WANT(device_io(&path, &m, true, NULL, KIB4), 0);
	m.op = RNBD_OP_WRITE;
	WANT(device_io(&path, &m, false, block, KIB4), EROFS);
	m.flags = RNBD_F_FUA | RNBD_F_SYNC | RNBD_F_PREFLUSH;
	WANT(device_io(&path, &m, false, block, KIB4), EROFS);
	m.flags = 0;
	for (m.op = RNBD_OP_DISCARD; m.op < RNBD_OP_COUNT; m.op++)
		WANT_FOR(device_io(&path, &m, false, NULL, 0), EROFS, "op %u", m.op);
	m.op = RNBD_OP_FLUSH;
	m.bytes = 0;
	WANT(device_io(&path, &m, true, NULL, 0), 0);
	return end();
}

static int unknown_ids(void)
{
	struct rnbd_io m = { .op = RNBD_OP_READ, .bytes = KIB4 };
	uint32_t i;

	WANT(start(), 0);
	for (i = 0; i < 34; i++) {
		m.device_id = i < 32 ? 1U << i : i == 32 ? 0 : ~0U;
		if (m.device_id == rw || m.device_id == ro)
			continue;
		WANT_FOR(device_io(&path, &m, true, NULL, KIB4), ENOTCONN, "id %u", m.device_id);
	}
	m.device_id = ro;
	WANT(device_close(&path, ro), 0);
	WANT(device_io(&path, &m, true, NULL, KIB4), ENOTCONN);
	WANT(device_close(&path, ro), 0);
	m.device_id = rw;
	WANT(device_io(&path, &m, true, NULL, KIB4), 0);
	return end();
}

/* Priorities of all kinds, with a version that has none and one that has them */
static int priorities(void)
{
	struct rnbd_io m = { .op = RNBD_OP_READ, .bytes = 512 };
	uint32_t i;

	WANT(start(), 0);
	m.device_id = rw;
	for (i = 0; i < 64; i++) {
		m.prio = i % 32 << 11 | i % 32;
		if (i == 32)
			WANT(path_works(&path), 0);
		WANT_FOR(device_io(&path, &m, true, NULL, 512), 0, "priority %04x", m.prio);
	}
	return end();
}

/* One read of the slow disk on each of @n slots, on the connection that a close takes, too */
static int slow_reads(struct path *p, uint32_t *id, unsigned int n)
{
	struct rnbd_io io = { .op = RNBD_OP_READ, .bytes = KIB4 };
	struct rnbd_msg_io m;
	struct request r = {
		.cid = 0, .read = true, .usr = &m, .usr_len = sizeof(m), .data_len = KIB4,
		.sg_cnt = -1, .ignored = true,
	};
	unsigned int i;

	WANT(device_open(p, slow_disk, 0, id), 0);
	io.device_id = *id;
	rnbd_io_pack(&m, &io);
	for (i = 0; i < n; i++) {
		r.slot = 1 + i;
		request_send(p, &r);
	}
	return 0;
}

/* The close waits for what runs, what comes after it finds nothing. */
static int close_in_flight(void)
{
	struct request r = { .cid = 0 };
	struct path p;
	uint32_t id;

	WANT(path_up(&p, 2), 0);
	WANT(slow_reads(&p, &id, 8), 0);
	WANT(device_close(&p, id), 0);
	for (r.slot = 1; r.slot <= 8; r.slot++)
		WANT(request_wait(&p, &r, 5), 0);
	WANT(path_works(&p), 0);
	path_down(&p);
	return 0;
}

static int vanish_in_flight(void)
{
	struct path p;
	unsigned int i;
	uint32_t id;

	for (i = 0; i < 3; i++) {
		WANT(path_up(&p, 2), 0);
		WANT(slow_reads(&p, &id, 16), 0);
		path_down(&p);
	}
	return 0;
}

/* Ends without a word, so no test comes after it: the kernel cleans up the connections, the server the rest. */
static int dies(void)
{
	struct path p;
	uint32_t id;

	WANT(path_up(&p, 3), 0);
	WANT(slow_reads(&p, &id, 16), 0);
	fflush(stdout);
	_Exit(0);
}

const struct test io_tests[] = {
	{ "io-round-trip", round_trip },
	{ "io-lengths", lengths },
	{ "io-places", places },
	{ "io-directions", directions },
	{ "io-unknown-ops", unknown_ops },
	{ "io-read-only", read_only },
	{ "io-unknown-ids", unknown_ids },
	{ "io-priorities", priorities },
	{ "io-close-in-flight", close_in_flight },
	{ "io-vanish-in-flight", vanish_in_flight },
	{ "io-dies", dies },
	{ NULL, NULL },
};
