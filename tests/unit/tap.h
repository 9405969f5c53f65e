/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A test is a function full of checks and becomes one line of TAP. A test that
 * checked nothing has failed. main() is: RUN(f, "what it shows"); ... return tap_end();
 */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAP_SHOWN	8	/* failures of one test that are printed */
#define TAP_KEPT	4096	/* buffers that one test may ask for */

struct tap {
	unsigned int tests, failed, checks, bad;
	unsigned int kept;
	void *keep[TAP_KEPT];
	char note[200];
	char shown[TAP_SHOWN][400];
};

static struct tap tap;

/* What the next checks are about; printed where one fails. */
__attribute__((format(printf, 1, 2))) static inline void NOTE(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(tap.note, sizeof(tap.note), fmt, ap);
	va_end(ap);
}

__attribute__((format(printf, 3, 4))) static inline void tap_check(bool good, int line,
								     const char *fmt, ...)
{
	va_list ap;
	int n;

	tap.checks++;
	if (good)
		return;
	if (tap.bad < TAP_SHOWN) {
		char *s = tap.shown[tap.bad];

		n = snprintf(s, sizeof(tap.shown[0]), "line %d%s%s: ", line, *tap.note ? ", " : "",
			     tap.note);
		va_start(ap, fmt);
		vsnprintf(s + n, sizeof(tap.shown[0]) - n, fmt, ap);
		va_end(ap);
	}
	tap.bad++;
}

#define CHECK(cond)	tap_check((cond), __LINE__, "not true: %s", #cond)

#define EQ(got, want) do {								\
	long long got_ = (long long)(got), want_ = (long long)(want);			\
											\
	tap_check(got_ == want_, __LINE__, "%s is %lld (0x%llx), not %lld (0x%llx)",	\
		  #got, got_, got_, want_, want_);					\
} while (0)

#define STR(got, want) do {								\
	const char *got_ = (got), *want_ = (want);					\
											\
	tap_check(!strcmp(got_, want_), __LINE__, "%s is \"%s\", not \"%s\"",		\
		  #got, got_, want_);							\
} while (0)

#define MEM(got, want, len) do {							\
	const unsigned char *got_ = (const void *)(got), *want_ = (const void *)(want);	\
	size_t at_ = tap_differ(got_, want_, (len));					\
											\
	tap_check(at_ == (len), __LINE__, "%s: byte %zu is %02x, not %02x", #got, at_,	\
		  at_ < (len) ? got_[at_] : 0, at_ < (len) ? want_[at_] : 0);		\
} while (0)

static inline size_t tap_differ(const unsigned char *a, const unsigned char *b, size_t len)
{
	size_t i;

	for (i = 0; i < len && a[i] == b[i]; i++)
		;
	return i;
}

/*
 * A copy of @len bytes that ends where the memory ends, so that the address
 * sanitizer sees the first byte read beyond; starts at any alignment. Lives
 * until the test ends. @p NULL: filled with 0xa5.
 */
static inline void *EXACT(const void *p, size_t len)
{
	size_t shift = 1 + tap.checks % 7;
	unsigned char *m = tap.kept < TAP_KEPT ? malloc(shift + len) : NULL;

	if (!m) {
		printf("Bail out! no memory\n");
		exit(2);
	}
	tap.keep[tap.kept++] = m;
	memset(m, 0xa5, shift + len);
	if (p && len)
		memcpy(m + shift, p, len);
	return m + shift;
}

static inline void tap_drop(void)
{
	while (tap.kept)
		free(tap.keep[--tap.kept]);
}

static inline void tap_run(void (*test)(void), const char *title)
{
	unsigned int i;

	tap.checks = 0;
	tap.bad = 0;
	tap.note[0] = '\0';
	test();
	tap_drop();
	tap.tests++;
	if (tap.checks && !tap.bad) {
		printf("ok %u - %s (%u checks)\n", tap.tests, title, tap.checks);
	} else {
		tap.failed++;
		printf("not ok %u - %s\n", tap.tests, title);
		printf("# %u of %u checks failed\n", tap.bad, tap.checks);
		for (i = 0; i < tap.bad && i < TAP_SHOWN; i++)
			printf("# %s\n", tap.shown[i]);
	}
	fflush(stdout);
}

#define RUN(test, title)	tap_run(test, title)

static inline int tap_end(void)
{
	printf("1..%u\n", tap.tests);
	return tap.failed || !tap.tests;
}

#endif /* TAP_H */
