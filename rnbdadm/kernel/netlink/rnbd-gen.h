/* SPDX-License-Identifier: GPL-2.0 */
/* Do not edit directly, auto-generated from include/netlink/rnbd.yaml by regen.sh */

static const struct nl_attr_desc rnbd_settings_attrs[RNBD_A_SETTINGS_MAX + 1] = {
	[RNBD_A_SETTINGS_MAX_RECONNECT_ATTEMPTS] = { .name = "max-reconnect-attempts", .type = NL_S32 },
	[RNBD_A_SETTINGS_HEARTBEAT_INTERVAL_MS] = { .name = "heartbeat-interval-ms", .type = NL_U32 },
	[RNBD_A_SETTINGS_HEARTBEAT_MISSES] = { .name = "heartbeat-misses", .type = NL_U32 },
	[RNBD_A_SETTINGS_RECONNECT_DELAY_MS] = { .name = "reconnect-delay-ms", .type = NL_U32 },
	[RNBD_A_SETTINGS_RECONNECT_DELAY_MAX_MS] = { .name = "reconnect-delay-max-ms", .type = NL_U32 },
	[RNBD_A_SETTINGS_CONNECT_TIMEOUT_MS] = { .name = "connect-timeout-ms", .type = NL_U32 },
	[RNBD_A_SETTINGS_IO_TIMEOUT_MS] = { .name = "io-timeout-ms", .type = NL_U32 },
	[RNBD_A_SETTINGS_NO_PATH_TIMEOUT_MS] = { .name = "no-path-timeout-ms", .type = NL_S32 },
	[RNBD_A_SETTINGS_LOST_WRITES] = { .name = "lost-writes", .type = NL_U32 },
};

static const struct nl_attr_set rnbd_settings_set = { ARRAY_SIZE(rnbd_settings_attrs), rnbd_settings_attrs };

static const struct nl_attr_desc rnbd_path_spec_attrs[RNBD_A_PATH_SPEC_MAX + 1] = {
	[RNBD_A_PATH_SPEC_CLIENT_ADDR] = { .name = "client-addr", .type = NL_BIN },
	[RNBD_A_PATH_SPEC_SERVER_ADDR] = { .name = "server-addr", .type = NL_BIN },
};

static const struct nl_attr_set rnbd_path_spec_set = { ARRAY_SIZE(rnbd_path_spec_attrs), rnbd_path_spec_attrs };

static const struct nl_attr_desc rnbd_session_attrs[RNBD_A_SESSION_MAX + 1] = {
	[RNBD_A_SESSION_ID] = { .name = "id", .type = NL_U32 },
	[RNBD_A_SESSION_NAME] = { .name = "name", .type = NL_STR },
	[RNBD_A_SESSION_ROLE] = { .name = "role", .type = NL_U32 },
	[RNBD_A_SESSION_STATE] = { .name = "state", .type = NL_U32 },
	[RNBD_A_SESSION_MP_POLICY] = { .name = "mp-policy", .type = NL_U32 },
	[RNBD_A_SESSION_MAX_RECONNECT_ATTEMPTS] = { .name = "max-reconnect-attempts", .type = NL_S32 },
	[RNBD_A_SESSION_QUEUE_DEPTH] = { .name = "queue-depth", .type = NL_U32 },
	[RNBD_A_SESSION_MAX_IO_BYTES] = { .name = "max-io-bytes", .type = NL_U32 },
	[RNBD_A_SESSION_PATHS_CONNECTED] = { .name = "paths-connected", .type = NL_U32 },
	[RNBD_A_SESSION_PATHS_CONFIGURED] = { .name = "paths-configured", .type = NL_U32 },
	[RNBD_A_SESSION_DEVICES] = { .name = "devices", .type = NL_U32 },
	[RNBD_A_SESSION_PINNED_BYTES] = { .name = "pinned-bytes", .type = NL_U64 },
	[RNBD_A_SESSION_EVENT] = { .name = "event", .type = NL_U32 },
	[RNBD_A_SESSION_OLD_STATE] = { .name = "old-state", .type = NL_U32 },
	[RNBD_A_SESSION_GENERATION] = { .name = "generation", .type = NL_U32 },
	[RNBD_A_SESSION_SETTINGS] = { .name = "settings", .type = NL_NEST, .nest = &rnbd_settings_set },
	[RNBD_A_SESSION_PATH] = { .name = "path", .type = NL_NEST, .nest = &rnbd_path_spec_set, .list = true },
	[RNBD_A_SESSION_CONNECTIONS] = { .name = "connections", .type = NL_U32 },
	[RNBD_A_SESSION_POLL_QUEUES] = { .name = "poll-queues", .type = NL_U32 },
	[RNBD_A_SESSION_TIMEOUT_MS] = { .name = "timeout-ms", .type = NL_U32 },
	[RNBD_A_SESSION_HELD] = { .name = "held", .type = NL_U8 },
	[RNBD_A_SESSION_REMOVING] = { .name = "removing", .type = NL_U8 },
	[RNBD_A_SESSION_PEER_NAME] = { .name = "peer-name", .type = NL_STR },
	[RNBD_A_SESSION_PINNED_MAX_BYTES] = { .name = "pinned-max-bytes", .type = NL_U64 },
};

