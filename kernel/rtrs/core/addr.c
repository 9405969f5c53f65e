// SPDX-License-Identifier: GPL-2.0
/* Addresses as text and back. Pure: the unit tests build it on the host. */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/inet.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <rdma/ib.h>
#include <rtrs/proto.h>
#include <rtrs/types.h>
#include "addr.h"

static bool addr_has_prefix(const char *str, size_t len, const char *prefix)
{
	size_t n = strlen(prefix);

	return len >= n && !memcmp(str, prefix, n);
}

static int parse_ipv4(const char *str, size_t len, u16 port, struct sockaddr_storage *out)
{
	struct sockaddr_in *sin = (struct sockaddr_in *)out;
	const char *end;

	if (!in4_pton(str, len, (u8 *)&sin->sin_addr.s_addr, -1, &end) || end != str + len)
		return -EINVAL;
	sin->sin_family = AF_INET;
	sin->sin_port = htons(port);
	return 0;
}

static int parse_ipv6(const char *str, size_t len, u16 port, struct sockaddr_storage *out)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)out;
	const char *scope = memchr(str, '%', len);
	size_t addr_len = scope ? scope - str : len;
	const char *end;
	int index;

	if (!in6_pton(str, addr_len, sin6->sin6_addr.s6_addr, -1, &end) || end != str + addr_len)
		return -EINVAL;
	sin6->sin6_family = AF_INET6;
	sin6->sin6_port = htons(port);
	if (!scope)
		return 0;

	/* Only a link-local address has a scope: fe80::/10. */
	if (sin6->sin6_addr.s6_addr[0] != 0xfe || (sin6->sin6_addr.s6_addr[1] & 0xc0) != 0x80)
		return -EINVAL;
	index = rtrs_addr_scope_index(scope + 1, len - addr_len - 1);
	if (index <= 0)
		return -EINVAL;
	sin6->sin6_scope_id = index;
	return 0;
}

static int parse_gid(const char *str, size_t len, u16 port, struct sockaddr_storage *out)
{
	struct sockaddr_ib *sib = (struct sockaddr_ib *)out;
	const char *end;

	if (!in6_pton(str, len, sib->sib_addr.sib_raw, -1, &end) || end != str + len)
		return -EINVAL;
	sib->sib_family = AF_IB;
	sib->sib_pkey = htons(0xffff);
	sib->sib_sid = cpu_to_be64(RTRS_IB_SERVICE_ID | port);
	sib->sib_sid_mask = cpu_to_be64(0xffffffffffffffffULL);
	return 0;
}

int rtrs_addr_parse(const char *str, size_t len, u16 port, struct sockaddr_storage *out)
{
	int err;

	memset(out, 0, sizeof(*out));
	if (addr_has_prefix(str, len, "ip:")) {
		str += 3;
		len -= 3;
		err = memchr(str, ':', len) ? parse_ipv6(str, len, port, out) :
					      parse_ipv4(str, len, port, out);
	} else if (addr_has_prefix(str, len, "gid:")) {
		err = parse_gid(str + 4, len - 4, port, out);
	} else {
		return -EPROTONOSUPPORT;
	}
	if (err)
		memset(out, 0, sizeof(*out));
	return err;
}
EXPORT_SYMBOL_GPL(rtrs_addr_parse);

int rtrs_addr_parse_path(const char *str, size_t len, u16 port, struct rtrs_path_addr *out)
{
	const char *sep = memchr(str, ',', len);
	size_t src_len;
	int err;

	if (!sep)
		sep = memchr(str, '@', len);
	if (!sep) {
		memset(&out->src, 0, sizeof(out->src));
		return rtrs_addr_parse(str, len, port, &out->dst);
	}
	src_len = sep - str;
	err = rtrs_addr_parse(str, src_len, 0, &out->src);
	if (err)
		return -EINVAL;
	err = rtrs_addr_parse(sep + 1, len - src_len - 1, port, &out->dst);
	if (err)
		return err;
	/* One path, one family. */
	return out->src.ss_family == out->dst.ss_family ? 0 : -EINVAL;
}
EXPORT_SYMBOL_GPL(rtrs_addr_parse_path);

