// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <endian.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/text.h"
#include "model/address.h"

#ifndef AF_IB
#define AF_IB	27
#endif

/* struct sockaddr_ib of <rdma/ib.h>, which user space does not get */
struct sockaddr_ib_bin {
	uint16_t family;
	uint16_t pkey;
	uint32_t flowinfo;
	uint8_t addr[16];
	uint64_t sid;
	uint64_t sid_mask;
	uint64_t scope_id;
};

#define IB_PS		0x00000000013F0000ULL	/* RDMA_IB_IP_PS_IB */
#define IB_PKEY_DEFAULT	0xffff

static char *parse_ipv6(const char *text, struct addr *a)
{
	char host[INET6_ADDRSTRLEN + 1], *end;
	unsigned long scope;
	const char *dev = strchr(text, '%');
	size_t len = dev ? (size_t)(dev - text) : strlen(text);

	if (len >= sizeof(host))
		return xasprintf("'%s' is not an IPv6 address", text);
	memcpy(host, text, len);
	host[len] = '\0';
	if (inet_pton(AF_INET6, host, a->raw) != 1)
		return xasprintf("'%s' is not an IPv6 address", text);
	a->family = ADDR_IPV6;
	if (!dev)
		return NULL;
	a->scope = if_nametoindex(dev + 1);
	if (a->scope)
		return NULL;
	scope = strtoul(dev + 1, &end, 10);
	a->scope = (uint32_t)scope;
	if (dev[1] < '0' || dev[1] > '9' || *end || !scope || scope > INT32_MAX)
		return xasprintf("'%s': no network interface '%s'", text, dev + 1);
	return NULL;
}

static char *parse_ip(const char *text, struct addr *a)
{
	if (strchr(text, ':'))
		return parse_ipv6(text, a);
	if (inet_pton(AF_INET, text, a->raw) != 1)
		return xasprintf("'%s' is not an IP address", text);
	a->family = ADDR_IPV4;
	return NULL;
}

static bool is_host(const char *text)
{
	return !strncmp(text, "host:", 5);
}

/* An address of that family if there is one, ADDR_NONE: whichever comes first. */
static char *resolve_host(const char *name, enum addr_family family, struct addr *a)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *res, *i;
	int rc;

	if (!*name)
		return xstrdup("host: a name is needed");
	hints.ai_family = family == ADDR_IPV4 ? AF_INET : family == ADDR_IPV6 ? AF_INET6 : AF_UNSPEC;
	rc = getaddrinfo(name, NULL, &hints, &res);
	if (rc && rc != EAI_AGAIN && hints.ai_family != AF_UNSPEC) {
		hints.ai_family = AF_UNSPEC;
		rc = getaddrinfo(name, NULL, &hints, &res);
	}
	if (rc) {
		a->eai = rc;
		return xasprintf("host '%s': %s", name, gai_strerror(rc));
	}
	for (i = res; i; i = i->ai_next) {
		if (i->ai_family != AF_INET && i->ai_family != AF_INET6)
			continue;
		if (addr_from_bin(i->ai_addr, i->ai_addrlen, a))
			break;
	}
	freeaddrinfo(res);
	a->port = 0;
	return i ? NULL : xasprintf("host '%s' has no IP address", name);
}

/* A name gets an address of that family, if it has one; and none, and no family, without @resolve. */
static char *parse_as(const char *text, enum addr_family family, bool resolve, struct addr *a)
{
	char *msg;

	memset(a, 0, sizeof(*a));
	if (!strncmp(text, "ip:", 3))
		return parse_ip(text + 3, a);
	if (is_host(text))
		return resolve ? resolve_host(text + 5, family, a) : NULL;
	if (!strncmp(text, "gid:", 4)) {
		if (inet_pton(AF_INET6, text + 4, a->raw) != 1)
			return xasprintf("'%s' is not a GID", text + 4);
		a->family = ADDR_GID;
		return NULL;
	}
	msg = parse_ip(text, a);
	/* with a family it is an address: its interface is what is wrong */
	if (!msg || a->family != ADDR_NONE)
		return msg;
	free(msg);
	return xasprintf("'%s' is not an address (ip:IPv4, ip:IPv6, gid:GID, host:NAME)",
			 text);
}

char *addr_of_host(const char *host)
{
	struct addr a;
	char *msg = addr_literal(host, &a);
	bool name = msg && !strchr(host, ':');

	free(msg);
	return name ? xasprintf("host:%s", host) : xstrdup(host);
}

char *addr_parse(const char *text, struct addr *a)
{
	return parse_as(text, ADDR_NONE, true, a);
}

char *addr_literal(const char *text, struct addr *a)
{
	return parse_as(text, ADDR_NONE, false, a);
}

/* A name comes last: of its addresses it is the one that fits the other end. */
static char *parse_ends(const char *src, const char *dst, bool resolve, struct addr_pair *p)
{
	char *msg;

	if (!is_host(src)) {
		msg = parse_as(src, ADDR_NONE, resolve, &p->src);
		return msg ? msg : parse_as(dst, p->src.family, resolve, &p->dst);
	}
	msg = parse_as(dst, ADDR_NONE, resolve, &p->dst);
	if (!msg)
		msg = parse_as(src, p->dst.family, resolve, &p->src);
	if (!msg && is_host(dst) && p->src.family != p->dst.family)
		msg = parse_as(dst, p->src.family, resolve, &p->dst);
	return msg;
}

