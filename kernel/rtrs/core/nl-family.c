// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family "rnbd": finds the provider of a command, pins its
 * module and runs the command. Policies and the command table come from
 * include/netlink/rnbd.yaml (nl-gen.c). Generic netlink calls us with cb_lock held,
 * which other families wait for: a worker runs each command that may wait for a
 * peer (nl-later.c).
 */
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/export.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <net/sock.h>
#include <rtrs/nl.h>
#include <rtrs/types.h>
#include "main.h"
#include "nl-family.h"

#define ROLE_COUNT	(RNBD_ROLE_SERVER + 1)
#define ATTR_ID		1	/* of every noun */
#define REQUEST_MAX	(4U << 20)	/* bytes that may be kept for a worker */

static DEFINE_MUTEX(providers_lock);
static const struct rtrs_nl_provider *providers[8];

/* The module that serves a command, for the error text if it is not loaded. */
static const char *const provider_name[ROLE_COUNT][RNBD_CMD_MAX + 1] = {
	[RNBD_ROLE_CLIENT] = {
		[RNBD_CMD_SESSION_GET]	= "rtrs-client",
		[RNBD_CMD_PATH_GET]	= "rtrs-client",
		[RNBD_CMD_STATS_GET]	= "rtrs-client",
		[RNBD_CMD_STATS_RESET]	= "rtrs-client",
		[RNBD_CMD_DEVICE_GET]	= "rnbd-client",
		[RNBD_CMD_MAP]		= "rnbd-client",
		[RNBD_CMD_UNMAP]	= "rnbd-client",
		[RNBD_CMD_REMAP]	= "rnbd-client",
		[RNBD_CMD_RESIZE]	= "rnbd-client",
		[RNBD_CMD_DEVICE_SET]	= "rnbd-client",
		[RNBD_CMD_SESSION_SET]	= "rtrs-client",
		[RNBD_CMD_SESSION_ADD]	= "rnbd-client",
		[RNBD_CMD_SESSION_DEL]	= "rnbd-client",
		[RNBD_CMD_PATH_ADD]	= "rtrs-client",
		[RNBD_CMD_PATH_DEL]	= "rtrs-client",
		[RNBD_CMD_PATH_RECONNECT] = "rtrs-client",
		[RNBD_CMD_PATH_DISCONNECT] = "rtrs-client",
	},
	[RNBD_ROLE_SERVER] = {
		[RNBD_CMD_SESSION_GET]	= "rtrs-server",
		[RNBD_CMD_PATH_GET]	= "rtrs-server",
		[RNBD_CMD_STATS_GET]	= "rtrs-server",
		[RNBD_CMD_STATS_RESET]	= "rtrs-server",
		[RNBD_CMD_EXPORT_GET]	= "rnbd-server",
		[RNBD_CMD_EXPORT_CLOSE]	= "rnbd-server",
		[RNBD_CMD_SESSION_DISCONNECT] = "rtrs-server",
		[RNBD_CMD_PATH_DISCONNECT] = "rtrs-server",
		[RNBD_CMD_EXPORT_REVALIDATE] = "rnbd-server",
		[RNBD_CMD_PORT_GET]	= "rtrs-server",
		[RNBD_CMD_PORT_DRAIN]	= "rtrs-server",
		[RNBD_CMD_PORT_UNDRAIN]	= "rtrs-server",
		[RNBD_CMD_ACCESS_GET]	= "rnbd-server",
		[RNBD_CMD_ACCESS_SET]	= "rnbd-server",
		[RNBD_CMD_ACCESS_TEST]	= "rnbd-server",
	},
};

/* Attribute that carries the role; 0 where the noun has one role only. */
static unsigned int role_attr_of(u8 cmd)
{
	switch (cmd) {
	case RNBD_CMD_SESSION_GET:
	case RNBD_CMD_SESSION_SET:
	case RNBD_CMD_SESSION_DISCONNECT:
		return RNBD_A_SESSION_ROLE;
	case RNBD_CMD_PATH_GET:
	case RNBD_CMD_PATH_DISCONNECT:
		return RNBD_A_PATH_ROLE;
	case RNBD_CMD_STATS_GET:
	case RNBD_CMD_STATS_RESET:
		return RNBD_A_STATS_ROLE;
	}
	return 0;
}

