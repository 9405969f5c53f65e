// SPDX-License-Identifier: GPL-2.0
/* RNBD's control messages: SESS_INFO, OPEN, CLOSE. */
#include "peer.h"
#include "device.h"

static uint8_t usr[512];
static struct path path;

static int start(void)
{
	return path_up(&path, 2);
}

static int end(void)
{
	WANT(path_works(&path), 0);
	path_down(&path);
	return 0;
}

static int send_usr(uint32_t len, bool read, uint32_t data_len)
{
	static const uint8_t data[4096];
	struct request r = {
		.cid = 1, .slot = 1, .read = read, .data = data, .data_len = data_len,
		.usr = usr, .usr_len = len, .sg_cnt = -1,
	};

	return request(&path, &r);
}

/* Every type at every length that is too short for it */
static int short_messages(void)
{
	static const struct { uint16_t type; uint32_t len; bool read; uint32_t data_len; } m[] = {
		{ RNBD_MSG_SESS_INFO, sizeof(struct rnbd_msg_sess_info), true, 36 },
		{ RNBD_MSG_OPEN, sizeof(struct rnbd_msg_open), true, 56 },
		{ RNBD_MSG_IO, RNBD_MSG_IO_MIN, true, 512 },
		{ RNBD_MSG_CLOSE, sizeof(struct rnbd_msg_close), false, 0 },
	};
	uint32_t len;
	size_t i;

	WANT(start(), 0);
	for (i = 0; i < sizeof(m) / sizeof(m[0]); i++)
		for (len = 0; len < m[i].len; len++) {
			memset(usr, 'x', sizeof(usr));
			rtrs_put_le16(usr, m[i].type);
			usr[4] = 0;	/* a mode that an OPEN may have */
			WANT_FOR(send_usr(len, m[i].read, m[i].data_len), EINVAL,
				 "type %u, %u bytes", m[i].type, len);
		}
	return end();
}

static int unknown_types(void)
{
	static const uint16_t wrong[] = { RNBD_MSG_SESS_INFO_RSP, RNBD_MSG_OPEN_RSP, 6, 7, 0x100,
					  0x8000, 0xffff };
	size_t i;

	WANT(start(), 0);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		memset(usr, 0, sizeof(usr));
		rtrs_put_le16(usr, wrong[i]);
		WANT_FOR(send_usr(300, true, 56), EINVAL, "type %u", wrong[i]);
		WANT_FOR(send_usr(300, false, 0), EINVAL, "type %u", wrong[i]);
	}
	return end();
}

/* @size bytes of a reply in @room: what is behind it is zero, or was not written. */
static bool clean_behind(uint32_t size, uint32_t room)
{
	const uint8_t *p = peer_result();
	uint32_t i;

	for (i = size; i < RESULT_SIZE; i++) {
		if (p[i] == 0xa5 || (i < room && !p[i]))
			continue;
		printf("byte %u behind a reply of %u is %02x\n", i, size, p[i]);
		return false;
	}
	return true;
}

/* As a client of ours, which knows what others do not: 0, or its error */
static int say_ours(void)
{
	struct rnbd_msg_sess_info *info = (struct rnbd_msg_sess_info *)usr;

	memset(usr, 0, sizeof(usr));
	rnbd_sess_info_pack(info, RNBD_MSG_SESS_INFO, RNBD_VERSION_MAJOR);
	rnbd_sess_info_set_minor(info, RNBD_VERSION_MINOR);
	return send_usr(36, true, 36);
}

static int sess_info(void)
{
	static const struct { uint8_t ours, agreed; } v[] = { { 0, 0 }, { 1, 1 }, { 2, 2 },
							      { 3, 2 }, { 255, 2 } };
	const uint8_t *p = peer_result();
	uint32_t i, j;

	WANT(start(), 0);
	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		memset(usr, 0xff, sizeof(usr));
		rtrs_put_le16(usr, RNBD_MSG_SESS_INFO);
		usr[4] = v[i].ours;
		WANT(send_usr(36, true, 36 + 1000 * i), 0);
		WANT(p[0], RNBD_MSG_SESS_INFO_RSP);
		WANT_FOR(p[4], v[i].agreed, "version %u", v[i].ours);
		/* A minor version of ours has a mark, and other bytes are none */
		WANT_FOR(p[5], v[i].agreed < 2 ? 0 : RNBD_MINOR_OURS - 1, "version %u", v[i].ours);
		for (j = 1; j < 36; j++)
			WANT_FOR(j == 4 || j == 5 || !p[j], true, "byte %u", j);
		WANT(clean_behind(36, 36 + 1000 * i), true);
	}
	WANT(say_ours(), 0);
	WANT(rnbd_sess_info_minor(p), RNBD_VERSION_MINOR);
	WANT(clean_behind(36, 36), true);
	for (i = 0; i < 36; i++)
		WANT_FOR(send_usr(36, true, i), EINVAL, "room for %u bytes", i);
	WANT(send_usr(36, false, 36), EINVAL);
	WANT(send_usr(36, false, 0), EINVAL);
	return end();
}

