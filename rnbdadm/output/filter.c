// SPDX-License-Identifier: GPL-2.0
/* --filter: which objects are shown, and what wait waits for */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "output/output.h"

struct condition {
	const struct field *field;
	char op[3];
	char *value;
	/* what a number is compared with */
	enum { NO_NUMBER, WHOLE, BEYOND, REAL } kind;	/* BEYOND: above all that there are */
	json_int_t whole;
	double real;
};

struct conditions {
	struct condition *v;
	size_t n;
};

static void conditions_free(struct conditions *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->v[i].value);
	free(c->v);
}

static bool parse_number(const char *s, struct condition *c)
{
	bool minus = *s == '-';
	uint64_t n;
	char *end;

	if (parse_size(s + minus, &n)) {
		c->kind = n <= INT64_MAX ? WHOLE : minus ? NO_NUMBER : BEYOND;
		c->whole = minus ? -(json_int_t)n : (json_int_t)n;
	} else if (strspn(s + minus, "0123456789.") == strlen(s + minus)) {
		c->real = strtod(s, &end);
		c->kind = end != s && !*end ? REAL : NO_NUMBER;
	}
	return c->kind != NO_NUMBER;
}

static bool stands_for_none(const char *s)
{
	return !*s || !strcmp(s, "-") || !strcmp(s, "null");
}

static bool is_bool_word(const char *s)
{
	return !strcmp(s, "true") || !strcmp(s, "false") || !strcmp(s, "yes") || !strcmp(s, "no");
}

/* The words that a field may have: its help lists them, but for what a later kernel says. */
static struct strlist field_words(const struct field *f)
{
	const char *colon = strrchr(f->help, ':');
	char *copy = xstrdup(colon ? colon + 1 : f->help), *save = NULL;
	struct strlist words = { 0 };

	for (char *t = strtok_r(copy, " ,", &save); t; t = strtok_r(NULL, " ,", &save))
		if (strcmp(t, "or"))
			strlist_add(&words, t);
	free(copy);
	return words;
}

static char *word_problem(const struct condition *c, char **hint)
{
	struct strlist words = field_words(c->field);
	char *list, *q, *msg = NULL;

	if (!strlist_has(&words, c->value) && strcmp(c->value, "unknown")) {
		list = strlist_join(&words, ", ");
		q = printable(c->value);
		msg = xasprintf("--filter: %s is never '%s' (%s)", c->field->name, q, list);
		*hint = suggest(c->value, &words);
		free(q);
		free(list);
	}
	strlist_free(&words);
	return msg;
}

/* What is wrong with the value for this kind of field, or NULL. */
static char *value_problem(struct condition *c, char **hint)
{
	enum field_type type = c->field->type;
	bool order = c->op[0] == '<' || c->op[0] == '>';
	char *q, *msg = NULL;

	if (type == F_COUNT || type == F_BYTES || type == F_NS || type == F_REAL) {
		if (parse_number(c->value, c) || (!order && stands_for_none(c->value)))
			return NULL;
		q = printable(c->value);
		msg = xasprintf("--filter: '%s' is not a number, as %s is", q, c->field->name);
		free(q);
	} else if (type == F_WORD && !order && !stands_for_none(c->value)) {
		msg = word_problem(c, hint);
	} else if (order) {
		msg = xasprintf("--filter: %s is not a number: only = and != are for it", c->field->name);
	} else if (type == F_BOOL && !is_bool_word(c->value) && !stands_for_none(c->value)) {
		q = printable(c->value);
		msg = xasprintf("--filter: '%s' is neither true nor false, as %s is", q, c->field->name);
		free(q);
	}
	return msg;
}

static char *parse_condition(const struct view *v, char *text, struct condition *c, char **hint)
{
	char *op = strpbrk(text, "=!<>"), *name;

	if (!op || op == text)
		return xasprintf("--filter: '%s' is not field=value", text);
	name = xstrndup(text, op - text);
	c->field = field_find(v, name);
	if (!c->field) {
		char *msg = field_unknown(v, "--filter", name, hint);

		free(name);
		return msg;
	}
	free(name);
	c->op[0] = *op++;
	if (*op == '=' && c->op[0] != '=')
		c->op[1] = *op++;
	else if (*op == '=')
		op++;	/* == is = */
	if (c->op[0] == '!' && !c->op[1])
		return xasprintf("--filter: '%s' is not field=value", text);
	c->value = xstrdup(op);
	return value_problem(c, hint);
}

