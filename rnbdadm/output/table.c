// SPDX-License-Identifier: GPL-2.0
/* Text tables, blocks and CSV out of JSON objects. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "output/output.h"

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

const char *list_name(const json_t *e)
{
	const json_t *name = json_is_object(e) ? json_object_get(e, "name") : e;

	return json_string_value(name ? name : json_object_get(e, "session"));
}

/* In CSV a blank parts the elements: those of an element are octal, as in /proc/self/mountinfo. */
static void add_element(struct strlist *l, const char *name, bool csv)
{
	struct strbuf b = { 0 };

	for (const char *p = name; *p; p++)
		if (csv && (*p == ' ' || *p == '\\'))
			strbuf_printf(&b, "\\%03o", *p);
		else
			strbuf_printf(&b, "%c", *p);
	strlist_add(l, b.s ? b.s : "");
	free(b.s);
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
			add_element(&l, name, csv);
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
	struct strlist *children;
	bool *shown, *cut;		/* @cut: texts that may be shortened */
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
	t->cut = xcalloc(t->ncols, sizeof(*t->cut));
	for (c = 0; c < t->ncols; c++) {
		t->shown[c] = !t->cols[c].sparse;
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
			t->shown[c] = t->shown[c] || strcmp(s, "-");
			if (w > t->width[c])
				t->width[c] = w;
		}
		if (v->children && t->o->verbose)
			v->children(obj, &t->children[r]);
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

/* Shortens the widest texts. Numbers and columns stay as they are, so a narrow terminal breaks the lines. */
static void fit(struct table *t)
{
	unsigned int room = out_room(t->o), w;

	if (!room)
		return;
	for (size_t c = 0; c < t->ncols; c++)
		t->cut[c] = t->shown[c] && !t->cols[c].right && !t->cols[c].whole;
	w = total_width(t);
	if (w <= room)
		return;
	fit_columns(t->width, t->cut, t->ncols, w - room, FIT_LEAST);
	for (size_t c = 0; c < t->ncols; c++)
		for (size_t r = 0; t->cut[c] && r < t->nrows; r++)
			text_cut(&t->cells[r * t->ncols + c], t->width[c], t->o->utf8);
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

static void print_title(const struct table *t, size_t c, bool last)
{
	char *s = xstrdup(t->cols[c].title);

	text_cut(&s, t->width[c], t->o->utf8);
	print_cell(t, c, s, false, last);
	free(s);
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
				print_title(t, c, c == last);
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
	free(t.children);
	free(t.cells);
	free(t.width);
	free(t.shown);
	free(t.cut);
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
			char *shown = o->tty ? printable(s) : NULL;

			if (i)
				putchar(',');
			csv_cell(shown ? shown : s);
			free(shown);
			free(s);
		}
		putchar('\n');
	}
}

void block_print(const struct view *v, const json_t *obj, const struct strlist *fields,
		 const struct out_opts *o)
{
	unsigned int w = 0, room = out_room(o);
	size_t i;

	for (i = 0; i < fields->n; i++)
		if (strlen(fields->v[i]) > w)
			w = (unsigned int)strlen(fields->v[i]);
	for (i = 0; i < fields->n; i++) {
		const struct field *f = field_find(v, fields->v[i]);
		const json_t *val = field_get(obj, f);
		char *s = field_text(f, val, o);
		const char *on = o->color && !strcmp(f->name, "state") ? state_color(s) : NULL;

		if (room && (json_is_string(val) || json_is_array(val)))
			text_cut(&s, room > w + GUTTER + FIT_LEAST ? room - w - GUTTER : FIT_LEAST,
				 o->utf8);
		printf("%-*s  %s%s%s\n", (int)w, f->name, on ? on : "", s, on ? "\033[0m" : "");
		free(s);
	}
}