static const struct rtrs_nl_cmd *provider_find_cmd(const struct rtrs_nl_provider *provider, u8 cmd)
{
	unsigned int i;

	for (i = 0; i < provider->count; i++)
		if (provider->cmds[i].cmd == cmd)
			return &provider->cmds[i];
	return NULL;
}

/* The command; the module of its provider is pinned, *@owner. NULL: no provider has it. */
static const struct rtrs_nl_cmd *pin_provider(u8 cmd, enum rnbd_role role, struct module **owner)
{
	const struct rtrs_nl_cmd *found = NULL;
	unsigned int i;

	mutex_lock(&providers_lock);
	for (i = 0; i < ARRAY_SIZE(providers) && !found; i++) {
		if (!providers[i] || providers[i]->role != role)
			continue;
		found = provider_find_cmd(providers[i], cmd);
		if (found && !try_module_get(providers[i]->owner))
			found = NULL;
		else if (found)
			*owner = providers[i]->owner;
	}
	mutex_unlock(&providers_lock);
	return found;
}

int rtrs_nl_register(const struct rtrs_nl_provider *provider)
{
	unsigned int i;
	int err = -ENOSPC;

	mutex_lock(&providers_lock);
	for (i = 0; i < ARRAY_SIZE(providers); i++) {
		if (!providers[i]) {
			providers[i] = provider;
			err = 0;
			break;
		}
	}
	mutex_unlock(&providers_lock);
	return err;
}
EXPORT_SYMBOL_GPL(rtrs_nl_register);

/*
 * For module exit, when nothing pins the module any more: no command of the
 * provider runs, and try_module_get() fails for a new one.
 */
void rtrs_nl_unregister(const struct rtrs_nl_provider *provider)
{
	unsigned int i;

	mutex_lock(&providers_lock);
	for (i = 0; i < ARRAY_SIZE(providers); i++)
		if (providers[i] == provider)
			providers[i] = NULL;
	mutex_unlock(&providers_lock);
}
EXPORT_SYMBOL_GPL(rtrs_nl_unregister);

/**
 * struct role_set - the roles that a request can mean, in the order to ask them
 * @role: roles
 * @count: of them
 * @named: the request, or the noun itself, names the role
 */
struct role_set {
	enum rnbd_role role[ROLE_COUNT];
	unsigned int count;
	bool named;
};

/*
 * Ids are unique over both roles, so a request by id is tried with both providers. A
 * name without a role means the client. A dump without a role lists both.
 */
static struct role_set roles_of(u8 cmd, struct nlattr **attrs, bool dump)
{
	unsigned int attr = role_attr_of(cmd);
	struct role_set set = { .count = 1, .named = true };

	if (!attr) {
		set.role[0] = provider_name[RNBD_ROLE_CLIENT][cmd] ? RNBD_ROLE_CLIENT :
								      RNBD_ROLE_SERVER;
	} else if (attrs && attrs[attr]) {
		set.role[0] = nla_get_u32(attrs[attr]);
	} else if (dump || (attrs && attrs[ATTR_ID])) {
		set = (struct role_set){ { RNBD_ROLE_CLIENT, RNBD_ROLE_SERVER }, 2, false };
	} else {
		set.role[0] = RNBD_ROLE_CLIENT;
	}
	return set;
}

static int no_provider(u8 cmd, enum rnbd_role role, struct netlink_ext_ack *extack)
{
	if (!provider_name[role][cmd])
		return rtrs_fail(extack, -EOPNOTSUPP, "this end of a session has no such command");
	return rtrs_fail_by(extack, RNBD_REFUSAL_UNLOADED, -EOPNOTSUPP, "module %s is not loaded",
			    provider_name[role][cmd]);
}

static int run_get(const struct rtrs_nl_cmd *c, struct genl_info *info)
{
	struct sk_buff *msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *hdr;
	int err;

	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &rtrs_nl_family, 0, c->cmd);
	err = hdr ? c->get(msg, info) : -EMSGSIZE;
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
}

static int run_cmd(const struct rtrs_nl_cmd *c, struct genl_info *info)
{
	return c->act ? c->act(info) : run_get(c, info);
}

