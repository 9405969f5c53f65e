// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <inttypes.h>
#include <linux/rnbd.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "kernel/access.h"

const char *access_word(enum access_words which, uint64_t v)
{
	static const char *const words[][14] = {
		[AW_STATE] = { "open", "closed", "listed" },
		[AW_EVENT] = { "granted", "denied", "revoked", "loaded" },
		[AW_STEP] = { "path", "open" },
		[AW_REASON] = { "", "closed", "no-key", "address-forged", "session-name", "name-taken",
				"limit-sessions", "limit-devices", "limit-memory", "no-export", "access-mode",
				"directory", "writer", "other" },
	};

	return v < ARRAY_SIZE(words[0]) && words[which][v] ? words[which][v] : "unknown";
}

const struct access_key_desc access_keys[AK_N] = {
	[AK_SESSION] = { "session_patterns", .many = true, .attr = RNBD_A_ACL_PEER_SESSION,
			 .word = RNBD_A_ACL_SESSION_PATTERN },
	[AK_FROM] = { "from", .many = true, .attr = RNBD_A_ACL_PEER_FROM, .addr = RNBD_A_ACL_PREFIX_ADDR,
		      .n = RNBD_A_ACL_PREFIX_BITS },
	[AK_SESSIONS] = { "sessions", .counted = true, .attr = RNBD_A_ACL_PEER_SESSIONS },
	[AK_MAX_SESSIONS] = { "max_sessions", .attr = RNBD_A_ACL_PEER_MAX_SESSIONS },
	[AK_DEVICES] = { "devices", .counted = true, .attr = RNBD_A_ACL_PEER_DEVICES },
	[AK_MAX_DEVICES] = { "max_devices", .attr = RNBD_A_ACL_PEER_MAX_DEVICES },
	[AK_MEMORY] = { "pinned_bytes", .counted = true, .attr = RNBD_A_ACL_PEER_PINNED_BYTES },
	[AK_MAX_MEMORY] = { "max_memory_bytes", .attr = RNBD_A_ACL_PEER_MAX_MEMORY_BYTES },
	[AK_DENIED] = { "denied_total", .counted = true, .attr = RNBD_A_ACL_PEER_DENIED },
	[AK_PATH] = { "path", .attr = RNBD_A_ACL_EXPORT_PATH },
	[AK_IO_MODE] = { "io_mode", .attr = RNBD_A_ACL_EXPORT_IO_MODE },
	[AK_ALLOW] = { "allow", .many = true, .attr = RNBD_A_ACL_EXPORT_ALLOW, .word = RNBD_A_ACL_ALLOW_PEER,
		       .n = RNBD_A_ACL_ALLOW_ACCESS_MODE },
	[AK_OPENINGS] = { "openings", .counted = true, .attr = RNBD_A_ACL_EXPORT_OPENINGS },
};

const char *access_str(const json_t *says, const char *key)
{
	const char *s = json_string_value(json_object_get(says, key));

	return s ? s : "";
}

uint64_t access_uint(const json_t *says, const char *key)
{
	const json_t *n = json_object_get(says, key);

	return n ? (uint64_t)json_integer_value(n) : M_UNKNOWN;
}

