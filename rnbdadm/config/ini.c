// SPDX-License-Identifier: GPL-2.0
/*
 * Configuration as text: "[session NAME]", "key = value", '#' and ';' begin a comment at the
 * start of a line or after white space. A value or name in double quotes keeps all that; in
 * them \" \\ \n \t and \xNN stand for one byte.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "config/sections.h"

struct reader {
	struct conf *c;
	struct conf_place at;
	ssize_t section;		/* of c->v; -1 before the first, or after a bad head */
	bool bad_head;
};

static bool is_space(char ch)
{
	return ch == ' ' || ch == '\t';
}

static const char *skip_space(const char *p)
{
	while (is_space(*p))
		p++;
	return p;
}

static int hex(char ch)
{
	if (ch >= '0' && ch <= '9')
		return ch - '0';
	if (ch >= 'a' && ch <= 'f')
		return ch - 'a' + 10;
	return ch >= 'A' && ch <= 'F' ? ch - 'A' + 10 : -1;
}

/* What comes after a backslash; the byte, or -1. */
static int unescape(const char **p)
{
	const char *s = (*p)++;
	int hi, lo;

	switch (*s) {
	case '"':
	case '\\':
		return *s;
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'x':
		hi = hex(s[1]);
		lo = hi < 0 ? -1 : hex(s[2]);
		if (lo < 0 || !(hi | lo))
			return -1;
		*p = s + 3;
		return hi << 4 | lo;
	default:
		return -1;
	}
}

/*
 * A quoted word, or everything up to one of @ends or a comment, without the space around it.
 * @p is behind it then. To be freed; NULL with the problem noted.
 */
static char *take_text(struct reader *r, const char *line, const char **p, char end)
{
	const char *s = skip_space(*p), *start = s, *last;
	struct strbuf b = { 0 };

	r->at.col = (unsigned int)(s - line) + 1;
	strbuf_puts(&b, "");
	if (*s != '"') {
		for (last = s; *s && *s != end; s++) {
			if ((*s == '#' || *s == ';') && (s == *p || is_space(s[-1]))) {
				s += strlen(s);
				break;
			}
			if (!is_space(*s))
				last = s + 1;
		}
		strbuf_add(&b, start, (size_t)(last - start));
		*p = s;
		return b.s;
	}
	for (s++; *s && *s != '"';) {
		unsigned int col = (unsigned int)(s - line) + 1;
		int ch = (unsigned char)*s++;
		char byte;

		if (ch == '\\')
			ch = unescape(&s);
		if (ch < 0) {
			r->at.col = col;
			conf_problem(r->c, &r->at, "after a backslash come \", \\, n, t or xNN");
			free(b.s);
			return NULL;
		}
		byte = (char)ch;
		strbuf_add(&b, &byte, 1);
	}
	if (!*s) {
		conf_problem(r->c, &r->at, "the closing quote is missing");
		free(b.s);
		return NULL;
	}
	*p = s + 1;
	return b.s;
}

static bool at_end(const char *p)
{
	const char *s = skip_space(p);

	return !*s || ((*s == '#' || *s == ';') && s > p);
}

static void read_head(struct reader *r, const char *line, const char *p)
{
	const char *kind = skip_space(p + 1);
	size_t len = strcspn(kind, " \t]");
	int k = 0;
	char *name;

	r->section = -1;
	r->bad_head = true;
	r->at.col = (unsigned int)(kind - line) + 1;
	while (k < CONF_KINDS && (strlen(conf_kind_name(k)) != len ||
				  strncmp(conf_kind_name(k), kind, len)))
		k++;
	if (k == CONF_KINDS) {
		conf_problem(r->c, &r->at, "a section is [defaults], or [session], [device], [peer] or "
			     "[export] with a NAME");
		return;
	}
	p = kind + len;
	name = take_text(r, line, &p, ']');
	if (!name)
		return;
	p = skip_space(p);
	if (*p != ']' || !at_end(p + 1)) {
		r->at.col = (unsigned int)(p - line) + 1;
		conf_problem(r->c, &r->at, *p == ']' ? "there is more behind the ']'" :
			     "the ']' is missing");
	} else {
		struct conf_section *s = conf_section(r->c, k, name, &r->at);

		r->section = s - r->c->v;
		r->bad_head = false;
	}
	free(name);
}