static void clear_extack(struct netlink_ext_ack *extack)
{
	if (!extack)
		return;
	extack->_msg = NULL;
	extack->bad_attr = NULL;
	extack->cookie_len = 0;
}

/* .netnsok: the family is there in every namespace, so that this error text can be sent. */
static int check_namespace(const struct net *net, struct netlink_ext_ack *extack)
{
	if (net_eq(net, &init_net))
		return 0;
	return rtrs_fail_by(extack, RNBD_REFUSAL_NAMESPACE, -EPERM,
			    "works in the initial network namespace only");
}

int rtrs_nl_do_cmd(u8 cmd, struct genl_info *info)
{
	struct role_set set = roles_of(cmd, info->attrs, false);
	int err = -EOPNOTSUPP;
	unsigned int i;

	for (i = 0; i < set.count; i++) {
		struct module *owner;
		const struct rtrs_nl_cmd *c = pin_provider(cmd, set.role[i], &owner);

		if (!c)
			continue;
		clear_extack(info->extack);	/* set by the provider of the other role */
		err = run_cmd(c, info);
		module_put(owner);
		/* The errno of a peer. -EINTR is ours alone, for a caller that was killed. */
		if (err == -EINTR && !fatal_signal_pending(current))
			err = -EIO;
		if (err != -ENOENT)
			return err;
	}
	return err == -EOPNOTSUPP ? no_provider(cmd, set.role[0], info->extack) : err;
}

static int do_get_cmd(u8 cmd, struct genl_info *info)
{
	return check_namespace(genl_info_net(info), info->extack) ?: rtrs_nl_do_cmd(cmd, info);
}

/* The command table asks for CAP_NET_ADMIN; block devices need CAP_SYS_ADMIN in addition. */
static int do_admin_cmd(u8 cmd, struct sk_buff *skb, struct genl_info *info)
{
	int err = check_namespace(genl_info_net(info), info->extack);

	if (err)
		return err;
	if (!netlink_capable(skb, CAP_SYS_ADMIN))
		return rtrs_fail(info->extack, -EPERM, "CAP_SYS_ADMIN is needed");
	if (info->nlhdr->nlmsg_len > REQUEST_MAX)
		return rtrs_fail(info->extack, -EMSGSIZE, "a request has at most %u MiB",
				 REQUEST_MAX >> 20);
	/* Who asks: a worker is somebody else. */
	info->user_ptr[0] = (void *)(uintptr_t)from_kuid(&init_user_ns, current_uid());
	info->user_ptr[1] = (void *)(uintptr_t)from_kuid(&init_user_ns,
							  audit_get_loginuid(current));
	return rtrs_nl_later(cmd, skb, info);
}

/**
 * struct dump_ctx - position of a dump between two messages
 * @step: index into the roles
 * @cursor: id of the last object sent; the second word is its provider's
 */
struct dump_ctx {
	unsigned int step;
	u32 cursor[2];
};

static int run_dump(u8 cmd, struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dump_ctx *ctx = (struct dump_ctx *)cb->ctx;
	struct nlattr **attrs = rtrs_dump_attrs(cb);
	struct role_set set = roles_of(cmd, attrs, true);
	int err = check_namespace(sock_net(skb->sk), cb->extack);

	BUILD_BUG_ON(sizeof(*ctx) > sizeof(cb->ctx));
	if (err)
		return err;
	cb->seq = rtrs_nl_generation();
	for (; ctx->step < set.count; ctx->step++, memset(ctx->cursor, 0, sizeof(ctx->cursor))) {
		struct module *owner;
		const struct rtrs_nl_cmd *c = pin_provider(cmd, set.role[ctx->step], &owner);

		if (!c && set.named)
			return no_provider(cmd, set.role[0], cb->extack);
		if (!c)
			continue;
		err = c->dump(skb, cb, attrs, ctx->cursor);
		module_put(owner);
		if (err == -EMSGSIZE && skb->len)
			return skb->len;
		if (err)
			return err;
	}
	return skb->len;
}

int rnbd_nl_session_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return do_get_cmd(RNBD_CMD_SESSION_GET, info);
}

int rnbd_nl_session_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return run_dump(RNBD_CMD_SESSION_GET, skb, cb);
}

int rnbd_nl_path_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return do_get_cmd(RNBD_CMD_PATH_GET, info);
}

