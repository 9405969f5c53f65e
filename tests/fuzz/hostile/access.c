// SPDX-License-Identifier: GPL-2.0
/* Who may do what with which device, when it is closed by several at once, and by the administrator. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "device.h"

#define KIB4	4096
#define DEVICES	"/sys/class/rnbd-server/ctl/devices"

static uint8_t block[RESULT_SIZE];

static int io(struct path *p, uint32_t id, uint8_t op, uint32_t flags, uint32_t bytes)
{
	struct rnbd_io m = { .device_id = id, .op = op, .flags = flags, .bytes = bytes };
	bool read = op == RNBD_OP_READ || op == RNBD_OP_FLUSH;

	return device_io(p, &m, read, block, op <= RNBD_OP_WRITE ? bytes : 0);
}

/* No operation but a read and a plain flush is let through. */
static int writes_refused(struct path *p, uint32_t id)
{
	uint8_t op;

	WANT(io(p, id, RNBD_OP_READ, 0, KIB4), 0);
	WANT(io(p, id, RNBD_OP_FLUSH, RNBD_F_SYNC | RNBD_F_FUA, 0), 0);
	WANT(io(p, id, RNBD_OP_WRITE, 0, KIB4), EROFS);
	WANT(io(p, id, RNBD_OP_WRITE, RNBD_F_FUA | RNBD_F_SYNC, KIB4), EROFS);
	WANT(io(p, id, RNBD_OP_WRITE, RNBD_F_PREFLUSH, KIB4), EROFS);
	WANT(io(p, id, RNBD_OP_WRITE, RNBD_F_FUA, 0), EROFS);
	WANT(io(p, id, RNBD_OP_WRITE, RNBD_F_PREFLUSH, 0), EROFS);
	for (op = RNBD_OP_DISCARD; op < RNBD_OP_COUNT; op++) {
		WANT_FOR(io(p, id, op, 0, KIB4), EROFS, "op %u", op);
		WANT_FOR(io(p, id, op, RNBD_F_ALL, KIB4), EROFS, "op %u", op);
	}
	return 0;
}

static int set_read_only(int on)
{
	int fd = open(disk, O_RDONLY), err;

	err = fd < 0 ? -1 : ioctl(fd, BLKROSET, &on);
	if (fd >= 0)
		close(fd);
	return err;
}

/* The disk becomes read-only on the server while a writer has it. */
static int read_only_disk(void)
{
	struct path p;
	uint32_t id;
	int failed;

	WANT(path_up(&p, 2), 0);
	WANT(device_open_free(&p, disk, &id), 0);
	WANT(io(&p, id, RNBD_OP_WRITE, 0, KIB4), 0);
	WANT(set_read_only(1), 0);
	failed = writes_refused(&p, id);
	WANT(set_read_only(0), 0);
	WANT(failed, 0);
	WANT(io(&p, id, RNBD_OP_WRITE, 0, KIB4), 0);
	WANT(path_works(&p), 0);
	path_down(&p);
	return 0;
}

static int read_only(void)
{
	struct path p;
	uint32_t id;

	WANT(path_up(&p, 2), 0);
	WANT(device_open(&p, disk, 0, &id), 0);
	WANT(writes_refused(&p, id), 0);
	path_down(&p);
	return 0;
}

static void send_close(struct path *p, uint32_t id, uint32_t cid, uint32_t slot)
{
	struct rnbd_msg_close m;
	struct request r = { .cid = cid, .slot = slot, .usr = &m, .usr_len = sizeof(m) };

	rnbd_close_pack(&m, id);
	request_send(p, &r);
}

static void send_open(struct path *p, const char *name, uint8_t access_mode, uint32_t cid,
		      uint32_t slot)
{
	struct rnbd_msg_open m;
	struct request r = {
		.cid = cid, .slot = slot, .read = true, .usr = &m, .usr_len = sizeof(m),
		.data_len = sizeof(struct rnbd_msg_open_rsp), .sg_cnt = -1,
	};

	rnbd_open_pack(&m, name, access_mode);
	request_send(p, &r);
}

