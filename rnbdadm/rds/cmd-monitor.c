// SPDX-License-Identifier: GPL-2.0
/* monitor rds: the paths that there are, and then what happens to them */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/rds_netlink.h>

#include "output/to-json.h"
#include "rds/commands.h"
#include "rds/family.h"
#include "task/event-wait.h"

struct rds_monitor {
	struct ctx *ctx;
	uint64_t seq, events, count;	/* lines, those of events, at most */
	int64_t end;			/* -1 no end */
	int signals;
	bool resync, silent;
};

static const struct { const char *event, *state; } words[] = {
	[RDS_EVENT_UP] = { "up", "connected" },
	[RDS_EVENT_DOWN] = { "down", "down" },
	[RDS_EVENT_REFUSED] = { "refused", "down" },
};

static void set_address(json_t *j, const char *key, const struct addr *a)
{
	char text[ADDR_TEXT_MAX];

	addr_format_bare(a, text);
	js_set(j, key, js_str_or_null(text));
}

/* Without a path it is about all of them. */
static json_t *make_line(struct rds_monitor *m, const char *event, const struct rds_told *t, const struct rds_path *p)
{
	static const char *const nulls[] = { "object", "role", "session", "name" };
	json_t *j = json_object();

	js_set(j, "seq", js_u64(++m->seq));
	js_set(j, "monotonic_ns", js_u64(now_ns()));
	js_set(j, "event", json_string(event));
	for (size_t i = 0; i < ARRAY_SIZE(nulls); i++)
		js_set(j, nulls[i], json_null());
	js_set(j, "resync", json_boolean(m->resync));
	js_set(j, "state", json_null());
	js_set(j, "old_state", json_null());
	js_set(j, "reason", p ? js_errno(p->error) : json_null());
	js_set(j, "changes", json_object());
	js_set(j, "source", json_string(ctx_backend(m->ctx)));
	if (p) {
		char local[ADDR_TEXT_MAX], remote[ADDR_TEXT_MAX], *name;

		addr_format_bare(&t->local, local);
		addr_format_bare(&t->remote, remote);
		name = xasprintf("%s-%s", local, remote);
		js_set(j, "object", json_string("rds"));
		js_set(j, "name", js_str(name));
		free(name);
		set_address(j, "local_address", &t->local);
		set_address(j, "remote_address", &t->remote);
		js_set(j, "transport", js_str_or_null(t->transport));
		js_set(j, "tos", t->tos == RDS_TOS_UNKNOWN ? json_null() : json_integer(t->tos));
		js_set(j, "path", js_u64(p->index));
	}
	return j;
}

static void print_word(const json_t *j, const char *key, const char *before)
{
	char *text = shown(j, key);

	if (strcmp(text, "-"))
		printf("%s%s", before, text);
	free(text);
}

static void print_line(const struct rds_monitor *m, const json_t *j)
{
	json_t *now = js_now(m->ctx);

	printf("%s %s", json_string_value(now), json_string_value(json_object_get(j, "event")));
	json_decref(now);
	if (json_object_get(j, "path")) {
		print_word(j, "name", " rds     ");
		print_word(j, "transport", " transport=");
		printf(" tos=%lld path=%lld", (long long)json_integer_value(json_object_get(j, "tos")),
		       (long long)json_integer_value(json_object_get(j, "path")));
		print_word(j, "state", " state=");
		print_word(j, "reason", " error=");
	}
	putchar('\n');
	fflush(stdout);
}

/* Takes the reference. False if the filter kept it back, which the number of the next line tells. */
static bool tell(struct rds_monitor *m, json_t *line)
{
	const char *filter = args_value(&m->ctx->args, OPT_FILTER);

	if (filter && json_object_get(line, "path") && !out_passes(&event_view, filter, line)) {
		json_decref(line);
		return false;
	}
	if (m->ctx->out.fmt != OUT_TEXT) {
		json_line(m->ctx, line);
		return true;
	}
	print_line(m, line);
	json_decref(line);
	return true;
}

static void exists(void *arg, struct rds_told *t)
{
	struct rds_monitor *m = arg;

	for (size_t i = 0; i < t->npaths && !m->silent; i++) {
		const char *state = rds_path_state(&t->paths[i]);
		json_t *line = make_line(m, "exists", t, &t->paths[i]);

		js_set(line, "state", json_string(state));
		/* what is over explains nothing */
		if (!strcmp(state, "connected"))
			js_set(line, "reason", json_null());
		tell(m, line);
	}
}

