// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "registry.h"
#include "settings.h"
#include "way.h"

struct maker {
	struct plan *p;
	const struct conf *c;
	const struct snapshot *s;
	const struct plan_opts *o;
};

static struct plan_step *add_step(struct maker *m, enum plan_stage stage, enum plan_action action,
				  enum plan_object object)
{
	struct plan *p = m->p;
	struct plan_step *st;

	p->v = xrealloc(p->v, (p->n + 1) * sizeof(*p->v));
	st = &p->v[p->n++];
	*st = (struct plan_step){ .stage = stage, .action = action, .object = object };
	return st;
}

static void words(struct plan_step *st, const char *a, const char *b, const char *c)
{
	strlist_add(&st->command, a);
	if (b)
		strlist_add(&st->command, b);
	if (c)
		strlist_add(&st->command, c);
}

static void word_port(struct plan_step *st, const struct addr_pair *pair)
{
	if (pair->dst.port && pair->dst.port != ADDR_DEFAULT_PORT)
		strlist_addf(&st->command, "--dest-port=%u", pair->dst.port);
}

static void word_value(struct maker *m, struct plan_step *st, enum conf_key k, const char *option)
{
	const struct conf_value *v = conf_get(m->c, st->section, k);

	if (v)
		strlist_addf(&st->command, "--%s=%s", option, v->text);
}

static bool only_has(const struct maker *m, const char *kind, const char *name)
{
	char *word = xasprintf("%s:%s", kind, name);
	bool has = strlist_has(m->o->only, word);

	free(word);
	return has;
}

static bool selected(const struct maker *m, const struct conf_section *s)
{
	if (!m->o->only || !m->o->only->n || only_has(m, conf_kind_name(s->kind), s->name))
		return true;
	if (s->kind == CONF_DEVICE)
		return only_has(m, "session", s->v[CK_SESSION].text);
	/* a device needs its session */
	for (size_t i = 0; i < m->c->n; i++) {
		const struct conf_section *d = &m->c->v[i];

		if (d->kind == CONF_DEVICE && only_has(m, "device", d->name) &&
		    !strcmp(d->v[CK_SESSION].text, s->name))
			return true;
	}
	return false;
}

static void plan_path_add(struct maker *m, const struct conf_section *s, const struct conf_path *way)
{
	struct plan_step *st = add_step(m, STAGE_CONNECT, PLAN_ADD, PLAN_PATH);
	struct addr_pair pair = conf_pair(m->c, s, way);

	st->session = s->name;
	st->section = s;
	st->way = way;
	st->source = way->at;
	st->name = way->resolved ? way_text(&pair) : xstrdup(way->text);
	words(st, "session", "add-path", s->name);
	words(st, st->name, NULL, NULL);
	word_port(st, &pair);
}

/* By its first path that has an address; the others are added to it. */
static void plan_session_add(struct maker *m, const struct conf_section *s)
{
	struct plan_step *st = add_step(m, STAGE_CONNECT, PLAN_ADD, PLAN_SESSION);
	uint64_t polls = conf_poll_queues(m->c, s);
	struct session_settings set;
	struct addr_pair pair;
	size_t first = 0;
	char *text;

	while (first + 1 < s->npaths && !s->paths[first].resolved)
		first++;
	if (!s->paths[first].resolved)
		first = 0;
	st->session = s->name;
	st->section = s;
	st->way = &s->paths[first];
	st->source = s->at;
	st->name = xstrdup(s->name);
	pair = conf_pair(m->c, s, st->way);
	text = st->way->resolved ? way_text(&pair) : xstrdup(st->way->text);
	words(st, "session", "add", s->name);
	words(st, "--path", text, NULL);
	free(text);
	word_port(st, &pair);
	word_value(m, st, CK_CONNECTIONS, "connections");
	if (polls != M_UNKNOWN && polls != UINT32_MAX)
		strlist_addf(&st->command, "--poll-queues=%llu", (unsigned long long)polls);
	else if (polls == UINT32_MAX)
		strlist_add(&st->command, "--poll-queues=all");
	word_value(m, st, CK_MP_POLICY, "mp-policy");
	word_value(m, st, CK_WAIT, "timeout");
	conf_settings(m->c, s, &set);
	settings_words(&st->command, &set);
	for (size_t i = 0; i < s->npaths; i++)
		if (i != first)
			plan_path_add(m, s, &s->paths[i]);
}

