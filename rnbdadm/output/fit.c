// SPDX-License-Identifier: GPL-2.0
/* What a terminal has room for. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "output/output.h"

/* Decodes one code point; a bad byte stands for itself. */
static size_t decode(const char *s, unsigned int *cp)
{
	const unsigned char *p = (const unsigned char *)s;

	if (p[0] >= 0xc2 && p[0] < 0xe0 && (p[1] & 0xc0) == 0x80) {
		*cp = (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
		return 2;
	}
	if ((p[0] & 0xf0) == 0xe0 && (p[1] & 0xc0) == 0x80 && (p[2] & 0xc0) == 0x80) {
		*cp = (p[0] & 0xfu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
		return 3;
	}
	if ((p[0] & 0xf8) == 0xf0 && (p[1] & 0xc0) == 0x80 && (p[2] & 0xc0) == 0x80 &&
	    (p[3] & 0xc0) == 0x80) {
		*cp = (p[0] & 7u) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 |
		      (p[3] & 0x3fu);
		return 4;
	}
	*cp = p[0];
	return 1;
}

static unsigned int cp_width(unsigned int cp)
{
	int w = cp < 0x80 ? 1 : wcwidth((wchar_t)cp);

	/* a C locale knows nothing beyond ASCII */
	return w < 0 ? 1 : (unsigned int)w;
}

unsigned int text_width(const char *s)
{
	unsigned int w = 0, cp;

	while (*s) {
		s += decode(s, &cp);
		w += cp_width(cp);
	}
	return w;
}

void text_cut(char **s, unsigned int width, bool utf8)
{
	const char *end = *s;
	unsigned int w = 0, cp;
	char *cut;

	if (text_width(*s) <= width)
		return;
	while (*end) {
		size_t n = decode(end, &cp);

		if (w + cp_width(cp) > width - 1)
			break;
		w += cp_width(cp);
		end += n;
	}
	cut = xasprintf("%.*s%s", (int)(end - *s), *s, utf8 ? "\xe2\x80\xa6" : "~");
	free(*s);
	*s = cut;
}

unsigned int out_room(const struct out_opts *o)
{
	return o->wide ? 0 : o->width;
}

unsigned int fit_columns(unsigned int *width, const bool *cut, size_t n, unsigned int over, unsigned int least)
{
	for (; over; over--) {
		size_t best = n;

		for (size_t c = 0; c < n; c++)
			if (cut[c] && width[c] > least && (best == n || width[c] > width[best]))
				best = c;
		if (best == n)
			break;
		width[best]--;
	}
	return over;
}

void out_items(const char *line, unsigned int indent, unsigned int room)
{
	unsigned int at = 0;

	while (*line) {
		const char *end = strstr(line, "  ");
		size_t len = end ? (size_t)(end - line) : strlen(line);
		char *item = xstrndup(line, len);
		unsigned int w = text_width(item);
		bool more = at && (!room || at + 2 + w <= room);

		if (at && !more)
			putchar('\n');
		at = more ? at + 2 : at ? indent + 2 : indent;
		printf("%*s%s", more ? 2 : (int)at, "", item);
		at += w;
		line += len + (end ? 2 : 0);
		free(item);
	}
	putchar('\n');
}
