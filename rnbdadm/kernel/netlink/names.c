// SPDX-License-Identifier: GPL-2.0
/* Names and types of the family's attributes, for messages and traces. */
#include <inttypes.h>
#include <string.h>

#include <linux/rds_netlink.h>

#include "base/text.h"
#include "kernel/netlink/netlink.h"

#define A(id, n, t)	[id] = { .name = n, .type = t }
#define AN(id, n, s)	[id] = { .name = n, .type = NL_NEST, .nest = s }
#define SET(a)		{ .max = ARRAY_SIZE(a), .attrs = a }

static const struct nl_attr_desc settings_attrs[] = {
	A(RNBD_A_SETTINGS_MAX_RECONNECT_ATTEMPTS, "max-reconnect-attempts", NL_S32),
	A(RNBD_A_SETTINGS_HEARTBEAT_INTERVAL_MS, "heartbeat-interval-ms", NL_U32),
	A(RNBD_A_SETTINGS_HEARTBEAT_MISSES, "heartbeat-misses", NL_U32),
	A(RNBD_A_SETTINGS_RECONNECT_DELAY_MS, "reconnect-delay-ms", NL_U32),
	A(RNBD_A_SETTINGS_RECONNECT_DELAY_MAX_MS, "reconnect-delay-max-ms", NL_U32),
	A(RNBD_A_SETTINGS_CONNECT_TIMEOUT_MS, "connect-timeout-ms", NL_U32),
	A(RNBD_A_SETTINGS_IO_TIMEOUT_MS, "io-timeout-ms", NL_U32),
	A(RNBD_A_SETTINGS_NO_PATH_TIMEOUT_MS, "no-path-timeout-ms", NL_S32),
	A(RNBD_A_SETTINGS_LOST_WRITES, "lost-writes", NL_U32),
};
static const struct nl_attr_set settings_set = SET(settings_attrs);

static const struct nl_attr_desc path_spec_attrs[] = {
	A(RNBD_A_PATH_SPEC_CLIENT_ADDR, "client-addr", NL_BIN),
	A(RNBD_A_PATH_SPEC_SERVER_ADDR, "server-addr", NL_BIN),
};
static const struct nl_attr_set path_spec_set = SET(path_spec_attrs);

static const struct nl_attr_desc session_attrs[] = {
	A(RNBD_A_SESSION_ID, "id", NL_U32),
	A(RNBD_A_SESSION_NAME, "name", NL_STR),
	A(RNBD_A_SESSION_ROLE, "role", NL_U32),
	A(RNBD_A_SESSION_STATE, "state", NL_U32),
	A(RNBD_A_SESSION_MP_POLICY, "mp-policy", NL_U32),
	A(RNBD_A_SESSION_MAX_RECONNECT_ATTEMPTS, "max-reconnect-attempts", NL_S32),
	A(RNBD_A_SESSION_QUEUE_DEPTH, "queue-depth", NL_U32),
	A(RNBD_A_SESSION_MAX_IO_BYTES, "max-io-bytes", NL_U32),
	A(RNBD_A_SESSION_PATHS_CONNECTED, "paths-connected", NL_U32),
	A(RNBD_A_SESSION_PATHS_CONFIGURED, "paths-configured", NL_U32),
	A(RNBD_A_SESSION_DEVICES, "devices", NL_U32),
	A(RNBD_A_SESSION_PINNED_BYTES, "pinned-bytes", NL_U64),
	A(RNBD_A_SESSION_EVENT, "event", NL_U32),
	A(RNBD_A_SESSION_OLD_STATE, "old-state", NL_U32),
	A(RNBD_A_SESSION_GENERATION, "generation", NL_U32),
	AN(RNBD_A_SESSION_SETTINGS, "settings", &settings_set),
	AN(RNBD_A_SESSION_PATH, "path", &path_spec_set),
	A(RNBD_A_SESSION_CONNECTIONS, "connections", NL_U32),
	A(RNBD_A_SESSION_POLL_QUEUES, "poll-queues", NL_U32),
	A(RNBD_A_SESSION_TIMEOUT_MS, "timeout-ms", NL_U32),
	A(RNBD_A_SESSION_HELD, "held", NL_U8),
	A(RNBD_A_SESSION_REMOVING, "removing", NL_U8),
	A(RNBD_A_SESSION_PEER_NAME, "peer-name", NL_STR),
	A(RNBD_A_SESSION_PINNED_MAX_BYTES, "pinned-max-bytes", NL_U64),
};

