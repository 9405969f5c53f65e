// SPDX-License-Identifier: GPL-2.0
/* Kernel functions by their documented behaviour, on top of libc. */
#include "shim.h"

char shim_msg[256];
int shim_alloc_fail;

void *shim_alloc(size_t n)
{
	if (shim_alloc_fail && --shim_alloc_fail == 0)
		return NULL;
	return calloc(1, n ? n : 1);
}

void *shim_memdup(const void *p, size_t n)
{
	void *m = shim_alloc(n);

	if (m)
		memcpy(m, p, n);
	return m;
}

/* Text of a pton: up to @delim, NUL or @len; NULL if it is longer than any address. */
static const char *pton_text(const char *src, int len, int delim, char *buf, size_t size)
{
	size_t n = 0, max = len < 0 ? strlen(src) : (size_t)len;

	while (n < max && src[n] && src[n] != delim)
		n++;
	if (n >= size)
		return NULL;
	memcpy(buf, src, n);
	buf[n] = '\0';
	return src + n;
}

static int pton(int family, const char *src, int len, u8 *dst, int delim, const char **end)
{
	char text[INET6_ADDRSTRLEN + 1];
	const char *e = pton_text(src, len, delim, text, sizeof(text));
	int ok = e && inet_pton(family, text, dst) == 1;

	if (end)
		*end = ok ? e : src;
	return ok;
}

int in4_pton(const char *src, int len, u8 *dst, int delim, const char **end)
{
	return pton(AF_INET, src, len, dst, delim, end);
}

int in6_pton(const char *src, int len, u8 *dst, int delim, const char **end)
{
	return pton(AF_INET6, src, len, dst, delim, end);
}

/* An address for %pI...; returns the characters of the format that it took. */
static size_t print_addr(const char *fmt, const u8 *a, char *text, size_t size)
{
	size_t i, n = 0;

	if (fmt[0] != 'I')
		abort();
	if (fmt[1] == '4') {
		inet_ntop(AF_INET, a, text, size);
		return 2;
	}
	if (fmt[1] != '6')
		abort();
	if (fmt[2] == 'c') {
		inet_ntop(AF_INET6, a, text, size);
		return 3;
	}
	for (i = 0; i < 16; i += 2)
		n += snprintf(text + n, size - n, "%s%02x%02x", i ? ":" : "", a[i], a[i + 1]);
	return 2;
}

/* Knows what the modules' pure files use: %s %.*s %c %d %u %x with l, ll, z and hh, and %pI. */
int scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	char conv[16], text[512];
	size_t n = 0, len, c;
	int precision;
	va_list ap;

	if (!size)
		return 0;
	va_start(ap, fmt);
	for (; *fmt; fmt++) {
		precision = -1;
		if (*fmt != '%') {
			text[0] = *fmt;
			text[1] = '\0';
		} else if (fmt[1] == 'p') {
			fmt += 1 + print_addr(fmt + 2, va_arg(ap, const u8 *), text, sizeof(text));
		} else {
			len = strcspn(fmt + 1, "sdiuxcX%") + 2;
			if (len >= sizeof(conv))
				abort();
			memcpy(conv, fmt, len);
			conv[len] = '\0';
			c = conv[len - 1];
			if (strstr(conv, ".*"))
				precision = va_arg(ap, int);
			if (c == '%')
				strcpy(text, "%");
			else if (c == 's' && precision >= 0)
				snprintf(text, sizeof(text), conv, precision, va_arg(ap, char *));
			else if (c == 's')
				snprintf(text, sizeof(text), conv, va_arg(ap, char *));
			else if (strpbrk(conv, "lz"))
				snprintf(text, sizeof(text), conv, va_arg(ap, long long));
			else
				snprintf(text, sizeof(text), conv, va_arg(ap, int));
			fmt += len - 1;
		}
		for (c = 0; text[c] && n + 1 < size; c++)
			buf[n++] = text[c];
	}
	va_end(ap);
	buf[n] = '\0';
	return n;
}

ssize_t strscpy(char *dst, const char *src, size_t size)
{
	size_t n = strnlen(src, size);

	if (!size)
		return -E2BIG;
	if (n == size) {
		memcpy(dst, src, size - 1);
		dst[size - 1] = '\0';
		return -E2BIG;
	}
	memcpy(dst, src, n + 1);
	return n;
}

char *skip_spaces(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return (char *)s;
}

char *strim(char *s)
{
	size_t n = strlen(s);

	while (n && isspace((unsigned char)s[n - 1]))
		s[--n] = '\0';
	return skip_spaces(s);
}

bool sysfs_streq(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);

	n -= n && a[n - 1] == '\n';
	m -= m && b[m - 1] == '\n';
	return n == m && !memcmp(a, b, n);
}

int match_string(const char *const *array, size_t n, const char *string)
{
	size_t i;

	for (i = 0; i < n && array[i]; i++)
		if (!strcmp(array[i], string))
			return i;
	return -EINVAL;
}

int sysfs_match_string_n(const char *const *array, size_t n, const char *string)
{
	size_t i;

	for (i = 0; i < n && array[i]; i++)
		if (sysfs_streq(array[i], string))
			return i;
	return -EINVAL;
}

/* Digits of @base, a newline at most behind them. Neither space nor sign. */
static int magnitude(const char *s, unsigned int base, unsigned long long *out)
{
	unsigned long long v = 0;
	unsigned int digit;
	bool over = false;
	const char *first;

	if (s[0] == '0' && (s[1] | 32) == 'x' && isxdigit((unsigned char)s[2]) &&
	    (!base || base == 16)) {
		base = 16;
		s += 2;
	} else if (!base) {
		base = s[0] == '0' ? 8 : 10;
	}
	for (first = s; isxdigit((unsigned char)*s); s++) {
		digit = isdigit((unsigned char)*s) ? *s - '0' : (*s | 32) - 'a' + 10;
		if (digit >= base)
			break;
		over |= __builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, digit, &v);
	}
	if (s == first)
		return -EINVAL;
	if (*s == '\n')
		s++;
	if (*s)
		return -EINVAL;
	*out = v;
	return over ? -ERANGE : 0;
}

int kstrtoull(const char *s, unsigned int base, unsigned long long *out)
{
	return magnitude(s + (*s == '+'), base, out);
}

int kstrtoll(const char *s, unsigned int base, long long *out)
{
	bool minus = *s == '-';
	unsigned long long v;
	int err = minus ? magnitude(s + 1, base, &v) : kstrtoull(s, base, &v);

	if (err)
		return err;
	if (v > (unsigned long long)LLONG_MAX + minus)
		return -ERANGE;
	*out = minus ? (long long)(0 - v) : (long long)v;
	return 0;
}

#define KSTRTO(name, type, wide, parse)					\
int name(const char *s, unsigned int base, type *out)			\
{									\
	wide v;								\
	int err = parse(s, base, &v);					\
									\
	if (err)							\
		return err;						\
	if (v != (wide)(type)v)						\
		return -ERANGE;						\
	*out = v;							\
	return 0;							\
}

KSTRTO(kstrtouint, unsigned int, unsigned long long, kstrtoull)
KSTRTO(kstrtoint, int, long long, kstrtoll)
KSTRTO(kstrtou16, u16, unsigned long long, kstrtoull)
KSTRTO(kstrtou8, u8, unsigned long long, kstrtoull)
