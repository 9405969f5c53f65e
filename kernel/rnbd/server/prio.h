/* SPDX-License-Identifier: GPL-2.0 */
/* What of a client's I/O priority counts at the server. Pure. */
#ifndef RNBD_SERVER_PRIO_H
#define RNBD_SERVER_PRIO_H

#include <linux/ioprio.h>
#include <linux/types.h>

/* Clients share the device: none goes before the others by calling itself real-time. */
static inline u16 rnbd_server_prio(u16 prio)
{
	int level = prio & (IOPRIO_BE_NR - 1);

	switch (IOPRIO_PRIO_CLASS(prio)) {
	case IOPRIO_CLASS_RT:
		return IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 0);
	case IOPRIO_CLASS_BE:
	case IOPRIO_CLASS_IDLE:
		return IOPRIO_PRIO_VALUE(IOPRIO_PRIO_CLASS(prio), level);
	}
	return 0;
}

#endif /* RNBD_SERVER_PRIO_H */
