// SPDX-License-Identifier: GPL-2.0
/* monitor: what is there, and then each change of it as the kernel tells it */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "output/to-json.h"
#include "rds/commands.h"
#include "task/event-wait.h"
#include "task/known.h"

#define POLL_MS		1000

struct monitor {
	struct watch known;
	unsigned int what;
	bool diff, full, resync, follow;
	uint64_t seq, events, count;	/* lines, those of events, at most */
	int64_t end;			/* -1 no end */
	int64_t stats_ms, next_stats;	/* -1 no counters */
	int signals;			/* signalfd */
	bool polls;			/* sysfs tells no events: it is looked at each second */
	int64_t next_poll;
	struct snapshot last[2];	/* what was there then, by role */
	json_t *there;			/* what is there now */
};

static const struct { const char *word; unsigned int what; } types[] = {
	{ "session", WATCH_SESSION }, { "path", WATCH_PATH }, { "device", WATCH_DEVICE },
	{ "export", WATCH_EXPORT }, { "client", WATCH_CLIENT }, { "access", WATCH_ACCESS },
};

static int parse_types(struct ctx *ctx, struct monitor *m)
{
	const struct parsed *a = &ctx->args;
	struct strlist legal = { 0 };
	char *hint;

	m->what = a->nargs ? 0 : WATCH_ALL;
	for (size_t i = 0; i < a->nargs; i++) {
		unsigned int what = 0;

		for (size_t k = 0; k < ARRAY_SIZE(types); k++)
			if (!strcmp(types[k].word, a->args[i]))
				what = types[k].what;
		m->what |= what;
		if (what)
			continue;
		if (!strcmp(a->args[i], "rds"))
			return fail_set(&ctx->fail, XC_USAGE, "rds is monitored alone, without other types");
		for (size_t k = 0; k < ARRAY_SIZE(types); k++)
			strlist_add(&legal, types[k].word);
		hint = suggest(a->args[i], &legal);
		strlist_free(&legal);
		if (hint)
			fail_hint(&ctx->fail, "%s", hint);
		free(hint);
		return fail_set(&ctx->fail, XC_USAGE, "'%s' is not session, path, device, export, "
				"client, access or rds", a->args[i]);
	}
	return XC_OK;
}

static bool tells_json(const struct ctx *ctx)
{
	return ctx->out.fmt != OUT_TEXT;
}

/* "old->new", or the value alone. */
static void put_value(struct strbuf *b, const char *key, const json_t *old, const json_t *new)
{
	const json_t *v[2] = { old, new };

	strbuf_printf(b, " %s=", key);
	for (size_t i = old ? 0 : 1; i < 2; i++) {
		char *raw = json_is_string(v[i]) ? xstrdup(json_string_value(v[i])) :
			    !v[i] || json_is_null(v[i]) ? xstrdup("-") :
			    json_dumps(v[i], JSON_ENCODE_ANY | JSON_COMPACT);
		char *text = printable(raw ? raw : "-");

		strbuf_printf(b, "%s%s", text, old && !i ? "->" : "");
		free(text);
		free(raw);
	}
}

static void put_names(struct strbuf *b, const struct seen *s)
{
	const char *session = json_string_value(json_object_get(s->data, "session"));
	const char *name = json_string_value(json_object_get(s->data, "name"));
	char *text;

	if (session && s->what != WATCH_DEVICE && s->what != WATCH_EXPORT) {
		text = printable(session);
		strbuf_printf(b, "%s ", text);
		free(text);
	}
	text = printable(name ? name : "-");
	strbuf_puts(b, text);
	free(text);
	if (session && (s->what == WATCH_DEVICE || s->what == WATCH_EXPORT))
		put_value(b, "session", NULL, json_object_get(s->data, "session"));
}

static void put_hca(struct strbuf *b, const struct seen *s)
{
	const char *hca = json_string_value(json_object_get(s->data, "hca"));
	json_int_t port = json_integer_value(json_object_get(s->data, "hca_port"));
	char *text;

	if (!hca)
		return;
	text = printable(hca);
	strbuf_printf(b, " hca=%s:%lld", text, (long long)port);
	free(text);
}

