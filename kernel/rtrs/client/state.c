// SPDX-License-Identifier: GPL-2.0
/* Which state of a path may follow which. */
#include "state.h"

#define BIT_OF(state)	(1U << RTRS_CLIENT_PATH_##state)

static const char *const names[RTRS_CLIENT_PATH_STATE_COUNT] = {
	[RTRS_CLIENT_PATH_CONNECTING]		= "connecting",
	[RTRS_CLIENT_PATH_CONNECTING_ERR]	= "connecting-err",
	[RTRS_CLIENT_PATH_RECONNECTING]		= "reconnecting",
	[RTRS_CLIENT_PATH_CONNECTED]		= "connected",
	[RTRS_CLIENT_PATH_CLOSING]		= "closing",
	[RTRS_CLIENT_PATH_CLOSED]		= "closed",
	[RTRS_CLIENT_PATH_DEAD]			= "dead",
};

static const __u32 edges[RTRS_CLIENT_PATH_STATE_COUNT] = {
	[RTRS_CLIENT_PATH_CONNECTING]		= BIT_OF(CONNECTED) | BIT_OF(CONNECTING_ERR) |
						  BIT_OF(CLOSING),
	[RTRS_CLIENT_PATH_CONNECTING_ERR]	= BIT_OF(RECONNECTING) | BIT_OF(CLOSING),
	[RTRS_CLIENT_PATH_RECONNECTING]		= BIT_OF(CONNECTING) | BIT_OF(CLOSING),
	[RTRS_CLIENT_PATH_CONNECTED]		= BIT_OF(RECONNECTING) | BIT_OF(CLOSING),
	[RTRS_CLIENT_PATH_CLOSING]		= BIT_OF(CLOSED),
	[RTRS_CLIENT_PATH_CLOSED]		= BIT_OF(RECONNECTING) | BIT_OF(DEAD),
	[RTRS_CLIENT_PATH_DEAD]			= 0,
};

const struct rtrs_fsm rtrs_client_path_fsm = {
	.name = "rtrs-client path",
	.count = RTRS_CLIENT_PATH_STATE_COUNT,
	.state_name = names,
	.edges = edges,
};
