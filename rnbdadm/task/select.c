// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/owners.h"
#include "task/new-paths.h"
#include "task/select.h"

static void not_found(struct fail *f, const char *type, const char *name,
		      const struct strlist *known)
{
	char *hint = suggest(name, known);

	fail_set(f, XC_NOT_FOUND, "no %s '%s'", type, name);
	fail_text(f, "no such %s", type);
	fail_object(f, type, name);
	if (hint)
		fail_hint(f, "%s", hint);
	else
		fail_hint(f, "rnbdadm %s list", type);
	free(hint);
}

void select_words(struct strlist *l, const struct snapshot *s)
{
	for (size_t i = 0; i < s->sessions.n; i++)
		strlist_add(l, s->sessions.v[i].name);
	for (size_t i = 0; i < s->devices.n; i++)
		strlist_add(l, s->devices.v[i].name);
	for (size_t i = 0; i < s->devices.n; i++)
		strlist_add(l, s->devices.v[i].device_path);
}

void select_nothing(struct fail *f, const char *word, const struct strlist *known)
{
	char *hint = suggest(word, known);

	fail_set(f, XC_NOT_FOUND, "no session or device '%s'", word);
	fail_text(f, "no such session or device");
	fail_object(f, "object", word);
	fail_hint(f, "%s", hint ? hint : "rnbdadm status lists all objects");
	free(hint);
}

const struct session *select_session(const struct snapshot *s, const char *name,
				     struct fail *f)
{
	const struct session *sess = snapshot_session(s, name);
	struct strlist known = { 0 };

	if (sess)
		return sess;
	for (size_t i = 0; i < s->sessions.n; i++)
		strlist_add(&known, s->sessions.v[i].name);
	not_found(f, "session", name, &known);
	strlist_free(&known);
	return NULL;
}

const struct session *select_client(const struct snapshot *s, const char *name, struct fail *f)
{
	const struct session *sess = select_session(s, name, f);

	if (sess)
		return sess;
	fail_set(f, XC_NOT_FOUND, "no client '%s'", name);
	fail_text(f, "no such client");
	fail_object(f, "client", name);
	if (!strncmp(f->hint, "rnbdadm", 7))
		fail_hint(f, "rnbdadm server client list");
	return NULL;
}

/* The disk that a file below /dev is, or ends in. Caller frees. */
char *node_disk(const char *root, const char *word)
{
	char *path = xasprintf("%s%s", root, word), *real = realpath(path, NULL), *base;

	free(path);
	base = strrchr(real ? real : word, '/');
	base = xstrdup(base ? base + 1 : word);
	free(real);
	return base;
}

/* The link of an instance of rnbd-device@, which may be written as systemd-escape does. */
static char *named_disk(const char *root, const char *word)
{
	static const char dir[] = "/dev/rnbd/by-name/";
	char *plain, *link, *full, *disk;

	if (strncmp(word, dir, strlen(dir)) || !strstr(word, "\\x"))
		return node_disk(root, word);
	plain = hex_unescape(word + strlen(dir));
	link = name_link(plain);
	full = xasprintf("%s%s", dir, link);
	disk = node_disk(root, full);
	free(full);
	free(link);
	free(plain);
	return disk;
}

static bool is_of(const struct device *d, const char *session)
{
	return !session || !strcmp(d->session, session);
}

static void device_not_found(const struct snapshot *s, const char *word, const char *session,
			     struct fail *f)
{
	struct strlist known = { 0 };

	for (size_t i = 0; i < s->devices.n; i++)
		if (is_of(&s->devices.v[i], session))
			strlist_add(&known, s->devices.v[i].name);
	for (size_t i = 0; i < s->devices.n; i++)
		if (is_of(&s->devices.v[i], session))
			strlist_add(&known, s->devices.v[i].device_path);
	not_found(f, "device", word, &known);
	strlist_free(&known);
	if (!session)
		return;
	fail_set(f, XC_NOT_FOUND, "no device '%s' of session '%s'", word, session);
	fail_text(f, "no such device of session '%s'", session);
}

bool device_word_ok(const char *word, struct fail *f)
{
	if (strspn(word, "0123456789") != strlen(word))
		return true;
	fail_set(f, XC_USAGE, "'%s': a bare number selects nothing", word);
	fail_hint(f, "did you mean rnbd%s?", word);
	return false;
}

