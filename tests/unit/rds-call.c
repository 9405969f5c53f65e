// SPDX-License-Identifier: GPL-2.0
/* RDS: socket addresses and control messages as applications hand them in. */
#include "kernel/rds/core/addr.h"
#include "kernel/rds/core/cmsg.h"
#include "tap.h"

static int v4(const char *ip, int len, enum rds_addr_use use, struct rds_addr *out)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(4000) };

	NOTE("%s, %d bytes, use %d", ip, len, use);
	inet_pton(AF_INET, ip, &sin.sin_addr);
	return rds_addr_parse(EXACT(&sin, len), len, use, out);
}

static int v6(const char *ip, unsigned int scope, int len, enum rds_addr_use use, struct rds_addr *out)
{
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6, .sin6_port = htons(4000), .sin6_scope_id = scope };

	NOTE("%s%%%u, %d bytes, use %d", ip, scope, len, use);
	inet_pton(AF_INET6, ip, &sin6.sin6_addr);
	return rds_addr_parse(EXACT(&sin6, len), len, use, out);
}

static void addresses(void)
{
	static const int any[] = { -EINVAL, -EDESTADDRREQ, -EINVAL };
	static const int bad6[] = { -EINVAL, -EPROTOTYPE, -EINVAL };
	struct rds_addr a;
	int use, len;

	for (use = RDS_ADDR_BIND; use <= RDS_ADDR_SEND; use++) {
		EQ(v4("10.0.0.1", 16, use, &a), 0);
		EQ(ntohs(a.port), 4000);
		EQ(a.ip.s6_addr32[2], htonl(0xffff));
		EQ(a.ip.s6_addr32[3], htonl(0x0a000001));
		EQ(v4("0.0.0.0", 16, use, &a), any[use]);
		EQ(v4("255.255.255.255", 16, use, &a), -EINVAL);
		EQ(v4("224.0.0.1", 16, use, &a), -EINVAL);
		EQ(v4("239.255.255.255", 16, use, &a), -EINVAL);
		EQ(v4("240.0.0.1", 16, use, &a), 0);
		EQ(v6("fd00::1", 0, 28, use, &a), 0);
		EQ(v6("::", 0, 28, use, &a), bad6[use]);
		EQ(v6("ff02::1", 0, 28, use, &a), bad6[use]);
		EQ(v6("::ffff:0.0.0.0", 0, 28, use, &a), bad6[use]);
		EQ(v6("::ffff:224.0.0.1", 0, 28, use, &a), bad6[use]);
		EQ(v6("::ffff:10.0.0.1", 0, 28, use, &a), 0);
		EQ(v6("fe80::1", 0, 28, use, &a), -EINVAL);
		EQ(v6("fe80::1", 3, 28, use, &a), 0);
		EQ(a.scope, 3);
		EQ(v6("fd00::1", 3, 28, use, &a), 0);
		EQ(a.scope, 0);
		for (len = 0; len < 16; len++)
			EQ(v4("10.0.0.1", len, use, &a), -EINVAL);
		for (len = 2; len < 28; len++)
			EQ(v6("fd00::1", 0, len, use, &a), -EINVAL);
	}
}

static void families(void)
{
	unsigned char sa[28] = { 0 };
	struct rds_addr a;
	unsigned short family;

	for (family = 0; family < 64; family++) {
		if (family == AF_INET || family == AF_INET6)
			continue;
		NOTE("family %u", family);
		memcpy(sa, &family, sizeof(family));
		EQ(rds_addr_parse(sa, sizeof(sa), RDS_ADDR_BIND, &a), -EINVAL);
		EQ(rds_addr_parse(sa, sizeof(sa), RDS_ADDR_CONNECT, &a), -EAFNOSUPPORT);
		EQ(rds_addr_parse(sa, sizeof(sa), RDS_ADDR_SEND, &a), -EINVAL);
	}
}

/* Each byte that is counted is written. */
static void names(void)
{
	unsigned char got[64];
	struct rds_addr a;

	EQ(v4("10.0.0.1", 16, RDS_ADDR_SEND, &a), 0);
	memset(got, 0xa5, sizeof(got));
	EQ(rds_addr_put(got, &a), 16);
	MEM(got, ((unsigned char[]){ 2, 0, 0x0f, 0xa0, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0xa5 }), 17);
	EQ(v6("fe80::1", 7, 28, RDS_ADDR_SEND, &a), 0);
	memset(got, 0xa5, sizeof(got));
	EQ(rds_addr_put(got, &a), 28);
	EQ(got[0], AF_INET6);
	EQ(got[24], 7);
	EQ(got[28], 0xa5);
	CHECK(rds_ip_is_linklocal(&a.ip));
	CHECK(!rds_ip_is_loopback(&a.ip));
	EQ(v4("127.9.9.9", 16, RDS_ADDR_SEND, &a), 0);
	CHECK(rds_ip_is_loopback(&a.ip));
	EQ(v6("::1", 0, 28, RDS_ADDR_SEND, &a), 0);
	CHECK(rds_ip_is_loopback(&a.ip));
}

