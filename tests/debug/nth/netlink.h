/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NTH_NETLINK_H
#define NTH_NETLINK_H

/* A disk of a session that is there: 0 or a negative errno */
int netlink_map(const char *session, const char *device);

/*
 * The access list of the server: "listed", one for everybody with /dev/ram0 as "v", "none" without any export, or "open". Ends
 * what that does not let in.
 */
int netlink_access(const char *state);

#endif