enum access_state access_state(const struct access_list *l)
{
	return (enum access_state)access_uint(l->says, "state");
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

static bool climbs(const char *path)
{
	for (const char *at = path; (at = strstr(at, "..")); at++)
		if ((at == path || at[-1] == '/') && (!at[2] || at[2] == '/'))
			return true;
	return false;
}

char *access_name_problem(enum access_kind kind, const char *name)
{
	bool peer = kind == ACCESS_PEER;
	char *msg = bytes_problem(peer ? "name of a peer" : "name of an export", name,
				  peer ? ACCESS_PEER_MAX : ACCESS_NAME_MAX);

	for (const char *p = name; *p && !msg && peer; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			return xstrdup("the name of a peer holds letters, digits and . _ - alone");
	if (msg || peer)
		return msg;
	if ((*name == '/' && name[1]) || strstr(name, "//"))
		return xstrdup("the name of an export neither begins with '/' nor holds '//'");
	return climbs(name) ? xstrdup("the name of an export has no part '..'") : NULL;
}

static char *path_problem(const char *path)
{
	if (*path != '/' || strlen(path) > ACCESS_PATH_MAX)
		return xasprintf("'%s' does not begin with '/', or has more than %d bytes", path, ACCESS_PATH_MAX);
	return climbs(path) ? xstrdup("no part of it is '..'") : NULL;
}

static char *pattern_problem(const char *pattern)
{
	char *msg = bytes_problem("name of a session", pattern, ACCESS_NAME_MAX);

	if (msg || !pattern[strcspn(pattern, "/.")])
		return msg;
	return xstrdup("the name of a session holds neither '/' nor '.'");
}

unsigned int access_bits(const struct addr *a)
{
	return a->family == ADDR_IPV4 ? 32 : 128;
}

static bool bit_at(const struct addr *a, unsigned int i)
{
	return a->raw[i / 8] >> (7 - i % 8) & 1;
}

/* "ip:10.0.0.0/24" */
static char *from_read(const char *text, struct access_value *v)
{
	const char *slash = strchr(text, '/');
	char *addr = slash ? xstrndup(text, (size_t)(slash - text)) : xstrdup(text), *msg;
	unsigned int all;

	if (strchr(addr, '%') || !strncmp(addr, "host:", 5))
		msg = xasprintf("'%s' is not ip:ADDR[/BITS] or gid:GID[/BITS]", text);
	else
		msg = addr_parse(addr, &v->addr);
	free(addr);
	if (msg)
		return msg;
	v->n = all = access_bits(&v->addr);
	if (slash && (!parse_uint(slash + 1, &v->n) || v->n > all))
		return xasprintf("'%s' is not a number of bits from 0 to %u", slash + 1, all);
	for (unsigned int i = (unsigned int)v->n; i < all; i++)
		if (bit_at(&v->addr, i))
			return xasprintf("'%s' has bits set behind the first %s", text, slash + 1);
	return NULL;
}

/* "PEER[:MODE], .." */
static char *allow_read(struct access_item *x, const char *text, const struct conf_place *at)
{
	char *copy = xstrdup(text), *rest = copy, *peer, *mode, *msg = NULL;

	while (!msg && (peer = strsep(&rest, ","))) {
		struct access_value v = { .at = at };

		peer += strspn(peer, " \t");
		for (size_t n = strlen(peer); n && strchr(" \t", peer[n - 1]); n--)
			peer[n - 1] = '\0';
		mode = strchr(peer, ':');
		if (mode)
			*mode++ = '\0';
		msg = strcmp(peer, "*") ? access_name_problem(ACCESS_PEER, peer) : NULL;
		if (!msg && !access_parse(mode ? mode : "rw", &v.n))
			msg = xasprintf("'%s' is not ro, rw or migration", mode);
		if (msg)
			break;
		v.word = xstrdup(peer);
		access_put(x, AK_ALLOW, &v);
	}
	free(copy);
	return msg;
}

char *access_say(struct access_item *x, enum access_key k, const char *text, const struct conf_place *at)
{
	struct access_value v = { .at = at };
	char *msg = NULL;

	if (k == AK_ALLOW)
		return allow_read(x, text, at);
	if (k == AK_FROM)
		msg = from_read(text, &v);
	else if (k == AK_SESSION || k == AK_PATH)
		msg = k == AK_PATH ? path_problem(text) : pattern_problem(text);
	else if (k == AK_IO_MODE ? !io_mode_parse(text, &v.n) :
				   !parse_size(text, &v.n) || !v.n || v.n > INT64_MAX)
		msg = xasprintf("'%s' is not a size", text);
	if (msg)
		return msg;
	if (k == AK_PATH || k == AK_SESSION)
		v.word = xasprintf("%s%s", text, k == AK_PATH && access_is_directory(x->name) &&
				   !access_is_directory(text) ? "/" : "");
	access_put(x, k, &v);
	return NULL;
}

char *access_value_text(enum access_key k, const struct access_value *v)
{
	const char *mode = k == AK_ALLOW ? access_name(v->n) : io_mode_name(v->n);
	char buf[ADDR_TEXT_MAX];

	if (k == AK_ALLOW)
		return xasprintf("%s:%s", v->word, mode ? mode : "unknown");
	if (v->word)
		return xstrdup(v->word);
	if (k == AK_IO_MODE)
		return xstrdup(mode ? mode : "unknown");
	if (k != AK_FROM)
		return xasprintf("%" PRIu64, v->n);
	addr_format(&v->addr, buf);
	return v->n == access_bits(&v->addr) ? xstrdup(buf) : xasprintf("%s/%" PRIu64, buf, v->n);
}

char *access_text(const struct access_item *x, enum access_key k)
{
	struct strlist l = { 0 };
	char *text;

	for (size_t i = 0; i < x->of[k].n; i++) {
		text = access_value_text(k, &x->of[k].v[i]);
		strlist_add(&l, text);
		free(text);
	}
	text = l.n ? strlist_join(&l, ", ") : NULL;
	strlist_free(&l);
	return text;
}

uint64_t access_number(const struct access_item *x, enum access_key k)
{
	return x->of[k].n ? x->of[k].v[0].n : M_UNKNOWN;
}

bool access_is_directory(const char *name)
{
	return *name && name[strlen(name) - 1] == '/';
}

int access_value_cmp(const struct access_value *a, const struct access_value *b)
{
	int diff = a->word && b->word ? strcmp(a->word, b->word) : (int)a->addr.family - (int)b->addr.family;

	if (!diff && !a->word)
		diff = memcmp(a->addr.raw, b->addr.raw, sizeof(a->addr.raw));
	return diff || a->word ? diff : (a->n > b->n) - (a->n < b->n);
}

void access_put(struct access_item *x, enum access_key k, const struct access_value *v)
{
	struct access_values *all = &x->of[k];
	bool many = access_keys[k].many;
	size_t i = many ? all->n : 0;

	while (i && access_value_cmp(&all->v[i - 1], v) >= 0)
		i--;
	if (i == all->n || (many && access_value_cmp(&all->v[i], v))) {
		all->v = xgrow(all->v, all->n, sizeof(*all->v));
		memmove(&all->v[i + 1], &all->v[i], (all->n++ - i) * sizeof(*all->v));
	} else if (many && all->v[i].n >= v->n) {
		/* rights add up */
		free(v->word);
		return;
	} else {
		free(all->v[i].word);
	}
	all->v[i] = *v;
}

struct access_list access_empty(enum access_state state)
{
	return (struct access_list){ .says = json_pack("{si}", "state", (int)state) };
}

struct access_item *access_new(struct access_list *l, enum access_kind kind, const char *name)
{
	struct access_items *all = &l->of[kind];

	all->v = xgrow(all->v, all->n, sizeof(*all->v));
	all->v[all->n] = (struct access_item){ .name = xstrdup(name) };
	return &all->v[all->n++];
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct access_item *)a)->name, ((const struct access_item *)b)->name);
}

