// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"

static const char *const states[] = { "open", "closed", "listed" };
static const char *const events[] = { "granted", "denied", "revoked", "loaded" };
static const char *const steps[] = { "path", "open" };
static const char *const reasons[] = {
	"", "closed", "no-key", "address-forged", "session-name", "name-taken", "limit-sessions", "limit-devices",
	"limit-memory", "no-export", "access-mode", "directory", "writer", "other",
};

const char *access_event_name(uint64_t v)
{
	return v < ARRAY_SIZE(events) ? events[v] : "unknown";
}

const char *access_step_name(uint64_t v)
{
	return v < ARRAY_SIZE(steps) ? steps[v] : NULL;
}

const char *access_reason_name(uint64_t v)
{
	return v < ARRAY_SIZE(reasons) ? reasons[v] : "unknown";
}

const char *access_state_name(uint64_t v)
{
	return v < ARRAY_SIZE(states) ? states[v] : "unknown";
}

static char *bytes_problem(const char *what, const char *s, size_t most)
{
	if (!*s || strlen(s) > most)
		return xasprintf("the %s has 1 to %zu bytes", what, most);
	for (; *s; s++)
		if ((unsigned char)*s <= ' ' || *s == 0x7f)
			return xasprintf("the %s holds neither spaces nor control characters", what);
	return NULL;
}

