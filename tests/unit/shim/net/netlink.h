/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_NET_NETLINK_H
#define SHIM_NET_NETLINK_H

#include "../shim.h"

struct nlattr {
	u16 nla_len;
	u16 nla_type;
};

#define NLA_HDRLEN	4
#define NLA_ALIGN(n)	(((n) + 3) & ~3)

static inline int nla_type(const struct nlattr *attr)
{
	return attr->nla_type & 0x3fff;
}

static inline int nla_len(const struct nlattr *attr)
{
	return attr->nla_len - NLA_HDRLEN;
}

static inline void *nla_data(const struct nlattr *attr)
{
	return (char *)attr + NLA_HDRLEN;
}

static inline u32 nla_get_u32(const struct nlattr *attr)
{
	return *(u32 *)nla_data(attr);
}

static inline u64 nla_get_u64(const struct nlattr *attr)
{
	u64 value;

	memcpy(&value, nla_data(attr), sizeof(value));
	return value;
}

static inline void nla_memcpy(void *to, const struct nlattr *attr, int count)
{
	memcpy(to, nla_data(attr), min(count, nla_len(attr)));
}

static inline bool nla_ok(const struct nlattr *attr, int rem)
{
	return rem >= NLA_HDRLEN && attr->nla_len >= NLA_HDRLEN && attr->nla_len <= rem;
}

#define nla_for_each_attr(pos, head, len, rem)					\
	for (pos = (const void *)(head), rem = (len); nla_ok(pos, rem);		\
	     rem -= NLA_ALIGN(pos->nla_len),					\
	     pos = (const void *)((const char *)pos + NLA_ALIGN(pos->nla_len)))
#define nla_for_each_nested(pos, nest, rem)					\
	nla_for_each_attr(pos, nla_data(nest), nla_len(nest), rem)

static inline const struct nlattr *nla_find_nested(const struct nlattr *nest, int type)
{
	const struct nlattr *attr;
	int rem;

	nla_for_each_nested(attr, nest, rem)
		if (nla_type(attr) == type)
			return attr;
	return NULL;
}

#endif /* SHIM_NET_NETLINK_H */
