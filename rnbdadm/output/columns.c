// SPDX-License-Identifier: GPL-2.0
/* Fields and columns of each kind of object. */

#include "output/columns.h"
#include "output/to-json.h"

static const struct field session_fields[] = {
	{ "name", NULL, F_STR, false, "name given by the client" },
	{ "role", NULL, F_WORD, false, "client or server" },
	{ "state", NULL, F_WORD, false, "connected, degraded, reconnecting, disconnected" },
	{ "mp_policy", NULL, F_WORD, false,
	  "rule that picks the path of a request: round-robin, min-inflight, min-latency" },
	{ "max_reconnect_attempts", NULL, F_COUNT, false, "-1 is no limit" },
	{ "heartbeat_interval_ms", NULL, F_COUNT, false, "time between heartbeats" },
	{ "heartbeat_misses", NULL, F_COUNT, false, "intervals until a silent path is lost" },
	{ "reconnect_delay_ms", NULL, F_COUNT, false, "time before the first reconnect" },
	{ "reconnect_delay_max_ms", NULL, F_COUNT, false, "longest such time" },
	{ "connect_timeout_ms", NULL, F_COUNT, false, "time for each step of a reconnect" },
	{ "io_timeout_ms", NULL, F_COUNT, false,
	  "after which a request ends its path; 0 is never" },
	{ "no_path_timeout_ms", NULL, F_COUNT, false,
	  "how long I/O waits for a path; -1 is for ever" },
	{ "lost_writes", NULL, F_WORD, false,
	  "when the server lost acknowledged writes: fail-flush, disconnect" },
	{ "queue_depth", NULL, F_COUNT, false, "requests in flight at most" },
	{ "max_io_bytes", NULL, F_BYTES, false, "bytes of one request at most" },
	{ "paths_connected", NULL, F_COUNT, false, "paths that carry I/O" },
	{ "paths_configured", NULL, F_COUNT, false, "paths in all" },
	{ "devices_mapped", NULL, F_COUNT, false, "devices mapped" },
	{ "pinned_bytes", NULL, F_BYTES, false, "memory that it keeps in this host" },
	{ "pinned_max_bytes", NULL, F_BYTES, false,
	  "memory that it keeps with all requests in flight (server)" },
	{ "peer", NULL, F_STR, true, "peer of the access list that it is (server)" },
	{ "poll_queues", NULL, F_COUNT, false, "connections for polled I/O" },
	{ "held", NULL, F_BOOL, false, "stays without a device until it is removed" },
	{ "owner", NULL, F_STR, false, "its creator" },
	{ "paths", NULL, F_LIST, false, "its paths" },
	{ "devices", NULL, F_LIST, false, "its devices" },
	{ "id", NULL, F_COUNT, true, "identity in the kernel" },
	COUNTER_FIELDS(true),
	{ 0 }
};

static const struct column session_columns[] = {
	{ .title = "NAME", .field = "name" },
	{ .title = "STATE", .field = "state" },
	{ .title = "PATHS", .field = "paths", .whole = true, .text = col_paths },
	{ .title = "POLICY", .field = "mp_policy" },
	{ .title = "DEVICES", .field = "devices_mapped", .right = true },
	{ 0 }
};

const struct view session_view = {
	.name = "session", .key = "sessions", .fields = session_fields,
	.columns = session_columns, .brief = "name",
};

static const struct column client_columns[] = {
	{ .title = "NAME", .field = "name" },
	{ .title = "PEER", .field = "peer", .sparse = true },
	{ .title = "STATE", .field = "state" },
	{ .title = "PATHS", .field = "paths", .whole = true, .text = col_paths },
	{ .title = "PINNED", .field = "pinned_bytes", .right = true },
	{ .title = "AT-MOST", .field = "pinned_max_bytes", .right = true },
	{ .title = "DEVICES", .field = "devices_mapped", .right = true },
	{ 0 }
};

/* A session as the server sees it. */
const struct view client_view = {
	.name = "client", .key = "clients", .fields = session_fields,
	.columns = client_columns, .brief = "name",
};

#define PATH_NAMES									\
	{ "session", NULL, F_STR, false, "session it belongs to" },			\
	{ "name", NULL, F_STR, false, "SRC@DST" }

