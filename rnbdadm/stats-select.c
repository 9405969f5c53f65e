// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "select.h"
#include "stats-select.h"
#include "sysinfo.h"

void stats_list_free(struct stats_list *l)
{
	snapshot_free(&(struct snapshot){ .stats = *l });
	memset(l, 0, sizeof(*l));
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
	else
		select_session(s, word, &ctx->fail);
	if (f.code == XC_NOT_FOUND)
		fail_clear(&f);
	return id;
}

static bool path_fits(const struct stats *st, const struct addr_pair *want)
{
	struct addr_pair have;
	char *msg = addr_pair_parse(st->path, &have);
	bool ok = !msg && addr_pair_matches(want, &have.src, &have.dst);

	free(msg);
	return ok;
}

/* Keeps what fits; the rest is freed. */
static void keep(struct stats_list *l, uint32_t session, const struct addr_pair *want)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct stats *st = &l->v[i];

		if (st->session_id != session || (want && !path_fits(st, want))) {
			free(st->cpu);
			continue;
		}
		if (n != i)
			l->v[n] = *st;
		n++;
	}
	l->n = n;
}

int stats_read(struct ctx *ctx, enum m_role role, struct stats_list *l)
{
	const struct parsed *a = &ctx->args;
	unsigned int what = NL_STATS;
	struct addr_pair want;
	struct snapshot s;
	uint32_t id;

	memset(l, 0, sizeof(*l));
	if (a->nargs > 1) {
		char *msg = addr_pair_parse(a->args[1], &want);

		if (msg) {
			fail_set(&ctx->fail, XC_USAGE, "%s", msg);
			free(msg);
			return XC_USAGE;
		}
	}
	if (a->nargs)
		what |= NL_SESSIONS | (role == M_CLIENT ? NL_DEVICES_OPT : 0);
	if (!ctx_snapshot(ctx, role, what, &s))
		return ctx->fail.code;
	if (a->nargs) {
		id = session_of(ctx, &s, a->args[0], role);
		if (!id) {
			snapshot_free(&s);
			return ctx->fail.code;
		}
		keep(&s.stats, id, a->nargs > 1 ? &want : NULL);
		if (a->nargs > 1 && !s.stats.n) {
			fail_set(&ctx->fail, XC_NOT_FOUND, "no path '%s'", a->args[1]);
			fail_text(&ctx->fail, "no such path");
			fail_object(&ctx->fail, "path", a->args[1]);
			fail_hint(&ctx->fail, "rnbdadm path list");
		}
	}
	*l = s.stats;
	memset(&s.stats, 0, sizeof(s.stats));
	snapshot_free(&s);
	if (ctx->fail.code)
		stats_list_free(l);
	return ctx->fail.code;
}