int rnbd_nl_path_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return run_dump(RNBD_CMD_PATH_GET, skb, cb);
}

int rnbd_nl_device_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return do_get_cmd(RNBD_CMD_DEVICE_GET, info);
}

int rnbd_nl_device_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return run_dump(RNBD_CMD_DEVICE_GET, skb, cb);
}

int rnbd_nl_export_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return do_get_cmd(RNBD_CMD_EXPORT_GET, info);
}

int rnbd_nl_export_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return run_dump(RNBD_CMD_EXPORT_GET, skb, cb);
}

int rnbd_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return do_get_cmd(RNBD_CMD_STATS_GET, info);
}

int rnbd_nl_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return run_dump(RNBD_CMD_STATS_GET, skb, cb);
}

int rnbd_nl_port_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return do_get_cmd(RNBD_CMD_PORT_GET, info);
}

int rnbd_nl_port_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return run_dump(RNBD_CMD_PORT_GET, skb, cb);
}

int rnbd_nl_access_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return do_get_cmd(RNBD_CMD_ACCESS_GET, info);
}

int rnbd_nl_access_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return run_dump(RNBD_CMD_ACCESS_GET, skb, cb);
}

int rnbd_nl_access_test_doit(struct sk_buff *skb, struct genl_info *info)
{
	return do_get_cmd(RNBD_CMD_ACCESS_TEST, info);
}

#define ADMIN_DOIT(name, cmd)							\
	int rnbd_nl_##name##_doit(struct sk_buff *skb, struct genl_info *info)	\
	{									\
		return do_admin_cmd(RNBD_CMD_##cmd, skb, info);			\
	}

ADMIN_DOIT(stats_reset, STATS_RESET)
ADMIN_DOIT(map, MAP)
ADMIN_DOIT(unmap, UNMAP)
ADMIN_DOIT(remap, REMAP)
ADMIN_DOIT(resize, RESIZE)
ADMIN_DOIT(device_set, DEVICE_SET)
ADMIN_DOIT(export_close, EXPORT_CLOSE)
ADMIN_DOIT(session_set, SESSION_SET)
ADMIN_DOIT(session_disconnect, SESSION_DISCONNECT)
ADMIN_DOIT(session_add, SESSION_ADD)
ADMIN_DOIT(session_del, SESSION_DEL)
ADMIN_DOIT(path_add, PATH_ADD)
ADMIN_DOIT(path_del, PATH_DEL)
ADMIN_DOIT(path_reconnect, PATH_RECONNECT)
ADMIN_DOIT(path_disconnect, PATH_DISCONNECT)
ADMIN_DOIT(export_revalidate, EXPORT_REVALIDATE)
ADMIN_DOIT(port_drain, PORT_DRAIN)
ADMIN_DOIT(port_undrain, PORT_UNDRAIN)
ADMIN_DOIT(access_set, ACCESS_SET)

static const struct genl_multicast_group groups[] = {
	[RNBD_NLGRP_SESSION]	= { .name = RNBD_MCGRP_SESSION, },
	[RNBD_NLGRP_PATH]	= { .name = RNBD_MCGRP_PATH, },
	[RNBD_NLGRP_DEVICE]	= { .name = RNBD_MCGRP_DEVICE, },
	[RNBD_NLGRP_EXPORT]	= { .name = RNBD_MCGRP_EXPORT, },
	[RNBD_NLGRP_ACCESS]	= { .name = RNBD_MCGRP_ACCESS, },
};

struct genl_family rtrs_nl_family __ro_after_init = {
	.name		= RNBD_FAMILY_NAME,
	.version	= RNBD_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.ops		= rnbd_nl_ops,
	.n_ops		= ARRAY_SIZE(rnbd_nl_ops),
	.mcgrps		= groups,
	.n_mcgrps	= ARRAY_SIZE(groups),
};

int __init rtrs_nl_init(void)
{
	int err = rtrs_nl_later_init();

	if (err)
		return err;
	err = genl_register_family(&rtrs_nl_family);
	if (err)
		rtrs_nl_later_exit();
	return err;
}

void rtrs_nl_exit(void)
{
	genl_unregister_family(&rtrs_nl_family);
	rtrs_nl_later_exit();
}
