// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "config/sections.h"
#include "grammar/settings.h"
#include "task/new-paths.h"
#include "task/select.h"

#define DEFAULTS	(1 << CONF_DEFAULTS)
#define SESSION		(1 << CONF_SESSION)
#define DEVICE		(1 << CONF_DEVICE)
#define PEER		(1 << CONF_PEER)
#define EXPORT		(1 << CONF_EXPORT)

/* Keys are the long names of options, where there is one. */
static const struct {
	enum opt_id opt;
	const char *name, *help;
	unsigned int kinds;
	enum conf_json json;
} keys[CK_N] = {
	[SET_MAX_RECONNECT_ATTEMPTS] = { OPT_MAX_RECONNECT, .json = CONF_JSON_INT },
	[SET_HEARTBEAT_MISSES] = { OPT_HEARTBEAT_MISSES, .json = CONF_JSON_INT },
	[CK_MP_POLICY] = { OPT_MP_POLICY, .kinds = SESSION | DEFAULTS,
			   .help = "rule that picks the path of a request (round-robin)" },
	[CK_DEST_PORT] = { OPT_DEST_PORT, .kinds = SESSION | DEFAULTS, .json = CONF_JSON_INT },
	[CK_CONNECTIONS] = { OPT_CONNECTIONS, .kinds = SESSION | DEFAULTS, .json = CONF_JSON_INT },
	[CK_POLL_QUEUES] = { OPT_POLL_QUEUES, .kinds = SESSION | DEVICE | DEFAULTS,
			     .json = CONF_JSON_INT },
	[CK_WAIT] = { .name = "wait", .kinds = SESSION | DEFAULTS, .json = CONF_JSON_MS,
		      .help = "time for each path to connect, 100ms to 10m (30s)" },
	[CK_PATH] = { .name = "path", .kinds = SESSION,
		      .help = "[SRC@]DST of a path, with dest-port=N where it has a port of its "
			      "own; may be repeated" },
	[CK_SESSION] = { .name = "session", .kinds = DEVICE,
			 .help = "name of the session that it is mapped over" },
	[CK_DEVICE_PATH] = { .name = "device-path", .kinds = DEVICE,
			     .help = "name of the device on the server" },
	[CK_ACCESS] = { OPT_ACCESS, .kinds = DEVICE | DEFAULTS },
	[CK_IO_MODE] = { OPT_IO_MODE, .kinds = DEVICE | DEFAULTS | EXPORT },
	[CK_FUA] = { .name = "fua", .kinds = DEVICE | DEFAULTS, .json = CONF_JSON_BOOL,
		     .help = "yes: every write is on the server's medium before it is done (no)" },
	[CK_OPTIONAL] = { .name = "optional", .kinds = DEVICE | DEFAULTS, .json = CONF_JSON_BOOL,
			  .help = "yes: apply does not fail if it cannot be mapped (no)" },
	[CK_KEY] = { .name = "key", .kinds = PEER, .json = CONF_JSON_LIST,
		     .help = "kept for authentication, which these modules do not have yet" },
	[CK_AUTH] = { OPT_AUTH, .kinds = PEER },
	[CK_PEER_SESSION] = { OPT_PATTERN, .kinds = PEER, .json = CONF_JSON_LIST },
	[CK_FROM] = { OPT_FROM, .kinds = PEER, .json = CONF_JSON_LIST },
	[CK_MAX_SESSIONS] = { OPT_MAX_SESSIONS, .kinds = PEER, .json = CONF_JSON_INT },
	[CK_MAX_DEVICES] = { OPT_MAX_DEVICES, .kinds = PEER, .json = CONF_JSON_INT },
	[CK_MAX_MEMORY] = { OPT_MAX_MEMORY, .kinds = PEER, .json = CONF_JSON_BYTES },
	[CK_EXPORT_PATH] = { .name = "path", .kinds = EXPORT,
			     .help = "block device or file of this host; a directory where the name of "
				     "the export ends with '/'; %SESSNAME% is the session" },
	[CK_ALLOW] = { OPT_ALLOW, .kinds = EXPORT, .json = CONF_JSON_LIST },
};

