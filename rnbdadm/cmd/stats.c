// SPDX-License-Identifier: GPL-2.0
/* stats: totals, or what was added in each interval */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/commands.h"
#include "output/to-json.h"
#include "stats/columns.h"
#include "stats/json.h"
#include "stats/prometheus.h"
#include "stats/select.h"

struct sampling {
	enum m_role role;
	int64_t interval_ms;		/* 0: one sample of totals */
	uint64_t count;			/* samples to print, M_UNKNOWN: no end */
	bool skip_first, rate, one_document;
	bool prom;			/* to stdout or into a file */
	enum stats_by by;
	struct stats_wants wants;
};

static void sleep_until(uint64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / 1000000000ULL),
			       .tv_nsec = (long)(ns % 1000000000ULL) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

struct sample {
	const struct sampling *how;
	bool rates, rows;
	uint64_t interval_ns;		/* 0: totals */
	bool reset;
	struct stats total;
	size_t paths;
	json_t *list;
};

/* Of two pointers to struct stats, whose counters these are */
static int by_object(const void *a, const void *b)
{
	const struct stats *x = *(const struct stats *const *)a, *y = *(const struct stats *const *)b;

	if (x->path_id != y->path_id)
		return x->path_id < y->path_id ? -1 : 1;
	if (x->session_id != y->session_id)
		return x->session_id < y->session_id ? -1 : 1;
	if (x->hca_port != y->hca_port)
		return x->hca_port < y->hca_port ? -1 : 1;
	return strcmp(x->hca, y->hca);
}

static const struct stats **sorted(const struct stats_list *l)
{
	const struct stats **v;

	if (!l)
		return NULL;
	v = xcalloc(l->n + 1, sizeof(*v));
	for (size_t i = 0; i < l->n; i++)
		v[i] = &l->v[i];
	qsort(v, l->n, sizeof(*v), by_object);
	return v;
}

