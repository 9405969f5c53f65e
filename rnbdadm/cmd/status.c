// SPDX-License-Identifier: GPL-2.0
/* status: everything of this host on one screen */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "cmd/commands.h"
#include "host/disks.h"
#include "output/to-json.h"
#include "task/select.h"

static const char *const modules[] = {
	"rtrs_core", "rtrs_client", "rnbd_client", "rtrs_server", "rnbd_server",
};

/* One side of the host. */
struct side {
	bool wanted, there;
	struct snapshot s;
};

struct status {
	struct side client, server;
	json_t *sessions, *devices, *exports, *clients;
	uint64_t degraded, down, paths, paths_down, devices_down, clients_down;
	uint32_t only_session;		/* 0: all */
	const struct device *only_device;
};

/* A side whose module is not loaded is empty; false for what is worse. */
static bool read_side(struct ctx *ctx, enum m_role role, struct side *side)
{
	unsigned int what = NL_SESSIONS | NL_PATHS;

	if (!side->wanted)
		return true;
	what |= role == M_SERVER ? NL_EXPORTS_OPT : NL_DEVICES_OPT;
	side->there = ctx_snapshot(ctx, role, what, &side->s);
	if (!side->there && ctx->fail.code != XC_UNAVAILABLE)
		return false;
	sys_paths(ctx->test_root, &side->s.paths);
	sys_devices(ctx->test_root, &side->s.devices);
	sys_openers(ctx->test_root, &side->s.devices);
	sys_exports(ctx->test_root, &side->s.exports);
	return true;
}

/* The word names a session of either side, or a mapped device. */
static bool select_one(struct ctx *ctx, struct status *st)
{
	const char *word = ctx->args.nargs ? ctx->args.args[0] : NULL;
	const struct session *sess;
	struct strlist known = { 0 };
	struct fail f = { 0 };

	if (!word)
		return true;
	sess = snapshot_session(&st->client.s, word);
	if (!sess)
		sess = snapshot_session(&st->server.s, word);
	if (sess) {
		st->only_session = sess->id;
		return true;
	}
	st->only_device = select_device(&st->client.s, word, NULL, ctx->test_root, &f);
	if (st->only_device) {
		st->only_session = st->only_device->session_id;
		return true;
	}
	fail_clear(&ctx->fail);
	ctx->fail = f;
	if (f.code == XC_NOT_FOUND) {
		select_words(&known, &st->client.s);
		select_words(&known, &st->server.s);
		select_nothing(&ctx->fail, word, &known);
		strlist_free(&known);
	}
	return false;
}

static void count_paths(struct status *st, const struct snapshot *s, uint32_t session)
{
	const struct index_entry *e;
	size_t n;

	e = index_find(&s->session_paths, session, &n);
	st->paths += n;
	for (size_t i = 0; i < n; i++)
		st->paths_down += strcmp(path_state_name(s->paths.v[e[i].pos].state),
					 "connected") != 0;
}

static bool shows(const struct status *st, uint32_t session)
{
	/* ids are unique over both sides */
	return !st->only_session || st->only_session == session;
}

static void collect_client(struct status *st, const struct object_opts *o)
{
	const struct snapshot *s = &st->client.s;

	for (size_t i = 0; i < s->sessions.n; i++) {
		const struct session *sess = &s->sessions.v[i];
		const char *state = session_state_name(sess->state);

		if (!shows(st, sess->id))
			continue;
		json_array_append_new(st->sessions, js_session(sess, s, o));
		st->degraded += !strcmp(state, "degraded");
		st->down += strcmp(state, "degraded") && strcmp(state, "connected");
		count_paths(st, s, sess->id);
	}
	for (size_t i = 0; i < s->devices.n; i++) {
		const struct device *d = &s->devices.v[i];

		if (!shows(st, d->session_id) || (st->only_device && st->only_device != d))
			continue;
		json_array_append_new(st->devices, js_device(d, o));
		st->devices_down += strcmp(device_state_name(d->state), "mapped") != 0;
	}
}

static void collect_server(struct status *st, const struct object_opts *o)
{
	struct snapshot *s = &st->server.s;
	struct export_list one = { 0 };

	for (size_t i = 0; i < s->sessions.n; i++) {
		const struct session *sess = &s->sessions.v[i];

		if (!shows(st, sess->id))
			continue;
		json_array_append_new(st->clients, js_session(sess, s, o));
		st->clients_down += strcmp(session_state_name(sess->state), "connected") != 0;
	}
	json_decref(st->exports);
	if (!st->only_session) {
		st->exports = js_exports(&s->exports, NULL, o);
		return;
	}
	one.v = xcalloc(s->exports.n, sizeof(*one.v));
	for (size_t i = 0; i < s->exports.n; i++)
		if (shows(st, s->exports.v[i].session_id))
			one.v[one.n++] = s->exports.v[i];
	st->exports = js_exports(&one, NULL, o);
	free(one.v);
}

