// SPDX-License-Identifier: GPL-2.0
/* Texts of columns and lines that are made of several fields. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/to-json.h"

static const char *str(const json_t *obj, const char *key)
{
	return json_string_value(json_object_get(obj, key));
}

char *shown(const json_t *obj, const char *key)
{
	const char *s = str(obj, key);

	return s && *s ? printable(s) : xstrdup("-");
}

char *col_paths(const json_t *obj, const struct out_opts *o)
{
	return xasprintf("%lld/%lld",
			 (long long)json_integer_value(json_object_get(obj, "paths_connected")),
			 (long long)json_integer_value(json_object_get(obj, "paths_configured")));
}

char *col_hca(const json_t *obj, const struct out_opts *o)
{
	const json_t *port = json_object_get(obj, "hca_port");
	char *hca = shown(obj, "hca"), *s;

	if (!strcmp(hca, "-") || !json_is_integer(port))
		return hca;
	s = xasprintf("%s:%lld", hca, (long long)json_integer_value(port));
	free(hca);
	return s;
}

static void add_all(struct strbuf *b, const json_t *list)
{
	const json_t *e;
	size_t i;

	json_array_foreach(list, i, e) {
		char *s = printable(json_string_value(e));

		strbuf_printf(b, "%s%s", b->len ? "," : "", s);
		free(s);
	}
}

char *col_users(const json_t *obj, const struct out_opts *o)
{
	struct strbuf b = { 0 };

	add_all(&b, json_object_get(obj, "mountpoints"));
	add_all(&b, json_object_get(obj, "holders"));
	add_all(&b, json_object_get(obj, "openers"));
	return b.s ? b.s : xstrdup("-");
}

/* 10.0.0.1@10.0.0.2: the prefix says nothing here */
char *col_short_path(const json_t *obj, const struct out_opts *o)
{
	char *s = shown(obj, "name"), *p;

	if (!strncmp(s, "ip:", 3))
		memmove(s, s + 3, strlen(s + 3) + 1);
	p = strstr(s, "@ip:");
	if (p)
		memmove(p + 1, p + 4, strlen(p + 4) + 1);
	return s;
}

char *col_reconnects(const json_t *obj, const struct out_opts *o)
{
	const json_t *c = json_object_get(obj, "counters");
	const json_t *ok = json_object_get(c, "reconnects_ok");
	const json_t *failed = json_object_get(c, "reconnects_failed");
	char a[24] = "-", b[24] = "-";

	if (!json_is_integer(ok) && !json_is_integer(failed))
		return xstrdup("-");
	if (json_is_integer(ok))
		snprintf(a, sizeof(a), "%lld", (long long)json_integer_value(ok));
	if (json_is_integer(failed))
		snprintf(b, sizeof(b), "%lld", (long long)json_integer_value(failed));
	return xasprintf("%s/%s", a, b);
}

static char *counter(const json_t *obj, const char *group, const char *key,
		     const struct out_opts *o)
{
	const json_t *v = json_object_get(json_object_get(obj, group), key);

	if (json_is_integer(v))
		return xasprintf("%lld", (long long)json_integer_value(v));
	if (json_is_real(v))
		return xasprintf("%lld", (long long)(json_real_value(v) + 0.5));
	return xstrdup("-");
}

static char *mib(const json_t *obj, const char *key)
{
	const json_t *v = json_object_get(json_object_get(obj, "rates"), key);

	return json_is_number(v) ? xasprintf("%.1f", json_number_value(v) / 1048576) :
				   xstrdup("-");
}

char *col_read_ios(const json_t *obj, const struct out_opts *o)
{
	return counter(obj, "counters", "read_ios", o);
}

char *col_write_ios(const json_t *obj, const struct out_opts *o)
{
	return counter(obj, "counters", "write_ios", o);
}

char *col_iops_read(const json_t *obj, const struct out_opts *o)
{
	return counter(obj, "rates", "read_ios_per_second", o);
}

char *col_iops_write(const json_t *obj, const struct out_opts *o)
{
	return counter(obj, "rates", "write_ios_per_second", o);
}

char *col_mib_read(const json_t *obj, const struct out_opts *o)
{
	return mib(obj, "read_bytes_per_second");
}

char *col_mib_write(const json_t *obj, const struct out_opts *o)
{
	return mib(obj, "write_bytes_per_second");
}

