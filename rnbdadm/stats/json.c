// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>

#include "output/to-json.h"
#include "stats/json.h"

json_t *js_stats_names(const struct stats *st, enum stats_by by)
{
	static const char *const objects[] = { "path", "session", "hca", "device" };
	json_t *o = json_object();
	char *port;

	js_set(o, "object", json_string(objects[by]));
	/* those of an RDMA device are of many */
	if (by == STATS_BY_HCA)
		js_set(o, "session", json_null());
	else
		js_set_str(o, "session", st->session);
	if (by == STATS_BY_HCA && st->hca_port != M_UNKNOWN) {
		port = xasprintf("%s:%" PRIu64, st->hca, st->hca_port);
		js_set_str(o, "name", port);
		free(port);
	} else {
		js_set_str(o, "name", by == STATS_BY_SESSION ? st->session :
			   by == STATS_BY_HCA ? st->hca : st->path);
	}
	js_set(o, "hca", js_str_or_null(st->hca));
	js_set(o, "hca_port", js_u64(st->hca_port));
	return o;
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

json_t *js_rates(const struct counters *c, uint64_t ns)
{
	json_t *o = json_object();

	js_set(o, "read_ios_per_second", js_rate(c->read_ios, ns));
	js_set(o, "read_bytes_per_second", js_rate(c->read_bytes, ns));
	js_set(o, "write_ios_per_second", js_rate(c->write_ios, ns));
	js_set(o, "write_bytes_per_second", js_rate(c->write_bytes, ns));
	return o;
}

json_t *js_polling(const struct distributions *d)
{
	json_t *o = json_object();

	js_set(o, "completions", js_u64(d->completions));
	js_set(o, "polls", js_u64(d->polls));
	js_set(o, "completions_max", js_u64(d->completions_max));
	return o;
}

json_t *js_buckets(const struct distributions *d)
{
	json_t *a = json_array();

	for (size_t i = 0; i < M_LATENCY_N; i++) {
		json_t *b;

		if (!d->latency[M_READ][i] && !d->latency[M_WRITE][i])
			continue;
		b = json_object();
		js_set(b, "le_ns", js_u64(latency_end(i)));
		js_set(b, "read", js_u64(d->latency[M_READ][i]));
		js_set(b, "write", js_u64(d->latency[M_WRITE][i]));
		json_array_append_new(a, b);
	}
	return a;
}

static json_t *js_latency(const struct distributions *d)
{
	json_t *o = json_object();

	js_set(o, "unit", json_string("ns"));
	js_set(o, "clock", json_string("submit-to-complete"));
	js_set(o, "buckets", js_buckets(d));
	js_set(o, "max_read_ns", js_u64(d->max_ns[M_READ]));
	js_set(o, "max_write_ns", js_u64(d->max_ns[M_WRITE]));
	return o;
}

void js_distributions(json_t *o, const struct distributions *d, const struct stats_wants *w)
{
	if (w->latency)
		js_set(o, "latency", d->counted ? js_latency(d) : json_null());
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
static void cpu_delta(struct cpu_counters *c, const struct stats *before, bool *reset)
{
	const struct cpu_counters *b = NULL;
	struct cpu_counters now = *c;

	for (size_t i = 0; i < before->ncpus; i++)
		if (before->cpu[i].cpu == c->cpu)
			b = &before->cpu[i];
	if (!b)
		return;
	c->read_ios = minus(now.read_ios, b->read_ios, reset);
	c->read_bytes = minus(now.read_bytes, b->read_bytes, reset);
	c->write_ios = minus(now.write_ios, b->write_ios, reset);
	c->write_bytes = minus(now.write_bytes, b->write_bytes, reset);
	c->failovers = minus(now.failovers, b->failovers, reset);
	c->migrations_from = minus(now.migrations_from, b->migrations_from, reset);
	c->migrations_to = minus(now.migrations_to, b->migrations_to, reset);
	*reset |= distributions_delta(&now.d, &b->d, &c->d);
}

static bool is_active(const struct cpu_counters *c)
{
	const uint64_t v[] = { c->read_ios, c->write_ios, c->inflight, c->failovers, c->migrations_from, c->migrations_to };

	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		if (v[i] && v[i] != M_UNKNOWN)
			return true;
	return false;
}

json_t *js_per_cpu(const struct stats *st, const struct stats *before,
		   const struct stats_wants *w, bool *reset)
{
	json_t *a = json_array();

	for (size_t i = 0; i < st->ncpus; i++) {
		struct cpu_counters c = st->cpu[i];
		json_t *o;

		if (before)
			cpu_delta(&c, before, reset);
		if (w->active && !is_active(&c))
			continue;
		o = json_object();
		js_set(o, "cpu", js_u64(c.cpu));
		js_set(o, "read_ios", js_u64(c.read_ios));
		js_set(o, "read_bytes", js_u64(c.read_bytes));
		js_set(o, "write_ios", js_u64(c.write_ios));
		js_set(o, "write_bytes", js_u64(c.write_bytes));
		js_set(o, "inflight", js_u64(c.inflight));
		js_set(o, "failovers", js_u64(c.failovers));
		js_set(o, "migrations_from", js_u64(c.migrations_from));
		js_set(o, "migrations_to", js_u64(c.migrations_to));
		js_set(o, "polling", js_polling(&c.d));
		js_distributions(o, &c.d, w);
		json_array_append_new(a, o);
	}
	return a;
}

static void copy(json_t *to, const json_t *from, const char *key)
{
	json_t *v = json_object_get(from, key);

	if (v)
		json_object_set(to, key, v);
}

/* A row with what @o has; the names are those of the path. */
static void add_row(json_t *list, json_t *o, const json_t *path, const json_t *cpu)
{
	json_t *row = json_object();

	copy(row, path, "session");
	copy(row, path, "session_hex");
	copy(row, path, "name");
	copy(row, path, "name_hex");
	if (cpu)
		json_object_set(row, "cpu", (json_t *)cpu);
	json_object_update(row, o);
	json_array_append_new(list, row);
}

static void add_buckets(json_t *list, const json_t *o, const json_t *path, const json_t *cpu,
			const struct stats_wants *w)
{
	const json_t *buckets = json_object_get(json_object_get(o, "latency"), "buckets");
	json_t *b;
	size_t i;

	json_array_foreach(buckets, i, b)
		add_row(list, b, path, cpu);
}

void js_rows(json_t *list, json_t *o, const struct stats_wants *w)
{
	json_t *cpu;
	size_t i;

	if (!w->per_cpu)
		add_buckets(list, o, o, NULL, w);
	json_array_foreach(json_object_get(o, "per_cpu"), i, cpu) {
		if (w->latency)
			add_buckets(list, cpu, o, json_object_get(cpu, "cpu"), w);
		else
			add_row(list, cpu, o, NULL);
	}
	json_decref(o);
}
