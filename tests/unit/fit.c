// SPDX-License-Identifier: GPL-2.0
/* What fits a device: kernel/rtrs/core/fit.h. */
#include "kernel/rtrs/core/fit.h"
#include "tap.h"

#define K	1024U
#define FROM_4K	(~(u64)4095)

static void largest(void)
{
	EQ(rtrs_fit_page(FROM_4K, 128 * K, 0), 128 * K);
	EQ(rtrs_fit_page(FROM_4K, 128 * K, 128 * K), 128 * K);
	EQ(rtrs_fit_page(FROM_4K, 128 * K, 1ULL << 63), 128 * K);
	EQ(rtrs_fit_page(FROM_4K, 128 * K, 64 * K), 64 * K);
	EQ(rtrs_fit_page(FROM_4K, 128 * K, 4 * K | 64 * K), 4 * K);
	EQ(rtrs_fit_page(4 * K | 32 * K, 128 * K, 64 * K), 32 * K);
}

/* A host of 64 KiB pages; its chunks begin where these do. */
static void below(void)
{
	EQ(rtrs_fit_page(4 * K, 128 * K, 64 * K), 4 * K);
	EQ(rtrs_fit_page(4 * K | 16 * K | 2048 * K, 128 * K, 64 * K), 16 * K);
}

static void none(void)
{
	EQ(rtrs_fit_page(2048 * K, 128 * K, 0), 0);
	EQ(rtrs_fit_page(128 * K, 128 * K, 64 * K), 0);
	EQ(rtrs_fit_page(2 * K, 128 * K, 0), 0);
	EQ(rtrs_fit_page(0, 128 * K, 0), 0);
	EQ(rtrs_fit_page(FROM_4K, 128 * K, 2 * K), 0);
}

/* What a driver with room for @room gather entries is asked for in the end; 0: it is given up. */
static u32 made(u32 room, u32 wrs, u32 min_wrs, u32 sges, u32 min_sges)
{
	while (wrs * sges > room)
		if (!rtrs_fit_send_queue(&wrs, min_wrs, &sges, min_sges))
			return 0;
	CHECK(sges >= min_sges && wrs >= min_wrs);
	return wrs;
}

static void halved(void)
{
	EQ(made(2561, 2561, 5, 1, 1), 2561);
	EQ(made(2560, 2561, 5, 1, 1), 1280);
	EQ(made(6, 2561, 5, 1, 1), 5);
	EQ(made(5, 2561, 5, 1, 1), 5);
	EQ(made(4, 2561, 5, 1, 1), 0);
}

static void sges_first(void)
{
	EQ(made(18 * 2000, 2000, 16, 18, 2), 2000);
	EQ(made(18 * 2000 - 1, 2000, 16, 18, 2), 2000);
	EQ(made(2 * 2000 - 1, 2000, 16, 18, 2), 1000);
	EQ(made(2 * 16, 2000, 16, 18, 2), 16);
	EQ(made(2 * 16 - 1, 2000, 16, 18, 2), 0);
}

int main(void)
{
	RUN(largest, "the largest page of the device that all chunks begin at");
	RUN(below, "pages that are smaller than those of the host, where the device has no others");
	RUN(none, "no page that fits, down to 4 KiB");
	RUN(halved, "a send queue that cannot be made is halved, down to what is of use");
	RUN(sges_first, "before that, it does with fewer gather entries");
	return tap_end();
}
