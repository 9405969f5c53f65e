// SPDX-License-Identifier: GPL-2.0
/* Connect requests. */
#include <stdlib.h>

#include "peer.h"

#define BYTES	sizeof(struct rtrs_msg_conn_req)

/* A server that is well takes a new client. */
static int server_works(void)
{
	struct path p;

	WANT(path_up(&p, 2), 0);
	WANT(path_works(&p), 0);
	path_down(&p);
	return 0;
}

/* What the answer to @msg is; a connection that is made is closed at once. */
static int try(const void *msg, size_t len)
{
	struct conn con = { .recv_size = 64 };
	int err = con_open(&con, msg, len, NULL);

	con_close(&con);
	return err;
}

static int proper(void)
{
	return server_works();
}

/* The CM pads what is missing with zeros, so the length reads as 56: the contents must do. */
static int too_short(void)
{
	static const size_t lens[] = { 0, 1, 2, 3, 4, 6, 7, 8, 9, 12, 28, 44 };
	struct rtrs_msg_conn_req msg;
	struct path p;
	size_t i;

	path_init(&p, 2);
	rtrs_conn_req_pack(&msg, &p.req);
	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
		WANT_FOR(try(&msg, lens[i]), lens[i] <= 8 ? -ECONNRESET : -ENXIO, "%zu bytes",
			 lens[i]);
	return server_works();
}

static int garbage(void)
{
	uint8_t msg[BYTES];
	unsigned int i, j;

	srand(1);
	for (i = 0; i < 20; i++) {
		for (j = 0; j < BYTES; j++)
			msg[j] = rand() >> 7;
		if (i >= 10)	/* only what follows the version is random */
			rtrs_put_le16(msg + 2, RTRS_MAGIC);
		WANT_FOR(try(msg, BYTES), -ECONNRESET, "number %u", i);
	}
	memset(msg, 0xff, BYTES);
	WANT(try(msg, BYTES), -ECONNRESET);
	return server_works();
}

/* One 16 bit field at @off of a proper request becomes @value. */
static int changed(size_t off, uint16_t value)
{
	struct rtrs_msg_conn_req msg;
	struct path p;

	path_init(&p, 2);
	rtrs_conn_req_pack(&msg, &p.req);
	rtrs_put_le16((uint8_t *)&msg + off, value);
	return try(&msg, sizeof(msg));
}

#define OFF(field)	offsetof(struct rtrs_msg_conn_req, field)

static int fields(void)
{
	WANT(changed(OFF(magic), 0), -ECONNRESET);
	WANT(changed(OFF(magic), 0xbd1b), -ECONNRESET);
	WANT(changed(OFF(version), 0x0100), -ECONNRESET);
	WANT(changed(OFF(version), 0x0300), -ECONNRESET);
	WANT(changed(OFF(version), 0x0002), -ECONNRESET);
	WANT(changed(OFF(version), 0x02ff), 0);
	WANT(changed(OFF(cid), 2), -ECONNRESET);
	WANT(changed(OFF(cid), 0xffff), -ECONNRESET);
	WANT(changed(OFF(cid_num), 0), -ECONNRESET);
	WANT(changed(OFF(cid_num), 4097), -ECONNRESET);
	WANT(changed(OFF(cid_num), 0xffff), -ECONNRESET);
	WANT(changed(OFF(cid_num), 4096), 0);
	WANT(changed(OFF(recon_cnt), 0), 0);
	WANT(changed(OFF(recon_cnt), 0xffff), 0);
	return server_works();
}

static int no_session(void)
{
	struct path p;

	path_init(&p, 2);
	p.req.first_conn = false;
	WANT(path_connect(&p, 0), -ENXIO);
	return server_works();
}

static int cid_twice(void)
{
	struct conn again = { .recv_size = 64 };
	struct rtrs_msg_conn_req msg;
	struct path p;

	path_init(&p, 3);
	WANT(path_connect(&p, 0), 0);
	rtrs_conn_req_pack(&msg, &p.req);
	WANT(con_open(&again, &msg, sizeof(msg), NULL), -ECONNRESET);
	WANT(path_connect(&p, 1), 0);
	p.req.cid = 1;
	rtrs_conn_req_pack(&msg, &p.req);
	WANT(con_open(&again, &msg, sizeof(msg), NULL), -ECONNRESET);
	WANT(path_connect(&p, 2), 0);
	WANT(path_info(&p, path_new_name()), 0);
	WANT(path_works(&p), 0);
	path_down(&p);
	return server_works();
}

static int other_cid_num(void)
{
	struct path p;

	path_init(&p, 3);
	WANT(path_connect(&p, 0), 0);
	p.req.cid_num = 4;
	WANT(path_connect(&p, 1), -ECONNRESET);
	p.req.cid_num = 3;
	WANT(path_connect(&p, 1), 0);
	WANT(path_connect(&p, 2), 0);
	WANT(path_info(&p, path_new_name()), 0);
	WANT(path_works(&p), 0);
	path_down(&p);
	return server_works();
}

/*
 * Attempts of one path: a client may give up one, half way or whole, without a word that arrives,
 * and begin the next. One that comes late is refused.
 */
