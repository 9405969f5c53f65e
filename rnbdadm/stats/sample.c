// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/replace.h"
#include "host/sysfs-file.h"
#include "output/to-json.h"
#include "stats/json.h"
#include "stats/sample.h"

/* Sessions and ports are sums of paths. */
static enum stats_by parts_of(enum stats_by by)
{
	return by == STATS_BY_DEVICE ? by : STATS_BY_PATH;
}

static const char *what_by(enum stats_by by)
{
	return by == STATS_BY_DEVICE ? "device" : "path";
}

/* Counters begin anew with each boot, and so does the clock. */
static json_t *js_boot(const struct ctx *ctx)
{
	char *s = sys_read(ctx->test_root, "/proc/sys/kernel/random/boot_id");
	json_t *v = js_str_or_null(s);

	free(s);
	return v;
}

int stats_sample_save(struct ctx *ctx, const char *file, const struct stats_sample *s)
{
	json_t *data = json_object(), *list = json_array(), *sample = json_object(), *doc;
	char *text;
	int err;

	for (size_t i = 0; i < s->l.n; i++)
		json_array_append_new(list, js_stats_all(&s->l.v[i], parts_of(s->by)));
	js_set(data, "stats", list);
	js_set(sample, "role", json_string(role_name(s->role)));
	js_set(sample, "of", json_string(what_by(s->by)));
	js_set(sample, "boot_id", js_boot(ctx));
	js_set(sample, "monotonic_ns", js_u64(s->monotonic_ns));
	js_set(data, "sample", sample);
	doc = json_envelope(ctx, data);
	text = json_dumps(doc, JSON_COMPACT);
	err = replace_file(file, text, strlen(text));
	free(text);
	json_decref(doc);
	json_decref(data);
	return err ? whole_fail(&ctx->fail, file, err) : XC_OK;
}

static uint64_t get_u64(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_integer(v) && json_integer_value(v) >= 0 ? (uint64_t)json_integer_value(v) : M_UNKNOWN;
}

/* What names an object, for people and for the next sample, as a key; ids do not outlive a module. */
static char *names_key(const json_t *o)
{
	static const char *const keys[] = {
		"object", "session", "session_hex", "name", "name_hex", "hca", "hca_port",
	};
	json_t *list = json_array();
	char *key;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		json_t *v = json_object_get(o, keys[i]);

		json_array_append_new(list, v ? json_incref(v) : json_null());
	}
	key = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	return key;
}

static void get_counters(const json_t *o, struct counters *c)
{
	c->read_ios = get_u64(o, "read_ios");
	c->read_bytes = get_u64(o, "read_bytes");
	c->write_ios = get_u64(o, "write_ios");
	c->write_bytes = get_u64(o, "write_bytes");
	c->inflight = get_u64(o, "inflight");
	c->failovers = get_u64(o, "failovers");
	c->reconnects_ok = get_u64(o, "reconnects_ok");
	c->reconnects_failed = get_u64(o, "reconnects_failed");
}

/* Empty ones were left out. */
static void get_distributions(const json_t *o, struct distributions *d)
{
	const json_t *polling = json_object_get(o, "polling"), *lat = json_object_get(o, "latency"), *b;
	size_t i;

	distributions_init(d);
	d->completions = get_u64(polling, "completions");
	d->polls = get_u64(polling, "polls");
	d->completions_max = get_u64(polling, "completions_max");
	d->counted = json_is_object(lat);
	d->max_ns[M_READ] = get_u64(lat, "max_read_ns");
	d->max_ns[M_WRITE] = get_u64(lat, "max_write_ns");
	json_array_foreach(json_object_get(lat, "buckets"), i, b) {
		uint64_t le = get_u64(b, "le_ns");
		size_t k = le == M_UNKNOWN ? M_LATENCY_N - 1 : latency_bucket(le);

		if (k >= M_LATENCY_N)
			continue;
		d->latency[M_READ][k] = get_u64(b, "read");
		d->latency[M_WRITE][k] = get_u64(b, "write");
	}
	json_array_foreach(json_object_get(o, "sg_entries"), i, b)
		d->sg[sg_bucket(get_u64(b, "entries"))] = get_u64(b, "ios");
}

