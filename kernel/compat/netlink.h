/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RNBD_COMPAT_NETLINK_H
#define RNBD_COMPAT_NETLINK_H

#include <linux/netlink.h>
#include <net/genetlink.h>

#ifndef NL_SET_ERR_MSG_FMT
/*
 * Formatted extended acks came with a buffer in struct netlink_ext_ack; before,
 * the text must stay where it is until the ack is sent, after the handler has
 * returned. A ring of buffers keeps it: more failures at the same time than it
 * has entries can mix up texts, nothing else.
 */
#define RNBD_NEED_EXTACK_BUF
#define NETLINK_MAX_FMTMSG_LEN	80

char *rtrs_extack_buf(void);

#define NL_SET_ERR_MSG_FMT(extack, fmt, args...) do {			\
	struct netlink_ext_ack *__fmt_extack = (extack);		\
									\
	if (__fmt_extack) {						\
		char *__fmt_buf = rtrs_extack_buf();			\
									\
		snprintf(__fmt_buf, NETLINK_MAX_FMTMSG_LEN, fmt, ##args); \
		__fmt_extack->_msg = __fmt_buf;				\
	}								\
} while (0)
#endif

#ifdef RNBD_HAVE_GENL_INFO_DUMP
#define rtrs_dump_attrs(cb)	(genl_info_dump(cb)->attrs)
#else
#define rtrs_dump_attrs(cb)	(genl_dumpit_info(cb)->attrs)
#endif

#endif /* RNBD_COMPAT_NETLINK_H */
