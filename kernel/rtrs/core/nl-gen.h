/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	include/netlink/rnbd.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_RNBD_GEN_H
#define _LINUX_RNBD_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/rnbd.h>

/* Common nested types */
extern const struct nla_policy rnbd_access_allow_nl_policy[RNBD_A_ACL_ALLOW_ACCESS_MODE + 1];
extern const struct nla_policy rnbd_access_export_nl_policy[RNBD_A_ACL_EXPORT_OPENINGS + 1];
extern const struct nla_policy rnbd_access_peer_nl_policy[RNBD_A_ACL_PEER_PAD + 1];
extern const struct nla_policy rnbd_access_prefix_nl_policy[RNBD_A_ACL_PREFIX_BITS + 1];
extern const struct nla_policy rnbd_access_session_nl_policy[RNBD_A_ACL_SESSION_PATTERN + 1];
extern const struct nla_policy rnbd_path_spec_nl_policy[RNBD_A_PATH_SPEC_SERVER_ADDR + 1];
extern const struct nla_policy rnbd_settings_nl_policy[RNBD_A_SETTINGS_LOST_WRITES + 1];

extern const struct nla_policy rnbd_session_get_nl_policy[RNBD_A_SESSION_ROLE + 1];

extern const struct nla_policy rnbd_path_get_nl_policy[RNBD_A_PATH_ROLE + 1];

extern const struct nla_policy rnbd_device_get_nl_policy[RNBD_A_DEVICE_DEVICE_PATH + 1];

extern const struct nla_policy rnbd_export_get_nl_policy[RNBD_A_EXPORT_SESSION_NAME + 1];

extern const struct nla_policy rnbd_map_nl_policy[RNBD_A_DEVICE_IO_MODE + 1];

extern const struct nla_policy rnbd_unmap_nl_policy[RNBD_A_DEVICE_FORCE + 1];

extern const struct nla_policy rnbd_stats_get_nl_policy[RNBD_A_STATS_ROLE + 1];

extern const struct nla_policy rnbd_stats_reset_nl_policy[RNBD_A_STATS_GROUPS + 1];

extern const struct nla_policy rnbd_remap_nl_policy[RNBD_A_DEVICE_TIMEOUT_MS + 1];

extern const struct nla_policy rnbd_resize_nl_policy[RNBD_A_DEVICE_SIZE_BYTES + 1];

extern const struct nla_policy rnbd_export_close_nl_policy[RNBD_A_EXPORT_ID + 1];

extern const struct nla_policy rnbd_session_set_nl_policy[RNBD_A_SESSION_SETTINGS + 1];

extern const struct nla_policy rnbd_session_disconnect_nl_policy[RNBD_A_SESSION_ROLE + 1];

extern const struct nla_policy rnbd_session_add_nl_policy[RNBD_A_SESSION_TIMEOUT_MS + 1];

extern const struct nla_policy rnbd_session_del_nl_policy[RNBD_A_SESSION_NAME + 1];

extern const struct nla_policy rnbd_path_add_nl_policy[RNBD_A_PATH_TIMEOUT_MS + 1];

extern const struct nla_policy rnbd_path_del_nl_policy[RNBD_A_PATH_ID + 1];

extern const struct nla_policy rnbd_path_reconnect_nl_policy[RNBD_A_PATH_TIMEOUT_MS + 1];

extern const struct nla_policy rnbd_path_disconnect_nl_policy[RNBD_A_PATH_ROLE + 1];

extern const struct nla_policy rnbd_export_revalidate_nl_policy[RNBD_A_EXPORT_TIMEOUT_MS + 1];

extern const struct nla_policy rnbd_port_get_nl_policy[RNBD_A_PORT_HCA_PORT + 1];

extern const struct nla_policy rnbd_port_drain_nl_policy[RNBD_A_PORT_FORCE + 1];

extern const struct nla_policy rnbd_port_undrain_nl_policy[RNBD_A_PORT_HCA_PORT + 1];

extern const struct nla_policy rnbd_device_set_nl_policy[RNBD_A_DEVICE_TIMEOUT_MS + 1];

extern const struct nla_policy rnbd_access_get_nl_policy[RNBD_A_ACCESS_NUMBER + 1];

extern const struct nla_policy rnbd_access_set_nl_policy[RNBD_A_ACCESS_DRY_RUN + 1];

extern const struct nla_policy rnbd_access_test_nl_policy[RNBD_A_ACCESS_ACCESS_MODE + 1];

/* Ops table for rnbd */
extern const struct genl_ops rnbd_nl_ops[27];

int rnbd_nl_session_get_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_session_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int rnbd_nl_path_get_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_path_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int rnbd_nl_device_get_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_device_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int rnbd_nl_export_get_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_export_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int rnbd_nl_map_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_unmap_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int rnbd_nl_stats_reset_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_remap_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_resize_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_export_close_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_session_set_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_session_disconnect_doit(struct sk_buff *skb,
				    struct genl_info *info);
int rnbd_nl_session_add_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_session_del_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_path_add_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_path_del_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_path_reconnect_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_path_disconnect_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_export_revalidate_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_port_get_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_port_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int rnbd_nl_port_drain_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_port_undrain_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_device_set_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_access_get_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_access_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int rnbd_nl_access_set_doit(struct sk_buff *skb, struct genl_info *info);
int rnbd_nl_access_test_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	RNBD_NLGRP_SESSION,
	RNBD_NLGRP_PATH,
	RNBD_NLGRP_DEVICE,
	RNBD_NLGRP_EXPORT,
	RNBD_NLGRP_ACCESS,
};

#endif /* _LINUX_RNBD_GEN_H */