static const struct nl_attr_desc path_attrs[] = {
	A(RNBD_A_PATH_ID, "id", NL_U32),
	A(RNBD_A_PATH_SESSION_ID, "session-id", NL_U32),
	A(RNBD_A_PATH_SESSION_NAME, "session-name", NL_STR),
	A(RNBD_A_PATH_NAME, "name", NL_STR),
	A(RNBD_A_PATH_ROLE, "role", NL_U32),
	A(RNBD_A_PATH_CLIENT_ADDR, "client-addr", NL_BIN),
	A(RNBD_A_PATH_SERVER_ADDR, "server-addr", NL_BIN),
	A(RNBD_A_PATH_STATE, "state", NL_U32),
	A(RNBD_A_PATH_HCA_NAME, "hca-name", NL_STR),
	A(RNBD_A_PATH_HCA_PORT, "hca-port", NL_U32),
	A(RNBD_A_PATH_CONNECTIONS, "connections", NL_U32),
	A(RNBD_A_PATH_RECONNECT_ATTEMPTS, "reconnect-attempts", NL_U32),
	A(RNBD_A_PATH_LAST_ERROR, "last-error", NL_S32),
	A(RNBD_A_PATH_HEARTBEAT_LATENCY_NS, "heartbeat-latency-ns", NL_U64),
	A(RNBD_A_PATH_SINCE_NS, "since-ns", NL_U64),
	A(RNBD_A_PATH_EVENT, "event", NL_U32),
	A(RNBD_A_PATH_OLD_STATE, "old-state", NL_U32),
	A(RNBD_A_PATH_GENERATION, "generation", NL_U32),
	A(RNBD_A_PATH_TIMEOUT_MS, "timeout-ms", NL_U32),
	A(RNBD_A_PATH_REMOVING, "removing", NL_U8),
	A(RNBD_A_PATH_PEER_NAME, "peer-name", NL_STR),
};

static const struct nl_attr_desc device_attrs[] = {
	A(RNBD_A_DEVICE_ID, "id", NL_U32),
	A(RNBD_A_DEVICE_NAME, "name", NL_STR),
	A(RNBD_A_DEVICE_MAJOR, "major", NL_U32),
	A(RNBD_A_DEVICE_MINOR, "minor", NL_U32),
	A(RNBD_A_DEVICE_SESSION_ID, "session-id", NL_U32),
	A(RNBD_A_DEVICE_SESSION_NAME, "session-name", NL_STR),
	A(RNBD_A_DEVICE_DEVICE_PATH, "device-path", NL_STR),
	A(RNBD_A_DEVICE_ACCESS_MODE, "access-mode", NL_U32),
	A(RNBD_A_DEVICE_STATE, "state", NL_U32),
	A(RNBD_A_DEVICE_SIZE_BYTES, "size-bytes", NL_U64),
	A(RNBD_A_DEVICE_LOGICAL_BLOCK_BYTES, "logical-block-bytes", NL_U32),
	A(RNBD_A_DEVICE_PHYSICAL_BLOCK_BYTES, "physical-block-bytes", NL_U32),
	A(RNBD_A_DEVICE_READ_ONLY, "read-only", NL_U8),
	A(RNBD_A_DEVICE_WRITE_CACHE, "write-cache", NL_U8),
	A(RNBD_A_DEVICE_FUA, "fua", NL_U8),
	A(RNBD_A_DEVICE_POLL_QUEUES, "poll-queues", NL_U32),
	A(RNBD_A_DEVICE_HW_QUEUES, "hw-queues", NL_U32),
	A(RNBD_A_DEVICE_OPEN_COUNT, "open-count", NL_U32),
	A(RNBD_A_DEVICE_LAST_ERROR, "last-error", NL_S32),
	A(RNBD_A_DEVICE_CONNECTIONS, "connections", NL_U32),
	AN(RNBD_A_DEVICE_PATH, "path", &path_spec_set),
	A(RNBD_A_DEVICE_TIMEOUT_MS, "timeout-ms", NL_U32),
	A(RNBD_A_DEVICE_FORCE, "force", NL_FLAG_T),
	A(RNBD_A_DEVICE_MP_POLICY, "mp-policy", NL_U32),
	A(RNBD_A_DEVICE_EVENT, "event", NL_U32),
	A(RNBD_A_DEVICE_OLD_STATE, "old-state", NL_U32),
	A(RNBD_A_DEVICE_GENERATION, "generation", NL_U32),
	AN(RNBD_A_DEVICE_SETTINGS, "settings", &settings_set),
	A(RNBD_A_DEVICE_ALWAYS_FUA, "always-fua", NL_U8),
	A(RNBD_A_DEVICE_WRITE_LOSSES, "write-losses", NL_U32),
	A(RNBD_A_DEVICE_IO_MODE, "io-mode", NL_U32),
};

