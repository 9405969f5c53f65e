// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "model/objects.h"

/* Words in the order of the enums of the rnbd family, which is ABI. */
static const char *const path_states[] = {
	"connecting", "connected", "reconnecting", "closing", "disconnected",
};
static const char *const session_states[] = {
	"connected", "degraded", "reconnecting", "disconnected",
};
static const char *const device_states[] = {
	"init", "mapped", "disconnected", "unmapped",
};
/* the same states as the sysfs file "state" spells them */
static const char *const device_kernel_states[] = {
	"init", "open", "closed", "unmapped",
};
static const char *const roles[] = { "client", "server" };
static const char *const policies[] = {
	"round-robin", "min-inflight", "min-latency",
};
static const char *const policy_shorts[] = { "rr", "mi", "ml" };
static const char *const settings[SET_N] = {
	[SET_MAX_RECONNECT_ATTEMPTS] = "max_reconnect_attempts",
	[SET_HEARTBEAT_INTERVAL_MS] = "heartbeat_interval_ms",
	[SET_HEARTBEAT_MISSES] = "heartbeat_misses",
	[SET_RECONNECT_DELAY_MS] = "reconnect_delay_ms",
	[SET_RECONNECT_DELAY_MAX_MS] = "reconnect_delay_max_ms",
	[SET_CONNECT_TIMEOUT_MS] = "connect_timeout_ms",
	[SET_IO_TIMEOUT_MS] = "io_timeout_ms",
	[SET_NO_PATH_TIMEOUT_MS] = "no_path_timeout_ms",
	[SET_LOST_WRITES] = "lost_writes",
};
static const char *const losts[] = { "fail-flush", "disconnect" };
static const char *const io_modes[] = { "blockio", "fileio" };
static const char *const accesses[] = { "ro", "rw", "migration" };

static const char *word(const char *const *words, size_t n, uint64_t v)
{
	return v < n ? words[v] : NULL;
}

static const char *word_or_unknown(const char *const *words, size_t n, uint64_t v)
{
	const char *s = word(words, n, v);

	return s ? s : "unknown";
}

static bool word_parse(const char *const *words, size_t n, const char *s, uint64_t *v)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(words[i], s)) {
			*v = i;
			return true;
		}
	}
	return false;
}

const char *path_state_name(uint64_t v)
{
	return word_or_unknown(path_states, ARRAY_SIZE(path_states), v);
}

const char *session_state_name(uint64_t v)
{
	return word_or_unknown(session_states, ARRAY_SIZE(session_states), v);
}

const char *device_state_name(uint64_t v)
{
	return word_or_unknown(device_states, ARRAY_SIZE(device_states), v);
}

const char *device_kernel_state_name(uint64_t v)
{
	return word_or_unknown(device_kernel_states, ARRAY_SIZE(device_kernel_states), v);
}

const char *role_name(uint64_t v)
{
	return word_or_unknown(roles, ARRAY_SIZE(roles), v);
}

const char *mp_policy_name(uint64_t v)
{
	return word(policies, ARRAY_SIZE(policies), v);
}

const char *io_mode_name(uint64_t v)
{
	return word(io_modes, ARRAY_SIZE(io_modes), v);
}

const char *access_name(uint64_t v)
{
	return word(accesses, ARRAY_SIZE(accesses), v);
}

const char *setting_name(enum m_setting i)
{
	return settings[i];
}

const char *lost_writes_name(int64_t v)
{
	return word(losts, ARRAY_SIZE(losts), (uint64_t)v);
}

bool lost_writes_parse(const char *s, int64_t *v)
{
	uint64_t n;

	if (!word_parse(losts, ARRAY_SIZE(losts), s, &n))
		return false;
	*v = (int64_t)n;
	return true;
}

bool mp_policy_parse(const char *s, uint64_t *v)
{
	return word_parse(policies, ARRAY_SIZE(policies), s, v) ||
	       word_parse(policy_shorts, ARRAY_SIZE(policy_shorts), s, v);
}

bool io_mode_parse(const char *s, uint64_t *v)
{
	return word_parse(io_modes, ARRAY_SIZE(io_modes), s, v);
}

bool access_parse(const char *s, uint64_t *v)
{
	return word_parse(accesses, ARRAY_SIZE(accesses), s, v);
}

