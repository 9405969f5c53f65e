/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that does not fail, string lists and small text helpers. */
#ifndef RNBDADM_BASE_TEXT_H
#define RNBDADM_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* These end the program with exit code 1 when there is no memory. */
void xabort_no_memory(void) __attribute__((noreturn));
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
/* Room for one more than @n elements of @size bytes; called for each, it allocates in powers of two. */
void *xgrow(void *v, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap)
	__attribute__((format(printf, 1, 0)));

/* A list of strings that owns them. */
struct strlist {
	char **v;
	size_t n;
};

void strlist_add(struct strlist *l, const char *s);
void strlist_addf(struct strlist *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
bool strlist_has(const struct strlist *l, const char *s);
void strlist_sort(struct strlist *l);
char *strlist_join(const struct strlist *l, const char *sep);
void strlist_free(struct strlist *l);

/* A text that grows. */
struct strbuf {
	char *s;
	size_t len, cap;
};

void strbuf_add(struct strbuf *b, const char *s, size_t n);
void strbuf_puts(struct strbuf *b, const char *s);
void strbuf_printf(struct strbuf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* CLOCK_MONOTONIC */
int64_t now_ns(void);
int64_t now_ms(void);
void sleep_ms(long ms);

/* Natural order: rnbd2 before rnbd10; total, so equal means identical. */
int natural_cmp(const char *a, const char *b);

/* Damerau-Levenshtein distance (optimal string alignment), capped. */
unsigned int edit_distance(const char *a, const char *b);

/*
 * "did you mean a, b?" out of the candidates at most 2 edits away or of
 * which @word is a prefix; at most 3. NULL if there is none. Caller frees.
 */
char *suggest(const char *word, const struct strlist *candidates);

/* Length of the valid UTF-8 sequence at @s, 0 if there is none. */
size_t utf8_len(const unsigned char *s);
bool utf8_valid(const char *s);

/* @s as a word for a shell, without control characters. Caller frees. */
char *shell_quote(const char *s);

/* Whole number without sign, decimal. */
bool parse_uint(const char *s, uint64_t *v);

/* @s with control characters as \xNN, for messages. Caller frees. */
char *printable(const char *s);

/* "ENOENT", or "E123" for a number without a name, in a static buffer. */
const char *errno_name(int err);

/* Reads a small file without its trailing white space; NULL if it cannot. */
char *read_line_file(const char *path);

#endif