static unsigned char chain[2048];
static size_t chain_len;

static void add(int level, int type, const void *data, size_t len)
{
	struct cmsghdr c = { .cmsg_len = CMSG_LEN(len), .cmsg_level = level, .cmsg_type = type };

	memset(chain + chain_len, 0, CMSG_SPACE(len));
	memcpy(chain + chain_len, &c, sizeof(c));
	memcpy(chain + chain_len + CMSG_LEN(0), data, len);
	chain_len += CMSG_SPACE(len);
}

static int parse(struct rds_cmsgs *c)
{
	return rds_cmsgs_parse(EXACT(chain, chain_len), chain_len, c);
}

static void controls(void)
{
	static const struct { int type; size_t need; } types[] = {
		{ RDS_CMSG_RDMA_ARGS, 56 }, { RDS_CMSG_RDMA_DEST, 8 }, { RDS_CMSG_RDMA_MAP, 32 },
		{ RDS_CMSG_ATOMIC_FADD, 72 }, { RDS_CMSG_ATOMIC_CSWP, 72 }, { RDS_CMSG_MASKED_ATOMIC_FADD, 72 },
		{ RDS_CMSG_MASKED_ATOMIC_CSWP, 72 }, { RDS_CMSG_ZCOPY_COOKIE, 4 },
	};
	unsigned char data[128];
	struct rds_cmsgs c;
	size_t i, len;
	int type;

	memset(data, 7, sizeof(data));
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		for (len = 0; len <= types[i].need; len++) {
			NOTE("type %d, %zu bytes", types[i].type, len);
			chain_len = 0;
			add(SOL_RDS, types[i].type, data, len);
			EQ(parse(&c), len < types[i].need ? -EINVAL : 0);
			if (len == types[i].need)
				EQ(c.has, 1 << types[i].type);
		}
	for (type = -1; type < 100; type++) {
		NOTE("type %d", type);
		chain_len = 0;
		add(SOL_RDS, type, data, 100);
		EQ(parse(&c), 0);
		EQ(c.refused, type < 1 || type > 12 || type == 4 || type == 5 || type == 10 || type == 11);
		chain_len = 0;
		add(SOL_RDS + 1, type, data, 100);
		EQ(parse(&c), 0);
		CHECK(!c.refused && !c.has);
	}
}

static void several(void)
{
	unsigned char data[128] = { 0 };
	struct rds_cmsgs c;
	__u32 cookie = 77;

	chain_len = 0;
	add(1, 2, data, 5);
	add(SOL_RDS, RDS_CMSG_ZCOPY_COOKIE, &cookie, 4);
	EQ(parse(&c), 0);
	EQ(c.cookie, 77);
	CHECK(!c.refused);
	add(SOL_RDS, RDS_CMSG_RDMA_ARGS, data, 56);
	EQ(parse(&c), 0);
	CHECK(c.refused);
	chain_len = 0;
	add(SOL_RDS, RDS_CMSG_RDMA_ARGS, data, 56);
	add(SOL_RDS, RDS_CMSG_RDMA_ARGS, data, 56);
	EQ(parse(&c), 0);
	CHECK(c.refused);
	chain_len = 0;
	add(SOL_RDS, RDS_CMSG_ATOMIC_FADD, data, 72);
	add(SOL_RDS, RDS_CMSG_RDMA_DEST, data, 8);
	EQ(parse(&c), 0);
	CHECK(c.refused);
}

/* Lengths that lead out of the chain, at any place */
static void broken(void)
{
	static const size_t lens[] = { 0, 1, 15, 25, 1 << 20, (size_t)-1, (size_t)-8, (size_t)1 << 63 };
	unsigned char data[16] = { 0 };
	struct rds_cmsgs c;
	size_t i;

	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		NOTE("length %zu", lens[i]);
		chain_len = 0;
		add(SOL_RDS, RDS_CMSG_RDMA_DEST, data, 8);
		memcpy(chain, &lens[i], sizeof(lens[i]));
		EQ(parse(&c), -EINVAL);
		chain_len = 0;
		add(1, 1, data, 8);
		add(1, 1, data, 8);
		memcpy(chain + CMSG_SPACE(8), &lens[i], sizeof(lens[i]));
		EQ(parse(&c), -EINVAL);
	}
	/* an end that is no whole header is no message */
	for (i = 0; i < sizeof(struct cmsghdr); i++)
		EQ(rds_cmsgs_parse(EXACT(NULL, i), i, &c), 0);
}

int main(void)
{
	RUN(addresses, "rds: addresses of any length and kind for bind, connect and send");
	RUN(families, "rds: other families");
	RUN(names, "rds: names for applications, every byte defined");
	RUN(controls, "rds: control messages of each type and length");
	RUN(several, "rds: several control messages, and those that exclude each other");
	RUN(broken, "rds: lengths that lead out of the control messages");
	return tap_end();
}