static bool is_name(const char *key)
{
	return !strcmp(key, "session") || !strcmp(key, "name") || !strcmp(key, "state");
}

/* What changed is told as that, but for what error= says already. */
static bool tells_change(const struct monitor *m, const json_t *changes, const char *key)
{
	return json_object_get(changes, key) && !is_name(key) && (m->diff || strcmp(key, "last_error"));
}

static void print_line(const struct ctx *ctx, const struct monitor *m, const char *event,
		       const struct seen *s, const json_t *line)
{
	json_t *now = s && s->text ? js_time(s->time_ns) : js_now(ctx), *v, *old;
	const json_t *changes = json_object_get(line, "changes");
	const char *key, *why = json_string_value(json_object_get(line, "reason"));
	struct strbuf b = { 0 };

	strbuf_printf(&b, "%s %s", json_is_string(now) ? json_string_value(now) : "-", event);
	json_decref(now);
	if (s && s->text) {
		strbuf_printf(&b, " %-7s %s", s->object, s->text);
	} else if (s) {
		strbuf_printf(&b, " %-7s ", s->object);
		put_names(&b, s);
		old = json_object_get(line, "old_state");
		v = json_object_get(line, "state");
		if (!json_is_null(v))
			put_value(&b, "state", json_is_null(old) ? NULL : old, v);
		if (strcmp(event, "change") && !m->full)
			put_hca(&b, s);
		if (why)
			strbuf_printf(&b, " error=%s", why);
		json_object_foreach((json_t *)changes, key, v)
			if (tells_change(m, changes, key))
				put_value(&b, key, json_object_get(v, "old"),
					  json_object_get(v, "new"));
		json_object_foreach(json_object_get(line, "counters"), key, v)
			put_value(&b, key, NULL, v);
		json_object_foreach(s->data, key, v)
			if (m->full && !is_name(key) && !json_is_null(v) &&
			    !tells_change(m, changes, key))
				put_value(&b, key, NULL, v);
	}
	puts(b.s);
	free(b.s);
	fflush(stdout);
}

/* Without --diff: the state and what explains it, where that is what changed. */
static void keep_main(json_t *changes)
{
	const char *key;
	json_t *v;
	void *tmp;

	if (!json_object_get(changes, "state") && !json_object_get(changes, "last_error"))
		return;

	json_object_foreach_safe(changes, tmp, key, v)
		if (strcmp(key, "state") && strcmp(key, "last_error") &&
		    strcmp(key, "write_losses"))
			json_object_del(changes, key);
}

static json_t *or_null(json_t *v)
{
	return v ? json_incref(v) : json_null();
}

/* The bytes of names that are no text. */
static void copy_hex(json_t *o, const json_t *data, const struct seen *s)
{
	bool session = s && s->what & (WATCH_SESSION | WATCH_CLIENT);
	json_t *name = json_object_get(data, "name_hex");
	json_t *sess = json_object_get(data, session ? "name_hex" : "session_hex");

	if (name)
		json_object_set(o, "name_hex", name);
	if (sess)
		json_object_set(o, "session_hex", sess);
}

