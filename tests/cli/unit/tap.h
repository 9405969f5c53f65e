/* SPDX-License-Identifier: GPL-2.0 */
/* TAP for the unit tests of rnbdadm. */
#ifndef CLI_UNIT_TAP_H
#define CLI_UNIT_TAP_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int tap_count, tap_failed;

#define ok(cond, ...)							\
	do {								\
		bool ok_ = (cond);					\
		tap_count++;						\
		tap_failed += !ok_;					\
		printf("%sok %d - ", ok_ ? "" : "not ", tap_count);	\
		printf(__VA_ARGS__);					\
		putchar('\n');						\
		if (!ok_)						\
			printf("# %s:%d: %s\n", __FILE__, __LINE__, #cond);	\
	} while (0)

static inline int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed != 0;
}

#endif