static const struct nl_attr_set rnbd_session_set = { ARRAY_SIZE(rnbd_session_attrs), rnbd_session_attrs };

static const struct nl_attr_desc rnbd_path_attrs[RNBD_A_PATH_MAX + 1] = {
	[RNBD_A_PATH_ID] = { .name = "id", .type = NL_U32 },
	[RNBD_A_PATH_SESSION_ID] = { .name = "session-id", .type = NL_U32 },
	[RNBD_A_PATH_SESSION_NAME] = { .name = "session-name", .type = NL_STR },
	[RNBD_A_PATH_NAME] = { .name = "name", .type = NL_STR },
	[RNBD_A_PATH_ROLE] = { .name = "role", .type = NL_U32 },
	[RNBD_A_PATH_CLIENT_ADDR] = { .name = "client-addr", .type = NL_BIN },
	[RNBD_A_PATH_SERVER_ADDR] = { .name = "server-addr", .type = NL_BIN },
	[RNBD_A_PATH_STATE] = { .name = "state", .type = NL_U32 },
	[RNBD_A_PATH_HCA_NAME] = { .name = "hca-name", .type = NL_STR },
	[RNBD_A_PATH_HCA_PORT] = { .name = "hca-port", .type = NL_U32 },
	[RNBD_A_PATH_CONNECTIONS] = { .name = "connections", .type = NL_U32 },
	[RNBD_A_PATH_RECONNECT_ATTEMPTS] = { .name = "reconnect-attempts", .type = NL_U32 },
	[RNBD_A_PATH_LAST_ERROR] = { .name = "last-error", .type = NL_S32 },
	[RNBD_A_PATH_HEARTBEAT_LATENCY_NS] = { .name = "heartbeat-latency-ns", .type = NL_U64 },
	[RNBD_A_PATH_SINCE_NS] = { .name = "since-ns", .type = NL_U64 },
	[RNBD_A_PATH_EVENT] = { .name = "event", .type = NL_U32 },
	[RNBD_A_PATH_OLD_STATE] = { .name = "old-state", .type = NL_U32 },
	[RNBD_A_PATH_GENERATION] = { .name = "generation", .type = NL_U32 },
	[RNBD_A_PATH_TIMEOUT_MS] = { .name = "timeout-ms", .type = NL_U32 },
	[RNBD_A_PATH_REMOVING] = { .name = "removing", .type = NL_U8 },
	[RNBD_A_PATH_PEER_NAME] = { .name = "peer-name", .type = NL_STR },
};

static const struct nl_attr_set rnbd_path_set = { ARRAY_SIZE(rnbd_path_attrs), rnbd_path_attrs };

