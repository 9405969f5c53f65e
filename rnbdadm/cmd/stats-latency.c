// SPDX-License-Identifier: GPL-2.0
/* stats latency: how long requests took, as bars */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "host/disks.h"
#include "output/to-json.h"
#include "stats/columns.h"
#include "stats/json.h"
#include "stats/select.h"

#define WIDTH		80		/* where nobody says */
#define LABELS		15		/* "134 - 268 ms  " and a gap */

static json_t *js_each_op(const struct stats *st)
{
	static const char *const op[] = { "read", "write" };
	static const struct { const char *name; double percent; } q[] = {
		{ "p50", 50 }, { "p90", 90 }, { "p99", 99 }, { "p999", 99.9 },
	};
	json_t *o = json_object();
	char key[24];

	js_set_str(o, "session", st->session);
	for (enum m_op i = M_READ; i <= M_WRITE; i++) {
		snprintf(key, sizeof(key), "%s_ios", op[i]);
		js_set(o, key, js_u64(latency_count(&st->d, i)));
		for (size_t k = 0; k < ARRAY_SIZE(q); k++) {
			snprintf(key, sizeof(key), "%s_%s_ns", op[i], q[k].name);
			js_set(o, key, js_u64(latency_quantile(&st->d, i, q[k].percent)));
		}
		snprintf(key, sizeof(key), "%s_max_ns", op[i]);
		js_set(o, key, js_u64(st->d.max_ns[i]));
	}
	js_set(o, "buckets", js_buckets(&st->d));
	return o;
}

struct plot {
	const struct stats *st;
	const struct out_opts *o;
	bool log;
	uint64_t most;
	unsigned int width;		/* of a bar */
	int digits;			/* of a count */
};

/* 44 us, 3.1 ms: two digits that mean something */
static char *time_short(double ns, const char *unit)
{
	static const struct { double ns; const char *name; } units[] = {
		{ 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" },
	};
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(units) && (unit ? strcmp(units[i].name, unit) != 0 :
					     ns < units[i].ns))
		i++;
	ns /= units[i].ns;
	return xasprintf(ns < 9.95 ? "%.1f" : "%.0f", ns);
}

static const char *time_unit(double ns)
{
	return ns >= 1e9 ? "s" : ns >= 1e6 ? "ms" : "us";
}

static char *time_approx(uint64_t ns, const char *mark)
{
	char *s, *t;

	if (ns > INT64_MAX)
		return xstrdup("-");
	s = time_short((double)ns, time_unit((double)ns));
	t = xasprintf("%s%s%s", mark, s, time_unit((double)ns));
	free(s);
	return t;
}

static char *bucket_label(size_t i)
{
	bool last = i + 1 == M_LATENCY_N;
	double high = (double)latency_end(last ? M_LATENCY_LAST : i);
	const char *unit = time_unit(high);
	char *to = time_short(high, unit), *from = i ? time_short(high / 2, unit) : NULL, *s;

	if (last)
		s = xasprintf("    > %3s %-2s", to, unit);
	else
		s = xasprintf("%3s - %3s %-2s", from ? from : "0", to, unit);
	free(from);
	free(to);
	return s;
}

/* About the logarithm of n + 1 to the base of 2 */
static double bits(uint64_t n)
{
	unsigned int whole = 63 - (unsigned int)__builtin_clzll(n + 1);

	return whole + (double)(n + 1) / (double)(1ULL << whole) - 1;
}

/* Eighths of a character; what is there is never drawn empty. */
static unsigned int bar_eighths(const struct plot *p, uint64_t n)
{
	double part;

	if (!n || n > INT64_MAX)
		return 0;
	part = p->log ? bits(n) / bits(p->most) : (double)n / (double)p->most;
	part *= p->width * 8;
	return part < 1 ? 1 : (unsigned int)part;
}

/* @fill: up to the full width */
static void print_bar(const struct plot *p, uint64_t n, bool fill)
{
	static const char *const part[] = {
		"", "\xe2\x96\x8f", "\xe2\x96\x8e", "\xe2\x96\x8d", "\xe2\x96\x8c",
		"\xe2\x96\x8b", "\xe2\x96\x8a", "\xe2\x96\x89",
	};
	unsigned int e = bar_eighths(p, n), full = e / 8, used;

	if (!p->o->utf8 && e % 8)
		full += full ? e % 8 >= 4 : 1;
	for (unsigned int i = 0; i < full; i++)
		fputs(p->o->utf8 ? "\xe2\x96\x88" : "#", stdout);
	used = full;
	if (p->o->utf8 && e % 8) {
		fputs(part[e % 8], stdout);
		used++;
	}
	for (; fill && used < p->width; used++)
		putchar(' ');
}

static char *count_text(uint64_t n)
{
	return n > INT64_MAX ? xstrdup("-") : xasprintf("%" PRIu64, n);
}

