/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As much of the kernel as the pure files of the modules need, on the host. The
 * headers around it only lead here.
 */
#ifndef SHIM_H
#define SHIM_H

#include <arpa/inet.h>
#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <linux/errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;
typedef unsigned int gfp_t;

#define GFP_KERNEL		0
#define EXPORT_SYMBOL_GPL(x)	struct shim_export_##x
#define MODULE_LICENSE(x)	struct shim_licence
#define __init
#define __exit
#define __force
#define __user
#define fallthrough		__attribute__((fallthrough))
#define likely(x)		(x)
#define unlikely(x)		(x)
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define BIT(n)			(1UL << (n))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define min_t(t, a, b)		min((t)(a), (t)(b))
#define max_t(t, a, b)		max((t)(a), (t)(b))
#define static_assert		_Static_assert
#define BUILD_BUG_ON(cond)	_Static_assert(!(cond), #cond)
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, v)	((x) = (v))
#define smp_wmb()		__sync_synchronize()
#define smp_rmb()		__sync_synchronize()

#ifndef ENOTSUPP
#define ENOTSUPP		524
#endif

#define cpu_to_be64(x)		htobe64(x)
#define be64_to_cpu(x)		be64toh(x)
#define cpu_to_be32(x)		htobe32(x)
#define be32_to_cpu(x)		be32toh(x)

#ifndef AF_IB
#define AF_IB			27
#endif

#define MAX_ERRNO		4095
#define IS_ERR_VALUE(x)		((unsigned long)(x) >= (unsigned long)-MAX_ERRNO)

static inline void *ERR_PTR(long err)
{
	return (void *)err;
}

static inline long PTR_ERR(const void *p)
{
	return (long)p;
}

static inline bool IS_ERR(const void *p)
{
	return IS_ERR_VALUE(p);
}

/* Takes %pI4, %pI6 and %pI6c like the kernel. */
int scnprintf(char *buf, size_t size, const char *fmt, ...);
ssize_t strscpy(char *dst, const char *src, size_t size);
char *skip_spaces(const char *s);
char *strim(char *s);
bool sysfs_streq(const char *a, const char *b);
int match_string(const char *const *array, size_t n, const char *string);
int sysfs_match_string_n(const char *const *array, size_t n, const char *string);
#define sysfs_match_string(a, s)	sysfs_match_string_n(a, ARRAY_SIZE(a), s)

int in4_pton(const char *src, int len, u8 *dst, int delim, const char **end);
int in6_pton(const char *src, int len, u8 *dst, int delim, const char **end);

int kstrtoull(const char *s, unsigned int base, unsigned long long *out);
int kstrtoll(const char *s, unsigned int base, long long *out);
int kstrtouint(const char *s, unsigned int base, unsigned int *out);
int kstrtoint(const char *s, unsigned int base, int *out);
int kstrtou16(const char *s, unsigned int base, u16 *out);
int kstrtou8(const char *s, unsigned int base, u8 *out);
#define kstrtou32(s, b, o)	kstrtouint(s, b, o)
#define kstrtou64(s, b, o)	kstrtoull(s, b, (unsigned long long *)(o))

#define kmalloc(n, gfp)		shim_alloc(n)
#define kzalloc(n, gfp)		shim_alloc(n)
#define kvzalloc(n, gfp)	shim_alloc(n)
#define kcalloc(n, s, gfp)	shim_alloc((size_t)(n) * (s))
#define kmemdup(p, n, gfp)	shim_memdup(p, n)
#define kstrndup(s, n, gfp)	strndup(s, n)
#define kstrdup(s, gfp)		strdup(s)
#define kfree(p)		free((void *)(p))
#define kvfree(p)		free((void *)(p))

/* Fails when it counts down to zero. */
extern int shim_alloc_fail;
void *shim_alloc(size_t n);
void *shim_memdup(const void *p, size_t n);

/* The text of a refusal; the last one also where the caller passes NULL. */
struct netlink_ext_ack {
	const char *_msg;
	u8 cookie[20];
	u8 cookie_len;
};

#define NETLINK_MAX_FMTMSG_LEN	80

extern char shim_msg[256];

#define NL_SET_ERR_MSG_FMT(extack, fmt, args...) do {			\
	struct netlink_ext_ack *extack_ = (extack);			\
									\
	snprintf(shim_msg, sizeof(shim_msg), fmt, ##args);		\
	if (extack_)							\
		extack_->_msg = shim_msg;				\
} while (0)
#define NL_SET_BAD_ATTR(extack, attr)	((void)(extack), (void)(attr))
#define NL_SET_ERR_MSG(extack, msg)	NL_SET_ERR_MSG_FMT(extack, "%s", msg)
#define NL_SET_ERR_MSG_MOD(extack, msg)	NL_SET_ERR_MSG_FMT(extack, "%s", msg)

#endif /* SHIM_H */