static enum opt_id key_opt(enum conf_key k)
{
	return k < CK_SETTINGS ? setting_opt((enum m_setting)k) : keys[k].opt;
}

const char *conf_kind_name(enum conf_kind k)
{
	static const char *const names[] = { "defaults", "session", "device", "peer", "export" };

	return names[k];
}

const char *conf_key_name(enum conf_key k)
{
	return keys[k].name ? keys[k].name : opt_table[key_opt(k)].name;
}

const char *conf_key_help(enum conf_key k)
{
	return keys[k].help ? keys[k].help : opt_table[key_opt(k)].help;
}

enum conf_json conf_key_json_kind(enum conf_key k)
{
	if (k < CK_SETTINGS && opt_table[key_opt(k)].type == T_TIME)
		return CONF_JSON_MS;
	return keys[k].json;
}

char *conf_key_json(enum conf_key k)
{
	enum conf_json kind = conf_key_json_kind(k);
	char *s = xasprintf("%s%s", conf_key_name(k), kind == CONF_JSON_MS ? "_ms" :
			    kind == CONF_JSON_BYTES ? "_bytes" : "");

	for (char *p = s; *p; p++)
		if (*p == '-')
			*p = '_';
	return s;
}

bool conf_key_fits(enum conf_key k, enum conf_kind kind)
{
	unsigned int kinds = k < CK_SETTINGS ? SESSION | DEFAULTS : keys[k].kinds;

	return kinds & 1U << kind;
}

static void add_problem(struct conf *c, const struct conf_place *at, char *message, bool warning)
{
	c->problems = xrealloc(c->problems, (c->nproblems + 1) * sizeof(*c->problems));
	c->problems[c->nproblems++] = (struct conf_problem){ *at, message, warning };
	c->errors += !warning;
}

bool conf_key_is_list(enum conf_key k)
{
	return keys[k].json == CONF_JSON_LIST;
}

const struct conf_value *conf_nth(const struct conf_section *s, enum conf_key k, size_t n)
{
	if (!conf_key_is_list(k))
		return s->v[k].text && !n ? &s->v[k] : NULL;
	for (size_t i = 0; i < s->nentries; i++)
		if (s->entries[i].key == k && !n--)
			return &s->entries[i].v;
	return NULL;
}

void conf_warning(struct conf *c, const struct conf_place *at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_problem(c, at, xvasprintf(fmt, ap), true);
	va_end(ap);
}

void conf_problem(struct conf *c, const struct conf_place *at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_problem(c, at, xvasprintf(fmt, ap), false);
	va_end(ap);
}

const char *conf_file(struct conf *c, const char *name)
{
	strlist_add(&c->files, name);
	return c->files.v[c->files.n - 1];
}

char *conf_place_text(const struct conf_place *at)
{
	if (!at->file)
		return NULL;
	return at->line ? xasprintf("%s:%u", at->file, at->line) : xstrdup(at->file);
}

char *device_name_problem(const char *name)
{
	if (!*name || strlen(name) > 128)
		return xstrdup("the name of a device has 1 to 128 bytes");
	if (!strcmp(name, ".") || !strcmp(name, "..") || strchr(name, '/'))
		return xstrdup("the name of a device becomes that of a link, so it is neither '.' "
			       "nor '..' and holds no '/'");
	for (const char *p = name; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f)
			return xstrdup("the name of a device holds neither spaces nor control "
				       "characters");
	return NULL;
}

/* There may be thousands of sections: none is looked for among all of them. */
static char *key_of_name(enum conf_kind kind, const char *name)
{
	return xasprintf("%s %s", conf_kind_name(kind), name);
}

static char *key_of_mapping(const char *session, const char *device_path)
{
	return xasprintf("%zu %s %s", strlen(session), session, device_path);
}

