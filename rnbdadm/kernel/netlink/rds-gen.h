/* SPDX-License-Identifier: GPL-2.0 */
/* Do not edit directly, auto-generated from include/netlink/rds.yaml by regen.sh */

static const struct nl_attr_desc rds_path_attrs[RDS_A_PATH_MAX + 1] = {
	[RDS_A_PATH_INDEX] = { .name = "index", .type = NL_U32 },
	[RDS_A_PATH_STATE] = { .name = "state", .type = NL_U32 },
	[RDS_A_PATH_SINCE_NS] = { .name = "since-ns", .type = NL_U64 },
	[RDS_A_PATH_RECONNECTS] = { .name = "reconnects", .type = NL_U32 },
	[RDS_A_PATH_LAST_ERROR] = { .name = "last-error", .type = NL_S32 },
	[RDS_A_PATH_NEXT_TX] = { .name = "next-tx", .type = NL_U64 },
	[RDS_A_PATH_NEXT_RX] = { .name = "next-rx", .type = NL_U64 },
	[RDS_A_PATH_UNSENT] = { .name = "unsent", .type = NL_U32 },
	[RDS_A_PATH_UNACKED] = { .name = "unacked", .type = NL_U32 },
	[RDS_A_PATH_LOCAL_PORT] = { .name = "local-port", .type = NL_U16 },
	[RDS_A_PATH_REMOTE_PORT] = { .name = "remote-port", .type = NL_U16 },
	[RDS_A_PATH_ABILITIES] = { .name = "abilities", .type = NL_U32 },
};

static const struct nl_attr_set rds_path_set = { ARRAY_SIZE(rds_path_attrs), rds_path_attrs };

static const struct nl_attr_desc rds_connection_attrs[RDS_A_CONNECTION_MAX + 1] = {
	[RDS_A_CONNECTION_LOCAL_ADDR] = { .name = "local-addr", .type = NL_BIN },
	[RDS_A_CONNECTION_REMOTE_ADDR] = { .name = "remote-addr", .type = NL_BIN },
	[RDS_A_CONNECTION_TOS] = { .name = "tos", .type = NL_U8 },
	[RDS_A_CONNECTION_TRANSPORT] = { .name = "transport", .type = NL_STR },
	[RDS_A_CONNECTION_PATHS] = { .name = "paths", .type = NL_U32 },
	[RDS_A_CONNECTION_PATH] = { .name = "path", .type = NL_NEST, .nest = &rds_path_set, .list = true },
	[RDS_A_CONNECTION_EVENT] = { .name = "event", .type = NL_U32 },
};

static const struct nl_attr_set rds_connection_set = { ARRAY_SIZE(rds_connection_attrs), rds_connection_attrs };

_Static_assert(RDS_A_CONNECTION_MAX <= ATTR_MAX, "tb[] holds each set");
_Static_assert(RDS_CMD_MAX < OPS_MAX, "each command has a bit in the ops of struct nl");

static const struct nl_cmd_desc rds_cmds[RDS_CMD_MAX + 1] = {
	[RDS_CMD_CONNECTION_GET] = { "connection-get", &rds_connection_set },
	[RDS_CMD_PATH_NTF] = { "path-ntf", &rds_connection_set },
};

const struct nl_family netlink_family_rds = {
	RDS_FAMILY_NAME, RDS_FAMILY_VERSION, rds_cmds, ARRAY_SIZE(rds_cmds),
};
