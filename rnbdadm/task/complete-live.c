// SPDX-License-Identifier: GPL-2.0
/* The part of completion that the kernel knows: sessions, paths, devices, exports. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "grammar/settings.h"
#include "host/disks.h"
#include "task/complete-live.h"

static bool on_server(const struct parsed *p)
{
	return args_server(p) || (p->object && !strncmp(p->object, "server", 6));
}

/* Looking for a family that is not there would make the kernel load modules. */
static bool is_loaded(const struct complete *c)
{
	char *version;
	bool there = sys_module(c->ctx->test_root, "rtrs_core", &version);

	free(version);
	return there;
}

static bool read_lists(struct complete *c, enum m_role role, unsigned int what, struct snapshot *s)
{
	if (is_loaded(c) && ctx_snapshot(c->ctx, role, what, s))
		return true;
	memset(s, 0, sizeof(*s));
	fail_clear(&c->ctx->fail);
	return false;
}

static bool verb_is(const struct parsed *p, const char *words)
{
	const char *verb = p->cmd && p->cmd->verb ? p->cmd->verb : p->object;
	size_t n = verb ? strlen(verb) : 0;

	for (; n && *words; words += strcspn(words, "|"), words += *words == '|')
		if (strcspn(words, "|") == n && !strncmp(words, verb, n))
			return true;
	return false;
}

/* Is it on the line already? */
static bool taken(const struct parsed *p, const char *name)
{
	for (size_t i = 0; i < p->nargs; i++)
		if (!strcmp(p->args[i], name))
			return true;
	return false;
}

/*
 * What the verb would change comes first: 1, what it would not: 0, what the line rules
 * out: -1.
 */
static int rank(const struct parsed *p, bool up, bool down)
{
	if (verb_is(p, "reconnect|recover|remap"))
		return !up ? 1 : args_has(p, OPT_ONLY_DOWN) ||
			   args_has(p, OPT_ONLY_DISCONNECTED) ? -1 : 0;
	if (verb_is(p, "disconnect"))
		return !down;
	return 1;
}

static int session_rank(const struct parsed *p, const struct session *s)
{
	const char *state = session_state_name(s->state);

	if (verb_is(p, "remove"))
		return s->devices == 0;
	return rank(p, !strcmp(state, "connected"), !strcmp(state, "disconnected"));
}

static void add_sessions(struct complete *c, const struct snapshot *s)
{
	for (int want = 1; want >= 0; want--) {
		for (size_t i = 0; i < s->sessions.n; i++) {
			const struct session *ses = &s->sessions.v[i];

			if (session_rank(c->p, ses) == want)
				complete_add(c, ses->name, "session, %s, %" PRIu64 " of %" PRIu64
					     " paths", session_state_name(ses->state),
					     ses->paths_connected, ses->paths_configured);
		}
	}
}

static int device_rank(const struct parsed *p, const struct device *d)
{
	const char *session = args_value(p, OPT_SESSION), *state = device_state_name(d->state);

	if ((session && strcmp(d->session, session)) || taken(p, d->name) ||
	    taken(p, d->device_path))
		return -1;
	return rank(p, !strcmp(state, "mapped"), false);
}

/* Disks first, then what they are called on the server. */
static void add_devices(struct complete *c, const struct snapshot *s)
{
	for (int pass = 0; pass < 2; pass++) {
		for (int want = 1; want >= 0; want--) {
			for (size_t i = 0; i < s->devices.n; i++) {
				const struct device *d = &s->devices.v[i];
				const char *state = device_state_name(d->state);

				if (device_rank(c->p, d) != want)
					continue;
				if (!pass)
					complete_add(c, d->name, "%s on %s, %s", d->device_path,
						     d->session, state);
				else
					complete_add(c, d->device_path, "%s on %s, %s", d->name,
						     d->session, state);
			}
		}
	}
	c->files = *c->tail == '/';
}

