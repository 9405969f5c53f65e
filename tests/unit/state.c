// SPDX-License-Identifier: GPL-2.0
/* State tables: every pair of states against the table of the specification, written out. */
#include <linux/rnbd.h>
#include "kernel/rtrs/core/fsm.h"
#include "kernel/rtrs/client/state.h"
#include "kernel/rtrs/server/state.h"
#include "kernel/rnbd/client/state.h"
#include "tap.h"

/*
 * @table: rows are where it comes from, columns where it goes to, in the order of the
 * enum; 'x' is an edge.
 */
static void walk(const struct rtrs_fsm *fsm, unsigned int count, const char *const *table)
{
	unsigned int from, to;

	EQ(fsm->count, count);
	for (from = 0; from < 64; from++)
		for (to = 0; to < 64; to++) {
			bool want = from < count && to < count && table[from][to] == 'x';

			NOTE("%u to %u", from, to);
			EQ(rtrs_fsm_may(fsm, from, to), want);
		}
	EQ(rtrs_fsm_may(fsm, ~0U, 0), false);
	EQ(rtrs_fsm_may(fsm, 0, ~0U), false);
}

/* Section 10.1 of the protocol. */
static void client_path(void)
{
	static const char *const table[] = {
		/* CONNECTING _ERR RECONNECTING CONNECTED CLOSING CLOSED DEAD */
		".x.xx..",	/* CONNECTING */
		"..x.x..",	/* CONNECTING_ERR */
		"x...x..",	/* RECONNECTING */
		"..x.x..",	/* CONNECTED */
		".....x.",	/* CLOSING */
		"..x...x",	/* CLOSED */
		".......",	/* DEAD */
	};

	EQ(RTRS_CLIENT_PATH_CONNECTING, 0);
	EQ(RTRS_CLIENT_PATH_CONNECTING_ERR, 1);
	EQ(RTRS_CLIENT_PATH_RECONNECTING, 2);
	EQ(RTRS_CLIENT_PATH_CONNECTED, 3);
	EQ(RTRS_CLIENT_PATH_CLOSING, 4);
	EQ(RTRS_CLIENT_PATH_CLOSED, 5);
	EQ(RTRS_CLIENT_PATH_DEAD, 6);
	walk(&rtrs_client_path_fsm, 7, table);
}

/* Section 10.2. */
static void server_path(void)
{
	static const char *const table[] = {
		/* CONNECTING CONNECTED CLOSING CLOSED */
		".xx.",		/* CONNECTING */
		"..x.",		/* CONNECTED */
		"...x",		/* CLOSING */
		"....",		/* CLOSED */
	};

	EQ(RTRS_SERVER_PATH_CONNECTING, 0);
	EQ(RTRS_SERVER_PATH_CONNECTED, 1);
	EQ(RTRS_SERVER_PATH_CLOSING, 2);
	EQ(RTRS_SERVER_PATH_CLOSED, 3);
	walk(&rtrs_server_path_fsm, 4, table);
}

/* Architecture, decision 3. */
static void slot(void)
{
	static const char *const table[] = {
		/* IDLE BUSY FENCED */
		".x.",		/* IDLE */
		"x.x",		/* BUSY */
		"xx.",		/* FENCED */
	};

	EQ(RTRS_SERVER_SLOT_IDLE, 0);
	EQ(RTRS_SERVER_SLOT_BUSY, 1);
	EQ(RTRS_SERVER_SLOT_FENCED, 2);
	walk(&rtrs_server_slot_fsm, 3, table);
}

/* A request for a slot that is not idle: a retry where it comes on another path, else a broken peer. */
static void slot_verdict(void)
{
	static const struct { int state; bool own, waits; int want; } c[] = {
		{ RTRS_SERVER_SLOT_IDLE, false, false, RTRS_SERVER_SLOT_RUN },
		{ RTRS_SERVER_SLOT_IDLE, false, true, RTRS_SERVER_SLOT_RUN },
		{ RTRS_SERVER_SLOT_IDLE, true, false, RTRS_SERVER_SLOT_RUN },
		{ RTRS_SERVER_SLOT_IDLE, true, true, RTRS_SERVER_SLOT_RUN },
		{ RTRS_SERVER_SLOT_BUSY, false, false, RTRS_SERVER_SLOT_PARK },
		{ RTRS_SERVER_SLOT_BUSY, false, true, RTRS_SERVER_SLOT_PARK },
		{ RTRS_SERVER_SLOT_BUSY, true, false, RTRS_SERVER_SLOT_REFUSE },
		{ RTRS_SERVER_SLOT_BUSY, true, true, RTRS_SERVER_SLOT_REFUSE },
		{ RTRS_SERVER_SLOT_FENCED, false, false, RTRS_SERVER_SLOT_PARK },
		{ RTRS_SERVER_SLOT_FENCED, false, true, RTRS_SERVER_SLOT_REPLACE },
		{ RTRS_SERVER_SLOT_FENCED, true, false, RTRS_SERVER_SLOT_REFUSE },
		{ RTRS_SERVER_SLOT_FENCED, true, true, RTRS_SERVER_SLOT_REFUSE },
	};
	size_t i;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		NOTE("state %d, own path %d, retry waits %d", c[i].state, c[i].own, c[i].waits);
		EQ(rtrs_server_slot_judge(c[i].state, c[i].own, c[i].waits), c[i].want);
	}
}

/* Section 4.1 of the RNBD protocol; the numbers are those of netlink. */
static void device(void)
{
	static const char *const table[] = {
		/* INIT MAPPED DISCONNECTED UNMAPPED */
		".x.x",		/* INIT */
		"..xx",		/* MAPPED */
		".x.x",		/* DISCONNECTED */
		"....",		/* UNMAPPED: nothing leads back */
	};

	EQ((int)RNBD_CLIENT_DEV_INIT, (int)RNBD_DEVICE_STATE_INIT);
	EQ((int)RNBD_CLIENT_DEV_MAPPED, (int)RNBD_DEVICE_STATE_MAPPED);
	EQ((int)RNBD_CLIENT_DEV_DISCONNECTED, (int)RNBD_DEVICE_STATE_DISCONNECTED);
	EQ((int)RNBD_CLIENT_DEV_UNMAPPED, (int)RNBD_DEVICE_STATE_UNMAPPED);
	walk(&rnbd_client_dev_fsm, 4, table);
}

int main(void)
{
	RUN(client_path, "client path: all pairs");
	RUN(server_path, "server path: all pairs");
	RUN(slot, "server slot: all pairs");
	RUN(slot_verdict, "server slot: a request in every state");
	RUN(device, "client device: all pairs");
	return tap_end();
}
