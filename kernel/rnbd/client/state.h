/* SPDX-License-Identifier: GPL-2.0 */
/* States of a mapped device. Needs no kernel: the unit tests build it on the host. */
#ifndef RNBD_CLIENT_STATE_H
#define RNBD_CLIENT_STATE_H

#include "fsm.h"

/**
 * enum rnbd_client_dev_state - states of a mapped device; values are those of the uapi
 * @RNBD_CLIENT_DEV_INIT: being mapped; belongs to the mapping process
 * @RNBD_CLIENT_DEV_MAPPED: open on the server, the disk is there
 * @RNBD_CLIENT_DEV_DISCONNECTED: the session was lost, and with it the device on the server; I/O
 *	fails at once
 * @RNBD_CLIENT_DEV_UNMAPPED: being removed; belongs to whoever made this edge
 * @RNBD_CLIENT_DEV_STATE_COUNT: number of states
 */
enum rnbd_client_dev_state {
	RNBD_CLIENT_DEV_INIT,
	RNBD_CLIENT_DEV_MAPPED,
	RNBD_CLIENT_DEV_DISCONNECTED,
	RNBD_CLIENT_DEV_UNMAPPED,
	RNBD_CLIENT_DEV_STATE_COUNT,
};

extern const struct rtrs_fsm rnbd_client_dev_fsm;
extern const char *const rnbd_client_dev_state_name[];

#endif /* RNBD_CLIENT_STATE_H */
