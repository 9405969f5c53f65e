// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

void xabort_no_memory(void)
{
	static const char msg[] = "rnbdadm: out of memory\n";
	ssize_t rc = write(STDERR_FILENO, msg, sizeof(msg) - 1);

	(void)rc;
	_exit(1);
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		xabort_no_memory();
	return p;
}

void *xrealloc(void *p, size_t size)
{
	p = realloc(p, size ? size : 1);
	if (!p)
		xabort_no_memory();
	return p;
}

void *xgrow(void *v, size_t n, size_t size)
{
	return n & (n - 1) ? v : xrealloc(v, (n ? n * 2 : 1) * size);
}

char *xstrndup(const char *s, size_t n)
{
	char *p = strndup(s, n);

	if (!p)
		xabort_no_memory();
	return p;
}

char *xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *xvasprintf(const char *fmt, va_list ap)
{
	char *s;

	if (vasprintf(&s, fmt, ap) < 0)
		xabort_no_memory();
	return s;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}

static void strlist_take(struct strlist *l, char *s)
{
	l->v = xrealloc(l->v, (l->n + 1) * sizeof(*l->v));
	l->v[l->n++] = s;
}

void strlist_add(struct strlist *l, const char *s)
{
	strlist_take(l, xstrdup(s));
}

void strlist_addf(struct strlist *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strlist_take(l, xvasprintf(fmt, ap));
	va_end(ap);
}

bool strlist_has(const struct strlist *l, const char *s)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i], s))
			return true;
	return false;
}

static int strlist_cmp(const void *a, const void *b)
{
	return natural_cmp(*(char *const *)a, *(char *const *)b);
}

void strlist_sort(struct strlist *l)
{
	if (l->n > 1)
		qsort(l->v, l->n, sizeof(*l->v), strlist_cmp);
}

char *strlist_join(const struct strlist *l, const char *sep)
{
	struct strbuf b = { 0 };

	strbuf_puts(&b, "");
	for (size_t i = 0; i < l->n; i++) {
		if (i)
			strbuf_puts(&b, sep);
		strbuf_puts(&b, l->v[i]);
	}
	return b.s;
}

void strlist_free(struct strlist *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	l->v = NULL;
	l->n = 0;
}

void strbuf_add(struct strbuf *b, const char *s, size_t n)
{
	if (b->len + n + 1 > b->cap) {
		b->cap = (b->len + n + 1) * 2;
		b->s = xrealloc(b->s, b->cap);
	}
	if (n)
		memcpy(b->s + b->len, s, n);
	b->len += n;
	b->s[b->len] = '\0';
}

void strbuf_puts(struct strbuf *b, const char *s)
{
	strbuf_add(b, s, strlen(s));
}

void strbuf_printf(struct strbuf *b, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	strbuf_puts(b, s);
	free(s);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int natural_cmp(const char *a, const char *b)
{
	const char *a0 = a, *b0 = b;

	while (*a && *b) {
		if (is_digit(*a) && is_digit(*b)) {
			size_t na, nb;
			int rc;

			while (*a == '0' && is_digit(a[1]))
				a++;
			while (*b == '0' && is_digit(b[1]))
				b++;
			for (na = 0; is_digit(a[na]); na++)
				;
			for (nb = 0; is_digit(b[nb]); nb++)
				;
			if (na != nb)
				return na < nb ? -1 : 1;
			rc = memcmp(a, b, na);
			if (rc)
				return rc < 0 ? -1 : 1;
			a += na;
			b += nb;
			continue;
		}
		if (*a != *b)
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		a++;
		b++;
	}
	if (*a || *b)
		return *a ? 1 : -1;
	/* equal but for leading zeros */
	return strcmp(a0, b0);
}

#define EDIT_MAX	64

unsigned int edit_distance(const char *a, const char *b)
{
	unsigned int row[3][EDIT_MAX + 1], *two = row[0], *one = row[1], *cur = row[2];
	size_t na = strlen(a), nb = strlen(b), i, j;

	if (na > EDIT_MAX || nb > EDIT_MAX)
		return EDIT_MAX;
	for (j = 0; j <= nb; j++) {
		one[j] = j;
		two[j] = 0;
	}
	for (i = 1; i <= na; i++) {
		unsigned int *t = two;

		cur[0] = i;
		for (j = 1; j <= nb; j++) {
			unsigned int cost = a[i - 1] != b[j - 1];
			unsigned int best = one[j - 1] + cost;

			if (one[j] + 1 < best)
				best = one[j] + 1;
			if (cur[j - 1] + 1 < best)
				best = cur[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && two[j - 2] + 1 < best)
				best = two[j - 2] + 1;
			cur[j] = best;
		}
		two = one;
		one = cur;
		cur = t;
	}
	return one[nb];
}

char *suggest(const char *word, const struct strlist *candidates)
{
	struct strlist best = { 0 };
	char *list, *text = NULL;
	size_t len = strlen(word);

	/* the nearest first; a prefix counts like one edit */
	for (unsigned int d = 0; d <= 2; d++) {
		for (size_t i = 0; i < candidates->n && best.n < 3; i++) {
			const char *c = candidates->v[i];
			unsigned int dist = edit_distance(word, c);

			if (len && !strncmp(word, c, len) && dist > 1)
				dist = 1;
			/* everything is near to a word of one or two bytes */
			if (dist >= strlen(c) && dist > 0)
				continue;
			if (dist == d && !strlist_has(&best, c))
				strlist_add(&best, c);
		}
	}
	if (best.n) {
		list = strlist_join(&best, ", ");
		text = xasprintf("did you mean %s?", list);
		free(list);
	}
	strlist_free(&best);
	return text;
}

size_t utf8_len(const unsigned char *s)
{
	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		return (s[1] & 0xc0) == 0x80 ? 2 : 0;
	if ((s[0] & 0xf0) == 0xe0) {
		if ((s[1] & 0xc0) != 0x80 || (s[2] & 0xc0) != 0x80)
			return 0;
		if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f))
			return 0;
		return 3;
	}
	if (s[0] >= 0xf0 && s[0] <= 0xf4) {
		if ((s[1] & 0xc0) != 0x80 || (s[2] & 0xc0) != 0x80 || (s[3] & 0xc0) != 0x80)
			return 0;
		if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
			return 0;
		return 4;
	}
	return 0;
}

