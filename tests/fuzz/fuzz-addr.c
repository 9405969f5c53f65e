// SPDX-License-Identifier: GPL-2.0
/* Addresses and pairs of them. Input: port, text. */
#include <linux/in.h>
#include <linux/in6.h>
#include <rdma/ib.h>
#include <rtrs/types.h>
#include "fuzz.h"
#include "kernel/rtrs/core/addr.h"

int rtrs_addr_scope_index(const char *name, size_t len)
{
	return len == 4 && !memcmp(name, "eth0", 4) ? 2 : -EINVAL;
}

/* ::ffff:1.2.3.4 is printed as the IPv4 address that it stands for. */
static bool mapped(const struct sockaddr_storage *a)
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

	return a->ss_family == AF_INET6 && !memcmp(&((struct sockaddr_in6 *)a)->sin6_addr, prefix, 12);
}

static void holds(const struct sockaddr_storage *a, uint16_t port)
{
	char text[RTRS_ADDR_STRLEN];
	struct sockaddr_storage again;
	int n = rtrs_addr_print(a, text, sizeof(text));

	MUST(a->ss_family == AF_INET || a->ss_family == AF_INET6 || a->ss_family == AF_IB);
	MUST(rtrs_addr_len(a));
	MUST(rtrs_addr_port(a) == port);
	MUST(n > 0 && n < RTRS_ADDR_STRLEN - 1 && (int)strlen(text) == n);
	MUST(!strpbrk(text, "/@,% \n"));
	if (mapped(a))
		return;
	MUST(!rtrs_addr_parse(text, n, port, &again));
	MUST(rtrs_addr_equal(a, &again) && rtrs_addr_equal(&again, a));
	if (a->ss_family == AF_INET6)
		((struct sockaddr_in6 *)&again)->sin6_scope_id = ((struct sockaddr_in6 *)a)->sin6_scope_id;
	MUST(!memcmp(a, &again, sizeof(again)));
}

static void one(const char *text, size_t size, uint16_t port)
{
	static const struct sockaddr_storage zero;
	struct sockaddr_storage a;
	int err = rtrs_addr_parse(text, size, port, &a);

	MUST(err == 0 || err == -EINVAL || err == -EPROTONOSUPPORT);
	if (err) {
		MUST(!memcmp(&a, &zero, sizeof(a)));
		return;
	}
	accepted++;
	MUST(!memchr(text, 0, size));
	holds(&a, port);
}

static void pair(const char *text, size_t size, uint16_t port)
{
	char name[RTRS_PATH_NAME_LEN];
	struct rtrs_path_addr p;
	int n;

	if (rtrs_addr_parse_path(text, size, port, &p))
		return;
	accepted++;
	MUST(!memchr(text, 0, size));
	holds(&p.dst, port);
	if (memchr(text, ',', size) || memchr(text, '@', size)) {
		holds(&p.src, 0);
		MUST(p.src.ss_family == p.dst.ss_family);
	} else {
		MUST(p.src.ss_family == AF_UNSPEC);
	}
	n = rtrs_addr_print_path(&p, name, sizeof(name));
	MUST(n > 0 && n < RTRS_PATH_NAME_LEN - 1 && (int)strlen(name) == n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint16_t port;
	char *text;

	if (!take(&data, &size, &port, 2))
		return 0;
	text = exact(data, size);
	one(text, size, port);
	pair(text, size, port);
	free(text);
	return 0;
}
