// SPDX-License-Identifier: GPL-2.0
/* The edges between the states of a mapped device. Needs no kernel. */
#include "state.h"

#define TO(state)	(1U << RNBD_CLIENT_DEV_##state)

static const char *const state_name[RNBD_CLIENT_DEV_STATE_COUNT] = {
	[RNBD_CLIENT_DEV_INIT]		= "init",
	[RNBD_CLIENT_DEV_MAPPED]	= "mapped",
	[RNBD_CLIENT_DEV_DISCONNECTED]	= "disconnected",
	[RNBD_CLIENT_DEV_UNMAPPED]	= "unmapped",
};

static const __u32 edges[RNBD_CLIENT_DEV_STATE_COUNT] = {
	[RNBD_CLIENT_DEV_INIT]		= TO(MAPPED) | TO(UNMAPPED),
	[RNBD_CLIENT_DEV_MAPPED]	= TO(DISCONNECTED) | TO(UNMAPPED),
	[RNBD_CLIENT_DEV_DISCONNECTED]	= TO(MAPPED) | TO(UNMAPPED),
	[RNBD_CLIENT_DEV_UNMAPPED]	= 0,
};

const struct rtrs_fsm rnbd_client_dev_fsm = {
	.name		= "rnbd-client device",
	.count		= RNBD_CLIENT_DEV_STATE_COUNT,
	.state_name	= state_name,
	.edges		= edges,
};
