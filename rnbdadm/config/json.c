// SPDX-License-Identifier: GPL-2.0
/* Configuration as JSON, as 'config save -j' and 'config show -j' write it. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "config/sections.h"

struct reader {
	struct conf *c;
	struct conf_place at;
};

static const char *const lists[CONF_KINDS] = { "defaults", "sessions", "devices", "peers", "exports" };

/* Of what is around the sections in a document of this tool. */
static bool is_envelope(const char *key)
{
	static const char *const keys[] = { "schema", "tool", "time", "backend", "warnings" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

/* The bytes that "<key>_hex" keeps where they are no UTF-8; to be freed, NULL if there are none. */
static char *from_hex(const json_t *o, const char *key)
{
	char *name = xasprintf("%s_hex", key), *s;
	const char *h = json_string_value(json_object_get(o, name));
	size_t n = h ? strlen(h) / 2 : 0;
	unsigned int byte;

	free(name);
	if (!h || strspn(h, "0123456789abcdef") != 2 * n || h[2 * n])
		return NULL;
	s = xcalloc(n + 1, 1);
	for (size_t i = 0; i < n && sscanf(h + 2 * i, "%2x", &byte) == 1; i++)
		s[i] = (char)byte;
	return s;
}

/* A value as the text that it has in a file; NULL if it is of the wrong type. */
static char *value_text(enum conf_key k, const json_t *o, const char *key, const json_t *v)
{
	enum conf_json kind = conf_key_json_kind(k);
	json_int_t n = json_integer_value(v);
	char *s;

	if (json_is_null(v))
		return xstrdup("");
	if (kind == CONF_JSON_BOOL && json_is_boolean(v))
		return xstrdup(json_is_true(v) ? "yes" : "no");
	if ((kind == CONF_JSON_INT || kind == CONF_JSON_BYTES) && json_is_integer(v))
		return xasprintf("%lld", (long long)n);
	if (kind == CONF_JSON_MS && json_is_integer(v))
		return n == -1 ? xstrdup("infinite") : xasprintf("%lld%s", (long long)n, n ? "ms" : "");
	/* a number may be a word */
	if ((kind != CONF_JSON_TEXT && kind != CONF_JSON_INT) || !json_is_string(v))
		return NULL;
	s = from_hex(o, key);
	return s ? s : xstrdup(json_string_value(v));
}

static bool is_hex_key(const char *key)
{
	size_t n = strlen(key);

	return n > 4 && !strcmp(key + n - 4, "_hex");
}

/* @name as JSON has it. */
static void read_list(struct reader *r, struct conf_section *s, const char *key, const char *name,
		      const json_t *list)
{
	const json_t *v;
	size_t i;

	if (!json_is_array(list))
		conf_problem(r->c, &r->at, "%s is not a list", name);
	json_array_foreach(list, i, v) {
		struct conf_place at = r->at;

		strlist_addf(&r->c->sections, "%s %s[%zu]", r->at.section, name, i);
		at.section = r->c->sections.v[r->c->sections.n - 1];
		if (json_is_string(v))
			conf_set(r->c, s, key, json_string_value(v), &at);
		else
			conf_problem(r->c, &at, "not a string");
	}
}

static void read_key(struct reader *r, struct conf_section *s, const json_t *o, const char *key,
		     const json_t *v)
{
	char *name, *text;
	int k;

	for (k = 0; k < CK_N; k++) {
		bool same;

		name = conf_key_json(k);
		same = k != CK_PATH && !strcmp(name, key) && conf_key_fits(k, s->kind);
		free(name);
		if (same)
			break;
	}
	if (k == CK_N) {
		/* says that it is unknown */
		conf_set(r->c, s, key, "", &r->at);
		return;
	}
	if (conf_key_is_list(k)) {
		read_list(r, s, conf_key_name(k), key, v);
		return;
	}
	text = value_text(k, o, key, v);
	if (text)
		conf_set(r->c, s, conf_key_name(k), text, &r->at);
	else
		conf_problem(r->c, &r->at, "%s has the wrong type", key);
	free(text);
}

/* What comes next is about this section, "sessions[3] 's'". */
static void enter(struct reader *r, enum conf_kind kind, size_t i, const json_t *o)
{
	const char *name = json_string_value(json_object_get(o, "name"));
	char *q = name ? printable(name) : NULL;

	if (kind == CONF_DEFAULTS)
		strlist_add(&r->c->sections, lists[kind]);
	else if (q)
		strlist_addf(&r->c->sections, "%s[%zu] '%s'", lists[kind], i, q);
	else
		strlist_addf(&r->c->sections, "%s[%zu]", lists[kind], i);
	r->at.section = r->c->sections.v[r->c->sections.n - 1];
	free(q);
}

static void read_section(struct reader *r, enum conf_kind kind, size_t i, const json_t *o)
{
	const char *name = json_string_value(json_object_get(o, "name")), *key;
	char *bytes = from_hex(o, "name");
	struct conf_section *s;
	json_t *v;

	enter(r, kind, i, o);
	if (!json_is_object(o) || (kind != CONF_DEFAULTS && !name)) {
		conf_problem(r->c, &r->at, kind == CONF_DEFAULTS ? "not an object" :
			     "not an object with a name");
		free(bytes);
		return;
	}
	s = conf_section(r->c, kind, kind == CONF_DEFAULTS ? "" : bytes ? bytes : name, &r->at);
	free(bytes);
	json_object_foreach((json_t *)o, key, v) {
		if (!strcmp(key, "paths") && kind == CONF_SESSION)
			read_list(r, s, "path", key, v);
		else if (strcmp(key, "sources") && strcmp(key, "name") && !is_hex_key(key))
			read_key(r, s, o, key, v);
	}
}

/* A configuration that this release knows? One without a schema is taken for that. */
static bool is_known(struct reader *r, const json_t *doc)
{
	static const char known[] = "rnbdadm.config/1";
	const json_t *v = json_object_get(doc, "schema");
	const char *schema = json_string_value(v);
	char *q;

	if (!v || (schema && !strcmp(schema, known)))
		return true;
	q = printable(schema ? schema : "");
	conf_problem(r->c, &r->at, "the schema is '%s', not %s", q, known);
	free(q);
	return false;
}

static void read_document(struct reader *r, const json_t *doc)
{
	const char *key;
	json_t *v, *e;
	size_t i;
	int k;

	if (!is_known(r, doc))
		return;
	json_object_foreach((json_t *)doc, key, v) {
		r->at.section = NULL;
		for (k = 0; k < CONF_KINDS && strcmp(key, lists[k]); k++)
			;
		if (k == CONF_DEFAULTS) {
			read_section(r, k, 0, v);
		} else if (k == CONF_KINDS) {
			if (!is_envelope(key))
				conf_problem(r->c, &r->at, "there is no '%s' in a configuration", key);
		} else if (!json_is_array(v)) {
			conf_problem(r->c, &r->at, "%s is not a list", key);
		} else {
			json_array_foreach(v, i, e)
				read_section(r, k, i, e);
		}
	}
}

void conf_json_read(struct conf *c, const char *file, const char *text, size_t len)
{
	struct reader r = { .c = c, .at.file = conf_file(c, file) };
	json_error_t e;
	json_t *doc = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);

	if (!doc || !json_is_object(doc)) {
		r.at.line = doc ? 1 : e.line > 0 ? (unsigned int)e.line : 1;
		r.at.col = doc ? 1 : e.column > 0 ? (unsigned int)e.column : 1;
		conf_problem(c, &r.at, "%s", doc ? "not a JSON object" : e.text);
	} else {
		read_document(&r, doc);
	}
	json_decref(doc);
}

static void set_value(json_t *o, enum conf_key k, const char *text)
{
	char *key = conf_key_json(k);
	enum conf_json kind = conf_key_json_kind(k);
	uint64_t bytes;
	int64_t ms = 0;

	if (!*text) {
		js_set(o, key, json_null());
	} else if (kind == CONF_JSON_BOOL) {
		js_set(o, key, json_boolean(!strcmp(text, "yes")));
	} else if (kind == CONF_JSON_INT) {
		if (!strcmp(text, "infinite"))
			text = "-1";
		js_set(o, key, text[strspn(text, "-0123456789")] ? js_str(text) :
								  json_integer(atoll(text)));
	} else if (kind == CONF_JSON_MS) {
		parse_time(text, &ms);
		js_set(o, key, json_integer(ms));
	} else if (kind == CONF_JSON_BYTES) {
		js_set(o, key, parse_size(text, &bytes) ? js_u64(bytes) : js_str(text));
	} else {
		js_set_str(o, key, text);
	}
	free(key);
}

static void set_source(json_t *sources, const char *key, const struct conf_place *at)
{
	char *where = conf_place_text(at);

	js_set(sources, key, js_str_or_null(where));
	free(where);
}

static json_t *js_paths(const struct conf_section *s, json_t *sources)
{
	json_t *list = json_array(), *at = json_array();

	for (size_t i = 0; i < s->npaths; i++) {
		const struct conf_path *p = &s->paths[i];
		char *where = conf_place_text(&p->at), *text;

		text = p->pair.dst.port ? xasprintf("%s dest-port=%u", p->text, p->pair.dst.port) :
					  xstrdup(p->text);
		json_array_append_new(list, js_str(text));
		json_array_append_new(at, js_str_or_null(where));
		free(text);
		free(where);
	}
	js_set(sources, "paths", at);
	return list;
}

/* All values of one key that may be repeated. */
static void set_list(json_t *o, json_t *sources, const struct conf_section *s, enum conf_key k)
{
	json_t *list = json_array(), *from = json_array();
	char *key = conf_key_json(k), *where;
	const struct conf_value *v;

	for (size_t n = 0; (v = conf_nth(s, k, n)); n++) {
		where = conf_place_text(&v->at);
		json_array_append_new(list, js_str(v->text));
		json_array_append_new(from, js_str_or_null(where));
		free(where);
	}
	js_set(o, key, list);
	js_set(sources, key, from);
	free(key);
}

static json_t *js_section(const struct conf_section *s, bool sources)
{
	json_t *o = json_object(), *from = json_object();

	if (s->kind != CONF_DEFAULTS)
		js_set_str(o, "name", s->name);
	if (s->kind == CONF_SESSION)
		js_set(o, "paths", js_paths(s, from));
	for (int k = 0; k < CK_N; k++) {
		char *key;

		if (!conf_nth(s, k, 0))
			continue;
		if (conf_key_is_list(k)) {
			set_list(o, from, s, k);
			continue;
		}
		key = conf_key_json(k);
		set_value(o, k, s->v[k].text);
		set_source(from, key, &s->v[k].at);
		free(key);
	}
	if (sources)
		js_set(o, "sources", from);
	else
		json_decref(from);
	return o;
}

void conf_json_write(const struct conf *c, json_t *o, bool sources)
{
	json_t *defaults = NULL, *list[CONF_KINDS] = { 0 };

	for (int k = CONF_SESSION; k < CONF_KINDS; k++)
		list[k] = json_array();
	for (size_t i = 0; i < c->n; i++) {
		json_t *s = js_section(&c->v[i], sources);

		if (c->v[i].kind == CONF_DEFAULTS && !defaults)
			defaults = s;
		else if (c->v[i].kind == CONF_DEFAULTS)
			json_decref(s);
		else
			json_array_append_new(list[c->v[i].kind], s);
	}
	js_set(o, lists[CONF_DEFAULTS], defaults ? defaults : json_object());
	for (int k = CONF_SESSION; k < CONF_KINDS; k++)
		js_set(o, lists[k], list[k]);
}