static void print_row(const struct plot *p, size_t i)
{
	char *name = bucket_label(i), *n;
	bool bars = p->width;

	printf("%s", name);
	free(name);
	for (enum m_op op = M_READ; op <= M_WRITE; op++) {
		uint64_t v = p->st->d.latency[op][i];
		bool last = op == M_WRITE;

		n = count_text(v);
		printf("  %*s%s", p->digits, n,
		       bars && (bar_eighths(p, v) || !last) ? " " : "");
		free(n);
		if (bars)
			print_bar(p, v, !last);
	}
	putchar('\n');
}

static char *summary(const struct stats *st, enum m_op op)
{
	char *n = count_text(latency_count(&st->d, op)), *s;
	char *p50 = time_approx(latency_quantile(&st->d, op, 50), "~");
	char *p99 = time_approx(latency_quantile(&st->d, op, 99), "~");
	char *max = time_approx(latency_count(&st->d, op) ? st->d.max_ns[op] : M_UNKNOWN, "");

	s = xasprintf("%s %s ios  p50 %s  p99 %s  max %s", op == M_READ ? "read" : "write", n, p50,
		      p99, max);
	free(n);
	free(p50);
	free(p99);
	free(max);
	return s;
}

static void print_head(const struct plot *p, unsigned int width)
{
	char *r = summary(p->st, M_READ), *w = summary(p->st, M_WRITE);
	json_t *valid = js_str(p->st->session);
	char *name = printable(json_string_value(valid));
	char *line = xasprintf("%s  %s | %s", name, r, w);
	unsigned int room = out_room(p->o);

	if (text_width(line) <= width) {
		puts(line);
	} else {
		if (room)
			text_cut(&name, room, p->o->utf8);
		puts(name);
		out_items(r, 2, room);
		out_items(w, 2, room);
	}
	json_decref(valid);
	free(line);
	free(name);
	free(r);
	free(w);
}

static void print_plot(const struct stats *st, const struct out_opts *o, bool log)
{
	unsigned int width = o->width ? o->width : WIDTH;
	size_t first = M_LATENCY_N, last = 0;
	struct plot p = { .st = st, .o = o, .log = log, .digits = 5 };

	print_head(&p, width);
	for (size_t i = 0; i < M_LATENCY_N; i++)
		for (enum m_op op = M_READ; op <= M_WRITE; op++) {
			uint64_t v = st->d.latency[op][i];
			char *n = count_text(v);

			if ((int)strlen(n) > p.digits)
				p.digits = (int)strlen(n);
			free(n);
			if (v && v <= INT64_MAX && v > p.most)
				p.most = v;
			if (v && first == M_LATENCY_N)
				first = i;
			if (v)
				last = i;
		}
	if (first == M_LATENCY_N)
		return;
	/* two columns of a count and a bar */
	if (width > LABELS + 2 * ((unsigned int)p.digits + 4))
		p.width = (width - LABELS - 2 * ((unsigned int)p.digits + 3)) / 2;
	printf("%*s%-*s%s\n", LABELS, "", p.digits + 3 + (int)p.width, "read", "write");
	for (size_t i = first; i <= last; i++)
		if (i <= M_LATENCY_LAST || st->d.latency[M_READ][i] || st->d.latency[M_WRITE][i])
			print_row(&p, i);
}

/* False where no path of those that are there counts latencies. */
static bool counted(const struct stats_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].d.counted)
			return true;
	return !l->n;
}

int cmd_stats_latency_check(struct ctx *ctx)
{
	return stats_select_check(ctx, false);
}

int cmd_stats_latency(struct ctx *ctx)
{
	const struct out_opts *o = &ctx->out;
	struct stats_list l;
	json_t *list;
	int rc;

	rc = stats_read(ctx, M_CLIENT, &l);
	if (rc)
		return rc;
	stats_group(&l, STATS_BY_SESSION);
	if (!counted(&l)) {
		fail_hint(&ctx->fail, "iostat -x has means; bpftrace and biolatency measure it for block devices");
		fail_set(&ctx->fail, XC_UNSUPPORTED, "these modules do not count latencies");
		stats_list_free(&l);
		return XC_UNSUPPORTED;
	}
	if (o->fmt == OUT_TEXT && !o->fields && !o->brief) {
		if (!l.n)
			puts("no paths");
		for (size_t i = 0; i < l.n; i++) {
			if (i)
				putchar('\n');
			print_plot(&l.v[i], o, args_has(&ctx->args, OPT_LOG));
		}
	} else {
		list = json_array();
		for (size_t i = 0; i < l.n; i++)
			json_array_append_new(list, js_each_op(&l.v[i]));
		out_list(ctx, &latency_view, list);
	}
	stats_list_free(&l);
	return XC_OK;
}
