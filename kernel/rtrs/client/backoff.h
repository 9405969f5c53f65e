/* SPDX-License-Identifier: GPL-2.0 */
/* How long a path waits before its next attempt to connect. Pure. */
#ifndef RTRS_CLIENT_BACKOFF_H
#define RTRS_CLIENT_BACKOFF_H

#include <linux/minmax.h>
#include <linux/types.h>

/* Doubled by each failed attempt; plus or minus a quarter, so that clients do not come at once. */
static inline u32 rtrs_client_backoff_ms(unsigned int attempts, u32 first, u32 most, u32 random)
{
	u32 ms = min_t(u64, (u64)first << min(attempts, 16U), most);

	return ms * 3 / 4 + random % (ms / 2 + 1);
}

#define RTRS_CLIENT_BUSY_MS	200	/* the server still closes older paths */
#define RTRS_CLIENT_BUSY_MAX_MS	3200
#define RTRS_CLIENT_BUSY_TRIES	4	/* tries with the same delay */

/* After -EBUSY, which is no failure: the first tries are quick, as this is mostly over soon. */
static inline u32 rtrs_client_busy_ms(unsigned int tries, u32 random)
{
	return rtrs_client_backoff_ms(tries / RTRS_CLIENT_BUSY_TRIES, RTRS_CLIENT_BUSY_MS,
				      RTRS_CLIENT_BUSY_MAX_MS, random);
}

#endif /* RTRS_CLIENT_BACKOFF_H */
