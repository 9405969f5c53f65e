// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/replace.h"
#include "stats/prometheus.h"
#include "stats/select.h"

struct prom {
	struct strbuf b;
	const char *prefix;		/* "rnbd", or "rnbd_server": both may be in one directory */
	const struct snapshot *s;
};

static void head(struct prom *p, const char *name, const char *type, const char *help)
{
	strbuf_printf(&p->b, "# HELP %s_%s %s\n# TYPE %s_%s %s\n", p->prefix, name, help, p->prefix,
		      name, type);
}

/* What is no UTF-8 becomes \xNN, so that names that differ there remain two. */
static void label(struct prom *p, const char *name, const char *value)
{
	strbuf_printf(&p->b, "%s%s=\"", p->b.s[p->b.len - 1] == '{' ? "" : ",", name);
	for (size_t n; *value; value += n) {
		n = utf8_len((const unsigned char *)value);
		if (!n)
			strbuf_printf(&p->b, "\\\\x%02x", (unsigned char)*value);
		else if (*value == '\n')
			strbuf_puts(&p->b, "\\n");
		else if (*value == '\\' || *value == '"')
			strbuf_printf(&p->b, "\\%c", *value);
		else
			strbuf_add(&p->b, value, n);
		n += !n;
	}
	strbuf_puts(&p->b, "\"");
}

static void series(struct prom *p, const char *name)
{
	strbuf_printf(&p->b, "%s_%s{", p->prefix, name);
}

static void path_labels(struct prom *p, const struct stats *st)
{
	char text[24];
	const char *at = strchr(st->path, '@');
	char *src = at ? xstrndup(st->path, (size_t)(at - st->path)) : NULL;

	label(p, "session", st->session);
	label(p, "client", src ? src : "");
	label(p, "server", at ? at + 1 : st->path);
	label(p, "hca", st->hca);
	snprintf(text, sizeof(text), "%" PRIu64, st->hca_port);
	label(p, "port", st->hca_port == M_UNKNOWN ? "" : text);
	free(src);
}

struct metric {
	const char *name, *type, *help;
	uint64_t (*get)(const struct stats *st);
};

#define GETTER(name, expr)							\
	static uint64_t get_##name(const struct stats *st) { return expr; }

GETTER(read_ios, st->c.read_ios)
GETTER(read_bytes, st->c.read_bytes)
GETTER(write_ios, st->c.write_ios)
GETTER(write_bytes, st->c.write_bytes)
GETTER(inflight, st->c.inflight)
GETTER(failovers, st->c.failovers)
GETTER(reconnects_ok, st->c.reconnects_ok)
GETTER(reconnects_failed, st->c.reconnects_failed)
GETTER(completions, st->d.completions)
GETTER(polls, st->d.polls)
GETTER(completions_max, st->d.completions_max)
GETTER(heartbeat, st->heartbeat_ns)

static uint64_t get_migrations(const struct stats *st)
{
	uint64_t n = M_UNKNOWN;

	for (size_t i = 0; i < st->ncpus; i++)
		if (st->cpu[i].migrations_to != M_UNKNOWN)
			n = (n == M_UNKNOWN ? 0 : n) + st->cpu[i].migrations_to;
	return n;
}

static const struct metric metrics[] = {
	{ "path_read_ios_total", "counter", "Reads completed by the path.", get_read_ios },
	{ "path_read_bytes_total", "counter", "Bytes read through the path.", get_read_bytes },
	{ "path_write_ios_total", "counter", "Writes completed by the path.", get_write_ios },
	{ "path_write_bytes_total", "counter", "Bytes written through the path.",
	  get_write_bytes },
	{ "path_inflight", "gauge", "Requests in flight on the path.", get_inflight },
	{ "path_failovers_total", "counter", "Requests that left the path for another.",
	  get_failovers },
	{ "path_reconnects_total", "counter", "Reconnections that succeeded.", get_reconnects_ok },
	{ "path_reconnects_failed_total", "counter", "Reconnections that failed.",
	  get_reconnects_failed },
	{ "path_cpu_migrations_total", "counter",
	  "Completions on another CPU than the submission.", get_migrations },
	{ "path_completions_total", "counter", "Completions of work requests.", get_completions },
	{ "path_polls_total", "counter", "Polls of completion queues.", get_polls },
	{ "path_poll_completions_max", "gauge", "Most completions found by one poll.",
	  get_completions_max },
	{ "path_heartbeat_latency_seconds", "gauge", "Round trip of the last heartbeat.",
	  get_heartbeat },
};

static void put_value(struct prom *p, uint64_t v) { strbuf_printf(&p->b, "} %" PRIu64 "\n", v); }

static void put_seconds(struct prom *p, uint64_t ns)
{
	strbuf_printf(&p->b, "} %.12g\n", (double)ns / 1e9);
}