static int answer(struct path *p, uint32_t cid, uint32_t slot)
{
	return request_wait(p, &(struct request){ .cid = cid, .slot = slot }, 20);
}

/* What comes on another connection may overtake them: until the slow disk has them all. */
static void await_reads(uint32_t count)
{
	char name[128];
	unsigned int reads = 0, tries;
	FILE *f;

	snprintf(name, sizeof(name), "/sys/block/%s/inflight", strrchr(slow_disk, '/') + 1);
	for (tries = 0; tries < 500 && reads < count; tries++) {
		f = fopen(name, "r");
		if (!f || fscanf(f, "%u", &reads) != 1)
			reads = 0;
		if (f)
			fclose(f);
		usleep(10000);
	}
}

static void slow_reads(struct path *p, uint32_t id, uint32_t first, uint32_t count)
{
	struct rnbd_io io = { .device_id = id, .op = RNBD_OP_READ, .bytes = KIB4 };
	struct rnbd_msg_io m;
	struct request r = {
		.cid = 1, .read = true, .usr = &m, .usr_len = sizeof(m), .data_len = KIB4,
		.sg_cnt = -1, .ignored = true,
	};

	rnbd_io_pack(&m, &io);
	for (r.slot = first; r.slot < first + count; r.slot++)
		request_send(p, &r);
	await_reads(count);
}

/* Each CLOSE is answered when the device is released, so a writer may come at once. */
static int close_twice(void)
{
	unsigned int round;
	uint32_t id, slot;
	struct path p;

	WANT(path_up(&p, 3), 0);
	WANT(device_open_free(&p, slow_disk, &id), 0);
	WANT(device_close(&p, id), 0);
	for (round = 0; round < 3; round++) {
		WANT(device_open(&p, slow_disk, 1, &id), 0);
		slow_reads(&p, id, 10, 4);
		send_close(&p, id, 0, 1);
		send_close(&p, id, 2, 2);
		send_close(&p, id, 1, 3);
		WANT(answer(&p, 0, 1), 0);
		/* Each takes a second: a CLOSE that does not wait for them comes before. */
		for (slot = 10; slot < 14; slot++)
			WANT_FOR(request_wait(&p, &(struct request){ .cid = 1, .slot = slot }, 0.3), 0,
				 "read on slot %u, when the device is closed", slot);
		WANT(answer(&p, 2, 2), 0);
		WANT(answer(&p, 1, 3), 0);
	}
	/* The second one alone tells of the release, too. */
	WANT(device_open_free(&p, slow_disk, &id), 0);
	slow_reads(&p, id, 10, 4);
	send_close(&p, id, 0, 1);
	usleep(100000);
	send_close(&p, id, 2, 2);
	WANT(answer(&p, 2, 2), 0);
	WANT(device_open(&p, slow_disk, 1, &id), 0);
	WANT(answer(&p, 0, 1), 0);
	/* Their data is on another connection and may be late, but not behind their answers. */
	for (slot = 10; slot < 14; slot++)
		WANT_FOR(request_wait(&p, &(struct request){ .cid = 1, .slot = slot }, 3), 0,
			 "read on slot %u", slot);
	WANT(path_works(&p), 0);
	path_down(&p);
	return 0;
}

/* OPEN of what is being closed: it is open still, or it is open again, or that took too long. */
static int open_while_closing(void)
{
	unsigned int round;
	double t0;
	uint32_t id;
	struct path p;
	int err;

	WANT(path_up(&p, 3), 0);
	for (round = 0; round < 3; round++) {
		WANT(device_open_free(&p, slow_disk, &id), 0);
		slow_reads(&p, id, 10, 2);
		t0 = peer_now();
		send_close(&p, id, 0, 1);
		send_open(&p, slow_disk, round % 2, 2, 2);
		send_close(&p, id, 1, 3);
		send_open(&p, slow_disk, 0, 0, 4);
		err = answer(&p, 2, 2);
		WANT_FOR(!err || (err == EPERM && peer_now() - t0 > 4.5), true, "%d", err);
		WANT(answer(&p, 0, 4), 0);
		WANT(answer(&p, 0, 1), 0);
		WANT(answer(&p, 1, 3), 0);
		WANT(path_works(&p), 0);
		path_down(&p);
		WANT(path_up(&p, 3), 0);
	}
	path_down(&p);
	return 0;
}

