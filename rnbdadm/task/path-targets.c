// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/disks.h"
#include "output/to-json.h"
#include "task/dry-run.h"
#include "task/in-use.h"
#include "task/new-paths.h"
#include "task/path-targets.h"
#include "task/select.h"
#include "task/wait.h"

int path_job_check(struct ctx *ctx)
{
	const struct parsed *a = &ctx->args;
	bool all = args_has(a, OPT_ALL);

	if (all == !!a->nargs)
		return fail_set(&ctx->fail, XC_USAGE, all ? "--all goes without SESSION" :
				"name a session, or --all");
	if (all && args_has(a, OPT_HCA))
		return fail_set(&ctx->fail, XC_USAGE, "--all goes without --hca");
	for (size_t i = 1; i < a->nargs; i++)
		if (!path_word_ok(a->args[i], &ctx->fail))
			return XC_USAGE;
	return XC_OK;
}

static void picture(const struct ctx *ctx, struct job *j)
{
	sys_paths(ctx->test_root, &j->s.paths);
	sys_devices(ctx->test_root, &j->s.devices);
	sys_openers(ctx->test_root, &j->s.devices);
}

int path_job_open(struct ctx *ctx, struct job *j, enum m_role role)
{
	unsigned int what = NL_SESSIONS | NL_PATHS |
			    (role == M_SERVER ? NL_EXPORTS_OPT : NL_DEVICES_OPT);

	j->plural = "paths";
	if (!ctx_lock(ctx) || !ctx_snapshot(ctx, role, what, &j->s))
		return ctx->fail.code;
	picture(ctx, j);
	return XC_OK;
}

int path_job_open_to_add(struct ctx *ctx, struct job *j, const char *session)
{
	j->plural = "paths";
	if (!ctx_lock(ctx) ||
	    !read_at_rest(ctx, NL_SESSIONS | NL_PATHS | NL_DEVICES_OPT, session, &j->s))
		return ctx->fail.code;
	picture(ctx, j);
	return XC_OK;
}

static void add_item(struct job *j, struct path *p, const char *word)
{
	struct item *it;

	for (size_t i = 0; i < j->n; i++)
		if (j->v[i].path == p)
			return;
	it = job_add(j, p, word);
	it->session = p->session;
	it->old_state = p->state;
}

int path_job_add(struct ctx *ctx, struct job *j, const struct session *sess,
		 const char *const *words, size_t nwords, bool absent_ok)
{
	const char *hca = args_value(&ctx->args, OPT_HCA);
	const struct index_entry *e;
	size_t n;

	e = index_find(&j->s.session_paths, sess->id, &n);
	for (size_t i = 0; i < n && !nwords && !hca; i++)
		add_item(j, &j->s.paths.v[e[i].pos], NULL);
	for (size_t i = 0; i < nwords || (!i && hca); i++) {
		const char *word = nwords ? words[i] : NULL;
		struct fail f = { 0 };
		const struct path *p = select_path(&j->s, sess, word, hca, &f);
		struct item *it;

		if (p) {
			add_item(j, &j->s.paths.v[p - j->s.paths.v], word);
			continue;
		}
		it = job_miss(ctx, j, word ? word : hca, &f, absent_ok);
		if (!it)
			return XC_USAGE;
		it->session = sess->name;
		it->old_state = M_UNKNOWN;
	}
	return XC_OK;
}

bool path_is_connected(const struct path *p)
{
	return !strcmp(path_state_name(p->state), "connected");
}

bool path_is_down(const struct path *p)
{
	return !strcmp(path_state_name(p->state), "disconnected");
}

void path_told(const struct ctx *ctx, struct path *p, const struct path *now)
{
	struct path_list one = { p, 1 };
	uint64_t role = p->role;

	/* an answer that says less than a list does */
	if (now->id != p->id || !*now->name) {
		p->state = now->state;
		return;
	}
	*p = *now;
	p->role = role;
	sys_paths(ctx->test_root, &one);
}

void path_gone(struct path *p)
{
	p->state = M_UNKNOWN;
	p->id = 0;
}

const char *path_last(const struct job *j, const struct path *p, bool gone)
{
	size_t n, devices, exports, connected = 0, left = 0;
	const struct index_entry *e;

	index_find(&j->s.session_devices, p->session_id, &devices);
	index_find(&j->s.session_exports, p->session_id, &exports);
	e = index_find(&j->s.session_paths, p->session_id, &n);
	for (size_t i = 0; i < n; i++) {
		const struct path *other = &j->s.paths.v[e[i].pos];

		if (other == p || !other->id)
			continue;
		left++;
		connected += path_is_connected(other);
	}
	if (!devices && !exports)
		return NULL;
	if (path_is_connected(p) && !connected)
		return "the last connected path";
	return gone && !left ? "the last path" : NULL;
}