static const struct nl_attr_desc export_attrs[] = {
	A(RNBD_A_EXPORT_ID, "id", NL_U32),
	A(RNBD_A_EXPORT_NAME, "name", NL_STR),
	A(RNBD_A_EXPORT_MAJOR, "major", NL_U32),
	A(RNBD_A_EXPORT_MINOR, "minor", NL_U32),
	A(RNBD_A_EXPORT_SESSION_ID, "session-id", NL_U32),
	A(RNBD_A_EXPORT_SESSION_NAME, "session-name", NL_STR),
	A(RNBD_A_EXPORT_DEVICE_PATH, "device-path", NL_STR),
	A(RNBD_A_EXPORT_ACCESS_MODE, "access-mode", NL_U32),
	A(RNBD_A_EXPORT_SIZE_BYTES, "size-bytes", NL_U64),
	A(RNBD_A_EXPORT_LOGICAL_BLOCK_BYTES, "logical-block-bytes", NL_U32),
	A(RNBD_A_EXPORT_READ_ONLY, "read-only", NL_U8),
	A(RNBD_A_EXPORT_SINCE_NS, "since-ns", NL_U64),
	A(RNBD_A_EXPORT_EVENT, "event", NL_U32),
	A(RNBD_A_EXPORT_GENERATION, "generation", NL_U32),
	A(RNBD_A_EXPORT_TOLD_BYTES, "told-bytes", NL_U64),
	A(RNBD_A_EXPORT_REACH, "reach", NL_U32),
	A(RNBD_A_EXPORT_IO_MODE, "io-mode", NL_U32),
	A(RNBD_A_EXPORT_TIMEOUT_MS, "timeout-ms", NL_U32),
	A(RNBD_A_EXPORT_PEER_NAME, "peer-name", NL_STR),
	A(RNBD_A_EXPORT_EXPORT_NAME, "export-name", NL_STR),
};

static const struct nl_attr_desc port_attrs[] = {
	A(RNBD_A_PORT_HCA_NAME, "hca-name", NL_STR),
	A(RNBD_A_PORT_HCA_PORT, "hca-port", NL_U32),
	A(RNBD_A_PORT_GID, "gid", NL_BIN),
	A(RNBD_A_PORT_LISTENING_PORT, "listening-port", NL_U32),
	A(RNBD_A_PORT_DRAINED, "drained", NL_U8),
	A(RNBD_A_PORT_FORCE, "force", NL_FLAG_T),
	A(RNBD_A_PORT_GENERATION, "generation", NL_U32),
};

static const struct nl_attr_desc latency_attrs[] = {
	A(RNBD_A_LATENCY_BUCKET_LE_NS, "le-ns", NL_U64),
	A(RNBD_A_LATENCY_BUCKET_READ_IOS, "read-ios", NL_U64),
	A(RNBD_A_LATENCY_BUCKET_WRITE_IOS, "write-ios", NL_U64),
};
static const struct nl_attr_set latency_set = SET(latency_attrs);

static const struct nl_attr_desc sg_attrs[] = {
	A(RNBD_A_SG_BUCKET_ENTRIES, "entries", NL_U32),
	A(RNBD_A_SG_BUCKET_IOS, "ios", NL_U64),
};
static const struct nl_attr_set sg_set = SET(sg_attrs);

