// SPDX-License-Identifier: GPL-2.0
/*
 * The netlink family rds, as include/netlink/rds.yaml has it: connections with their paths, and
 * what happens to paths. Requests have no attributes.
 */
#include <net/genetlink.h>
#include "core.h"

static int put_addr(struct sk_buff *skb, int attr, const struct in6_addr *ip, u32 scope)
{
	struct rds_addr addr = { .ip = *ip, .scope = scope };
	struct sockaddr_in6 sin6;

	return nla_put(skb, attr, rds_addr_put(&sin6, &addr), &sin6);
}

static int put_name(struct sk_buff *skb, const struct rds_core_conn *conn)
{
	return put_addr(skb, RDS_A_CONNECTION_LOCAL_ADDR, &conn->laddr, conn->scope) ?:
	       put_addr(skb, RDS_A_CONNECTION_REMOTE_ADDR, &conn->faddr, conn->scope) ?:
	       nla_put_u8(skb, RDS_A_CONNECTION_TOS, conn->tos) ?:
	       nla_put_string(skb, RDS_A_CONNECTION_TRANSPORT, conn->transport->name);
}

static u32 length(const struct list_head *queue)
{
	const struct list_head *entry;
	u32 n = 0;

	list_for_each(entry, queue)
		n++;
	return n;
}

static int put_ends(struct sk_buff *skb, const struct rds_core_path *path)
{
	struct rds_core_ends ends = { .lport = 0 };

	if (path->conn->transport->ends)
		path->conn->transport->ends(path, &ends);
	if (!ends.lport)
		return 0;
	return nla_put_u16(skb, RDS_A_PATH_LOCAL_PORT, ends.lport) ?:
	       nla_put_u16(skb, RDS_A_PATH_REMOTE_PORT, ends.fport) ?:
	       ends.abilities < 0 ? 0 : nla_put_u32(skb, RDS_A_PATH_ABILITIES, ends.abilities);
}

/* @admin: with sequence numbers, which would tell a stranger what to forge */
static int put_path(struct sk_buff *skb, struct rds_core_path *path, bool admin)
{
	struct nlattr *nest = nla_nest_start(skb, RDS_A_CONNECTION_PATH);
	int err;

	if (!nest)
		return -EMSGSIZE;
	spin_lock_bh(&path->lock);
	err = nla_put_u32(skb, RDS_A_PATH_INDEX, path->index) ?:
	      nla_put_u32(skb, RDS_A_PATH_STATE, READ_ONCE(path->state)) ?:
	      nla_put_u64_64bit(skb, RDS_A_PATH_SINCE_NS, READ_ONCE(path->since), RDS_A_PATH_PAD) ?:
	      nla_put_u32(skb, RDS_A_PATH_RECONNECTS, path->ups ? path->ups - 1 : 0) ?:
	      nla_put_s32(skb, RDS_A_PATH_LAST_ERROR, path->error) ?:
	      nla_put_u32(skb, RDS_A_PATH_UNSENT, length(&path->send_queue)) ?:
	      nla_put_u32(skb, RDS_A_PATH_UNACKED, length(&path->retrans_queue));
	if (!err && admin)
		err = nla_put_u64_64bit(skb, RDS_A_PATH_NEXT_TX, path->next_tx, RDS_A_PATH_PAD) ?:
		      nla_put_u64_64bit(skb, RDS_A_PATH_NEXT_RX, path->next_rx, RDS_A_PATH_PAD);
	spin_unlock_bh(&path->lock);
	err = err ?: put_ends(skb, path);
	nla_nest_end(skb, nest);
	return err;
}

static int put_conn(struct sk_buff *skb, struct rds_core_conn *conn, bool admin)
{
	unsigned int i, nr = READ_ONCE(conn->nr_paths);
	int err = put_name(skb, conn) ?: nla_put_u32(skb, RDS_A_CONNECTION_PATHS, nr) ?:
		  put_path(skb, &conn->path, admin);

	for (i = 0; !err && i + 1 < nr; i++)
		if (smp_load_acquire(&conn->more[i])) /* pairs with cmpxchg() in path_add() */
			err = put_path(skb, conn->more[i], admin);
	return err;
}

/* One message of a dump; @cb->ctx has the number of the last connection that was told. */
struct dump {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	bool admin;
	bool full;
};

/* The lock of the list is held: what the transport has of a path is there. */
static void dump_conn(struct rds_core_conn *conn, void *arg)
{
	struct dump *d = arg;
	u64 *done = (u64 *)d->cb->ctx;
	void *hdr;

	if (d->full || conn->number <= *done)
		return;
	hdr = genlmsg_put(d->skb, NETLINK_CB(d->cb->skb).portid, d->cb->nlh->nlmsg_seq,
			  &rds_nl_family, NLM_F_MULTI, RDS_CMD_CONNECTION_GET);
	d->full = !hdr || put_conn(d->skb, conn, d->admin);
	if (d->full) {
		genlmsg_cancel(d->skb, hdr);
		return;
	}
	genl_dump_check_consistent(d->cb, hdr);
	genlmsg_end(d->skb, hdr);
	*done = conn->number;
}

static int dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct rds_net *rnet = rds_net(sock_net(skb->sk));
	struct dump d = { skb, cb, .admin = netlink_net_capable(cb->skb, CAP_NET_ADMIN) };

	cb->seq = READ_ONCE(rnet->changes);
	rds_conn_each(rnet, dump_conn, &d);
	return skb->len;
}

void rds_nl_event(struct rds_core_path *path, enum rds_event event, int why)
{
	struct net *net = read_pnet(&path->conn->net);
	struct nlattr *nest;
	struct sk_buff *skb;
	void *hdr;

	if (!genl_has_listeners(&rds_nl_family, net, 0))
		return;
	skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!skb)
		return;
	/* There is room for all of it. */
	hdr = genlmsg_put(skb, 0, 0, &rds_nl_family, 0, RDS_CMD_PATH_NTF);
	nla_put_u32(skb, RDS_A_CONNECTION_EVENT, event);
	put_name(skb, path->conn);
	nest = nla_nest_start(skb, RDS_A_CONNECTION_PATH);
	nla_put_u32(skb, RDS_A_PATH_INDEX, path->index);
	if (why)
		nla_put_s32(skb, RDS_A_PATH_LAST_ERROR, why);
	nla_nest_end(skb, nest);
	genlmsg_end(skb, hdr);
	genlmsg_multicast_netns(&rds_nl_family, net, skb, 0, 0, GFP_ATOMIC);
}

static const struct genl_ops op = { .cmd = RDS_CMD_CONNECTION_GET, .dumpit = dump };
static const struct genl_multicast_group group = { .name = RDS_MCGRP_MONITOR };

struct genl_family rds_nl_family __ro_after_init = {
	.name = RDS_FAMILY_NAME,
	.version = RDS_FAMILY_VERSION,
	.netnsok = true,
	.parallel_ops = true,
	.module = THIS_MODULE,
	.ops = &op,
	.n_ops = 1,
	.mcgrps = &group,
	.n_mcgrps = 1,
};
