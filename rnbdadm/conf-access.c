// SPDX-License-Identifier: GPL-2.0
/* [peer] and [export]: the access list of this server, as the configuration says it. */
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "conf.h"
#include "size.h"

static char *text_problem(enum conf_key k, const char *text)
{
	struct access_from from;
	uint64_t n;

	switch (k) {
	case CK_KEY:
		return xstrdup("authentication is not there yet: peers come with 'auth = none', and are told "
			       "apart by session and from");
	case CK_PEER_SESSION:
		return access_pattern_problem(text);
	case CK_FROM:
		return access_from_parse(text, &from);
	case CK_MAX_MEMORY:
		return parse_size(text, &n) && n && n <= INT64_MAX ? NULL :
		       xasprintf("'%s' is not a size", text);
	case CK_EXPORT_PATH:
		return access_path_problem(text);
	case CK_ALLOW:
		return access_allow_parse(text, NULL);
	default:
		return NULL;
	}
}

char *conf_access_problem(enum conf_key k, const char *text)
{
	static const enum opt_id opts[CK_N] = {
		[CK_AUTH] = OPT_AUTH, [CK_IO_MODE] = OPT_IO_MODE,
		[CK_MAX_SESSIONS] = OPT_MAX_SESSIONS, [CK_MAX_DEVICES] = OPT_MAX_DEVICES,
	};
	char *msg, *named, *hint = NULL;

	if (!*text && k != CK_KEY)
		return xasprintf("%s: a value is needed", conf_key_name(k));
	msg = opts[k] ? opt_problem(&opt_table[opts[k]], "", text, &hint) : text_problem(k, text);
	free(hint);
	if (!msg || opts[k] || k == CK_KEY || k == CK_EXPORT_PATH)
		return msg;
	named = xasprintf("%s: %s", conf_key_name(k), msg);
	free(msg);
	return named;
}

static bool has_entry(const struct conf_section *s, enum conf_key k)
{
	for (size_t i = 0; i < s->nentries; i++)
		if (s->entries[i].key == k)
			return true;
	return false;
}

/* It is recognised by what it says of itself and where it comes from, so it must say both. */
static void check_peer(struct conf *c, const struct conf_section *s)
{
	static const enum conf_key needed[] = { CK_PEER_SESSION, CK_FROM };

	if (!s->v[CK_AUTH].text && !has_entry(s, CK_KEY))
		conf_problem(c, &s->at, "peer '%s' needs 'auth = none', which says that it comes without a "
			     "key", s->name);
	for (size_t i = 0; i < ARRAY_SIZE(needed) && s->v[CK_AUTH].text; i++)
		if (!has_entry(s, needed[i]))
			conf_problem(c, &s->at, "peer '%s' has auth = none, so it needs %s, too", s->name,
				     conf_key_name(needed[i]));
}

/* Each peer that @e speaks of has a section. */
static void check_allow(struct conf *c, const struct conf_entry *e)
{
	struct access_list l = { 0 };
	struct access_export *x = access_add_export(&l, "");

	free(access_allow_parse(e->v.text, x));
	for (size_t i = 0; i < x->nallow; i++)
		if (strcmp(x->allow[i].peer, "*") && !conf_find(c, CONF_PEER, x->allow[i].peer))
			conf_problem(c, &e->v.at, "there is no [peer %s]", x->allow[i].peer);
	access_free(&l);
}

static void check_export(struct conf *c, const struct conf_section *s)
{
	const struct conf_value *path = &s->v[CK_EXPORT_PATH];

	if (!path->text)
		conf_problem(c, &s->at, "export '%s' has no path", s->name);
	/* what else is wrong with the path was told when it was read */
	if (path->text && *path->text == '/' && !access_is_directory(s->name) && access_is_directory(path->text))
		conf_problem(c, &path->at, "path: %s is a directory; the name of such an export ends with '/', too",
			     path->text);
	for (size_t i = 0; i < s->nentries; i++)
		if (s->entries[i].key == CK_ALLOW)
			check_allow(c, &s->entries[i]);
	if (!has_entry(s, CK_ALLOW))
		conf_warning(c, &s->at, "export '%s' allows nobody", s->name);
}

/* The first in the order of the files takes whom two would take. */
static void warn_overlap(struct conf *c, const struct access_list *l)
{
	for (size_t i = 1; i < l->npeers; i++) {
		const struct conf_section *s = conf_find(c, CONF_PEER, l->peers[i].name);

		for (size_t k = 0; k < i && s; k++) {
			if (!access_overlap(&l->peers[i], &l->peers[k]))
				continue;
			conf_warning(c, &s->at, "peer '%s' overlaps with '%s': whom both would take is '%s', "
				     "which comes first", s->name, l->peers[k].name, l->peers[k].name);
			break;
		}
	}
}

