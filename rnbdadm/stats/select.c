// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "host/disks.h"
#include "stats/select.h"
#include "task/select.h"

void stats_list_free(struct stats_list *l)
{
	snapshot_free(&(struct snapshot){ .stats = *l });
	memset(l, 0, sizeof(*l));
}

/* It may have been meant as a verb, which is known only where it is the first word. */
static void nothing_called(struct ctx *ctx, const struct snapshot *s, const char *word)
{
	const struct cmd *cmd = ctx->args.cmd;
	struct strlist known = { 0 };

	for (size_t i = 0; i < grammar->ncmds && !cmd->verb && ctx->args.nargs == 1; i++)
		if (grammar->cmds[i].verb && !strcmp(grammar->cmds[i].object, cmd->object))
			strlist_add(&known, grammar->cmds[i].verb);
	select_words(&known, s);
	select_nothing(&ctx->fail, word, &known);
	strlist_free(&known);
}

/* Id of the session that the word names, itself or by one of its devices; 0: none. */
static uint32_t session_of(struct ctx *ctx, struct snapshot *s, const char *word, enum m_role role)
{
	const struct session *sess = snapshot_session(s, word);
	const struct device *d;
	struct fail f = { 0 };
	uint32_t id = 0;

	if (sess)
		return sess->id;
	sys_devices(ctx->test_root, &s->devices);
	d = role == M_CLIENT ? select_device(s, word, NULL, ctx->test_root, &f) : NULL;
	if (d)
		id = d->session_id;
	else if (f.code == XC_CONFLICT || f.code == XC_USAGE)
		ctx->fail = f;
	else if (role == M_SERVER)
		select_client(s, word, &ctx->fail);
	else
		nothing_called(ctx, s, word);
	if (f.code == XC_NOT_FOUND)
		fail_clear(&f);
	return id;
}

bool stats_of_path(const struct parsed *a)
{
	return a->nargs > 1 || args_has(a, OPT_HCA);
}

int stats_select_check(struct ctx *ctx, bool devices)
{
	const struct parsed *a = &ctx->args;

	if (devices && stats_of_path(a))
		return fail_set(&ctx->fail, XC_USAGE, "a device is not of one path");
	if (!a->nargs && args_has(a, OPT_HCA))
		return fail_set(&ctx->fail, XC_USAGE, "--hca names a path of a session");
	return a->nargs < 2 || path_word_ok(a->args[1], &ctx->fail) ? XC_OK : XC_USAGE;
}

/* The path of that session, with ctx->fail set where there is none. */
static const struct path *path_of(struct ctx *ctx, const struct snapshot *s, uint32_t session)
{
	const struct parsed *a = &ctx->args;
	const struct session of = { .id = session };

	return select_path(s, &of, a->nargs > 1 ? a->args[1] : NULL, args_value(a, OPT_HCA),
			   &ctx->fail);
}

/* Keeps what fits, all of the session without @path; the rest is freed. */
static void keep(struct stats_list *l, uint32_t session, const struct path *path)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct stats *st = &l->v[i];

		if (st->session_id != session || (path && st->path_id != path->id)) {
			free(st->cpu);
			continue;
		}
		if (n != i)
			l->v[n] = *st;
		n++;
	}
	l->n = n;
}

int stats_snapshot(struct ctx *ctx, enum m_role role, unsigned int what, struct snapshot *s)
{
	const struct parsed *a = &ctx->args;
	const struct path *path = NULL;
	uint32_t id;

	memset(s, 0, sizeof(*s));
	what |= NL_STATS | (stats_of_path(a) ? NL_PATHS : 0);
	if (a->nargs)
		what |= NL_SESSIONS | (role == M_CLIENT ? NL_DEVICES_OPT : 0);
	if (!ctx_snapshot(ctx, role, what, s))
		return ctx->fail.code;
	if (!a->nargs)
		return XC_OK;
	id = session_of(ctx, s, a->args[0], role);
	if (id && stats_of_path(a))
		path = path_of(ctx, s, id);
	if (!ctx->fail.code)
		keep(&s->stats, id, path);
	if (ctx->fail.code)
		snapshot_free(s);
	return ctx->fail.code;
}