static const struct nl_attr_desc cpu_attrs[] = {
	A(RNBD_A_CPU_STATS_CPU, "cpu", NL_U32),
	A(RNBD_A_CPU_STATS_READ_IOS, "read-ios", NL_U64),
	A(RNBD_A_CPU_STATS_READ_BYTES, "read-bytes", NL_U64),
	A(RNBD_A_CPU_STATS_WRITE_IOS, "write-ios", NL_U64),
	A(RNBD_A_CPU_STATS_WRITE_BYTES, "write-bytes", NL_U64),
	A(RNBD_A_CPU_STATS_MIGRATIONS_FROM, "migrations-from", NL_U64),
	A(RNBD_A_CPU_STATS_MIGRATIONS_TO, "migrations-to", NL_U64),
	A(RNBD_A_CPU_STATS_INFLIGHT, "inflight", NL_U32),
	A(RNBD_A_CPU_STATS_COMPLETIONS, "completions", NL_U64),
	A(RNBD_A_CPU_STATS_POLLS, "polls", NL_U64),
	A(RNBD_A_CPU_STATS_COMPLETIONS_MAX, "completions-max", NL_U64),
	A(RNBD_A_CPU_STATS_READ_LATENCY_MAX_NS, "read-latency-max-ns", NL_U64),
	A(RNBD_A_CPU_STATS_WRITE_LATENCY_MAX_NS, "write-latency-max-ns", NL_U64),
	AN(RNBD_A_CPU_STATS_LATENCY, "latency", &latency_set),
	AN(RNBD_A_CPU_STATS_SG, "sg", &sg_set),
	A(RNBD_A_CPU_STATS_FAILOVERS, "failovers", NL_U64),
};
static const struct nl_attr_set cpu_set = SET(cpu_attrs);

static const struct nl_attr_desc stats_attrs[] = {
	A(RNBD_A_STATS_PATH_ID, "path-id", NL_U32),
	A(RNBD_A_STATS_PATH_NAME, "path-name", NL_STR),
	A(RNBD_A_STATS_SESSION_ID, "session-id", NL_U32),
	A(RNBD_A_STATS_SESSION_NAME, "session-name", NL_STR),
	A(RNBD_A_STATS_ROLE, "role", NL_U32),
	A(RNBD_A_STATS_HCA_NAME, "hca-name", NL_STR),
	A(RNBD_A_STATS_HCA_PORT, "hca-port", NL_U32),
	A(RNBD_A_STATS_READ_IOS, "read-ios", NL_U64),
	A(RNBD_A_STATS_READ_BYTES, "read-bytes", NL_U64),
	A(RNBD_A_STATS_WRITE_IOS, "write-ios", NL_U64),
	A(RNBD_A_STATS_WRITE_BYTES, "write-bytes", NL_U64),
	A(RNBD_A_STATS_INFLIGHT, "inflight", NL_U32),
	A(RNBD_A_STATS_FAILOVERS, "failovers", NL_U64),
	A(RNBD_A_STATS_RECONNECTS_OK, "reconnects-ok", NL_U64),
	A(RNBD_A_STATS_RECONNECTS_FAILED, "reconnects-failed", NL_U64),
	A(RNBD_A_STATS_HEARTBEAT_LATENCY_NS, "heartbeat-latency-ns", NL_U64),
	AN(RNBD_A_STATS_CPU, "cpu", &cpu_set),
	A(RNBD_A_STATS_COMPLETIONS, "completions", NL_U64),
	A(RNBD_A_STATS_POLLS, "polls", NL_U64),
	A(RNBD_A_STATS_COMPLETIONS_MAX, "completions-max", NL_U64),
	A(RNBD_A_STATS_READ_LATENCY_MAX_NS, "read-latency-max-ns", NL_U64),
	A(RNBD_A_STATS_WRITE_LATENCY_MAX_NS, "write-latency-max-ns", NL_U64),
	AN(RNBD_A_STATS_LATENCY, "latency", &latency_set),
	AN(RNBD_A_STATS_SG, "sg", &sg_set),
	A(RNBD_A_STATS_GROUPS, "groups", NL_U32),
	A(RNBD_A_STATS_GENERATION, "generation", NL_U32),
};

static const struct nl_attr_set session_set = SET(session_attrs);
static const struct nl_attr_set path_set = SET(path_attrs);
static const struct nl_attr_set device_set = SET(device_attrs);
static const struct nl_attr_set export_set = SET(export_attrs);
static const struct nl_attr_set port_set = SET(port_attrs);
static const struct nl_attr_set stats_set = SET(stats_attrs);

