// SPDX-License-Identifier: GPL-2.0
/* Addresses of sockets, from and to user space. Pure: the unit tests build it on the host. */
#include <linux/errno.h>
#include <linux/string.h>
#include "addr.h"

static bool v4_is_multicast(__be32 a)
{
	return (a & htonl(0xf0000000)) == htonl(0xe0000000);
}

static int parse_v4(__be32 a, enum rds_addr_use use)
{
	if (!a)
		return use == RDS_ADDR_CONNECT ? -EDESTADDRREQ : -EINVAL;
	if (a == htonl(0xffffffff) || v4_is_multicast(a))
		return -EINVAL;
	return 0;
}

static int parse_v6(const struct sockaddr_in6 *sin6, enum rds_addr_use use, struct rds_addr *out)
{
	int bad = use == RDS_ADDR_CONNECT ? -EPROTOTYPE : -EINVAL;

	out->ip = sin6->sin6_addr;
	if (rds_ip_is_v4(&out->ip))
		return parse_v4(out->ip.s6_addr32[3], RDS_ADDR_SEND) ? bad : 0;
	if (rds_ip_is_any(&out->ip) || out->ip.s6_addr[0] == 0xff)
		return bad;
	if (rds_ip_is_linklocal(&out->ip)) {
		if (!sin6->sin6_scope_id)
			return -EINVAL;
		out->scope = sin6->sin6_scope_id;
	}
	return 0;
}

int rds_addr_parse(const void *sa, int len, enum rds_addr_use use, struct rds_addr *out)
{
	struct sockaddr_in sin;
	struct sockaddr_in6 sin6;
	unsigned short family;

	memset(out, 0, sizeof(*out));
	/* sendto() and connect() of an address too short for any family */
	if (len < (int)sizeof(family) || (use != RDS_ADDR_BIND && len < (int)sizeof(sin)))
		return -EINVAL;
	memcpy(&family, sa, sizeof(family));
	switch (family) {
	case AF_INET:
		if (len < (int)sizeof(sin))
			return -EINVAL;
		memcpy(&sin, sa, sizeof(sin));
		out->ip.s6_addr32[2] = htonl(0xffff);
		out->ip.s6_addr32[3] = sin.sin_addr.s_addr;
		out->port = sin.sin_port;
		return parse_v4(sin.sin_addr.s_addr, use);
	case AF_INET6:
		if (len < (int)sizeof(sin6))
			return -EINVAL;
		memcpy(&sin6, sa, sizeof(sin6));
		out->port = sin6.sin6_port;
		return parse_v6(&sin6, use, out);
	default:
		return use == RDS_ADDR_CONNECT ? -EAFNOSUPPORT : -EINVAL;
	}
}

int rds_addr_put(void *sa, const struct rds_addr *addr)
{
	struct sockaddr_in6 *sin6 = sa;
	struct sockaddr_in *sin = sa;

	if (rds_ip_is_v4(&addr->ip)) {
		memset(sin, 0, sizeof(*sin));
		sin->sin_family = AF_INET;
		sin->sin_port = addr->port;
		sin->sin_addr.s_addr = addr->ip.s6_addr32[3];
		return sizeof(*sin);
	}
	memset(sin6, 0, sizeof(*sin6));
	sin6->sin6_family = AF_INET6;
	sin6->sin6_port = addr->port;
	sin6->sin6_addr = addr->ip;
	sin6->sin6_scope_id = addr->scope;
	return sizeof(*sin6);
}