static json_t *js_modules(const char *root)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(modules); i++) {
		json_t *m = json_object();
		char *version = NULL;
		bool there = sys_module(root, modules[i], &version);

		js_set(m, "name", json_string(modules[i]));
		js_set(m, "loaded", json_boolean(there));
		js_set(m, "version", js_str_or_null(version));
		json_array_append_new(list, m);
		free(version);
	}
	return list;
}

static json_t *js_summary(const struct status *st)
{
	json_t *o = json_object();

	js_set(o, "sessions_total", js_u64(json_array_size(st->sessions)));
	js_set(o, "sessions_degraded", js_u64(st->degraded));
	js_set(o, "sessions_down", js_u64(st->down));
	js_set(o, "paths_total", js_u64(st->paths));
	js_set(o, "paths_down", js_u64(st->paths_down));
	js_set(o, "devices_total", js_u64(json_array_size(st->devices)));
	js_set(o, "devices_down", js_u64(st->devices_down));
	js_set(o, "clients_total", js_u64(json_array_size(st->clients)));
	js_set(o, "clients_down", js_u64(st->clients_down));
	js_set(o, "exports_total", js_u64(json_array_size(st->exports)));
	return o;
}

static void fill_document(struct ctx *ctx, const struct status *st)
{
	json_t *client = json_object(), *server = json_object();

	js_set(client, "sessions", json_incref(st->sessions));
	js_set(client, "devices", json_incref(st->devices));
	js_set(server, "exports", json_incref(st->exports));
	js_set(server, "clients", json_incref(st->clients));
	js_set(ctx->data, "client", client);
	js_set(ctx->data, "server", server);
	js_set(ctx->data, "summary", js_summary(st));
	js_set(ctx->data, "modules", js_modules(ctx->test_root));
}

static long long number(const json_t *obj, const char *key)
{
	return json_integer_value(json_object_get(obj, key));
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* "2 sessions (1 degraded)  2 paths up, 1 down  3 devices" */
static char *client_summary(const struct status *st)
{
	size_t n = json_array_size(st->sessions), d = json_array_size(st->devices);
	struct strbuf b = { 0 };

	strbuf_printf(&b, "client  %zu session%s", n, plural(n));
	if (st->degraded)
		strbuf_printf(&b, " (%llu degraded)", (unsigned long long)st->degraded);
	if (st->down)
		strbuf_printf(&b, " (%llu down)", (unsigned long long)st->down);
	strbuf_printf(&b, "  %llu path%s up", (unsigned long long)(st->paths - st->paths_down),
		      plural(st->paths - st->paths_down));
	if (st->paths_down)
		strbuf_printf(&b, ", %llu down", (unsigned long long)st->paths_down);
	strbuf_printf(&b, "  %zu device%s", d, plural(d));
	if (st->devices_down)
		strbuf_printf(&b, " (%llu down)", (unsigned long long)st->devices_down);
	return b.s;
}

static char *server_summary(const struct status *st)
{
	size_t c = json_array_size(st->clients), e = json_array_size(st->exports);
	struct strbuf b = { 0 };

	strbuf_printf(&b, "server  %zu client%s", c, plural(c));
	if (st->clients_down)
		strbuf_printf(&b, " (%llu down)", (unsigned long long)st->clients_down);
	strbuf_printf(&b, "  %zu export%s", e, plural(e));
	return b.s;
}

static bool by_sysfs(const struct ctx *ctx)
{
	return !strcmp(ctx_backend(ctx), "sysfs");
}

/* On one line where it fits. */
static void print_summary(const struct ctx *ctx, const struct status *st)
{
	/* with a name given, the side that does not have it says nothing */
	bool all = !st->only_session, has = json_array_size(st->sessions);
	char *parts[] = {
		st->client.there && (all || has) ? client_summary(st) : NULL,
		st->server.there && (all || !has) ? server_summary(st) : NULL,
		xasprintf("backend %s", by_sysfs(ctx) ? "sysfs" : "netlink"),
	};
	unsigned int room = out_room(&ctx->out);
	struct strbuf line = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (!parts[i])
			continue;
		if (line.len && room && line.len + 4 + strlen(parts[i]) > room) {
			out_items(line.s, 0, room);
			free(line.s);
			line = (struct strbuf){ 0 };
		}
		strbuf_printf(&line, "%s%s", line.len ? "    " : "", parts[i]);
		free(parts[i]);
	}
	out_items(line.s, 0, room);
	free(line.s);
}

