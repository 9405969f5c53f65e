// SPDX-License-Identifier: GPL-2.0
/* Addresses as text and back: kernel/rtrs/core/addr.c. */
#include <linux/in.h>
#include <linux/in6.h>
#include <rdma/ib.h>
#include <rtrs/types.h>
#include "kernel/rtrs/core/addr.h"
#include "tap.h"

/* The interfaces of this test's host: eth0 is 2, and 7 has no name. */
int rtrs_addr_scope_index(const char *name, size_t len)
{
	if (len == 4 && !memcmp(name, "eth0", 4))
		return 2;
	if (len == 1 && *name == '7')
		return 7;
	return -EINVAL;
}

static struct sockaddr_storage got;

static int parse_n(const char *text, size_t len, u16 port)
{
	memset(&got, 0xa5, sizeof(got));
	NOTE("\"%.*s\"", (int)(len > 90 ? 90 : len), text);
	return rtrs_addr_parse(EXACT(text, len), len, port, &got);
}

static int parse(const char *text)
{
	return parse_n(text, strlen(text), 1234);
}

static void refused(const char *text, int want)
{
	static const struct sockaddr_storage nothing;

	EQ(parse(text), want);
	if (want == -EINVAL)
		MEM(&got, &nothing, sizeof(got));
}

static void ipv4(void)
{
	struct sockaddr_in want = { .sin_family = AF_INET };
	const struct sockaddr_storage zero = { 0 };

	memcpy(&want.sin_addr, "\x0a\x00\xff\x01", 4);
	want.sin_port = htons(1234);
	EQ(parse("ip:10.0.255.1"), 0);
	MEM(&got, &want, sizeof(want));
	MEM((char *)&got + sizeof(want), &zero, sizeof(got) - sizeof(want));
	EQ(parse("ip:0.0.0.0"), 0);
	EQ(parse("ip:255.255.255.255"), 0);
	EQ(((struct sockaddr_in *)&got)->sin_addr.s_addr, 0xffffffff);
}

static void ipv4_refused(void)
{
	static const char *const texts[] = {
		"ip:", "ip:1", "ip:1.2.3", "ip:1.2.3.", "ip:1.2.3.4.5", "ip:256.1.1.1", "ip:1.2.3.256",
		"ip:1.2.3.4 ", "ip: 1.2.3.4", "ip:1.2.3.4\n", "ip:1..3.4", "ip:.1.2.3.4", "ip:a.b.c.d",
		"ip:1.2.3.4/24", "ip:1,2,3,4", "ip:-1.2.3.4", "ip:1.2.3.4%eth0", "ip:host", "ip:0x1.2.3.4",
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		refused(texts[i], -EINVAL);
}

static void ipv6(void)
{
	static const struct { const char *text; __u8 raw[16]; } c[] = {
		{ "ip:::", { 0 } },
		{ "ip:::1", { [15] = 1 } },
		{ "ip:2001:db8::1", { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 } },
		{ "ip:2001:DB8:0:0:0:0:0:1", { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 } },
		{ "ip:2001:0db8:0000:0000:0000:0000:0000:0001", { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 } },
		{ "ip:1:2:3:4:5:6:7:8", { 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8 } },
		{ "ip:1::8", { 0, 1, [15] = 8 } },
		{ "ip:fe80::1", { 0xfe, 0x80, [15] = 1 } },
		{ "ip:::ffff:10.0.0.1", { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1 } },
		{ "ip:ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", { 255, 255, 255, 255, 255, 255, 255, 255,
		   255, 255, 255, 255, 255, 255, 255, 255 } },
	};
	const struct sockaddr_in6 *sin6 = (void *)&got;
	size_t i;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		EQ(parse(c[i].text), 0);
		EQ(sin6->sin6_family, AF_INET6);
		EQ(ntohs(sin6->sin6_port), 1234);
		EQ(sin6->sin6_flowinfo, 0);
		EQ(sin6->sin6_scope_id, 0);
		MEM(&sin6->sin6_addr, c[i].raw, 16);
	}
}

