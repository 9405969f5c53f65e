// SPDX-License-Identifier: GPL-2.0
/* path add, remove, reconnect, disconnect, server path disconnect: the paths of a session */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "host/disks.h"
#include "output/to-json.h"
#include "task/in-use.h"
#include "task/new-paths.h"
#include "task/path-targets.h"
#include "task/select.h"
#include "task/wait.h"

/* Paths to be added, and what they are then. */
struct added {
	const struct session *sess;
	struct ways ways;
	struct path *now;
};

static const struct path *known_path(const struct snapshot *s, const struct session *sess,
				     const struct addr_pair *pair)
{
	size_t n;
	const struct index_entry *e = index_find(&s->session_paths, sess->id, &n);

	/* without a source the route decides, and the kernel says whether it is there */
	for (size_t i = 0; i < n && pair->src.family != ADDR_NONE; i++) {
		const struct path *p = &s->paths.v[e[i].pos];

		if (addr_pair_matches(pair, &p->client, &p->server))
			return p;
	}
	return NULL;
}

static void present(struct ctx *ctx, struct item *it)
{
	if (ctx->idempotent) {
		it->result = "present";
		return;
	}
	fail_set(&it->fail, XC_CONFLICT, "the session has this path already");
	fail_object(&it->fail, "path", it->word);
	fail_hint(&it->fail, "--idempotent takes that for done");
	it->result = "failed";
}

static void explain_add(struct ctx *ctx, struct item *it, const struct addr_pair *pair,
			const struct nl_error *e)
{
	struct ways w = { .v = (struct addr_pair *)pair, .n = 1 };

	if (e->kind == NL_FAIL_KERNEL && e->err == EEXIST) {
		present(ctx, it);
		return;
	}
	path_fail(ctx, it, e);
	if (e->kind == NL_FAIL_KERNEL)
		way_explain(ctx, &it->fail, &w, e->err);
}

static void add_one(struct ctx *ctx, struct job *j, struct item *it, struct added *a, size_t i)
{
	struct path *now = &a->now[i];
	int64_t limit = wait_limit(ctx, 30000);
	uint64_t timeout;
	struct nl_error e;

	way_timeout(ctx, "path add", &timeout);
	if (!path_wait_begin(ctx, it, limit))
		return;
	if (!ctx->kernel->ops->path_add(ctx->kernel, a->sess->id, &a->ways.v[i], timeout, now,
					&e)) {
		explain_add(ctx, it, &a->ways.v[i], &e);
		return;
	}
	if (*e.warning)
		warn(ctx, "%s", e.warning);
	if (ctx->dry_run) {
		path_plan(ctx, j, "add", it, false);
		it->result = "would-add";
		return;
	}
	j->changed = true;
	it->path = now;
	sys_paths(ctx->test_root, &(struct path_list){ now, 1 });
	it->result = "added";
	say(ctx, "added %s to session %s", now->name, it->session);
	if (limit && !path_is_connected(now))
		path_wait(ctx, it, now->id, WANT_UP, limit);
}

/* The words are addresses of paths to be. */
static int parse_ways(struct ctx *ctx, struct ways *w)
{
	const struct parsed *p = &ctx->args;
	int rc = XC_OK;

	for (size_t i = 1; i < p->nargs && !rc; i++)
		rc = way_add(ctx, w, p->args[i], "PATH");
	return rc;
}

static int add_all(struct ctx *ctx, struct job *j, struct added *a)
{
	const struct parsed *p = &ctx->args;
	int rc = parse_ways(ctx, &a->ways);

	if (rc)
		return rc;
	a->now = xcalloc(a->ways.n, sizeof(*a->now));
	for (size_t i = 0; i < a->ways.n; i++) {
		const struct path *known = known_path(&j->s, a->sess, &a->ways.v[i]);
		struct item *it = job_add(j, NULL, p->args[i + 1]);

		it->session = a->sess->name;
		it->old_state = M_UNKNOWN;
		if (known) {
			it->path = &j->s.paths.v[known - j->s.paths.v];
			it->old_state = known->state;
			present(ctx, it);
		} else {
			add_one(ctx, j, it, a, i);
		}
	}
	return XC_OK;
}

int cmd_path_add_check(struct ctx *ctx)
{
	struct ways ways = { .literal = true };
	uint64_t timeout;
	int rc = way_timeout(ctx, "path add", &timeout);

	if (!rc)
		rc = parse_ways(ctx, &ways);
	ways_free(&ways);
	return rc;
}

