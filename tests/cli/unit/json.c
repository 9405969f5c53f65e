// SPDX-License-Identifier: GPL-2.0
/* The JSON wrappers, widths of text, exit codes of errno values, sums and differences of counters. */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>

#include "app/report.h"
#include "output/output.h"
#include "tap.h"

static void text_is(json_t *v, const char *want, const char *what)
{
	char *s = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);

	ok(s && !strcmp(s, want), "%s: %s", what, s ? s : "NULL");
	free(s);
	json_decref(v);
}

static void strings(void)
{
	static const struct { const char *in, *out; } cases[] = {
		{ "", "\"\"" }, { "plain", "\"plain\"" }, { "q\"b\\", "\"q\\\"b\\\\\"" },
		{ "n\nt\tx\x01", "\"n\\nt\\tx\\u0001\"" },
		{ "\xc3\xa9", "\"\xc3\xa9\"" }, { "\xe5\xb9\x85", "\"\xe5\xb9\x85\"" },
		{ "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"" },
		/* each bad byte becomes one U+FFFD */
		{ "bad\xff", "\"bad\xef\xbf\xbd\"" }, { "\xc3", "\"\xef\xbf\xbd\"" },
		{ "\xc3(", "\"\xef\xbf\xbd(\"" }, { "\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xe0\x80\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xe5\xb9", "\"\xef\xbf\xbd\xef\xbf\xbd\"" }, { "\x80", "\"\xef\xbf\xbd\"" },
	};
	json_t *o;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		text_is(js_str(cases[i].in), cases[i].out, "js_str");
	for (int c = 1; c < 256; c++) {
		char s[2] = { (char)c, '\0' };
		json_t *v = js_str(s);

		if (!v || !json_is_string(v))
			ok(false, "js_str of byte %d", c);
		json_decref(v);
	}
	o = json_object();
	js_set_str(o, "name", "a\xff");
	js_set_str(o, "peer", "fine");
	text_is(o, "{\"name\":\"a\xef\xbf\xbd\",\"name_hex\":\"61ff\",\"peer\":\"fine\"}", "the bytes are kept");
	o = json_object();
	js_set(o, "name", json_string("a\xff"));
	text_is(o, "{\"name\":null}", "what could not be made is null");
	text_is(js_str_or_null(""), "null", "empty or null");
	text_is(js_str_or_null(NULL), "null", "none or null");
}

static void numbers(void)
{
	text_is(js_u64(0), "0", "js_u64");
	text_is(js_u64((1ULL << 53) + 1), "9007199254740993", "js_u64 of 2^53+1");
	text_is(js_u64(INT64_MAX), "9223372036854775807", "js_u64 of 2^63-1");
	text_is(js_u64(1ULL << 63), "null", "js_u64 of 2^63");
	text_is(js_u64(UINT64_MAX), "null", "js_u64 of 2^64-1");
	text_is(js_s64(-1), "-1", "js_s64");
	text_is(js_s64(INT64_MIN), "null", "js_s64 of the unknown");
	text_is(js_time(1795248002123456789ULL), "\"2026-11-21T08:00:02.123456Z\"", "js_time");
	text_is(js_time(0), "null", "js_time of nothing");
	text_is(js_time(UINT64_MAX), "null", "js_time of the unknown");
	text_is(js_lines("a\n\nb"), "[\"a\",\"\",\"b\"]", "js_lines");
}

static void widths(void)
{
	ok(text_width("") == 0 && text_width("abc") == 3, "width of ASCII");
	ok(text_width("\xc3\xa9t\xc3\xa9") == 3, "width of accents");
	ok(text_width("\xff\xfe") == 2, "bad bytes count");
	if (!setlocale(LC_CTYPE, "C.UTF-8")) {
		ok(true, "wide characters # SKIP no C.UTF-8");
		return;
	}
	ok(text_width("\xe5\xb9\x85\xe5\xae\xbd") == 4, "wide characters take two columns");
	ok(text_width("e\xcc\x81") == 1, "a combining character takes none");
	ok(text_width("\xe2\x94\x9c\xe2\x94\x80") == 2, "glyphs of the tree");
}

static void codes(void)
{
	ok(errno_exit_code(ENOENT) == 4 && errno_exit_code(ENODEV) == 4, "not_found");
	ok(errno_exit_code(EPERM) == 5 && errno_exit_code(EACCES) == 5, "permission");
	ok(errno_exit_code(EEXIST) == 6 && errno_exit_code(EALREADY) == 6 && errno_exit_code(EISCONN) == 6, "conflict");
	ok(errno_exit_code(EBUSY) == 7, "busy");
	ok(errno_exit_code(EOPNOTSUPP) == 9, "unsupported");
	ok(errno_exit_code(ETIMEDOUT) == 10, "timeout");
	ok(errno_exit_code(EIO) == 1 && errno_exit_code(12345) == 1, "failed");
	ok(!strcmp(errno_name(ENOENT), "ENOENT") && !strcmp(errno_name(12345), "E12345"), "names of errno");
}

static void texts(void)
{
	static const struct { const char *in, *out; } cases[] = {
		{ "plain", "plain" }, { "a\x1b[m", "a\\x1b[m" }, { "\x7f", "\\x7f" }, { "\xc2\x9b", "\\x9b" },
		{ "\xc3\xa9", "\xc3\xa9" }, { "\n", "\\x0a" }, { "\xc2", "\xc2" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *s = printable(cases[i].in);

		ok(!strcmp(s, cases[i].out), "printable %s", s);
		free(s);
	}
}

static void counting(void)
{
	struct stats a, b;
	struct counters d;

	stats_init(&a);
	stats_init(&b);
	a.c.read_ios = 10;
	b.c.read_ios = 4;
	a.c.inflight = 3;
	b.c.inflight = 9;
	ok(!counters_delta(&a.c, &b.c, &d) && d.read_ios == 6 && d.inflight == 3, "a difference; what is in flight is now");
	ok(d.write_ios == M_UNKNOWN, "the unknown stays unknown");
	ok(counters_delta(&b.c, &a.c, &d) && d.read_ios == M_UNKNOWN, "backwards is a reset, not a large number");
	counters_add(&a.c, &b.c);
	ok(a.c.read_ios == 14 && a.c.inflight == 12 && a.c.write_ios == M_UNKNOWN, "a sum");
}

int main(void)
{
	strings();
	numbers();
	widths();
	codes();
	texts();
	counting();
	return tap_done();
}