static void ipv6_refused(void)
{
	static const char *const texts[] = {
		"ip::", "ip::1", "ip:1:2:3:4:5:6:7", "ip:1:2:3:4:5:6:7:8:9", "ip:1::2::3", "ip:::::",
		"ip:12345::", "ip:g::", "ip:[::1]", "ip:::1 ", "ip:::1/64", "ip:1:2:3:4:5:6:7:", "ip:::1\n",
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		refused(texts[i], -EINVAL);
}

static void scope(void)
{
	const struct sockaddr_in6 *sin6 = (void *)&got;

	EQ(parse("ip:fe80::1%eth0"), 0);
	EQ(sin6->sin6_scope_id, 2);
	EQ(sin6->sin6_addr.s6_addr[15], 1);
	EQ(parse("ip:fe80::1%7"), 0);
	EQ(sin6->sin6_scope_id, 7);
	EQ(parse("ip:febf::1%eth0"), 0);
	EQ(sin6->sin6_scope_id, 2);
	refused("ip:fe80::1%", -EINVAL);
	refused("ip:fe80::1%eth1", -EINVAL);
	refused("ip:fe80::1%eth0%eth0", -EINVAL);
	refused("ip:fe80::1%eth0 ", -EINVAL);
	/* no scope but on fe80::/10 */
	refused("ip:2001:db8::1%eth0", -EINVAL);
	refused("ip:fec0::1%eth0", -EINVAL);
	refused("ip:fe7f::1%eth0", -EINVAL);
	refused("ip:ff80::1%eth0", -EINVAL);
	refused("ip:::1%eth0", -EINVAL);
	refused("ip:%eth0", -EINVAL);
}

static void gid(void)
{
	const struct sockaddr_ib *sib = (void *)&got;
	static const __u8 raw[16] = { 0xfe, 0x80, [8] = 0x00, 0x02, 0xc9, 0x03, 0x00, 0x0a, 0xbc, 0xde };

	EQ(parse("gid:fe80:0000:0000:0000:0002:c903:000a:bcde"), 0);
	EQ(sib->sib_family, 27);
	EQ(sib->sib_pkey, 0xffff);
	EQ(sib->sib_flowinfo, 0);
	MEM(&sib->sib_addr, raw, 16);
	MEM(&sib->sib_sid, "\0\0\0\0\x01\x3f\x04\xd2", 8);
	MEM(&sib->sib_sid_mask, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
	EQ(sib->sib_scope_id, 0);
	EQ(parse("gid:fe80::2:c903:a:bcde"), 0);
	MEM(&sib->sib_addr, raw, 16);
	refused("gid:", -EINVAL);
	refused("gid:1.2.3.4", -EINVAL);
	refused("gid:fe80::1%eth0", -EINVAL);
	refused("gid:fe80::1 ", -EINVAL);
	refused("gid:fe80:0000:0000:0000:0002:c903:000a", -EINVAL);
}

static void prefixes(void)
{
	static const char *const texts[] = {
		"", "i", "ip", "gi", "gid", "IP:1.2.3.4", "Ip:1.2.3.4", "GID:fe80::1", " ip:1.2.3.4", "1.2.3.4",
		"::1", "host:a", "ipv4:1.2.3.4", "gid", "ip6:::1", ":", "@", "p:1.2.3.4", "giid:fe80::1",
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		refused(texts[i], -EPROTONOSUPPORT);
}

/* The length says where the text ends, and only it. */
static void ends(void)
{
	char junk[255];
	int c;

	EQ(parse_n("ip:1.2.3.44", 10, 0), 0);
	EQ(((__u8 *)&((struct sockaddr_in *)&got)->sin_addr)[3], 4);
	EQ(parse_n("ip:::12", 6, 0), 0);
	EQ(((struct sockaddr_in6 *)&got)->sin6_addr.s6_addr[15], 1);
	EQ(parse_n("ip:fe80::1%77", 12, 0), 0);
	/* a NUL is a character like others, and none of an address */
	EQ(parse_n("ip:1.2.3.4\0", 11, 0), -EINVAL);
	EQ(parse_n("ip:1.2.3.4\0x", 12, 0), -EINVAL);
	EQ(parse_n("ip:\0" "1.2.3.4", 11, 0), -EINVAL);
	EQ(parse_n("ip:::1\0", 7, 0), -EINVAL);
	EQ(parse_n("ip:fe80::1%eth0\0", 16, 0), -EINVAL);
	EQ(parse_n("gid:fe80::1\0", 12, 0), -EINVAL);
	EQ(parse_n("\0ip:1.2.3.4", 11, 0), -EPROTONOSUPPORT);
	for (c = 0; c < 256; c++) {
		memset(junk, c, sizeof(junk));
		EQ(parse_n(junk, 255, 0), -EPROTONOSUPPORT);
		memcpy(junk, "ip:", 3);
		EQ(parse_n(junk, 255, 0), -EINVAL);
		memcpy(junk, "gid:", 4);
		EQ(parse_n(junk, 255, 0), -EINVAL);
		memcpy(junk, "ip:fe80::1%", 11);
		EQ(parse_n(junk, 255, 0), -EINVAL);
	}
}

static void ports(void)
{
	static const u16 ports[] = { 0, 1, 1234, 32767, 32768, 65535 };
	static const char *const texts[] = { "ip:1.2.3.4", "ip:::1", "gid:fe80::1" };
	size_t i, j;

	for (i = 0; i < sizeof(ports) / sizeof(ports[0]); i++)
		for (j = 0; j < 3; j++) {
			EQ(parse_n(texts[j], strlen(texts[j]), ports[i]), 0);
			EQ(rtrs_addr_port(&got), ports[i]);
			rtrs_addr_set_port(&got, 0);
			EQ(rtrs_addr_port(&got), 0);
			rtrs_addr_set_port(&got, ports[i]);
			EQ(rtrs_addr_port(&got), ports[i]);
			if (j < 2)
				continue;
			/* a port from 32768 on is no negative number (the service id shows it) */
			EQ(be64toh(((struct sockaddr_ib *)&got)->sib_sid), 0x13f0000 | ports[i]);
			CHECK(((struct sockaddr_ib *)&got)->sib_sid_mask == ~0ULL);
		}
	memset(&got, 0, sizeof(got));
	rtrs_addr_set_port(&got, 1234);
	EQ(rtrs_addr_port(&got), 0);
}

static void print(const char *text, const char *want)
{
	char buf[RTRS_ADDR_STRLEN], *small;
	int n, size;

	EQ(parse(text), 0);
	n = rtrs_addr_print(&got, buf, sizeof(buf));
	STR(buf, want);
	EQ(n, strlen(want));
	CHECK(n < RTRS_ADDR_STRLEN);
	/* as much as there is room for, always terminated */
	for (size = 1; size <= n; size++) {
		small = EXACT(NULL, size);
		EQ(rtrs_addr_print(&got, small, size), size - 1);
		EQ(strlen(small), size - 1);
		CHECK(!memcmp(small, want, size - 1));
	}
}

static void printing(void)
{
	struct sockaddr_storage none = { 0 };
	char buf[RTRS_ADDR_STRLEN];

	print("ip:1.2.3.4", "ip:1.2.3.4");
	print("ip:255.255.255.255", "ip:255.255.255.255");
	print("ip:2001:0DB8:0:0:0:0:0:1", "ip:2001:db8::1");
	print("ip:::", "ip:::");
	print("ip:fe80::1%eth0", "ip:fe80::1");
	print("ip:1:2:3:4:5:6:7:8", "ip:1:2:3:4:5:6:7:8");
	/* an IPv4 client on a listener of IPv6 has the name that it has on its own host */
	print("ip:::ffff:10.0.0.1", "ip:10.0.0.1");
	print("gid:fe80::1", "gid:fe80:0000:0000:0000:0000:0000:0000:0001");
	print("gid:FFFF:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "gid:ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
	rtrs_addr_print(&none, buf, sizeof(buf));
	STR(buf, "<none>");
}

static int parse_path(const char *text, size_t len, struct rtrs_path_addr *p)
{
	memset(p, 0xa5, sizeof(*p));
	NOTE("\"%.*s\"", (int)len, text);
	return rtrs_addr_parse_path(EXACT(text, len), len, 1234, p);
}

static void paths(void)
{
	static const struct { const char *text, *want; } c[] = {
		{ "ip:1.2.3.4", "<none>@ip:1.2.3.4" },
		{ "ip:1.2.3.4,ip:5.6.7.8", "ip:1.2.3.4@ip:5.6.7.8" },
		{ "ip:1.2.3.4@ip:5.6.7.8", "ip:1.2.3.4@ip:5.6.7.8" },
		{ "ip:fe80::1%eth0@ip:fe80::2%7", "ip:fe80::1@ip:fe80::2" },
		{ "gid:fe80::1,gid:fe80::2", "gid:fe80:0000:0000:0000:0000:0000:0000:0001@"
					     "gid:fe80:0000:0000:0000:0000:0000:0000:0002" },
	};
	char buf[RTRS_PATH_NAME_LEN];
	struct rtrs_path_addr p;
	size_t i;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		EQ(parse_path(c[i].text, strlen(c[i].text), &p), 0);
		EQ(rtrs_addr_print_path(&p, buf, sizeof(buf)), strlen(c[i].want));
		STR(buf, c[i].want);
		CHECK(strlen(buf) < RTRS_PATH_NAME_LEN);
		EQ(rtrs_addr_port(&p.dst), 1234);
		EQ(rtrs_addr_port(&p.src), 0);
		if (i == 0)
			EQ(p.src.ss_family, AF_UNSPEC);
	}
	EQ(parse_path("ip:1.2.3.4,ip:5.6.7.89", 21, &p), 0);
	EQ(rtrs_addr_print_path(&p, buf, sizeof(buf)), 21);
	/* cut where the room ends */
	for (i = 1; i < 22; i++) {
		char *small = EXACT(NULL, i);

		EQ(rtrs_addr_print_path(&p, small, i), i - 1);
		EQ(strlen(small), i - 1);
	}
}

static void paths_refused(void)
{
	static const struct { const char *text; int want; } c[] = {
		{ "", -EPROTONOSUPPORT }, { "1.2.3.4", -EPROTONOSUPPORT }, { "ip:1.2.3", -EINVAL },
		/* a bad source is always EINVAL */
		{ "x:1@ip:1.2.3.4", -EINVAL }, { "1.2.3.4@ip:1.2.3.4", -EINVAL }, { "@ip:1.2.3.4", -EINVAL },
		{ ",ip:1.2.3.4", -EINVAL }, { "ip:1.2.3,ip:1.2.3.4", -EINVAL }, { "@", -EINVAL }, { ",", -EINVAL },
		{ "x,y", -EINVAL },
		/* a destination says what is wrong with it */
		{ "ip:1.2.3.4@", -EPROTONOSUPPORT }, { "ip:1.2.3.4,x:1", -EPROTONOSUPPORT },
		{ "ip:1.2.3.4@IP:1.2.3.4", -EPROTONOSUPPORT }, { "ip:1.2.3.4@ip:1", -EINVAL },
		{ "ip:1.2.3.4@ ip:1.2.3.4", -EPROTONOSUPPORT },
		/* the first ',' parts, else the first '@' */
		{ "ip:1.2.3.4@ip:5.6.7.8,ip:1.2.3.4", -EINVAL }, { "ip:1.2.3.4,ip:1.2.3.4,ip:1.2.3.4", -EINVAL },
		{ "ip:1.2.3.4@ip:1.2.3.4@ip:1.2.3.4", -EINVAL }, { "ip:1.2.3.4,ip:1.2.3.4@ip:1.2.3.4", -EINVAL },
		/* one path, one family */
		{ "ip:1.2.3.4@ip:::1", -EINVAL }, { "ip:::1@ip:1.2.3.4", -EINVAL },
		{ "gid:fe80::1@ip:fe80::1", -EINVAL }, { "ip:fe80::1,gid:fe80::1", -EINVAL },
	};
	struct rtrs_path_addr p;
	size_t i;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		EQ(parse_path(c[i].text, strlen(c[i].text), &p), c[i].want);
	EQ(parse_path("ip:1.2.3.4\0,ip:5.6.7.8", 22, &p), -EINVAL);
	EQ(parse_path("ip:1.2.3.4,ip:5.6.7.8\0", 22, &p), -EINVAL);
}

/* All pairs: equal where host and family are, whatever port and scope. */
static void equality(void)
{
	static const struct { const char *text; int class; u16 port; } c[] = {
		{ "ip:10.0.0.1", 1, 0 }, { "ip:10.0.0.1", 1, 1234 }, { "ip:10.0.0.2", 2, 0 },
		{ "ip:::ffff:10.0.0.1", 3, 0 }, { "ip:fe80::1", 4, 0 }, { "ip:fe80::1%eth0", 4, 1 },
		{ "ip:fe80::1%7", 4, 0 }, { "ip:fe80::2", 5, 0 }, { "ip:fe80:0:0:0:0:0:0:1", 4, 0 },
		{ "gid:fe80::1", 6, 0 }, { "gid:fe80::1", 6, 65535 }, { "gid:fe80::2", 7, 0 },
		{ "gid:::ffff:10.0.0.1", 8, 0 }, { "ip:0.0.0.0", 9, 0 }, { "ip:::", 10, 0 }, { "gid:::", 11, 0 },
		{ "ip:1:fe80::1", 12, 0 },
	};
	struct sockaddr_storage a[sizeof(c) / sizeof(c[0])], none = { 0 };
	size_t i, j, n = sizeof(c) / sizeof(c[0]);

	for (i = 0; i < n; i++) {
		EQ(parse_n(c[i].text, strlen(c[i].text), c[i].port), 0);
		a[i] = got;
	}
	for (i = 0; i < n; i++) {
		for (j = 0; j < n; j++) {
			NOTE("%s and %s", c[i].text, c[j].text);
			EQ(rtrs_addr_equal(&a[i], &a[j]), c[i].class == c[j].class);
		}
		EQ(rtrs_addr_equal(&a[i], &none), false);
		EQ(rtrs_addr_equal(&none, &a[i]), false);
	}
}

static void lengths(void)
{
	struct sockaddr_storage a = { 0 };
	int family;

	for (family = 0; family < 64; family++) {
		a.ss_family = family;
		NOTE("family %d", family);
		EQ(rtrs_addr_len(&a), family == AF_INET ? 16 : family == AF_INET6 ? 28 : family == 27 ? 48 : 0);
	}
}

/* As the access list compares them: an IPv4 address is one of IPv6. */
static void bytes(void)
{
	static const u8 v4[16] = { [10] = 0xff, 0xff, 10, 1, 2, 3 }, v6[16] = { 0xfe, 0x80, [15] = 1 };
	static const char *const texts[] = { "ip:10.1.2.3", "ip:fe80::1", "gid:fe80::1" };
	struct sockaddr_storage ss;
	u8 *at = EXACT(NULL, 16);
	size_t i;

	for (i = 0; i < 3; i++) {
		NOTE("%s", texts[i]);
		EQ(rtrs_addr_parse(texts[i], strlen(texts[i]), 0, &ss), 0);
		rtrs_addr_bytes(&ss, at);
		MEM(at, i ? v6 : v4, 16);
	}
}

int main(void)
{
	RUN(ipv4, "IPv4");
	RUN(ipv4_refused, "IPv4: what is none");
	RUN(ipv6, "IPv6, full and compressed");
	RUN(ipv6_refused, "IPv6: what is none");
	RUN(scope, "IPv6: scope of a link-local address, and of no other");
	RUN(gid, "GID");
	RUN(prefixes, "unknown prefixes");
	RUN(ends, "length, NUL inside, 255 bytes of junk");
	RUN(ports, "ports 0, 1, 32768, 65535");
	RUN(printing, "printing, buffers of every size");
	RUN(paths, "source and destination, ',' and '@'");
	RUN(paths_refused, "source and destination: what is refused, and how");
	RUN(equality, "equality, all pairs over all families");
	RUN(lengths, "length by family");
	RUN(bytes, "the bytes of an address");
	return tap_end();
}