static const struct nl_attr_desc rnbd_device_attrs[RNBD_A_DEVICE_MAX + 1] = {
	[RNBD_A_DEVICE_ID] = { .name = "id", .type = NL_U32 },
	[RNBD_A_DEVICE_NAME] = { .name = "name", .type = NL_STR },
	[RNBD_A_DEVICE_MAJOR] = { .name = "major", .type = NL_U32 },
	[RNBD_A_DEVICE_MINOR] = { .name = "minor", .type = NL_U32 },
	[RNBD_A_DEVICE_SESSION_ID] = { .name = "session-id", .type = NL_U32 },
	[RNBD_A_DEVICE_SESSION_NAME] = { .name = "session-name", .type = NL_STR },
	[RNBD_A_DEVICE_DEVICE_PATH] = { .name = "device-path", .type = NL_STR },
	[RNBD_A_DEVICE_ACCESS_MODE] = { .name = "access-mode", .type = NL_U32 },
	[RNBD_A_DEVICE_STATE] = { .name = "state", .type = NL_U32 },
	[RNBD_A_DEVICE_SIZE_BYTES] = { .name = "size-bytes", .type = NL_U64 },
	[RNBD_A_DEVICE_LOGICAL_BLOCK_BYTES] = { .name = "logical-block-bytes", .type = NL_U32 },
	[RNBD_A_DEVICE_PHYSICAL_BLOCK_BYTES] = { .name = "physical-block-bytes", .type = NL_U32 },
	[RNBD_A_DEVICE_READ_ONLY] = { .name = "read-only", .type = NL_U8 },
	[RNBD_A_DEVICE_WRITE_CACHE] = { .name = "write-cache", .type = NL_U8 },
	[RNBD_A_DEVICE_FUA] = { .name = "fua", .type = NL_U8 },
	[RNBD_A_DEVICE_POLL_QUEUES] = { .name = "poll-queues", .type = NL_U32 },
	[RNBD_A_DEVICE_HW_QUEUES] = { .name = "hw-queues", .type = NL_U32 },
	[RNBD_A_DEVICE_OPEN_COUNT] = { .name = "open-count", .type = NL_U32 },
	[RNBD_A_DEVICE_LAST_ERROR] = { .name = "last-error", .type = NL_S32 },
	[RNBD_A_DEVICE_CONNECTIONS] = { .name = "connections", .type = NL_U32 },
	[RNBD_A_DEVICE_PATH] = { .name = "path", .type = NL_NEST, .nest = &rnbd_path_spec_set, .list = true },
	[RNBD_A_DEVICE_TIMEOUT_MS] = { .name = "timeout-ms", .type = NL_U32 },
	[RNBD_A_DEVICE_FORCE] = { .name = "force", .type = NL_FLAG_T },
	[RNBD_A_DEVICE_MP_POLICY] = { .name = "mp-policy", .type = NL_U32 },
	[RNBD_A_DEVICE_EVENT] = { .name = "event", .type = NL_U32 },
	[RNBD_A_DEVICE_OLD_STATE] = { .name = "old-state", .type = NL_U32 },
	[RNBD_A_DEVICE_GENERATION] = { .name = "generation", .type = NL_U32 },
	[RNBD_A_DEVICE_SETTINGS] = { .name = "settings", .type = NL_NEST, .nest = &rnbd_settings_set },
	[RNBD_A_DEVICE_ALWAYS_FUA] = { .name = "always-fua", .type = NL_U8 },
	[RNBD_A_DEVICE_WRITE_LOSSES] = { .name = "write-losses", .type = NL_U32 },
	[RNBD_A_DEVICE_IO_MODE] = { .name = "io-mode", .type = NL_U32 },
};

static const struct nl_attr_set rnbd_device_set = { ARRAY_SIZE(rnbd_device_attrs), rnbd_device_attrs };

static const struct nl_attr_desc rnbd_export_attrs[RNBD_A_EXPORT_MAX + 1] = {
	[RNBD_A_EXPORT_ID] = { .name = "id", .type = NL_U32 },
	[RNBD_A_EXPORT_NAME] = { .name = "name", .type = NL_STR },
	[RNBD_A_EXPORT_MAJOR] = { .name = "major", .type = NL_U32 },
	[RNBD_A_EXPORT_MINOR] = { .name = "minor", .type = NL_U32 },
	[RNBD_A_EXPORT_SESSION_ID] = { .name = "session-id", .type = NL_U32 },
	[RNBD_A_EXPORT_SESSION_NAME] = { .name = "session-name", .type = NL_STR },
	[RNBD_A_EXPORT_DEVICE_PATH] = { .name = "device-path", .type = NL_STR },
	[RNBD_A_EXPORT_ACCESS_MODE] = { .name = "access-mode", .type = NL_U32 },
	[RNBD_A_EXPORT_SIZE_BYTES] = { .name = "size-bytes", .type = NL_U64 },
	[RNBD_A_EXPORT_LOGICAL_BLOCK_BYTES] = { .name = "logical-block-bytes", .type = NL_U32 },
	[RNBD_A_EXPORT_READ_ONLY] = { .name = "read-only", .type = NL_U8 },
	[RNBD_A_EXPORT_SINCE_NS] = { .name = "since-ns", .type = NL_U64 },
	[RNBD_A_EXPORT_EVENT] = { .name = "event", .type = NL_U32 },
	[RNBD_A_EXPORT_GENERATION] = { .name = "generation", .type = NL_U32 },
	[RNBD_A_EXPORT_TOLD_BYTES] = { .name = "told-bytes", .type = NL_U64 },
	[RNBD_A_EXPORT_REACH] = { .name = "reach", .type = NL_U32 },
	[RNBD_A_EXPORT_TIMEOUT_MS] = { .name = "timeout-ms", .type = NL_U32 },
	[RNBD_A_EXPORT_PEER_NAME] = { .name = "peer-name", .type = NL_STR },
	[RNBD_A_EXPORT_EXPORT_NAME] = { .name = "export-name", .type = NL_STR },
	[RNBD_A_EXPORT_IO_MODE] = { .name = "io-mode", .type = NL_U32 },
};