void path_opens(const struct snapshot *s, const struct session *sess, struct fail *f)
{
	size_t n;
	const struct index_entry *e = index_find(&s->session_exports, sess->id, &n);

	for (size_t i = 0; i < n; i++) {
		const struct export *x = &s->exports.v[e[i].pos];

		strlist_addf(&f->details, "%s has %s open as '%s' (%s)", sess->name, x->name,
			     x->device_path,
			     access_name(x->access) ? access_name(x->access) : "unknown");
	}
}

int path_refuse(const struct job *j, const struct path *p, const char *last, struct fail *f)
{
	size_t n, used = 0;
	const struct index_entry *e = index_find(&j->s.session_devices, p->session_id, &n);

	for (size_t i = 0; i < n; i++)
		used += use_detail(&j->s.devices.v[e[i].pos], f);
	for (size_t i = 0; i < n && !used; i++)
		strlist_addf(&f->details, "%s is mapped", j->s.devices.v[e[i].pos].name);
	fail_object(f, "path", p->name);
	if (p->role == M_SERVER) {
		for (size_t i = 0; i < j->s.sessions.n; i++)
			if (j->s.sessions.v[i].id == p->session_id)
				path_opens(&j->s, &j->s.sessions.v[i], f);
		fail_hint(f, "--force takes it down; the client may come back at once");
		return fail_set(f, XC_BUSY, "refused, this is %s of a client with devices open",
				last);
	}
	fail_hint(f, "add another path first, or --force");
	if (used)
		return fail_set(f, XC_BUSY, "refused, this is %s and %zu device%s in use", last,
				used, used == 1 ? " is" : "s are");
	return fail_set(f, XC_BUSY, "refused, this is %s and %zu device%s mapped", last, n,
			n == 1 ? " is" : "s are");
}

void path_fail(struct ctx *ctx, struct item *it, const struct nl_error *e)
{
	struct addr_pair pair = { 0 };
	struct ways w = { .v = &pair, .n = 1 };

	fail_nl(&it->fail, e, it->path && it->path->role == M_SERVER ? "server" : "client");
	fail_object(&it->fail, "path", it->path ? it->path->name : it->word);
	it->result = "failed";
	if (e->kind != NL_FAIL_KERNEL)
		return;
	if (it->path) {
		pair.src = it->path->client;
		pair.dst = it->path->server;
		way_explain(ctx, &it->fail, &w, e->err);
	}
}

struct look {
	uint32_t id;
	enum m_role role;
	enum path_want want;
	struct path *now;		/* what was seen last */
};

static enum wait_is look_path(struct ctx *ctx, void *arg)
{
	const struct look *l = arg;
	enum wait_is is = l->want == WANT_UP ? WAIT_MORE : WAIT_DONE;
	struct snapshot s;

	if (!ctx_snapshot(ctx, l->role, NL_PATHS, &s))
		return WAIT_FAIL;
	for (size_t i = 0; i < s.paths.n; i++) {
		const struct path *p = &s.paths.v[i];

		if (p->id != l->id)
			continue;
		*l->now = *p;
		is = (l->want == WANT_UP && path_is_connected(p)) ||
		     (l->want == WANT_DOWN && path_is_down(p)) ? WAIT_DONE : WAIT_MORE;
	}
	snapshot_free(&s);
	return is;
}

bool path_wait_begin(struct ctx *ctx, struct item *it, int64_t limit)
{
	struct wait w = { .group = "path" };

	if (!limit || ctx->dry_run || wait_begin(ctx, &w))
		return true;
	job_fail(ctx, it);
	return false;
}

bool path_wait(struct ctx *ctx, struct item *it, uint32_t id, enum path_want want, int64_t limit)
{
	static const char *const late[] = {
		[WANT_GONE] = "the path is still there",
		[WANT_UP] = "the path is not connected",
		[WANT_DOWN] = "the path is not down",
	};
	/* one that is to be down may be gone altogether */
	static const char *const state[] = {
		[WANT_GONE] = "", [WANT_UP] = "connected", [WANT_DOWN] = "disconnected",
	};
	struct path now = { 0 };
	struct look l = { id, M_CLIENT, want, &now };
	struct wait w = { .group = "path", .look = look_path, .arg = &l };
	int rc;

	if (it->path && it->path->role == M_SERVER)
		l.role = M_SERVER;
	rc = wait_end(ctx, &w, limit);
	if (!rc) {
		if (it->path && now.id)
			path_told(ctx, it->path, &now);
		if (it->path && !path_state_parse(state[want], &it->path->state))
			it->path->state = M_UNKNOWN;
		return true;
	}
	if (!ctx->fail.code) {
		ctx->fail.err = ETIMEDOUT;
		fail_set(&ctx->fail, XC_TIMEOUT, "%s after %lld ms", late[want], (long long)limit);
	}
	job_fail(ctx, it);
	fail_object(&it->fail, "path", it->path ? it->path->name : it->word);
	return false;
}

