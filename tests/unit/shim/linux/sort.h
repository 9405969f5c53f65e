/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_SORT_H
#define SHIM_SORT_H

#include <stdlib.h>

#define sort(base, num, size, cmp, swap)	qsort(base, num, size, cmp)

#endif