static json_t *make_line(const struct ctx *ctx, struct monitor *m, const char *event,
			 const struct seen *s, json_t *changes)
{
	json_t *o = json_object(), *data = s ? s->data : NULL, *state, *old;
	const char *why = s && s->text ? s->reason : s ? watch_reason(&m->known, s) : NULL;

	state = json_object_get(json_object_get(changes, "state"), "old");
	old = s && s->edge == NL_CHANGE && s->old_state ? json_string(s->old_state) : or_null(state);
	state = json_object_get(data, "state");
	/* what did not change has no state before */
	if (state && json_equal(old, state)) {
		json_decref(old);
		old = json_null();
	}
	if (!json_is_null(old) && json_object_get(changes, "state"))
		json_object_set(json_object_get(changes, "state"), "old", old);
	if (changes && !m->diff)
		keep_main(changes);
	js_set(o, "seq", json_integer((json_int_t)++m->seq));
	js_set(o, "monotonic_ns", js_u64(now_ns()));
	js_set(o, "event", json_string(event));
	js_set(o, "object", s ? json_string(s->object) : json_null());
	js_set(o, "role", or_null(json_object_get(data, "role")));
	js_set(o, "session", or_null(json_object_get(data, s && s->what & (WATCH_SESSION |
			     WATCH_CLIENT) ? "name" : "session")));
	js_set(o, "name", or_null(json_object_get(data, "name")));
	copy_hex(o, data, s);
	js_set(o, "resync", json_boolean(m->resync));
	js_set(o, "state", or_null(state));
	js_set(o, "old_state", old);
	js_set(o, "reason", why ? json_string(why) : json_null());
	js_set(o, "changes", changes ? changes : json_object());
	js_set(o, "source", json_string(m->polls ? "poll" : ctx_backend(ctx)));
	if (m->full)
		js_set(o, "data", s && s->text ? json_null() : or_null(data));
	if (s && s->counters)
		js_set(o, "counters", js_counters(s->counters));
	if (s && s->access)
		json_object_set(o, "access", s->access);
	return o;
}

/* Takes the reference to @changes. False if the filter kept the line back. */
static bool tell(struct ctx *ctx, struct monitor *m, const char *event, const struct seen *s,
		 json_t *changes)
{
	json_t *line = make_line(ctx, m, event, s, changes);
	const char *filter = args_value(&ctx->args, OPT_FILTER);

	if ((s && !(s->what & m->what)) || (s && filter && !out_passes(&event_view, filter, line))) {
		/* a number that is missing tells that a filter kept something back */
		if (!(s->what & m->what))
			m->seq--;
		json_decref(line);
		return false;
	}
	if (tells_json(ctx)) {
		json_line(ctx, line);
		return true;
	}
	print_line(ctx, m, event, s, line);
	json_decref(line);
	return true;
}

/* For each object of a snapshot. */
typedef void seen_fn(struct ctx *ctx, struct monitor *m, struct seen *s);

static void exists(struct ctx *ctx, struct monitor *m, struct seen *s)
{
	watch_learn(&m->known, s);
	tell(ctx, m, "exists", s, NULL);
}

static void learn(struct ctx *ctx, struct monitor *m, struct seen *s)
{
	watch_learn(&m->known, s);
}

/* Sessions, paths, devices, exports; or the other way round, where @back. */
static void each_seen(struct ctx *ctx, struct monitor *m, const struct snapshot *s, bool back,
		      seen_fn *fn)
{
	const size_t n[] = { s->sessions.n, s->paths.n, s->devices.n, s->exports.n };

	for (size_t kind = 0; kind < ARRAY_SIZE(n); kind++) {
		size_t k = back ? ARRAY_SIZE(n) - 1 - kind : kind;

		for (size_t i = 0; i < n[k]; i++) {
			struct seen seen = { .edge = NL_CREATE };

			if (k == 0)
				watch_session(&s->sessions.v[i], &seen);
			else if (k == 1)
				watch_path(&s->paths.v[i], &seen);
			else if (k == 2)
				watch_device(&s->devices.v[i], &seen);
			else
				watch_export(&s->exports.v[i], &seen);
			fn(ctx, m, &seen);
			json_decref(seen.data);
		}
	}
}

static bool read_role(struct ctx *ctx, enum m_role role, struct snapshot *s)
{
	unsigned int what = NL_SESSIONS | NL_PATHS;

	what |= role == M_SERVER ? NL_EXPORTS_OPT : NL_DEVICES_OPT;
	return ctx_snapshot(ctx, role, what, s);
}