#define PATH_REST									\
	{ "client_addr", NULL, F_STR, false, "address of the client" },			\
	{ "server_addr", NULL, F_STR, false, "address of the server" },			\
	{ "family", NULL, F_WORD, false, "ipv4, ipv6 or ib" },				\
	{ "hca", NULL, F_STR, false, "RDMA device" },					\
	{ "hca_port", NULL, F_COUNT, false, "port of the RDMA device" },		\
	{ "netdev", NULL, F_STR, false, "network interface of the GID" },		\
	{ "link_layer", NULL, F_WORD, false, "infiniband or ethernet" },			\
	{ "gid_index", NULL, F_COUNT, false, "index of the GID" },			\
	{ "state", NULL, F_WORD, false,							\
	  "connected, connecting, reconnecting, disconnected, closing" },		\
	{ "connections", NULL, F_COUNT, false, "queue pairs" },				\
	{ "reconnect_attempts", NULL, F_COUNT, false, "attempts since it was lost" },	\
	{ "last_error", NULL, F_STR, false, "last reason of a loss" },			\
	{ "heartbeat_latency_ns", NULL, F_NS, false, "round trip of the last heartbeat" }, \
	{ "since", NULL, F_TIME, false, "when it entered this state" },			\
	{ "id", NULL, F_COUNT, true, "identity in the kernel" },			\
	LATENCY_FIELDS(true),								\
	COUNTER_FIELDS(true)

static const struct field path_fields[] = {
	PATH_NAMES,
	PATH_REST,
	{ 0 }
};

static const struct field server_path_fields[] = {
	PATH_NAMES,
	{ "role", NULL, F_STR, false, "server" },
	PATH_REST,
	{ 0 }
};

static const struct column path_columns[] = {
	{ .title = "SESSION", .field = "session" },
	{ .title = "CLIENT", .field = "client_addr" },
	{ .title = "SERVER", .field = "server_addr" },
	{ .title = "HCA", .field = "hca", .text = col_hca },
	{ .title = "STATE", .field = "state" },
	{ .title = "P50", .field = "io_p50_ns", .right = true },
	{ .title = "P99", .field = "io_p99_ns", .right = true },
	{ .title = "HB RTT", .field = "heartbeat_latency_ns", .right = true },
	{ 0 }
};

const struct view path_view = {
	.name = "path", .key = "paths", .fields = path_fields, .columns = path_columns,
	.brief = "name",
};

/* Of a client, as the server sees it. */
const struct view server_path_view = {
	.name = "server-path", .key = "paths", .fields = server_path_fields,
	.columns = path_columns, .brief = "name",
};

static const struct field event_fields[] = {
	{ "event", NULL, F_STR, false, "exists, create, change or destroy; of rds exists, up, down or refused" },
	{ "object", NULL, F_STR, false, "session, path, device, export, client or rds" },
	{ "role", NULL, F_WORD, false, "client or server" },
	{ "session", NULL, F_STR, false, "session it belongs to" },
	{ "name", NULL, F_STR, false, "name of the object" },
	{ "state", NULL, F_STR, false, "its state now" },
	{ "old_state", NULL, F_STR, false, "its state before" },
	{ "reason", NULL, F_STR, false, "reason of the state" },
	{ "local_address", NULL, F_STR, true, "of rds: address of this host" },
	{ "remote_address", NULL, F_STR, true, "of rds: address of the peer" },
	{ "transport", NULL, F_STR, true, "of rds" },
	{ "tos", NULL, F_COUNT, true, "of rds: type of service" },
	{ "path", NULL, F_COUNT, true, "of rds: number of the path" },
	{ 0 }
};

static const struct column event_columns[] = {
	{ .title = "EVENT", .field = "event" },
	{ 0 }
};

/* For filters; the lines have a form of their own. */
const struct view event_view = {
	.name = "event", .key = "events", .fields = event_fields, .columns = event_columns,
	.brief = "name",
};

static const struct field path_change_fields[] = {
	PATH_NAMES,
	{ "role", NULL, F_STR, true, "server" },
	PATH_REST,
	{ "old_state", NULL, F_STR, false, "state before" },
	{ "result", NULL, F_STR, false, "result of the operation" },
	{ 0 }
};

static const struct column path_change_columns[] = {
	{ .title = "SESSION", .field = "session" },
	{ .title = "PATH", .field = "name" },
	{ .title = "STATE", .field = "state" },
	{ .title = "RESULT", .field = "result" },
	{ 0 }
};

const struct view path_change_view = {
	.name = "path-change", .key = "paths", .fields = path_change_fields,
	.columns = path_change_columns, .brief = "name",
};