/* One disk by two names, in all orders, on several connections */
static int spellings(void)
{
	char other[64];
	uint32_t a, b, round;
	struct path p;

	snprintf(other, sizeof(other), "/%s", disk);
	WANT(path_up(&p, 3), 0);
	for (round = 0; round < 10; round++) {
		send_open(&p, disk, 0, 0, 1);
		send_open(&p, other, 0, 1, 2);
		send_open(&p, disk, 0, 2, 3);
		WANT(answer(&p, 0, 1), 0);
		WANT(answer(&p, 1, 2), 0);
		WANT(answer(&p, 2, 3), 0);
		WANT(device_open(&p, disk, 0, &a), 0);
		WANT(device_open(&p, other, 0, &b), 0);
		WANT(a != b, true);
		WANT(io(&p, a, RNBD_OP_READ, 0, KIB4), 0);
		WANT(io(&p, b, RNBD_OP_READ, 0, KIB4), 0);
		send_close(&p, round & 1 ? a : b, 0, 1);
		send_close(&p, round & 1 ? b : a, 1, 2);
		send_close(&p, a, 2, 3);
		WANT(answer(&p, 0, 1), 0);
		WANT(answer(&p, 1, 2), 0);
		WANT(answer(&p, 2, 3), 0);
		WANT(io(&p, a, RNBD_OP_READ, 0, KIB4), ENOTCONN);
	}
	WANT(device_open(&p, disk, 1, &a), 0);
	WANT(device_open(&p, other, 1, &b), EPERM);
	path_down(&p);
	return 0;
}

/*
 * A message that changes while it is looked at: read-only or not, it is the same all along, so
 * that the count of writers is right in the end.
 */
static int changes_its_mind(void)
{
	struct rnbd_msg_open m;
	struct path p;
	uint32_t i, id;

	WANT(path_up(&p, 2), 0);
	for (i = 0; i < 60; i++) {
		struct rtrs_desc *chunk = &p.chunk[1];
		int err;

		send_open(&p, disk, i & 1, 0, 1);
		/* Where the user message is: behind the room for the answer */
		rnbd_open_pack(&m, i % 4 < 2 ? disk : "/dev/../x", !(i & 1));
		memcpy(peer_tx(), &m, sizeof(m));
		if (con_write(&p.con[1], chunk->addr + sizeof(struct rnbd_msg_open_rsp), chunk->rkey,
			      sizeof(m)) != IBV_WC_SUCCESS)
			break;	/* the region is not valid while the server works on it */
		err = answer(&p, 0, 1);
		if (err == CLOSED)
			break;
		WANT_FOR(err == 0 || err == EPERM || err == EINVAL, true, "%d", err);
		if (!err) {
			id = rtrs_get_le32(peer_result() + 4);
			WANT(device_close(&p, id), 0);
		}
	}
	path_down(&p);
	WANT(path_up(&p, 2), 0);
	WANT(device_open_free(&p, disk, &id), 0);
	path_down(&p);
	return 0;
}

/* Writes 1 to the file of the only opening of @name by a session of ours; in a process of its own */
static pid_t force(const char *name)
{
	char cmd[256];
	pid_t pid;

	snprintf(cmd, sizeof(cmd), "echo 1 >$(ls -d " DEVICES "/%s/sessions/hostile-%d-*)/force_close",
		 strrchr(name, '/') + 1, getpid());
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(system(cmd) ? 1 : 0);
	return pid;
}

