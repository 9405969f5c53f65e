// SPDX-License-Identifier: GPL-2.0
/* What leads from one access list to another. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd-access.h"

static const enum conf_key peer_keys[] = {
	CK_PEER_SESSION, CK_FROM, CK_MAX_SESSIONS, CK_MAX_DEVICES, CK_MAX_MEMORY,
};
static const enum conf_key export_keys[] = { CK_EXPORT_PATH, CK_IO_MODE, CK_ALLOW };

/* A value as a configuration has it, to be freed; NULL where it has none. */
static char *peer_text(const struct access_peer *p, enum conf_key k)
{
	struct strlist l = { 0 };
	uint64_t limit;
	char *text;

	if (k >= CK_MAX_SESSIONS && k < CK_MAX_SESSIONS + ACCESS_LIMITS) {
		limit = p->limit[k - CK_MAX_SESSIONS];
		return limit == M_UNKNOWN ? NULL : xasprintf("%" PRIu64, limit);
	}
	for (size_t i = 0; i < p->sessions.n && k == CK_PEER_SESSION; i++)
		strlist_add(&l, p->sessions.v[i]);
	for (size_t i = 0; i < p->nfrom && k == CK_FROM; i++) {
		text = access_from_text(&p->from[i]);
		strlist_add(&l, text);
		free(text);
	}
	/* their order does not count */
	strlist_sort(&l);
	text = l.n ? strlist_join(&l, ", ") : NULL;
	strlist_free(&l);
	return text;
}

static char *export_text(const struct access_export *e, enum conf_key k)
{
	const char *mode = io_mode_name(e->io_mode);

	if (k == CK_EXPORT_PATH)
		return xstrdup(e->path ? e->path : "");
	if (k == CK_IO_MODE)
		return xstrdup(mode ? mode : "unknown");
	return e->nallow ? access_allow_text(e) : NULL;
}

/* A peer or an export, by whichever is there */
struct one {
	const struct access_peer *p;
	const struct access_export *e;
};

static char *one_text(const struct one *o, enum conf_key k)
{
	return o->p ? peer_text(o->p, k) : export_text(o->e, k);
}

/* "key=value key=value" */
static json_t *js_all(const struct one *o, const enum conf_key *keys, size_t n)
{
	struct strbuf b = { 0 };
	json_t *js;

	for (size_t i = 0; i < n; i++) {
		char *text = one_text(o, keys[i]);

		if (text)
			strbuf_printf(&b, "%s%s=%s", b.len ? " " : "", conf_key_name(keys[i]), text);
		free(text);
	}
	js = js_str(b.s ? b.s : "");
	free(b.s);
	return js;
}

/* Where the configuration says it: the key, or else the section. */
static json_t *js_place(const struct conf *c, const struct one *o, enum conf_key k)
{
	const struct conf_section *s = !c || (!o->p && !o->e) ? NULL :
		conf_find(c, o->p ? CONF_PEER : CONF_EXPORT, o->p ? o->p->name : o->e->name);
	const struct conf_place *at = s ? &s->at : NULL;
	char *text;
	json_t *js;

	if (s && k < CK_N && s->v[k].text)
		at = &s->v[k].at;
	for (size_t i = 0; s && i < s->nentries; i++)
		if (s->entries[i].key == k)
			at = &s->entries[i].v.at;
	text = at ? conf_place_text(at) : NULL;
	js = text ? js_str(text) : json_null();
	free(text);
	return js;
}

struct diff {
	const char *action, *object, *name, *key;
	json_t *old, *new, *source;	/* NULL: null */
};

/* Takes the references. */
static void add(json_t *list, const struct diff *d)
{
	json_t *o = json_object();

	js_set(o, "action", json_string(d->action));
	js_set(o, "object", json_string(d->object));
	if (d->name)
		js_set_str(o, "name", d->name);
	else
		js_set(o, "name", json_null());
	js_set(o, "key", d->key ? json_string(d->key) : json_null());
	js_set(o, "old", d->old ? d->old : json_null());
	js_set(o, "new", d->new ? d->new : json_null());
	js_set(o, "source", d->source ? d->source : json_null());
	json_array_append_new(list, o);
}