static void plan_change(struct maker *m, const struct conf_section *s, const struct session *sess,
			enum conf_key k, char *old, char *new)
{
	struct plan_step *st = add_step(m, STAGE_SETTINGS, PLAN_CHANGE, PLAN_SESSION);

	st->session = s->name;
	st->section = s;
	st->id = sess->id;
	st->key = k;
	st->name = conf_key_json(k);
	st->old = old;
	st->new = new;
	st->source = conf_get(m->c, s, k)->at;
	if (k == CK_MP_POLICY) {
		words(st, "mp-policy", "set", s->name);
		words(st, new, NULL, NULL);
	} else {
		words(st, "session", "set", s->name);
		strlist_addf(&st->command, "--%s=%s", conf_key_name(k), new);
	}
}

static void plan_settings(struct maker *m, const struct conf_section *s, const struct session *sess)
{
	uint64_t polls = conf_poll_queues(m->c, s);
	struct session_settings want;

	conf_settings(m->c, s, &want);
	if (want.mp_policy != M_UNKNOWN && want.mp_policy != sess->set.mp_policy) {
		const char *old = mp_policy_name(sess->set.mp_policy);

		plan_change(m, s, sess, CK_MP_POLICY, old ? xstrdup(old) : NULL,
			    xstrdup(mp_policy_name(want.mp_policy)));
	}
	for (int i = 0; i < SET_N; i++) {
		if (want.v[i] == M_UNKNOWN_INT || want.v[i] == sess->set.v[i])
			continue;
		if (sess->set.v[i] == M_UNKNOWN_INT)
			strlist_addf(&m->p->notes, "session %s: the loaded modules have no %s",
				     s->name, conf_key_name((enum conf_key)i));
		else
			plan_change(m, s, sess, (enum conf_key)i,
				    setting_text((enum m_setting)i, sess->set.v[i]),
				    setting_text((enum m_setting)i, want.v[i]));
	}
	if (polls != M_UNKNOWN && polls != UINT32_MAX && sess->poll_queues != M_UNKNOWN &&
	    polls != sess->poll_queues)
		strlist_addf(&m->p->notes, "session %s: poll-queues hold for a new session; it has "
			     "%llu", s->name, (unsigned long long)sess->poll_queues);
}

static void plan_path_remove(struct maker *m, const struct conf_section *s, const struct path *p)
{
	struct plan_step *st = add_step(m, STAGE_PATHS, PLAN_REMOVE, PLAN_PATH);

	st->session = s->name;
	st->section = s;
	st->id = p->id;
	st->source = s->at;
	st->name = xstrdup(p->name);
	words(st, "session", "remove-path", s->name);
	words(st, p->name, NULL, NULL);
}

static bool is_up(const struct path *p)
{
	return !strcmp(path_state_name(p->state), "connected");
}

/* The running path that a configured one is, of those that are none yet; -1 for none. */
static ssize_t find_path(const struct maker *m, const struct conf_section *s, size_t way,
			 const struct index_entry *e, const bool *taken, size_t n)
{
	struct addr_pair pair = conf_pair(m->c, s, &s->paths[way]);
	ssize_t found = -1;

	for (size_t i = 0; i < n; i++) {
		const struct path *p = &m->s->paths.v[e[i].pos];

		if (taken[i] || !addr_pair_matches(&pair, &p->client, &p->server))
			continue;
		if (found < 0 || (is_up(p) && !is_up(&m->s->paths.v[e[found].pos])))
			found = (ssize_t)i;
	}
	return found;
}

