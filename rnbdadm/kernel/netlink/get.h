/* SPDX-License-Identifier: GPL-2.0 */
/* Values of attributes. One that is absent or too short is unknown. */
#ifndef RNBDADM_KERNEL_NETLINK_GET_H
#define RNBDADM_KERNEL_NETLINK_GET_H

#include <netlink/attr.h>
#include <string.h>

#include "model/objects.h"

static inline uint64_t get_u64(struct nlattr *a)
{
	return a && nla_len(a) >= 8 ? nla_get_u64(a) : M_UNKNOWN;
}

static inline uint64_t get_u32(struct nlattr *a)
{
	return a && nla_len(a) >= 4 ? nla_get_u32(a) : M_UNKNOWN;
}

/* Of 4 bytes, or of 8 */
static inline uint64_t get_uint(struct nlattr *a)
{
	return a && nla_len(a) == 4 ? nla_get_u32(a) : get_u64(a);
}

static inline uint64_t get_u8(struct nlattr *a)
{
	return a && nla_len(a) >= 1 ? nla_get_u8(a) : M_UNKNOWN;
}

static inline int64_t get_s32(struct nlattr *a, int64_t none)
{
	return a && nla_len(a) >= 4 ? nla_get_s32(a) : none;
}

static inline uint32_t get_id(struct nlattr *a)
{
	return a && nla_len(a) >= 4 ? nla_get_u32(a) : 0;
}

static inline void get_str(struct nlattr *a, char *dst, size_t size)
{
	size_t len = a ? strnlen(nla_data(a), nla_len(a)) : 0;

	if (len >= size)
		len = size - 1;
	if (len)
		memcpy(dst, nla_data(a), len);
	dst[len] = '\0';
}

#define GET_STR(a, f)	get_str(a, f, sizeof(f))

static inline void get_addr(struct nlattr *a, struct addr *out)
{
	memset(out, 0, sizeof(*out));
	if (a)
		addr_from_bin(nla_data(a), nla_len(a), out);
}

#endif
