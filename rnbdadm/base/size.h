/* SPDX-License-Identifier: GPL-2.0 */
/* Sizes and durations as people write and read them. */
#ifndef RNBDADM_BASE_SIZE_H
#define RNBDADM_BASE_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Digits with one of B s K M G T P KiB.. KB..; K, M, G are powers of 1024, s is
 * 512 bytes, KB is 1000. False for anything else and for what does not fit.
 */
bool parse_size(const char *s, uint64_t *bytes);

/* "20.0 GiB"; @unit one of B K M G T, 0 picks. Caller frees. */
char *size_text(uint64_t bytes, char unit);

/* "42 us", "1.5 ms". Caller frees. */
char *ns_text(uint64_t ns);

#endif
