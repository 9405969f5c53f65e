// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/output.h"
#include "task/known.h"

/* What no event tells, or what moves all the time. */
static const char *const left_out[] = {
	"paths", "devices", "netdev", "link_layer", "gid_index", "holders", "mountpoints", "links",
	"openers", "counters", "owner",
};
static const char *const moving[] = {
	"heartbeat_latency_ns", "since", "pinned_bytes", "pinned_max_bytes", "open_count",
	"reconnect_attempts",
};

void watch_init(struct watch *w)
{
	w->objects = json_object();
	w->lost = json_object();
}

void watch_free(struct watch *w)
{
	json_decref(w->objects);
	json_decref(w->lost);
}

static bool in_list(const char *const *list, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], key))
			return true;
	return false;
}

static void set_key(char key[32], const char *kind, uint64_t role, uint32_t id)
{
	snprintf(key, 32, "%s:%" PRIu64 ":%" PRIu32, kind, role, id);
}

static void fill(struct seen *s, unsigned int what, const char *object, json_t *data, uint32_t id)
{
	s->what = what;
	s->object = object;
	s->data = data;
	for (size_t i = 0; i < ARRAY_SIZE(left_out); i++)
		json_object_del(data, left_out[i]);
	js_set(data, "id", json_integer(id));
}

static const struct object_opts plain = { .root = "" };

void watch_session(const struct session *sess, struct seen *s)
{
	struct snapshot none = { 0 };
	bool server = sess->role == M_SERVER;

	set_key(s->key, "session", sess->role, sess->id);
	set_key(s->session_key, "session", sess->role, sess->id);
	fill(s, server ? WATCH_CLIENT : WATCH_SESSION, server ? "client" : "session",
	     js_session(sess, &none, &plain), sess->id);
}

void watch_path(const struct path *p, struct seen *s)
{
	struct snapshot none = { 0 };

	set_key(s->key, "path", p->role, p->id);
	set_key(s->session_key, "session", p->role, p->session_id);
	fill(s, WATCH_PATH, "path", js_path(p, &none, &plain), p->id);
	js_set(s->data, "role", json_string(role_name(p->role)));
}

void watch_stats(const struct watch *w, const struct stats *st, struct seen *s)
{
	json_t *known;
	struct path p;

	path_init(&p);
	p.id = st->path_id;
	p.session_id = st->session_id;
	p.role = st->role;
	p.hca_port = st->hca_port;
	memcpy(p.session, st->session, sizeof(p.session));
	memcpy(p.name, st->path, sizeof(p.name));
	memcpy(p.hca, st->hca, sizeof(p.hca));
	memset(s, 0, sizeof(*s));
	watch_path(&p, s);
	s->counters = &st->c;
	known = json_object_get(w->objects, s->key);
	if (!known)
		return;
	json_decref(s->data);
	s->data = json_incref(known);
}

void watch_device(const struct device *d, struct seen *s)
{
	set_key(s->key, "device", M_CLIENT, d->id);
	set_key(s->session_key, "session", M_CLIENT, d->session_id);
	fill(s, WATCH_DEVICE, "device", js_device(d, &plain), d->id);
	js_set(s->data, "role", json_string("client"));
	js_set(s->data, "last_error", js_errno(d->last_error));
}

void watch_export(const struct export *e, struct seen *s)
{
	json_t *o = js_export(e, 1, &plain), *c = json_array_get(json_object_get(o, "clients"), 0);

	set_key(s->key, "export", M_SERVER, e->id);
	set_key(s->session_key, "session", M_SERVER, e->session_id);
	/* one opening: the client's keys beside those of the device */
	json_object_update_missing(o, c);
	js_set_str(o, "name", e->name);
	js_set(o, "role", json_string("server"));
	/* what sysfs knows of the device, no event tells */
	json_object_set(o, "read_only", json_object_get(c, "read_only"));
	json_object_del(o, "clients");
	json_object_del(o, "used_by");
	fill(s, WATCH_EXPORT, "export", o, e->id);
}

void watch_event(const struct nl_event *ev, struct seen *s)
{
	memset(s, 0, sizeof(*s));
	switch (ev->kind) {
	case NL_IS_SESSION:
		watch_session(&ev->session, s);
		s->old_state = session_state_name(ev->old_state);
		break;
	case NL_IS_PATH:
		watch_path(&ev->path, s);
		s->old_state = path_state_name(ev->old_state);
		break;
	case NL_IS_DEVICE:
		watch_device(&ev->device, s);
		s->old_state = device_state_name(ev->old_state);
		break;
	case NL_IS_EXPORT:
		watch_export(&ev->export, s);
		break;
	case NL_IS_ACCESS:
		return;
	}
	s->edge = ev->edge;
	if (ev->old_state == M_UNKNOWN)
		s->old_state = NULL;
}

void watch_learn(struct watch *w, const struct seen *s)
{
	json_object_set(w->objects, s->key, s->data);
}

static void put_change(json_t *changes, const char *key, json_t *old, json_t *new)
{
	json_t *c = json_object();

	js_set(c, "old", old ? json_incref(old) : json_null());
	js_set(c, "new", new ? json_incref(new) : json_null());
	js_set(changes, key, c);
}

/* Why a path of the session went, for the edge of the session that follows. */
static void note_lost(struct watch *w, const struct seen *s)
{
	json_t *why = json_object_get(s->data, "last_error");
	const char *state = json_string_value(json_object_get(s->data, "state"));

	if (s->what != WATCH_PATH)
		return;
	if (s->edge != NL_DESTROY && state && strcmp(state, "connected") && json_is_string(why))
		json_object_set(w->lost, s->session_key, why);
	else
		json_object_del(w->lost, s->session_key);
}

json_t *watch_apply(struct watch *w, struct seen *s)
{
	json_t *known = json_object_get(w->objects, s->key), *changes = json_object(), *v;
	const char *key;

	json_incref(known);
	json_object_foreach(s->data, key, v)
		if (known && !in_list(moving, ARRAY_SIZE(moving), key) &&
		    !json_equal(json_object_get(known, key), v))
			put_change(changes, key, json_object_get(known, key), v);
	json_decref(known);
	if ((s->edge == NL_CREATE && known) || (s->edge != NL_CREATE && !known) ||
	    (s->edge == NL_CHANGE && !json_object_size(changes))) {
		json_decref(changes);
		return NULL;
	}
	if (s->edge == NL_DESTROY)
		json_object_del(w->objects, s->key);
	else
		watch_learn(w, s);
	if (s->edge == NL_DESTROY && (s->what & (WATCH_SESSION | WATCH_CLIENT)))
		json_object_del(w->lost, s->session_key);
	else
		note_lost(w, s);
	if (s->edge != NL_CHANGE)
		json_object_clear(changes);
	return changes;
}

const char *watch_reason(const struct watch *w, const struct seen *s)
{
	const char *state = json_string_value(json_object_get(s->data, "state"));

	if (!state || !strcmp(state, "connected") || !strcmp(state, "mapped"))
		return NULL;
	if (s->what & (WATCH_SESSION | WATCH_CLIENT))
		return json_string_value(json_object_get(w->lost, s->session_key));
	return json_string_value(json_object_get(s->data, "last_error"));
}