/* One side, if its module is there. */
static bool read_side(struct ctx *ctx, struct monitor *m, enum m_role role, bool silent, bool *any)
{
	struct snapshot s;

	if (!read_role(ctx, role, &s))
		return ctx->fail.code == XC_UNAVAILABLE && ctx->kernel;
	*any = true;
	each_seen(ctx, m, &s, false, silent ? learn : exists);
	if (m->polls) {
		snapshot_free(&m->last[role]);
		m->last[role] = s;
	} else {
		snapshot_free(&s);
	}
	return true;
}

static bool wants(const struct monitor *m, enum m_role role)
{
	return m->what & (role == M_SERVER ? WATCH_CLIENT | WATCH_PATH | WATCH_EXPORT :
					     WATCH_SESSION | WATCH_PATH | WATCH_DEVICE);
}

static int snapshot(struct ctx *ctx, struct monitor *m, bool silent)
{
	bool any = !wants(m, M_CLIENT) && !wants(m, M_SERVER);

	watch_free(&m->known);
	watch_init(&m->known);
	if (wants(m, M_CLIENT) && !read_side(ctx, m, M_CLIENT, silent, &any))
		return ctx->fail.code;
	if (wants(m, M_SERVER) && !read_side(ctx, m, M_SERVER, silent, &any))
		return ctx->fail.code;
	if (!any)
		return ctx->fail.code;
	fail_clear(&ctx->fail);
	m->next_poll = now_ms() + POLL_MS;
	tell(ctx, m, "sync", NULL, NULL);
	return XC_OK;
}

static bool listen_all(struct ctx *ctx, struct monitor *m)
{
	static const char *const groups[] = { "session", "path", "device", "export" };
	struct kernel *kernel = ctx_kernel(ctx);
	struct nl_error e;

	if (!kernel)
		return false;
	m->polls = kernel_is_sysfs(kernel);
	/* modules without a list have no such group: an error where it alone is asked for */
	if (m->what & WATCH_ACCESS &&
	    (m->what == WATCH_ACCESS || kernel->ops->has_group(kernel, "access")) &&
	    !kernel->ops->listen(kernel, "access", &e)) {
		fail_nl(&ctx->fail, &e, "server");
		return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(groups) && !m->polls; i++) {
		if (kernel->ops->listen(kernel, groups[i], &e))
			continue;
		fail_nl(&ctx->fail, &e, "client");
		return false;
	}
	return true;
}

static void on_seen(struct ctx *ctx, struct monitor *m, struct seen *s)
{
	static const char *const words[] = { "create", "change", "destroy" };
	json_t *changes;

	if (m->count && m->events >= m->count)
		return;
	changes = s->edge < ARRAY_SIZE(words) ? watch_apply(&m->known, s) : NULL;
	if (changes && tell(ctx, m, words[s->edge], s, changes))
		m->events++;
}

static void on_access(struct ctx *ctx, struct monitor *m, const json_t *ev)
{
	struct seen s;
	const char *event = watch_access(ev, &s);

	if (tell(ctx, m, event, &s, NULL))
		m->events++;
	json_decref(s.data);
	json_decref(s.access);
	free(s.text);
}

static void on_event(struct ctx *ctx, struct monitor *m, const struct nl_event *ev)
{
	struct seen s;

	if (ev->kind == NL_IS_ACCESS) {
		on_access(ctx, m, ev->access);
		json_decref(ev->access);
		return;
	}

	watch_event(ev, &s);
	on_seen(ctx, m, &s);
	json_decref(s.data);
}

static void on_there(struct ctx *ctx, struct monitor *m, struct seen *s)
{
	json_object_set_new(m->there, s->key, json_true());
	on_seen(ctx, m, s);
}

static void on_change(struct ctx *ctx, struct monitor *m, struct seen *s)
{
	s->edge = NL_CHANGE;
	on_seen(ctx, m, s);
}

static void on_end(struct ctx *ctx, struct monitor *m, struct seen *s)
{
	s->edge = NL_DESTROY;
	if (!json_object_get(m->there, s->key))
		on_seen(ctx, m, s);
}