void conf_access_check(struct conf *c)
{
	struct access_list l;

	for (size_t i = 0; i < c->n; i++) {
		if (c->v[i].kind == CONF_PEER)
			check_peer(c, &c->v[i]);
		else if (c->v[i].kind == CONF_EXPORT)
			check_export(c, &c->v[i]);
	}
	if (c->errors)
		return;
	if (conf_access(c, &l))
		warn_overlap(c, &l);
	access_free(&l);
}

static void take_peer(const struct conf_section *s, struct access_list *l)
{
	struct access_peer *p = access_add_peer(l, s->name);

	for (size_t i = 0; i < s->nentries; i++) {
		const struct conf_entry *e = &s->entries[i];

		if (e->key == CK_PEER_SESSION) {
			strlist_add(&p->sessions, e->v.text);
		} else if (e->key == CK_FROM) {
			p->from = xrealloc(p->from, (p->nfrom + 1) * sizeof(*p->from));
			free(access_from_parse(e->v.text, &p->from[p->nfrom++]));
		}
	}
	for (int i = 0; i < ACCESS_LIMITS; i++)
		if (s->v[CK_MAX_SESSIONS + i].text)
			parse_size(s->v[CK_MAX_SESSIONS + i].text, &p->limit[i]);
}

static void take_export(const struct conf_section *s, struct access_list *l)
{
	struct access_export *x = access_add_export(l, s->name);
	const char *path = s->v[CK_EXPORT_PATH].text;
	bool dir = access_is_directory(s->name);

	x->path = xasprintf("%s%s", path, dir && !access_is_directory(path) ? "/" : "");
	if (s->v[CK_IO_MODE].text)
		io_mode_parse(s->v[CK_IO_MODE].text, &x->io_mode);
	for (size_t i = 0; i < s->nentries; i++)
		if (s->entries[i].key == CK_ALLOW)
			free(access_allow_parse(s->entries[i].v.text, x));
}

bool conf_access(const struct conf *c, struct access_list *l)
{
	*l = (struct access_list){ .state = ACCESS_LISTED };
	for (size_t i = 0; i < c->n; i++) {
		if (c->v[i].kind == CONF_PEER)
			take_peer(&c->v[i], l);
		else if (c->v[i].kind == CONF_EXPORT)
			take_export(&c->v[i], l);
	}
	access_sort(l);
	return l->npeers || l->nexports;
}

/* Takes @text. */
static void set(struct conf *c, struct conf_section *s, enum conf_key k, char *text)
{
	static const struct conf_place nowhere;

	conf_set(c, s, conf_key_name(k), text, &nowhere);
	free(text);
}

static void put_peer(struct conf *c, const struct access_peer *p)
{
	static const struct conf_place nowhere;
	struct conf_section *s = conf_section(c, CONF_PEER, p->name, &nowhere);

	set(c, s, CK_AUTH, xstrdup("none"));
	for (size_t i = 0; i < p->sessions.n; i++)
		set(c, s, CK_PEER_SESSION, xstrdup(p->sessions.v[i]));
	for (size_t i = 0; i < p->nfrom; i++)
		set(c, s, CK_FROM, access_from_text(&p->from[i]));
	for (int i = 0; i < ACCESS_LIMITS; i++)
		if (p->limit[i] != M_UNKNOWN)
			set(c, s, (enum conf_key)(CK_MAX_SESSIONS + i),
			    xasprintf("%llu", (unsigned long long)p->limit[i]));
}

static void put_export(struct conf *c, const struct access_export *x)
{
	static const struct conf_place nowhere;
	struct conf_section *s = conf_section(c, CONF_EXPORT, x->name, &nowhere);

	set(c, s, CK_EXPORT_PATH, xstrdup(x->path));
	if (x->io_mode && io_mode_name(x->io_mode))
		set(c, s, CK_IO_MODE, xstrdup(io_mode_name(x->io_mode)));
	if (x->nallow)
		set(c, s, CK_ALLOW, access_allow_text(x));
}

void conf_access_running(struct conf *c, const struct access_list *l)
{
	for (size_t i = 0; i < l->npeers; i++)
		put_peer(c, &l->peers[i]);
	for (size_t i = 0; i < l->nexports; i++)
		put_export(c, &l->exports[i]);
}
