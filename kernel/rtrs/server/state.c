// SPDX-License-Identifier: GPL-2.0
/* State tables of paths and slots. */
#include "state.h"

#define TO(state)	(1U << RTRS_SERVER_PATH_##state)

static const __u32 path_edges[] = {
	[RTRS_SERVER_PATH_CONNECTING]	= TO(CONNECTED) | TO(CLOSING),
	[RTRS_SERVER_PATH_CONNECTED]	= TO(CLOSING),
	[RTRS_SERVER_PATH_CLOSING]	= TO(CLOSED),
	[RTRS_SERVER_PATH_CLOSED]	= 0,
};

const struct rtrs_fsm rtrs_server_path_fsm = {
	.count	= RTRS_SERVER_PATH_STATES,
	.edges	= path_edges,
};

#undef TO
#define TO(state)	(1U << RTRS_SERVER_SLOT_##state)

static const __u32 slot_edges[] = {
	[RTRS_SERVER_SLOT_IDLE]		= TO(BUSY),
	[RTRS_SERVER_SLOT_BUSY]		= TO(IDLE) | TO(FENCED),
	/* BUSY: the retry runs. IDLE: the retry's path died while it waited. */
	[RTRS_SERVER_SLOT_FENCED]	= TO(BUSY) | TO(IDLE),
};

const struct rtrs_fsm rtrs_server_slot_fsm = {
	.count	= RTRS_SERVER_SLOT_STATES,
	.edges	= slot_edges,
};

enum rtrs_server_slot_verdict rtrs_server_slot_judge(enum rtrs_server_slot_state state,
						     bool own_path, bool retry_waits)
{
	if (state == RTRS_SERVER_SLOT_IDLE)
		return RTRS_SERVER_SLOT_RUN;
	if (own_path)
		return RTRS_SERVER_SLOT_REFUSE;
	if (state == RTRS_SERVER_SLOT_FENCED && retry_waits)
		return RTRS_SERVER_SLOT_REPLACE;
	return RTRS_SERVER_SLOT_PARK;
}
