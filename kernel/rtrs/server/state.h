/* SPDX-License-Identifier: GPL-2.0 */
/*
 * States of the server's paths and slots, and what follows from them. Needs no
 * kernel: the unit tests walk the tables on the host.
 */
#ifndef RTRS_SERVER_STATE_H
#define RTRS_SERVER_STATE_H

#include <linux/types.h>

#include "../core/fsm.h"

/**
 * enum rtrs_server_path_state - life of a path
 * @RTRS_SERVER_PATH_CONNECTING: connections are made, INFO is not done; a timer runs
 * @RTRS_SERVER_PATH_CONNECTED: requests are served
 * @RTRS_SERVER_PATH_CLOSING: its worker takes it down; nothing new is begun
 * @RTRS_SERVER_PATH_CLOSED: nothing of it is left on the device
 * @RTRS_SERVER_PATH_STATES: their number
 */
enum rtrs_server_path_state {
	RTRS_SERVER_PATH_CONNECTING,
	RTRS_SERVER_PATH_CONNECTED,
	RTRS_SERVER_PATH_CLOSING,
	RTRS_SERVER_PATH_CLOSED,
	RTRS_SERVER_PATH_STATES,
};

/**
 * enum rtrs_server_slot_state - life of a slot of a session
 * @RTRS_SERVER_SLOT_IDLE: no operation
 * @RTRS_SERVER_SLOT_BUSY: one operation, to be answered on its path
 * @RTRS_SERVER_SLOT_FENCED: the operation's path is dead, its answer dropped; a retry waits
 * @RTRS_SERVER_SLOT_STATES: their number
 */
enum rtrs_server_slot_state {
	RTRS_SERVER_SLOT_IDLE,
	RTRS_SERVER_SLOT_BUSY,
	RTRS_SERVER_SLOT_FENCED,
	RTRS_SERVER_SLOT_STATES,
};

/**
 * enum rtrs_server_slot_verdict - what becomes of a request for a slot
 * @RTRS_SERVER_SLOT_RUN: it runs
 * @RTRS_SERVER_SLOT_PARK: it is a retry: the slot is fenced, the request waits
 * @RTRS_SERVER_SLOT_REPLACE: the same, but another retry waited; that one's path is dead as well
 * @RTRS_SERVER_SLOT_REFUSE: the peer broke the protocol, its path is closed
 */
enum rtrs_server_slot_verdict {
	RTRS_SERVER_SLOT_RUN,
	RTRS_SERVER_SLOT_PARK,
	RTRS_SERVER_SLOT_REPLACE,
	RTRS_SERVER_SLOT_REFUSE,
};

extern const struct rtrs_fsm rtrs_server_path_fsm;
extern const struct rtrs_fsm rtrs_server_slot_fsm;

/* @own_path: the operation of the slot, or the retry that waits, came on the same path. */
enum rtrs_server_slot_verdict rtrs_server_slot_judge(enum rtrs_server_slot_state state,
						     bool own_path, bool retry_waits);

#endif /* RTRS_SERVER_STATE_H */