struct device *select_device(const struct snapshot *s, const char *word,
			     const char *session, const char *root, struct fail *f)
{
	struct device *found = NULL;
	size_t n = 0;
	char *disk;

	if (!device_word_ok(word, f))
		return NULL;
	disk = !strncmp(word, "/dev/", 5) ? named_disk(root, word) : xstrdup(word);
	for (size_t i = 0; i < s->devices.n && !n; i++) {
		struct device *d = &s->devices.v[i];

		if (strcmp(d->name, disk) || !is_of(d, session))
			continue;
		found = d;
		n = 1;
	}
	free(disk);
	if (n)
		return found;
	for (size_t i = 0; i < s->devices.n; i++) {
		struct device *d = &s->devices.v[i];

		if (strcmp(d->device_path, word) || !is_of(d, session))
			continue;
		found = d;
		n++;
	}
	if (n == 1)
		return found;
	if (!n) {
		device_not_found(s, word, session, f);
		return NULL;
	}
	fail_set(f, XC_CONFLICT, "'%s' fits %zu devices", word, n);
	fail_object(f, "device", word);
	for (size_t i = 0; i < s->devices.n; i++)
		if (!strcmp(s->devices.v[i].device_path, word))
			strlist_addf(&f->details, "%s  %s of session %s", s->devices.v[i].name,
				     word, s->devices.v[i].session);
	fail_hint(f, "name the disk, or give --session");
	return NULL;
}

static bool hca_fits(const struct path *p, const char *hca)
{
	const char *colon = strrchr(hca, ':');
	size_t len = colon ? (size_t)(colon - hca) : strlen(hca);
	uint64_t port;

	if (strlen(p->hca) != len || strncmp(p->hca, hca, len))
		return false;
	return !colon || (parse_uint(colon + 1, &port) && port == p->hca_port);
}

static bool name_is_unique(const struct snapshot *s, const struct path *p)
{
	size_t n;
	const struct index_entry *e = index_find(&s->session_paths, p->session_id, &n);

	for (size_t i = 0; i < n; i++) {
		const struct path *other = &s->paths.v[e[i].pos];

		if (other->id != p->id && !strcmp(other->name, p->name))
			return false;
	}
	return true;
}

char *path_word(const struct snapshot *s, const struct path *p)
{
	if ((p->id & M_ID_LOCAL) || name_is_unique(s, p))
		return xstrdup(p->name);
	return xasprintf("id:%" PRIu32, p->id);
}

/* "id:3  ip:10.0.0.1@ip:10.0.0.2  mlx5_0:1" */
static void add_candidate(struct fail *f, const struct path *p)
{
	char *id = p->id & M_ID_LOCAL ? xstrdup("") : xasprintf("id:%" PRIu32 "  ", p->id);

	if (*p->hca)
		strlist_addf(&f->details, "%s%s  %s:%" PRIu64, id, p->name, p->hca, p->hca_port);
	else
		strlist_addf(&f->details, "%s%s", id, p->name);
	free(id);
}

static bool parse_id(const char *word, uint64_t *id)
{
	return !strncmp(word, "id:", 3) && parse_uint(word + 3, id) && *id;
}

bool path_word_ok(const char *word, struct fail *f)
{
	struct addr_pair pair;
	uint64_t id;
	char *msg = parse_id(word, &id) ? NULL : addr_pair_literal(word, &pair);

	if (!msg)
		return true;
	fail_usage(f, msg, NULL);
	return false;
}

const struct path *select_path(const struct snapshot *s, const struct session *sess,
			       const char *word, const char *hca, struct fail *f)
{
	struct strlist known = { 0 };
	const struct path *found = NULL;
	struct addr_pair want;
	uint64_t id = 0;
	bool by_id, unique = true;
	size_t n = 0;
	char *msg;

	by_id = word && parse_id(word, &id);
	msg = word && !by_id ? addr_pair_parse(word, &want) : NULL;
	if (msg) {
		fail_set(f, way_problem_code(&want), "%s", msg);
		free(msg);
		return NULL;
	}
	for (size_t i = 0; i < s->paths.n; i++) {
		const struct path *p = &s->paths.v[i];

		if (p->session_id != sess->id)
			continue;
		strlist_add(&known, p->name);
		if (by_id ? p->id != id : word && !addr_pair_matches(&want, &p->client, &p->server))
			continue;
		if (hca && !hca_fits(p, hca))
			continue;
		found = p;
		n++;
		unique = unique && name_is_unique(s, p);
		add_candidate(f, p);
	}
	if (n < 2)
		strlist_free(&f->details);
	if (!n) {
		not_found(f, "path", word ? word : hca, &known);
		if (sess->role == M_SERVER && !strncmp(f->hint, "rnbdadm", 7))
			fail_hint(f, "rnbdadm server path list");
	} else if (n > 1) {
		fail_set(f, XC_CONFLICT, "'%s' fits %zu paths", word ? word : hca, n);
		fail_object(f, "path", word ? word : hca);
		fail_hint(f, unique ? "give SRC@DST" : hca ? "give id:N" : "give id:N or --hca");
	}
	strlist_free(&known);
	return n == 1 ? found : NULL;
}

char *session_name_problem(const char *name)
{
	size_t len = strlen(name);

	if (!len)
		return xstrdup("a session name must not be empty");
	if (len > 254)
		return xstrdup("a session name has at most 254 bytes");
	if (!strcmp(name, "ctl"))
		return xstrdup("'ctl' is no session name");
	for (const char *p = name; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c == '/' || c == '.')
			return xasprintf("a session name must not hold '%c'", c);
		if (c <= ' ' || c == 0x7f)
			return xstrdup("a session name must not hold spaces or control characters");
	}
	return NULL;
}
