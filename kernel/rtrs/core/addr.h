/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RTRS_CORE_ADDR_H
#define RTRS_CORE_ADDR_H

#include <linux/types.h>

/* Interface index of "<ifname>" or "<number>", not terminated; -EINVAL. Process context. */
int rtrs_addr_scope_index(const char *name, size_t len);

#endif /* RTRS_CORE_ADDR_H */
