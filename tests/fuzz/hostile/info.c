// SPDX-License-Identifier: GPL-2.0
/* The INFO exchange. Whatever is wrong with it closes the path. */
#include "peer.h"

#define BYTES	sizeof(struct rtrs_msg_info_req)

/* A proper INFO_REQ in the buffer to send from */
static struct rtrs_msg_info_req *info_req(void)
{
	struct rtrs_msg_info_req *m = (struct rtrs_msg_info_req *)peer_tx();

	rtrs_info_req_pack(m, path_new_name());
	return m;
}

/* Sends what lies there on a path that waits for it. */
static int refused(uint32_t len)
{
	uint8_t keep[BYTES];
	struct path p;

	memcpy(keep, peer_tx(), BYTES);
	path_init(&p, 2);
	WANT(path_connect_all(&p), 0);
	memcpy(peer_tx(), keep, BYTES);
	con_send(&p.con[0], len);
	WANT(path_wait_closed(&p), true);
	WANT(p.con[0].messages, 0);
	path_down(&p);
	return 0;
}

static int lengths(void)
{
	static const uint32_t lens[] = { 0, 1, 2, 3, 100, 257, BYTES - 1, BYTES + 1, 4096 };
	size_t i;

	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		memset(peer_tx(), 0, 4096);
		info_req();
		WANT_FOR(refused(lens[i]), 0, "%u bytes", lens[i]);
	}
	return 0;
}

static int types(void)
{
	static const uint16_t wrong[] = { 1, 2, 3, 4, 0x100, 0xffff };
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		rtrs_put_le16(&info_req()->type, wrong[i]);
		WANT_FOR(refused(BYTES), 0, "type %u", wrong[i]);
	}
	return 0;
}

static int names(void)
{
	static const char *const wrong[] = { "", "/", ".", "..", "a/b", "a.b", "/etc", "a." };
	struct rtrs_msg_info_req *m;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		m = info_req();
		memset(m->name, 0, sizeof(m->name));
		memcpy(m->name, wrong[i], strlen(wrong[i]));
		WANT_FOR(refused(BYTES), 0, "\"%s\"", wrong[i]);
	}
	return 0;
}

static int unterminated(void)
{
	struct rtrs_msg_info_req *m = info_req();

	memset(m->name, 'n', sizeof(m->name));
	WANT(refused(BYTES), 0);
	memset(info_req(), 0xff, BYTES);
	rtrs_put_le16(&m->type, RTRS_MSG_INFO_REQ);
	WANT(refused(BYTES), 0);
	return 0;
}

/* The longest name, and bytes that no terminal likes */
static int odd_names(void)
{
	char name[RTRS_WIRE_NAME_LEN];
	struct path p;
	int i;

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	for (i = 0; i < 2; i++) {
		path_init(&p, 2);
		WANT(path_connect_all(&p), 0);
		WANT(path_info(&p, i ? "\x1b[2J\n\r\t%s%n\xff\xfe ;" : name), 0);
		WANT(path_works(&p), 0);
		path_down(&p);
	}
	return 0;
}

static int before_all(void)
{
	struct path p;

	path_init(&p, 3);
	WANT(path_connect(&p, 0), 0);
	WANT(path_connect(&p, 1), 0);
	WANT(path_info(&p, path_new_name()), CLOSED);
	WANT(path_wait_closed(&p), true);
	path_down(&p);
	return 0;
}

/* The name of a session that lives */
static int name_taken(void)
{
	const char *name = path_new_name();
	struct path p, thief;

	path_init(&p, 2);
	WANT(path_connect_all(&p), 0);
	WANT(path_info(&p, name), 0);
	path_init(&thief, 2);
	WANT(path_connect_all(&thief), 0);
	WANT(path_info(&thief, name), CLOSED);
	WANT(path_wait_closed(&thief), true);
	path_down(&thief);
	WANT(path_works(&p), 0);
	path_down(&p);
	return 0;
}

/* Another path of a session, over the server's other address: with its name and with another one */
static int name_of_session(void)
{
	const char *name = path_new_name();
	struct path p, other;
	int i;

	path_init(&p, 2);
	WANT(path_connect_all(&p), 0);
	WANT(path_info(&p, name), 0);
	for (i = 0; i < 2; i++) {
		path_init(&other, 2);
		memcpy(other.req.paths_uuid, p.req.paths_uuid, RTRS_UUID_LEN);
		WANT(peer_goes_to("fd00::1"), 0);
		WANT(path_connect_all(&other), 0);
		WANT(peer_goes_to(NULL), 0);
		WANT_FOR(path_info(&other, i ? "another" : name), i ? CLOSED : 0, "path %d", i);
		WANT(i ? path_wait_closed(&other) : !path_works(&other), true);
		path_down(&other);
	}
	WANT(path_works(&p), 0);
	path_down(&p);
	return 0;
}

static int twice(void)
{
	struct path p;

	WANT(path_up(&p, 2), 0);
	info_req();
	con_send(&p.con[0], BYTES);
	WANT(path_wait_closed(&p), true);
	path_down(&p);
	return 0;
}

/* Requests, heartbeats and messages on the other connections while INFO is due */
static int something_else(void)
{
	static const uint32_t imm[] = { 0, 0x80000000, 0x90000000, 0x10000000, 0x50000000 };
	struct path p;
	size_t i;

	for (i = 0; i < sizeof(imm) / sizeof(imm[0]); i++) {
		path_init(&p, 2);
		WANT(path_connect_all(&p), 0);
		con_imm(&p.con[0], imm[i]);
		WANT_FOR(path_wait_closed(&p), true, "immediate %08x", imm[i]);
		path_down(&p);
	}
	return 0;
}

const struct test info_tests[] = {
	{ "info-lengths", lengths },
	{ "info-types", types },
	{ "info-names", names },
	{ "info-unterminated", unterminated },
	{ "info-odd-names", odd_names },
	{ "info-before-all", before_all },
	{ "info-name-taken", name_taken },
	{ "info-name-of-session", name_of_session },
	{ "info-twice", twice },
	{ "info-something-else", something_else },
	{ NULL, NULL },
};
