/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For the targets. Each takes bytes of a peer or of an administrator, parses them and
 * demands what must hold of the result. Input that was accepted is counted: a
 * target that never accepts any has tested refusals only, and counts as failed.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(cond) do {								\
	if (!(cond)) {								\
		fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #cond); \
		abort();							\
	}									\
} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long accepted;

__attribute__((destructor)) static void tell(void)
{
	fprintf(stderr, "accepted: %lu\n", accepted);
}

/* Takes @n bytes from the front of the input for the target's own use. */
static inline bool take(const uint8_t **data, size_t *size, void *out, size_t n)
{
	if (*size < n)
		return false;
	memcpy(out, *data, n);
	*data += n;
	*size -= n;
	return true;
}

/* Bytes that end where their memory does, so that reading beyond is seen. Caller frees. */
static inline void *exact(const void *p, size_t n)
{
	void *m = malloc(n ? n : 1);

	if (!m)
		abort();
	memcpy(m, p, n);
	return m;
}

#endif /* FUZZ_H */
