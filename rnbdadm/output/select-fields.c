// SPDX-License-Identifier: GPL-2.0
/* Field selection and order; then to the writer of the format. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/output.h"

static void field_names(const struct view *v, struct strlist *l)
{
	for (const struct field *f = v->fields; f->name; f++)
		strlist_add(l, f->name);
}

char *field_unknown(const struct view *v, const char *opt, const char *name, char **hint)
{
	struct strlist l = { 0 };
	char *q = printable(name), *msg;

	field_names(v, &l);
	*hint = suggest(name, &l);
	if (!*hint)
		*hint = xasprintf("'rnbdadm help fields %s' lists the fields", v->name);
	msg = xasprintf("%s: '%s' is not a field", opt, q);
	free(q);
	strlist_free(&l);
	return msg;
}

struct sort_key {
	json_t *obj;
	const json_t *v;
	size_t index;
};

static bool sort_down;

static int sort_cmp(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;
	int rc = 0;

	/* the unknown comes last either way */
	if (json_is_null(x->v) != json_is_null(y->v))
		return json_is_null(x->v) ? 1 : -1;
	if (json_is_integer(x->v) && json_is_integer(y->v)) {
		json_int_t m = json_integer_value(x->v), n = json_integer_value(y->v);

		rc = m < n ? -1 : m > n;
	} else if (json_is_number(x->v) && json_is_number(y->v)) {
		double m = json_number_value(x->v), n = json_number_value(y->v);

		rc = m < n ? -1 : m > n;
	} else if (json_is_string(x->v) && json_is_string(y->v)) {
		rc = natural_cmp(json_string_value(x->v), json_string_value(y->v));
	} else if (json_is_boolean(x->v) && json_is_boolean(y->v)) {
		rc = (int)json_is_true(x->v) - (int)json_is_true(y->v);
	} else if (json_is_array(x->v) && json_is_array(y->v)) {
		rc = (int)json_array_size(x->v) - (int)json_array_size(y->v);
	}
	if (rc)
		return sort_down ? -rc : rc;
	return x->index < y->index ? -1 : 1;
}

static json_t *sort(const struct view *v, const char *expr, json_t *list)
{
	size_t n = json_array_size(list), i;
	struct sort_key *keys = xcalloc(n, sizeof(*keys));
	json_t *out = json_array(), *null = json_null();
	const struct field *f;

	sort_down = *expr == '-';
	f = field_find(v, expr + sort_down);
	for (i = 0; i < n; i++) {
		keys[i].obj = json_array_get(list, i);
		keys[i].v = field_get(keys[i].obj, f);
		if (!keys[i].v)
			keys[i].v = null;
		keys[i].index = i;
	}
	if (n > 1)
		qsort(keys, n, sizeof(*keys), sort_cmp);
	for (i = 0; i < n; i++)
		json_array_append(out, keys[i].obj);
	free(keys);
	json_decref(list);
	return out;
}

/* Names in -F, with their sign. */
static char *check_fields(const struct view *v, const char *list, bool text, char **hint)
{
	char *copy = xstrdup(list), *save = NULL, *msg = NULL;
	const struct field *f;
	size_t n = 0, json = 0;

	for (char *t = strtok_r(copy, ",", &save); t && !msg; t = strtok_r(NULL, ",", &save)) {
		const char *name = t + (*t == '+' || *t == '-');

		n++;
		f = field_find(v, name);
		json += f && f->type == F_JSON && name == t;
		if (strcmp(t, "all") && !f)
			msg = field_unknown(v, "--fields", name, hint);
	}
	if (!msg && n && json == n && text)
		msg = xstrdup("--fields: these are in JSON alone");
	if (!n)
		msg = xstrdup("--fields: the list is empty");
	free(copy);
	return msg;
}

static const char *const type_names[] = {
	"text", "word", "number", "bytes", "ns", "bool", "time", "list", "number", "list",
};

void out_fields_help(const struct view *v)
{
	for (const struct field *f = v->fields; f->name; f++)
		printf("%-24s%-8s%s%s\n", f->name, type_names[f->type], f->help,
		       f->optional ? " (option)" : "");
}

bool out_asks_fields(const struct out_opts *o)
{
	return o->fields && !strcmp(o->fields, "help");
}

bool out_check(const struct out_opts *o, const struct view *v, char **message, char **hint)
{
	const char *sort = o->sort;

	if (out_asks_fields(o)) {
		if (o->fmt == OUT_TEXT)
			return true;
		*message = xstrdup("-F help is text alone");
		*hint = xstrdup("'rnbdadm help fields OBJECT -j' is a document of them");
		return false;
	}
	*message = NULL;
	if (o->fields)
		*message = check_fields(v, o->fields, o->fmt == OUT_TEXT || o->fmt == OUT_CSV, hint);
	if (!*message && sort) {
		sort += *sort == '-';
		if (!field_find(v, sort))
			*message = field_unknown(v, "--sort", sort, hint);
	}
	if (!*message && o->filter)
		*message = filter_check(v, o->filter, hint);
	return !*message;
}