static void read_value(struct reader *r, const char *line, const char *p)
{
	const char *eq = strchr(p, '=');
	char *key, *text;
	size_t len;

	r->at.key_col = r->at.col;
	if (!eq) {
		conf_problem(r->c, &r->at, "neither '[section]' nor 'key = value'");
		return;
	}
	for (len = (size_t)(eq - p); len && is_space(p[len - 1]); len--)
		;
	key = xstrndup(p, len);
	p = eq + 1;
	if (r->section < 0 && !r->bad_head)
		conf_problem(r->c, &r->at, "a key needs a section above it");
	text = take_text(r, line, &p, '\0');
	if (text && !at_end(p)) {
		r->at.col = (unsigned int)(p - line) + 1;
		conf_problem(r->c, &r->at, "there is more behind the quote");
	} else if (text && r->section >= 0) {
		conf_set(r->c, &r->c->v[r->section], key, text, &r->at);
	}
	free(text);
	free(key);
}

static void read_line(struct reader *r, const char *line)
{
	const char *p = skip_space(line);

	r->at.col = (unsigned int)(p - line) + 1;
	if (!*p || *p == '#' || *p == ';')
		return;
	if (*p == '[')
		read_head(r, line, p);
	else
		read_value(r, line, p);
}

void conf_ini_read(struct conf *c, const char *file, const char *text, size_t len)
{
	struct reader r = { .c = c, .section = -1, .at.file = conf_file(c, file) };
	const char *end = text + len;

	while (text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((nl ? nl : end) - text);
		char *line;

		r.at.line++;
		if (memchr(text, '\0', n)) {
			r.at.col = 1;
			conf_problem(c, &r.at, "a byte of zero");
		} else {
			line = xstrndup(text, n && text[n - 1] == '\r' ? n - 1 : n);
			read_line(&r, line);
			free(line);
		}
		text += n + 1;
	}
}

/* What a terminal would not show; those of C1 are two bytes in UTF-8. */
static bool is_control(const char *p, const char *start)
{
	const unsigned char *u = (const unsigned char *)p;

	return iscntrl(*u) || (u[0] == 0xc2 && u[1] >= 0x80 && u[1] <= 0x9f) ||
	       (p > start && u[-1] == 0xc2 && u[0] >= 0x80 && u[0] <= 0x9f);
}

/* In quotes where it would not come back as it is. */
static void put_text(struct strbuf *b, const char *s, bool name)
{
	size_t n = strlen(s);
	bool quote = *s == '"' || (n && (is_space(*s) || is_space(s[n - 1])));

	for (const char *p = s; *p; p++)
		quote = quote || is_control(p, s) || *p == '#' || *p == ';' ||
			(name && *p == ']');
	if (!quote) {
		strbuf_puts(b, s);
		return;
	}
	strbuf_puts(b, "\"");
	for (const char *p = s; *p; p++) {
		if (*p == '"' || *p == '\\')
			strbuf_printf(b, "\\%c", *p);
		else if (is_control(p, s))
			strbuf_printf(b, "\\x%02x", (unsigned char)*p);
		else
			strbuf_add(b, p, 1);
	}
	strbuf_puts(b, "\"");
}

static void put_source(struct strbuf *b, const struct conf_place *at, bool sources)
{
	char *where = sources ? conf_place_text(at) : NULL;

	if (where)
		strbuf_printf(b, "  # %s", where);
	strbuf_puts(b, "\n");
	free(where);
}

static void put_section(const struct conf_section *s, struct strbuf *b, bool sources)
{
	const struct conf_value *v;

	strbuf_printf(b, "[%s%s", conf_kind_name(s->kind), *s->name ? " " : "");
	put_text(b, s->name, true);
	strbuf_puts(b, "]");
	put_source(b, &s->at, sources);
	for (size_t i = 0; i < s->npaths; i++) {
		strbuf_printf(b, "path = %s", s->paths[i].text);
		if (s->paths[i].pair.dst.port)
			strbuf_printf(b, " dest-port=%u", s->paths[i].pair.dst.port);
		put_source(b, &s->paths[i].at, sources);
	}
	for (int k = 0; k < CK_N; k++) {
		for (size_t n = 0; (v = conf_nth(s, k, n)); n++) {
			strbuf_printf(b, "%s =%s", conf_key_name(k), *v->text ? " " : "");
			put_text(b, v->text, false);
			put_source(b, &v->at, sources);
		}
	}
}

void conf_ini_write(const struct conf *c, struct strbuf *b, bool sources)
{
	for (size_t i = 0; i < c->n; i++) {
		if (i)
			strbuf_puts(b, "\n");
		put_section(&c->v[i], b, sources);
	}
}