static char *parse_pair(const char *text, struct addr_pair *p, bool resolve)
{
	const char *sep = strpbrk(text, "@,");
	char *src, *msg;

	memset(p, 0, sizeof(*p));
	if (!sep)
		return parse_as(text, ADDR_NONE, resolve, &p->dst);
	src = xstrndup(text, sep - text);
	msg = parse_ends(src, sep + 1, resolve, p);
	free(src);
	if (msg)
		return msg;
	/* a name has no family yet */
	if (p->src.family == ADDR_NONE || p->dst.family == ADDR_NONE)
		return NULL;
	if (p->src.family != p->dst.family)
		return xasprintf("'%s' mixes %s and %s", text,
				 addr_family_name(p->src.family),
				 addr_family_name(p->dst.family));
	return NULL;
}

char *addr_pair_parse(const char *text, struct addr_pair *p)
{
	return parse_pair(text, p, true);
}

char *addr_pair_literal(const char *text, struct addr_pair *p)
{
	return parse_pair(text, p, false);
}

void addr_format_bare(const struct addr *a, char buf[ADDR_TEXT_MAX])
{
	const uint8_t *r = a->raw;
	int n = 0;

	buf[0] = '\0';
	switch (a->family) {
	case ADDR_NONE:
		break;
	case ADDR_IPV4:
		inet_ntop(AF_INET, r, buf, ADDR_TEXT_MAX);
		break;
	case ADDR_IPV6:
		inet_ntop(AF_INET6, r, buf, ADDR_TEXT_MAX);
		break;
	case ADDR_GID:
		for (int i = 0; i < 16; i += 2)
			n += snprintf(buf + n, ADDR_TEXT_MAX - n, "%s%02x%02x",
				      i ? ":" : "", r[i], r[i + 1]);
		break;
	}
}

void addr_format(const struct addr *a, char buf[ADDR_TEXT_MAX])
{
	char bare[ADDR_TEXT_MAX];

	addr_format_bare(a, bare);
	snprintf(buf, ADDR_TEXT_MAX, "%s%.58s",
		 a->family == ADDR_NONE ? "" : a->family == ADDR_GID ? "gid:" : "ip:", bare);
}

const char *addr_family_name(enum addr_family f)
{
	static const char *const names[] = { "none", "ipv4", "ipv6", "ib" };

	return names[f];
}

bool addr_equal(const struct addr *a, const struct addr *b)
{
	if (a->family != b->family)
		return false;
	if (a->port && b->port && a->port != b->port)
		return false;
	if (a->scope && b->scope && a->scope != b->scope)
		return false;
	return !memcmp(a->raw, b->raw, a->family == ADDR_IPV4 ? 4 : 16);
}

bool addr_pair_matches(const struct addr_pair *want, const struct addr *src,
		       const struct addr *dst)
{
	if (!addr_equal(&want->dst, dst))
		return false;
	if (want->src.family == ADDR_NONE)
		return true;
	/* the client's port is the kernel's choice */
	return want->src.family == src->family &&
	       !memcmp(want->src.raw, src->raw, src->family == ADDR_IPV4 ? 4 : 16);
}

bool addr_pair_same(const struct addr_pair *a, const struct addr_pair *b)
{
	return a->src.family == b->src.family && a->src.scope == b->src.scope &&
	       a->dst.scope == b->dst.scope && addr_pair_matches(a, &b->src, &b->dst);
}

size_t addr_to_bin(const struct addr *a, uint8_t buf[ADDR_BIN_MAX])
{
	struct sockaddr_in in4 = { .sin_family = AF_INET, .sin_port = htons(a->port) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(a->port),
				    .sin6_scope_id = a->scope };
	struct sockaddr_ib_bin ib = { .family = AF_IB, .pkey = htons(IB_PKEY_DEFAULT) };

	switch (a->family) {
	case ADDR_IPV4:
		memcpy(&in4.sin_addr, a->raw, 4);
		memcpy(buf, &in4, sizeof(in4));
		return sizeof(in4);
	case ADDR_IPV6:
		memcpy(&in6.sin6_addr, a->raw, 16);
		memcpy(buf, &in6, sizeof(in6));
		return sizeof(in6);
	case ADDR_GID:
		memcpy(ib.addr, a->raw, 16);
		ib.sid = htobe64(IB_PS | (a->port ? a->port : ADDR_DEFAULT_PORT));
		ib.sid_mask = ~0ULL;
		memcpy(buf, &ib, sizeof(ib));
		return sizeof(ib);
	case ADDR_NONE:
		break;
	}
	return 0;
}

bool addr_from_bin(const void *data, size_t len, struct addr *a)
{
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;
	struct sockaddr_ib_bin ib;
	uint16_t family;

	memset(a, 0, sizeof(*a));
	if (len < sizeof(family))
		return false;
	memcpy(&family, data, sizeof(family));
	if (family == AF_INET && len >= sizeof(in4)) {
		memcpy(&in4, data, sizeof(in4));
		a->family = ADDR_IPV4;
		a->port = ntohs(in4.sin_port);
		memcpy(a->raw, &in4.sin_addr, 4);
		return true;
	}
	if (family == AF_INET6 && len >= sizeof(in6)) {
		memcpy(&in6, data, sizeof(in6));
		a->family = ADDR_IPV6;
		a->port = ntohs(in6.sin6_port);
		a->scope = in6.sin6_scope_id;
		memcpy(a->raw, &in6.sin6_addr, 16);
		return true;
	}
	if (family == AF_IB && len >= sizeof(ib)) {
		memcpy(&ib, data, sizeof(ib));
		a->family = ADDR_GID;
		a->port = be64toh(ib.sid) & 0xffff;
		memcpy(a->raw, ib.addr, 16);
		return true;
	}
	return false;
}
