/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_BITOPS_H
#define SHIM_LINUX_BITOPS_H

static inline int fls64(unsigned long long v)
{
	return v ? 64 - __builtin_clzll(v) : 0;
}

#endif /* SHIM_LINUX_BITOPS_H */