static char *parse_filter(const struct view *v, const char *expr, struct conditions *cs,
			  char **hint)
{
	char *copy = xstrdup(expr), *save = NULL, *msg = NULL;

	for (char *t = strtok_r(copy, ",", &save); t && !msg; t = strtok_r(NULL, ",", &save)) {
		struct condition c = { 0 };

		msg = parse_condition(v, t, &c, hint);
		cs->v = xrealloc(cs->v, (cs->n + 1) * sizeof(*cs->v));
		cs->v[cs->n++] = c;
	}
	free(copy);
	return msg || cs->n ? msg : xasprintf("--filter: '%s' has no condition", expr);
}

/* < 0, 0 or > 0, as strcmp() */
static int number_cmp(const json_t *v, const struct condition *c)
{
	double have, want;

	if (c->kind == BEYOND)
		return -1;
	if (c->kind == WHOLE && json_is_integer(v)) {
		json_int_t n = json_integer_value(v);

		return (n > c->whole) - (n < c->whole);
	}
	have = json_number_value(v);
	want = c->kind == REAL ? c->real : (double)c->whole;
	return (have > want) - (have < want);
}

static bool number_fits(const struct condition *c, const json_t *v)
{
	int cmp = number_cmp(v, c);

	if (c->op[0] == '<')
		return c->op[1] ? cmp <= 0 : cmp < 0;
	if (c->op[0] == '>')
		return c->op[1] ? cmp >= 0 : cmp > 0;
	return !cmp == (c->op[0] == '=');
}

static bool list_has(const json_t *list, const char *value)
{
	const json_t *e;
	size_t i;

	if (!json_array_size(list))
		return stands_for_none(value);
	json_array_foreach(list, i, e) {
		const char *s = list_name(e);

		if (s && !strcmp(s, value))
			return true;
	}
	return false;
}

static bool condition_holds(const struct condition *c, const json_t *obj)
{
	const json_t *v = field_get(obj, c->field);
	bool equal;

	if (json_is_number(v) && c->kind != NO_NUMBER)
		return number_fits(c, v);
	if (c->op[0] == '<' || c->op[0] == '>')
		return false;
	if (json_is_array(v))
		equal = list_has(v, c->value);
	else if (json_is_string(v))
		equal = !strcmp(json_string_value(v), c->value);
	else if (json_is_boolean(v))
		equal = !strcmp(c->value, json_is_true(v) ? "true" : "false") ||
			!strcmp(c->value, json_is_true(v) ? "yes" : "no");
	else if (!v || json_is_null(v))
		equal = stands_for_none(c->value);
	else
		equal = false;
	return equal == (c->op[0] == '=');
}

char *filter_check(const struct view *v, const char *expr, char **hint)
{
	struct conditions cs = { 0 };
	char *msg = parse_filter(v, expr, &cs, hint);

	conditions_free(&cs);
	return msg;
}

json_t *filter_apply(const struct view *v, const char *expr, json_t *list)
{
	struct conditions cs = { 0 };
	json_t *out = json_array(), *obj;
	char *hint = NULL;
	size_t i, j;

	free(parse_filter(v, expr, &cs, &hint));
	json_array_foreach(list, i, obj) {
		for (j = 0; j < cs.n && condition_holds(&cs.v[j], obj); j++)
			;
		if (j == cs.n)
			json_array_append(out, obj);
	}
	conditions_free(&cs);
	json_decref(list);
	return out;
}

bool out_passes(const struct view *v, const char *filter, const json_t *obj)
{
	json_t *list = json_array();
	bool passes;

	json_array_append(list, (json_t *)obj);
	list = filter_apply(v, filter, list);
	passes = json_array_size(list);
	json_decref(list);
	return passes;
}
