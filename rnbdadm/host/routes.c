// SPDX-License-Identifier: GPL-2.0
/* One question to rtnetlink at a time. */
#include <linux/dcbnl.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <string.h>
#include <sys/socket.h>

#include "base/text.h"
#include "host/routes.h"

bool rtnl_ask(int protocol, struct nl_msg *msg, int (*answer)(struct nl_msg *msg, void *arg), void *arg)
{
	struct nl_sock *sk = nl_socket_alloc();
	bool ok;

	if (!sk)
		xabort_no_memory();
	nl_socket_disable_auto_ack(sk);
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, answer, arg);
	ok = !nl_connect(sk, protocol) && nl_send_auto(sk, msg) >= 0 &&
	     nl_recvmsgs_default(sk) >= 0;
	nl_socket_free(sk);
	nlmsg_free(msg);
	return ok;
}

/* A request with the header of its kind. */
static struct nl_msg *request(int type, void *header, size_t len)
{
	struct nl_msg *msg = nlmsg_alloc_simple(type, NLM_F_REQUEST);

	if (!msg || nlmsg_append(msg, header, len, NLMSG_ALIGNTO) < 0)
		xabort_no_memory();
	return msg;
}

static bool is_ip(const struct addr *a)
{
	return a->family == ADDR_IPV4 || a->family == ADDR_IPV6;
}

static unsigned char af(const struct addr *a)
{
	return a->family == ADDR_IPV4 ? AF_INET : AF_INET6;
}

static size_t addr_len(const struct addr *a)
{
	return a->family == ADDR_IPV4 ? 4 : sizeof(a->raw);
}

static int on_route(struct nl_msg *msg, void *arg)
{
	const struct nlmsghdr *h = nlmsg_hdr(msg);
	const struct rtmsg *r = NLMSG_DATA(h);
	struct nlattr *oif;
	char *dev = arg;

	if (h->nlmsg_type != RTM_NEWROUTE || !nlmsg_valid_hdr(h, sizeof(*r)))
		return NL_OK;
	oif = nlmsg_find_attr(nlmsg_hdr(msg), sizeof(*r), RTA_OIF);
	if (r->rtm_type == RTN_LOCAL)
		strcpy(dev, "lo");
	else if (r->rtm_type == RTN_UNICAST && oif)
		if_indextoname(nla_get_u32(oif), dev);
	return NL_OK;
}

static bool get_route(const struct addr *dst, const struct addr *src, char dev[IF_NAMESIZE])
{
	int len = (int)addr_len(dst);
	struct rtmsg r = {
		.rtm_family = af(dst), .rtm_dst_len = (unsigned char)(8 * len),
		.rtm_src_len = (unsigned char)(src ? 8 * len : 0),
	};
	struct nl_msg *msg = request(RTM_GETROUTE, &r, sizeof(r));

	nla_put(msg, RTA_DST, len, dst->raw);
	if (src)
		nla_put(msg, RTA_SRC, len, src->raw);
	if (dst->scope)
		nla_put_u32(msg, RTA_OIF, dst->scope);
	return rtnl_ask(NETLINK_ROUTE, msg, on_route, dev) && *dev;
}

char *rtnl_route(const struct addr *dst, const struct addr *src)
{
	char dev[IF_NAMESIZE] = "";

	if (!is_ip(dst))
		return NULL;
	if (src->family != dst->family || !get_route(src, NULL, dev) || strcmp(dev, "lo"))
		src = NULL;
	*dev = '\0';
	return get_route(dst, src, dev) ? xstrdup(dev) : NULL;
}

static int on_neighbour(struct nl_msg *msg, void *arg)
{
	const struct nlmsghdr *h = nlmsg_hdr(msg);
	const struct ndmsg *n = NLMSG_DATA(h);
	int *answers = arg;

	if (h->nlmsg_type != RTM_NEWNEIGH || !nlmsg_valid_hdr(h, sizeof(*n)))
		return NL_OK;
	if (n->ndm_state & (NUD_INCOMPLETE | NUD_FAILED))
		*answers = 0;
	else if (n->ndm_state & ~NUD_NOARP)
		*answers = 1;
	return NL_OK;
}

int rtnl_neighbour(const struct addr *a, const char *dev)
{
	struct ndmsg n = { .ndm_family = af(a), .ndm_ifindex = (int)if_nametoindex(dev) };
	struct nl_msg *msg;
	int answers = -1;

	if (!is_ip(a) || !n.ndm_ifindex)
		return -1;
	msg = request(RTM_GETNEIGH, &n, sizeof(n));
	nla_put(msg, NDA_DST, (int)addr_len(a), a->raw);
	return rtnl_ask(NETLINK_ROUTE, msg, on_neighbour, &answers) ? answers : -1;
}

int rtnl_pfc_of(struct nlmsghdr *h)
{
	struct nlattr *ieee, *a;
	struct ieee_pfc pfc;

	if (h->nlmsg_type != RTM_GETDCB || !nlmsg_valid_hdr(h, sizeof(struct dcbmsg)))
		return -1;
	ieee = nlmsg_find_attr(h, sizeof(struct dcbmsg), DCB_ATTR_IEEE);
	a = ieee ? nla_find(nla_data(ieee), nla_len(ieee), DCB_ATTR_IEEE_PFC) : NULL;
	if (!a || nla_len(a) < (int)sizeof(pfc))
		return -1;
	nla_memcpy(&pfc, a, sizeof(pfc));
	return pfc.pfc_en;
}

static int on_dcb(struct nl_msg *msg, void *arg)
{
	*(int *)arg = rtnl_pfc_of(nlmsg_hdr(msg));
	return NL_OK;
}

int rtnl_pfc(const char *dev)
{
	struct dcbmsg d = { .dcb_family = AF_UNSPEC, .cmd = DCB_CMD_IEEE_GET };
	struct nl_msg *msg = request(RTM_GETDCB, &d, sizeof(d));
	int on = -1;

	nla_put_string(msg, DCB_ATTR_IFNAME, dev);
	return rtnl_ask(NETLINK_ROUTE, msg, on_dcb, &on) ? on : -1;
}
