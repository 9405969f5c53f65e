// SPDX-License-Identifier: GPL-2.0
/*
 * The one place where JSON is made. jansson prints U64_MAX as -1 and returns NULL for
 * a string that is no UTF-8, so numbers and strings from outside pass through here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "output/output.h"

json_t *js_u64(uint64_t v)
{
	return v > INT64_MAX ? json_null() : json_integer((json_int_t)v);
}

json_t *js_s64(int64_t v)
{
	return v == INT64_MIN ? json_null() : json_integer(v);
}

json_t *js_str(const char *s)
{
	struct strbuf b = { 0 };
	json_t *v = json_string(s);

	if (v)
		return v;
	for (const unsigned char *p = (const unsigned char *)s; *p;) {
		size_t n = utf8_len(p);

		if (n)
			strbuf_add(&b, (const char *)p, n);
		else
			strbuf_puts(&b, "\xef\xbf\xbd");
		p += n ? n : 1;
	}
	v = json_string(b.s ? b.s : "");
	free(b.s);
	return v;
}

json_t *js_str_or_null(const char *s)
{
	return s && *s ? js_str(s) : json_null();
}

void js_set(json_t *obj, const char *key, json_t *v)
{
	/* of a text that is no UTF-8 there is none */
	if (json_object_set_new(obj, key, v ? v : json_null())) {
		fputs("rnbdadm: out of memory\n", stderr);
		abort();
	}
}

static json_t *js_hex(const char *s)
{
	struct strbuf b = { 0 };
	json_t *v;

	for (; *s; s++)
		strbuf_printf(&b, "%02x", (unsigned char)*s);
	v = json_string(b.s ? b.s : "");
	free(b.s);
	return v;
}

bool words_are_utf8(const struct strlist *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (!utf8_valid(l->v[i]))
			return false;
	return true;
}

json_t *js_words_hex(const struct strlist *l)
{
	struct strbuf b = { 0 };
	json_t *v;

	for (size_t i = 0; i < l->n; i++) {
		json_t *word = js_hex(l->v[i]);

		strbuf_printf(&b, "%s%s", i ? "00" : "", json_string_value(word));
		json_decref(word);
	}
	v = json_string(b.s ? b.s : "");
	free(b.s);
	return v;
}

void js_set_str(json_t *obj, const char *key, const char *s)
{
	char *hex;

	js_set(obj, key, js_str(s));
	if (utf8_valid(s))
		return;
	hex = xasprintf("%s_hex", key);
	js_set(obj, hex, js_hex(s));
	free(hex);
}

json_t *js_list(const struct strlist *l)
{
	json_t *a = json_array();

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(a, js_str(l->v[i]));
	return a;
}

json_t *js_lines(const char *text)
{
	json_t *a = json_array();

	while (*text) {
		size_t n = strcspn(text, "\n");
		char *line = xstrndup(text, n);

		json_array_append_new(a, js_str(line));
		free(line);
		text += n + (text[n] == '\n');
	}
	return a;
}

char *json_text(const json_t *doc, size_t flags)
{
	char *raw = json_dumps(doc, flags);
	struct strbuf b = { 0 };

	strbuf_puts(&b, "");
	for (const char *s = raw; s && *s;) {
		const unsigned char *c;
		size_t n = strcspn(s, "\x7f\xc2");

		strbuf_add(&b, s, n);
		c = (const unsigned char *)s + n;
		if (*c == 0x7f || (*c == 0xc2 && c[1] < 0xa0)) {
			strbuf_printf(&b, "\\u%04x", *c == 0x7f ? *c : c[1]);
			n += *c == 0x7f ? 1 : 2;
		} else if (*c) {
			strbuf_add(&b, s + n++, 1);
		}
		s += n;
	}
	free(raw);
	return b.s;
}

char *time_text(uint64_t ns)
{
	time_t sec = (time_t)(ns / 1000000000ULL);
	struct tm tm;
	char buf[32];

	if (!gmtime_r(&sec, &tm) || !strftime(buf, sizeof(buf), "%Y-%m-%dT%H:%M:%S", &tm))
		return xstrdup("-");
	return xasprintf("%s.%06uZ", buf, (unsigned int)(ns % 1000000000ULL / 1000));
}

json_t *js_time(uint64_t ns)
{
	char *s;
	json_t *v;

	/* beyond year 9999 there is no RFC 3339 */
	if (!ns || ns > 253402300799ULL * 1000000000ULL || ns > INT64_MAX)
		return json_null();
	s = time_text(ns);
	v = json_string(s);
	free(s);
	return v;
}
