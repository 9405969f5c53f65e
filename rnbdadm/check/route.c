// SPDX-License-Identifier: GPL-2.0
/*
 * Own addresses, routes, neighbours, PFC. rtnetlink tells of all but the first; below a moved root
 * there is none, and the files of /proc/net are read, which know the main table and IPv4 neighbours
 * only.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "host/routes.h"
#include "host/sysfs-file.h"

/* One line of a file of /proc/net at a time; true ends it. */
static bool each_line(const char *root, const char *file,
		      bool (*line)(char *s, void *arg), void *arg)
{
	char *text = sys_text(root, file), *save = NULL;
	bool found = false;

	for (char *s = text ? strtok_r(text, "\n", &save) : NULL; s && !found;
	     s = strtok_r(NULL, "\n", &save))
		found = line(s, arg);
	free(text);
	return found;
}

/* fib_trie: "|-- 10.0.0.1", then "/32 host LOCAL" */
struct local {
	char want[INET_ADDRSTRLEN];
	bool at;
};

static bool local_line(char *s, void *arg)
{
	struct local *l = arg;
	char *leaf = strstr(s, "|-- ");

	if (leaf)
		l->at = !strcmp(leaf + 4, l->want);
	return l->at && strstr(s, "host LOCAL");
}

static bool local6_line(char *s, void *arg)
{
	const char *want = arg;

	return !strncmp(s, want, 32);
}

static void hex32(const uint8_t raw[16], char text[33])
{
	for (int i = 0; i < 16; i++)
		snprintf(text + 2 * i, 3, "%02x", raw[i]);
}

bool check_own_address(const char *root, const struct addr *a)
{
	struct local l = { .at = false };
	char hex[33];

	if (a->family == ADDR_IPV4) {
		inet_ntop(AF_INET, a->raw, l.want, sizeof(l.want));
		return each_line(root, "/proc/net/fib_trie", local_line, &l);
	}
	hex32(a->raw, hex);
	return each_line(root, "/proc/net/if_inet6", local6_line, hex);
}

struct route {
	const struct addr *dst;
	bool direct;			/* without a gateway */
	int best;
	char dev[M_HCA_MAX];
};

/* Iface Destination Gateway Flags RefCnt Use Metric Mask ... */
static bool route_line(char *s, void *arg)
{
	struct route *r = arg;
	char dev[32];
	unsigned int dst, flags, mask, want;
	int bits;

	if (sscanf(s, "%31s %x %*x %x %*d %*d %*d %x", dev, &dst, &flags, &mask) != 4)
		return false;
	memcpy(&want, r->dst->raw, 4);
	bits = __builtin_popcount(mask);
	/* up, and no reject */
	if ((flags & 1) && !(flags & 0x200) && (want & mask) == dst && bits > r->best &&
	    !(r->direct && (flags & 2))) {
		r->best = bits;
		snprintf(r->dev, sizeof(r->dev), "%s", dev);
	}
	return false;
}

static bool under(const uint8_t *a, const char *hex, unsigned int bits)
{
	for (unsigned int i = 0; i < bits; i++) {
		char digit[2] = { hex[i / 4], '\0' };
		unsigned int nibble = (unsigned int)strtoul(digit, NULL, 16);

		if ((a[i / 8] >> (7 - i % 8) & 1) != (nibble >> (3 - i % 4) & 1))
			return false;
	}
	return true;
}

/* DESTINATION LENGTH SOURCE LENGTH NEXT METRIC REFCNT USE FLAGS DEV */
static bool route6_line(char *s, void *arg)
{
	struct route *r = arg;
	char hex[33], dev[32];
	unsigned int bits, flags;

	if (sscanf(s, "%32s %x %*s %*s %*s %*s %*s %*s %x %31s", hex, &bits, &flags, dev) != 4 ||
	    bits > 128 || strlen(hex) != 32)
		return false;
	if ((flags & 1) && !(flags & 0x200) && (int)bits > r->best && under(r->dst->raw, hex, bits)) {
		r->best = (int)bits;
		snprintf(r->dev, sizeof(r->dev), "%s", dev);
	}
	return false;
}

static char *file_route(const char *root, const struct addr *dst)
{
	struct route r = { .dst = dst, .best = -1 };

	if (check_own_address(root, dst))
		return xstrdup("lo");
	if (dst->family == ADDR_IPV4)
		each_line(root, "/proc/net/route", route_line, &r);
	else
		each_line(root, "/proc/net/ipv6_route", route6_line, &r);
	return *r.dev ? xstrdup(r.dev) : NULL;
}

/* ADDRESS INDEX LENGTH SCOPE FLAGS DEVICE; those of the scope of a link are on each of them */
static bool inet6_line(char *s, void *arg)
{
	struct route *r = arg;
	char own[33], hex[33];
	unsigned int bits, scope;

	hex32(r->dst->raw, own);
	if (sscanf(s, "%32s %*x %x %x %*x %31s", hex, &bits, &scope, r->dev) != 4 ||
	    scope == 0x20 || bits > 128 || strcmp(hex, own))
		return false;
	r->best = (int)bits;
	return true;
}

bool check_subnet(const char *root, const struct addr *a, struct check_subnet *s)
{
	struct route r = { .dst = a, .direct = true, .best = -1 };
	struct addr net = *a;
	char text[ADDR_TEXT_MAX];

	if (a->family == ADDR_IPV4)
		each_line(root, "/proc/net/route", route_line, &r);
	else if (a->family == ADDR_IPV6)
		each_line(root, "/proc/net/if_inet6", inet6_line, &r);
	if (r.best <= 0 || !check_own_address(root, a))
		return false;
	for (int i = 0, left = r.best; i < 16; i++, left -= 8)
		if (left < 8)
			net.raw[i] &= left > 0 ? 0xff00 >> left : 0;
	addr_format_bare(&net, text);
	snprintf(s->text, sizeof(s->text), "%s/%d", text, r.best);
	snprintf(s->dev, sizeof(s->dev), "%s", r.dev);
	return true;
}

/* ADDRESS TYPE FLAGS HWADDR MASK DEVICE */
struct neighbour {
	char want[INET_ADDRSTRLEN];
	unsigned int flags;
};

static bool arp_line(char *s, void *arg)
{
	struct neighbour *n = arg;
	char ip[INET_ADDRSTRLEN];

	return sscanf(s, "%15s %*x %x", ip, &n->flags) == 2 && !strcmp(ip, n->want);
}

static int file_neighbour(const char *root, const struct addr *a)
{
	struct neighbour n = { .flags = 0 };

	if (a->family != ADDR_IPV4)
		return -1;
	inet_ntop(AF_INET, a->raw, n.want, sizeof(n.want));
	if (!each_line(root, "/proc/net/arp", arp_line, &n))
		return -1;
	return (n.flags & 2) != 0;
}

char *check_route(const char *root, const struct addr *dst, const struct addr *src)
{
	return *root ? file_route(root, dst) : rtnl_route(dst, src);
}

int check_neighbour(const char *root, const struct addr *a, const char *dev)
{
	return *root ? file_neighbour(root, a) : rtnl_neighbour(a, dev);
}

int check_pfc(const char *root, const char *dev)
{
	return *root ? -1 : rtnl_pfc(dev);
}