static int ended(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

/* The id leads nowhere from then on, whatever is opened, until the client closes it. */
static int force_close(void)
{
	uint32_t id, id2, i;
	char name[80];
	struct path p;

	WANT(path_up(&p, 2), 0);
	WANT(device_open_free(&p, disk, &id), 0);
	WANT(ended(force(disk)), 0);
	WANT(io(&p, id, RNBD_OP_READ, 0, KIB4), ENOTCONN);
	WANT(io(&p, id, RNBD_OP_WRITE, 0, KIB4), ENOTCONN);
	for (i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "%.*s%s", (int)i, "////////////////////", disk);
		WANT(device_open(&p, name, i == 0, &id2), 0);
		WANT(id2 != id, true);
		WANT(io(&p, id, RNBD_OP_READ, 0, KIB4), ENOTCONN);
		WANT(io(&p, id2, RNBD_OP_READ, 0, KIB4), 0);
	}
	WANT(device_close(&p, id), 0);
	WANT(device_close(&p, id), 0);
	WANT(io(&p, id2, RNBD_OP_READ, 0, KIB4), 0);
	path_down(&p);
	return 0;
}

/* Until the administrator's shell has got so far: no read there, but EIO while it is open */
static int forced(struct path *p, uint32_t id)
{
	struct rnbd_io m = {
		.device_id = id, .op = RNBD_OP_READ, .sector = 1ULL << 40, .bytes = KIB4,
	};
	int err, tries;

	for (tries = 0; tries < 2000; tries++) {
		err = device_io(p, &m, true, NULL, KIB4);
		if (err != EIO)
			break;
		usleep(10000);
	}
	return err;
}

/* It waits for what runs; a CLOSE and another force that come meanwhile wait, too. */
static int force_in_flight(void)
{
	uint32_t id, slot;
	pid_t first, second;
	struct path p;

	WANT(path_up(&p, 3), 0);
	WANT(device_open_free(&p, slow_disk, &id), 0);
	slow_reads(&p, id, 10, 4);
	first = force(slow_disk);
	second = force(slow_disk);
	WANT(forced(&p, id), ENOTCONN);
	send_close(&p, id, 0, 1);
	send_open(&p, disk, 0, 2, 2);
	WANT(answer(&p, 2, 2), 0);
	WANT(answer(&p, 0, 1), 0);
	for (slot = 10; slot < 14; slot++)
		WANT_FOR(answer(&p, 1, slot), 0, "slot %u", slot);
	/* One of them may have come too late for the file. */
	first = ended(first);
	second = ended(second);
	WANT(first && second, false);
	WANT(device_open(&p, slow_disk, 1, &id), 0);
	WANT(path_works(&p), 0);
	path_down(&p);
	return 0;
}

/* The session goes while an administrator waits */
static int force_and_vanish(void)
{
	unsigned int i;
	uint32_t id;
	struct path p;
	pid_t pid;

	for (i = 0; i < 3; i++) {
		WANT(path_up(&p, 2), 0);
		WANT(device_open(&p, slow_disk, 0, &id), 0);
		slow_reads(&p, id, 10, 4);
		usleep(100000);
		pid = force(slow_disk);
		usleep(20000 * i);
		path_down(&p);
		ended(pid);
	}
	return 0;
}

/* For the access list of the server: it has no such export, and says so each time */
static int flood(void)
{
	struct path p;
	uint32_t id;
	int i;

	WANT(path_up(&p, 3), 0);
	for (i = 0; i < 150; i++)
		WANT(device_open(&p, "none", 0, &id), ENOENT);
	path_down(&p);
	return 0;
}

const struct test access_tests[] = {
	{ "access-read-only", read_only },
	{ "access-read-only-disk", read_only_disk },
	{ "access-close-twice", close_twice },
	{ "access-open-while-closing", open_while_closing },
	{ "access-spellings", spellings },
	{ "access-changes-its-mind", changes_its_mind },
	{ "access-force-close", force_close },
	{ "access-force-in-flight", force_in_flight },
	{ "access-force-and-vanish", force_and_vanish },
	{ "access-flood", flood },
	{ NULL, NULL },
};
