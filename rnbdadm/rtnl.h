/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel tells of routes and neighbours through rtnetlink, policy routing included. */
#ifndef RNBDADM_RTNL_H
#define RNBDADM_RTNL_H

#include "addr.h"

/*
 * Interface through which packets from @src reach @dst, both IP; "lo" for an address of this
 * host, NULL if there is no route. A source that is none of this host's, or no IP, is any. To be
 * freed.
 */
char *rtnl_route(const struct addr *dst, const struct addr *src);
/* Does it answer on this interface? -1: it was not asked. */
int rtnl_neighbour(const struct addr *a, const char *dev);

#endif