static const struct field device_fields[] = {
	{ "name", NULL, F_STR, false, "name of the disk" },
	{ "node", NULL, F_STR, false, "its node" },
	{ "devnum", NULL, F_STR, false, "major:minor" },
	{ "session", NULL, F_STR, false, "session that carries it" },
	{ "device_path", NULL, F_STR, false, "name on the server" },
	{ "state", NULL, F_WORD, false, "mapped, disconnected, init, unmapped" },
	{ "kernel_state", NULL, F_STR, false, "the same as sysfs spells it" },
	{ "access", NULL, F_WORD, false, "rw, ro or migration" },
	{ "size_bytes", NULL, F_BYTES, false, "capacity" },
	{ "logical_block_bytes", NULL, F_COUNT, false, "logical block" },
	{ "physical_block_bytes", NULL, F_COUNT, false, "physical block" },
	{ "read_only", NULL, F_BOOL, false, "refuses writes" },
	{ "write_cache", NULL, F_BOOL, false, "volatile write cache on the server" },
	{ "fua", NULL, F_BOOL, false, "takes FUA writes" },
	{ "always_fua", NULL, F_BOOL, false, "every write is sent with FUA" },
	{ "io_mode", NULL, F_WORD, false, "how the server serves it: blockio, fileio" },
	{ "poll_queues", NULL, F_COUNT, false, "queues for polled I/O" },
	{ "hw_queues", NULL, F_COUNT, false, "queues in all" },
	{ "open_count", NULL, F_COUNT, false, "openers" },
	{ "last_error", NULL, F_STR, false, "reason of the disconnection" },
	{ "write_losses", NULL, F_COUNT, false, "times that the server lost acknowledged writes" },
	{ "holders", NULL, F_LIST, false, "disks built on it" },
	{ "mountpoints", NULL, F_LIST, false, "where it is mounted" },
	{ "links", NULL, F_LIST, false, "links below /dev/rnbd" },
	{ "openers", NULL, F_LIST, false, "other users: processes, mounts of other namespaces" },
	{ "id", NULL, F_COUNT, true, "identity in the kernel" },
	{ "max_io_bytes", "queue", F_BYTES, true, "bytes of one request" },
	{ "max_segments", "queue", F_COUNT, true, "segments of one request" },
	{ "requests", "queue", F_COUNT, true, "requests queued at most" },
	{ "read_ahead_bytes", "queue", F_BYTES, true, "read-ahead" },
	{ "scheduler", "queue", F_STR, true, "I/O scheduler" },
	COUNTER_FIELDS(true),
	{ 0 }
};

static const struct column device_columns[] = {
	{ .title = "NAME", .field = "name" },
	{ .title = "SESSION", .field = "session" },
	{ .title = "DEVICE", .field = "device_path" },
	{ .title = "ACCESS", .field = "access" },
	{ .title = "SIZE", .field = "size_bytes", .right = true },
	{ .title = "STATE", .field = "state" },
	{ .title = "USED BY", .field = "holders", .text = col_users },
	{ 0 }
};

const struct view device_view = {
	.name = "device", .key = "devices", .fields = device_fields, .columns = device_columns,
	.brief = "name",
};

static const struct field unmap_fields[] = {
	{ "name", NULL, F_STR, false, "name of the disk" },
	{ "device_path", NULL, F_STR, false, "name on the server" },
	{ "session", NULL, F_STR, false, "session that carried it" },
	{ "result", NULL, F_STR, false, "unmapped, would-unmap, absent, refused, failed" },
	{ 0 }
};

static const struct column unmap_columns[] = {
	{ .title = "NAME", .field = "name" },
	{ .title = "RESULT", .field = "result" },
	{ 0 }
};

const struct view unmap_view = {
	.name = "unmap", .key = "devices", .fields = unmap_fields, .columns = unmap_columns,
	.brief = "name",
};

static const struct field remap_fields[] = {
	{ "name", NULL, F_STR, false, "name of the disk" },
	{ "device_path", NULL, F_STR, false, "name on the server" },
	{ "session", NULL, F_STR, false, "session that carries it" },
	{ "new_name", NULL, F_STR, false, "name of the disk that --recreate made" },
	{ "result", NULL, F_STR, false, "remapped, recreated, would-..., mapped, refused, failed" },
	{ 0 }
};

static const struct column remap_columns[] = {
	{ .title = "NAME", .field = "name" },
	{ .title = "RESULT", .field = "result" },
	{ 0 }
};

const struct view remap_view = {
	.name = "remap", .key = "devices", .fields = remap_fields, .columns = remap_columns,
	.brief = "name",
};