int cmd_path_add(struct ctx *ctx)
{
	struct added a = { 0 };
	struct job j = { 0 };
	int rc = path_job_open_to_add(ctx, &j, ctx->args.args[0]);

	if (!rc) {
		a.sess = select_session(&j.s, ctx->args.args[0], &ctx->fail);
		rc = a.sess ? add_all(ctx, &j, &a) : (int)ctx->fail.code;
	}
	if (!rc)
		rc = job_report(ctx, &j, &path_change_view, path_job_js);
	job_free(&j);
	ways_free(&a.ways);
	free(a.now);
	return rc;
}

/*
 * Refused as a whole if devices lose their way by it, without --force. Goes through the changes one by
 * one, so the states in the snapshot are put back.
 */
static int may_lose(struct ctx *ctx, struct job *j, bool gone)
{
	const struct path *lost = NULL;
	struct fail f = { 0 };
	const char *last = NULL;
	uint32_t *ids;

	if (ctx->force)
		return XC_OK;
	ids = xcalloc(j->n, sizeof(*ids));

	for (size_t i = 0; i < j->n; i++) {
		struct path *p = j->v[i].path;

		if (!p)
			continue;
		if (!lost)
			last = path_last(j, p, gone);
		if (!lost && last)
			lost = p;
		ids[i] = p->id;
		if (gone)
			path_gone(p);
		else
			p->state = M_UNKNOWN;
	}
	for (size_t i = 0; i < j->n; i++) {
		if (!j->v[i].path)
			continue;
		j->v[i].path->id = ids[i];
		j->v[i].path->state = j->v[i].old_state;
	}
	free(ids);
	if (!lost)
		return XC_OK;
	path_refuse(j, lost, last, &f);
	/* the command line may not say which it is */
	if (ctx->args.nargs < 2)
		fail_text(&f, "%s of session %s: %s", lost->name, lost->session, f.message);
	fail_clear(&ctx->fail);
	ctx->fail = f;
	return XC_BUSY;
}

static void remove_one(struct ctx *ctx, struct job *j, struct item *it)
{
	int64_t limit = wait_limit(ctx, 0);
	uint32_t id = it->path->id;
	struct nl_error e;

	if (!path_wait_begin(ctx, it, limit))
		return;
	if (!ctx->kernel->ops->path_del(ctx->kernel, it->path->id, &e)) {
		if (e.kind == NL_FAIL_KERNEL && e.err == ENOENT && ctx->idempotent) {
			it->result = "absent";
			path_gone(it->path);
			return;
		}
		path_fail(ctx, it, &e);
		return;
	}
	if (*e.warning)
		warn(ctx, "%s", e.warning);
	if (ctx->dry_run) {
		path_plan(ctx, j, "remove", it, ctx->force);
		it->result = "would-remove";
		return;
	}
	path_gone(it->path);
	j->changed = true;
	it->result = "removed";
	say(ctx, "removed %s of session %s", it->path->name, it->session);
	if (limit)
		path_wait(ctx, it, id, WANT_GONE, limit);
}

static void disconnect_one(struct ctx *ctx, struct job *j, struct item *it)
{
	int64_t limit = wait_limit(ctx, 0);
	struct nl_error e;
	struct path now;

	if (path_is_down(it->path)) {
		it->result = "unchanged";
		return;
	}
	if (!path_wait_begin(ctx, it, limit))
		return;
	if (!ctx->kernel->ops->path_disconnect(ctx->kernel, it->path->id, &now, &e)) {
		if (e.kind == NL_FAIL_KERNEL && e.err == ENOENT && ctx->idempotent)
			it->result = "absent";
		else
			path_fail(ctx, it, &e);
		return;
	}
	if (*e.warning)
		warn(ctx, "%s", e.warning);
	if (ctx->dry_run) {
		path_plan(ctx, j, "disconnect", it, ctx->force);
		it->result = "would-disconnect";
		return;
	}
	path_told(ctx, it->path, &now);
	j->changed = true;
	it->result = "disconnected";
	say(ctx, "disconnected %s of session %s; %s", it->path->name, it->session,
	    it->path->role == M_SERVER ? "nothing keeps the client from making it anew" :
					 "'path reconnect' brings it back");
	if (limit && !path_is_down(it->path))
		path_wait(ctx, it, it->path->id, WANT_DOWN, limit);
}