static const struct nl_attr_desc prefix_attrs[] = {
	A(RNBD_A_ACL_PREFIX_ADDR, "addr", NL_BIN),
	A(RNBD_A_ACL_PREFIX_BITS, "bits", NL_U32),
};
static const struct nl_attr_set prefix_set = SET(prefix_attrs);

static const struct nl_attr_desc pattern_attrs[] = {
	A(RNBD_A_ACL_SESSION_PATTERN, "pattern", NL_STR),
};
static const struct nl_attr_set pattern_set = SET(pattern_attrs);

static const struct nl_attr_desc peer_attrs[] = {
	A(RNBD_A_ACL_PEER_NAME, "name", NL_STR),
	A(RNBD_A_ACL_PEER_AUTH, "auth", NL_U32),
	AN(RNBD_A_ACL_PEER_SESSION, "session", &pattern_set),
	AN(RNBD_A_ACL_PEER_FROM, "from", &prefix_set),
	A(RNBD_A_ACL_PEER_MAX_SESSIONS, "max-sessions", NL_U32),
	A(RNBD_A_ACL_PEER_MAX_DEVICES, "max-devices", NL_U32),
	A(RNBD_A_ACL_PEER_MAX_MEMORY_BYTES, "max-memory-bytes", NL_U64),
	A(RNBD_A_ACL_PEER_SESSIONS, "sessions", NL_U32),
	A(RNBD_A_ACL_PEER_DEVICES, "devices", NL_U32),
	A(RNBD_A_ACL_PEER_PINNED_BYTES, "pinned-bytes", NL_U64),
	A(RNBD_A_ACL_PEER_DENIED, "denied", NL_U64),
};
static const struct nl_attr_set peer_set = SET(peer_attrs);

static const struct nl_attr_desc allow_attrs[] = {
	A(RNBD_A_ACL_ALLOW_PEER, "peer", NL_STR),
	A(RNBD_A_ACL_ALLOW_ACCESS_MODE, "access-mode", NL_U32),
};
static const struct nl_attr_set allow_set = SET(allow_attrs);

static const struct nl_attr_desc listed_attrs[] = {
	A(RNBD_A_ACL_EXPORT_NAME, "name", NL_STR),
	A(RNBD_A_ACL_EXPORT_PATH, "path", NL_STR),
	A(RNBD_A_ACL_EXPORT_IO_MODE, "io-mode", NL_U32),
	AN(RNBD_A_ACL_EXPORT_ALLOW, "allow", &allow_set),
	A(RNBD_A_ACL_EXPORT_KIND, "kind", NL_U32),
	A(RNBD_A_ACL_EXPORT_OPENINGS, "openings", NL_U32),
};
static const struct nl_attr_set listed_set = SET(listed_attrs);

