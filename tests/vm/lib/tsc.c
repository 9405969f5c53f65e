// SPDX-License-Identifier: GPL-2.0
/* Prints the frequency of this host's time stamp counter, which emulated guests have as well, in kHz. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct moment {
	uint64_t tsc;
	uint64_t ns;
};

/* Both clocks at once: of some attempts the shortest, which nothing has interrupted. */
static struct moment look(void)
{
	uint64_t best = UINT64_MAX;
	struct moment m = { 0 };

	for (int i = 0; i < 100; i++) {
		struct timespec ts;
		uint64_t before = __rdtsc(), after;

		clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
		after = __rdtsc();
		if (after - before >= best)
			continue;
		best = after - before;
		m.tsc = before + best / 2;
		m.ns = ts.tv_sec * 1000000000ULL + ts.tv_nsec;
	}
	return m;
}

int main(void)
{
	struct timespec pause = { .tv_nsec = 100000000 };
	struct moment a = look(), b;

	nanosleep(&pause, NULL);
	b = look();
	printf("%ju\n", (uintmax_t)((b.tsc - a.tsc) * 1000000 / (b.ns - a.ns)));
	return 0;
}