static bool is_v4mapped(const struct sockaddr_storage *addr)
{
	static const u8 mapped[12] = { [10] = 0xff, [11] = 0xff };

	return addr->ss_family == AF_INET6 &&
	       !memcmp(((struct sockaddr_in6 *)addr)->sin6_addr.s6_addr, mapped, sizeof(mapped));
}

int rtrs_addr_print(const struct sockaddr_storage *addr, char *buf, size_t size)
{
	const struct in6_addr *in6;

	switch (addr->ss_family) {
	case AF_INET:
		return scnprintf(buf, size, "ip:%pI4",
				 &((const struct sockaddr_in *)addr)->sin_addr.s_addr);
	case AF_INET6:
		in6 = &((const struct sockaddr_in6 *)addr)->sin6_addr;
		/* What an IPv4 client looks like to the IPv6 listener. */
		if (is_v4mapped(addr))
			return scnprintf(buf, size, "ip:%pI4", &in6->s6_addr[12]);
		return scnprintf(buf, size, "ip:%pI6c", in6);
	case AF_IB:
		return scnprintf(buf, size, "gid:%pI6",
				 ((const struct sockaddr_ib *)addr)->sib_addr.sib_raw);
	}
	return scnprintf(buf, size, "<none>");
}
EXPORT_SYMBOL_GPL(rtrs_addr_print);

int rtrs_addr_print_path(const struct rtrs_path_addr *path, char *buf, size_t size)
{
	int n = rtrs_addr_print(&path->src, buf, size);

	n += scnprintf(buf + n, size - n, "@");
	return n + rtrs_addr_print(&path->dst, buf + n, size - n);
}
EXPORT_SYMBOL_GPL(rtrs_addr_print_path);

bool rtrs_addr_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	if (a->ss_family != b->ss_family)
		return false;
	switch (a->ss_family) {
	case AF_INET:
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
	case AF_INET6:
		return !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
			       &((const struct sockaddr_in6 *)b)->sin6_addr, 16);
	case AF_IB:
		return !memcmp(&((const struct sockaddr_ib *)a)->sib_addr,
			       &((const struct sockaddr_ib *)b)->sib_addr, 16);
	}
	return false;
}
EXPORT_SYMBOL_GPL(rtrs_addr_equal);

void rtrs_addr_bytes(const struct sockaddr_storage *addr, u8 *out)
{
	memset(out, 0, 16);
	switch (addr->ss_family) {
	case AF_INET:
		memset(out + 10, 0xff, 2);
		memcpy(out + 12, &((const struct sockaddr_in *)addr)->sin_addr, 4);
		break;
	case AF_INET6:
		memcpy(out, &((const struct sockaddr_in6 *)addr)->sin6_addr, 16);
		break;
	case AF_IB:
		memcpy(out, &((const struct sockaddr_ib *)addr)->sib_addr, 16);
	}
}
EXPORT_SYMBOL_GPL(rtrs_addr_bytes);

u16 rtrs_addr_port(const struct sockaddr_storage *addr)
{
	switch (addr->ss_family) {
	case AF_INET:
		return ntohs(((const struct sockaddr_in *)addr)->sin_port);
	case AF_INET6:
		return ntohs(((const struct sockaddr_in6 *)addr)->sin6_port);
	case AF_IB:
		return be64_to_cpu(((const struct sockaddr_ib *)addr)->sib_sid) & 0xffff;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_addr_port);

void rtrs_addr_set_port(struct sockaddr_storage *addr, u16 port)
{
	struct sockaddr_ib *sib = (struct sockaddr_ib *)addr;

	switch (addr->ss_family) {
	case AF_INET:
		((struct sockaddr_in *)addr)->sin_port = htons(port);
		break;
	case AF_INET6:
		((struct sockaddr_in6 *)addr)->sin6_port = htons(port);
		break;
	case AF_IB:
		sib->sib_sid = cpu_to_be64(RTRS_IB_SERVICE_ID | port);
		sib->sib_sid_mask = cpu_to_be64(0xffffffffffffffffULL);
		break;
	}
}
EXPORT_SYMBOL_GPL(rtrs_addr_set_port);

size_t rtrs_addr_len(const struct sockaddr_storage *addr)
{
	switch (addr->ss_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	case AF_IB:
		return sizeof(struct sockaddr_ib);
	}
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_addr_len);