static void tried_further(const struct job *j, struct item *it)
{
	char *word = path_word(&j->s, it->path);

	fail_hint(&it->fail, "it is tried further; rnbdadm wait %s %s --for state=connected",
		  it->path->session, word);
	free(word);
}

static void reconnect_failed(struct ctx *ctx, const struct job *j, struct item *it,
			     const struct nl_error *e)
{
	path_fail(ctx, it, e);
	if (e->kind != NL_FAIL_KERNEL)
		return;
	if (e->err == ENOTCONN) {
		fail_set(&it->fail, XC_FAILED, "this attempt has failed (%s)", errno_name(e->err));
		tried_further(j, it);
	}
	/* it was taken down, and is tried further */
	if (path_is_connected(it->path) && it->fail.code != XC_PERMISSION &&
	    it->fail.code != XC_UNSUPPORTED)
		it->path->state = M_UNKNOWN;
}

void path_reconnect(struct ctx *ctx, struct job *j, struct item *it, uint64_t timeout_ms)
{
	int64_t limit = wait_limit(ctx, 0);
	struct nl_error e;
	struct path now;
	bool ok;

	if (!path_wait_begin(ctx, it, limit))
		return;
	ok = ctx->kernel->ops->path_reconnect(ctx->kernel, it->path->id, timeout_ms, &now, &e);
	if (!ok) {
		reconnect_failed(ctx, j, it, &e);
		/* one attempt of several is no end where that is awaited */
		if (!limit || e.kind != NL_FAIL_KERNEL || e.err != ENOTCONN)
			return;
		fail_clear(&it->fail);
	}
	if (*e.warning)
		warn(ctx, "%s", e.warning);
	if (ctx->dry_run) {
		path_plan(ctx, j, "reconnect", it, path_last(j, it->path, false));
		it->result = "would-reconnect";
		return;
	}
	if (ok) {
		path_told(ctx, it->path, &now);
		j->changed = true;
	}
	if (limit && (!ok || !path_is_connected(it->path)) &&
	    !path_wait(ctx, it, it->path->id, WANT_UP, limit)) {
		if (it->fail.code == XC_TIMEOUT)
			tried_further(j, it);
		return;
	}
	j->changed = true;
	it->result = "reconnected";
	say(ctx, "reconnected %s of session %s", it->path->name, it->path->session);
}

void path_plan(struct ctx *ctx, const struct job *j, const char *verb, const struct item *it,
	       bool force)
{
	char *path = it->path ? path_word(&j->s, it->path) : xstrdup(it->word);
	struct strlist w = { 0 };

	if (it->path && it->path->role == M_SERVER)
		strlist_add(&w, "server");
	strlist_add(&w, "path");
	strlist_add(&w, verb);
	plan_name(&w, it->session);
	strlist_add(&w, path);
	free(path);
	if (args_has(&ctx->args, OPT_DEST_PORT))
		strlist_addf(&w, "--dest-port=%s", args_value(&ctx->args, OPT_DEST_PORT));
	if (force)
		strlist_add(&w, "--force");
	if (it->path)
		plan_would(ctx, &w, "%s %s, which is %s", verb, it->path->name,
			   path_state_name(it->path->state));
	else
		plan_add(ctx, &w);
	strlist_free(&w);
}

json_t *path_job_js(const struct ctx *ctx, const struct item *it)
{
	struct object_opts opts = { .root = ctx->test_root };
	struct path p, none;
	json_t *o;

	path_init(&none);
	p = it->path ? *it->path : none;
	opts.role = p.role == M_SERVER;
	/* what was so of a path that is gone, or whose state nobody knows */
	if (p.state == M_UNKNOWN) {
		p.connections = none.connections;
		p.reconnect_attempts = none.reconnect_attempts;
		p.last_error = none.last_error;
		p.heartbeat_ns = none.heartbeat_ns;
		p.since_ns = none.since_ns;
	}
	o = js_path(&p, &(struct snapshot){ 0 }, &opts);
	js_set_str(o, "session", it->session);
	js_set_str(o, "name", it->path ? p.name : it->word);
	js_set(o, "old_state", it->old_state == M_UNKNOWN ? json_null() :
			       json_string(path_state_name(it->old_state)));
	job_set_end(ctx, o, it);
	return o;
}