static const struct nl_attr_set rnbd_export_set = { ARRAY_SIZE(rnbd_export_attrs), rnbd_export_attrs };

static const struct nl_attr_desc rnbd_latency_bucket_attrs[RNBD_A_LATENCY_BUCKET_MAX + 1] = {
	[RNBD_A_LATENCY_BUCKET_LE_NS] = { .name = "le-ns", .type = NL_U64 },
	[RNBD_A_LATENCY_BUCKET_READ_IOS] = { .name = "read-ios", .type = NL_U64 },
	[RNBD_A_LATENCY_BUCKET_WRITE_IOS] = { .name = "write-ios", .type = NL_U64 },
};

static const struct nl_attr_set rnbd_latency_bucket_set = { ARRAY_SIZE(rnbd_latency_bucket_attrs), rnbd_latency_bucket_attrs };

static const struct nl_attr_desc rnbd_sg_bucket_attrs[RNBD_A_SG_BUCKET_MAX + 1] = {
	[RNBD_A_SG_BUCKET_ENTRIES] = { .name = "entries", .type = NL_U32 },
	[RNBD_A_SG_BUCKET_IOS] = { .name = "ios", .type = NL_U64 },
};

static const struct nl_attr_set rnbd_sg_bucket_set = { ARRAY_SIZE(rnbd_sg_bucket_attrs), rnbd_sg_bucket_attrs };

static const struct nl_attr_desc rnbd_cpu_stats_attrs[RNBD_A_CPU_STATS_MAX + 1] = {
	[RNBD_A_CPU_STATS_CPU] = { .name = "cpu", .type = NL_U32 },
	[RNBD_A_CPU_STATS_READ_IOS] = { .name = "read-ios", .type = NL_U64 },
	[RNBD_A_CPU_STATS_READ_BYTES] = { .name = "read-bytes", .type = NL_U64 },
	[RNBD_A_CPU_STATS_WRITE_IOS] = { .name = "write-ios", .type = NL_U64 },
	[RNBD_A_CPU_STATS_WRITE_BYTES] = { .name = "write-bytes", .type = NL_U64 },
	[RNBD_A_CPU_STATS_MIGRATIONS_FROM] = { .name = "migrations-from", .type = NL_U64 },
	[RNBD_A_CPU_STATS_MIGRATIONS_TO] = { .name = "migrations-to", .type = NL_U64 },
	[RNBD_A_CPU_STATS_INFLIGHT] = { .name = "inflight", .type = NL_U32 },
	[RNBD_A_CPU_STATS_COMPLETIONS] = { .name = "completions", .type = NL_U64 },
	[RNBD_A_CPU_STATS_POLLS] = { .name = "polls", .type = NL_U64 },
	[RNBD_A_CPU_STATS_COMPLETIONS_MAX] = { .name = "completions-max", .type = NL_U64 },
	[RNBD_A_CPU_STATS_READ_LATENCY_MAX_NS] = { .name = "read-latency-max-ns", .type = NL_U64 },
	[RNBD_A_CPU_STATS_WRITE_LATENCY_MAX_NS] = { .name = "write-latency-max-ns", .type = NL_U64 },
	[RNBD_A_CPU_STATS_LATENCY] = { .name = "latency", .type = NL_NEST, .nest = &rnbd_latency_bucket_set, .list = true },
	[RNBD_A_CPU_STATS_SG] = { .name = "sg", .type = NL_NEST, .nest = &rnbd_sg_bucket_set, .list = true },
	[RNBD_A_CPU_STATS_FAILOVERS] = { .name = "failovers", .type = NL_U64 },
};

