// SPDX-License-Identifier: GPL-2.0
/* stats: totals, or what was added in each interval */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd.h"
#include "objects.h"
#include "select.h"
#include "stats-select.h"

struct sampling {
	enum m_role role;
	int64_t interval_ms;		/* 0: one sample of totals */
	uint64_t count;			/* samples to print, M_UNKNOWN: no end */
	bool skip_first, rate, per_cpu, one_document;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / 1000000000ULL),
			       .tv_nsec = (long)(ns % 1000000000ULL) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static json_t *js_rate(uint64_t n, uint64_t ns)
{
	double v;

	if (n == M_UNKNOWN || !ns)
		return json_null();
	v = (double)n * 1e9 / (double)ns;
	/* one digit behind the point says enough */
	if (v < 1e14)
		v = (double)(uint64_t)(v * 10 + 0.5) / 10;
	return json_real(v);
}

static json_t *js_rates(const struct counters *c, uint64_t ns)
{
	json_t *o = json_object();

	js_set(o, "read_ios_per_second", js_rate(c->read_ios, ns));
	js_set(o, "read_bytes_per_second", js_rate(c->read_bytes, ns));
	js_set(o, "write_ios_per_second", js_rate(c->write_ios, ns));
	js_set(o, "write_bytes_per_second", js_rate(c->write_bytes, ns));
	return o;
}

static void set_cpu(json_t *o, const struct cpu_counters *c)
{
	js_set(o, "cpu", js_u64(c->cpu));
	js_set(o, "read_ios", js_u64(c->read_ios));
	js_set(o, "read_bytes", js_u64(c->read_bytes));
	js_set(o, "write_ios", js_u64(c->write_ios));
	js_set(o, "write_bytes", js_u64(c->write_bytes));
	js_set(o, "migrations_from", js_u64(c->migrations_from));
	js_set(o, "migrations_to", js_u64(c->migrations_to));
}

static uint64_t minus(uint64_t a, uint64_t b, bool *reset)
{
	if (a == M_UNKNOWN || b == M_UNKNOWN)
		return M_UNKNOWN;
	if (a < b) {
		*reset = true;
		return M_UNKNOWN;
	}
	return a - b;
}

/* What @c counted since @before, which may lack this CPU. */
static struct cpu_counters cpu_delta(const struct cpu_counters *c, const struct stats *before,
				     bool *reset)
{
	struct cpu_counters d = *c, zero = { 0 };
	const struct cpu_counters *b = &zero;

	if (!before)
		return d;
	for (size_t i = 0; i < before->ncpus; i++)
		if (before->cpu[i].cpu == c->cpu)
			b = &before->cpu[i];
	d.read_ios = minus(c->read_ios, b->read_ios, reset);
	d.read_bytes = minus(c->read_bytes, b->read_bytes, reset);
	d.write_ios = minus(c->write_ios, b->write_ios, reset);
	d.write_bytes = minus(c->write_bytes, b->write_bytes, reset);
	d.migrations_from = minus(c->migrations_from, b->migrations_from, reset);
	d.migrations_to = minus(c->migrations_to, b->migrations_to, reset);
	return d;
}

static json_t *js_per_cpu(const struct stats *st, const struct stats *before, bool *reset)
{
	json_t *a = json_array();

	for (size_t i = 0; i < st->ncpus; i++) {
		struct cpu_counters d = cpu_delta(&st->cpu[i], before, reset);
		json_t *o = json_object();

		set_cpu(o, &d);
		json_array_append_new(a, o);
	}
	return a;
}

struct sample {
	const struct sampling *how;
	bool rates;
	uint64_t interval_ns;		/* 0: totals */
	bool reset;
	struct stats total;
	size_t paths;
	json_t *list;
};

static const struct stats *find_before(const struct stats_list *l, uint32_t id)
{
	for (size_t i = 0; l && i < l->n; i++)
		if (l->v[i].path_id == id)
			return &l->v[i];
	return NULL;
}

static void add_path(struct sample *sm, const struct stats *st, const struct stats *before)
{
	struct counters c = st->c;
	json_t *o = json_object();

	if (before)
		sm->reset |= counters_delta(&st->c, &before->c, &c);
	js_set(o, "object", json_string("path"));
	js_set_str(o, "session", st->session);
	js_set_str(o, "name", st->path);
	js_set(o, "hca", js_str_or_null(st->hca));
	js_set(o, "hca_port", js_u64(st->hca_port));
	js_set(o, "counters", js_counters(&c));
	if (sm->rates)
		js_set(o, "rates", js_rates(&c, sm->interval_ns));
	js_set(o, "heartbeat_latency_ns", js_u64(st->heartbeat_ns));
	if (sm->how->per_cpu)
		js_set(o, "per_cpu", js_per_cpu(st, before, &sm->reset));
	counters_add(&sm->total.c, &c);
	sm->paths++;
	json_array_append_new(sm->list, o);
}

static void add_cpu_rows(struct sample *sm, const struct stats *st, const struct stats *before)
{
	for (size_t i = 0; i < st->ncpus; i++) {
		struct cpu_counters d = cpu_delta(&st->cpu[i], before, &sm->reset);
		json_t *o = json_object();

		js_set_str(o, "session", st->session);
		js_set_str(o, "name", st->path);
		set_cpu(o, &d);
		json_array_append_new(sm->list, o);
	}
}