static void happened(struct rds_monitor *m, struct rds_told *t)
{
	json_t *line;

	if (t->event < ARRAY_SIZE(words) && t->npaths) {
		line = make_line(m, words[t->event].event, t, t->paths);
		js_set(line, "state", json_string(words[t->event].state));
		m->events += tell(m, line);
	}
	free(t->paths);
}

/* What exists, at the start and after what was missed */
static int snapshot(struct rds_monitor *m)
{
	if (!rds_family_each(m->ctx, exists, m))
		return m->ctx->fail.code;
	tell(m, make_line(m, "sync", NULL, NULL));
	return XC_OK;
}

/* First the events, then what is there: nothing is missed between them. */
static int begin(struct rds_monitor *m)
{
	if (!rds_family_open(m->ctx) || !rds_family_listen(m->ctx))
		return m->ctx->fail.code;
	return snapshot(m);
}

static int again(struct rds_monitor *m, int (*how)(struct rds_monitor *m))
{
	bool silent = m->silent;
	int rc;

	m->resync = true;
	m->silent = false;
	rc = how(m);
	m->resync = false;
	m->silent = silent;
	return rc;
}

/* --follow: until the module is there. */
static enum monitor_end await_module(struct rds_monitor *m, int *rc)
{
	enum monitor_end end;

	do {
		*rc = XC_OK;
		end = monitor_away(m->ctx, m->signals, m->end);
		if (end != GO_ON)
			return end;
		*rc = again(m, begin);
	} while (*rc == XC_UNAVAILABLE);
	return GO_ON;
}

static enum monitor_end step(struct rds_monitor *m, int *rc)
{
	struct rds_told t;

	switch (rds_family_next(m->ctx, &t)) {
	case NL_NEXT_EVENT:
		happened(m, &t);
		return GO_ON;
	case NL_NEXT_OVERRUN:
		tell(m, make_line(m, "overrun", NULL, NULL));
		/* they are older than what comes now */
		if (!m->ctx->nl_replay)
			m->ctx->kernel->ops->events(m->ctx->kernel);
		*rc = again(m, snapshot);
		return GO_ON;
	case NL_NEXT_LOST:
		tell(m, make_line(m, "lost", NULL, NULL));
		if (args_has(&m->ctx->args, OPT_FOLLOW))
			return await_module(m, rc);
		*rc = fail_set(&m->ctx->fail, XC_UNAVAILABLE, "the module rds was unloaded");
		return GO_ON;
	default:
		return monitor_sleep(m->ctx, m->signals, m->end, -1);
	}
}

static int follow(struct rds_monitor *m)
{
	enum monitor_end end = GO_ON;
	int rc = XC_OK;

	while (!rc && end == GO_ON && !ferror(stdout) && !(m->count && m->events >= m->count))
		end = step(m, &rc);
	if (rc || end != TIMED_OUT || !m->count)
		return rc;
	m->ctx->fail.err = ETIMEDOUT;
	return fail_set(&m->ctx->fail, XC_TIMEOUT, "%llu of %llu events in time", (unsigned long long)m->events,
			(unsigned long long)m->count);
}

int cmd_rds_monitor(struct ctx *ctx)
{
	const struct parsed *a = &ctx->args;
	struct rds_monitor m = {
		.ctx = ctx, .count = args_uint(a, OPT_EVENTS, 0), .end = -1, .silent = args_has(a, OPT_NO_SNAPSHOT),
	};
	enum monitor_end end = GO_ON;
	int rc;

	if (args_has(a, OPT_DIFF) || args_has(a, OPT_FULL) || args_has(a, OPT_INTERVAL))
		return fail_set(&ctx->fail, XC_USAGE, "rds has no --diff, --full and --interval");
	if (ctx->out.fmt == OUT_JSON)
		ctx->out.fmt = OUT_JSONL;
	if (ctx->timeout_ms >= 0)
		m.end = now_ms() + ctx->timeout_ms;
	m.signals = monitor_signals();
	rc = begin(&m);
	if (rc == XC_UNAVAILABLE && args_has(a, OPT_FOLLOW) && !args_has(a, OPT_ONCE))
		end = await_module(&m, &rc);
	if (end == TIMED_OUT)
		rc = fail_set(&ctx->fail, XC_UNAVAILABLE, "the module rds of rnbd-dkms was not loaded in time");
	else if (end == ENOUGH)
		rc = XC_OK;
	if (!rc && end == GO_ON && !args_has(a, OPT_ONCE))
		rc = follow(&m);
	ctx->streamed = ctx->streamed || !rc;
	if (m.signals >= 0)
		close(m.signals);
	return rc;
}