static const struct nl_attr_set rnbd_cpu_stats_set = { ARRAY_SIZE(rnbd_cpu_stats_attrs), rnbd_cpu_stats_attrs };

static const struct nl_attr_desc rnbd_stats_attrs[RNBD_A_STATS_MAX + 1] = {
	[RNBD_A_STATS_PATH_ID] = { .name = "path-id", .type = NL_U32 },
	[RNBD_A_STATS_PATH_NAME] = { .name = "path-name", .type = NL_STR },
	[RNBD_A_STATS_SESSION_ID] = { .name = "session-id", .type = NL_U32 },
	[RNBD_A_STATS_SESSION_NAME] = { .name = "session-name", .type = NL_STR },
	[RNBD_A_STATS_ROLE] = { .name = "role", .type = NL_U32 },
	[RNBD_A_STATS_HCA_NAME] = { .name = "hca-name", .type = NL_STR },
	[RNBD_A_STATS_HCA_PORT] = { .name = "hca-port", .type = NL_U32 },
	[RNBD_A_STATS_READ_IOS] = { .name = "read-ios", .type = NL_U64 },
	[RNBD_A_STATS_READ_BYTES] = { .name = "read-bytes", .type = NL_U64 },
	[RNBD_A_STATS_WRITE_IOS] = { .name = "write-ios", .type = NL_U64 },
	[RNBD_A_STATS_WRITE_BYTES] = { .name = "write-bytes", .type = NL_U64 },
	[RNBD_A_STATS_INFLIGHT] = { .name = "inflight", .type = NL_U32 },
	[RNBD_A_STATS_FAILOVERS] = { .name = "failovers", .type = NL_U64 },
	[RNBD_A_STATS_RECONNECTS_OK] = { .name = "reconnects-ok", .type = NL_U64 },
	[RNBD_A_STATS_RECONNECTS_FAILED] = { .name = "reconnects-failed", .type = NL_U64 },
	[RNBD_A_STATS_HEARTBEAT_LATENCY_NS] = { .name = "heartbeat-latency-ns", .type = NL_U64 },
	[RNBD_A_STATS_CPU] = { .name = "cpu", .type = NL_NEST, .nest = &rnbd_cpu_stats_set, .list = true },
	[RNBD_A_STATS_GENERATION] = { .name = "generation", .type = NL_U32 },
	[RNBD_A_STATS_COMPLETIONS] = { .name = "completions", .type = NL_U64 },
	[RNBD_A_STATS_POLLS] = { .name = "polls", .type = NL_U64 },
	[RNBD_A_STATS_COMPLETIONS_MAX] = { .name = "completions-max", .type = NL_U64 },
	[RNBD_A_STATS_READ_LATENCY_MAX_NS] = { .name = "read-latency-max-ns", .type = NL_U64 },
	[RNBD_A_STATS_WRITE_LATENCY_MAX_NS] = { .name = "write-latency-max-ns", .type = NL_U64 },
	[RNBD_A_STATS_LATENCY] = { .name = "latency", .type = NL_NEST, .nest = &rnbd_latency_bucket_set, .list = true },
	[RNBD_A_STATS_SG] = { .name = "sg", .type = NL_NEST, .nest = &rnbd_sg_bucket_set, .list = true },
	[RNBD_A_STATS_GROUPS] = { .name = "groups", .type = NL_U32 },
};

static const struct nl_attr_set rnbd_stats_set = { ARRAY_SIZE(rnbd_stats_attrs), rnbd_stats_attrs };

static const struct nl_attr_desc rnbd_port_attrs[RNBD_A_PORT_MAX + 1] = {
	[RNBD_A_PORT_HCA_NAME] = { .name = "hca-name", .type = NL_STR },
	[RNBD_A_PORT_HCA_PORT] = { .name = "hca-port", .type = NL_U32 },
	[RNBD_A_PORT_GID] = { .name = "gid", .type = NL_BIN },
	[RNBD_A_PORT_LISTENING_PORT] = { .name = "listening-port", .type = NL_U32 },
	[RNBD_A_PORT_DRAINED] = { .name = "drained", .type = NL_U8 },
	[RNBD_A_PORT_FORCE] = { .name = "force", .type = NL_FLAG_T },
	[RNBD_A_PORT_GENERATION] = { .name = "generation", .type = NL_U32 },
};