static void plan_paths(struct maker *m, const struct conf_section *s, const struct session *sess)
{
	size_t n;
	const struct index_entry *e = index_find(&m->s->session_paths, sess->id, &n);
	bool *taken = xcalloc(n + 1, sizeof(*taken)), *done = xcalloc(s->npaths + 1, sizeof(*done));
	bool known = true;

	/* those that name both ends choose first */
	for (int any = 0; any < 2; any++) {
		for (size_t i = 0; i < s->npaths; i++) {
			const struct conf_path *way = &s->paths[i];
			ssize_t at = -1;

			if (!way->resolved || (way->pair.src.family == ADDR_NONE) != any)
				continue;
			at = find_path(m, s, i, e, taken, n);
			if (at >= 0)
				done[i] = taken[at] = true;
		}
	}
	for (size_t i = 0; i < s->npaths; i++) {
		known = known && s->paths[i].resolved;
		if (!done[i])
			plan_path_add(m, s, &s->paths[i]);
	}
	/* without its address nobody knows whether it is one of those that are there */
	for (size_t i = 0; i < n && known && m->o->mode != PLAN_ADD_ONLY; i++)
		if (!taken[i])
			plan_path_remove(m, s, &m->s->paths.v[e[i].pos]);
	free(taken);
	free(done);
}

static void plan_session(struct maker *m, const struct conf_section *s)
{
	const struct session *sess = snapshot_session(m->s, s->name);

	if (!sess) {
		plan_session_add(m, s);
		return;
	}
	plan_paths(m, s, sess);
	if (m->o->mode != PLAN_ADD_ONLY)
		plan_settings(m, s, sess);
}

static const struct device *find_device(const struct snapshot *s, const char *session,
					const char *device_path)
{
	const struct session *sess = snapshot_session(s, session);
	size_t n;
	const struct index_entry *e = sess ? index_find(&s->session_devices, sess->id, &n) : NULL;

	for (size_t i = 0; e && i < n; i++)
		if (!strcmp(s->devices.v[e[i].pos].device_path, device_path))
			return &s->devices.v[e[i].pos];
	return NULL;
}

static void plan_device(struct maker *m, const struct conf_section *s)
{
	const char *session = s->v[CK_SESSION].text, *path = s->v[CK_DEVICE_PATH].text;
	const struct device *d = find_device(m->s, session, path);
	const struct conf_value *access = conf_get(m->c, s, CK_ACCESS);
	const struct conf_value *optional = conf_get(m->c, s, CK_OPTIONAL);
	struct plan_step *st;
	uint64_t want;

	if (d) {
		if (access && access_parse(access->text, &want) && d->access != M_UNKNOWN &&
		    want != d->access)
			strlist_addf(&m->p->notes, "device %s: access %s needs an unmap; %s is mapped "
				     "%s", s->name, access->text, d->name,
				     access_name(d->access) ? access_name(d->access) : "otherwise");
		return;
	}
	st = add_step(m, STAGE_MAP, PLAN_ADD, PLAN_DEVICE);
	st->session = session;
	st->section = s;
	st->source = s->at;
	st->name = xstrdup(s->name);
	st->optional = optional && !strcmp(optional->text, "yes");
	words(st, "map", *path == '-' ? NULL : path, NULL);
	words(st, "--session", session, NULL);
	word_value(m, st, CK_ACCESS, "access");
	strlist_addf(&st->command, "--name=%s", s->name);
	if (*path == '-')
		words(st, "--", path, NULL);
}

static char *owner_of(const struct maker *m, const char *session, const char *device_path)
{
	return m->o->owner ? m->o->owner(m->o->arg, session, device_path) : NULL;
}

static bool prunes(const struct maker *m, const char *owner)
{
	return m->o->prune == PRUNE_ALL ||
	       (m->o->prune == PRUNE_CONFIG && owner && !strcmp(owner, OWNER_CONFIG));
}

