// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	include/netlink/rnbd.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "nl-gen.h"

#include <uapi/linux/rnbd.h>

/* Common nested types */
const struct nla_policy rnbd_access_allow_nl_policy[RNBD_A_ACL_ALLOW_ACCESS_MODE + 1] = {
	[RNBD_A_ACL_ALLOW_PEER] = { .type = NLA_NUL_STRING, .len = 63, },
	[RNBD_A_ACL_ALLOW_ACCESS_MODE] = NLA_POLICY_MAX(NLA_U32, 2),
};

const struct nla_policy rnbd_access_export_nl_policy[RNBD_A_ACL_EXPORT_OPENINGS + 1] = {
	[RNBD_A_ACL_EXPORT_NAME] = { .type = NLA_NUL_STRING, .len = 254, },
	[RNBD_A_ACL_EXPORT_PATH] = { .type = NLA_NUL_STRING, .len = 2047, },
	[RNBD_A_ACL_EXPORT_IO_MODE] = NLA_POLICY_MAX(NLA_U32, 1),
	[RNBD_A_ACL_EXPORT_ALLOW] = NLA_POLICY_NESTED(rnbd_access_allow_nl_policy),
	[RNBD_A_ACL_EXPORT_KIND] = NLA_POLICY_MAX(NLA_U32, 1),
	[RNBD_A_ACL_EXPORT_OPENINGS] = { .type = NLA_U32, },
};

const struct nla_policy rnbd_access_peer_nl_policy[RNBD_A_ACL_PEER_PAD + 1] = {
	[RNBD_A_ACL_PEER_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
	[RNBD_A_ACL_PEER_AUTH] = NLA_POLICY_MAX(NLA_U32, 1),
	[RNBD_A_ACL_PEER_SESSION] = NLA_POLICY_NESTED(rnbd_access_session_nl_policy),
	[RNBD_A_ACL_PEER_FROM] = NLA_POLICY_NESTED(rnbd_access_prefix_nl_policy),
	[RNBD_A_ACL_PEER_MAX_SESSIONS] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_ACL_PEER_MAX_DEVICES] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_ACL_PEER_MAX_MEMORY_BYTES] = NLA_POLICY_MIN(NLA_U64, 1),
	[RNBD_A_ACL_PEER_SESSIONS] = { .type = NLA_U32, },
	[RNBD_A_ACL_PEER_DEVICES] = { .type = NLA_U32, },
	[RNBD_A_ACL_PEER_PINNED_BYTES] = { .type = NLA_U64, },
	[RNBD_A_ACL_PEER_DENIED] = { .type = NLA_U64, },
};

const struct nla_policy rnbd_access_prefix_nl_policy[RNBD_A_ACL_PREFIX_BITS + 1] = {
	[RNBD_A_ACL_PREFIX_ADDR] = { .type = NLA_BINARY, },
	[RNBD_A_ACL_PREFIX_BITS] = NLA_POLICY_MAX(NLA_U32, 128),
};

const struct nla_policy rnbd_access_session_nl_policy[RNBD_A_ACL_SESSION_PATTERN + 1] = {
	[RNBD_A_ACL_SESSION_PATTERN] = { .type = NLA_NUL_STRING, .len = 254, },
};

const struct nla_policy rnbd_path_spec_nl_policy[RNBD_A_PATH_SPEC_SERVER_ADDR + 1] = {
	[RNBD_A_PATH_SPEC_CLIENT_ADDR] = { .type = NLA_BINARY, },
	[RNBD_A_PATH_SPEC_SERVER_ADDR] = { .type = NLA_BINARY, },
};