bool path_state_parse(const char *s, uint64_t *v)
{
	return word_parse(path_states, ARRAY_SIZE(path_states), s, v);
}

bool device_kernel_state_parse(const char *s, uint64_t *v)
{
	return word_parse(device_kernel_states, ARRAY_SIZE(device_kernel_states), s, v);
}

static void counters_init(struct counters *c)
{
	c->read_ios = c->read_bytes = c->write_ios = c->write_bytes = M_UNKNOWN;
	c->inflight = c->failovers = M_UNKNOWN;
	c->reconnects_ok = c->reconnects_failed = M_UNKNOWN;
}

void path_init(struct path *p)
{
	memset(p, 0, sizeof(*p));
	p->role = p->state = p->hca_port = p->connections = M_UNKNOWN;
	p->reconnect_attempts = p->heartbeat_ns = p->since_ns = M_UNKNOWN;
	p->last_error = 0;
	p->gid_index = M_UNKNOWN_INT;
}

void session_init(struct session *s)
{
	memset(s, 0, sizeof(*s));
	s->role = s->state = s->queue_depth = s->poll_queues = s->held = M_UNKNOWN;
	s->max_io_bytes = s->paths_connected = s->paths_configured = M_UNKNOWN;
	s->devices = s->pinned_bytes = s->pinned_max_bytes = M_UNKNOWN;
	settings_init(&s->set);
}

void settings_init(struct session_settings *s)
{
	s->mp_policy = M_UNKNOWN;
	for (int i = 0; i < SET_N; i++)
		s->v[i] = M_UNKNOWN_INT;
}

void device_init(struct device *d)
{
	memset(d, 0, sizeof(*d));
	d->major = d->minor = d->access = d->state = d->size_bytes = M_UNKNOWN;
	d->logical_block = d->physical_block = M_UNKNOWN;
	d->read_only = d->write_cache = d->fua = M_UNKNOWN;
	d->always_fua = d->write_losses = d->io_mode = M_UNKNOWN;
	d->poll_queues = d->hw_queues = d->open_count = M_UNKNOWN;
}

void stats_init(struct stats *s)
{
	memset(s, 0, sizeof(*s));
	s->role = s->hca_port = s->heartbeat_ns = M_UNKNOWN;
	counters_init(&s->c);
	distributions_init(&s->d);
}

void export_init(struct export *e)
{
	memset(e, 0, sizeof(*e));
	e->major = e->minor = e->access = e->size_bytes = M_UNKNOWN;
	e->logical_block = e->read_only = e->since_ns = e->told_bytes = e->io_mode = M_UNKNOWN;
}

void port_init(struct port *p)
{
	memset(p, 0, sizeof(*p));
	p->number = p->listening_port = p->drained = M_UNKNOWN;
}

const struct session *snapshot_session(const struct snapshot *s, const char *name)
{
	for (size_t i = 0; i < s->sessions.n; i++)
		if (!strcmp(s->sessions.v[i].name, name))
			return &s->sessions.v[i];
	return NULL;
}

uint64_t snapshot_connections(const struct snapshot *s, const struct session *sess)
{
	size_t n;
	const struct index_entry *e = index_find(&s->session_paths, sess->id, &n);
	uint64_t all = n ? s->paths.v[e[0].pos].connections : M_UNKNOWN;

	/* all paths have the same; one is that of the service */
	if (all == M_UNKNOWN || sess->poll_queues == M_UNKNOWN || all <= sess->poll_queues + 1)
		return M_UNKNOWN;
	return all - 1 - sess->poll_queues;
}

const struct stats *snapshot_stats(const struct snapshot *s, uint32_t path_id)
{
	size_t n;
	const struct index_entry *e = index_find(&s->path_stats, path_id, &n);

	return n ? &s->stats.v[e->pos] : NULL;
}

