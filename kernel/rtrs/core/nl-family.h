/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RTRS_NL_FAMILY_H
#define RTRS_NL_FAMILY_H

#include "nl-gen.h"

struct genl_info;
struct sk_buff;

extern struct genl_family rtrs_nl_family;

/* Runs a command that is no dump. Process context; may wait for a peer. */
int rtrs_nl_do_cmd(u8 cmd, struct genl_info *info);

/* nl-later.c: has a worker run it and answer; -EINTR, so that netlink does not, or an error. */
int rtrs_nl_later(u8 cmd, struct sk_buff *skb, struct genl_info *info);
int rtrs_nl_later_init(void);
void rtrs_nl_later_exit(void);

#endif /* RTRS_NL_FAMILY_H */