static int anew(void)
{
	static const uint16_t cnt[] = { 0xfffe, 0xffff, 0, 1 };
	struct path p[4], late;
	unsigned int i;

	path_init(&late, 2);
	late.req.recon_cnt = 0xfffd;
	for (i = 0; i < 4; i++) {
		path_init(&p[i], 2);
		memcpy(p[i].req.sess_uuid, late.req.sess_uuid, RTRS_UUID_LEN);
		memcpy(p[i].req.paths_uuid, late.req.paths_uuid, RTRS_UUID_LEN);
		p[i].req.recon_cnt = cnt[i];
		WANT_FOR(path_connect(&p[i], 0), 0, "attempt %u", i);
		if (i) {
			WANT_FOR(path_wait_closed(&p[i - 1]), true, "attempt %u", i - 1);
			path_down(&p[i - 1]);
		}
		if (i == 0)
			continue;
		WANT(path_connect(&p[i], 1), 0);
		if (i == 2)
			WANT(path_info(&p[i], path_new_name()), 0);
	}
	WANT(path_connect(&late, 0), -ECONNRESET);
	WANT(path_info(&p[3], path_new_name()), 0);
	WANT(path_works(&p[3]), 0);
	path_down(&p[3]);
	return server_works();
}

/* A path that is connected takes no more. */
static int too_late(void)
{
	struct conn con = { .recv_size = 64 };
	struct rtrs_msg_conn_req msg;
	struct path p;

	WANT(path_up(&p, 2), 0);
	p.req.cid = 1;
	rtrs_conn_req_pack(&msg, &p.req);
	WANT(con_open(&con, &msg, sizeof(msg), NULL), -ECONNRESET);
	WANT(path_works(&p), 0);
	path_down(&p);
	return server_works();
}

/* A second path of the session between the same addresses */
static int same_addresses(void)
{
	struct path p, second;

	WANT(path_up(&p, 2), 0);
	path_init(&second, 2);
	memcpy(second.req.paths_uuid, p.req.paths_uuid, RTRS_UUID_LEN);
	WANT(path_connect(&second, 0), -EEXIST);
	WANT(path_works(&p), 0);
	path_down(&p);
	return server_works();
}

/* Gone in the middle of the handshake, many times */
static int gives_up(void)
{
	unsigned int i;
	struct path p;

	for (i = 0; i < 12; i++) {
		path_init(&p, 3);
		WANT(path_connect(&p, 0), 0);
		if (i % 3)
			WANT(path_connect(&p, 2), 0);
		if (i % 3 == 2)
			WANT(path_connect(&p, 1), 0);
		path_down(&p);
	}
	return server_works();
}

/* That the attempt @recon_cnt of @lost is lost is said over @p, and answered. */
static int fence(struct path *p, const struct path *lost, uint16_t recon_cnt)
{
	uint32_t tag = rtrs_fence_tag(lost->req.sess_uuid, recon_cnt);
	double end = peer_now() + 15;

	WANT(con_imm(&p->con[0], rtrs_imm_pack(RTRS_IMM_FENCE, tag)), IBV_WC_SUCCESS);
	while (p->con[0].imm != rtrs_imm_pack(RTRS_IMM_FENCED, tag) && peer_now() < end)
		con_poll(&p->con[0]);
	WANT(p->con[0].imm, rtrs_imm_pack(RTRS_IMM_FENCED, tag));
	return 0;
}

/* That an attempt of a path was lost is heard when the next one is up. Without counts all are meant. */
static int late_fence(void)
{
	const char *name = path_new_name();
	struct path p, lost;
	int counts;

	for (counts = 1; counts >= 0; counts--) {
		path_init(&lost, 2);
		lost.req.recon_cnt = 4;
		WANT(path_connect_all(&lost), 0);
		WANT(path_info(&lost, name), 0);
		path_beside(&p, &lost);
		p.req.fences = true;
		p.req.fence_cnt = counts;
		WANT(path_connect_to(&p, "fd00::1"), 0);
		WANT(path_info(&p, name), 0);
		WANT(!!(p.flags & RTRS_CONN_RSP_FENCE_CNT), counts);
		WANT(fence(&p, &lost, 3), 0);
		WANT(path_works(&lost), 0);
		WANT(fence(&p, &lost, counts ? 4 : 0), 0);
		WANT(path_wait_closed(&lost), true);
		WANT(path_works(&p), 0);
		path_down(&lost);
		path_down(&p);
	}
	return server_works();
}

const struct test connect_tests[] = {
	{ "connect-proper", proper },
	{ "connect-short", too_short },
	{ "connect-garbage", garbage },
	{ "connect-fields", fields },
	{ "connect-no-session", no_session },
	{ "connect-cid-twice", cid_twice },
	{ "connect-other-cid-num", other_cid_num },
	{ "connect-anew", anew },
	{ "connect-too-late", too_late },
	{ "connect-same-addresses", same_addresses },
	{ "connect-gives-up", gives_up },
	{ "connect-late-fence", late_fence },
	{ NULL, NULL },
};