const struct nla_policy rnbd_settings_nl_policy[RNBD_A_SETTINGS_LOST_WRITES + 1] = {
	[RNBD_A_SETTINGS_MAX_RECONNECT_ATTEMPTS] = { .type = NLA_S32, },
	[RNBD_A_SETTINGS_HEARTBEAT_INTERVAL_MS] = NLA_POLICY_MIN(NLA_U32, 200),
	[RNBD_A_SETTINGS_HEARTBEAT_MISSES] = NLA_POLICY_RANGE(NLA_U32, 2, 100),
	[RNBD_A_SETTINGS_RECONNECT_DELAY_MS] = NLA_POLICY_MIN(NLA_U32, 10),
	[RNBD_A_SETTINGS_RECONNECT_DELAY_MAX_MS] = NLA_POLICY_MIN(NLA_U32, 10),
	[RNBD_A_SETTINGS_CONNECT_TIMEOUT_MS] = NLA_POLICY_MIN(NLA_U32, 100),
	[RNBD_A_SETTINGS_IO_TIMEOUT_MS] = { .type = NLA_U32, },
	[RNBD_A_SETTINGS_NO_PATH_TIMEOUT_MS] = { .type = NLA_S32, },
	[RNBD_A_SETTINGS_LOST_WRITES] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* RNBD_CMD_SESSION_GET - do */
const struct nla_policy rnbd_session_get_nl_policy[RNBD_A_SESSION_ROLE + 1] = {
	[RNBD_A_SESSION_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_SESSION_NAME] = { .type = NLA_NUL_STRING, .len = 254, },
	[RNBD_A_SESSION_ROLE] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* RNBD_CMD_PATH_GET - do */
const struct nla_policy rnbd_path_get_nl_policy[RNBD_A_PATH_ROLE + 1] = {
	[RNBD_A_PATH_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_PATH_SESSION_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_PATH_SESSION_NAME] = { .type = NLA_NUL_STRING, .len = 254, },
	[RNBD_A_PATH_ROLE] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* RNBD_CMD_DEVICE_GET - do */
const struct nla_policy rnbd_device_get_nl_policy[RNBD_A_DEVICE_DEVICE_PATH + 1] = {
	[RNBD_A_DEVICE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
	[RNBD_A_DEVICE_SESSION_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_DEVICE_SESSION_NAME] = { .type = NLA_NUL_STRING, .len = 254, },
	[RNBD_A_DEVICE_DEVICE_PATH] = { .type = NLA_NUL_STRING, .len = 254, },
};

/* RNBD_CMD_EXPORT_GET - do */
const struct nla_policy rnbd_export_get_nl_policy[RNBD_A_EXPORT_SESSION_NAME + 1] = {
	[RNBD_A_EXPORT_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_EXPORT_SESSION_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_EXPORT_SESSION_NAME] = { .type = NLA_NUL_STRING, .len = 254, },
};

/* RNBD_CMD_MAP - do */
const struct nla_policy rnbd_map_nl_policy[RNBD_A_DEVICE_IO_MODE + 1] = {
	[RNBD_A_DEVICE_SESSION_NAME] = { .type = NLA_NUL_STRING, .len = 254, },
	[RNBD_A_DEVICE_DEVICE_PATH] = { .type = NLA_NUL_STRING, .len = 254, },
	[RNBD_A_DEVICE_ACCESS_MODE] = NLA_POLICY_MAX(NLA_U32, 2),
	[RNBD_A_DEVICE_PATH] = NLA_POLICY_NESTED(rnbd_path_spec_nl_policy),
	[RNBD_A_DEVICE_POLL_QUEUES] = { .type = NLA_U32, },
	[RNBD_A_DEVICE_CONNECTIONS] = NLA_POLICY_RANGE(NLA_U32, 1, 1024),
	[RNBD_A_DEVICE_MP_POLICY] = NLA_POLICY_MAX(NLA_U32, 2),
	[RNBD_A_DEVICE_TIMEOUT_MS] = NLA_POLICY_MIN(NLA_U32, 100),
	[RNBD_A_DEVICE_SETTINGS] = NLA_POLICY_NESTED(rnbd_settings_nl_policy),
	[RNBD_A_DEVICE_ALWAYS_FUA] = NLA_POLICY_MAX(NLA_U8, 1),
	[RNBD_A_DEVICE_IO_MODE] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* RNBD_CMD_UNMAP - do */
const struct nla_policy rnbd_unmap_nl_policy[RNBD_A_DEVICE_FORCE + 1] = {
	[RNBD_A_DEVICE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
	[RNBD_A_DEVICE_FORCE] = { .type = NLA_FLAG, },
	[RNBD_A_DEVICE_TIMEOUT_MS] = NLA_POLICY_MIN(NLA_U32, 100),
};

/* RNBD_CMD_STATS_GET - do */
const struct nla_policy rnbd_stats_get_nl_policy[RNBD_A_STATS_ROLE + 1] = {
	[RNBD_A_STATS_PATH_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_STATS_SESSION_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_STATS_SESSION_NAME] = { .type = NLA_NUL_STRING, .len = 254, },
	[RNBD_A_STATS_ROLE] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* RNBD_CMD_STATS_RESET - do */
const struct nla_policy rnbd_stats_reset_nl_policy[RNBD_A_STATS_GROUPS + 1] = {
	[RNBD_A_STATS_PATH_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_STATS_SESSION_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_STATS_SESSION_NAME] = { .type = NLA_NUL_STRING, .len = 254, },
	[RNBD_A_STATS_ROLE] = NLA_POLICY_MAX(NLA_U32, 1),
	[RNBD_A_STATS_GROUPS] = NLA_POLICY_MASK(NLA_U32, 0x3f),
};

/* RNBD_CMD_REMAP - do */
const struct nla_policy rnbd_remap_nl_policy[RNBD_A_DEVICE_TIMEOUT_MS + 1] = {
	[RNBD_A_DEVICE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
	[RNBD_A_DEVICE_TIMEOUT_MS] = NLA_POLICY_MIN(NLA_U32, 100),
};

/* RNBD_CMD_RESIZE - do */
const struct nla_policy rnbd_resize_nl_policy[RNBD_A_DEVICE_SIZE_BYTES + 1] = {
	[RNBD_A_DEVICE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
	[RNBD_A_DEVICE_SIZE_BYTES] = { .type = NLA_U64, },
};

/* RNBD_CMD_EXPORT_CLOSE - do */
const struct nla_policy rnbd_export_close_nl_policy[RNBD_A_EXPORT_ID + 1] = {
	[RNBD_A_EXPORT_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* RNBD_CMD_SESSION_SET - do */
const struct nla_policy rnbd_session_set_nl_policy[RNBD_A_SESSION_SETTINGS + 1] = {
	[RNBD_A_SESSION_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_SESSION_NAME] = { .type = NLA_NUL_STRING, .len = 254, },
	[RNBD_A_SESSION_ROLE] = NLA_POLICY_MAX(NLA_U32, 1),
	[RNBD_A_SESSION_MP_POLICY] = NLA_POLICY_MAX(NLA_U32, 2),
	[RNBD_A_SESSION_MAX_RECONNECT_ATTEMPTS] = { .type = NLA_S32, },
	[RNBD_A_SESSION_SETTINGS] = NLA_POLICY_NESTED(rnbd_settings_nl_policy),
};

/* RNBD_CMD_SESSION_DISCONNECT - do */
const struct nla_policy rnbd_session_disconnect_nl_policy[RNBD_A_SESSION_ROLE + 1] = {
	[RNBD_A_SESSION_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_SESSION_NAME] = { .type = NLA_NUL_STRING, .len = 254, },
	[RNBD_A_SESSION_ROLE] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* RNBD_CMD_SESSION_ADD - do */
const struct nla_policy rnbd_session_add_nl_policy[RNBD_A_SESSION_TIMEOUT_MS + 1] = {
	[RNBD_A_SESSION_NAME] = { .type = NLA_NUL_STRING, .len = 254, },
	[RNBD_A_SESSION_PATH] = NLA_POLICY_NESTED(rnbd_path_spec_nl_policy),
	[RNBD_A_SESSION_CONNECTIONS] = NLA_POLICY_RANGE(NLA_U32, 1, 1024),
	[RNBD_A_SESSION_POLL_QUEUES] = { .type = NLA_U32, },
	[RNBD_A_SESSION_TIMEOUT_MS] = NLA_POLICY_MIN(NLA_U32, 100),
	[RNBD_A_SESSION_MP_POLICY] = NLA_POLICY_MAX(NLA_U32, 2),
	[RNBD_A_SESSION_MAX_RECONNECT_ATTEMPTS] = { .type = NLA_S32, },
	[RNBD_A_SESSION_SETTINGS] = NLA_POLICY_NESTED(rnbd_settings_nl_policy),
};

/* RNBD_CMD_SESSION_DEL - do */
const struct nla_policy rnbd_session_del_nl_policy[RNBD_A_SESSION_NAME + 1] = {
	[RNBD_A_SESSION_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_SESSION_NAME] = { .type = NLA_NUL_STRING, .len = 254, },
};

/* RNBD_CMD_PATH_ADD - do */
const struct nla_policy rnbd_path_add_nl_policy[RNBD_A_PATH_TIMEOUT_MS + 1] = {
	[RNBD_A_PATH_SESSION_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_PATH_SESSION_NAME] = { .type = NLA_NUL_STRING, .len = 254, },
	[RNBD_A_PATH_CLIENT_ADDR] = { .type = NLA_BINARY, },
	[RNBD_A_PATH_SERVER_ADDR] = { .type = NLA_BINARY, },
	[RNBD_A_PATH_TIMEOUT_MS] = NLA_POLICY_MIN(NLA_U32, 100),
};

/* RNBD_CMD_PATH_DEL - do */
const struct nla_policy rnbd_path_del_nl_policy[RNBD_A_PATH_ID + 1] = {
	[RNBD_A_PATH_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* RNBD_CMD_PATH_RECONNECT - do */
const struct nla_policy rnbd_path_reconnect_nl_policy[RNBD_A_PATH_TIMEOUT_MS + 1] = {
	[RNBD_A_PATH_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_PATH_TIMEOUT_MS] = NLA_POLICY_MIN(NLA_U32, 100),
};

/* RNBD_CMD_PATH_DISCONNECT - do */
const struct nla_policy rnbd_path_disconnect_nl_policy[RNBD_A_PATH_ROLE + 1] = {
	[RNBD_A_PATH_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_PATH_ROLE] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* RNBD_CMD_EXPORT_REVALIDATE - do */
const struct nla_policy rnbd_export_revalidate_nl_policy[RNBD_A_EXPORT_TIMEOUT_MS + 1] = {
	[RNBD_A_EXPORT_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_EXPORT_TIMEOUT_MS] = NLA_POLICY_MIN(NLA_U32, 100),
};

/* RNBD_CMD_PORT_GET - do */
const struct nla_policy rnbd_port_get_nl_policy[RNBD_A_PORT_HCA_PORT + 1] = {
	[RNBD_A_PORT_HCA_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
	[RNBD_A_PORT_HCA_PORT] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* RNBD_CMD_PORT_DRAIN - do */
const struct nla_policy rnbd_port_drain_nl_policy[RNBD_A_PORT_FORCE + 1] = {
	[RNBD_A_PORT_HCA_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
	[RNBD_A_PORT_HCA_PORT] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_PORT_FORCE] = { .type = NLA_FLAG, },
};

/* RNBD_CMD_PORT_UNDRAIN - do */
const struct nla_policy rnbd_port_undrain_nl_policy[RNBD_A_PORT_HCA_PORT + 1] = {
	[RNBD_A_PORT_HCA_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
	[RNBD_A_PORT_HCA_PORT] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* RNBD_CMD_DEVICE_SET - do */
const struct nla_policy rnbd_device_set_nl_policy[RNBD_A_DEVICE_TIMEOUT_MS + 1] = {
	[RNBD_A_DEVICE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RNBD_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
	[RNBD_A_DEVICE_ACCESS_MODE] = NLA_POLICY_MAX(NLA_U32, 2),
	[RNBD_A_DEVICE_TIMEOUT_MS] = NLA_POLICY_MIN(NLA_U32, 100),
};

/* RNBD_CMD_ACCESS_GET - do */
const struct nla_policy rnbd_access_get_nl_policy[RNBD_A_ACCESS_NUMBER + 1] = {
	[RNBD_A_ACCESS_NUMBER] = { .type = NLA_U32, },
};

/* RNBD_CMD_ACCESS_SET - do */
const struct nla_policy rnbd_access_set_nl_policy[RNBD_A_ACCESS_DRY_RUN + 1] = {
	[RNBD_A_ACCESS_STATE] = NLA_POLICY_MAX(NLA_U32, 2),
	[RNBD_A_ACCESS_EXPECT] = { .type = NLA_U32, },
	[RNBD_A_ACCESS_FORCE] = { .type = NLA_FLAG, },
	[RNBD_A_ACCESS_DRY_RUN] = { .type = NLA_FLAG, },
	[RNBD_A_ACCESS_PEER] = NLA_POLICY_NESTED(rnbd_access_peer_nl_policy),
	[RNBD_A_ACCESS_EXPORT] = NLA_POLICY_NESTED(rnbd_access_export_nl_policy),
};

/* RNBD_CMD_ACCESS_TEST - do */
const struct nla_policy rnbd_access_test_nl_policy[RNBD_A_ACCESS_ACCESS_MODE + 1] = {
	[RNBD_A_ACCESS_PEER_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
	[RNBD_A_ACCESS_SESSION_NAME] = { .type = NLA_NUL_STRING, .len = 254, },
	[RNBD_A_ACCESS_CLIENT_ADDR] = { .type = NLA_BINARY, },
	[RNBD_A_ACCESS_DEVICE_PATH] = { .type = NLA_NUL_STRING, .len = 254, },
	[RNBD_A_ACCESS_ACCESS_MODE] = NLA_POLICY_MAX(NLA_U32, 2),
};

/* Ops table for rnbd */
const struct genl_ops rnbd_nl_ops[27] = {
	{
		.cmd		= RNBD_CMD_SESSION_GET,
		.doit		= rnbd_nl_session_get_doit,
		.dumpit		= rnbd_nl_session_get_dumpit,
		.policy		= rnbd_session_get_nl_policy,
		.maxattr	= RNBD_A_SESSION_ROLE,
	},
	{
		.cmd		= RNBD_CMD_PATH_GET,
		.doit		= rnbd_nl_path_get_doit,
		.dumpit		= rnbd_nl_path_get_dumpit,
		.policy		= rnbd_path_get_nl_policy,
		.maxattr	= RNBD_A_PATH_ROLE,
	},
	{
		.cmd		= RNBD_CMD_DEVICE_GET,
		.doit		= rnbd_nl_device_get_doit,
		.dumpit		= rnbd_nl_device_get_dumpit,
		.policy		= rnbd_device_get_nl_policy,
		.maxattr	= RNBD_A_DEVICE_DEVICE_PATH,
	},
	{
		.cmd		= RNBD_CMD_EXPORT_GET,
		.doit		= rnbd_nl_export_get_doit,
		.dumpit		= rnbd_nl_export_get_dumpit,
		.policy		= rnbd_export_get_nl_policy,
		.maxattr	= RNBD_A_EXPORT_SESSION_NAME,
	},
	{
		.cmd		= RNBD_CMD_MAP,
		.doit		= rnbd_nl_map_doit,
		.policy		= rnbd_map_nl_policy,
		.maxattr	= RNBD_A_DEVICE_IO_MODE,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RNBD_CMD_UNMAP,
		.doit		= rnbd_nl_unmap_doit,
		.policy		= rnbd_unmap_nl_policy,
		.maxattr	= RNBD_A_DEVICE_FORCE,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RNBD_CMD_STATS_GET,
		.doit		= rnbd_nl_stats_get_doit,
		.dumpit		= rnbd_nl_stats_get_dumpit,
		.policy		= rnbd_stats_get_nl_policy,
		.maxattr	= RNBD_A_STATS_ROLE,
	},
	{
		.cmd		= RNBD_CMD_STATS_RESET,
		.doit		= rnbd_nl_stats_reset_doit,
		.policy		= rnbd_stats_reset_nl_policy,
		.maxattr	= RNBD_A_STATS_GROUPS,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RNBD_CMD_REMAP,
		.doit		= rnbd_nl_remap_doit,
		.policy		= rnbd_remap_nl_policy,
		.maxattr	= RNBD_A_DEVICE_TIMEOUT_MS,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RNBD_CMD_RESIZE,
		.doit		= rnbd_nl_resize_doit,
		.policy		= rnbd_resize_nl_policy,
		.maxattr	= RNBD_A_DEVICE_SIZE_BYTES,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RNBD_CMD_EXPORT_CLOSE,
		.doit		= rnbd_nl_export_close_doit,
		.policy		= rnbd_export_close_nl_policy,
		.maxattr	= RNBD_A_EXPORT_ID,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RNBD_CMD_SESSION_SET,
		.doit		= rnbd_nl_session_set_doit,
		.policy		= rnbd_session_set_nl_policy,
		.maxattr	= RNBD_A_SESSION_SETTINGS,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RNBD_CMD_SESSION_DISCONNECT,
		.doit		= rnbd_nl_session_disconnect_doit,
		.policy		= rnbd_session_disconnect_nl_policy,
		.maxattr	= RNBD_A_SESSION_ROLE,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RNBD_CMD_SESSION_ADD,
		.doit		= rnbd_nl_session_add_doit,
		.policy		= rnbd_session_add_nl_policy,
		.maxattr	= RNBD_A_SESSION_TIMEOUT_MS,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RNBD_CMD_SESSION_DEL,
		.doit		= rnbd_nl_session_del_doit,
		.policy		= rnbd_session_del_nl_policy,
		.maxattr	= RNBD_A_SESSION_NAME,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RNBD_CMD_PATH_ADD,
		.doit		= rnbd_nl_path_add_doit,
		.policy		= rnbd_path_add_nl_policy,
		.maxattr	= RNBD_A_PATH_TIMEOUT_MS,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RNBD_CMD_PATH_DEL,
		.doit		= rnbd_nl_path_del_doit,
		.policy		= rnbd_path_del_nl_policy,
		.maxattr	= RNBD_A_PATH_ID,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RNBD_CMD_PATH_RECONNECT,
		.doit		= rnbd_nl_path_reconnect_doit,
		.policy		= rnbd_path_reconnect_nl_policy,
		.maxattr	= RNBD_A_PATH_TIMEOUT_MS,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RNBD_CMD_PATH_DISCONNECT,
		.doit		= rnbd_nl_path_disconnect_doit,
		.policy		= rnbd_path_disconnect_nl_policy,
		.maxattr	= RNBD_A_PATH_ROLE,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RNBD_CMD_EXPORT_REVALIDATE,
		.doit		= rnbd_nl_export_revalidate_doit,
		.policy		= rnbd_export_revalidate_nl_policy,
		.maxattr	= RNBD_A_EXPORT_TIMEOUT_MS,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RNBD_CMD_PORT_GET,
		.doit		= rnbd_nl_port_get_doit,
		.dumpit		= rnbd_nl_port_get_dumpit,
		.policy		= rnbd_port_get_nl_policy,
		.maxattr	= RNBD_A_PORT_HCA_PORT,
	},
	{
		.cmd		= RNBD_CMD_PORT_DRAIN,
		.doit		= rnbd_nl_port_drain_doit,
		.policy		= rnbd_port_drain_nl_policy,
		.maxattr	= RNBD_A_PORT_FORCE,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RNBD_CMD_PORT_UNDRAIN,
		.doit		= rnbd_nl_port_undrain_doit,
		.policy		= rnbd_port_undrain_nl_policy,
		.maxattr	= RNBD_A_PORT_HCA_PORT,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RNBD_CMD_DEVICE_SET,
		.doit		= rnbd_nl_device_set_doit,
		.policy		= rnbd_device_set_nl_policy,
		.maxattr	= RNBD_A_DEVICE_TIMEOUT_MS,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RNBD_CMD_ACCESS_GET,
		.doit		= rnbd_nl_access_get_doit,
		.dumpit		= rnbd_nl_access_get_dumpit,
		.policy		= rnbd_access_get_nl_policy,
		.maxattr	= RNBD_A_ACCESS_NUMBER,
	},
	{
		.cmd		= RNBD_CMD_ACCESS_SET,
		.doit		= rnbd_nl_access_set_doit,
		.policy		= rnbd_access_set_nl_policy,
		.maxattr	= RNBD_A_ACCESS_DRY_RUN,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RNBD_CMD_ACCESS_TEST,
		.doit		= rnbd_nl_access_test_doit,
		.policy		= rnbd_access_test_nl_policy,
		.maxattr	= RNBD_A_ACCESS_ACCESS_MODE,
	},
};