static void get_cpu(const json_t *o, struct cpu_counters *c)
{
	c->cpu = get_u64(o, "cpu");
	c->read_ios = get_u64(o, "read_ios");
	c->read_bytes = get_u64(o, "read_bytes");
	c->write_ios = get_u64(o, "write_ios");
	c->write_bytes = get_u64(o, "write_bytes");
	c->inflight = get_u64(o, "inflight");
	c->failovers = get_u64(o, "failovers");
	c->migrations_from = get_u64(o, "migrations_from");
	c->migrations_to = get_u64(o, "migrations_to");
	get_distributions(o, &c->d);
}

/* The counters of @o as those of @now, whose names it has. */
static void add_then(struct stats_list *l, const json_t *o, const struct stats *now)
{
	const json_t *cpus = json_object_get(o, "per_cpu"), *cpu;
	struct stats *st;
	size_t i;

	l->v = xrealloc(l->v, (l->n + 1) * sizeof(*l->v));
	st = &l->v[l->n++];
	*st = *now;
	get_counters(json_object_get(o, "counters"), &st->c);
	get_distributions(o, &st->d);
	st->ncpus = json_array_size(cpus);
	st->cpu = xcalloc(st->ncpus + 1, sizeof(*st->cpu));
	json_array_foreach(cpus, i, cpu)
		get_cpu(cpu, &st->cpu[i]);
}

/* NULL, or why @doc is nothing to compare with. */
static const char *refuse(const struct ctx *ctx, const json_t *doc, const struct stats_sample *now)
{
	const json_t *sample = json_object_get(doc, "sample");
	const char *of = json_string_value(json_object_get(sample, "of"));
	const char *side = json_string_value(json_object_get(sample, "role"));
	json_t *boot;
	bool same;

	if (!of || !side || get_u64(sample, "monotonic_ns") > now->monotonic_ns ||
	    !json_is_array(json_object_get(doc, "stats")))
		return "was not written by 'rnbdadm stats --save'";
	if (strcmp(side, role_name(now->role)))
		return now->role == M_SERVER ? "has counters of the client" : "has counters of the server";
	if (strcmp(of, what_by(now->by)))
		return now->by == STATS_BY_DEVICE ? "has counters of paths, not of devices" :
					       "has counters of devices, not of paths";
	boot = js_boot(ctx);
	same = json_equal(boot, json_object_get(sample, "boot_id"));
	json_decref(boot);
	return same ? NULL : "is from before this host was booted";
}

static void take(const json_t *doc, const struct stats_sample *now, struct stats_list *l)
{
	json_t *then = json_object(), *o;
	size_t k;
	char *key;

	json_array_foreach(json_object_get(doc, "stats"), k, o) {
		key = names_key(o);
		json_object_set(then, key, o);
		free(key);
	}
	for (size_t i = 0; i < now->l.n; i++) {
		json_t *names = js_stats_names(&now->l.v[i], parts_of(now->by));

		key = names_key(names);
		o = json_object_get(then, key);
		if (o)
			add_then(l, o, &now->l.v[i]);
		free(key);
		json_decref(names);
	}
	json_decref(then);
}

int stats_sample_load(struct ctx *ctx, const char *file, const struct stats_sample *now,
		      struct stats_sample *then)
{
	struct strbuf b = { 0 };
	int err = whole_read(file, &b);
	json_t *doc = err ? NULL : json_loadb(b.s, b.len, 0, NULL);
	const char *why = refuse(ctx, doc, now);

	*then = (struct stats_sample){ .role = now->role, .by = now->by };
	free(b.s);
	if (err) {
		whole_fail(&ctx->fail, file, err);
	} else if (why) {
		fail_object(&ctx->fail, "file", file);
		fail_hint(&ctx->fail, "--save=FILE writes a new one");
		fail_set(&ctx->fail, XC_CONFLICT, "%s %s", file, why);
	} else {
		then->monotonic_ns = get_u64(json_object_get(doc, "sample"), "monotonic_ns");
		take(doc, now, &then->l);
	}
	json_decref(doc);
	return ctx->fail.code;
}
