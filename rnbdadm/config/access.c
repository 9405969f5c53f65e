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

static void check_export(struct conf *c, const struct conf_section *s)
{
	const struct access_item *x = access_get(&c->access, ACCESS_EXPORT, s->name);
	const struct conf_value *path = &s->v[CK_EXPORT_PATH];

	if (!path->text)
		conf_problem(c, &s->at, "export '%s' has no path", s->name);
	else if (*path->text == '/' && !access_is_directory(s->name) && access_is_directory(path->text))
		conf_problem(c, &path->at, "path: %s is a directory; the name of such an export ends with '/', too",
			     path->text);
	for (size_t i = 0; i < x->of[AK_ALLOW].n; i++) {
		const struct access_value *v = &x->of[AK_ALLOW].v[i];

		if (strcmp(v->word, "*") && !access_get(&c->access, ACCESS_PEER, v->word)) {
			char *hint = access_suggest(&c->access, ACCESS_PEER, v->word);

			conf_problem(c, v->at, "there is no [peer %s]%s%s", v->word, hint ? "; " : "", hint ? hint : "");
			free(hint);
		}
	}
	if (!conf_nth(s, CK_ALLOW, 0))
		conf_warning(c, &s->at, "export '%s' allows nobody", s->name);
}

/* The first in the order of the files takes whom two would take. */
static void warn_overlap(struct conf *c, const struct access_items *peers)
{
	for (size_t i = 0; i < peers->n; i++) {
		const struct access_item *x = &peers->v[i], *first = access_first_like(peers, i);

		if (first)
			conf_warning(c, x->at, "peer '%s' overlaps with '%s': a client that fits both is '%s', which "
				     "comes first", x->name, first->name, first->name);
	}
}

void conf_access_check(struct conf *c)
{
	for (size_t i = 0; i < c->n; i++) {
		if (c->v[i].kind == CONF_PEER)
			check_peer(c, &c->v[i]);
		else if (c->v[i].kind == CONF_EXPORT)
			check_export(c, &c->v[i]);
	}
	if (!c->errors)
		warn_overlap(c, &c->access.of[ACCESS_PEER]);
}

/* What its option has a word against is told once. */
static bool is_told(const struct conf *c, const struct conf_place *at)
{
	for (size_t i = 0; i < c->nproblems; i++) {
		const struct conf_place *p = &c->problems[i].at;

		if (p->file == at->file && p->line == at->line && p->col == at->col)
			return true;
	}
	return false;
}

static void add_item(struct conf *c, enum access_kind kind, const struct conf_section *s)
{
	struct access_item *x = access_new(&c->access, kind, s->name);
	const struct conf_value *v;
	char *msg;

	x->at = &s->at;
	if (kind == ACCESS_EXPORT)
		access_put(x, AK_IO_MODE, &(struct access_value){ .at = &s->at });
	for (int k = 0; k < AK_N; k++) {
		for (size_t n = 0; !access_keys[k].counted && (v = conf_nth(s, conf_access_keys[k], n)); n++) {
			msg = *v->text ? access_say(x, k, v->text, &v->at) : NULL;
			if (msg && !is_told(c, &v->at))
				conf_problem(c, &v->at, "%s: %s", conf_key_name(conf_access_keys[k]), msg);
			free(msg);
		}
	}
}

void conf_access_read(struct conf *c)
{
	c->access = access_empty(ACCESS_LISTED);
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].kind >= CONF_PEER)
			add_item(c, c->v[i].kind - CONF_PEER, &c->v[i]);
	access_sort(&c->access);
}

const struct access_list *conf_access(const struct conf *c)
{
	return c->access.of[ACCESS_PEER].n + c->access.of[ACCESS_EXPORT].n ? &c->access : NULL;
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
