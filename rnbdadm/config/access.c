// SPDX-License-Identifier: GPL-2.0
/* [peer] and [export]: the access list of this server, as the configuration says it. */
#include <stdlib.h>
#include <string.h>

#include "config/sections.h"

const enum conf_key conf_access_keys[AK_N] = {
	[AK_SESSION] = CK_PEER_SESSION, [AK_FROM] = CK_FROM, [AK_MAX_SESSIONS] = CK_MAX_SESSIONS,
	[AK_MAX_DEVICES] = CK_MAX_DEVICES, [AK_MAX_MEMORY] = CK_MAX_MEMORY, [AK_PATH] = CK_EXPORT_PATH,
	[AK_IO_MODE] = CK_IO_MODE, [AK_ALLOW] = CK_ALLOW,
};

char *conf_access_problem(enum conf_key k, const char *text)
{
	struct access_item x = { .name = xstrdup("") };
	char *msg = NULL, *named;

	if (k == CK_KEY)
		msg = xstrdup("authentication is not there yet: peers come with 'auth = none', and are told "
			      "apart by session and from");
	for (int i = 0; i < AK_N && *text; i++)
		if (!access_keys[i].counted && conf_access_keys[i] == k)
			msg = access_say(&x, i, text, NULL);
	access_item_free(&x);
	if (k == CK_KEY || (!msg && *text))
		return msg;
	named = xasprintf("%s: %s", conf_key_name(k), msg ? msg : "a value is needed");
	free(msg);
	return named;
}

/* A peer without a key is recognised by its names and its addresses, so it must have both. */
static void check_peer(struct conf *c, const struct conf_section *s)
{
	static const enum conf_key needed[] = { CK_PEER_SESSION, CK_FROM };

	if (!s->v[CK_AUTH].text && !conf_nth(s, CK_KEY, 0))
		conf_problem(c, &s->at, "peer '%s' needs 'auth = none', which says that it comes without a "
			     "key", s->name);
	for (size_t i = 0; i < ARRAY_SIZE(needed) && s->v[CK_AUTH].text; i++)
		if (!conf_nth(s, needed[i], 0))
			conf_problem(c, &s->at, "peer '%s' has auth = none, so it needs %s, too", s->name,
				     conf_key_name(needed[i]));
}

static void check_export(struct conf *c, const struct conf_section *s, const struct access_item *x)
{
	const struct conf_value *path = &s->v[CK_EXPORT_PATH];

	if (!path->text)
		conf_problem(c, &s->at, "export '%s' has no path", s->name);
	else if (*path->text == '/' && !access_is_directory(s->name) && access_is_directory(path->text))
		conf_problem(c, &path->at, "path: %s is a directory; the name of such an export ends with '/', too",
			     path->text);
	for (size_t i = 0; i < x->of[AK_ALLOW].n; i++) {
		const struct access_value *v = &x->of[AK_ALLOW].v[i];

		if (strcmp(v->word, "*") && !conf_find(c, CONF_PEER, v->word))
			conf_problem(c, v->at, "there is no [peer %s]", v->word);
	}
	if (!conf_nth(s, CK_ALLOW, 0))
		conf_warning(c, &s->at, "export '%s' allows nobody", s->name);
}

/* The first in the order of the files takes whom two would take. */
static void warn_overlap(struct conf *c, const struct access_items *peers)
{
	for (size_t i = 1; i < peers->n; i++) {
		const struct access_item *p = &peers->v[i], *first = peers->v;

		while (first < p && !access_overlap(p, first))
			first++;
		if (first < p)
			conf_warning(c, p->at, "peer '%s' overlaps with '%s': a client that fits "
					       "both is '%s', which comes first", p->name, first->name, first->name);
	}
}

void conf_access_check(struct conf *c)
{
	struct access_list l = { 0 };

	conf_access(c, &l);
	for (size_t i = 0; i < c->n; i++) {
		const struct conf_section *s = &c->v[i];

		if (s->kind == CONF_PEER)
			check_peer(c, s);
		else if (s->kind == CONF_EXPORT)
			check_export(c, s, access_get(&l, ACCESS_EXPORT, s->name));
	}
	if (!c->errors)
		warn_overlap(c, &l.of[ACCESS_PEER]);
	access_free(&l);
}

static void add_item(struct access_list *l, enum access_kind kind, const struct conf_section *s)
{
	struct access_item *x = access_new(l, kind, s->name);
	const struct conf_value *v;

	x->at = &s->at;
	if (kind == ACCESS_EXPORT)
		access_put(x, AK_IO_MODE, &(struct access_value){ .at = &s->at });
	for (int k = 0; k < AK_N; k++)
		for (size_t n = 0; !access_keys[k].counted && (v = conf_nth(s, conf_access_keys[k], n)); n++)
			free(access_say(x, k, v->text, &v->at));
}

bool conf_access(const struct conf *c, struct access_list *l)
{
	size_t before = l->of[ACCESS_PEER].n + l->of[ACCESS_EXPORT].n;

	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].kind >= CONF_PEER)
			add_item(l, c->v[i].kind - CONF_PEER, &c->v[i]);
	access_sort(l);
	return l->of[ACCESS_PEER].n + l->of[ACCESS_EXPORT].n > before;
}

/* Takes @text. */
static void set(struct conf *c, struct conf_section *s, enum conf_key k, char *text)
{
	static const struct conf_place nowhere;

	conf_set(c, s, conf_key_name(k), text, &nowhere);
	free(text);
}

static void put_item(struct conf *c, enum access_kind kind, const struct access_item *x)
{
	static const struct conf_place nowhere;
	struct conf_section *s = conf_section(c, CONF_OF(kind), x->name, &nowhere);

	if (kind == ACCESS_PEER)
		set(c, s, CK_AUTH, xstrdup("none"));
	for (int k = 0; k < AK_N; k++) {
		/* what is the default, or has no name yet */
		if (access_keys[k].counted ||
		    (k == AK_IO_MODE && (!access_number(x, k) || !io_mode_name(access_number(x, k)))))
			continue;
		for (size_t i = 0; i < x->of[k].n && k != AK_ALLOW; i++)
			set(c, s, conf_access_keys[k], access_value_text(k, &x->of[k].v[i]));
	}
	if (x->of[AK_ALLOW].n)
		set(c, s, CK_ALLOW, access_text(x, AK_ALLOW));
}

void conf_access_running(struct conf *c, const struct access_list *l)
{
	for (int kind = 0; kind < ACCESS_KINDS; kind++)
		for (size_t i = 0; i < l->of[kind].n; i++)
			put_item(c, kind, &l->of[kind].v[i]);
}
