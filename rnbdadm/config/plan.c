// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "config/plan.h"
#include "grammar/settings.h"
#include "host/owners.h"
#include "task/dry-run.h"
#include "task/new-paths.h"
#include "task/select.h"

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

/* The verb, and the name that it is about. */
static void words(struct plan_step *st, const char *a, const char *b, const char *name)
{
	strlist_add(&st->command, a);
	if (b)
		strlist_add(&st->command, b);
	plan_name(&st->command, name);
}

static void word(struct plan_step *st, const char *word)
{
	strlist_add(&st->command, word);
}

static void word_port(struct plan_step *st, const struct addr_pair *pair)
{
	if (pair->dst.port && pair->dst.port != ADDR_DEFAULT_PORT)
		strlist_addf(&st->command, "--dest-port=%u", pair->dst.port);
}

static void word_value(struct maker *m, struct plan_step *st, const struct conf_section *s,
		       enum conf_key k, const char *option)
{
	const struct conf_value *v = conf_get(m->c, s, k);

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

static void plan_path_add(struct maker *m, enum plan_stage stage, const struct conf_section *s,
			  const struct conf_path *way)
{
	struct plan_step *st = add_step(m, stage, PLAN_ADD, PLAN_PATH);
	struct addr_pair pair = conf_pair(m->c, s, way);

	st->session = s->name;
	st->section = s;
	st->way = way;
	st->source = way->at;
	st->name = way->resolved ? way_text(&pair) : xstrdup(way->text);
	words(st, "path", "add", s->name);
	word(st, st->name);
	word_port(st, &pair);
	word_value(m, st, s, CK_WAIT, "timeout");
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
	word(st, "--path");
	word(st, text);
	free(text);
	word_port(st, &pair);
	word_value(m, st, s, CK_CONNECTIONS, "connections");
	if (polls != M_UNKNOWN && polls != UINT32_MAX)
		strlist_addf(&st->command, "--poll-queues=%llu", (unsigned long long)polls);
	else if (polls == UINT32_MAX)
		strlist_add(&st->command, "--poll-queues=all");
	word_value(m, st, s, CK_MP_POLICY, "mp-policy");
	word_value(m, st, s, CK_WAIT, "timeout");
	conf_settings(m->c, s, &set);
	settings_words(&st->command, &set);
	for (size_t i = 0; i < s->npaths; i++)
		if (i != first)
			plan_path_add(m, STAGE_CONNECT, s, &s->paths[i]);
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
	st->source = conf_given(m->c, s, k)->at;
	words(st, "session", "set", s->name);
	strlist_addf(&st->command, "--%s=%s", conf_key_name(k), new);
}

static const char *device_reason(enum conf_key k, const char *old, const char *new)
{
	bool ends = k == CK_ACCESS && old && !strcmp(old, "migration") && !strcmp(new, "rw");

	return ends ? "'rnbdadm device set' makes it so" : "it needs an unmap";
}

/* Takes @old, which may be NULL, and @new. */
static void add_unmet(struct maker *m, const struct conf_section *s, enum conf_key k, char *old,
		      char *new)
{
	const struct conf_value *v =
		conf_given(m->c, k == CK_POLL_QUEUES ? conf_poll_section(m->c, s) : s, k);
	bool device = s->kind == CONF_DEVICE;
	struct plan *p = m->p;

	p->unmet = xrealloc(p->unmet, (p->nunmet + 1) * sizeof(*p->unmet));
	p->unmet[p->nunmet++] = (struct plan_unmet){
		.object = device ? PLAN_DEVICE : PLAN_SESSION, .key = k, .old = old, .new = new,
		.session = device ? s->v[CK_SESSION].text : s->name, .name = s->name,
		.reason = device ? device_reason(k, old, new) :
			  k < CK_SETTINGS ? "the loaded modules have no such setting" :
					    "only a new session takes it",
		.source = v ? v->at : s->at,
	};
}

/* What a session keeps as it began. */
static void plan_lasting(struct maker *m, const struct conf_section *s, enum conf_key k,
			 uint64_t have, uint64_t want)
{
	if (want != M_UNKNOWN && want != UINT32_MAX && have != M_UNKNOWN && want != have)
		add_unmet(m, s, k, xasprintf("%llu", (unsigned long long)have),
			  xasprintf("%llu", (unsigned long long)want));
}

static void plan_settings(struct maker *m, const struct conf_section *s, const struct session *sess)
{
	uint64_t polls = conf_poll_queues(m->c, s);
	struct session_settings want;

	conf_settings_now(m->c, s, &want);
	if (want.mp_policy != M_UNKNOWN && want.mp_policy != sess->set.mp_policy) {
		const char *old = mp_policy_name(sess->set.mp_policy);

		plan_change(m, s, sess, CK_MP_POLICY, old ? xstrdup(old) : NULL,
			    xstrdup(mp_policy_name(want.mp_policy)));
	}
	for (int i = 0; i < SET_N; i++) {
		enum conf_key k = (enum conf_key)i;
		int64_t have = sess->set.v[i];

		if (want.v[i] == M_UNKNOWN_INT || want.v[i] == have)
			continue;
		if (have != M_UNKNOWN_INT)
			plan_change(m, s, sess, k, setting_text((enum m_setting)i, have),
				    setting_text((enum m_setting)i, want.v[i]));
		else if (conf_get(m->c, s, k))
			add_unmet(m, s, k, NULL, setting_text((enum m_setting)i, want.v[i]));
	}
	if (polls == M_UNKNOWN && conf_given(m->c, s, CK_POLL_QUEUES))
		polls = 0;
	plan_lasting(m, s, CK_POLL_QUEUES, sess->poll_queues, polls);
	plan_lasting(m, s, CK_CONNECTIONS, snapshot_connections(m->s, sess),
		     conf_uint(m->c, s, CK_CONNECTIONS, M_UNKNOWN));
}

static void plan_path_remove(struct maker *m, const struct conf_section *s, const struct path *p)
{
	struct plan_step *st = add_step(m, STAGE_PATHS, PLAN_REMOVE, PLAN_PATH);
	char *path;

	st->session = s->name;
	st->section = s;
	st->id = p->id;
	st->source = s->at;
	st->name = xstrdup(p->name);
	words(st, "path", "remove", s->name);
	path = path_word(m->s, p);
	word(st, path);
	free(path);
}

static bool is_up(const struct path *p)
{
	return !strcmp(path_state_name(p->state), "connected");
}

/* The running paths of a session; those that are configured ones are taken. */
struct running {
	const struct index_entry *e;
	bool *taken;
	size_t n;
};

/* The running path that a configured one is, of those that are none yet; -1 for none. */
static ssize_t find_path(const struct maker *m, const struct running *r,
			 const struct addr_pair *pair)
{
	ssize_t found = -1;

	for (size_t i = 0; i < r->n; i++) {
		const struct path *p = &m->s->paths.v[r->e[i].pos];

		if (r->taken[i] || !addr_pair_matches(pair, &p->client, &p->server))
			continue;
		if (found < 0 || (is_up(p) && !is_up(&m->s->paths.v[r->e[found].pos])))
			found = (ssize_t)i;
	}
	return found;
}

/* One over another port goes first: a session has no two paths of the same addresses. */
static void plan_missing(struct maker *m, struct running *r, const struct conf_section *s,
			 const struct conf_path *way, bool may_remove)
{
	struct addr_pair pair = conf_pair(m->c, s, way);
	enum plan_stage stage = STAGE_CONNECT;
	ssize_t at;

	pair.dst.port = 0;
	at = may_remove ? find_path(m, r, &pair) : -1;
	if (at >= 0) {
		stage = STAGE_PATHS;
		plan_path_remove(m, s, &m->s->paths.v[r->e[at].pos]);
		r->taken[at] = true;
	}
	plan_path_add(m, stage, s, way);
}

static void plan_paths(struct maker *m, const struct conf_section *s, const struct session *sess)
{
	bool *done = xcalloc(s->npaths + 1, sizeof(*done));
	bool may_remove = m->o->mode != PLAN_ADD_ONLY;
	struct running r = { 0 };

	r.e = index_find(&m->s->session_paths, sess->id, &r.n);
	r.taken = xcalloc(r.n + 1, sizeof(*r.taken));
	/* those that name both ends choose first */
	for (int any = 0; any < 2; any++) {
		for (size_t i = 0; i < s->npaths; i++) {
			const struct conf_path *way = &s->paths[i];
			struct addr_pair pair = conf_pair_sought(m->c, s, way);
			ssize_t at;

			if (!way->resolved || (way->pair.src.family == ADDR_NONE) != any)
				continue;
			at = find_path(m, &r, &pair);
			if (at >= 0)
				done[i] = r.taken[at] = true;
		}
	}
	/* without its address nobody knows whether it is one of those that are there */
	for (size_t i = 0; i < s->npaths; i++)
		may_remove = may_remove && s->paths[i].resolved;
	for (size_t i = 0; i < s->npaths; i++)
		if (!done[i])
			plan_missing(m, &r, s, &s->paths[i], may_remove);
	for (size_t i = 0; i < r.n && may_remove; i++)
		if (!r.taken[i])
			plan_path_remove(m, s, &m->s->paths.v[r.e[i].pos]);
	free(r.taken);
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

/* A mapping keeps its access, its I/O mode, and whether its writes go with FUA. */
static void plan_access(struct maker *m, const struct conf_section *s, const struct device *d)
{
	const struct conf_value *v = conf_given(m->c, s, CK_ACCESS);
	const char *old = access_name(d->access);
	uint64_t want;

	if (v && access_parse(*v->text ? v->text : "rw", &want) && d->access != M_UNKNOWN &&
	    want != d->access)
		add_unmet(m, s, CK_ACCESS, old ? xstrdup(old) : NULL, xstrdup(access_name(want)));
	v = conf_given(m->c, s, CK_IO_MODE);
	if (v && io_mode_parse(v->text, &want) && d->io_mode != M_UNKNOWN && want != d->io_mode)
		add_unmet(m, s, CK_IO_MODE, xstrdup(io_mode_name(d->io_mode)), xstrdup(v->text));
	if (conf_given(m->c, s, CK_FUA) && d->always_fua != M_UNKNOWN &&
	    conf_yes(m->c, s, CK_FUA) != d->always_fua)
		add_unmet(m, s, CK_FUA, xstrdup(d->always_fua ? "yes" : "no"),
			  xstrdup(d->always_fua ? "no" : "yes"));
}

static void plan_device(struct maker *m, const struct conf_section *s)
{
	const char *session = s->v[CK_SESSION].text, *path = s->v[CK_DEVICE_PATH].text;
	const struct device *d = find_device(m->s, session, path);
	const struct strlist *more = m->o->map_words;
	struct plan_step *st;

	if (d && m->o->mode != PLAN_ADD_ONLY)
		plan_access(m, s, d);
	if (d)
		return;
	st = add_step(m, STAGE_MAP, PLAN_ADD, PLAN_DEVICE);
	st->session = session;
	st->section = s;
	st->source = s->at;
	st->name = xstrdup(s->name);
	st->optional = conf_yes(m->c, s, CK_OPTIONAL);
	words(st, "map", NULL, path);
	word(st, "--session");
	word(st, session);
	word_value(m, st, s, CK_ACCESS, "access");
	word_value(m, st, s, CK_IO_MODE, "io-mode");
	if (conf_yes(m->c, s, CK_FUA))
		word(st, "--fua");
	strlist_addf(&st->command, "--name=%s", s->name);
	word_value(m, st, conf_find(m->c, CONF_SESSION, session), CK_WAIT, "timeout");
	for (size_t i = 0; more && i < more->n; i++)
		strlist_add(&st->command, more->v[i]);
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
		words(st, "unmap", NULL, name);
	else
		words(st, "session", "remove", name);
	if (m->o->force)
		word(st, "--force");
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
		if ((c->v[i].kind != CONF_SESSION && c->v[i].kind != CONF_DEVICE) || !selected(&m, &c->v[i]))
			continue;
		if (c->v[i].kind == CONF_SESSION)
			plan_session(&m, &c->v[i]);
		else if (c->v[i].kind == CONF_DEVICE)
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
	for (size_t i = 0; i < p->nunmet; i++) {
		free(p->unmet[i].old);
		free(p->unmet[i].new);
	}
	free(p->v);
	free(p->unlisted);
	free(p->unmet);
	memset(p, 0, sizeof(*p));
}