/* The first one keeps its place. Frees @key. */
static void note(struct conf *c, char *key, const struct conf_section *s)
{
	if (!c->index)
		c->index = json_object();
	if (!json_object_get(c->index, key) &&
	    json_object_set_new_nocheck(c->index, key, json_integer(s - c->v)))
		xabort_no_memory();
	free(key);
}

static void note_name(struct conf *c, const struct conf_section *s)
{
	note(c, key_of_name(s->kind, s->name), s);
}

static void note_mapping(struct conf *c, const struct conf_section *s)
{
	const char *session = s->v[CK_SESSION].text, *path = s->v[CK_DEVICE_PATH].text;

	if (s->kind == CONF_DEVICE && session && path)
		note(c, key_of_mapping(session, path), s);
}

static const struct conf_section *noted(const struct conf *c, char *key)
{
	const json_t *at = json_object_get(c->index, key);

	free(key);
	return at ? &c->v[json_integer_value(at)] : NULL;
}

const struct conf_section *conf_find(const struct conf *c, enum conf_kind kind, const char *name)
{
	return noted(c, key_of_name(kind, name));
}

const struct conf_section *conf_device(const struct conf *c, const char *session,
				       const char *device_path)
{
	return noted(c, key_of_mapping(session, device_path));
}

struct conf_section *conf_section(struct conf *c, enum conf_kind kind, const char *name,
				  const struct conf_place *at)
{
	const struct conf_section *other = conf_find(c, kind, name);
	struct conf_section *s;
	char *msg = NULL, *where;

	if (kind == CONF_DEFAULTS && *name)
		conf_problem(c, at, "[defaults] has no name");
	else if (kind == CONF_DEFAULTS && other)
		return &c->v[other - c->v];
	else if (kind == CONF_SESSION)
		msg = session_name_problem(name);
	else if (kind == CONF_DEVICE)
		msg = device_name_problem(name);
	else if (kind >= CONF_PEER)
		msg = access_name_problem(kind - CONF_PEER, name);
	if (msg)
		conf_problem(c, at, "%s", msg);
	free(msg);
	if (other && kind != CONF_DEFAULTS) {
		where = conf_place_text(&other->at);
		conf_problem(c, at, "%s '%s' is defined twice, first at %s", conf_kind_name(kind), name,
			     where ? where : "");
		free(where);
	}
	c->v = xgrow(c->v, c->n, sizeof(*c->v));
	s = &c->v[c->n++];
	*s = (struct conf_section){ .kind = kind, .name = xstrdup(name), .at = *at };
	note_name(c, s);
	return s;
}

/* A name may have no address yet, so it is no mistake of the file. */
static bool has_name(const char *text)
{
	return strstr(text, "host:") || strchr(text, '%');
}

static char *path_parse(struct conf_path *p, const char *text)
{
	static const char word[] = "dest-port=";
	size_t len = strcspn(text, " \t");
	const char *more = text + len + strspn(text + len, " \t");
	struct opt port = opt_table[OPT_DEST_PORT];
	char *msg = NULL, *hint = NULL;
	uint64_t n = 0;

	p->text = xstrndup(text, len);
	for (const char *s = p->text; *s; s++)
		if ((unsigned char)*s < ' ' || (unsigned char)*s > '~')
			return xstrdup("path: an address has no such characters");
	if (*more && strncmp(more, word, sizeof(word) - 1))
		return xasprintf("path: '%s' is not dest-port=N", more);
	if (*more) {
		msg = opt_problem(&port, "", more + sizeof(word) - 1, &hint);
		free(hint);
		parse_uint(more + sizeof(word) - 1, &n);
	}
	if (!msg && !has_name(p->text)) {
		msg = addr_pair_parse(p->text, &p->pair);
		p->resolved = !msg;
	}
	p->pair.dst.port = (uint16_t)n;
	return msg;
}