static void compare(json_t *list, const char *object, const struct one *from, const struct one *to,
		    const struct conf *c)
{
	const enum conf_key *keys = from->p || to->p ? peer_keys : export_keys;
	size_t n = from->p || to->p ? ARRAY_SIZE(peer_keys) : ARRAY_SIZE(export_keys);
	const char *name = from->p ? from->p->name : to->p ? to->p->name : from->e ? from->e->name : to->e->name;

	if (!from->p && !from->e) {
		add(list, &(struct diff){ "add", object, name, .new = js_all(to, keys, n),
					  .source = js_place(c, to, CK_N) });
		return;
	}
	if (!to->p && !to->e) {
		add(list, &(struct diff){ "remove", object, name, .old = js_all(from, keys, n) });
		return;
	}
	for (size_t i = 0; i < n; i++) {
		char *old = one_text(from, keys[i]), *new = one_text(to, keys[i]);

		if (strcmp(old ? old : "", new ? new : ""))
			add(list, &(struct diff){ "change", object, name, conf_key_name(keys[i]),
						  old ? js_str(old) : NULL, new ? js_str(new) : NULL,
						  js_place(c, to, keys[i]) });
		free(old);
		free(new);
	}
}

/* The first peer that takes a client is his: which one comes first is seen by their names alone. */
static void compare_order(json_t *list, const struct access_list *from, const struct access_list *to)
{
	struct strlist names[2] = { 0 };
	char *text[2];

	for (size_t i = 0; i < from->npeers; i++)
		if (access_peer(to, from->peers[i].name))
			strlist_add(&names[0], from->peers[i].name);
	for (size_t i = 0; i < to->npeers; i++)
		if (access_peer(from, to->peers[i].name))
			strlist_add(&names[1], to->peers[i].name);
	for (int i = 0; i < 2; i++) {
		text[i] = strlist_join(&names[i], ", ");
		strlist_free(&names[i]);
	}
	if (strcmp(text[0], text[1]))
		add(list, &(struct diff){ "change", "list", NULL, "order", js_str(text[0]), js_str(text[1]), NULL });
	free(text[0]);
	free(text[1]);
}

json_t *access_changes(const struct access_list *from, const struct access_list *to, const struct conf *c)
{
	json_t *list = json_array();

	if (from->state != to->state)
		add(list, &(struct diff){ "change", "list", NULL, "state", json_string(access_state_name(from->state)),
					  json_string(access_state_name(to->state)), NULL });
	for (size_t i = 0; i < to->npeers; i++)
		compare(list, "peer", &(struct one){ .p = access_peer(from, to->peers[i].name) },
			&(struct one){ .p = &to->peers[i] }, c);
	for (size_t i = 0; i < from->npeers; i++)
		if (!access_peer(to, from->peers[i].name))
			compare(list, "peer", &(struct one){ .p = &from->peers[i] }, &(struct one){ 0 }, c);
	compare_order(list, from, to);
	for (size_t i = 0; i < to->nexports; i++)
		compare(list, "export", &(struct one){ .e = access_export(from, to->exports[i].name) },
			&(struct one){ .e = &to->exports[i] }, c);
	for (size_t i = 0; i < from->nexports; i++)
		if (!access_export(to, from->exports[i].name))
			compare(list, "export", &(struct one){ .e = &from->exports[i] }, &(struct one){ 0 }, c);
	return list;
}

char *access_change_text(const json_t *change)
{
	const char *action = json_string_value(json_object_get(change, "action"));
	const char *old = json_string_value(json_object_get(change, "old"));
	const char *new = json_string_value(json_object_get(change, "new"));
	const char *name = json_string_value(json_object_get(change, "name"));
	const char *object = json_string_value(json_object_get(change, "object"));
	char *raw, *text;

	if (!strcmp(action, "change"))
		raw = xasprintf("~ %s%s%s  %s  %s -> %s", object, name ? " " : "", name ? name : "",
				json_string_value(json_object_get(change, "key")), old ? old : "-", new ? new : "-");
	else
		raw = xasprintf("%c %s %s  %s", *action == 'a' ? '+' : '-', object, name, old ? old : new);
	text = printable(raw);
	free(raw);
	return text;
}