static void add_exports(struct complete *c)
{
	const char *client = args_value(c->p, OPT_SESSION);
	struct snapshot s;

	if (!read_lists(c, M_SERVER, NL_EXPORTS, &s))
		return;
	for (size_t i = 0; i < s.exports.n; i++) {
		const struct export *e = &s.exports.v[i];

		/* sorted by device */
		if ((client && strcmp(e->session, client)) ||
		    (i && !client && !strcmp(e->name, s.exports.v[i - 1].name)))
			continue;
		complete_add(c, e->name, "%s of %s", e->device_path, e->session);
	}
	snapshot_free(&s);
	c->files = *c->tail == '/';
}

/* Sessions, mapped devices, or both. */
static void add_objects(struct complete *c, bool sessions, bool devices)
{
	enum m_role role = on_server(c->p) ? M_SERVER : M_CLIENT;
	struct snapshot s;

	devices &= role == M_CLIENT;
	if (!read_lists(c, role, (sessions ? NL_SESSIONS : 0) | (devices ? NL_DEVICES : 0), &s))
		return;
	if (sessions)
		add_sessions(c, &s);
	if (devices)
		add_devices(c, &s);
	snapshot_free(&s);
}

static void add_path(struct complete *c, const struct path *p)
{
	char src[ADDR_TEXT_MAX], dst[ADDR_TEXT_MAX], *bare;
	const char *state = path_state_name(p->state);

	complete_add(c, p->name, "%s, %s:%" PRIu64, state, p->hca, p->hca_port);
	/* the other ways to say it */
	addr_format(&p->server, dst);
	complete_other(c, dst, state);
	addr_format_bare(&p->client, src);
	addr_format_bare(&p->server, dst);
	complete_other(c, dst, state);
	bare = xasprintf("%s@%s", src, dst);
	complete_other(c, bare, state);
	free(bare);
}

/* Paths of the session that the line names. */
static void add_paths(struct complete *c)
{
	const char *session = c->p->nargs ? c->p->args[0] : NULL;
	struct snapshot s;

	if (!read_lists(c, on_server(c->p) ? M_SERVER : M_CLIENT, NL_PATHS, &s))
		return;
	for (int want = 1; want >= 0; want--) {
		for (size_t i = 0; i < s.paths.n; i++) {
			const struct path *p = &s.paths.v[i];
			const char *state = path_state_name(p->state);

			if ((session && strcmp(p->session, session)) || taken(c->p, p->name))
				continue;
			if (rank(c->p, !strcmp(state, "connected"),
				 !strcmp(state, "disconnected")) == want)
				add_path(c, p);
		}
	}
	snapshot_free(&s);
}

/* Is there a path of the session between what the head holds and @dst? */
static bool is_path(const struct complete *c, const struct snapshot *s, const char *dst)
{
	char *name = xasprintf("%s%s", strrchr(c->head, '=') ? strrchr(c->head, '=') + 1 : c->head,
			       dst);
	const char *session = c->p->nargs ? c->p->args[0] : NULL;
	bool found = taken(c->p, name);

	for (size_t i = 0; i < s->paths.n && session; i++)
		found |= !strcmp(s->paths.v[i].session, session) &&
			 !strcmp(s->paths.v[i].name, name);
	free(name);
	return found;
}

static void add_once(struct complete *c, struct strlist *seen, const char *word, const char *text)
{
	if (strlist_has(seen, word))
		return;
	strlist_add(seen, word);
	complete_add(c, word, "%s", text);
}

/* [SRC@]DST of a path that is to be: addresses of the paths that are there. */
static void add_addresses(struct complete *c)
{
	bool with_src = strchr(c->tail, '@') || strchr(c->tail, ',');
	struct strlist seen = { 0 };
	struct snapshot s;

	complete_skip(c, strchr(c->tail, '@') ? '@' : ',');
	if (!read_lists(c, M_CLIENT, NL_PATHS, &s))
		return;
	for (size_t i = 0; i < s.paths.n; i++) {
		char src[ADDR_TEXT_MAX + 1], dst[ADDR_TEXT_MAX];

		addr_format(&s.paths.v[i].client, src);
		strcat(src, "@");
		addr_format(&s.paths.v[i].server, dst);
		if (!with_src)
			add_once(c, &seen, src, "an address of this host");
		if (!with_src || !is_path(c, &s, dst))
			add_once(c, &seen, dst, "an address of a server");
	}
	strlist_free(&seen);
	snapshot_free(&s);
}