/* The paths of all sessions, or of the one that is named those that are. */
static int collect(struct ctx *ctx, struct job *j, enum m_role role, bool absent_ok)
{
	const struct parsed *a = &ctx->args;
	const struct session *sess;
	int rc = XC_OK;

	if (!a->nargs) {
		for (size_t i = 0; i < j->s.sessions.n && !rc; i++)
			rc = path_job_add(ctx, j, &j->s.sessions.v[i], NULL, 0, absent_ok);
		return rc;
	}
	sess = role == M_SERVER ? select_client(&j->s, a->args[0], &ctx->fail) :
				  select_session(&j->s, a->args[0], &ctx->fail);
	if (sess)
		return path_job_add(ctx, j, sess, a->args + 1, a->nargs - 1, absent_ok);
	if (!absent_ok || ctx->fail.code != XC_NOT_FOUND)
		return ctx->fail.code;
	fail_clear(&ctx->fail);
	return XC_OK;
}

/* remove and disconnect: both take paths away. */
static int take_away(struct ctx *ctx, bool gone, enum m_role role)
{
	struct job j = { 0 };
	int rc = path_job_open(ctx, &j, role);

	if (!rc)
		rc = collect(ctx, &j, role, ctx->idempotent);
	if (!rc)
		rc = may_lose(ctx, &j, gone);
	for (size_t i = 0; !rc && i < j.n; i++) {
		struct item *it = &j.v[i];

		if (it->result)
			continue;
		if (gone)
			remove_one(ctx, &j, it);
		else
			disconnect_one(ctx, &j, it);
	}
	if (!rc)
		rc = job_report(ctx, &j, &path_change_view, path_job_js);
	job_free(&j);
	return rc;
}

/* Not all paths of a session by its name alone. */
int cmd_path_named_check(struct ctx *ctx)
{
	if (ctx->args.nargs < 2 && !args_has(&ctx->args, OPT_HCA))
		return fail_set(&ctx->fail, XC_USAGE, "PATH is missing, or --hca");
	return path_job_check(ctx);
}

int cmd_path_remove(struct ctx *ctx)
{
	return take_away(ctx, true, M_CLIENT);
}

int cmd_path_disconnect_check(struct ctx *ctx)
{
	return path_job_check(ctx);
}

int cmd_path_disconnect(struct ctx *ctx)
{
	return take_away(ctx, false, M_CLIENT);
}

int cmd_server_path_disconnect(struct ctx *ctx)
{
	return take_away(ctx, false, M_SERVER);
}

static void reconnect_one(struct ctx *ctx, struct job *j, struct item *it)
{
	const char *last = path_last(j, it->path, false);
	uint64_t timeout;

	way_timeout(ctx, "path reconnect", &timeout);
	if (path_is_connected(it->path) && args_has(&ctx->args, OPT_ONLY_DOWN)) {
		it->result = "connected";
	} else if (last && !ctx->force) {
		path_refuse(j, it->path, last, &it->fail);
		fail_hint(&it->fail, "--only-down leaves it alone; --force interrupts its I/O");
		it->result = "refused";
	} else {
		path_reconnect(ctx, j, it, timeout);
	}
}

/* What is down first, so that there is a way for the I/O of the others. */
static void work_reconnect(struct ctx *ctx, struct job *j)
{
	for (int down = 1; down >= 0; down--)
		for (size_t i = 0; i < j->n; i++)
			if (!j->v[i].result && (!down || !path_is_connected(j->v[i].path)))
				reconnect_one(ctx, j, &j->v[i]);
}

int cmd_path_reconnect_check(struct ctx *ctx)
{
	uint64_t timeout;
	int rc = way_timeout(ctx, "path reconnect", &timeout);

	return rc ? rc : path_job_check(ctx);
}

int cmd_path_reconnect(struct ctx *ctx)
{
	struct job j = { 0 };
	int rc = path_job_open(ctx, &j, M_CLIENT);

	if (!rc)
		rc = collect(ctx, &j, M_CLIENT, false);
	if (!rc) {
		work_reconnect(ctx, &j);
		rc = job_report(ctx, &j, &path_change_view, path_job_js);
	}
	job_free(&j);
	return rc;
}
