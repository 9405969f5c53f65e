// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "config/sections.h"
#include "grammar/settings.h"
#include "host/disks.h"
#include "task/new-paths.h"
#include "task/select.h"

static const struct conf_place nowhere;

static void set(struct conf *c, struct conf_section *s, enum conf_key k, char *text)
{
	conf_set(c, s, conf_key_name(k), text, &nowhere);
	free(text);
}

/* The port of all paths, or 0: the usual one, or each its own. */
static unsigned int common_port(const struct snapshot *s, const struct index_entry *e, size_t n)
{
	unsigned int port = n ? s->paths.v[e[0].pos].server.port : 0;

	for (size_t i = 1; i < n; i++)
		if (s->paths.v[e[i].pos].server.port != port)
			return 0;
	return port == ADDR_DEFAULT_PORT ? 0 : port;
}

/* A session may have several paths of the same addresses, which a file can name only once. */
static bool has_path(const struct conf_section *s, const char *text)
{
	for (size_t i = 0; i < s->npaths; i++)
		if (!strcmp(s->paths[i].text, text))
			return true;
	return false;
}

static void add_paths(struct conf *c, struct conf_section *sec, const struct snapshot *s,
		      const struct session *sess)
{
	size_t n;
	const struct index_entry *e = index_find(&s->session_paths, sess->id, &n);
	unsigned int port = common_port(s, e, n);

	if (port)
		set(c, sec, CK_DEST_PORT, xasprintf("%u", port));
	for (size_t i = 0; i < n; i++) {
		const struct path *p = &s->paths.v[e[i].pos];
		struct addr_pair pair = { .dst = p->server };
		char *text;

		if (p->server.family == ADDR_NONE)
			continue;
		if (p->client.family == p->server.family)
			pair.src = p->client;
		text = way_text(&pair);
		if (has_path(sec, text)) {
			free(text);
			continue;
		}
		if (!port && p->server.port && p->server.port != ADDR_DEFAULT_PORT)
			set(c, sec, CK_PATH, xasprintf("%s dest-port=%u", text, p->server.port));
		else
			set(c, sec, CK_PATH, xstrdup(text));
		free(text);
	}
}

static void add_session(struct conf *c, const struct snapshot *s, const struct session *sess,
			const char *root)
{
	struct conf_section *sec = conf_section(c, CONF_SESSION, sess->name, &nowhere);
	uint64_t connections = snapshot_connections(s, sess);

	if (mp_policy_name(sess->set.mp_policy))
		set(c, sec, CK_MP_POLICY, xstrdup(mp_policy_name(sess->set.mp_policy)));
	for (int i = 0; i < SET_N; i++)
		if (sess->set.v[i] != M_UNKNOWN_INT)
			set(c, sec, (enum conf_key)i, setting_text((enum m_setting)i, sess->set.v[i]));
	/* as many as there are CPUs it has by itself */
	if (connections != M_UNKNOWN && connections != sys_cpus(root))
		set(c, sec, CK_CONNECTIONS, xasprintf("%llu", (unsigned long long)connections));
	if (sess->poll_queues && sess->poll_queues != M_UNKNOWN)
		set(c, sec, CK_POLL_QUEUES, xasprintf("%llu", (unsigned long long)sess->poll_queues));
	add_paths(c, sec, s, sess);
}

/* A name for what has none: the last part of its path, and a number where that is taken. */
static char *new_name(const struct conf *c, const struct conf *named, const char *device_path)
{
	const char *slash = strrchr(device_path, '/');
	char *base = xstrdup(slash && slash[1] ? slash + 1 : device_path), *name;

	for (char *p = base; *p; p++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", *p))
			*p = '_';
	if (strlen(base) > 100)
		base[100] = '\0';
	if (*base == '.')
		*base = '_';
	name = xstrdup(base);
	for (unsigned int i = 2; conf_find(c, CONF_DEVICE, name) ||
	     conf_find(named, CONF_DEVICE, name); i++) {
		free(name);
		name = xasprintf("%s-%u", base, i);
	}
	free(base);
	return name;
}

/* Takes @name. */
static void add_device(struct conf *c, const struct device *d, char *name)
{
	struct conf_section *sec = conf_section(c, CONF_DEVICE, name, &nowhere);

	set(c, sec, CK_SESSION, xstrdup(d->session));
	set(c, sec, CK_DEVICE_PATH, xstrdup(d->device_path));
	if (access_name(d->access))
		set(c, sec, CK_ACCESS, xstrdup(access_name(d->access)));
	if (d->io_mode != M_UNKNOWN && !strcmp(io_mode_name(d->io_mode), "fileio"))
		set(c, sec, CK_IO_MODE, xstrdup("fileio"));
	if (d->always_fua == 1)
		set(c, sec, CK_FUA, xstrdup("yes"));
	free(name);
}

/* NULL, or why it cannot be made again, to be freed. */
static char *why_lost(const struct snapshot *s, const struct session *sess)
{
	char *msg = session_name_problem(sess->name);
	const struct index_entry *e;
	size_t n;

	e = index_find(&s->session_paths, sess->id, &n);
	for (size_t i = 0; i < n && !msg; i++)
		if (s->paths.v[e[i].pos].server.family != ADDR_NONE)
			return NULL;
	return msg ? msg : xstrdup("no path of it has the address of a server");
}

bool conf_running_device(struct conf *c, const struct snapshot *s, const struct device *d,
			 const char *name, const struct conf *named, const char *root)
{
	const struct session *sess = snapshot_session(s, d->session);
	char *why = sess ? why_lost(s, sess) : NULL;
	bool lost = !sess || why;

	free(why);
	if (lost)
		return false;
	if (!conf_find(named, CONF_SESSION, sess->name))
		add_session(c, s, sess, root);
	add_device(c, d, name ? xstrdup(name) : new_name(c, named, d->device_path));
	return true;
}

void conf_running(struct conf *c, const struct snapshot *s, const char *session,
		  const struct conf *named, const char *root, struct strlist *left)
{
	for (size_t i = 0; i < s->sessions.n; i++) {
		const struct session *sess = &s->sessions.v[i];
		char *why;

		if (session && strcmp(session, sess->name))
			continue;
		why = why_lost(s, sess);
		if (why)
			strlist_addf(left, "session '%s' cannot be saved: %s", sess->name, why);
		else
			add_session(c, s, sess, root);
		free(why);
	}
	for (size_t i = 0; i < s->devices.n; i++) {
		const struct device *d = &s->devices.v[i];
		const struct conf_section *known = conf_device(named, d->session, d->device_path);

		if (*d->device_path && conf_find(c, CONF_SESSION, d->session) &&
		    !conf_device(c, d->session, d->device_path))
			add_device(c, d, known ? xstrdup(known->name) :
						 new_name(c, named, d->device_path));
	}
}