static int open_usr(const char *name, uint8_t access_mode)
{
	memset(usr, 0, sizeof(usr));
	rnbd_open_pack((struct rnbd_msg_open *)usr, name, access_mode);
	return send_usr(sizeof(struct rnbd_msg_open), true, sizeof(struct rnbd_msg_open_rsp));
}

static int open_refused(void)
{
	uint32_t i;

	WANT(start(), 0);
	WANT(open_usr("", 0), EINVAL);
	WANT(open_usr(disk, 3), EINVAL);
	WANT(open_usr(disk, 255), EINVAL);
	WANT(open_usr("/no/such/device", 0), ENOENT);
	WANT(open_usr("/dev", 0), ENOTBLK);
	WANT(open_usr("/", 0), ENOTBLK);
	WANT(open_usr("/dev/null", 0), ENOTBLK);
	WANT(open_usr("/proc/version", 0), ENOTBLK);
	WANT(open_usr("/dev/../dev/ram0", 0), EINVAL);
	WANT(open_usr("..", 0), EINVAL);
	WANT(open_usr("a..b", 0), ENOENT);
	WANT(open_usr("\x1b[2J\n%s%n", 0), ENOENT);

	rnbd_open_pack((struct rnbd_msg_open *)usr, disk, 0);
	memset(usr + 6, '/', 255);	/* no end */
	WANT(send_usr(264, true, 56), EINVAL);
	memset(usr + 6, 'n', 254);
	usr[6 + 254] = 0;
	WANT(send_usr(264, true, 56), ENOENT);

	rnbd_open_pack((struct rnbd_msg_open *)usr, disk, 0);
	for (i = 0; i < 56; i++)
		WANT_FOR(send_usr(264, true, i), EINVAL, "room for %u bytes", i);
	WANT(send_usr(264, false, 56), EINVAL);

	WANT(say_ours(), 0);
	rnbd_open_pack((struct rnbd_msg_open *)usr, disk, 0);
	usr[261] = RNBD_OPEN_MORE;
	for (i = 56; i < 88; i++)
		WANT_FOR(send_usr(264, true, i), EINVAL, "room for %u bytes", i);
	usr[261] = RNBD_OPEN_CLAIM;
	for (i = 264; i < 288; i++)
		WANT_FOR(send_usr(i, true, 56), EINVAL, "a claim that ends after %u bytes", i);
	return end();
}

/* What a reply says, and that it says nothing else */
static int open_reply(void)
{
	struct rnbd_msg_open_rsp *rsp = (struct rnbd_msg_open_rsp *)peer_result();
	struct rnbd_device_info d;

	WANT(start(), 0);
	memset(usr, 0xff, sizeof(usr));
	rnbd_open_pack((struct rnbd_msg_open *)usr, disk, 0);
	WANT(send_usr(264, true, 3000), 0);
	WANT(rnbd_open_rsp_parse(rsp, sizeof(*rsp), &d), 0);
	WANT(d.nsectors > 0, true);
	WANT(rsp->hdr.padding, 0);
	WANT(rsp->rotational, 0);
	WANT(rsp->cache_policy & ~3, 0);
	WANT(rsp->io_mode | rsp->reserved, 0);
	WANT(d.start, 0);
	WANT(d.writers, 0);
	WANT(clean_behind(sizeof(*rsp), 3000), true);

	WANT(say_ours(), 0);
	rnbd_open_pack((struct rnbd_msg_open *)usr, disk, 0);
	usr[261] = RNBD_OPEN_MORE;
	WANT(send_usr(264, true, 3000), 0);
	WANT(rnbd_open_rsp_parse(rsp, sizeof(*rsp), &d), 0);
	rnbd_open_rsp_more_parse((void *)(rsp + 1), &d);
	WANT(d.more, true);
	WANT(d.boot != 0, true);
	WANT(d.access_mode, 0);
	WANT(clean_behind(sizeof(*rsp) + sizeof(struct rnbd_msg_open_rsp_more), 3000), true);
	return end();
}

