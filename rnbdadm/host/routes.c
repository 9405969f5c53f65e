// SPDX-License-Identifier: GPL-2.0
/*
 * One question to rtnetlink at a time. Below a moved root its answers are lines of the file
 * /rtnetlink: "address ADDR BITS DEV", "route ADDR DEV" or, of IPv4, "route default DEV",
 * "neighbour ADDR 0|1".
 */
#include <ifaddrs.h>
#include <linux/dcbnl.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "host/routes.h"
#include "host/sysfs-file.h"

/* The rest of the line, to be freed. */
static char *recorded(const char *root, const char *what, const char *of)
{
	char *text = sys_text(root, "/rtnetlink"), *want = xasprintf("%s %s ", what, of), *save = NULL, *rest = NULL;

	for (char *s = text ? strtok_r(text, "\n", &save) : NULL; s && !rest; s = strtok_r(NULL, "\n", &save))
		if (!strncmp(s, want, strlen(want)))
			rest = xstrdup(s + strlen(want));
	free(want);
	free(text);
	return rest;
}

static char *recorded_of(const char *root, const char *what, const struct addr *a)
{
	char text[ADDR_TEXT_MAX];

	addr_format_bare(a, text);
	return recorded(root, what, text);
}

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

static char *recorded_route(const char *root, const struct addr *dst)
{
	char *own = recorded_of(root, "address", dst), *dev = own ? xstrdup("lo") : recorded_of(root, "route", dst);

	free(own);
	return dev || dst->family != ADDR_IPV4 ? dev : recorded(root, "route", "default");
}

char *rtnl_route(const char *root, const struct addr *dst, const struct addr *src)
{
	char dev[IF_NAMESIZE] = "";

	if (!is_ip(dst))
		return NULL;
	if (*root)
		return recorded_route(root, dst);
	if (src->family != dst->family || !get_route(src, NULL, dev) || strcmp(dev, "lo"))
		src = NULL;
	*dev = '\0';
	return get_route(dst, src, dev) ? xstrdup(dev) : NULL;
}

/* Bits of the network that an address of this host is in, 0 if it is none; with its interface. */
static int own_bits(const char *root, const struct addr *a, char dev[IF_NAMESIZE])
{
	size_t len = a->family == ADDR_IPV4 ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	char *line = *root ? recorded_of(root, "address", a) : NULL;
	struct ifaddrs *all = NULL;
	struct addr own, mask;
	int bits = 0;

	if (line)
		sscanf(line, "%d %15s", &bits, dev);
	free(line);
	if (*root || getifaddrs(&all))
		return bits;
	for (struct ifaddrs *i = all; i && !bits; i = i->ifa_next) {
		if (!i->ifa_addr || i->ifa_addr->sa_family != af(a) || !i->ifa_netmask ||
		    !addr_from_bin(i->ifa_addr, len, &own) || memcmp(own.raw, a->raw, addr_len(a)) ||
		    !addr_from_bin(i->ifa_netmask, len, &mask))
			continue;
		for (size_t k = 0; k < addr_len(a); k++)
			bits += __builtin_popcount(mask.raw[k]);
		snprintf(dev, IF_NAMESIZE, "%s", i->ifa_name);
	}
	freeifaddrs(all);
	return bits;
}

bool rtnl_own_address(const char *root, const struct addr *a)
{
	char dev[IF_NAMESIZE];

	return is_ip(a) && own_bits(root, a, dev);
}

bool rtnl_subnet(const char *root, const struct addr *a, struct subnet *s)
{
	struct addr net = *a;
	char text[ADDR_TEXT_MAX];
	int bits;

	/* each link has fe80::/64 */
	if (!is_ip(a) || (a->family == ADDR_IPV6 && a->raw[0] == 0xfe && (a->raw[1] & 0xc0) == 0x80))
		return false;
	bits = own_bits(root, a, s->dev);
	for (int i = 0, left = bits; i < 16; i++, left -= 8)
		if (left < 8)
			net.raw[i] &= left > 0 ? 0xff00 >> left : 0;
	addr_format_bare(&net, text);
	snprintf(s->text, sizeof(s->text), "%s/%d", text, bits);
	return bits > 0;
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

int rtnl_neighbour(const char *root, const struct addr *a, const char *dev)
{
	char *line = *root && is_ip(a) ? recorded_of(root, "neighbour", a) : NULL;
	struct ndmsg n = { .ndm_family = af(a) };
	struct nl_msg *msg;
	int answers = line ? *line == '1' : -1;

	free(line);
	if (*root || !is_ip(a))
		return answers;
	n.ndm_ifindex = (int)if_nametoindex(dev);
	if (!n.ndm_ifindex)
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

int rtnl_pfc(const char *root, const char *dev)
{
	struct dcbmsg d = { .dcb_family = AF_UNSPEC, .cmd = DCB_CMD_IEEE_GET };
	struct nl_msg *msg;
	int on = -1;

	if (*root)
		return -1;
	msg = request(RTM_GETDCB, &d, sizeof(d));
	nla_put_string(msg, DCB_ATTR_IFNAME, dev);
	return rtnl_ask(NETLINK_ROUTE, msg, on_dcb, &on) ? on : -1;
}
