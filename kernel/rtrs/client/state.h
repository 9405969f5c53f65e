/* SPDX-License-Identifier: GPL-2.0 */
/* States of a path of a client. Needs no kernel: the unit tests build it on the host. */
#ifndef RTRS_CLIENT_STATE_H
#define RTRS_CLIENT_STATE_H

#include "fsm.h"

/**
 * enum rtrs_client_path_state - states of a path
 * @RTRS_CLIENT_PATH_CONNECTING: belongs to the process that connects it
 * @RTRS_CLIENT_PATH_CONNECTING_ERR: lost while connecting; its process takes it down
 * @RTRS_CLIENT_PATH_RECONNECTING: lost, to be connected again
 * @RTRS_CLIENT_PATH_CONNECTED: carries requests
 * @RTRS_CLIENT_PATH_CLOSING: belongs to the path worker, which takes it down
 * @RTRS_CLIENT_PATH_CLOSED: nothing is left of it but the object
 * @RTRS_CLIENT_PATH_DEAD: out of its session
 * @RTRS_CLIENT_PATH_STATE_COUNT: number of states
 */
enum rtrs_client_path_state {
	RTRS_CLIENT_PATH_CONNECTING,
	RTRS_CLIENT_PATH_CONNECTING_ERR,
	RTRS_CLIENT_PATH_RECONNECTING,
	RTRS_CLIENT_PATH_CONNECTED,
	RTRS_CLIENT_PATH_CLOSING,
	RTRS_CLIENT_PATH_CLOSED,
	RTRS_CLIENT_PATH_DEAD,
	RTRS_CLIENT_PATH_STATE_COUNT,
};

extern const struct rtrs_fsm rtrs_client_path_fsm;

#endif /* RTRS_CLIENT_STATE_H */