/* Is the name one of the words, maybe behind a '+'? It ends with the word, or before one of @ends. */
static bool list_names(const char *list, const char *name, const char *ends)
{
	size_t len = strlen(name);

	for (const char *p = list ? list : ""; *p; p += *p == ',') {
		p += *p == '+';
		if (!strncmp(p, name, len) && strchr(ends, p[len]))
			return true;
		p += strcspn(p, ",");
	}
	return false;
}

bool out_names_all(const struct out_opts *o)
{
	return list_names(o->fields, "all", ",");
}

bool out_names(const struct out_opts *o, const struct view *v, const char *group, bool in)
{
	for (const struct field *f = v->fields; f->name; f++) {
		if (!f->optional || (f->group && !strcmp(f->group, group)) != in)
			continue;
		if (list_names(o->fields, f->name, ",") || list_names(o->filter, f->name, "=!<>") ||
		    (o->sort && !strcmp(o->sort + (*o->sort == '-'), f->name)))
			return true;
	}
	return false;
}

static void drop(struct strlist *l, size_t i)
{
	free(l->v[i]);
	memmove(&l->v[i], &l->v[i + 1], (l->n - i - 1) * sizeof(*l->v));
	l->n--;
}

/*
 * The names to show: @have is what the format shows by default, changed by -F.
 */
static void select_fields(const struct view *v, const char *expr, struct strlist *have)
{
	char *copy, *save = NULL;
	bool first = true;

	if (!expr)
		return;
	copy = xstrdup(expr);
	for (char *t = strtok_r(copy, ",", &save); t; t = strtok_r(NULL, ",", &save)) {
		if (*t == '-') {
			for (size_t i = 0; i < have->n; i++) {
				if (strcmp(have->v[i], t + 1))
					continue;
				drop(have, i);
				break;
			}
		} else {
			/* a plain name starts a list of its own */
			if (first && *t != '+')
				strlist_free(have);
			if (!strcmp(t, "all"))
				field_names(v, have);
			else if (!strlist_has(have, t + (*t == '+')))
				strlist_add(have, t + (*t == '+'));
		}
		first = false;
	}
	free(copy);
}

static void present_fields(const struct view *v, const json_t *list, struct strlist *l)
{
	const json_t *obj = json_array_get(list, 0);

	for (const struct field *f = v->fields; f->name; f++)
		if (!f->optional || (obj && field_get(obj, f)))
			strlist_add(l, f->name);
}

static json_t *project(const struct view *v, const json_t *obj, const struct strlist *fields)
{
	json_t *out = json_object();

	for (const struct field *f = v->fields; f->name; f++) {
		const json_t *val = field_get(obj, f);
		json_t *into = out;
		char *hex;

		if (!val || !strlist_has(fields, f->name))
			continue;
		if (f->group) {
			into = json_object_get(out, f->group);
			if (!into) {
				into = json_object();
				js_set(out, f->group, into);
			}
		}
		json_object_set(into, f->name, (json_t *)val);
		hex = xasprintf("%s_hex", f->name);
		val = json_object_get(f->group ? json_object_get(obj, f->group) : obj, hex);
		if (val)
			json_object_set(into, hex, (json_t *)val);
		free(hex);
	}
	return out;
}

json_t *out_project(const struct view *v, const struct out_opts *o, json_t *list)
{
	struct strlist fields = { 0 };
	json_t *out, *obj;
	size_t i;

	if (!o->fields)
		return list;
	out = json_array();
	present_fields(v, list, &fields);
	select_fields(v, o->fields, &fields);
	json_array_foreach(list, i, obj)
		json_array_append_new(out, project(v, obj, &fields));
	strlist_free(&fields);
	json_decref(list);
	return out;
}

static void print_brief(const struct view *v, const json_t *list, const struct out_opts *o)
{
	const struct field *f = field_find(v, v->brief);
	const json_t *obj;
	size_t i;

	json_array_foreach(list, i, obj) {
		char *s = field_text(f, field_get(obj, f), o);

		puts(s);
		free(s);
	}
}

/* What neither a cell nor a line could hold. */
static void drop_json(const struct view *v, struct strlist *fields)
{
	for (size_t i = fields->n; i--;)
		if (field_find(v, fields->v[i])->type == F_JSON)
			drop(fields, i);
}

void out_text(const struct view *v, const json_t *list, const struct out_opts *o, bool block)
{
	struct strlist fields = { 0 };

	if (o->brief && !block) {
		print_brief(v, list, o);
		return;
	}
	if (o->fmt == OUT_CSV || block) {
		present_fields(v, list, &fields);
		select_fields(v, o->fields, &fields);
	} else if (o->fields) {
		const struct column *cols = v->pick ? v->pick(list) : v->columns;

		for (const struct column *c = cols; c->title; c++)
			strlist_add(&fields, c->field);
		select_fields(v, o->fields, &fields);
	}
	drop_json(v, &fields);
	if (o->fmt == OUT_CSV)
		csv_print(v, list, &fields, o);
	else if (block)
		block_print(v, json_array_get(list, 0), &fields, o);
	else
		table_print(v, list, fields.n ? &fields : NULL, o);
	strlist_free(&fields);
}

json_t *out_select(const struct view *v, const struct out_opts *o, json_t *list)
{
	if (o->filter)
		list = filter_apply(v, o->filter, list);
	return o->sort ? sort(v, o->sort, list) : list;
}