static char *heartbeat(uint64_t ns)
{
	char *t = ns_text(ns), *s = xasprintf("heartbeat %s", t);

	free(t);
	return s;
}

/* What a path has to say beyond its state. */
static char *path_note(const json_t *p)
{
	const json_t *lat = json_object_get(p, "heartbeat_latency_ns");
	long long attempts = number(p, "reconnect_attempts");
	const char *state = json_string_value(json_object_get(p, "state"));

	if (state && !strcmp(state, "connected"))
		return json_is_integer(lat) ? heartbeat((uint64_t)json_integer_value(lat)) : NULL;
	return attempts ? xasprintf("attempt %lld", attempts) : NULL;
}

/* name, port, state, note */
#define PATH_GRID	{ .whole = { [3] = true } }

static void add_paths(struct grid *g, const struct out_opts *o, const json_t *sess)
{
	const json_t *p;
	size_t i;

	json_array_foreach(json_object_get(sess, "paths"), i, p) {
		char *name = shown(p, "name");

		grid_add(g, (char *[GRID_COLS]){ xasprintf("path %s", name), col_hca(p, o),
						 shown(p, "state"), path_note(p) });
		free(name);
	}
}

/* "mounted /data", "in use by dm-3", or the state if it is no good. */
static char *device_note(const json_t *d)
{
	const json_t *mounts = json_object_get(d, "mountpoints"), *e;
	const json_t *holders = json_object_get(d, "holders");
	const json_t *openers = json_object_get(d, "openers");
	const char *state = json_string_value(json_object_get(d, "state"));
	struct strbuf b = { 0 };
	long long n = number(d, "open_count");
	size_t i;

	if (state && strcmp(state, "mapped"))
		strbuf_puts(&b, state);
	json_array_foreach(mounts, i, e) {
		char *s = printable(json_string_value(e));

		strbuf_printf(&b, "%s%s", i ? "," : b.len ? ", mounted " : "mounted ", s);
		free(s);
	}
	json_array_foreach(holders, i, e)
		strbuf_printf(&b, "%s%s", i ? "," : b.len ? ", in use by " : "in use by ",
			      json_string_value(e));
	json_array_foreach(openers, i, e) {
		char *s = printable(json_string_value(e));

		strbuf_printf(&b, "%s%s", i ? "," : b.len ? ", in use by " : "in use by ", s);
		free(s);
	}
	if (!json_array_size(mounts) && !json_array_size(holders) && !json_array_size(openers) && n)
		strbuf_printf(&b, "%s%lld open file%s", b.len ? ", " : "", n, plural((size_t)n));
	return b.s;
}

static char *size_of(const json_t *obj, const struct out_opts *o)
{
	const json_t *v = json_object_get(obj, "size_bytes");

	return json_is_integer(v) ? size_text((uint64_t)json_integer_value(v), o->unit) : NULL;
}

static void print_lines(const struct out_opts *o, struct grid *paths, struct grid *devices)
{
	struct strlist lines = { 0 };
	size_t n = paths->rows + devices->rows;

	grid_fit(paths, BRANCH_WIDTH, o);
	grid_fit(devices, BRANCH_WIDTH, o);
	for (size_t i = 0; i < n; i++) {
		char *line = i < paths->rows ? grid_line(paths, i, o) :
			     grid_line(devices, i - paths->rows, o);

		branch_line(&lines, o, i + 1 == n, line);
		free(line);
	}
	for (size_t i = 0; i < lines.n; i++)
		puts(lines.v[i]);
	strlist_free(&lines);
	grid_free(paths);
	grid_free(devices);
}

static void print_head(const struct out_opts *o, const json_t *sess, const char *more)
{
	struct grid g = { 0 };
	char *line;

	grid_add(&g, (char *[GRID_COLS]){ shown(sess, "name"), shown(sess, "state"),
					  xstrdup(more) });
	grid_fit(&g, 0, o);
	line = grid_line(&g, 0, o);
	puts(line);
	free(line);
	grid_free(&g);
}

/* @by_session: {session: [device]} */
static void print_sessions(const struct out_opts *o, const struct status *st, json_t *by_session)
{
	const json_t *sess, *d;
	size_t i, k;

	json_array_foreach(st->sessions, i, sess) {
		struct grid paths = PATH_GRID, devices = { .right = { [3] = true } };
		const json_t *name = json_object_get(sess, "name");
		char *policy = shown(sess, "mp_policy");

		print_head(o, sess, policy);
		free(policy);
		if (!st->only_device)
			add_paths(&paths, o, sess);
		json_array_foreach(json_object_get(by_session, json_string_value(name)), k, d)
			grid_add(&devices, (char *[GRID_COLS]){
				 shown(d, "name"), shown(d, "device_path"), shown(d, "access"),
				 size_of(d, o), device_note(d) });
		print_lines(o, &paths, &devices);
	}
}

