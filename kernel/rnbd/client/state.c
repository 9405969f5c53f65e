// SPDX-License-Identifier: GPL-2.0
/* The states of a mapped device, and the edges between them. Needs no kernel. */
#include "state.h"

#define TO(state)	(1U << RNBD_CLIENT_DEV_##state)

const char *const rnbd_client_dev_state_name[RNBD_CLIENT_DEV_STATE_COUNT] = {
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
	.count	= RNBD_CLIENT_DEV_STATE_COUNT,
	.edges	= edges,
};
