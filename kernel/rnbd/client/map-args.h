/* SPDX-License-Identifier: GPL-2.0 */
/* What a mapping is asked to be, and the parser of its text form (sysfs map_device). */
#ifndef RNBD_CLIENT_MAP_ARGS_H
#define RNBD_CLIENT_MAP_ARGS_H

#include <linux/types.h>
#include <rnbd/proto.h>
#include <rtrs/client.h>
#include <rtrs/types.h>

/*
 * Paths of one map request, an upper bound that keeps the parser free of
 * allocation; a session can be given more of them later.
 */
#define RNBD_CLIENT_PATHS_MAX		32
#define RNBD_CLIENT_PORT_DEFAULT	1234
#define RNBD_CLIENT_POLL_ANY		UINT_MAX

/**
 * struct rnbd_client_map_args - a device to be mapped
 * @session: name of the session
 * @device_path: name of the device on the server
 * @access_mode: 0 ro, 1 rw, 2 migration
 * @io_mode: RNBD_IO_*, what the server is to serve it with
 * @input_rq: input_mode=rq was asked for, which this kernel does not have: it is mq
 * @always_fua: every write goes with FUA
 * @poll_queues: hardware queues for polled I/O; RNBD_CLIENT_POLL_ANY: as the session has, or none
 * @connections: I/O connections for each path, 0 is one per online CPU
 * @policy: enum rtrs_client_policy
 * @settings: of a session that does not exist yet, but for the policy; NULL for none
 * @timeout_ms: for each step; 0: the connect time-out of the session
 * @path_count: paths
 * @path: paths, used if the session does not exist
 */
struct rnbd_client_map_args {
	char session[RTRS_NAME_MAX + 1];
	char device_path[RNBD_PATH_LEN];
	u8 access_mode;
	u8 io_mode;
	bool input_rq;
	bool always_fua;
	unsigned int poll_queues;
	unsigned int connections;
	unsigned int policy;
	const struct rtrs_client_settings *settings;
	unsigned int timeout_ms;
	unsigned int path_count;
	struct rtrs_path_addr path[RNBD_CLIENT_PATHS_MAX];
};

/* What holds where nothing is said. */
void rnbd_client_map_args_init(struct rnbd_client_map_args *args);

/**
 * rnbd_client_map_args_parse - parse what is written to map_device
 * @text: options "name=value", separated by spaces; white space around it is ignored, a NUL ends it
 * @len: its bytes
 * @cpus: what nr_poll_queues may be at most, and what -1 stands for
 * @host: name of this host, for the session of server= without sessname=
 * @settings: changed where something is said, by the names of the session's files; then @args
 *	points to it. Ranges are looked at by who takes them over
 * @args: result, complete; undefined if the text is refused
 *
 * The last one counts of an option that is given twice; dest_port is that of all
 * paths, wherever it stands. Pure.
 *
 * Return: 0, -EPROTONOSUPPORT for a destination that is no "ip:" or "gid:", -ENOMEM for more than
 * RNBD_CLIENT_PATHS_MAX paths, -EINVAL
 */
int rnbd_client_map_args_parse(const char *text, size_t len, unsigned int cpus, const char *host,
			       struct rtrs_client_settings *settings,
			       struct rnbd_client_map_args *args);

#endif /* RNBD_CLIENT_MAP_ARGS_H */