/* {session: [what it has]} */
static void add_to(json_t *map, const char *session, json_t *obj)
{
	json_t *list = json_object_get(map, session);

	if (!list) {
		list = json_array();
		json_object_set_new(map, session, list);
	}
	json_array_append(list, obj);
}

static void print_clients(const struct out_opts *o, const struct status *st)
{
	json_t *map = json_object(), *e, *c, *row;
	const json_t *sess;
	size_t i, k;

	json_array_foreach(st->exports, i, e)
		json_array_foreach(json_object_get(e, "clients"), k, c) {
			row = json_copy(c);
			json_object_update_missing(row, e);
			add_to(map, json_string_value(json_object_get(c, "session")), row);
			json_decref(row);
		}
	json_array_foreach(st->clients, i, sess) {
		struct grid paths = PATH_GRID, exports = { .right = { [3] = true } };

		print_head(o, sess, "client of this host");
		add_paths(&paths, o, sess);
		json_array_foreach(json_object_get(map, json_string_value(
					json_object_get(sess, "name"))), k, row)
			grid_add(&exports, (char *[GRID_COLS]){
				 shown(row, "device"), shown(row, "device_path"),
				 shown(row, "access"), size_of(row, o) });
		print_lines(o, &paths, &exports);
	}
	json_decref(map);
}

static void print_text(const struct ctx *ctx, const struct status *st)
{
	json_t *map = json_object(), *d;
	size_t i;

	print_summary(ctx, st);
	json_array_foreach(st->devices, i, d)
		add_to(map, json_string_value(json_object_get(d, "session")), d);
	print_sessions(&ctx->out, st, map);
	print_clients(&ctx->out, st);
	json_decref(map);
}

static int conclude(struct ctx *ctx, const struct status *st)
{
	/* why one side is not there has been said by the last look */
	if (!st->client.there && !st->server.there) {
		if (!st->client.wanted || !st->server.wanted)
			return ctx->fail.code;
		fail_set(&ctx->fail, XC_UNAVAILABLE, "no rnbd module is loaded (%s)",
			 by_sysfs(ctx) ? "/sys/class/rnbd-client and rnbd-server absent" :
			 ctx->fail.err == ENOENT ? "netlink family 'rnbd' absent" :
			 "the kernel says so");
		fail_hint(&ctx->fail, "modprobe rnbd_client, or rnbd_server on a server");
		return XC_UNAVAILABLE;
	}
	fail_clear(&ctx->fail);
	if (!args_has(&ctx->args, OPT_CHECK_STATE) ||
	    !(st->degraded + st->down + st->paths_down + st->devices_down + st->clients_down))
		return XC_OK;
	return fail_set(&ctx->fail, XC_DIFFERS,
			"not fully up: %llu session(s), %llu path(s), %llu device(s), "
			"%llu client(s)", (unsigned long long)(st->degraded + st->down),
			(unsigned long long)st->paths_down, (unsigned long long)st->devices_down,
			(unsigned long long)st->clients_down);
}

int cmd_status(struct ctx *ctx)
{
	const char *role = args_value(&ctx->args, OPT_ROLE);
	bool server = args_server(&ctx->args);
	struct object_opts o = { .root = ctx->test_root };
	struct status st = {
		.client.wanted = !server, .server.wanted = server || !role,
		.sessions = json_array(), .devices = json_array(), .exports = json_array(),
		.clients = json_array(),
	};
	int rc = XC_OK;

	if (!read_side(ctx, M_CLIENT, &st.client) || !read_side(ctx, M_SERVER, &st.server))
		rc = ctx->fail.code;
	if (!rc && (st.client.there || st.server.there) && !select_one(ctx, &st))
		rc = ctx->fail.code;
	if (!rc) {
		collect_client(&st, &o);
		collect_server(&st, &o);
	}
	fill_document(ctx, &st);
	if (!rc)
		rc = conclude(ctx, &st);
	if (ctx->out.fmt == OUT_TEXT && (!rc || rc == XC_DIFFERS))
		print_text(ctx, &st);
	json_decref(st.sessions);
	json_decref(st.devices);
	json_decref(st.exports);
	json_decref(st.clients);
	snapshot_free(&st.client.s);
	snapshot_free(&st.server.s);
	return rc;
}