static char *text_problem(enum conf_key k, const char *text)
{
	int64_t ms;

	if (!*text)
		return xasprintf("%s: a value is needed", conf_key_name(k));
	if (k == CK_SESSION)
		return session_name_problem(text);
	if (k == CK_DEVICE_PATH && strlen(text) > 254)
		return xstrdup("device-path: at most 254 bytes");
	if (keys[k].json == CONF_JSON_BOOL && strcmp(text, "yes") && strcmp(text, "no"))
		return xasprintf("%s: '%s' is neither yes nor no", conf_key_name(k), text);
	if (k == CK_WAIT &&
	    (!parse_time(text, &ms) || ms < TIMEOUT_MS_MIN || ms > TIMEOUT_MS_MAX))
		return xasprintf("wait: '%s' is not from 100ms to 10m", text);
	return NULL;
}

/* NULL, or what is wrong. */
static char *value_problem(enum conf_key k, const char *text)
{
	char *hint = NULL, *msg;
	uint64_t n;
	int64_t v;

	if (!*text && k != CK_SESSION && k != CK_DEVICE_PATH && k < CK_KEY)
		return NULL;
	msg = key_opt(k) && *text ? opt_problem(&opt_table[key_opt(k)], "", text, &hint) : NULL;
	free(hint);
	if (msg)
		return msg;
	if (k == CK_KEY)
		return xstrdup("authentication is not there yet: peers come with 'auth = none', and are told "
			       "apart by session and from");
	if (!key_opt(k) || !*text)
		return text_problem(k, text);
	if (k >= CK_KEY)
		return NULL;
	if (k < CK_SETTINGS)
		return setting_parse((enum m_setting)k, "", text, &v);
	if (k == CK_POLL_QUEUES && parse_uint(text, &n) && n > 4096)
		return xstrdup("poll-queues: at most 4096");
	return NULL;
}

static void unknown_key(struct conf *c, const struct conf_section *s, const char *key,
			const struct conf_place *at)
{
	struct strlist known = { 0 };
	char *hint, *q = printable(key);

	for (int k = 0; k < CK_N; k++)
		if (conf_key_fits(k, s->kind))
			strlist_add(&known, conf_key_name(k));
	hint = suggest(key, &known);
	add_problem(c, at, xasprintf("[%s] has no key '%s'%s%s", conf_kind_name(s->kind), q,
				     hint ? "; " : "", hint ? hint : ""), c->lenient);
	free(hint);
	free(q);
	strlist_free(&known);
}

static void add_path(struct conf *c, struct conf_section *s, const char *text,
		     const struct conf_place *at)
{
	struct conf_path p = { .at = *at };
	char *msg = path_parse(&p, text);

	if (msg)
		conf_problem(c, at, "%s", msg);
	free(msg);
	s->paths = xrealloc(s->paths, (s->npaths + 1) * sizeof(*s->paths));
	s->paths[s->npaths++] = p;
}

void conf_set(struct conf *c, struct conf_section *s, const char *key, const char *text,
	      const struct conf_place *at)
{
	struct conf_place key_at = *at;
	char *msg;
	int k = 0;

	if (at->key_col)
		key_at.col = at->key_col;
	while (k < CK_N && (!conf_key_fits(k, s->kind) || strcmp(conf_key_name(k), key)))
		k++;
	if (k == CK_N) {
		unknown_key(c, s, key, &key_at);
	} else if (k == CK_PATH) {
		add_path(c, s, text, at);
	} else if (s->v[k].text && s->v[k].at.file == at->file) {
		conf_problem(c, &key_at, "%s is given twice, first in line %u", key, s->v[k].at.line);
	} else {
		msg = value_problem(k, text);
		if (msg)
			conf_problem(c, at, "%s", msg);
		free(msg);
		if (conf_key_is_list(k)) {
			s->entries = xrealloc(s->entries, (s->nentries + 1) * sizeof(*s->entries));
			s->entries[s->nentries++] = (struct conf_entry){ k, { xstrdup(text), *at } };
			return;
		}
		free(s->v[k].text);
		s->v[k] = (struct conf_value){ xstrdup(text), *at };
		note_mapping(c, s);
	}
}

static bool is_same(const struct conf_path *a, const struct conf_path *b)
{
	return !strcmp(a->text, b->text) ||
	       (a->resolved && b->resolved && addr_pair_same(&a->pair, &b->pair));
}

