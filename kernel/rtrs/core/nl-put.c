// SPDX-License-Identifier: GPL-2.0
/* Pieces of netlink messages that every provider needs. */
#include <linux/export.h>
#include <rtrs/nl.h>
#include <rtrs/types.h>
#include "nl-family.h"

static atomic_t generation = ATOMIC_INIT(1);

u32 rtrs_nl_generation(void)
{
	return atomic_read(&generation);
}
EXPORT_SYMBOL_GPL(rtrs_nl_generation);

int rtrs_nl_put_addr(struct sk_buff *skb, int attr, const struct sockaddr_storage *addr)
{
	size_t len = rtrs_addr_len(addr);

	return len ? nla_put(skb, attr, len, addr) : 0;
}
EXPORT_SYMBOL_GPL(rtrs_nl_put_addr);

int rtrs_nl_get_addr(const struct nlattr *attr, struct sockaddr_storage *out,
		     struct netlink_ext_ack *extack)
{
	memset(out, 0, sizeof(*out));
	nla_memcpy(out, attr, sizeof(*out));
	if (rtrs_addr_len(out) && nla_len(attr) == rtrs_addr_len(out))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr, "not a sockaddr_in, sockaddr_in6 or sockaddr_ib");
	return -EINVAL;
}
EXPORT_SYMBOL_GPL(rtrs_nl_get_addr);

void *rtrs_nl_dump_begin(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			   &rtrs_nl_family, NLM_F_MULTI, cmd);
}
EXPORT_SYMBOL_GPL(rtrs_nl_dump_begin);

void rtrs_nl_dump_end(struct sk_buff *skb, struct netlink_callback *cb, void *hdr)
{
	genl_dump_check_consistent(cb, hdr);
	genlmsg_end(skb, hdr);
}
EXPORT_SYMBOL_GPL(rtrs_nl_dump_end);

int rtrs_nl_dump_stats(struct sk_buff *skb, struct netlink_callback *cb,
		       const struct rtrs_nl_stats *stats, u32 *cursor)
{
	void *hdr = rtrs_nl_dump_begin(skb, cb, RNBD_CMD_STATS_GET);
	u32 rest, first, cpu;
	int err;

	if (!hdr)
		return -EMSGSIZE;
	/* The dump stopped between CPUs of a path that is gone since. */
	if (stats->id != cursor[0] + 1)
		cursor[1] = 0;
	rest = cursor[1];
	first = rest ? rest - 1 : 0;
	err = rest ? nla_put_u32(skb, RNBD_A_STATS_PATH_ID, stats->id) :
		     stats->totals(skb, stats->path);
	for (cpu = first; !err && cpu < nr_cpu_ids; cpu++)
		if (cpu_possible(cpu) && stats->cpu(skb, stats->path, cpu))
			break;
	/* A first message may have totals only. A later one without a CPU would be empty. */
	if (err || (rest && cpu == first && cpu < nr_cpu_ids)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	rtrs_nl_dump_end(skb, cb, hdr);
	cursor[0] = cpu < nr_cpu_ids ? stats->id - 1 : stats->id;
	cursor[1] = cpu < nr_cpu_ids ? cpu + 1 : 0;
	return cpu < nr_cpu_ids ? -EMSGSIZE : 0;
}
EXPORT_SYMBOL_GPL(rtrs_nl_dump_stats);

static int mcgrp_of_cmd(u8 cmd)
{
	switch (cmd) {
	case RNBD_CMD_SESSION_NTF:
		return RNBD_NLGRP_SESSION;
	case RNBD_CMD_PATH_NTF:
		return RNBD_NLGRP_PATH;
	case RNBD_CMD_DEVICE_NTF:
		return RNBD_NLGRP_DEVICE;
	case RNBD_CMD_ACCESS_NTF:
		return RNBD_NLGRP_ACCESS;
	default:
		return RNBD_NLGRP_EXPORT;
	}
}

struct sk_buff *rtrs_nl_event_begin(u8 cmd, void **hdr)
{
	struct sk_buff *skb;

	atomic_inc(&generation);
	if (!genl_has_listeners(&rtrs_nl_family, &init_net, mcgrp_of_cmd(cmd)))
		return NULL;
	skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!skb)
		return NULL;
	*hdr = genlmsg_put(skb, 0, 0, &rtrs_nl_family, 0, cmd);
	if (!*hdr) {
		nlmsg_free(skb);
		return NULL;
	}
	return skb;
}
EXPORT_SYMBOL_GPL(rtrs_nl_event_begin);

void rtrs_nl_event_send(struct sk_buff *skb, void *hdr, u8 cmd)
{
	genlmsg_end(skb, hdr);
	genlmsg_multicast(&rtrs_nl_family, skb, 0, mcgrp_of_cmd(cmd), GFP_ATOMIC);
}
EXPORT_SYMBOL_GPL(rtrs_nl_event_send);
