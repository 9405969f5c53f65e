// SPDX-License-Identifier: GPL-2.0
/* Delays between attempts to connect: kernel/rtrs/client/backoff.h. */
#include "kernel/rtrs/client/backoff.h"
#include "tap.h"

#define MAX_MS	600000	/* the largest that a session takes */

/* In the middle of what chance may make of it */
static u32 middle(unsigned int attempts, u32 first, u32 most)
{
	u32 low = rtrs_client_backoff_ms(attempts, first, most, 0);
	u32 span = 0;

	/* The first random number that leads back to the lowest is one more than the span. */
	while (rtrs_client_backoff_ms(attempts, first, most, span + 1) != low)
		span++;
	return low + span / 2;
}

static void doubling(void)
{
	u32 want = 1000;
	unsigned int n;

	for (n = 0; n < 5; n++, want *= 2) {
		NOTE("attempt %u", n);
		EQ(middle(n, 1000, 30000), want);
	}
}

static void cap(void)
{
	static const unsigned int attempts[] = { 5, 6, 15, 16, 17, 31, 32, 63, 64, 9999, ~0U };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attempts); i++) {
		NOTE("attempt %u", attempts[i]);
		EQ(middle(attempts[i], 1000, 30000), 30000);
		EQ(middle(attempts[i], MAX_MS, MAX_MS), MAX_MS);
		/* less than the first: the largest counts */
		EQ(middle(attempts[i], 5000, 100), 100);
	}
	EQ(middle(0, 5000, 100), 100);
	EQ(middle(16, 10, MAX_MS), MAX_MS);
}

/* Whole milliseconds from a quarter less to a quarter more, each of them. */
static void jitter(void)
{
	static const u32 delay[] = { 10, 11, 100, 1000, 30000, MAX_MS };
	unsigned int i;
	u32 r, ms;

	for (i = 0; i < ARRAY_SIZE(delay); i++) {
		u32 d = delay[i], low = d * 3 / 4, high = low + d / 2;

		NOTE("%u ms", d);
		for (r = 0; r <= high - low; r++)
			EQ(rtrs_client_backoff_ms(0, d, d, r), low + r);
		EQ(rtrs_client_backoff_ms(0, d, d, r), low);
		ms = rtrs_client_backoff_ms(0, d, d, ~0U);
		CHECK(ms >= low && ms <= high);
	}
}

/* -EBUSY: the first tries are quick, the later ones some seconds apart. */
static void busy(void)
{
	unsigned int n, sum = 0;
	u32 ms, last = 0;

	for (n = 0; n < 64; n++) {
		NOTE("try %u", n);
		ms = rtrs_client_busy_ms(n, 0);
		CHECK(ms >= last && ms <= 3200);
		CHECK(rtrs_client_busy_ms(n, ~0U) <= 4000);
		last = ms;
		if (n < 4)
			CHECK(rtrs_client_busy_ms(n, ~0U) <= 250);
		sum += ms;
	}
	EQ(last, 2400);
	CHECK(sum > 64 * 1500);
}

int main(void)
{
	RUN(doubling, "each failed attempt doubles the delay");
	RUN(cap, "no delay is longer than the largest, whatever the attempts");
	RUN(jitter, "a delay is up to a quarter more or less by chance");
	RUN(busy, "a refusal with -EBUSY: four quick tries, then ever farther between, up to some seconds");
	return tap_end();
}
