// SPDX-License-Identifier: GPL-2.0
/* Text tables, blocks and CSV out of JSON objects. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "ctx.h"
#include "size.h"

#define GUTTER	2

const json_t *field_get(const json_t *obj, const struct field *f)
{
	if (f->group)
		obj = json_object_get(obj, f->group);
	return json_object_get(obj, f->name);
}

const struct field *field_find(const struct view *v, const char *name)
{
	for (const struct field *f = v->fields; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

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

/* Cuts @s to @width columns, the last one an ellipsis. */
static void shorten(char **s, unsigned int width, bool utf8)
{
	const char *end = *s;
	unsigned int w = 0, cp;
	char *cut;

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

const char *list_name(const json_t *e)
{
	const json_t *name = json_is_object(e) ? json_object_get(e, "name") : e;

	return json_string_value(name ? name : json_object_get(e, "session"));
}

static char *list_text(const json_t *list, const char *sep, bool csv)
{
	struct strlist l = { 0 };
	const json_t *e;
	char *s;
	size_t i;

	json_array_foreach(list, i, e) {
		const char *name = list_name(e);

		if (name)
			strlist_add(&l, name);
	}
	s = l.n || csv ? strlist_join(&l, sep) : xstrdup("-");
	strlist_free(&l);
	return s;
}

char *field_text(const struct field *f, const json_t *v, const struct out_opts *o)
{
	char *raw, *s;

	if (!v || json_is_null(v))
		return xstrdup("-");
	if (json_is_boolean(v))
		return xstrdup(json_is_true(v) ? "yes" : "no");
	if (json_is_real(v))
		return xasprintf("%.1f", json_real_value(v));
	if (json_is_integer(v)) {
		json_int_t n = json_integer_value(v);

		if (f->type == F_BYTES && n >= 0)
			return size_text((uint64_t)n, o->unit);
		if (f->type == F_NS && n >= 0)
			return ns_text((uint64_t)n);
		return xasprintf("%lld", (long long)n);
	}
	raw = json_is_array(v) ? list_text(v, ",", false) :
	      xstrdup(json_is_string(v) ? json_string_value(v) : "-");
	s = printable(raw);
	free(raw);
	return s;
}

char *field_csv(const struct field *f, const json_t *v, const struct out_opts *o)
{
	if (!v || json_is_null(v))
		return xstrdup("");
	if (json_is_boolean(v))
		return xstrdup(json_is_true(v) ? "true" : "false");
	if (json_is_integer(v)) {
		if (f->type == F_BYTES && o->unit && json_integer_value(v) >= 0)
			return size_text((uint64_t)json_integer_value(v), o->unit);
		return xasprintf("%lld", (long long)json_integer_value(v));
	}
	if (json_is_real(v))
		return xasprintf("%.1f", json_real_value(v));
	if (json_is_array(v))
		return list_text(v, " ", true);
	return xstrdup(json_is_string(v) ? json_string_value(v) : "");
}

const char *state_color(const char *s)
{
	static const struct { const char *word, *color; } colors[] = {
		{ "connected", "\033[32m" }, { "mapped", "\033[32m" },
		{ "degraded", "\033[33m" }, { "reconnecting", "\033[33m" },
		{ "connecting", "\033[33m" }, { "init", "\033[33m" },
		{ "disconnected", "\033[31m" }, { "closing", "\033[31m" },
		{ "unmapped", "\033[31m" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(colors); i++)
		if (!strcmp(colors[i].word, s))
			return colors[i].color;
	return NULL;
}

struct table {
	struct column *cols;
	size_t ncols, nrows;
	char **cells;			/* row by row */
	unsigned int *width;
	bool *shown;
	struct strlist *children;
	const struct out_opts *o;
};

static bool type_is_right(enum field_type t)
{
	return t == F_COUNT || t == F_BYTES || t == F_NS || t == F_REAL;
}

static char *upper(const char *s)
{
	char *u = xstrdup(s);

	for (char *p = u; *p; p++) {
		if (*p >= 'a' && *p <= 'z')
			*p -= 'a' - 'A';
		else if (*p == '_')
			*p = ' ';
	}
	return u;
}

/* The columns of the view, or those that @fields names. */
static void choose_columns(struct table *t, const struct view *v, const json_t *list,
			   const struct strlist *fields, struct strlist *titles)
{
	const struct column *all = v->pick ? v->pick(list) : v->columns, *c;
	size_t n = 0;

	if (!fields) {
		for (c = all; c->title; c++)
			n++;
		t->cols = xcalloc(n, sizeof(*t->cols));
		memcpy(t->cols, all, n * sizeof(*t->cols));
		t->ncols = n;
		return;
	}
	t->cols = xcalloc(fields->n, sizeof(*t->cols));
	for (size_t i = 0; i < fields->n; i++) {
		const struct field *f = field_find(v, fields->v[i]);
		char *title;

		/* "+a" and "-b" keep the columns as they were */
		for (c = all; c->title && strcmp(c->field, f->name); c++)
			;
		if (c->title && strpbrk(t->o->fields, "+-") == t->o->fields) {
			t->cols[t->ncols++] = *c;
			continue;
		}
		title = upper(f->name);
		strlist_add(titles, title);
		free(title);
		t->cols[t->ncols++] = (struct column){
			.title = titles->v[titles->n - 1], .field = f->name,
			.right = type_is_right(f->type),
		};
	}
}

static void fill(struct table *t, const struct view *v, const json_t *list)
{
	const json_t *obj;
	size_t r, c;

	t->nrows = json_array_size(list);
	t->cells = xcalloc(t->nrows * t->ncols, sizeof(*t->cells));
	t->children = xcalloc(t->nrows, sizeof(*t->children));
	t->width = xcalloc(t->ncols, sizeof(*t->width));
	t->shown = xcalloc(t->ncols, sizeof(*t->shown));
	for (c = 0; c < t->ncols; c++) {
		t->shown[c] = true;
		t->width[c] = t->o->no_headers ? 0 : text_width(t->cols[c].title);
	}
	json_array_foreach(list, r, obj) {
		for (c = 0; c < t->ncols; c++) {
			const struct column *col = &t->cols[c];
			const struct field *f = field_find(v, col->field);
			char *s = col->text ? col->text(obj, t->o) :
				  field_text(f, field_get(obj, f), t->o);
			unsigned int w = text_width(s);

			t->cells[r * t->ncols + c] = s;
			if (w > t->width[c])
				t->width[c] = w;
		}
		if (v->children && !t->o->no_tree)
			v->children(obj, t->o, &t->children[r]);
	}
}

static unsigned int total_width(const struct table *t)
{
	unsigned int w = 0;

	for (size_t c = 0; c < t->ncols; c++)
		if (t->shown[c])
			w += (w ? GUTTER : 0) + t->width[c];
	return w;
}

/* A column goes with its group. */
static void drop(struct table *t, size_t col)
{
	const char *group = t->cols[col].group;

	for (size_t c = 0; c < t->ncols; c++)
		if (c == col || (group && t->cols[c].group == group))
			t->shown[c] = false;
}

/* Makes the table fit: drops columns, then shortens the widest text. */
static void fit(struct table *t)
{
	unsigned int w;

	if (!t->o->width || t->o->wide)
		return;
	while ((w = total_width(t)) > t->o->width) {
		size_t best = t->ncols;

		for (size_t c = 0; c < t->ncols; c++)
			if (t->shown[c] && t->cols[c].drop &&
			    (best == t->ncols || t->cols[c].drop > t->cols[best].drop))
				best = c;
		if (best == t->ncols)
			break;
		drop(t, best);
	}
	while ((w = total_width(t)) > t->o->width) {
		unsigned int over = w - t->o->width, min = 8;
		size_t best = t->ncols;

		for (size_t c = 0; c < t->ncols; c++)
			if (t->shown[c] && !t->cols[c].right && t->width[c] > min &&
			    (best == t->ncols || t->width[c] > t->width[best]))
				best = c;
		if (best == t->ncols)
			return;
		t->width[best] = t->width[best] - min > over ? t->width[best] - over : min;
		for (size_t r = 0; r < t->nrows; r++) {
			char **s = &t->cells[r * t->ncols + best];

			if (text_width(*s) > t->width[best])
				shorten(s, t->width[best], t->o->utf8);
		}
	}
}

static void pad(unsigned int n)
{
	while (n--)
		putchar(' ');
}

static void print_cell(const struct table *t, size_t c, const char *s, bool color, bool last)
{
	unsigned int w = text_width(s), fillw = w < t->width[c] ? t->width[c] - w : 0;
	const char *on = color ? state_color(s) : NULL;

	if (t->cols[c].right)
		pad(fillw);
	if (on)
		fputs(on, stdout);
	fputs(s, stdout);
	if (on)
		fputs("\033[0m", stdout);
	if (!t->cols[c].right && !last)
		pad(fillw);
	if (!last)
		pad(GUTTER);
}

static size_t last_shown(const struct table *t)
{
	size_t last = 0;

	for (size_t c = 0; c < t->ncols; c++)
		if (t->shown[c])
			last = c;
	return last;
}

/* The line of group names, each in the middle of its columns. */
static void print_groups(const struct table *t)
{
	struct strbuf b = { 0 };
	unsigned int at = 0;
	bool any = false;

	for (size_t c = 0; c < t->ncols;) {
		const char *g = t->cols[c].group;
		unsigned int start = at, len, left;

		do {
			if (t->shown[c])
				at += t->width[c] + GUTTER;
			c++;
		} while (g && c < t->ncols && t->cols[c].group == g);
		if (!g || at == start)
			continue;
		any = true;
		len = (unsigned int)strlen(g);
		left = start + (at - GUTTER - start > len ? (at - GUTTER - start - len) / 2 : 0);
		while (b.len < left)
			strbuf_puts(&b, " ");
		strbuf_puts(&b, g);
	}
	if (any)
		puts(b.s);
	free(b.s);
}

static void print_rows(const struct table *t)
{
	size_t last = last_shown(t);

	if (!t->o->no_headers) {
		print_groups(t);
		for (size_t c = 0; c < t->ncols; c++)
			if (t->shown[c])
				print_cell(t, c, t->cols[c].title, false, c == last);
		putchar('\n');
	}
	for (size_t r = 0; r < t->nrows; r++) {
		for (size_t c = 0; c < t->ncols; c++)
			if (t->shown[c])
				print_cell(t, c, t->cells[r * t->ncols + c],
					   t->o->color && !strcmp(t->cols[c].field, "state"),
					   c == last);
		putchar('\n');
		for (size_t i = 0; i < t->children[r].n; i++)
			puts(t->children[r].v[i]);
	}
}

void table_print(const struct view *v, const json_t *list, const struct strlist *fields,
		 const struct out_opts *o)
{
	struct table t = { .o = o };
	struct strlist titles = { 0 };

	choose_columns(&t, v, list, fields, &titles);
	fill(&t, v, list);
	fit(&t);
	print_rows(&t);
	for (size_t i = 0; i < t.nrows * t.ncols; i++)
		free(t.cells[i]);
	for (size_t r = 0; r < t.nrows; r++)
		strlist_free(&t.children[r]);
	free(t.cells);
	free(t.children);
	free(t.width);
	free(t.shown);
	free(t.cols);
	strlist_free(&titles);
}

static void csv_cell(const char *s)
{
	if (!strpbrk(s, ",\"\n\r") && *s != ' ' && (!*s || s[strlen(s) - 1] != ' ')) {
		fputs(s, stdout);
		return;
	}
	putchar('"');
	for (; *s; s++) {
		if (*s == '"')
			putchar('"');
		putchar(*s);
	}
	putchar('"');
}

void csv_print(const struct view *v, const json_t *list, const struct strlist *fields,
	       const struct out_opts *o)
{
	const json_t *obj;
	size_t i, r;

	if (!o->no_headers) {
		for (i = 0; i < fields->n; i++)
			printf("%s%s", i ? "," : "", fields->v[i]);
		putchar('\n');
	}
	json_array_foreach(list, r, obj) {
		for (i = 0; i < fields->n; i++) {
			const struct field *f = field_find(v, fields->v[i]);
			char *s = field_csv(f, field_get(obj, f), o);

			if (i)
				putchar(',');
			csv_cell(s);
			free(s);
		}
		putchar('\n');
	}
}

void block_print(const struct view *v, const json_t *obj, const struct strlist *fields,
		 const struct out_opts *o)
{
	unsigned int w = 0;
	size_t i;

	for (i = 0; i < fields->n; i++)
		if (strlen(fields->v[i]) > w)
			w = (unsigned int)strlen(fields->v[i]);
	for (i = 0; i < fields->n; i++) {
		const struct field *f = field_find(v, fields->v[i]);
		char *s = field_text(f, field_get(obj, f), o);
		const char *on = o->color && !strcmp(f->name, "state") ? state_color(s) : NULL;

		printf("%-*s  %s%s%s\n", (int)w, f->name, on ? on : "", s, on ? "\033[0m" : "");
		free(s);
	}
}
