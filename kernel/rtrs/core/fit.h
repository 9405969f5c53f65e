/* SPDX-License-Identifier: GPL-2.0 */
/* What fits a device: arithmetic of its limits. */
#ifndef RTRS_FIT_H
#define RTRS_FIT_H

#include <linux/types.h>

#define RTRS_FIT_PAGE_MIN	4096U	/* all adapters that we know have these */

/*
 * Bytes of a page of a memory region: the largest that the device has, of at most @most, a power
 * of two, and that all addresses begin one of whose bits are in @bits. 0: there is none.
 */
static inline u32 rtrs_fit_page(u64 caps, u32 most, u64 bits)
{
	u32 page;

	for (page = most; page >= RTRS_FIT_PAGE_MIN; page >>= 1)
		if ((caps & page) && !(bits & (page - 1)))
			return page;
	return 0;
}

/*
 * The next smaller send queue to try where a driver cannot make this one; false: there is none.
 * Each entry takes the room for all of @sges.
 */
static inline bool rtrs_fit_send_queue(u32 *wrs, u32 min_wrs, u32 *sges, u32 min_sges)
{
	if (*sges > min_sges) {
		*sges = min_sges;
		return true;
	}
	if (*wrs <= min_wrs)
		return false;
	*wrs = *wrs / 2 > min_wrs ? *wrs / 2 : min_wrs;
	return true;
}

#endif /* RTRS_FIT_H */