static const struct nl_attr_desc access_attrs[] = {
	A(RNBD_A_ACCESS_STATE, "state", NL_U32),
	A(RNBD_A_ACCESS_NUMBER, "number", NL_U32),
	A(RNBD_A_ACCESS_LOADED_NS, "loaded-ns", NL_U64),
	A(RNBD_A_ACCESS_UID, "uid", NL_U32),
	A(RNBD_A_ACCESS_DENIED_TOTAL, "denied-total", NL_U64),
	A(RNBD_A_ACCESS_LAST_SEQ, "last-seq", NL_U64),
	AN(RNBD_A_ACCESS_PEER, "peer", &peer_set),
	AN(RNBD_A_ACCESS_EXPORT, "export", &listed_set),
	A(RNBD_A_ACCESS_EXPECT, "expect", NL_U32),
	A(RNBD_A_ACCESS_FORCE, "force", NL_FLAG_T),
	A(RNBD_A_ACCESS_DRY_RUN, "dry-run", NL_FLAG_T),
	A(RNBD_A_ACCESS_ENDED_PATHS, "ended-paths", NL_U32),
	A(RNBD_A_ACCESS_ENDED_EXPORTS, "ended-exports", NL_U32),
	A(RNBD_A_ACCESS_ENDED_PATH_ID, "ended-path-id", NL_U32),
	A(RNBD_A_ACCESS_ENDED_EXPORT_ID, "ended-export-id", NL_U32),
	A(RNBD_A_ACCESS_PEER_NAME, "peer-name", NL_STR),
	A(RNBD_A_ACCESS_SESSION_NAME, "session-name", NL_STR),
	A(RNBD_A_ACCESS_CLIENT_ADDR, "client-addr", NL_BIN),
	A(RNBD_A_ACCESS_SERVER_ADDR, "server-addr", NL_BIN),
	A(RNBD_A_ACCESS_DEVICE_PATH, "device-path", NL_STR),
	A(RNBD_A_ACCESS_ACCESS_MODE, "access-mode", NL_U32),
	A(RNBD_A_ACCESS_ALLOWED, "allowed", NL_U8),
	A(RNBD_A_ACCESS_ERROR, "error", NL_S32),
	A(RNBD_A_ACCESS_REASON, "reason", NL_U32),
	A(RNBD_A_ACCESS_EXPORT_NAME, "export-name", NL_STR),
	A(RNBD_A_ACCESS_PATH, "path", NL_STR),
	A(RNBD_A_ACCESS_GRANTED_MODE, "granted-mode", NL_U32),
	A(RNBD_A_ACCESS_EVENT, "event", NL_U32),
	A(RNBD_A_ACCESS_STEP, "step", NL_U32),
	A(RNBD_A_ACCESS_SEQ, "seq", NL_U64),
	A(RNBD_A_ACCESS_TIME_NS, "time-ns", NL_U64),
	A(RNBD_A_ACCESS_SUPPRESSED, "suppressed", NL_U32),
	A(RNBD_A_ACCESS_OLD_NUMBER, "old-number", NL_U32),
	A(RNBD_A_ACCESS_OLD_STATE, "old-state", NL_U32),
	A(RNBD_A_ACCESS_PEERS, "peers", NL_U32),
	A(RNBD_A_ACCESS_EXPORTS, "exports", NL_U32),
	A(RNBD_A_ACCESS_LOGINUID, "loginuid", NL_U32),
};
static const struct nl_attr_set access_set = SET(access_attrs);

static const struct nl_cmd_desc rnbd_cmds[] = {
	[RNBD_CMD_SESSION_GET] = { "session-get", &session_set },
	[RNBD_CMD_PATH_GET] = { "path-get", &path_set },
	[RNBD_CMD_DEVICE_GET] = { "device-get", &device_set },
	[RNBD_CMD_EXPORT_GET] = { "export-get", &export_set },
	[RNBD_CMD_SESSION_NTF] = { "session-ntf", &session_set },
	[RNBD_CMD_PATH_NTF] = { "path-ntf", &path_set },
	[RNBD_CMD_DEVICE_NTF] = { "device-ntf", &device_set },
	[RNBD_CMD_EXPORT_NTF] = { "export-ntf", &export_set },
	[RNBD_CMD_MAP] = { "map", &device_set },
	[RNBD_CMD_UNMAP] = { "unmap", &device_set },
	[RNBD_CMD_STATS_GET] = { "stats-get", &stats_set },
	[RNBD_CMD_STATS_RESET] = { "stats-reset", &stats_set },
	[RNBD_CMD_REMAP] = { "remap", &device_set },
	[RNBD_CMD_RESIZE] = { "resize", &device_set },
	[RNBD_CMD_EXPORT_CLOSE] = { "export-close", &export_set },
	[RNBD_CMD_SESSION_SET] = { "session-set", &session_set },
	[RNBD_CMD_SESSION_DISCONNECT] = { "session-disconnect", &session_set },
	[RNBD_CMD_SESSION_ADD] = { "session-add", &session_set },
	[RNBD_CMD_SESSION_DEL] = { "session-del", &session_set },
	[RNBD_CMD_PATH_ADD] = { "path-add", &path_set },
	[RNBD_CMD_PATH_DEL] = { "path-del", &path_set },
	[RNBD_CMD_PATH_RECONNECT] = { "path-reconnect", &path_set },
	[RNBD_CMD_PATH_DISCONNECT] = { "path-disconnect", &path_set },
	[RNBD_CMD_EXPORT_REVALIDATE] = { "export-revalidate", &export_set },
	[RNBD_CMD_PORT_GET] = { "port-get", &port_set },
	[RNBD_CMD_PORT_DRAIN] = { "port-drain", &port_set },
	[RNBD_CMD_PORT_UNDRAIN] = { "port-undrain", &port_set },
	[RNBD_CMD_DEVICE_SET] = { "device-set", &device_set },
	[RNBD_CMD_ACCESS_GET] = { "access-get", &access_set },
	[RNBD_CMD_ACCESS_SET] = { "access-set", &access_set },
	[RNBD_CMD_ACCESS_TEST] = { "access-test", &access_set },
	[RNBD_CMD_ACCESS_NTF] = { "access-ntf", &access_set },
};

