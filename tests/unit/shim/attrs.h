/* SPDX-License-Identifier: GPL-2.0 */
/* Netlink attributes for what reads them. */
#ifndef SHIM_ATTRS_H
#define SHIM_ATTRS_H

#include <net/netlink.h>

struct attrs {
	size_t len;
	_Alignas(8) unsigned char data[1 << 20];
};

static inline size_t attrs_begin(struct attrs *a, int type)
{
	struct nlattr head = { NLA_HDRLEN, type };
	size_t at = a->len;

	if (at + NLA_HDRLEN > sizeof(a->data))
		abort();
	memcpy(a->data + at, &head, NLA_HDRLEN);
	a->len += NLA_HDRLEN;
	return at;
}

static inline void attrs_end(struct attrs *a, size_t at)
{
	((struct nlattr *)(a->data + at))->nla_len = a->len - at;
	while (a->len & 3)
		a->data[a->len++] = 0;
}

static inline void attrs_put(struct attrs *a, int type, const void *data, size_t len)
{
	size_t at = attrs_begin(a, type);

	if (a->len + len + 8 > sizeof(a->data))
		abort();
	memcpy(a->data + a->len, data, len);
	a->len += len;
	attrs_end(a, at);
}

static inline void attrs_number(struct attrs *a, int type, u32 value)
{
	attrs_put(a, type, &value, sizeof(value));
}

/* Terminated, whatever is in it. */
static inline void attrs_text(struct attrs *a, int type, const char *text, size_t len)
{
	char s[256];

	if (len >= sizeof(s))
		abort();
	memcpy(s, text, len);
	s[len] = '\0';
	attrs_put(a, type, s, strlen(s) + 1);
}

#endif /* SHIM_ATTRS_H */
