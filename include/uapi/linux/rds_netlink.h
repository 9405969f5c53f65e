/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	include/netlink/rds.yaml */
/* YNL-GEN uapi header */

#ifndef _UAPI_LINUX_RDS_NETLINK_H
#define _UAPI_LINUX_RDS_NETLINK_H

#define RDS_FAMILY_NAME		"rds"
#define RDS_FAMILY_VERSION	1

/**
 * enum rds_path_state - State of a path. The numbers are those of the kernel's
 *   own module.
 * @RDS_PATH_STATE_DOWN: Idle, or between two attempts to connect.
 * @RDS_PATH_STATE_CONNECTING: The transport connects.
 * @RDS_PATH_STATE_DISCONNECTING: Being shut down.
 * @RDS_PATH_STATE_UP: Carries messages.
 * @RDS_PATH_STATE_RESETTING: Not used.
 * @RDS_PATH_STATE_ERROR: Broken, about to be shut down.
 */
enum rds_path_state {
	RDS_PATH_STATE_DOWN,
	RDS_PATH_STATE_CONNECTING,
	RDS_PATH_STATE_DISCONNECTING,
	RDS_PATH_STATE_UP,
	RDS_PATH_STATE_RESETTING,
	RDS_PATH_STATE_ERROR,
};

/**
 * enum rds_event - What happened to a path.
 * @RDS_EVENT_UP: It is connected.
 * @RDS_EVENT_DOWN: It was connected; last-error says why it is no more.
 * @RDS_EVENT_REFUSED: An attempt to connect failed; last-error says why. Told
 *   once as long as attempts fail for the same reason.
 */
enum rds_event {
	RDS_EVENT_UP,
	RDS_EVENT_DOWN,
	RDS_EVENT_REFUSED,
};

/**
 * enum rds_ability - What the RDS module of the peer can do, as it has told.
 * @RDS_ABILITY_ACK: Its headers acknowledge messages. The modules of this
 *   project can, the kernel's own cannot.
 */
enum rds_ability {
	RDS_ABILITY_ACK = 1,
};

enum {
	RDS_A_PATH_INDEX = 1,
	RDS_A_PATH_STATE,
	RDS_A_PATH_SINCE_NS,
	RDS_A_PATH_RECONNECTS,
	RDS_A_PATH_LAST_ERROR,
	RDS_A_PATH_NEXT_TX,
	RDS_A_PATH_NEXT_RX,
	RDS_A_PATH_UNSENT,
	RDS_A_PATH_UNACKED,
	RDS_A_PATH_LOCAL_PORT,
	RDS_A_PATH_REMOTE_PORT,
	RDS_A_PATH_ABILITIES,
	RDS_A_PATH_PAD,

	__RDS_A_PATH_MAX,
	RDS_A_PATH_MAX = (__RDS_A_PATH_MAX - 1)
};

enum {
	RDS_A_CONNECTION_LOCAL_ADDR = 1,
	RDS_A_CONNECTION_REMOTE_ADDR,
	RDS_A_CONNECTION_TOS,
	RDS_A_CONNECTION_TRANSPORT,
	RDS_A_CONNECTION_PATHS,
	RDS_A_CONNECTION_PATH,
	RDS_A_CONNECTION_EVENT,

	__RDS_A_CONNECTION_MAX,
	RDS_A_CONNECTION_MAX = (__RDS_A_CONNECTION_MAX - 1)
};

enum {
	RDS_CMD_CONNECTION_GET = 1,
	RDS_CMD_PATH_NTF,

	__RDS_CMD_MAX,
	RDS_CMD_MAX = (__RDS_CMD_MAX - 1)
};

#define RDS_MCGRP_MONITOR	"monitor"

#endif /* _UAPI_LINUX_RDS_NETLINK_H */
