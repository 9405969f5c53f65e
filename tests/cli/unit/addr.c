// SPDX-License-Identifier: GPL-2.0
/* Addresses: text to binary and back. */
#include <stdlib.h>

#include "model/address.h"
#include "tap.h"

static const struct { const char *in, *out; enum addr_family family; size_t len; } good[] = {
	{ "ip:10.0.0.1", "ip:10.0.0.1", ADDR_IPV4, 16 },
	{ "10.0.0.1", "ip:10.0.0.1", ADDR_IPV4, 16 },
	{ "ip:0.0.0.0", "ip:0.0.0.0", ADDR_IPV4, 16 },
	{ "ip:255.255.255.255", "ip:255.255.255.255", ADDR_IPV4, 16 },
	{ "ip:fd00::9", "ip:fd00::9", ADDR_IPV6, 28 },
	{ "fd00:0:0::9", "ip:fd00::9", ADDR_IPV6, 28 },
	{ "ip:::1", "ip:::1", ADDR_IPV6, 28 },
	{ "ip:fe80::1%lo", "ip:fe80::1", ADDR_IPV6, 28 },
	{ "ip:fe80::1%7", "ip:fe80::1", ADDR_IPV6, 28 },
	{ "gid:fe80::1", "gid:fe80:0000:0000:0000:0000:0000:0000:0001", ADDR_GID, 48 },
	{ "gid:0000:0000:0000:0000:0000:ffff:0a00:0001", "gid:0000:0000:0000:0000:0000:ffff:0a00:0001",
	  ADDR_GID, 48 },
	{ "host:127.0.0.1", "ip:127.0.0.1", ADDR_IPV4, 16 },
};

static const char *const bad[] = {
	"", "ip:", "gid:", "ip:10.0.0", "ip:10.0.0.256", "ip:10.0.0.1.1", "10.0.0.1/24", "ip:10.0.0.1 ",
	"ip:0x0a000001", "ip:fe80::1%", "ip:fe80::1%nosuchdev0", "ip:fe80::1%0", "ip:fe80::1%7x", "ip:fe80::1%-1", "ip:fe80::1% 1",
	"ip:fe80::1%4294967297", "gid:10.0.0.1",
	"gid:fe80::1%lo", "ib:fe80::1", "IP:10.0.0.1", "1", "localhost", "ip:ip:10.0.0.1", "::1::",
	"ip:1:2:3:4:5:6:7:8:9", "ip:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000",
};

static void pairs(void)
{
	static const struct { const char *text; bool src; } fine[] = {
		{ "ip:10.0.0.1@ip:10.0.0.2", true }, { "10.0.0.1,10.0.0.2", true },
		{ "ip:10.0.0.2", false }, { "gid:fe80::1@gid:fe80::2", true },
	};
	static const char *const wrong[] = {
		"@", "@ip:10.0.0.2", "ip:10.0.0.1@", "ip:10.0.0.1@ip:fe80::1", "10.0.0.1@10.0.0.2@10.0.0.3",
		"gid:fe80::1,fe80::1", ",", "10.0.0.1 10.0.0.2",
	};
	struct addr_pair p, q;
	char *msg;

	for (size_t i = 0; i < sizeof(fine) / sizeof(*fine); i++) {
		msg = addr_pair_parse(fine[i].text, &p);
		ok(!msg && (p.src.family != ADDR_NONE) == fine[i].src, "path '%s'", fine[i].text);
		free(msg);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		msg = addr_pair_parse(wrong[i], &p);
		ok(msg, "no path: '%s'", wrong[i]);
		free(msg);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		msg = addr_pair_literal(wrong[i], &p);
		ok(msg, "no path without a name server either: '%s'", wrong[i]);
		free(msg);
	}
	msg = addr_pair_literal("host:no.such.host.invalid@10.0.0.2", &p);
	ok(!msg && p.src.family == ADDR_NONE && p.dst.family == ADDR_IPV4, "a name is not resolved");
	free(msg);
	msg = addr_pair_literal("host:no.such.host.invalid@10.0.0", &p);
	ok(msg, "what stands beside it is looked at");
	free(msg);
	free(addr_pair_parse("10.0.0.1@10.0.0.2", &p));
	free(addr_pair_parse("10.0.0.2", &q));
	ok(addr_pair_matches(&q, &p.src, &p.dst), "DST alone fits any SRC");
	ok(addr_pair_matches(&p, &p.src, &p.dst), "both fit");
	ok(!addr_pair_matches(&p, &p.dst, &p.dst), "another SRC does not");
	ok(!addr_pair_matches(&q, &p.dst, &p.src), "another DST does not");
	p.dst.port = 1234;
	ok(addr_pair_matches(&q, &p.src, &p.dst), "a port not given fits any");
	q.dst.port = 77;
	ok(!addr_pair_matches(&q, &p.src, &p.dst), "another port does not");
}