static void check_session(struct conf *c, const struct conf_section *s)
{
	if (!s->npaths)
		conf_problem(c, &s->at, "session '%s' has no path", s->name);
	if (s->npaths > WAY_MAX)
		conf_problem(c, &s->at, "session '%s' has more than %d paths", s->name, WAY_MAX);
	for (size_t i = 0; i < s->npaths; i++)
		for (size_t j = 0; j < i; j++)
			if (is_same(&s->paths[i], &s->paths[j]))
				conf_problem(c, &s->paths[i].at, "path %s is given twice",
					     s->paths[i].text);
}

static void check_device(struct conf *c, const struct conf_section *s)
{
	const char *session = s->v[CK_SESSION].text, *path = s->v[CK_DEVICE_PATH].text;
	const struct conf_section *first;
	char *where;

	if (!session)
		conf_problem(c, &s->at, "device '%s' has no session", s->name);
	if (!path)
		conf_problem(c, &s->at, "device '%s' has no device-path", s->name);
	if (session && !conf_find(c, CONF_SESSION, session))
		conf_problem(c, &s->v[CK_SESSION].at, "there is no [session %s]", session);
	if (!session || !path)
		return;
	first = conf_device(c, session, path);
	if (first && first != s) {
		where = conf_place_text(&first->at);
		conf_problem(c, &s->at, "device '%s' is '%s' of %s already", s->name, first->name,
			     where ? where : "");
		free(where);
	}
}

void conf_check(struct conf *c)
{
	for (size_t i = 0; i < c->n; i++) {
		if (c->v[i].kind == CONF_SESSION)
			check_session(c, &c->v[i]);
		else if (c->v[i].kind == CONF_DEVICE)
			check_device(c, &c->v[i]);
	}
	conf_access_read(c);
	conf_access_check(c);
}

void conf_resolve(struct conf *c)
{
	for (size_t i = 0; i < c->n; i++) {
		for (size_t j = 0; j < c->v[i].npaths; j++) {
			struct conf_path *p = &c->v[i].paths[j];
			uint16_t port = p->pair.dst.port;
			char *msg = p->resolved ? NULL : addr_pair_parse(p->text, &p->pair);

			p->pair.dst.port = port;
			p->resolved = !msg;
			if (msg)
				add_problem(c, &p->at, msg, true);
		}
	}
}

const struct conf_value *conf_given(const struct conf *c, const struct conf_section *s,
				    enum conf_key k)
{
	const struct conf_section *d = conf_find(c, CONF_DEFAULTS, "");
	const struct conf_value *v = &s->v[k];

	/* an empty value is the kernel's, whatever the defaults say */
	if (!v->text && d)
		v = &d->v[k];
	return v->text ? v : NULL;
}

const struct conf_value *conf_get(const struct conf *c, const struct conf_section *s,
				  enum conf_key k)
{
	const struct conf_value *v = conf_given(c, s, k);

	return v && *v->text ? v : NULL;
}

uint64_t conf_uint(const struct conf *c, const struct conf_section *s, enum conf_key k,
		   uint64_t none)
{
	const struct conf_value *v = conf_get(c, s, k);
	uint64_t n;

	return v && parse_uint(v->text, &n) ? n : none;
}

bool conf_yes(const struct conf *c, const struct conf_section *s, enum conf_key k)
{
	const struct conf_value *v = conf_get(c, s, k);

	return v && !strcmp(v->text, "yes");
}

static uint64_t poll_queues(const struct conf *c, const struct conf_section *s)
{
	const struct conf_value *v = conf_get(c, s, CK_POLL_QUEUES);

	/* the kernel cuts it to the number of CPUs */
	if (v && !strcmp(v->text, "all"))
		return UINT32_MAX;
	return conf_uint(c, s, CK_POLL_QUEUES, M_UNKNOWN);
}