int stats_read(struct ctx *ctx, enum m_role role, struct stats_list *l)
{
	struct snapshot s;
	int rc = stats_snapshot(ctx, role, 0, &s);

	memset(l, 0, sizeof(*l));
	if (rc)
		return rc;
	*l = s.stats;
	memset(&s.stats, 0, sizeof(s.stats));
	snapshot_free(&s);
	return XC_OK;
}

static void add_device(struct ctx *ctx, struct stats_list *l, const struct device *d)
{
	struct stats *st;

	l->v = xrealloc(l->v, (l->n + 1) * sizeof(*l->v));
	st = &l->v[l->n++];
	stats_init(st);
	st->path_id = d->id;
	st->session_id = d->session_id;
	strcpy(st->path, d->name);
	strcpy(st->session, d->session);
	sys_disk_counters(ctx->test_root, d->name, &st->c);
}

int stats_read_devices(struct ctx *ctx, struct stats_list *l)
{
	const char *word = ctx->args.nargs ? ctx->args.args[0] : NULL;
	const struct device *one = NULL;
	struct snapshot s;
	uint32_t id = 0;

	memset(l, 0, sizeof(*l));
	if (!ctx_snapshot(ctx, M_CLIENT, NL_DEVICES | (word ? NL_SESSIONS : 0), &s))
		return ctx->fail.code;
	if (word)
		id = session_of(ctx, &s, word, M_CLIENT);
	if (id && !snapshot_session(&s, word))
		one = select_device(&s, word, NULL, ctx->test_root, &ctx->fail);
	for (size_t i = 0; i < s.devices.n && !ctx->fail.code; i++) {
		const struct device *d = &s.devices.v[i];

		if ((!id || d->session_id == id) && (!one || d == one))
			add_device(ctx, l, d);
	}
	snapshot_free(&s);
	return ctx->fail.code;
}

enum stats_by stats_by(const char *word)
{
	if (!word || !strcmp(word, "path"))
		return STATS_BY_PATH;
	if (!strcmp(word, "device"))
		return STATS_BY_DEVICE;
	return !strcmp(word, "session") ? STATS_BY_SESSION : STATS_BY_HCA;
}

static bool same_group(const struct stats *a, const struct stats *b, enum stats_by by)
{
	if (by == STATS_BY_SESSION)
		return a->session_id == b->session_id;
	return a->hca_port == b->hca_port && !strcmp(a->hca, b->hca);
}

static void add_cpu(struct stats *to, const struct cpu_counters *c)
{
	struct cpu_counters *t = NULL;

	for (size_t i = 0; i < to->ncpus && !t; i++)
		if (to->cpu[i].cpu == c->cpu)
			t = &to->cpu[i];
	if (!t) {
		to->cpu = xrealloc(to->cpu, (to->ncpus + 1) * sizeof(*to->cpu));
		to->cpu[to->ncpus++] = *c;
		return;
	}
	cpu_counters_add(t, c);
}

void stats_group(struct stats_list *l, enum stats_by by)
{
	size_t n = 0, k;

	if (by == STATS_BY_PATH || by == STATS_BY_DEVICE)
		return;
	for (size_t i = 0; i < l->n; i++) {
		struct stats *st = &l->v[i];

		for (k = 0; k < n && !same_group(&l->v[k], st, by); k++)
			;
		if (k == n) {
			l->v[n] = *st;
			st = &l->v[n++];
			st->path_id = 0;
			st->heartbeat_ns = M_UNKNOWN;
			if (by == STATS_BY_HCA) {
				st->session_id = 0;
			} else {
				st->hca[0] = '\0';
				st->hca_port = M_UNKNOWN;
			}
			continue;
		}
		counters_add(&l->v[k].c, &st->c);
		distributions_add(&l->v[k].d, &st->d);
		for (size_t c = 0; c < st->ncpus; c++)
			add_cpu(&l->v[k], &st->cpu[c]);
		free(st->cpu);
	}
	l->n = n;
}
