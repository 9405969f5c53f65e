// SPDX-License-Identifier: GPL-2.0
/* Random bytes. HOSTILE_SEED repeats a run, HOSTILE_SECONDS (4) makes it longer. */
#include <stdlib.h>
#include <time.h>

#include "device.h"

static uint64_t state;

static uint32_t rnd(uint32_t below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(state >> 33) % below;
}

static void fill(uint8_t *p, uint32_t len)
{
	while (len--)
		*p++ = rnd(256);
}

static double seed(void)
{
	const char *s = getenv("HOSTILE_SEED"), *t = getenv("HOSTILE_SECONDS");

	state = s ? strtoull(s, NULL, 0) : (uint64_t)time(NULL);
	printf("HOSTILE_SEED=%llu\n", (unsigned long long)state);
	return peer_now() + (t ? atof(t) : 4);
}

/* Requests that the transport takes: each must be answered, whatever is in it. */
static int messages(void)
{
	static const uint32_t rooms[] = { 0, 0, 36, 56, 57, 512, 4096, 65536 };
	static const uint32_t lens[] = { 4, 8, 24, 32, 36, 264, 265, 512 };
	static uint8_t data[RESULT_SIZE];
	double until = seed();
	unsigned int n = 0;
	uint8_t usr[512];
	uint32_t id;
	struct path p;

	WANT(path_up(&p, 3), 0);
	WANT(device_open_free(&p, disk, &id), 0);
	while (peer_now() < until) {
		struct request r = {
			.cid = rnd(3), .slot = rnd(p.geo.queue_depth), .read = rnd(2),
			.data = data, .data_len = rooms[rnd(8)], .usr = usr, .usr_len = lens[rnd(8)],
			.sg_cnt = rnd(4) ? -1 : 0,
		};

		if (!rnd(4))
			r.usr_len = rnd(sizeof(usr) + 1);
		fill(usr, sizeof(usr));
		if (rnd(8)) {	/* mostly a type that there is, and the device that is open */
			rtrs_put_le16(usr, rnd(7));
			if (usr[0] == RNBD_MSG_IO && rnd(4)) {
				rtrs_put_le32(usr + 4, id);
				rtrs_put_le32(usr + 16, rnd(7) | rnd(16) << 8);
				rtrs_put_le32(usr + 20, rnd(2) ? r.data_len : rnd(1 << 20));
				rtrs_put_le64(usr + 8, rnd(3) ? rnd(1 << 14) : ~0ULL >> rnd(64));
			}
		}
		WANT_FOR(request(&p, &r) >= 0, true, "message %u", n);
		n++;
	}
	printf("%u messages\n", n);
	WANT(path_works(&p), 0);
	path_down(&p);
	return 0;
}

/* One blow at a path; what it breaks is broken. */
static void blow(struct path *p)
{
	uint32_t cid = rnd(p->cons), slot = rnd(p->geo.queue_depth), len = rnd(600);
	struct rtrs_desc *chunk = &p->chunk[slot];
	uint32_t off = rnd(4) ? rnd(4096) : rnd(p->geo.chunk_size);

	fill(peer_tx(), len);
	if (rnd(2))
		rtrs_put_le16(peer_tx(), rnd(5));
	switch (rnd(12)) {
	case 0:
		con_imm(&p->con[cid], rnd(1 << 30) << 2 | rnd(4));
		break;
	case 1:
		con_send(&p->con[cid], rnd(2) ? 0 : len);
		break;
	case 2:
		con_imm(&p->con[cid], rnd(16) << 28);
		break;
	case 3:
		con_write(&p->con[cid], chunk->addr + off, chunk->rkey, len);
		break;
	default:
		if (off + len > p->geo.chunk_size)
			len = p->geo.chunk_size - off;
		con_write_imm(&p->con[cid], chunk->addr + off, chunk->rkey, len,
			      rtrs_imm_io_req(&p->geo, slot, off));
	}
}

static int bytes(void)
{
	unsigned int paths = 0, blows = 0, i;
	double until = seed();
	struct path p;

	/* Two at least, however slow the machine is. */
	while (paths < 2 || peer_now() < until) {
		path_init(&p, 2 + rnd(2));
		WANT(path_connect_all(&p), 0);
		if (rnd(16))
			WANT(path_info(&p, path_new_name()), 0);
		for (i = 0; i < 50 && !p.con[0].dead; i++, blows++) {
			blow(&p);
			con_poll(&p.con[0]);
		}
		path_down(&p);
		paths++;
	}
	printf("%u blows at %u paths\n", blows, paths);
	WANT(path_up(&p, 2), 0);
	WANT(path_works(&p), 0);
	path_down(&p);
	return 0;
}

const struct test random_tests[] = {
	{ "random-messages", messages },
	{ "random-bytes", bytes },
	{ NULL, NULL },
};