const struct index_entry *index_find(const struct index *ix, uint32_t key, size_t *n)
{
	size_t lo = 0, hi = ix->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (ix->v[mid].key < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (*n = 0; lo + *n < ix->n && ix->v[lo + *n].key == key; ++*n)
		;
	return *n ? &ix->v[lo] : NULL;
}

static int index_cmp(const void *a, const void *b)
{
	const struct index_entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->pos < y->pos ? -1 : x->pos > y->pos;
}

/* @key: the first of the ids; they are @stride bytes apart. */
static void index_make(struct index *ix, const uint32_t *key, size_t n, size_t stride)
{
	ix->v = xcalloc(n, sizeof(*ix->v));
	ix->n = n;
	for (size_t i = 0; i < n; i++) {
		ix->v[i].pos = (uint32_t)i;
		memcpy(&ix->v[i].key, (const char *)key + i * stride, sizeof(ix->v[i].key));
	}
	if (n > 1)
		qsort(ix->v, n, sizeof(*ix->v), index_cmp);
}

#define INDEX(ix, list, field) do {							\
	free((ix)->v);									\
	memset(ix, 0, sizeof(*(ix)));							\
	if ((list)->n)									\
		index_make(ix, &(list)->v[0].field, (list)->n, sizeof(*(list)->v));	\
} while (0)

static int session_cmp(const void *a, const void *b)
{
	const struct session *x = a, *y = b;

	return natural_cmp(x->name, y->name);
}

static int path_cmp(const void *a, const void *b)
{
	const struct path *x = a, *y = b;
	int rc = natural_cmp(x->session, y->session);

	return rc ? rc : natural_cmp(x->name, y->name);
}

static int device_cmp(const void *a, const void *b)
{
	const struct device *x = a, *y = b;

	return natural_cmp(x->name, y->name);
}

static int stats_cmp(const void *a, const void *b)
{
	const struct stats *x = a, *y = b;
	int rc = natural_cmp(x->session, y->session);

	return rc ? rc : natural_cmp(x->path, y->path);
}

static int export_cmp(const void *a, const void *b)
{
	const struct export *x = a, *y = b;
	int rc = natural_cmp(x->name, y->name);

	if (!rc)
		rc = natural_cmp(x->session, y->session);
	return rc ? rc : natural_cmp(x->device_path, y->device_path);
}

static int port_cmp(const void *a, const void *b)
{
	const struct port *x = a, *y = b;
	int rc = natural_cmp(x->hca, y->hca);

	return rc ? rc : (x->number > y->number) - (x->number < y->number);
}

static void sort_list(void *v, size_t n, size_t size,
		      int (*cmp)(const void *, const void *))
{
	if (n > 1)
		qsort(v, n, size, cmp);
}

void snapshot_sort(struct snapshot *s)
{
	sort_list(s->sessions.v, s->sessions.n, sizeof(*s->sessions.v), session_cmp);
	sort_list(s->paths.v, s->paths.n, sizeof(*s->paths.v), path_cmp);
	sort_list(s->devices.v, s->devices.n, sizeof(*s->devices.v), device_cmp);
	sort_list(s->stats.v, s->stats.n, sizeof(*s->stats.v), stats_cmp);
	sort_list(s->exports.v, s->exports.n, sizeof(*s->exports.v), export_cmp);
	sort_list(s->ports.v, s->ports.n, sizeof(*s->ports.v), port_cmp);
	INDEX(&s->session_paths, &s->paths, session_id);
	INDEX(&s->session_devices, &s->devices, session_id);
	INDEX(&s->session_stats, &s->stats, session_id);
	INDEX(&s->session_exports, &s->exports, session_id);
	INDEX(&s->path_stats, &s->stats, path_id);
}

void snapshot_free(struct snapshot *s)
{
	for (size_t i = 0; i < s->devices.n; i++) {
		strlist_free(&s->devices.v[i].holders);
		strlist_free(&s->devices.v[i].mountpoints);
		strlist_free(&s->devices.v[i].links);
		strlist_free(&s->devices.v[i].users);
		strlist_free(&s->devices.v[i].openers);
	}
	for (size_t i = 0; i < s->exports.n; i++)
		strlist_free(&s->exports.v[i].users);
	for (size_t i = 0; i < s->stats.n; i++)
		free(s->stats.v[i].cpu);
	free(s->sessions.v);
	free(s->paths.v);
	free(s->devices.v);
	free(s->stats.v);
	free(s->exports.v);
	free(s->ports.v);
	free(s->session_paths.v);
	free(s->session_devices.v);
	free(s->session_stats.v);
	free(s->session_exports.v);
	free(s->path_stats.v);
	memset(s, 0, sizeof(*s));
}
