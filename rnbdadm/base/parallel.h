/* SPDX-License-Identifier: GPL-2.0 */
/* Work that waits most of the time, side by side. */
#ifndef RNBDADM_BASE_PARALLEL_H
#define RNBDADM_BASE_PARALLEL_H

#include <stddef.h>

/* Calls @run for 0 to @n - 1, in this order and many at once, and returns when all are done. */
void parallel(size_t n, void (*run)(void *arg, size_t i), void *arg);

#endif