static void put_metric(struct prom *p, const struct metric *m)
{
	bool any = false;

	for (size_t i = 0; i < p->s->stats.n; i++) {
		uint64_t v = m->get(&p->s->stats.v[i]);

		if (v > INT64_MAX)
			continue;
		if (!any)
			head(p, m->name, m->type, m->help);
		any = true;
		series(p, m->name);
		path_labels(p, &p->s->stats.v[i]);
		if (strstr(m->name, "_seconds"))
			put_seconds(p, v);
		else
			put_value(p, v);
	}
}

static const struct path *path_of(const struct snapshot *s, const struct stats *st)
{
	for (size_t i = 0; i < s->paths.n; i++)
		if (s->paths.v[i].id == st->path_id)
			return &s->paths.v[i];
	return NULL;
}

static bool is_up(const struct path *path)
{
	return path && !strcmp(path_state_name(path->state), "connected");
}

static void put_states(struct prom *p)
{
	const struct stats_list *l = &p->s->stats;

	if (l->n)
		head(p, "path_up", "gauge", "Is the path connected?");
	for (size_t i = 0; i < l->n; i++) {
		series(p, "path_up");
		path_labels(p, &l->v[i]);
		strbuf_printf(&p->b, "} %d\n", is_up(path_of(p->s, &l->v[i])));
	}
}

static const char *const ops[] = { [M_READ] = "read", [M_WRITE] = "write" };

static void put_longest(struct prom *p)
{
	bool any = false;

	for (size_t i = 0; i < 2 * p->s->stats.n; i++) {
		const struct stats *st = &p->s->stats.v[i / 2];
		enum m_op op = i % 2 ? M_WRITE : M_READ;

		if (!st->d.counted || st->d.max_ns[op] > INT64_MAX)
			continue;
		if (!any)
			head(p, "path_io_latency_max_seconds", "gauge",
			     "Longest time from submission to completion of a request.");
		any = true;
		series(p, "path_io_latency_max_seconds");
		path_labels(p, st);
		label(p, "op", ops[op]);
		put_seconds(p, st->d.max_ns[op]);
	}
}

/* One line of a histogram: "_bucket" or "_count", of what is up to @le. @op may be NULL. */
static void put_part(struct prom *p, const struct stats *st, const char *name, const char *op,
		     const char *le, uint64_t n)
{
	series(p, name);
	path_labels(p, st);
	if (op)
		label(p, "op", op);
	if (le)
		label(p, "le", le);
	put_value(p, n);
}

/* The buckets are always the same, so that a series does not begin with its first request. */
static void put_latency(struct prom *p, const struct stats *st, enum m_op op)
{
	uint64_t n = 0;
	char end[32];

	/* a sum that cannot be told makes no histogram */
	if (!st->d.counted || latency_count(&st->d, op) > INT64_MAX)
		return;
	for (size_t i = 0; i < M_LATENCY_N; i++) {
		n += st->d.latency[op][i];
		if (i < M_LATENCY_FIRST || i > M_LATENCY_LAST)
			continue;
		snprintf(end, sizeof(end), "%.12g", (double)latency_end(i) / 1e9);
		put_part(p, st, "path_io_latency_seconds_bucket", ops[op], end, n);
	}
	put_part(p, st, "path_io_latency_seconds_bucket", ops[op], "+Inf", n);
	put_part(p, st, "path_io_latency_seconds_count", ops[op], NULL, n);
}

static void put_latencies(struct prom *p)
{
	bool any = false;

	for (size_t i = 0; i < p->s->stats.n; i++) {
		const struct stats *st = &p->s->stats.v[i];

		if (!any && st->d.counted)
			head(p, "path_io_latency_seconds", "histogram",
			     "Time from submission to completion of a request.");
		any |= st->d.counted;
		put_latency(p, st, M_READ);
		put_latency(p, st, M_WRITE);
	}
}

static void put_sg(struct prom *p, const struct stats *st)
{
	uint64_t n = 0;
	char end[32];

	for (size_t i = 0; i < M_SG_N; i++) {
		n += st->d.sg[i];
		if (i > M_SG_LAST)
			continue;
		snprintf(end, sizeof(end), "%" PRIu64, sg_end(i));
		put_part(p, st, "path_sg_entries_bucket", NULL, end, n);
	}
	put_part(p, st, "path_sg_entries_bucket", NULL, "+Inf", n);
	put_part(p, st, "path_sg_entries_count", NULL, NULL, n);
}

/* Of a sum that cannot be told there is none. */
static bool has_sg(const struct distributions *d)
{
	uint64_t n = 0;

	for (size_t i = 0; i < M_SG_N; i++) {
		if (d->sg[i] > INT64_MAX - n)
			return false;
		n += d->sg[i];
	}
	return d->counted;
}