static const struct field export_fields[] = {
	{ "device", NULL, F_STR, false, "block device of this host" },
	{ "node", NULL, F_STR, false, "its node" },
	{ "devnum", NULL, F_STR, false, "major:minor" },
	{ "size_bytes", NULL, F_BYTES, false, "capacity" },
	{ "logical_block_bytes", NULL, F_COUNT, false, "logical block" },
	{ "io_mode", NULL, F_WORD, false, "how it is served: blockio, fileio" },
	{ "read_only", NULL, F_BOOL, false, "the block device itself refuses writes" },
	{ "clients", NULL, F_LIST, false, "sessions that have it open" },
	{ "used_by", NULL, F_LIST, false, "uses by this host itself" },
	{ 0 }
};

static const struct column export_columns[] = {
	{ .title = "DEVICE", .field = "device" },
	{ .title = "NAME", .field = "clients", .text = col_listed, .sparse = true },
	{ .title = "SIZE", .field = "size_bytes", .right = true },
	{ .title = "CLIENTS", .field = "clients", .right = true, .text = col_clients },
	{ .title = "USED BY", .field = "used_by" },
	{ 0 }
};

const struct view export_view = {
	.name = "export", .key = "exports", .fields = export_fields, .columns = export_columns, .brief = "device",
};

static const struct field close_fields[] = {
	{ "device", NULL, F_STR, false, "block device of this host" },
	{ "session", NULL, F_STR, false, "session that had it open" },
	{ "device_path", NULL, F_STR, false, "name that the client asked for" },
	{ "result", NULL, F_STR, false, "closed, would-close, absent, refused, failed" },
	{ 0 }
};

static const struct column close_columns[] = {
	{ .title = "DEVICE", .field = "device" },
	{ .title = "SESSION", .field = "session" },
	{ .title = "RESULT", .field = "result" },
	{ 0 }
};

const struct view close_view = {
	.name = "export-close", .key = "closed", .fields = close_fields, .columns = close_columns,
	.brief = "device",
};

static const struct field revalidate_fields[] = {
	{ "session", NULL, F_STR, false, "session that has it open" },
	{ "device_path", NULL, F_STR, false, "name that the client asked for" },
	{ "old_size_bytes", NULL, F_BYTES, false, "size that the client knew" },
	{ "new_size_bytes", NULL, F_BYTES, false, "size that it knows now" },
	{ "result", NULL, F_STR, false, "told, unchanged, not-reached, would-tell, failed" },
	{ 0 }
};

static const struct column revalidate_columns[] = {
	{ .title = "SESSION", .field = "session" },
	{ .title = "RESULT", .field = "result" },
	{ 0 }
};

const struct view revalidate_view = {
	.name = "export-revalidate", .key = "clients", .fields = revalidate_fields,
	.columns = revalidate_columns, .brief = "session",
};

static const struct field port_fields[] = {
	{ "hca", NULL, F_STR, false, "RDMA device" },
	{ "hca_port", NULL, F_COUNT, false, "port of the RDMA device" },
	{ "gid", NULL, F_STR, false, "its first GID" },
	{ "listening_port", NULL, F_COUNT, false, "number that clients connect to" },
	{ "state", NULL, F_WORD, false, "listening or drained" },
	{ "drained", NULL, F_BOOL, false, "new paths are refused" },
	{ "clients", NULL, F_COUNT, false, "clients that have a path over it" },
	{ "paths", NULL, F_COUNT, false, "paths over it" },
	{ 0 }
};

static const struct column port_columns[] = {
	{ .title = "PORT", .field = "hca", .text = col_hca },
	{ .title = "GID", .field = "gid" },
	{ .title = "LISTENS", .field = "listening_port", .right = true },
	{ .title = "STATE", .field = "state" },
	{ .title = "CLIENTS", .field = "clients", .right = true },
	{ .title = "PATHS", .field = "paths", .right = true },
	{ 0 }
};

const struct view port_view = {
	.name = "port", .key = "ports", .fields = port_fields, .columns = port_columns,
	.brief = "hca",
};

static const struct field port_change_fields[] = {
	{ "session", NULL, F_STR, false, "session of the client" },
	{ "name", NULL, F_STR, false, "SRC@DST of the path" },
	{ 0 }
};

static const struct column port_change_columns[] = {
	{ .title = "SESSION", .field = "session" },
	{ .title = "PATH", .field = "name" },
	{ 0 }
};

/* The paths that a drain has closed. */
const struct view port_change_view = {
	.name = "port-change", .key = "paths_closed", .fields = port_change_fields,
	.columns = port_change_columns, .brief = "name",
};