const struct conf_section *conf_poll_section(const struct conf *c,
					     const struct conf_section *session)
{
	const struct conf_section *of = session;
	uint64_t most = poll_queues(c, session);

	for (size_t i = 0; i < c->n && !session->v[CK_POLL_QUEUES].text; i++) {
		const struct conf_section *s = &c->v[i];
		uint64_t n;

		if (s->kind != CONF_DEVICE || !s->v[CK_SESSION].text ||
		    strcmp(s->v[CK_SESSION].text, session->name))
			continue;
		n = poll_queues(c, s);
		if (n != M_UNKNOWN && (most == M_UNKNOWN || n > most)) {
			most = n;
			of = s;
		}
	}
	return of;
}

uint64_t conf_poll_queues(const struct conf *c, const struct conf_section *session)
{
	return poll_queues(c, conf_poll_section(c, session));
}

uint64_t conf_wait(const struct conf *c, const struct conf_section *s)
{
	const struct conf_value *v = conf_get(c, s, CK_WAIT);
	int64_t ms;

	return v && parse_time(v->text, &ms) ? (uint64_t)ms : 30000;
}

void conf_settings(const struct conf *c, const struct conf_section *s,
		   struct session_settings *set)
{
	const struct conf_value *v = conf_get(c, s, CK_MP_POLICY);

	settings_init(set);
	if (v)
		mp_policy_parse(v->text, &set->mp_policy);
	for (int i = 0; i < SET_N; i++) {
		v = conf_get(c, s, (enum conf_key)i);
		if (v)
			free(setting_parse((enum m_setting)i, "", v->text, &set->v[i]));
	}
}

static bool is_empty(const struct conf *c, const struct conf_section *s, enum conf_key k)
{
	return conf_given(c, s, k) && !conf_get(c, s, k);
}

void conf_settings_now(const struct conf *c, const struct conf_section *s,
		       struct session_settings *set)
{
	conf_settings(c, s, set);
	if (is_empty(c, s, CK_MP_POLICY))
		mp_policy_parse("round-robin", &set->mp_policy);
	for (int i = 0; i < SET_N; i++)
		if (is_empty(c, s, (enum conf_key)i))
			set->v[i] = setting_default((enum m_setting)i);
}

struct addr_pair conf_pair(const struct conf *c, const struct conf_section *s,
			   const struct conf_path *p)
{
	struct addr_pair pair = p->pair;

	if (!pair.dst.port)
		pair.dst.port = (uint16_t)conf_uint(c, s, CK_DEST_PORT, 0);
	return pair;
}

struct addr_pair conf_pair_sought(const struct conf *c, const struct conf_section *s,
				  const struct conf_path *p)
{
	struct addr_pair pair = conf_pair(c, s, p);

	if (!pair.dst.port)
		pair.dst.port = ADDR_DEFAULT_PORT;
	return pair;
}

static void section_free(struct conf_section *s)
{
	free(s->name);
	for (int k = 0; k < CK_N; k++)
		free(s->v[k].text);
	for (size_t j = 0; j < s->npaths; j++)
		free(s->paths[j].text);
	free(s->paths);
	for (size_t j = 0; j < s->nentries; j++)
		free(s->entries[j].v.text);
	free(s->entries);
}

void conf_drop_defaults(struct conf *c)
{
	size_t n = 0;

	json_decref(c->index);
	c->index = NULL;
	for (size_t i = 0; i < c->n; i++) {
		if (c->v[i].kind == CONF_DEFAULTS) {
			section_free(&c->v[i]);
			continue;
		}
		c->v[n] = c->v[i];
		note_name(c, &c->v[n]);
		note_mapping(c, &c->v[n++]);
	}
	c->n = n;
}

void conf_free(struct conf *c)
{
	for (size_t i = 0; i < c->n; i++)
		section_free(&c->v[i]);
	for (size_t i = 0; i < c->nproblems; i++)
		free(c->problems[i].message);
	free(c->problems);
	free(c->v);
	access_free(&c->access);
	json_decref(c->index);
	strlist_free(&c->files);
	memset(c, 0, sizeof(*c));
}
