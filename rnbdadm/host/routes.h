/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel tells through rtnetlink: addresses, routes, policy routing included, neighbours, flow control. Below a root
 * that tests may move it is a file that tells.
 */
#ifndef RNBDADM_HOST_ROUTES_H
#define RNBDADM_HOST_ROUTES_H

#include <net/if.h>

#include "model/address.h"

/*
 * Interface through which packets from @src reach @dst, both IP; "lo" for an address of this
 * host, NULL if there is no route. A source that is none of this host's, or no IP, is any. To be
 * freed.
 */
char *rtnl_route(const char *root, const struct addr *dst, const struct addr *src);
/* Has an interface of this host it, in whatever VRF? */
bool rtnl_own_address(const char *root, const struct addr *a);

/* The IP network of an own address, as its interface has it. */
struct subnet {
	char text[ADDR_TEXT_MAX + 12];	/* "10.0.0.0/24" */
	char dev[IF_NAMESIZE];
};

/* False where that is not known, or says nothing, as fe80::/64 does. */
bool rtnl_subnet(const char *root, const struct addr *a, struct subnet *s);
/* Does it answer ARP or NDP on this interface? -1: it was not asked. */
int rtnl_neighbour(const char *root, const struct addr *a, const char *dev);
/* Priorities for which the interface has PFC on, a bit each; -1: it has no DCB, or does not tell. */
int rtnl_pfc(const char *root, const char *dev);
/* The same of the kernel's answer. */
struct nlmsghdr;
int rtnl_pfc_of(struct nlmsghdr *h);

struct nl_msg;
/* Sends @msg to this netlink protocol, and frees it; each answer goes to @answer. False if the kernel answers with an error. */
bool rtnl_ask(int protocol, struct nl_msg *msg, int (*answer)(struct nl_msg *msg, void *arg), void *arg);

#endif
