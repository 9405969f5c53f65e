/* SPDX-License-Identifier: GPL-2.0 */
/* What the messages of rds-traffic are, and the names of its ends. */
#ifndef TOOLS_RDS_TRAFFIC_H
#define TOOLS_RDS_TRAFFIC_H

#include <err.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include "rds.h"

static unsigned int max_size = MIB;
static unsigned char table[2 * MIB + 8];

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static uint64_t dice(int from, int id, unsigned int n)
{
	return mix((uint64_t)(from + 1) << 56 ^ (uint64_t)id << 40 ^ n);
}

/* Most are small. */
static unsigned int size_of(int from, int id, unsigned int n)
{
	uint64_t r = dice(from, id, n), v = r >> 16;
	unsigned int k = r & 4095, size;

	if (k < 64)
		size = v % 8;
	else if (k < 3700)
		size = 8 + v % 1017;
	else if (k < 4060)
		size = 8 + v % 16384;
	else if (k < 4090)
		size = 8 + v % 131072;
	else
		size = k == 4095 ? MIB : v % MIB;
	return size < max_size ? size : max_size;
}

static const unsigned char *bytes_of(int from, int id, unsigned int n)
{
	return table + mix(dice(from, id, n)) % MIB;
}

static void fill_table(void)
{
	size_t i;

	for (i = 0; i < sizeof(table); i += 8)
		memcpy(table + i, &(uint64_t){ mix(i) }, 8);
}

union name {
	struct sockaddr sa;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t name_len;

static void name(union name *u, const char *text, int p)
{
	char addr[64], *scope;

	memset(u, 0, sizeof(*u));
	snprintf(addr, sizeof(addr), "%s", text);
	scope = strchr(addr, '%');
	if (scope)
		*scope++ = 0;
	u->v4.sin_port = htons(p);
	if (inet_pton(AF_INET, addr, &u->v4.sin_addr) == 1) {
		u->sa.sa_family = AF_INET;
		name_len = sizeof(u->v4);
		return;
	}
	if (inet_pton(AF_INET6, addr, &u->v6.sin6_addr) != 1)
		errx(2, "%s is no address", text);
	u->sa.sa_family = AF_INET6;
	u->v6.sin6_scope_id = scope ? if_nametoindex(scope) : 0;
	name_len = sizeof(u->v6);
}

static bool same_name(const union name *a, const union name *b)
{
	if (a->sa.sa_family != b->sa.sa_family || a->v4.sin_port != b->v4.sin_port)
		return false;
	if (a->sa.sa_family == AF_INET)
		return a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr;
	return !memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, 16);
}

#endif /* TOOLS_RDS_TRAFFIC_H */
