// SPDX-License-Identifier: GPL-2.0
/* What leads from one access list to another. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/access-list.h"

struct change {
	const char *object, *name, *key;
	char *old, *new;		/* NULL: nothing is there */
	const struct conf_place *at;
};

static bool is_same(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

static bool is_equal(const struct access_values *a, const struct access_values *b)
{
	for (size_t i = 0; i < a->n; i++)
		if (i == b->n || a->v[i].n != b->v[i].n || access_value_cmp(&a->v[i], &b->v[i]))
			return false;
	return a->n == b->n;
}

bool access_same(const struct access_item *a, const struct access_item *b, enum access_key k)
{
	if (k < AK_N)
		return access_keys[k].counted || is_equal(&a->of[k], &b->of[k]);
	for (k = 0; k < AK_N && access_same(a, b, k); k++)
		;
	return k == AK_N;
}

bool access_differ(const struct access_list *a, const struct access_list *b)
{
	for (int kind = 0; kind < ACCESS_KINDS; kind++) {
		const struct access_items *x = &a->of[kind], *y = &b->of[kind];

		for (size_t i = 0; i < x->n; i++)
			if (i == y->n || strcmp(x->v[i].name, y->v[i].name) || !access_same(&x->v[i], &y->v[i], AK_N))
				return true;
		if (x->n < y->n)
			return true;
	}
	return a->state != b->state;
}

/* Takes both texts, which may be the same: then nothing changes. */
static void add(json_t *list, struct change ch)
{
	char *where = ch.at ? conf_place_text(ch.at) : NULL;
	json_t *o = json_pack("{ss, ss, sn}", "action", ch.key ? "change" : ch.old ? "remove" : "add", "object", ch.object,
			      "name");

	if (ch.name)
		js_set_str(o, "name", ch.name);
	js_set(o, "key", js_str_or_null(ch.key));
	js_set(o, "old", js_str_or_null(ch.old));
	js_set(o, "new", js_str_or_null(ch.new));
	js_set(o, "source", js_str_or_null(where));
	if (!ch.key || !is_same(ch.old, ch.new))
		json_array_append(list, o);
	json_decref(o);
	free(ch.old);
	free(ch.new);
	free(where);
}

static const char *key_name(int k)
{
	return conf_key_name(conf_access_keys[k]);
}

static char *item_text(const struct access_item *x)
{
	struct strbuf b = { 0 };

	strbuf_puts(&b, "");
	for (int k = 0; k < AK_N; k++) {
		char *text = access_keys[k].counted ? NULL : access_text(x, k);

		if (text)
			strbuf_printf(&b, "%s%s=%s", b.len ? " " : "", key_name(k), text);
		free(text);
	}
	return b.s;
}

/* NULL: it is not there. */
static void compare(json_t *list, const char *object, const struct access_item *from, const struct access_item *to)
{
	struct change ch = { .object = object, .name = from ? from->name : to->name, .at = to ? to->at : NULL };

	if (!from || !to) {
		ch.old = from ? item_text(from) : NULL;
		ch.new = to ? item_text(to) : NULL;
		add(list, ch);
		return;
	}
	for (int k = 0; k < AK_N; k++) {
		if (access_same(from, to, k))
			continue;
		ch.key = key_name(k);
		ch.old = access_text(from, k);
		ch.new = access_text(to, k);
		ch.at = to->of[k].n ? to->of[k].v[to->of[k].n - 1].at : to->at;
		add(list, ch);
	}
}

/* The peers of @l that @other has, too */
static char *order(const struct access_list *l, const struct access_list *other)
{
	struct strlist names = { 0 };
	char *text;

	for (size_t i = 0; i < l->of[ACCESS_PEER].n; i++)
		if (access_get(other, ACCESS_PEER, l->of[ACCESS_PEER].v[i].name))
			strlist_add(&names, l->of[ACCESS_PEER].v[i].name);
	text = strlist_join(&names, ", ");
	strlist_free(&names);
	return text;
}

static json_t *changes_of(const struct access_list *from, const struct access_list *to)
{
	json_t *list = json_array();

	add(list, (struct change){ "list", .key = "state", .old = xstrdup(access_word(AW_STATE, from->state)),
				   .new = xstrdup(access_word(AW_STATE, to->state)) });
	for (int kind = 0; kind < ACCESS_KINDS; kind++) {
		const struct access_items *was = &from->of[kind], *want = &to->of[kind];
		const char *object = conf_kind_name(CONF_OF(kind));

		for (size_t i = 0; i < want->n; i++)
			compare(list, object, access_get(from, kind, want->v[i].name), &want->v[i]);
		for (size_t i = 0; i < was->n; i++)
			if (!access_get(to, kind, was->v[i].name))
				compare(list, object, &was->v[i], NULL);
		/* the first peer that fits is taken */
		if (kind == ACCESS_PEER)
			add(list, (struct change){ "list", .key = "order", .old = order(from, to),
						   .new = order(to, from) });
	}
	return list;
}

size_t access_diff(const struct access_list *from, const struct access_list *to, json_t *doc)
{
	json_t *changes = changes_of(from, to);

	js_set(doc, "state", json_string(access_word(AW_STATE, to->state)));
	js_set(doc, "number", js_u64(from->number));
	js_set(doc, "changes", changes);
	return json_array_size(changes);
}

static const char *str(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "-";
}

void access_print_changes(const json_t *doc)
{
	json_t *ch;
	size_t i;

	json_array_foreach(json_object_get(doc, "changes"), i, ch) {
		const char *action = str(ch, "action"), *object = str(ch, "object"), *name = str(ch, "name");
		const char *old = str(ch, "old"), *new = str(ch, "new");
		bool list = !strcmp(object, "list");
		char *raw, *text;

		if (*action == 'c')
			raw = xasprintf("~ %s%s%s  %s  %s -> %s", object, list ? "" : " ", list ? "" : name,
					str(ch, "key"), old, new);
		else
			raw = xasprintf("%c %s %s  %s", *action == 'a' ? '+' : '-', object, name,
					*action == 'a' ? new : old);
		text = printable(raw);
		puts(text);
		free(text);
		free(raw);
	}
}
