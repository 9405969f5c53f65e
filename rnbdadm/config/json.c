// SPDX-License-Identifier: GPL-2.0
/* The configuration as JSON, for 'config save -j' and 'config show -j'. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "config/sections.h"

static const char *const lists[CONF_KINDS] = { "defaults", "sessions", "devices", "peers", "exports" };

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
