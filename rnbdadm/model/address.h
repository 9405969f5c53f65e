/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses as an administrator writes them and as the kernel takes them. */
#ifndef RNBDADM_MODEL_ADDRESS_H
#define RNBDADM_MODEL_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ADDR_DEFAULT_PORT	1234
#define ADDR_TEXT_MAX		64
#define ADDR_BIN_MAX		48	/* struct sockaddr_ib */

enum addr_family { ADDR_NONE, ADDR_IPV4, ADDR_IPV6, ADDR_GID };

struct addr {
	enum addr_family family;
	uint16_t port;		/* host order, 0 = default */
	uint32_t scope;		/* interface of a link-local IPv6 address */
	uint8_t raw[16];	/* network order, 4 bytes used for IPv4 */
	int eai;		/* host:NAME has no address: what getaddrinfo() returned */
};

/* Path token: [SRC@]DST. */
struct addr_pair {
	struct addr src;	/* ADDR_NONE: the route decides */
	struct addr dst;
};

/*
 * ip:IPv4, ip:IPv6[%dev], gid:GID, host:NAME, bare IPv4 or IPv6. Returns NULL,
 * or what is wrong with it, a sentence to be freed by the caller.
 */
char *addr_parse(const char *text, struct addr *a);
/* The same without a name server: host:NAME stays ADDR_NONE. */
char *addr_literal(const char *text, struct addr *a);
/* HOST of --server as one of these, to be freed: a name, which has no colon, becomes host:NAME. */
char *addr_of_host(const char *host);
/* The same for [SRC@]DST; ',' is taken for '@'. */
char *addr_pair_parse(const char *text, struct addr_pair *p);
char *addr_pair_literal(const char *text, struct addr_pair *p);

/* The kernel's spelling: ip:10.0.0.1, ip:fe80::1, gid:fe80:0000:… */
void addr_format(const struct addr *a, char buf[ADDR_TEXT_MAX]);
/* Without the prefix. */
void addr_format_bare(const struct addr *a, char buf[ADDR_TEXT_MAX]);
const char *addr_family_name(enum addr_family f);

/* Same family and address; a port or scope that one side lacks is equal. */
bool addr_equal(const struct addr *a, const struct addr *b);
bool addr_pair_matches(const struct addr_pair *want, const struct addr *src,
		       const struct addr *dst);
/* Two spellings of the same? */
bool addr_pair_same(const struct addr_pair *a, const struct addr_pair *b);

/* struct sockaddr_in, _in6 or _ib; returns its exact length. */
size_t addr_to_bin(const struct addr *a, uint8_t buf[ADDR_BIN_MAX]);
/* The reverse; false if it is none of the three. */
bool addr_from_bin(const void *data, size_t len, struct addr *a);

#endif