/* One string is one device; two spellings are two. */
static int open_twice(void)
{
	char other[64], third[64];
	uint32_t id, id2, id3, i;

	snprintf(other, sizeof(other), "/%s", disk);
	snprintf(third, sizeof(third), "/.%s", disk);
	WANT(start(), 0);
	WANT(device_open(&path, disk, 0, &id), 0);
	WANT(device_open(&path, disk, 0, &id2), 0);
	WANT(id2, id);
	WANT(device_open(&path, other, 0, &id2), 0);
	WANT(id2 != id, true);
	WANT(device_open_free(&path, third, &id3), 0);
	WANT(device_open(&path, "/./dev/../dev/ram0", 1, &i), EINVAL);
	WANT(device_close(&path, id), 0);
	WANT(device_close(&path, id2), 0);
	WANT(device_close(&path, id3), 0);
	/* An id does not come back soon. */
	for (i = 0; i < 20; i++) {
		WANT(device_open(&path, disk, i & 1, &id2), 0);
		WANT(id2 == id || id2 == id3, false);
		id3 = id;
		id = id2;
		WANT(device_close(&path, id2), 0);
	}
	return end();
}

static int writers(void)
{
	static const char *const spelling[] = { "/", "//", "/./", "///" };
	char name[4][64];
	uint32_t id[4], i;

	for (i = 0; i < 4; i++)
		snprintf(name[i], sizeof(name[i]), "%s%s", spelling[i], disk);
	WANT(start(), 0);
	WANT(device_open_free(&path, name[0], &id[0]), 0);
	WANT(device_open(&path, name[1], 1, &id[1]), EPERM);
	WANT(device_open(&path, name[1], 0, &id[1]), 0);
	WANT(device_open(&path, name[2], 2, &id[2]), 0);
	WANT(device_open(&path, name[3], 2, &id[3]), EPERM);
	WANT(device_close(&path, id[0]), 0);
	WANT(device_open(&path, name[3], 1, &id[3]), EPERM);
	WANT(device_open(&path, name[3], 2, &id[3]), 0);
	return end();
}

static int close_messages(void)
{
	uint32_t id, i;

	WANT(start(), 0);
	WANT(device_close(&path, 0), 0);
	WANT(device_close(&path, 0xffffffff), 0);
	WANT(device_open_free(&path, disk, &id), 0);
	rnbd_close_pack((struct rnbd_msg_close *)usr, id);
	WANT(send_usr(8, true, 0), EINVAL);
	WANT(send_usr(8, true, 56), EINVAL);
	for (i = 0; i < 3; i++)
		WANT(device_close(&path, id), 0);
	WANT(device_open(&path, disk, 1, &id), 0);
	return end();
}

/* Many of both at once, on all slots and both connections */
static int open_close_storm(void)
{
	struct request r = { .usr = usr, .sg_cnt = -1 };
	uint32_t i, n;

	WANT(start(), 0);
	n = path.geo.queue_depth;
	for (i = 0; i < n; i++) {
		r.slot = i;
		r.cid = i & 1;
		r.read = i % 4 < 2;
		if (r.read) {
			char name[64];

			snprintf(name, sizeof(name), "%.*s%s", (int)(i / 4), "////////////////",
				 disk);
			rnbd_open_pack((struct rnbd_msg_open *)usr, name, 0);
			r.usr_len = sizeof(struct rnbd_msg_open);
			r.data_len = sizeof(struct rnbd_msg_open_rsp);
		} else {
			rnbd_close_pack((struct rnbd_msg_close *)usr, i);
			r.usr_len = sizeof(struct rnbd_msg_close);
			r.data_len = 0;
		}
		request_send(&path, &r);
	}
	for (i = 0; i < n; i++) {
		r.slot = i;
		r.cid = i & 1;
		WANT_FOR(request_wait(&path, &r, 20), 0, "slot %u", i);
	}
	return end();
}

const struct test rnbd_tests[] = {
	{ "rnbd-short-messages", short_messages },
	{ "rnbd-unknown-types", unknown_types },
	{ "rnbd-sess-info", sess_info },
	{ "rnbd-open-refused", open_refused },
	{ "rnbd-open-reply", open_reply },
	{ "rnbd-open-twice", open_twice },
	{ "rnbd-writers", writers },
	{ "rnbd-close", close_messages },
	{ "rnbd-open-close-storm", open_close_storm },
	{ NULL, NULL },
};