/*
 * What is not as it was a second ago: what is new after what it belongs to, what
 * changed or is gone before it.
 */
static bool poll_side(struct ctx *ctx, struct monitor *m, enum m_role role, bool *any)
{
	struct snapshot now;

	if (read_role(ctx, role, &now))
		*any = true;
	else if (ctx->fail.code != XC_UNAVAILABLE)
		return false;
	fail_clear(&ctx->fail);
	m->there = json_object();
	each_seen(ctx, m, &now, false, on_there);
	each_seen(ctx, m, &now, true, on_change);
	each_seen(ctx, m, &m->last[role], true, on_end);
	json_decref(m->there);
	snapshot_free(&m->last[role]);
	m->last[role] = now;
	return true;
}

static enum nl_next poll_next(struct ctx *ctx, struct monitor *m, int *rc)
{
	bool any = false;

	if (now_ms() < m->next_poll)
		return NL_NEXT_NONE;
	m->next_poll = now_ms() + POLL_MS;
	for (enum m_role role = M_CLIENT; role <= M_SERVER; role++)
		if (wants(m, role) && !poll_side(ctx, m, role, &any)) {
			*rc = ctx->fail.code;
			return NL_NEXT_NONE;
		}
	return any ? NL_NEXT_NONE : NL_NEXT_LOST;
}

/* The kernel dropped events: what is there now is told anew. */
static int resync(struct ctx *ctx, struct monitor *m)
{
	int rc;

	tell(ctx, m, "overrun", NULL, NULL);
	/* they are older than what comes now */
	if (!ctx->nl_replay)
		ctx->kernel->ops->events(ctx->kernel);
	m->resync = true;
	rc = snapshot(ctx, m, false);
	m->resync = false;
	return rc;
}

/* --interval: the counters of each path of one side, as they are now. */
static bool tell_side(struct ctx *ctx, struct monitor *m, enum m_role role)
{
	struct snapshot s;

	if (!ctx_snapshot(ctx, role, NL_STATS, &s)) {
		/* without its module there are none */
		if (ctx->fail.code != XC_UNAVAILABLE || !ctx->kernel)
			return false;
		fail_clear(&ctx->fail);
	}
	for (size_t i = 0; i < s.stats.n; i++) {
		struct seen seen;

		watch_stats(&m->known, &s.stats.v[i], &seen);
		tell(ctx, m, "stats", &seen, NULL);
		json_decref(seen.data);
	}
	snapshot_free(&s);
	return true;
}

static int tell_stats(struct ctx *ctx, struct monitor *m)
{
	if (!tell_side(ctx, m, M_CLIENT) || !tell_side(ctx, m, M_SERVER))
		return ctx->fail.code;
	m->next_stats = now_ms() + m->stats_ms;
	return XC_OK;
}

static enum monitor_end sleep_for_event(struct ctx *ctx, const struct monitor *m)
{
	int64_t wake = m->stats_ms >= 0 ? m->next_stats : -1;

	if (m->polls && (wake < 0 || m->next_poll < wake))
		wake = m->next_poll;
	return monitor_sleep(ctx, m->signals, m->end, wake);
}

/* --follow: until the modules are back, a signal, or no time; then what is there is told anew. */
static enum monitor_end await_family(struct ctx *ctx, struct monitor *m, int *rc)
{
	enum monitor_end end;

	do {
		end = monitor_away(ctx, m->signals, m->end);
		if (end != GO_ON)
			return end;
		*rc = listen_all(ctx, m) ? XC_OK : (int)ctx->fail.code;
		m->resync = true;
		if (!*rc)
			*rc = snapshot(ctx, m, false);
		m->resync = false;
		/* not there yet, or gone again */
	} while (*rc == XC_UNAVAILABLE);
	return GO_ON;
}