static void add_total(struct sample *sm)
{
	json_t *o = json_object();

	js_set(o, "object", json_string("total"));
	js_set(o, "session", json_string(""));
	js_set(o, "name", json_string("total"));
	js_set(o, "counters", js_counters(&sm->total.c));
	if (sm->rates)
		js_set(o, "rates", js_rates(&sm->total.c, sm->interval_ns));
	json_array_append_new(sm->list, o);
}

static void write_sample(struct ctx *ctx, struct sample *sm, bool first)
{
	struct out_opts *o = &ctx->out;
	bool rows = sm->how->per_cpu && (o->fmt == OUT_TEXT || o->fmt == OUT_CSV);
	json_t *data;

	if (o->fmt == OUT_JSON || o->fmt == OUT_JSONL) {
		js_set(ctx->data, "interval_ns", sm->interval_ns ?
		       js_u64(sm->interval_ns) : json_null());
		js_set(ctx->data, "reset", json_boolean(sm->reset));
		out_attach(ctx, &stats_view, sm->list);
		if (o->fmt == OUT_JSON)
			return;
		data = json_copy(ctx->data);
		json_line(ctx, data);
		return;
	}
	if (!first && o->fmt == OUT_TEXT)
		putchar('\n');
	if (!first && o->fmt == OUT_CSV)
		o->no_headers = true;
	if (o->totals && !rows && sm->paths > 1 && o->fmt == OUT_TEXT && !o->filter &&
	    !o->sort && !o->brief)
		add_total(sm);
	out_list(ctx, rows ? &stats_cpu_view : &stats_view, sm->list);
	fflush(stdout);
}

/* One sample: @now against @before, which is NULL for totals. */
static void emit(struct ctx *ctx, const struct sampling *how, const struct stats_list *now,
		 const struct stats_list *before, uint64_t interval_ns, bool first)
{
	struct sample sm = { .how = how, .interval_ns = interval_ns, .list = json_array() };
	bool rows = how->per_cpu && (ctx->out.fmt == OUT_TEXT || ctx->out.fmt == OUT_CSV);

	/* totals have no rate; other formats keep their keys */
	sm.rates = how->rate && (interval_ns || ctx->out.fmt != OUT_TEXT);
	stats_init(&sm.total);
	for (size_t i = 0; i < now->n; i++) {
		const struct stats *b = find_before(before, now->v[i].path_id);

		if (rows)
			add_cpu_rows(&sm, &now->v[i], b);
		else
			add_path(&sm, &now->v[i], b);
	}
	write_sample(ctx, &sm, first);
}

static int plan_sampling(struct ctx *ctx, struct sampling *how)
{
	const struct parsed *a = &ctx->args;
	int64_t interval = args_time(a, OPT_INTERVAL, 0);

	*how = (struct sampling){
		.role = args_has(a, OPT_SERVER_ROLE) ? M_SERVER : M_CLIENT,
		.interval_ms = interval,
		.count = args_uint(a, OPT_COUNT, M_UNKNOWN),
		.skip_first = args_has(a, OPT_SKIP_FIRST),
		.rate = args_has(a, OPT_RATE),
		.per_cpu = args_has(a, OPT_PER_CPU),
	};
	if (args_has(a, OPT_INTERVAL) && interval < 10)
		return fail_set(&ctx->fail, XC_USAGE, "--interval: at least 10ms");
	if (!args_has(a, OPT_INTERVAL)) {
		if (args_has(a, OPT_COUNT) || how->skip_first)
			return fail_set(&ctx->fail, XC_USAGE, "--count and --skip-first need -i");
		how->count = 1;
		how->one_document = true;
		/* a rate needs an interval: the next second */
		if (how->rate) {
			how->interval_ms = 1000;
			how->skip_first = true;
		}
	} else if (ctx->out.fmt == OUT_JSON) {
		ctx->out.fmt = OUT_JSONL;
	}
	return XC_OK;
}

static bool reader_gone(void)
{
	return ferror(stdout);
}

/* Every sample of this run. */
static int sample_all(struct ctx *ctx, const struct sampling *how)
{
	struct stats_list before = { 0 }, now;
	uint64_t last = 0, next = now_ns(), done = 0;
	bool have = false;
	int rc;

	for (;;) {
		uint64_t t = now_ns();

		rc = stats_read(ctx, how->role, &now);
		if (rc)
			break;
		if (have || !how->skip_first) {
			emit(ctx, how, &now, have ? &before : NULL, have ? t - last : 0, !done);
			done++;
		}
		stats_list_free(&before);
		before = now;
		last = t;
		have = true;
		if (!how->interval_ms || done >= how->count || reader_gone())
			break;
		next += (uint64_t)how->interval_ms * 1000000;
		sleep_until(next);
	}
	stats_list_free(&before);
	return rc;
}

int cmd_stats(struct ctx *ctx)
{
	struct sampling how;
	int rc = plan_sampling(ctx, &how);

	if (rc)
		return rc;
	/* a reader that goes away ends a stream, which is no error */
	if (!how.one_document)
		signal(SIGPIPE, SIG_IGN);
	return sample_all(ctx, &how);
}