static const struct nl_attr_set rnbd_port_set = { ARRAY_SIZE(rnbd_port_attrs), rnbd_port_attrs };

static const struct nl_attr_desc rnbd_access_session_attrs[RNBD_A_ACL_SESSION_MAX + 1] = {
	[RNBD_A_ACL_SESSION_PATTERN] = { .name = "pattern", .type = NL_STR },
};

static const struct nl_attr_set rnbd_access_session_set = { ARRAY_SIZE(rnbd_access_session_attrs), rnbd_access_session_attrs };

static const struct nl_attr_desc rnbd_access_prefix_attrs[RNBD_A_ACL_PREFIX_MAX + 1] = {
	[RNBD_A_ACL_PREFIX_ADDR] = { .name = "addr", .type = NL_BIN },
	[RNBD_A_ACL_PREFIX_BITS] = { .name = "bits", .type = NL_U32 },
};

static const struct nl_attr_set rnbd_access_prefix_set = { ARRAY_SIZE(rnbd_access_prefix_attrs), rnbd_access_prefix_attrs };

static const struct nl_attr_desc rnbd_access_peer_attrs[RNBD_A_ACL_PEER_MAX + 1] = {
	[RNBD_A_ACL_PEER_NAME] = { .name = "name", .type = NL_STR },
	[RNBD_A_ACL_PEER_AUTH] = { .name = "auth", .type = NL_U32 },
	[RNBD_A_ACL_PEER_SESSION] = { .name = "session", .type = NL_NEST, .nest = &rnbd_access_session_set, .list = true },
	[RNBD_A_ACL_PEER_FROM] = { .name = "from", .type = NL_NEST, .nest = &rnbd_access_prefix_set, .list = true },
	[RNBD_A_ACL_PEER_MAX_SESSIONS] = { .name = "max-sessions", .type = NL_U32 },
	[RNBD_A_ACL_PEER_MAX_DEVICES] = { .name = "max-devices", .type = NL_U32 },
	[RNBD_A_ACL_PEER_MAX_MEMORY_BYTES] = { .name = "max-memory-bytes", .type = NL_U64 },
	[RNBD_A_ACL_PEER_SESSIONS] = { .name = "sessions", .type = NL_U32 },
	[RNBD_A_ACL_PEER_DEVICES] = { .name = "devices", .type = NL_U32 },
	[RNBD_A_ACL_PEER_PINNED_BYTES] = { .name = "pinned-bytes", .type = NL_U64 },
	[RNBD_A_ACL_PEER_DENIED] = { .name = "denied", .type = NL_U64 },
};

static const struct nl_attr_set rnbd_access_peer_set = { ARRAY_SIZE(rnbd_access_peer_attrs), rnbd_access_peer_attrs };

static const struct nl_attr_desc rnbd_access_allow_attrs[RNBD_A_ACL_ALLOW_MAX + 1] = {
	[RNBD_A_ACL_ALLOW_PEER] = { .name = "peer", .type = NL_STR },
	[RNBD_A_ACL_ALLOW_ACCESS_MODE] = { .name = "access-mode", .type = NL_U32 },
};

static const struct nl_attr_set rnbd_access_allow_set = { ARRAY_SIZE(rnbd_access_allow_attrs), rnbd_access_allow_attrs };

static const struct nl_attr_desc rnbd_access_export_attrs[RNBD_A_ACL_EXPORT_MAX + 1] = {
	[RNBD_A_ACL_EXPORT_NAME] = { .name = "name", .type = NL_STR },
	[RNBD_A_ACL_EXPORT_PATH] = { .name = "path", .type = NL_STR },
	[RNBD_A_ACL_EXPORT_IO_MODE] = { .name = "io-mode", .type = NL_U32 },
	[RNBD_A_ACL_EXPORT_ALLOW] = { .name = "allow", .type = NL_NEST, .nest = &rnbd_access_allow_set, .list = true },
	[RNBD_A_ACL_EXPORT_KIND] = { .name = "kind", .type = NL_U32 },
	[RNBD_A_ACL_EXPORT_OPENINGS] = { .name = "openings", .type = NL_U32 },
};

static const struct nl_attr_set rnbd_access_export_set = { ARRAY_SIZE(rnbd_access_export_attrs), rnbd_access_export_attrs };

