/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses of sockets: the pure part, which builds on the host as well. */
#ifndef RDS_ADDR_H
#define RDS_ADDR_H

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/socket.h>
#include <linux/types.h>

/**
 * struct rds_addr - an address and a port
 * @ip: address; IPv4 is mapped
 * @port: port
 * @scope: interface of a link-local address, else 0
 */
struct rds_addr {
	struct in6_addr ip;
	__be16 port;
	u32 scope;
};

/* What an address is for: calls refuse a bad one each in its own way. */
enum rds_addr_use {
	RDS_ADDR_BIND,
	RDS_ADDR_CONNECT,
	RDS_ADDR_SEND,
};

static inline bool rds_ip_is_v4(const struct in6_addr *ip)
{
	return !ip->s6_addr32[0] && !ip->s6_addr32[1] && ip->s6_addr32[2] == htonl(0xffff);
}

static inline bool rds_ip_is_any(const struct in6_addr *ip)
{
	return !(ip->s6_addr32[0] | ip->s6_addr32[1] | ip->s6_addr32[2] | ip->s6_addr32[3]);
}

static inline bool rds_ip_is_linklocal(const struct in6_addr *ip)
{
	return (ip->s6_addr32[0] & htonl(0xffc00000)) == htonl(0xfe800000);
}

static inline bool rds_ip_equal(const struct in6_addr *a, const struct in6_addr *b)
{
	return a->s6_addr32[0] == b->s6_addr32[0] && a->s6_addr32[1] == b->s6_addr32[1] &&
	       a->s6_addr32[2] == b->s6_addr32[2] && a->s6_addr32[3] == b->s6_addr32[3];
}

/* 127.0.0.0/8 and ::1 */
static inline bool rds_ip_is_loopback(const struct in6_addr *ip)
{
	if (rds_ip_is_v4(ip))
		return (ip->s6_addr32[3] & htonl(0xff000000)) == htonl(0x7f000000);
	return !ip->s6_addr32[0] && !ip->s6_addr32[1] && !ip->s6_addr32[2] &&
	       ip->s6_addr32[3] == htonl(1);
}

/**
 * rds_addr_parse() - a socket address from user space
 * @sa: its bytes
 * @len: how many there are
 * @use: what for
 * @out: result
 *
 * Return: 0, or the -errno with which that call refuses such an address.
 */
int rds_addr_parse(const void *sa, int len, enum rds_addr_use use, struct rds_addr *out);

/**
 * rds_addr_put() - a socket address for user space
 * @sa: room for a struct sockaddr_in6
 * @addr: what it is to hold
 *
 * Return: bytes that it has.
 */
int rds_addr_put(void *sa, const struct rds_addr *addr);

#endif /* RDS_ADDR_H */