char *access_peer_problem(const char *name)
{
	char *msg = bytes_problem("name of a peer", name, ACCESS_PEER_MAX);

	for (const char *p = name; *p && !msg; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			return xstrdup("the name of a peer holds letters, digits and . _ - alone");
	return msg;
}

/* A component of @name that is "..", or that has nothing in it. */
static bool climbs(const char *name)
{
	for (const char *p = name; p; p = strchr(p, '/')) {
		p += *p == '/';
		if (!strncmp(p, "..", 2) && (!p[2] || p[2] == '/'))
			return true;
	}
	return false;
}

char *access_export_problem(const char *name)
{
	char *msg = bytes_problem("name of an export", name, ACCESS_NAME_MAX);

	if (msg)
		return msg;
	if ((*name == '/' && name[1]) || strstr(name, "//"))
		return xstrdup("the name of an export neither begins with '/' nor holds '//'");
	return climbs(name) ? xstrdup("the name of an export has no part '..'") : NULL;
}

char *access_pattern_problem(const char *pattern)
{
	char *msg = bytes_problem("name of a session", pattern, ACCESS_NAME_MAX);

	if (msg || !pattern[strcspn(pattern, "/.")])
		return msg;
	return xstrdup("the name of a session holds neither '/' nor '.'");
}

char *access_path_problem(const char *path)
{
	if (*path != '/' || strlen(path) > ACCESS_PATH_MAX)
		return xasprintf("path: '%s' does not begin with '/', or has more than %d bytes", path,
				 ACCESS_PATH_MAX);
	return climbs(path) ? xstrdup("path: no part of it is '..'") : NULL;
}

unsigned int access_bits(const struct addr *a)
{
	return a->family == ADDR_IPV4 ? 32 : 128;
}

static bool bit_at(const struct addr *a, unsigned int i)
{
	return a->raw[i / 8] >> (7 - i % 8) & 1;
}

char *access_from_parse(const char *text, struct access_from *f)
{
	const char *slash = strchr(text, '/');
	char *word = slash ? xstrndup(text, (size_t)(slash - text)) : xstrdup(text), *msg;
	uint64_t bits;

	if (strchr(word, '%') || !strncmp(word, "host:", 5))
		msg = xasprintf("'%s' is not ip:ADDR[/BITS] or gid:GID[/BITS]", text);
	else
		msg = addr_parse(word, &f->addr);
	free(word);
	if (msg)
		return msg;
	f->bits = access_bits(&f->addr);
	if (!slash)
		return NULL;
	if (!parse_uint(slash + 1, &bits) || bits > f->bits)
		return xasprintf("'%s' is not a number of bits from 0 to %u", slash + 1, f->bits);
	for (unsigned int i = (unsigned int)bits; i < f->bits; i++)
		if (bit_at(&f->addr, i))
			return xasprintf("'%s' has bits set behind the first %s", text, slash + 1);
	f->bits = (unsigned int)bits;
	return NULL;
}

char *access_from_text(const struct access_from *f)
{
	char buf[ADDR_TEXT_MAX];

	addr_format(&f->addr, buf);
	return f->bits == access_bits(&f->addr) ? xstrdup(buf) : xasprintf("%s/%u", buf, f->bits);
}

/* One "PEER[:MODE]" */
static char *grant_parse(char *word, struct access_export *e)
{
	char *colon = strchr(word, ':'), *msg;
	uint64_t mode;

	if (colon)
		*colon++ = '\0';
	msg = strcmp(word, "*") ? access_peer_problem(word) : NULL;
	if (msg)
		return msg;
	if (!access_parse(colon ? colon : "rw", &mode))
		return xasprintf("'%s' is not ro, rw or migration", colon);
	if (e)
		access_grant(e, word, mode);
	return NULL;
}

char *access_allow_parse(const char *text, struct access_export *e)
{
	char *copy = xstrdup(text), *rest = copy, *word, *msg = NULL;

	while (!msg && (word = strsep(&rest, ","))) {
		size_t n;

		word += strspn(word, " \t");
		for (n = strlen(word); n && (word[n - 1] == ' ' || word[n - 1] == '\t'); n--)
			word[n - 1] = '\0';
		msg = grant_parse(word, e);
	}
	free(copy);
	return msg;
}

char *access_allow_text(const struct access_export *e)
{
	struct strlist l = { 0 };
	char *text;

	for (size_t i = 0; i < e->nallow; i++)
		strlist_addf(&l, "%s:%s", e->allow[i].peer, access_name(e->allow[i].mode) ?
			     access_name(e->allow[i].mode) : "unknown");
	text = strlist_join(&l, ", ");
	strlist_free(&l);
	return text;
}

bool access_is_directory(const char *name)
{
	return *name && name[strlen(name) - 1] == '/';
}

/* Room for one more, in powers of two */
static void *more(void *v, size_t *n, size_t size)
{
	if (!(*n & (*n - 1)))
		v = xrealloc(v, (*n ? *n * 2 : 1) * size);
	memset((char *)v + *n * size, 0, size);
	(*n)++;
	return v;
}

struct access_peer *access_add_peer(struct access_list *l, const char *name)
{
	struct access_peer *p;

	l->peers = more(l->peers, &l->npeers, sizeof(*l->peers));
	p = &l->peers[l->npeers - 1];
	p->name = xstrdup(name);
	p->denied = M_UNKNOWN;
	for (int i = 0; i < ACCESS_LIMITS; i++)
		p->limit[i] = p->used[i] = M_UNKNOWN;
	return p;
}

struct access_export *access_add_export(struct access_list *l, const char *name)
{
	struct access_export *e;

	l->exports = more(l->exports, &l->nexports, sizeof(*l->exports));
	e = &l->exports[l->nexports - 1];
	e->name = xstrdup(name);
	e->openings = M_UNKNOWN;
	return e;
}

struct access_peer *access_peer(const struct access_list *l, const char *name)
{
	for (size_t i = 0; i < l->npeers; i++)
		if (!strcmp(l->peers[i].name, name))
			return &l->peers[i];
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	const struct access_export *x = a, *y = b;

	return strcmp(x->name, y->name);
}

void access_sort(struct access_list *l)
{
	if (l->nexports)
		qsort(l->exports, l->nexports, sizeof(*l->exports), by_name);
}

struct access_export *access_export(const struct access_list *l, const char *name)
{
	const struct access_export key = { .name = (char *)name };

	return l->nexports ? bsearch(&key, l->exports, l->nexports, sizeof(key), by_name) : NULL;
}

void access_grant(struct access_export *e, const char *peer, uint64_t mode)
{
	size_t i = 0;

	while (i < e->nallow && strcmp(e->allow[i].peer, peer) < 0)
		i++;
	if (i < e->nallow && !strcmp(e->allow[i].peer, peer)) {
		if (e->allow[i].mode < mode)
			e->allow[i].mode = mode;
		return;
	}
	e->allow = more(e->allow, &e->nallow, sizeof(*e->allow));
	memmove(&e->allow[i + 1], &e->allow[i], (e->nallow - 1 - i) * sizeof(*e->allow));
	e->allow[i] = (struct access_grant){ xstrdup(peer), mode };
}

void access_revoke(struct access_export *e, const char *peer)
{
	for (size_t i = 0; i < e->nallow; i++) {
		if (strcmp(e->allow[i].peer, peer))
			continue;
		free(e->allow[i].peer);
		memmove(&e->allow[i], &e->allow[i + 1], (--e->nallow - i) * sizeof(*e->allow));
		return;
	}
}

void access_copy(struct access_list *l, const struct access_list *from)
{
	*l = (struct access_list){ .state = from->state };
	for (size_t i = 0; i < from->npeers; i++) {
		const struct access_peer *old = &from->peers[i];
		struct access_peer *p = access_add_peer(l, old->name);

		memcpy(p->limit, old->limit, sizeof(p->limit));
		for (size_t k = 0; k < old->sessions.n; k++)
			strlist_add(&p->sessions, old->sessions.v[k]);
		p->nfrom = old->nfrom;
		p->from = xcalloc(old->nfrom + 1, sizeof(*p->from));
		if (old->nfrom)
			memcpy(p->from, old->from, old->nfrom * sizeof(*p->from));
	}
	for (size_t i = 0; i < from->nexports; i++) {
		const struct access_export *old = &from->exports[i];
		struct access_export *x = access_add_export(l, old->name);

		x->path = xstrdup(old->path);
		x->io_mode = old->io_mode;
		for (size_t k = 0; k < old->nallow; k++)
			access_grant(x, old->allow[k].peer, old->allow[k].mode);
	}
}

void access_move(struct access_list *l, struct access_list *from)
{
	for (size_t i = 0; i < from->npeers; i++) {
		l->peers = more(l->peers, &l->npeers, sizeof(*l->peers));
		l->peers[l->npeers - 1] = from->peers[i];
	}
	for (size_t i = 0; i < from->nexports; i++) {
		l->exports = more(l->exports, &l->nexports, sizeof(*l->exports));
		l->exports[l->nexports - 1] = from->exports[i];
	}
	from->npeers = from->nexports = 0;
	access_sort(l);
}

static void peer_free(struct access_peer *p)
{
	free(p->name);
	strlist_free(&p->sessions);
	free(p->from);
}

static void export_free(struct access_export *e)
{
	free(e->name);
	free(e->path);
	for (size_t i = 0; i < e->nallow; i++)
		free(e->allow[i].peer);
	free(e->allow);
}

void access_remove_peer(struct access_list *l, struct access_peer *p)
{
	peer_free(p);
	memmove(p, p + 1, (size_t)(&l->peers[--l->npeers] - p) * sizeof(*p));
}

void access_remove_export(struct access_list *l, struct access_export *e)
{
	export_free(e);
	memmove(e, e + 1, (size_t)(&l->exports[--l->nexports] - e) * sizeof(*e));
}

void access_free(struct access_list *l)
{
	for (size_t i = 0; i < l->npeers; i++)
		peer_free(&l->peers[i]);
	for (size_t i = 0; i < l->nexports; i++)
		export_free(&l->exports[i]);
	free(l->peers);
	free(l->exports);
	memset(l, 0, sizeof(*l));
}

struct access_export *access_find(const struct access_list *l, const char *name)
{
	struct strbuf b = { 0 };
	struct access_export *e;

	/* as the server reads it: no slash in front, none twice */
	strbuf_puts(&b, "");
	for (; *name; name++)
		if (*name != '/' || (b.len && b.s[b.len - 1] != '/'))
			strbuf_add(&b, name, 1);
	e = access_is_directory(b.s) ? NULL : access_export(l, b.s);
	while (!e && b.len) {
		while (b.len && b.s[b.len - 1] != '/')
			b.s[--b.len] = '\0';
		e = b.len ? access_export(l, b.s) : access_export(l, "/");
		if (b.len)
			b.s[--b.len] = '\0';
	}
	free(b.s);
	return e;
}

/* Is there a name that both patterns take? The row of @a's next character is made from that behind it. */
static bool patterns_meet(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	bool row[2][ACCESS_NAME_MAX + 2], *meet = row[0], *behind = row[1], *t;

	for (size_t i = na + 1; i--;) {
		for (size_t j = nb + 1; j--;) {
			if (a[i] == '*')
				meet[j] = behind[j] || (j < nb && meet[j + 1]);
			else if (b[j] == '*')
				meet[j] = meet[j + 1] || (i < na && behind[j]);
			else if (i == na || j == nb)
				meet[j] = i == na && j == nb;
			else
				meet[j] = (a[i] == b[j] || a[i] == '?' || b[j] == '?') && behind[j + 1];
		}
		t = meet;
		meet = behind;
		behind = t;
	}
	return behind[0];
}

static bool froms_meet(const struct access_from *a, const struct access_from *b)
{
	unsigned int bits = a->bits < b->bits ? a->bits : b->bits;

	if (a->addr.family != b->addr.family)
		return false;
	for (unsigned int i = 0; i < bits; i++)
		if (bit_at(&a->addr, i) != bit_at(&b->addr, i))
			return false;
	return true;
}

bool access_overlap(const struct access_peer *a, const struct access_peer *b)
{
	bool meet = false;

	for (size_t i = 0; i < a->nfrom && !meet; i++)
		for (size_t k = 0; k < b->nfrom && !meet; k++)
			meet = froms_meet(&a->from[i], &b->from[k]);
	for (size_t i = 0; i < a->sessions.n && meet; i++)
		for (size_t k = 0; k < b->sessions.n; k++)
			if (patterns_meet(a->sessions.v[i], b->sessions.v[k]))
				return true;
	return false;
}
