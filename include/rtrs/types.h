/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What users of both ends of RTRS share: addresses, names, error texts, the
 * census of objects. No verbs types.
 */
#ifndef RTRS_TYPES_H
#define RTRS_TYPES_H

#include <linux/types.h>
#include <linux/socket.h>
#include <linux/netlink.h>
#include <uapi/linux/rnbd.h>

#define RTRS_NAME_MAX		254	/* bytes of a session name, without NUL */
#define RTRS_PATHS_MAX		128	/* paths of a session */
#define RTRS_ADDR_STRLEN	80	/* "gid:" or "ip:", address, scope, NUL */
#define RTRS_PATH_NAME_LEN	(2 * RTRS_ADDR_STRLEN)

/**
 * struct rtrs_path_addr - addresses of one path
 * @src: address of the client; ss_family AF_UNSPEC lets the route decide
 * @dst: address of the server, port included
 */
struct rtrs_path_addr {
	struct sockaddr_storage src;
	struct sockaddr_storage dst;
};

/**
 * rtrs_addr_parse - parse "ip:<IPv4>", "ip:<IPv6>[%scope]" or "gid:<GID>"
 * @str: text, need not be terminated
 * @len: its length
 * @port: host order, goes into the address
 * @out: result; AF_INET, AF_INET6 or AF_IB
 *
 * Return: 0, -EPROTONOSUPPORT for another prefix, -EINVAL
 */
int rtrs_addr_parse(const char *str, size_t len, u16 port, struct sockaddr_storage *out);

/**
 * rtrs_addr_parse_path - parse "[src SEP]dst", SEP is ',' or else '@'
 * @str: text, need not be terminated
 * @len: its length
 * @port: of the destination, host order
 * @out: result; src is AF_UNSPEC where not given
 *
 * Return: 0, -EPROTONOSUPPORT for an unknown prefix of the destination, -EINVAL
 */
int rtrs_addr_parse_path(const char *str, size_t len, u16 port, struct rtrs_path_addr *out);

/**
 * rtrs_addr_print - text of an address as sysfs has it, "ip:..." or "gid:..."
 * @addr: address
 * @buf: RTRS_ADDR_STRLEN bytes are enough
 * @size: bytes of @buf
 *
 * Return: length, as scnprintf()
 */
int rtrs_addr_print(const struct sockaddr_storage *addr, char *buf, size_t size);

/* "SRC@DST", as path directories are named. @buf: RTRS_PATH_NAME_LEN bytes. */
int rtrs_addr_print_path(const struct rtrs_path_addr *path, char *buf, size_t size);

/* Same host; ports and scopes do not count; other families differ. */
bool rtrs_addr_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b);

/* Its 16 bytes, an IPv4 address as IPv6. */
void rtrs_addr_bytes(const struct sockaddr_storage *addr, u8 *out);

/* Port in host order; 0 where the family has none. */
u16 rtrs_addr_port(const struct sockaddr_storage *addr);
void rtrs_addr_set_port(struct sockaddr_storage *addr, u16 port);

/* Bytes of the sockaddr by its family, 0 for a family that RTRS does not take. */
size_t rtrs_addr_len(const struct sockaddr_storage *addr);

/*
 * rtrs_refused_by - say in the extended ack who refuses, where the errno leaves that open
 *
 * It is the cookie of the ack, so that no program has to look into the text. @extack may be NULL.
 */
static inline void rtrs_refused_by(struct netlink_ext_ack *extack, enum rnbd_refusal who)
{
	u32 cookie = who;

	if (!extack)
		return;
	memcpy(extack->cookie, &cookie, sizeof(cookie));
	extack->cookie_len = who == RNBD_REFUSAL_OTHER ? 0 : sizeof(cookie);
}

/*
 * rtrs_fail_by - say in the extended ack why and who refuses, and return the errno
 *
 * The text has at most 80 bytes. @extack may be NULL where nobody asked.
 */
#define rtrs_fail_by(extack, who, err, fmt, ...) ({		\
	NL_SET_ERR_MSG_FMT(extack, fmt, ##__VA_ARGS__);		\
	rtrs_refused_by(extack, who);				\
	(err);							\
})

/* The same where the errno says it all. */
#define rtrs_fail(extack, err, fmt, ...)			\
	rtrs_fail_by(extack, RNBD_REFUSAL_OTHER, err, fmt, ##__VA_ARGS__)

/*
 * The census counts every object that comes and goes, so that a leak is seen
 * at unload: /sys/kernel/debug/rtrs/objects. Any context. Not for the I/O path.
 */
enum rtrs_census {
	RTRS_CENSUS_CORE_DEV,
	RTRS_CENSUS_CLIENT_SESSION,
	RTRS_CENSUS_CLIENT_PATH,
	RTRS_CENSUS_CLIENT_CON,
	RTRS_CENSUS_SERVER_SESSION,
	RTRS_CENSUS_SERVER_PATH,
	RTRS_CENSUS_SERVER_CON,
	RTRS_CENSUS_RNBD_CLIENT_SESSION,
	RTRS_CENSUS_RNBD_CLIENT_DEV,
	RTRS_CENSUS_RNBD_CLIENT_MSG,
	RTRS_CENSUS_RNBD_SERVER_SESSION,
	RTRS_CENSUS_RNBD_SERVER_DEV,
	RTRS_CENSUS_RNBD_SERVER_EXPORT,
	RTRS_CENSUS_RNBD_SERVER_LIST,
	RTRS_CENSUS_COUNT,
};

void rtrs_census_created(enum rtrs_census noun);
void rtrs_census_destroyed(enum rtrs_census noun);

/* A new id for any object of netlink: ascending, never 0, not used again. Any context. */
u32 rtrs_new_id(void);

#endif /* RTRS_TYPES_H */