const struct nl_family netlink_family_rnbd = {
	RNBD_FAMILY_NAME, RNBD_FAMILY_VERSION, rnbd_cmds, ARRAY_SIZE(rnbd_cmds),
};

static const struct nl_attr_desc rds_path_attrs[] = {
	A(RDS_A_PATH_INDEX, "index", NL_U32),
	A(RDS_A_PATH_STATE, "state", NL_U32),
	A(RDS_A_PATH_SINCE_NS, "since-ns", NL_U64),
	A(RDS_A_PATH_RECONNECTS, "reconnects", NL_U32),
	A(RDS_A_PATH_LAST_ERROR, "last-error", NL_S32),
	A(RDS_A_PATH_NEXT_TX, "next-tx", NL_U64),
	A(RDS_A_PATH_NEXT_RX, "next-rx", NL_U64),
	A(RDS_A_PATH_UNSENT, "unsent", NL_U32),
	A(RDS_A_PATH_UNACKED, "unacked", NL_U32),
	A(RDS_A_PATH_LOCAL_PORT, "local-port", NL_U16),
	A(RDS_A_PATH_REMOTE_PORT, "remote-port", NL_U16),
	A(RDS_A_PATH_ABILITIES, "abilities", NL_U32),
};
static const struct nl_attr_set rds_path_set = SET(rds_path_attrs);

static const struct nl_attr_desc rds_connection_attrs[] = {
	A(RDS_A_CONNECTION_LOCAL_ADDR, "local-addr", NL_BIN),
	A(RDS_A_CONNECTION_REMOTE_ADDR, "remote-addr", NL_BIN),
	A(RDS_A_CONNECTION_TOS, "tos", NL_U8),
	A(RDS_A_CONNECTION_TRANSPORT, "transport", NL_STR),
	A(RDS_A_CONNECTION_PATHS, "paths", NL_U32),
	AN(RDS_A_CONNECTION_PATH, "path", &rds_path_set),
	A(RDS_A_CONNECTION_EVENT, "event", NL_U32),
};
static const struct nl_attr_set rds_connection_set = SET(rds_connection_attrs);

static const struct nl_cmd_desc rds_cmds[] = {
	[RDS_CMD_CONNECTION_GET] = { "connection-get", &rds_connection_set },
	[RDS_CMD_PATH_NTF] = { "path-ntf", &rds_connection_set },
};

const struct nl_family netlink_family_rds = {
	RDS_FAMILY_NAME, RDS_FAMILY_VERSION, rds_cmds, ARRAY_SIZE(rds_cmds),
};

static struct nl_cmd_desc cmd_desc(const struct nl_family *f, int cmd)
{
	return cmd >= 0 && (size_t)cmd < f->ncmds ? f->cmds[cmd] : (struct nl_cmd_desc){ 0 };
}

static const struct nl_attr_set *set_of(const struct nl_family *f, const struct nlmsghdr *h)
{
	return cmd_desc(f, ((struct genlmsghdr *)NLMSG_DATA(h))->cmd).set;
}

const char *rnl_cmd_name(const struct nl_family *f, int cmd)
{
	const char *name = cmd_desc(f, cmd).name;

	return name ? name : "unknown";
}

static const struct nl_attr_desc *find(const struct nl_attr_set *set, unsigned int type)
{
	if (!set || type >= set->max || !set->attrs[type].name)
		return NULL;
	return &set->attrs[type];
}

/* Descends to the attribute that holds @offset; returns its set. */
static const struct nl_attr_set *walk(const struct nl_family *f, const struct nlmsghdr *h,
				      unsigned int offset, char *buf, size_t len)
{
	const struct nl_attr_set *set = set_of(f, h);
	const char *base = (const char *)h;
	struct nlattr *a = (struct nlattr *)(base + NLMSG_HDRLEN + GENL_HDRLEN);
	int rem = (int)h->nlmsg_len - (NLMSG_HDRLEN + GENL_HDRLEN);
	size_t n = 0;

	buf[0] = '\0';
	while (nla_ok(a, rem)) {
		unsigned int off = (const char *)a - base;
		const struct nl_attr_desc *d;

		if (offset < off)
			break;
		if (offset >= off + NLA_ALIGN(a->nla_len)) {
			a = nla_next(a, &rem);
			continue;
		}
		d = find(set, nla_type(a));
		if (!d)
			return NULL;
		n += snprintf(buf + n, n < len ? len - n : 0, "%s%s", n ? "." : "", d->name);
		set = d->nest;
		if (offset == off || d->type != NL_NEST)
			return set;
		rem = nla_len(a);
		a = nla_data(a);
	}
	return set;
}

