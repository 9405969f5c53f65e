// SPDX-License-Identifier: GPL-2.0
/* Buffers for formatted extended acks, see netlink.h. */
#include <linux/export.h>

#ifdef RNBD_NEED_EXTACK_BUF
#define EXTACK_BUFS	256

char *rtrs_extack_buf(void)
{
	static char bufs[EXTACK_BUFS][NETLINK_MAX_FMTMSG_LEN];
	static atomic_t next;

	return bufs[(unsigned int)atomic_inc_return(&next) % EXTACK_BUFS];
}
EXPORT_SYMBOL_GPL(rtrs_extack_buf);
#endif