static const struct nl_attr_desc rnbd_access_attrs[RNBD_A_ACCESS_MAX + 1] = {
	[RNBD_A_ACCESS_STATE] = { .name = "state", .type = NL_U32 },
	[RNBD_A_ACCESS_NUMBER] = { .name = "number", .type = NL_U32 },
	[RNBD_A_ACCESS_LOADED_NS] = { .name = "loaded-ns", .type = NL_U64 },
	[RNBD_A_ACCESS_UID] = { .name = "uid", .type = NL_U32 },
	[RNBD_A_ACCESS_DENIED_TOTAL] = { .name = "denied-total", .type = NL_U64 },
	[RNBD_A_ACCESS_LAST_SEQ] = { .name = "last-seq", .type = NL_U64 },
	[RNBD_A_ACCESS_PEER] = { .name = "peer", .type = NL_NEST, .nest = &rnbd_access_peer_set, .list = true },
	[RNBD_A_ACCESS_EXPORT] = { .name = "export", .type = NL_NEST, .nest = &rnbd_access_export_set, .list = true },
	[RNBD_A_ACCESS_EXPECT] = { .name = "expect", .type = NL_U32 },
	[RNBD_A_ACCESS_FORCE] = { .name = "force", .type = NL_FLAG_T },
	[RNBD_A_ACCESS_DRY_RUN] = { .name = "dry-run", .type = NL_FLAG_T },
	[RNBD_A_ACCESS_ENDED_PATHS] = { .name = "ended-paths", .type = NL_U32 },
	[RNBD_A_ACCESS_ENDED_EXPORTS] = { .name = "ended-exports", .type = NL_U32 },
	[RNBD_A_ACCESS_ENDED_PATH_ID] = { .name = "ended-path-id", .type = NL_U32, .list = true },
	[RNBD_A_ACCESS_ENDED_EXPORT_ID] = { .name = "ended-export-id", .type = NL_U32, .list = true },
	[RNBD_A_ACCESS_PEER_NAME] = { .name = "peer-name", .type = NL_STR },
	[RNBD_A_ACCESS_SESSION_NAME] = { .name = "session-name", .type = NL_STR },
	[RNBD_A_ACCESS_CLIENT_ADDR] = { .name = "client-addr", .type = NL_BIN },
	[RNBD_A_ACCESS_SERVER_ADDR] = { .name = "server-addr", .type = NL_BIN },
	[RNBD_A_ACCESS_DEVICE_PATH] = { .name = "device-path", .type = NL_STR },
	[RNBD_A_ACCESS_ACCESS_MODE] = { .name = "access-mode", .type = NL_U32 },
	[RNBD_A_ACCESS_ALLOWED] = { .name = "allowed", .type = NL_U8 },
	[RNBD_A_ACCESS_ERROR] = { .name = "error", .type = NL_S32 },
	[RNBD_A_ACCESS_REASON] = { .name = "reason", .type = NL_U32 },
	[RNBD_A_ACCESS_EXPORT_NAME] = { .name = "export-name", .type = NL_STR },
	[RNBD_A_ACCESS_PATH] = { .name = "path", .type = NL_STR },
	[RNBD_A_ACCESS_GRANTED_MODE] = { .name = "granted-mode", .type = NL_U32 },
	[RNBD_A_ACCESS_EVENT] = { .name = "event", .type = NL_U32 },
	[RNBD_A_ACCESS_STEP] = { .name = "step", .type = NL_U32 },
	[RNBD_A_ACCESS_SEQ] = { .name = "seq", .type = NL_U64 },
	[RNBD_A_ACCESS_TIME_NS] = { .name = "time-ns", .type = NL_U64 },
	[RNBD_A_ACCESS_SUPPRESSED] = { .name = "suppressed", .type = NL_U32 },
	[RNBD_A_ACCESS_OLD_NUMBER] = { .name = "old-number", .type = NL_U32 },
	[RNBD_A_ACCESS_OLD_STATE] = { .name = "old-state", .type = NL_U32 },
	[RNBD_A_ACCESS_PEERS] = { .name = "peers", .type = NL_U32 },
	[RNBD_A_ACCESS_EXPORTS] = { .name = "exports", .type = NL_U32 },
	[RNBD_A_ACCESS_LOGINUID] = { .name = "loginuid", .type = NL_U32 },
};

static const struct nl_attr_set rnbd_access_set = { ARRAY_SIZE(rnbd_access_attrs), rnbd_access_attrs };