static int by_name_at(const void *a, const void *b)
{
	return by_name(*(const void *const *)a, *(const void *const *)b);
}

void access_sort(struct access_list *l)
{
	for (int kind = 0; kind < ACCESS_KINDS; kind++) {
		struct access_items *all = &l->of[kind];

		if (!all->n)
			continue;
		if (kind == ACCESS_EXPORT)
			qsort(all->v, all->n, sizeof(*all->v), by_name);
		all->by_name = xrealloc(all->by_name, all->n * sizeof(*all->by_name));
		for (size_t i = 0; i < all->n; i++)
			all->by_name[i] = &all->v[i];
		qsort(all->by_name, all->n, sizeof(*all->by_name), by_name_at);
	}
}

struct access_item *access_get(const struct access_list *l, enum access_kind kind, const char *name)
{
	const struct access_item is = { .name = (char *)name }, *key = &is;
	const struct access_items *all = &l->of[kind];
	struct access_item **at = all->n ? bsearch(&key, all->by_name, all->n, sizeof(key), by_name_at) : NULL;

	return at ? *at : NULL;
}

void access_copy(struct access_list *l, enum access_kind kind, const struct access_item *x, const char *without)
{
	struct access_item *new = access_new(l, kind, x->name);

	for (int k = 0; k < AK_N; k++) {
		for (size_t i = 0; i < x->of[k].n && !access_keys[k].counted; i++) {
			struct access_value v = x->of[k].v[i];

			if (without && k == AK_ALLOW && !strcmp(v.word, without))
				continue;
			v.word = v.word ? xstrdup(v.word) : NULL;
			access_put(new, k, &v);
		}
	}
}