static void add_hcas(struct complete *c)
{
	struct strlist l = { 0 };

	sys_ports(c->ctx->test_root, &l);
	for (size_t i = 0; i < l.n; i++)
		complete_add(c, l.v[i], "port of an RDMA device");
	strlist_free(&l);
}

/* Names of the access list: peers, exports, or with ACCESS_KINDS both. */
static void add_listed(struct complete *c, enum access_kind which)
{
	struct access_list l = { 0 };
	struct nl_error e;

	if (is_loaded(c) && ctx_kernel(c->ctx))
		c->ctx->kernel->ops->access(c->ctx->kernel, ACCESS_GET, NULL, &l, &e);
	for (int kind = 0; kind < ACCESS_KINDS; kind++) {
		for (size_t i = 0; i < l.of[kind].n && (which == ACCESS_KINDS || kind == (int)which); i++) {
			const struct access_item *x = &l.of[kind].v[i];

			complete_add(c, x->name, "%s", x->of[AK_PATH].n ? x->of[AK_PATH].v[0].word : "peer");
		}
	}
	access_free(&l);
	fail_clear(&c->ctx->fail);
}

/* PEER, and after its colon a mode; with commas for more */
static void add_grants(struct complete *c)
{
	static const char *const modes[] = { "ro", "rw", "migration" };

	complete_skip(c, ',');
	if (!strchr(c->tail, ':')) {
		add_listed(c, ACCESS_PEER);
		complete_add(c, "*", "each peer");
		return;
	}
	complete_skip(c, ':');
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		complete_add(c, modes[i], "%s", "");
}

/* What the session has now. */
static void add_setting(struct complete *c)
{
	const struct opt *o = &opt_table[c->opt];
	char *start = xasprintf("--%s=", o->name);
	struct strlist words = { 0 };
	const struct session *ses;
	struct snapshot s;

	if (c->p->nargs && verb_is(c->p, "set") && read_lists(c, M_CLIENT, NL_SESSIONS, &s)) {
		ses = snapshot_session(&s, c->p->args[0]);
		if (ses)
			settings_words(&words, &ses->set);
		snapshot_free(&s);
	}
	for (size_t i = 0; i < words.n; i++)
		if (!strncmp(words.v[i], start, strlen(start)))
			complete_add(c, words.v[i] + strlen(start), "as it is now");
	strlist_free(&words);
	free(start);
}

void complete_live(struct complete *c, const char *what)
{
	bool server = on_server(c->p);

	if (!strcmp(what, "PEER") || !strcmp(what, "EXPORT"))
		add_listed(c, *what == 'P' ? ACCESS_PEER : ACCESS_EXPORT);
	else if (!strcmp(what, "PEER[:MODE]"))
		add_grants(c);
	else if (!strcmp(what, "NAME") && server && !verb_is(c->p, "add"))
		add_listed(c, ACCESS_KINDS);
	else if (!strcmp(what, "SESSION"))
		add_objects(c, true, false);
	else if (!strcmp(what, "DEVICE") && server)
		add_exports(c);
	else if (!strcmp(what, "DEVICE"))
		add_objects(c, false, true);
	else if (!strcmp(what, "NAME") || !strcmp(what, "SELECTOR"))
		add_objects(c, true, true);
	else if (!strcmp(what, "[SRC@]DST") || (!strcmp(what, "PATH") && verb_is(c->p, "add")))
		add_addresses(c);
	else if (!strcmp(what, "PATH"))
		add_paths(c);
	else if (!strncmp(what, "HCA", 3) || !strcmp(what, "PORT"))
		add_hcas(c);
	else if (c->opt)
		add_setting(c);
}