_Static_assert(RNBD_A_SESSION_MAX <= ATTR_MAX, "tb[] holds each set");
_Static_assert(RNBD_A_PATH_MAX <= ATTR_MAX, "tb[] holds each set");
_Static_assert(RNBD_A_DEVICE_MAX <= ATTR_MAX, "tb[] holds each set");
_Static_assert(RNBD_A_EXPORT_MAX <= ATTR_MAX, "tb[] holds each set");
_Static_assert(RNBD_A_STATS_MAX <= ATTR_MAX, "tb[] holds each set");
_Static_assert(RNBD_A_PORT_MAX <= ATTR_MAX, "tb[] holds each set");
_Static_assert(RNBD_A_ACCESS_MAX <= ATTR_MAX, "tb[] holds each set");
_Static_assert(RNBD_CMD_MAX < OPS_MAX, "each command has a bit in the ops of struct nl");

static const struct nl_cmd_desc rnbd_cmds[RNBD_CMD_MAX + 1] = {
	[RNBD_CMD_SESSION_GET] = { "session-get", &rnbd_session_set },
	[RNBD_CMD_SESSION_NTF] = { "session-ntf", &rnbd_session_set },
	[RNBD_CMD_PATH_GET] = { "path-get", &rnbd_path_set },
	[RNBD_CMD_PATH_NTF] = { "path-ntf", &rnbd_path_set },
	[RNBD_CMD_DEVICE_GET] = { "device-get", &rnbd_device_set },
	[RNBD_CMD_DEVICE_NTF] = { "device-ntf", &rnbd_device_set },
	[RNBD_CMD_EXPORT_GET] = { "export-get", &rnbd_export_set },
	[RNBD_CMD_EXPORT_NTF] = { "export-ntf", &rnbd_export_set },
	[RNBD_CMD_MAP] = { "map", &rnbd_device_set },
	[RNBD_CMD_UNMAP] = { "unmap", &rnbd_device_set },
	[RNBD_CMD_STATS_GET] = { "stats-get", &rnbd_stats_set },
	[RNBD_CMD_STATS_RESET] = { "stats-reset", &rnbd_stats_set },
	[RNBD_CMD_REMAP] = { "remap", &rnbd_device_set },
	[RNBD_CMD_RESIZE] = { "resize", &rnbd_device_set },
	[RNBD_CMD_EXPORT_CLOSE] = { "export-close", &rnbd_export_set },
	[RNBD_CMD_SESSION_SET] = { "session-set", &rnbd_session_set },
	[RNBD_CMD_SESSION_DISCONNECT] = { "session-disconnect", &rnbd_session_set },
	[RNBD_CMD_SESSION_ADD] = { "session-add", &rnbd_session_set },
	[RNBD_CMD_SESSION_DEL] = { "session-del", &rnbd_session_set },
	[RNBD_CMD_PATH_ADD] = { "path-add", &rnbd_path_set },
	[RNBD_CMD_PATH_DEL] = { "path-del", &rnbd_path_set },
	[RNBD_CMD_PATH_RECONNECT] = { "path-reconnect", &rnbd_path_set },
	[RNBD_CMD_PATH_DISCONNECT] = { "path-disconnect", &rnbd_path_set },
	[RNBD_CMD_EXPORT_REVALIDATE] = { "export-revalidate", &rnbd_export_set },
	[RNBD_CMD_PORT_GET] = { "port-get", &rnbd_port_set },
	[RNBD_CMD_PORT_DRAIN] = { "port-drain", &rnbd_port_set },
	[RNBD_CMD_PORT_UNDRAIN] = { "port-undrain", &rnbd_port_set },
	[RNBD_CMD_DEVICE_SET] = { "device-set", &rnbd_device_set },
	[RNBD_CMD_ACCESS_GET] = { "access-get", &rnbd_access_set },
	[RNBD_CMD_ACCESS_SET] = { "access-set", &rnbd_access_set },
	[RNBD_CMD_ACCESS_TEST] = { "access-test", &rnbd_access_set },
	[RNBD_CMD_ACCESS_NTF] = { "access-ntf", &rnbd_access_set },
};

const struct nl_family netlink_family_rnbd = {
	RNBD_FAMILY_NAME, RNBD_FAMILY_VERSION, rnbd_cmds, ARRAY_SIZE(rnbd_cmds),
};