char *col_listed(const json_t *obj, const struct out_opts *o)
{
	struct strlist l = { 0 };
	char *raw, *text;
	json_t *c;
	size_t i;

	json_array_foreach(json_object_get(obj, "clients"), i, c) {
		const char *name = json_string_value(json_object_get(c, "export"));

		if (name && !strlist_has(&l, name))
			strlist_add(&l, name);
	}
	raw = strlist_join(&l, ", ");
	text = printable(l.n ? raw : "-");
	free(raw);
	strlist_free(&l);
	return text;
}

char *col_clients(const json_t *obj, const struct out_opts *o)
{
	return xasprintf("%zu", json_array_size(json_object_get(obj, "clients")));
}

/* A line of the tree below an object. */
void branch_line(struct strlist *lines, const struct out_opts *o, bool last, const char *text)
{
	const char *branch = "+-";

	if (o->utf8)
		branch = last ? "\xe2\x94\x94\xe2\x94\x80" : "\xe2\x94\x9c\xe2\x94\x80";
	strlist_addf(lines, "%s %s", branch, text);
}

void grid_add(struct grid *g, char *const *cells)
{
	g->cells = xrealloc(g->cells, (g->rows + 1) * GRID_COLS * sizeof(*g->cells));
	for (size_t c = 0; c < GRID_COLS; c++) {
		unsigned int w = cells[c] ? text_width(cells[c]) : 0;

		g->cells[g->rows * GRID_COLS + c] = cells[c];
		if (w > g->width[c])
			g->width[c] = w;
	}
	g->rows++;
}

/* Cells side by side, those of state words in colour; what is empty to the end is left out. */
char *grid_line(const struct grid *g, size_t row, const struct out_opts *o)
{
	char *const *cells = &g->cells[row * GRID_COLS];
	struct strbuf b = { 0 };
	unsigned int gap = 0;

	strbuf_puts(&b, "");
	for (size_t c = 0; c < GRID_COLS; c++) {
		unsigned int w = cells[c] ? text_width(cells[c]) : 0, fill = g->width[c] - w;
		const char *color = o->color && cells[c] ? state_color(cells[c]) : NULL;

		if (!g->width[c])
			continue;
		if (!w) {
			gap += fill + 2;
			continue;
		}
		strbuf_printf(&b, "%*s", (int)(gap + (g->right[c] ? fill : 0)), "");
		strbuf_printf(&b, "%s%s%s", color ? color : "", cells[c], color ? "\033[0m" : "");
		gap = (g->right[c] ? 0 : fill) + 2;
	}
	return b.s;
}

void grid_free(struct grid *g)
{
	for (size_t i = 0; i < g->rows * GRID_COLS; i++)
		free(g->cells[i]);
	free(g->cells);
	memset(g, 0, sizeof(*g));
}

/* The line has @indent columns before it. Texts give way, numbers do not. */
void grid_fit(struct grid *g, unsigned int indent, const struct out_opts *o)
{
	unsigned int room = out_room(o), w = indent;
	bool cut[GRID_COLS];

	for (size_t c = 0; c < GRID_COLS; c++) {
		w += g->width[c] ? g->width[c] + (w > indent ? 2 : 0) : 0;
		cut[c] = !g->right[c] && !g->whole[c];
	}
	if (!room || w <= room)
		return;
	fit_columns(g->width, cut, GRID_COLS, fit_columns(g->width, cut, GRID_COLS, w - room, FIT_LEAST), 3);
	for (size_t i = 0; i < g->rows * GRID_COLS; i++)
		if (g->cells[i])
			text_cut(&g->cells[i], g->width[i % GRID_COLS], o->utf8);
}

static void grid_lines(struct grid *g, const struct out_opts *o, struct strlist *lines)
{
	grid_fit(g, BRANCH_WIDTH, o);
	for (size_t r = 0; r < g->rows; r++) {
		char *line = grid_line(g, r, o);

		branch_line(lines, o, r + 1 == g->rows, line);
		free(line);
	}
	grid_free(g);
}

void export_children(const json_t *obj, const struct out_opts *o, struct strlist *lines)
{
	struct grid g = { 0 };
	const json_t *c;
	size_t i;

	json_array_foreach(json_object_get(obj, "clients"), i, c)
		grid_add(&g, (char *[GRID_COLS]){ shown(c, "session"), shown(c, "device_path"),
						  shown(c, "access") });
	grid_lines(&g, o, lines);
}