static void binary(void)
{
	static const uint8_t in4[16] = { 2, 0, 0x04, 0xd2, 10, 0, 0, 1 };
	static const uint8_t ib[48] = {
		27, 0, 0xff, 0xff, 0, 0, 0, 0, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
		0, 0, 0, 0, 0x01, 0x3f, 0x04, 0xd2, 255, 255, 255, 255, 255, 255, 255, 255,
	};
	uint8_t bin[ADDR_BIN_MAX];
	struct addr a, b;

	free(addr_parse("10.0.0.1", &a));
	a.port = 1234;
	ok(addr_to_bin(&a, bin) == 16 && !memcmp(bin, in4, 16), "struct sockaddr_in, byte by byte");
	free(addr_parse("gid:fe80::1", &a));
	ok(addr_to_bin(&a, bin) == 48 && !memcmp(bin, ib, 48), "struct sockaddr_ib: service id of port 1234");
	a.port = 65535;
	addr_to_bin(&a, bin);
	ok(bin[30] == 0xff && bin[31] == 0xff && bin[29] == 0x3f, "the highest port carries no sign");
	ok(addr_from_bin(bin, 48, &b) && b.port == 65535 && addr_equal(&a, &b), "and comes back");
	for (size_t len = 0; len < 48; len++)
		if (addr_from_bin(bin, len, &b))
			ok(false, "a sockaddr_ib of %zu bytes", len);
	free(addr_parse("fd00::9", &a));
	addr_to_bin(&a, bin);
	ok(!addr_from_bin(bin, 27, &b) && addr_from_bin(bin, 28, &b), "sockaddr_in6 needs 28 bytes");
	memset(bin, 0xee, sizeof(bin));
	ok(!addr_from_bin(bin, sizeof(bin), &b) && b.family == ADDR_NONE, "an unknown family is none");
	ok(!addr_from_bin(in4, 15, &b), "sockaddr_in needs 16 bytes");
	memset(&a, 0, sizeof(a));
	ok(addr_to_bin(&a, bin) == 0, "no address, no bytes");
}

int main(void)
{
	char buf[ADDR_TEXT_MAX], *msg;
	uint8_t bin[ADDR_BIN_MAX];
	struct addr a, b;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		msg = addr_parse(good[i].in, &a);
		addr_format(&a, buf);
		ok(!msg && a.family == good[i].family && !strcmp(buf, good[i].out), "'%s' is %s", good[i].in,
		   buf);
		ok(addr_to_bin(&a, bin) == good[i].len && addr_from_bin(bin, good[i].len, &b) &&
		   addr_equal(&a, &b), "'%s' there and back", good[i].in);
		free(msg);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		msg = addr_parse(bad[i], &a);
		ok(msg, "no address: '%s': %s", bad[i], msg ? msg : "taken");
		free(msg);
	}
	pairs();
	binary();
	return tap_done();
}