void rnl_attr_at(const struct nl_family *f, const struct nlmsghdr *h, unsigned int offset, char *buf,
		 size_t len)
{
	walk(f, h, offset, buf, len);
}

void rnl_attr_missing(const struct nl_family *f, const struct nlmsghdr *h, unsigned int nest_offset,
		      unsigned int type, char *buf, size_t len)
{
	const struct nl_attr_set *set = set_of(f, h);
	const struct nl_attr_desc *d;
	size_t n;

	buf[0] = '\0';
	if (nest_offset)
		set = walk(f, h, nest_offset, buf, len);
	d = find(set, type);
	n = strlen(buf);
	if (d)
		snprintf(buf + n, len - n, "%s%s", n ? "." : "", d->name);
}

static void trace_bytes(const unsigned char *p, int len)
{
	for (int i = 0; i < len; i++)
		fprintf(stderr, "%02x", p[i]);
}

static void trace_attrs(const struct nl_attr_set *set, struct nlattr *a, int rem)
{
	for (; nla_ok(a, rem); a = nla_next(a, &rem)) {
		const struct nl_attr_desc *d = find(set, nla_type(a));
		int len = nla_len(a);
		unsigned char *p = nla_data(a);

		if (d)
			fprintf(stderr, " %s=", d->name);
		else
			fprintf(stderr, " attr%d=", nla_type(a));
		if (d && d->type == NL_NEST) {
			fputs("{", stderr);
			trace_attrs(d->nest, (struct nlattr *)p, len);
			fputs(" }", stderr);
		} else if (d && d->type == NL_U8 && len >= 1) {
			fprintf(stderr, "%u", *p);
		} else if (d && d->type == NL_U16 && len >= 2) {
			fprintf(stderr, "%u", nla_get_u16(a));
		} else if (d && d->type == NL_U32 && len >= 4) {
			fprintf(stderr, "%" PRIu32, nla_get_u32(a));
		} else if (d && d->type == NL_S32 && len >= 4) {
			fprintf(stderr, "%" PRId32, nla_get_s32(a));
		} else if (d && d->type == NL_U64 && len >= 8) {
			fprintf(stderr, "%" PRIu64, nla_get_u64(a));
		} else if (d && d->type == NL_STR) {
			char *s = xstrndup((char *)p, len), *q = shell_quote(s);

			fputs(q, stderr);
			free(q);
			free(s);
		} else {
			trace_bytes(p, len);
		}
	}
}

void rnl_trace_msg(const struct nl *nl, const char *dir, const struct nlmsghdr *h)
{
	double ms = (now_ns() - nl->started_ns) / 1e6;
	const struct genlmsghdr *g = NLMSG_DATA(h);

	fprintf(stderr, "nl %s %8.3f ms ", dir, ms);
	if (h->nlmsg_type == NLMSG_ERROR) {
		const struct nlmsgerr *err = NLMSG_DATA(h);

		fprintf(stderr, "ack error=%d\n", err->error);
		return;
	}
	if (h->nlmsg_type == NLMSG_DONE) {
		fputs("done\n", stderr);
		return;
	}
	if (h->nlmsg_type == GENL_ID_CTRL) {
		fputs("nlctrl\n", stderr);
		return;
	}
	fprintf(stderr, "%s%s len=%u", rnl_cmd_name(nl->k.cfg.family, g->cmd),
		(h->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP ? " dump" : "", h->nlmsg_len);
	trace_attrs(set_of(nl->k.cfg.family, h),
		    (struct nlattr *)((char *)h + NLMSG_HDRLEN + GENL_HDRLEN),
		    (int)h->nlmsg_len - (NLMSG_HDRLEN + GENL_HDRLEN));
	fputs("\n", stderr);
}