static void put_sgs(struct prom *p)
{
	bool any = false;

	for (size_t i = 0; i < p->s->stats.n; i++) {
		const struct stats *st = &p->s->stats.v[i];

		if (!has_sg(&st->d))
			continue;
		if (!any)
			head(p, "path_sg_entries", "histogram",
			     "Entries of the scatter-gather list of a request.");
		any = true;
		put_sg(p, st);
	}
}

static bool has_path(const struct snapshot *s, const struct session *sess)
{
	for (size_t i = 0; i < s->stats.n; i++)
		if (s->stats.v[i].session_id == sess->id)
			return true;
	return false;
}

static unsigned int paths_in(const struct snapshot *s, const struct session *sess, uint64_t state)
{
	unsigned int n = 0;

	for (size_t i = 0; i < s->paths.n; i++)
		n += s->paths.v[i].session_id == sess->id && s->paths.v[i].state == state;
	return n;
}

/* The sessions that are meant, in every state that a path can be in */
static void put_sessions(struct prom *p, bool selected)
{
	bool any = false;

	for (size_t i = 0; i < p->s->sessions.n; i++) {
		const struct session *sess = &p->s->sessions.v[i];

		if (selected && !has_path(p->s, sess))
			continue;
		if (!any)
			head(p, "session_paths", "gauge", "Paths of the session in this state.");
		any = true;
		for (uint64_t state = 0; strcmp(path_state_name(state), "unknown"); state++) {
			series(p, "session_paths");
			label(p, "session", sess->name);
			label(p, "state", path_state_name(state));
			strbuf_printf(&p->b, "} %u\n", paths_in(p->s, sess, state));
		}
	}
}

static void put_tool(struct prom *p, const struct ctx *ctx, bool up)
{
	head(p, "up", "gauge", "Did the modules answer?");
	strbuf_printf(&p->b, "%s_up %d\n", p->prefix, up);
	head(p, "tool_info", "gauge", "Version of the tool.");
	series(p, "tool_info");
	label(p, "version", RNBDADM_VERSION);
	label(p, "backend", ctx_backend(ctx));
	strbuf_puts(&p->b, "} 1\n");
}

static bool same_labels(const struct stats *a, const struct stats *b)
{
	return !strcmp(a->session, b->session) && !strcmp(a->path, b->path) &&
	       !strcmp(a->hca, b->hca) && a->hca_port == b->hca_port;
}

/*
 * Paths to a server that have not said yet whose they are may look the same, and a series that
 * comes twice makes a reader refuse all of them. Paths are sorted by their names.
 */
static void join_twins(struct stats_list *l)
{
	size_t n = 0, k;

	for (size_t i = 0; i < l->n; i++) {
		struct stats *st = &l->v[i];

		for (k = n; k && !strcmp(l->v[k - 1].path, st->path) && !same_labels(&l->v[k - 1], st); k--)
			;
		if (!k || !same_labels(&l->v[k - 1], st)) {
			l->v[n++] = *st;
			continue;
		}
		counters_add(&l->v[k - 1].c, &st->c);
		distributions_add(&l->v[k - 1].d, &st->d);
		free(st->cpu);
	}
	l->n = n;
}

/* A reader sees the old file or the new one. */
static int write_file(struct ctx *ctx, const char *path, const struct strbuf *b)
{
	int err = replace_file(path, b->s, b->len);

	if (err) {
		ctx->fail.err = err;
		fail_set(&ctx->fail, errno_exit_code(err), "%s: %s (%s)", path, strerror(err),
			 errno_name(err));
	}
	return ctx->fail.code;
}

int stats_prom(struct ctx *ctx, enum m_role role)
{
	const char *file = args_value(&ctx->args, OPT_TEXTFILE);
	struct snapshot s = { 0 };
	struct prom p = { .prefix = role == M_SERVER ? "rnbd_server" : "rnbd", .s = &s };
	int rc = stats_snapshot(ctx, role, NL_SESSIONS | NL_PATHS, &s);

	/* modules that are not there are a fact to be told; what else went wrong is not */
	if (rc && rc != XC_UNAVAILABLE)
		return rc;
	join_twins(&s.stats);
	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++)
		put_metric(&p, &metrics[i]);
	put_states(&p);
	put_longest(&p);
	put_latencies(&p);
	put_sgs(&p);
	put_sessions(&p, ctx->args.nargs);
	put_tool(&p, ctx, !rc);
	if (!file)
		fwrite(p.b.s, 1, p.b.len, stdout);
	else
		rc = write_file(ctx, file, &p.b);
	free(p.b.s);
	snapshot_free(&s);
	return rc;
}
