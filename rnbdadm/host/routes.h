/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel tells through rtnetlink: routes, policy routing included, neighbours, flow control. */
#ifndef RNBDADM_HOST_ROUTES_H
#define RNBDADM_HOST_ROUTES_H

#include "model/address.h"

/*
 * Interface through which packets from @src reach @dst, both IP; "lo" for an address of this
 * host, NULL if there is no route. A source that is none of this host's, or no IP, is any. To be
 * freed.
 */
char *rtnl_route(const struct addr *dst, const struct addr *src);
/* Does it answer on this interface? -1: it was not asked. */
int rtnl_neighbour(const struct addr *a, const char *dev);
/* Priorities for which the interface has PFC on, a bit each; -1: it has no DCB, or does not tell. */
int rtnl_pfc(const char *dev);
/* The same of the kernel's answer. */
struct nlmsghdr;
int rtnl_pfc_of(struct nlmsghdr *h);

struct nl_msg;
/* Sends @msg to this netlink protocol, and frees it; each answer goes to @answer. False if the kernel answers with an error. */
bool rtnl_ask(int protocol, struct nl_msg *msg, int (*answer)(struct nl_msg *msg, void *arg), void *arg);

#endif