const struct access_value *access_stranger(const struct access_list *l, const struct access_values *allow)
{
	for (size_t i = 0; i < allow->n; i++)
		if (strcmp(allow->v[i].word, "*") && !access_get(l, ACCESS_PEER, allow->v[i].word))
			return &allow->v[i];
	return NULL;
}

char *access_suggest(const struct access_list *l, enum access_kind kind, const char *name)
{
	struct strlist known = { 0 };
	char *hint;

	for (int k = 0; k < ACCESS_KINDS; k++)
		for (size_t i = 0; i < l->of[k].n && (kind == ACCESS_KINDS || k == (int)kind); i++)
			strlist_add(&known, l->of[k].v[i].name);
	hint = suggest(name, &known);
	strlist_free(&known);
	return hint;
}

static void item_free(struct access_item *x)
{
	free(x->name);
	for (int k = 0; k < AK_N; k++) {
		for (size_t i = 0; i < x->of[k].n; i++)
			free(x->of[k].v[i].word);
		free(x->of[k].v);
	}
}

void access_free(struct access_list *l)
{
	for (int kind = 0; kind < ACCESS_KINDS; kind++) {
		for (size_t i = 0; i < l->of[kind].n; i++)
			item_free(&l->of[kind].v[i]);
		free(l->of[kind].v);
		free(l->of[kind].by_name);
	}
	json_decref(l->says);
	memset(l, 0, sizeof(*l));
}

/* Is there a name that both patterns take? meet[i][j]: one that their rests from @i and @j take. */
static bool patterns_meet(const char *a, const char *b)
{
	static bool meet[ACCESS_NAME_MAX + 2][ACCESS_NAME_MAX + 2];
	size_t na, nb;

	/* most differ before the first wildcard */
	while (*a && *a == *b && *a != '*') {
		a++;
		b++;
	}
	if (!strchr("*?", *a) && !strchr("*?", *b))
		return false;
	na = strlen(a);
	nb = strlen(b);
	for (size_t i = na + 1; i--;) {
		for (size_t j = nb + 1; j--;) {
			if (a[i] == '*')
				meet[i][j] = meet[i + 1][j] || (j < nb && meet[i][j + 1]);
			else if (b[j] == '*')
				meet[i][j] = meet[i][j + 1] || (i < na && meet[i + 1][j]);
			else if (i == na || j == nb)
				meet[i][j] = i == na && j == nb;
			else
				meet[i][j] = (a[i] == b[j] || a[i] == '?' || b[j] == '?') && meet[i + 1][j + 1];
		}
	}
	return meet[0][0];
}

static bool froms_meet(const struct access_value *a, const struct access_value *b)
{
	unsigned int bits = (unsigned int)(a->n < b->n ? a->n : b->n), bytes = bits / 8;
	const uint8_t *x = a->addr.raw, *y = b->addr.raw;

	return a->addr.family == b->addr.family && !memcmp(x, y, bytes) &&
	       (!(bits % 8) || !((x[bytes] ^ y[bytes]) >> (8 - bits % 8)));
}

static bool any_meet(const struct access_item *a, const struct access_item *b, enum access_key k)
{
	const struct access_values *x = &a->of[k], *y = &b->of[k];

	for (size_t i = 0; i < x->n; i++)
		for (size_t j = 0; j < y->n; j++)
			if (k == AK_FROM ? froms_meet(&x->v[i], &y->v[j]) : patterns_meet(x->v[i].word, y->v[j].word))
				return true;
	return false;
}

const struct access_item *access_first_like(const struct access_items *peers, size_t peer)
{
	const struct access_item *x = &peers->v[peer];

	for (const struct access_item *first = peers->v; first < x; first++)
		if (any_meet(first, x, AK_FROM) && any_meet(first, x, AK_SESSION))
			return first;
	return NULL;
}