static int follow(struct ctx *ctx, struct monitor *m)
{
	enum monitor_end end = GO_ON;
	struct nl_event ev;
	int rc = XC_OK;

	while (!rc && end == GO_ON && !ferror(stdout)) {
		if (m->count && m->events >= m->count)
			return XC_OK;
		if (m->stats_ms >= 0 && now_ms() >= m->next_stats)
			rc = tell_stats(ctx, m);
		if (rc)
			break;
		switch (m->polls ? poll_next(ctx, m, &rc) :
				   ctx->kernel->ops->next_event(ctx->kernel, &ev)) {
		case NL_NEXT_EVENT:
			on_event(ctx, m, &ev);
			break;
		case NL_NEXT_OVERRUN:
			rc = resync(ctx, m);
			break;
		case NL_NEXT_LOST:
			tell(ctx, m, "lost", NULL, NULL);
			if (m->follow)
				end = await_family(ctx, m, &rc);
			else
				rc = fail_set(&ctx->fail, XC_UNAVAILABLE, "the rnbd modules were unloaded");
			break;
		case NL_NEXT_NONE:
			end = rc ? GO_ON : sleep_for_event(ctx, m);
			break;
		}
	}
	if (end != TIMED_OUT || !m->count)
		return rc;
	ctx->fail.err = ETIMEDOUT;
	return fail_set(&ctx->fail, XC_TIMEOUT, "%llu of %llu events in time",
			(unsigned long long)m->events, (unsigned long long)m->count);
}

int cmd_monitor(struct ctx *ctx)
{
	const struct parsed *a = &ctx->args;
	struct monitor m = {
		.diff = args_has(a, OPT_DIFF), .full = args_has(a, OPT_FULL),
		.count = args_uint(a, OPT_EVENTS, 0), .end = -1, .signals = -1,
		.follow = args_has(a, OPT_FOLLOW), .stats_ms = -1,
	};
	enum monitor_end end = GO_ON;
	int rc;

	if (a->nargs == 1 && !strcmp(a->args[0], "rds"))
		return cmd_rds_monitor(ctx);
	rc = parse_types(ctx, &m);
	if (rc)
		return rc;
	if (ctx->out.fmt == OUT_JSON)
		ctx->out.fmt = OUT_JSONL;
	if (ctx->timeout_ms >= 0)
		m.end = now_ms() + ctx->timeout_ms;
	if (args_has(a, OPT_INTERVAL))
		m.stats_ms = args_time(a, OPT_INTERVAL, 1000);
	if (args_has(a, OPT_INTERVAL) && m.stats_ms < 10)
		return fail_set(&ctx->fail, XC_USAGE, "--interval: at least 10ms");
	if (args_has(a, OPT_INTERVAL) && !(m.what & WATCH_PATH))
		return fail_set(&ctx->fail, XC_USAGE,
				"--interval: counters are those of paths; the types leave path out");
	watch_init(&m.known);
	m.signals = monitor_signals();
	/* first the events, then what is there: nothing is missed between them */
	rc = listen_all(ctx, &m) ? snapshot(ctx, &m, args_has(a, OPT_NO_SNAPSHOT)) :
			       (int)ctx->fail.code;
	if (rc == XC_UNAVAILABLE && m.follow && !args_has(a, OPT_ONCE))
		end = await_family(ctx, &m, &rc);
	if (end == TIMED_OUT)
		rc = fail_set(&ctx->fail, XC_UNAVAILABLE, "the rnbd modules were not loaded in time");
	else if (end == ENOUGH)
		rc = XC_OK;
	if (!rc && end == GO_ON && args_has(a, OPT_ONCE) && m.stats_ms >= 0)
		rc = tell_stats(ctx, &m);
	if (!rc && end == GO_ON && !args_has(a, OPT_ONCE))
		rc = follow(ctx, &m);
	if (!rc)
		ctx->streamed = true;
	if (m.signals >= 0)
		close(m.signals);
	watch_free(&m.known);
	for (size_t role = 0; role < ARRAY_SIZE(m.last); role++)
		snapshot_free(&m.last[role]);
	return rc;
}