/* A session that is not listed stays while a device does. */
static bool is_needed(const struct maker *m, const struct session *sess)
{
	size_t n;
	const struct index_entry *e = index_find(&m->s->session_devices, sess->id, &n);
	bool needed = false;

	for (size_t i = 0; i < n && !needed; i++) {
		char *owner = owner_of(m, sess->name, m->s->devices.v[e[i].pos].device_path);

		needed = !prunes(m, owner);
		free(owner);
	}
	return needed;
}

/* Not in the configuration: removed, or told of. */
static void unlisted(struct maker *m, enum plan_object object, const struct session *sess,
		     const struct device *d)
{
	const char *session = d ? d->session : sess->name;
	const char *name = d ? d->name : sess->name, *path = d ? d->device_path : NULL;
	char *owner = owner_of(m, session, path);
	struct plan *p = m->p;
	struct plan_step *st;

	if (!prunes(m, owner) || (sess && is_needed(m, sess))) {
		p->unlisted = xrealloc(p->unlisted, (p->nunlisted + 1) * sizeof(*p->unlisted));
		p->unlisted[p->nunlisted++] = (struct plan_unlisted){ object, session, path, name, owner };
		return;
	}
	free(owner);
	st = add_step(m, STAGE_PRUNE, PLAN_REMOVE, object);
	st->session = session;
	st->id = d ? d->id : sess->id;
	st->name = xstrdup(name);
	if (d)
		words(st, "unmap", name, NULL);
	else
		words(st, "session", "remove", name);
	if (m->o->force)
		words(st, "--force", NULL, NULL);
}

/* A session that lives by its devices goes with the last of them. */
static bool goes_alone(const struct maker *m, const struct session *sess)
{
	size_t n;

	index_find(&m->s->session_devices, sess->id, &n);
	return n && sess->held == 0;
}

static void plan_unlisted(struct maker *m)
{
	for (size_t i = 0; i < m->s->devices.n; i++) {
		const struct device *d = &m->s->devices.v[i];

		if (!conf_device(m->c, d->session, d->device_path))
			unlisted(m, PLAN_DEVICE, NULL, d);
	}
	for (size_t i = 0; i < m->s->sessions.n; i++) {
		const struct session *sess = &m->s->sessions.v[i];

		if (!conf_find(m->c, CONF_SESSION, sess->name) && !goes_alone(m, sess))
			unlisted(m, PLAN_SESSION, sess, NULL);
	}
}

/* By stage, and within one as they came. */
static void sort_steps(struct plan *p)
{
	struct plan_step *v = xcalloc(p->n + 1, sizeof(*v));
	size_t n = 0;

	for (int stage = STAGE_CONNECT; stage <= STAGE_PRUNE; stage++)
		for (size_t i = 0; i < p->n; i++)
			if ((int)p->v[i].stage == stage)
				v[n++] = p->v[i];
	free(p->v);
	p->v = v;
}

void plan_make(struct plan *p, const struct conf *c, const struct snapshot *s,
	       const struct plan_opts *o)
{
	struct maker m = { p, c, s, o };

	memset(p, 0, sizeof(*p));
	p->mode = o->mode;
	for (size_t i = 0; i < c->n; i++) {
		if (c->v[i].kind == CONF_DEFAULTS || !selected(&m, &c->v[i]))
			continue;
		if (c->v[i].kind == CONF_SESSION)
			plan_session(&m, &c->v[i]);
		else
			plan_device(&m, &c->v[i]);
	}
	if (!o->only || !o->only->n)
		plan_unlisted(&m);
	sort_steps(p);
}

void plan_free(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct plan_step *st = &p->v[i];

		free(st->name);
		free(st->old);
		free(st->new);
		strlist_free(&st->command);
		fail_clear(&st->fail);
	}
	for (size_t i = 0; i < p->nunlisted; i++)
		free(p->unlisted[i].owner);
	free(p->v);
	free(p->unlisted);
	strlist_free(&p->notes);
	memset(p, 0, sizeof(*p));
}