bool utf8_valid(const char *s)
{
	for (const unsigned char *p = (const unsigned char *)s; *p;) {
		size_t n = utf8_len(p);

		if (!n)
			return false;
		p += n;
	}
	return true;
}

/* What a terminal may take for an order, or is no text. */
static bool is_unprintable(const unsigned char *p)
{
	return *p < 0x20 || *p == 0x7f || !utf8_len(p) || (*p == 0xc2 && p[1] < 0xa0);
}

static bool all_printable(const char *s)
{
	for (const unsigned char *p = (const unsigned char *)s; *p; p += utf8_len(p))
		if (is_unprintable(p))
			return false;
	return true;
}

/* $'...': three digits each, which no digit behind them changes. */
static char *quote_bytes(const char *s)
{
	struct strbuf b = { 0 };
	size_t n;

	strbuf_puts(&b, "$'");
	for (const unsigned char *p = (const unsigned char *)s; *p; p += n) {
		n = utf8_len(p) ? utf8_len(p) : 1;
		if (*p == '\n' || *p == '\t')
			strbuf_puts(&b, *p == '\n' ? "\\n" : "\\t");
		else if (is_unprintable(p))
			for (size_t i = 0; i < n; i++)
				strbuf_printf(&b, "\\%03o", p[i]);
		else if (*p == '\'' || *p == '\\')
			strbuf_printf(&b, "\\%c", *p);
		else
			strbuf_add(&b, (const char *)p, n);
	}
	strbuf_puts(&b, "'");
	return b.s;
}

char *shell_quote(const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789@%_+=:,./-";
	struct strbuf b = { 0 };

	if (*s && strspn(s, plain) == strlen(s))
		return xstrdup(s);
	if (!all_printable(s))
		return quote_bytes(s);
	strbuf_puts(&b, "'");
	for (; *s; s++) {
		if (*s == '\'')
			strbuf_puts(&b, "'\\''");
		else
			strbuf_add(&b, s, 1);
	}
	strbuf_puts(&b, "'");
	return b.s;
}

char *read_line_file(const char *path)
{
	char buf[512];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n < 0)
		return NULL;
	while (n > 0 && isspace((unsigned char)buf[n - 1]))
		n--;
	buf[n] = '\0';
	return xstrdup(buf);
}

int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t now_ms(void)
{
	return now_ns() / 1000000;
}

void sleep_ms(long ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

bool parse_uint(const char *s, uint64_t *v)
{
	uint64_t n = 0;

	if (!*s)
		return false;
	for (; *s; s++) {
		if (*s < '0' || *s > '9' || n > (UINT64_MAX - (*s - '0')) / 10)
			return false;
		n = n * 10 + (*s - '0');
	}
	*v = n;
	return true;
}

char *printable(const char *s)
{
	struct strbuf b = { 0 };

	strbuf_puts(&b, "");
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s, next = (unsigned char)s[1];

		/* C1 control characters are two bytes in UTF-8 */
		if (c == 0xc2 && next >= 0x80 && next <= 0x9f) {
			strbuf_printf(&b, "\\x%02x", next);
			s++;
		} else if (c < 0x20 || c == 0x7f) {
			strbuf_printf(&b, "\\x%02x", c);
		} else {
			strbuf_add(&b, s, 1);
		}
	}
	return b.s;
}

const char *errno_name(int err)
{
	static char buf[16];
	const char *s = strerrorname_np(err);

	if (s && *s >= 'A')
		return s;
	snprintf(buf, sizeof(buf), "E%d", err);
	return buf;
}