static void add_object(struct sample *sm, const struct stats *st, const struct stats *before)
{
	const struct stats_wants *w = &sm->how->wants;
	struct distributions d = st->d;
	struct counters c = st->c;
	json_t *o = js_stats_names(st, sm->how->by);

	if (before) {
		sm->reset |= counters_delta(&st->c, &before->c, &c);
		sm->reset |= distributions_delta(&st->d, &before->d, &d);
	}
	js_set(o, "counters", js_counters(&c));
	js_set(o, "polling", js_polling(&d));
	if (sm->rates)
		js_set(o, "rates", js_rates(&c, sm->interval_ns));
	js_quantiles(o, &d);
	js_set(o, "heartbeat_latency_ns", js_u64(st->heartbeat_ns));
	if (w->per_cpu)
		js_set(o, "per_cpu", js_per_cpu(st, before, w, &sm->reset));
	js_distributions(o, &d, w);
	counters_add(&sm->total.c, &c);
	sm->paths++;
	if (sm->rows)
		js_rows(sm->list, o, w);
	else
		json_array_append_new(sm->list, o);
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

const struct view *cmd_stats_view(const struct ctx *ctx)
{
	if (ctx->out.fmt != OUT_TEXT && ctx->out.fmt != OUT_CSV)
		return &stats_view;
	if (args_has(&ctx->args, OPT_LATENCY))
		return &stats_latency_view;
	return args_has(&ctx->args, OPT_PER_CPU) ? &stats_cpu_view : &stats_view;
}

static const struct view *view_of(const struct sample *sm)
{
	const struct stats_wants *w = &sm->how->wants;

	if (!sm->rows)
		return &stats_view;
	return w->latency ? &stats_latency_view : &stats_cpu_view;
}

static void write_sample(struct ctx *ctx, struct sample *sm, bool first)
{
	struct out_opts *o = &ctx->out;
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
	if (o->totals && !sm->rows && sm->paths > 1 && o->fmt == OUT_TEXT && !o->filter &&
	    !o->sort && !o->brief)
		add_total(sm);
	out_list(ctx, view_of(sm), sm->list);
	fflush(stdout);
}

/* One sample: @now against @before, which is NULL for totals. */
static void emit(struct ctx *ctx, const struct sampling *how, const struct stats_list *now,
		 const struct stats_list *before, uint64_t interval_ns, bool first)
{
	struct sample sm = { .how = how, .interval_ns = interval_ns, .list = json_array() };
	const struct stats **v = sorted(before), **old;
	const struct stats_wants *w = &how->wants;

	sm.rows = (w->per_cpu || w->latency) &&
		  (ctx->out.fmt == OUT_TEXT || ctx->out.fmt == OUT_CSV);
	/* totals have no rate; other formats keep their keys */
	sm.rates = how->rate && (interval_ns || ctx->out.fmt != OUT_TEXT);
	stats_init(&sm.total);
	for (size_t i = 0; i < now->n; i++) {
		const struct stats *st = &now->v[i];

		old = v ? bsearch(&st, v, before->n, sizeof(*v), by_object) : NULL;
		add_object(&sm, st, old ? *old : NULL);
	}
	free(v);
	write_sample(ctx, &sm, first);
}

/* The block layer counts less than the paths do. */
static int check_scope(struct ctx *ctx, const struct sampling *how)
{
	const struct stats_wants *w = &how->wants;

	if (how->by == STATS_BY_DEVICE && (w->per_cpu || w->latency))
		return fail_set(&ctx->fail, XC_USAGE, "--by device has neither --per-cpu nor --latency: "
				"they are counted by path");
	if (how->by == STATS_BY_DEVICE && how->role == M_SERVER)
		return fail_set(&ctx->fail, XC_USAGE, "--by device is of this client");
	return XC_OK;
}

/* All counters of all paths, or of those that are selected, are written. */
static int check_prom(struct ctx *ctx)
{
	for (const unsigned char *o = ctx->args.cmd->opts; *o; o++)
		if (*o != OPT_TEXTFILE && *o != OPT_ROLE && args_has(&ctx->args, *o))
			return fail_set(&ctx->fail, XC_USAGE, "prom has all counters of paths, "
					"and takes no --%s", opt_table[*o].name);
	return XC_OK;
}

static int check_tables(struct ctx *ctx, const struct sampling *how)
{
	if (how->prom && check_prom(ctx))
		return XC_USAGE;
	return check_scope(ctx, how);
}

static int plan_sampling(struct ctx *ctx, struct sampling *how)
{
	const struct parsed *a = &ctx->args;
	int64_t interval = args_time(a, OPT_INTERVAL, 0);

	*how = (struct sampling){
		.role = args_server(a) ? M_SERVER : M_CLIENT,
		.interval_ms = interval,
		.count = args_uint(a, OPT_COUNT, M_UNKNOWN),
		.skip_first = args_has(a, OPT_SKIP_FIRST),
		.rate = args_has(a, OPT_RATE) || out_names(&ctx->out, &stats_view, "rates", true),
		/* the file is one thing, what stdout has is another */
		.prom = ctx->out.fmt == OUT_PROM || args_has(a, OPT_TEXTFILE),
		.by = stats_by(args_value(a, OPT_BY)),
		.wants = {
			.per_cpu = args_has(a, OPT_PER_CPU),
			.active = args_value(a, OPT_PER_CPU),
			.latency = args_has(a, OPT_LATENCY),
		},
	};
	if (check_tables(ctx, how))
		return XC_USAGE;
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

static int read_now(struct ctx *ctx, const struct sampling *how, struct stats_list *l)
{
	return how->by == STATS_BY_DEVICE ? stats_read_devices(ctx, l) : stats_read(ctx, how->role, l);
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

		rc = read_now(ctx, how, &now);
		if (rc)
			break;
		stats_group(&now, how->by);
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
		/* what was missed, by a program that was stopped, is not made up for */
		if (next < (uint64_t)now_ns())
			next = now_ns() + (uint64_t)how->interval_ms * 1000000;
		sleep_until(next);
	}
	stats_list_free(&before);
	return rc;
}

int cmd_stats_check(struct ctx *ctx)
{
	struct sampling how;
	int rc = plan_sampling(ctx, &how);

	return rc ? rc : stats_select_check(ctx, how.by == STATS_BY_DEVICE);
}

int cmd_stats(struct ctx *ctx)
{
	struct sampling how;

	plan_sampling(ctx, &how);
	if (how.prom)
		return stats_prom(ctx, how.role);
	/* a reader that goes away ends a stream, which is no error */
	if (!how.one_document)
		signal(SIGPIPE, SIG_IGN);
	return sample_all(ctx, &how);
}
