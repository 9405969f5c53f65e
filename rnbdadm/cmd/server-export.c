// SPDX-License-Identifier: GPL-2.0
/* server export list, show, close, revalidate: block devices that clients have open here */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/object-opts.h"
#include "base/size.h"
#include "cmd/commands.h"
#include "host/disks.h"
#include "task/dry-run.h"
#include "task/in-use.h"
#include "task/new-paths.h"
#include "task/select.h"
#include "task/targets.h"
#include "task/wait.h"

/* Leaves the openings of one client. False, and a failure, if there is no such client. */
static bool keep_client(struct ctx *ctx, struct snapshot *s, const char *client)
{
	size_t n = 0;

	if (!client)
		return true;
	if (!select_client(s, client, &ctx->fail))
		return false;
	for (size_t i = 0; i < s->exports.n; i++)
		if (!strcmp(s->exports.v[i].session, client))
			s->exports.v[n++] = s->exports.v[i];
	s->exports.n = n;
	return true;
}

static bool read_exports(struct ctx *ctx, struct snapshot *s)
{
	unsigned int what = NL_EXPORTS;

	if (args_has(&ctx->args, OPT_SESSION))
		what |= NL_SESSIONS;
	return ctx_snapshot(ctx, M_SERVER, what, s);
}

int cmd_export_list(struct ctx *ctx)
{
	struct object_opts o = object_opts(ctx, &export_view);
	struct snapshot s;

	if (!read_exports(ctx, &s))
		return ctx->fail.code;
	if (keep_client(ctx, &s, args_value(&ctx->args, OPT_SESSION))) {
		sys_exports(ctx->test_root, &s.exports);
		out_list(ctx, &export_view, js_exports(&s.exports, NULL, &o));
	}
	snapshot_free(&s);
	return ctx->fail.code;
}

/* The block device that the word names: ram0, /dev/ram0, or a link to that. NULL and @f if none is open. */
static const char *select_export(const struct ctx *ctx, const struct export_list *l,
				 const char *word, struct fail *f)
{
	char *name = !strncmp(word, "/dev/", 5) ? node_disk(ctx->test_root, word) : xstrdup(word);
	struct strlist known = { 0 };
	const char *found = NULL;
	char *hint;

	for (size_t i = 0; i < l->n && !found; i++) {
		if (!strcmp(l->v[i].name, name))
			found = l->v[i].name;
		if (!strlist_has(&known, l->v[i].name))
			strlist_add(&known, l->v[i].name);
	}
	if (!found) {
		hint = suggest(name, &known);
		fail_set(f, XC_NOT_FOUND, "no export '%s'", word);
		fail_text(f, "no client has such a device open");
		fail_object(f, "export", word);
		fail_hint(f, "%s", hint ? hint : "rnbdadm server export list");
		free(hint);
	}
	strlist_free(&known);
	free(name);
	return found;
}

int cmd_export_show(struct ctx *ctx)
{
	struct object_opts o = object_opts(ctx, &export_view);
	struct strlist lines = { 0 };
	const char *name;
	struct snapshot s;
	json_t *list;

	if (!read_exports(ctx, &s))
		return ctx->fail.code;
	name = select_export(ctx, &s.exports, ctx->args.args[0], &ctx->fail);
	if (name) {
		sys_exports(ctx->test_root, &s.exports);
		list = js_exports(&s.exports, name, &o);
		if (ctx->out.fmt == OUT_TEXT && !ctx->out.fields)
			export_children(json_array_get(list, 0), &ctx->out, &lines);
		out_show(ctx, &export_view, json_incref(json_array_get(list, 0)));
		for (size_t i = 0; i < lines.n; i++)
			puts(lines.v[i]);
		strlist_free(&lines);
		json_decref(list);
	}
	snapshot_free(&s);
	return ctx->fail.code;
}

static json_t *js_item(const struct ctx *ctx, const struct item *it)
{
	json_t *o = json_object();

	js_set_str(o, "device", it->exp ? it->exp->name : it->word);
	if (it->exp) {
		js_set_str(o, "session", it->exp->session);
		js_set_str(o, "device_path", it->exp->device_path);
	} else {
		js_set(o, "session", json_null());
		js_set(o, "device_path", json_null());
	}
	job_set_end(ctx, o, it);
	return o;
}

static void absent(struct ctx *ctx, struct job *j)
{
	job_add(j, NULL, ctx->args.args[0])->result = "absent";
	fail_clear(&ctx->fail);
}

/* The openings that the command line names. */
static int collect(struct ctx *ctx, struct job *j)
{
	const struct parsed *a = &ctx->args;
	const char *client = args_value(a, OPT_SESSION), *name;
	size_t clients = 0;

	j->plural = "clients";
	name = keep_client(ctx, &j->s, client) ?
	       select_export(ctx, &j->s.exports, a->args[0], &ctx->fail) : NULL;
	if (!name && ctx->idempotent)
		absent(ctx, j);
	if (!name)
		return ctx->fail.code;
	for (size_t i = 0; i < j->s.exports.n; i++) {
		struct export *e = &j->s.exports.v[i];

		if (strcmp(e->name, name))
			continue;
		if (!j->n || strcmp(j->v[j->n - 1].exp->session, e->session))
			clients++;
		job_add(j, e, a->args[0]);
		strlist_addf(&ctx->fail.details, "%s has it open as '%s' (%s)", e->session,
			     e->device_path, access_name(e->access) ? access_name(e->access) :
			     "unknown");
	}
	fail_object(&ctx->fail, "export", name);
	if (clients > 1 && !args_has(a, OPT_ALL)) {
		fail_hint(&ctx->fail, "--session SESSION, or --all");
		return fail_set(&ctx->fail, XC_CONFLICT, "%zu clients have it open", clients);
	}
	if (ctx->force) {
		fail_clear(&ctx->fail);
		return XC_OK;
	}
	fail_hint(&ctx->fail, "--force closes it; the I/O of the client%s fails then",
		  clients > 1 ? "s" : "");
	return fail_set(&ctx->fail, XC_BUSY, "refused, %zu client%s ha%s it open", clients,
			clients > 1 ? "s" : "", clients > 1 ? "ve" : "s");
}

static enum wait_is look_closed(struct ctx *ctx, void *arg)
{
	const struct item *it = arg;
	enum wait_is is = WAIT_DONE;
	struct snapshot s;

	if (!ctx_snapshot(ctx, M_SERVER, NL_EXPORTS, &s))
		return WAIT_FAIL;
	for (size_t i = 0; i < s.exports.n; i++)
		if (s.exports.v[i].id == it->exp->id)
			is = WAIT_MORE;
	snapshot_free(&s);
	return is;
}

static void plan_one(struct ctx *ctx, struct item *it)
{
	struct strlist w = { 0 };

	strlist_add(&w, "server");
	strlist_add(&w, "export");
	strlist_add(&w, "close");
	plan_name(&w, it->exp->name);
	strlist_addf(&w, "--session=%s", it->exp->session);
	strlist_add(&w, "--force");
	plan_would(ctx, &w, "close %s, open as %s", it->exp->name, it->exp->device_path);
	strlist_free(&w);
	it->result = "would-close";
}

static void close_one(struct ctx *ctx, struct job *j, struct item *it)
{
	struct wait w = { .group = "export", .look = look_closed, .arg = it };
	int64_t limit = wait_limit(ctx, 0);
	struct nl_error e;
	int rc;

	if (limit && !ctx->dry_run && !wait_begin(ctx, &w)) {
		job_fail(ctx, it);
		return;
	}
	if (!ctx->kernel->ops->export_close(ctx->kernel, it->exp->id, &e)) {
		/* the client has closed it itself meanwhile */
		if (e.kind == NL_FAIL_KERNEL && e.err == ENOENT && ctx->idempotent) {
			it->result = "absent";
			return;
		}
		fail_nl(&it->fail, &e, "server");
		fail_object(&it->fail, "session", it->exp->session);
		it->result = "failed";
		return;
	}
	if (*e.warning)
		warn(ctx, "%s", e.warning);
	if (ctx->dry_run) {
		plan_one(ctx, it);
		return;
	}
	j->changed = true;
	it->result = "closed";
	say(ctx, "closed %s of session %s; the client keeps its disk, whose I/O fails until it "
	    "remaps it", it->exp->name, it->exp->session);
	rc = limit ? wait_end(ctx, &w, limit) : XC_OK;
	if (!rc)
		return;
	if (!ctx->fail.code)
		fail_set(&ctx->fail, XC_TIMEOUT, "it is still there");
	fail_object(&ctx->fail, "session", it->exp->session);
	job_fail(ctx, it);
}

int cmd_export_close_check(struct ctx *ctx)
{
	const struct parsed *a = &ctx->args;

	if (!args_has(a, OPT_SESSION) || !args_has(a, OPT_ALL))
		return XC_OK;
	return fail_set(&ctx->fail, XC_USAGE, "--session and --all exclude each other");
}

int cmd_export_close(struct ctx *ctx)
{
	struct job j = { 0 };
	int rc;

	if (!ctx_lock(ctx) || !read_exports(ctx, &j.s))
		return ctx->fail.code;
	rc = collect(ctx, &j);
	for (size_t i = 0; !rc && i < j.n; i++) {
		if (!j.v[i].result)
			close_one(ctx, &j, &j.v[i]);
	}
	if (!rc)
		rc = job_report(ctx, &j, &close_view, js_item);
	job_free(&j);
	return rc;
}

/* The openings whose clients are to be told; refused if the device is smaller than one of them was told. */
static int collect_stale(struct ctx *ctx, struct job *j, uint64_t *old)
{
	const char *client = args_value(&ctx->args, OPT_SESSION);
	const char *name = keep_client(ctx, &j->s, client) ?
			   select_export(ctx, &j->s.exports, ctx->args.args[0], &ctx->fail) : NULL;
	bool shrunk = false;

	j->plural = "clients";
	for (size_t i = 0; name && i < j->s.exports.n; i++) {
		struct export *e = &j->s.exports.v[i];
		char *from, *to;

		if (strcmp(e->name, name))
			continue;
		job_add(j, e, ctx->args.args[0]);
		if (*old == M_UNKNOWN || e->told_bytes < *old)
			*old = e->told_bytes;
		if (e->told_bytes == M_UNKNOWN || e->told_bytes <= e->size_bytes)
			continue;
		shrunk = true;
		from = size_text(e->told_bytes, 0);
		to = size_text(e->size_bytes, 0);
		strlist_addf(&ctx->fail.details, "%s has it open as '%s' with %s, not %s",
			     e->session, e->device_path, from, to);
		free(from);
		free(to);
	}
	if (!name)
		return ctx->fail.code;
	fail_object(&ctx->fail, "export", name);
	if (!shrunk || ctx->force)
		return XC_OK;
	fail_hint(&ctx->fail, "--force tells it; data behind the new end is lost for the clients");
	return fail_set(&ctx->fail, XC_BUSY, "refused, it is smaller than clients know it");
}

static json_t *js_told(const struct ctx *ctx, const struct item *it)
{
	json_t *o = json_object();

	js_set_str(o, "session", it->exp->session);
	js_set_str(o, "device_path", it->exp->device_path);
	js_set(o, "old_size_bytes", js_u64(it->old_state));
	js_set(o, "new_size_bytes", js_u64(it->exp->told_bytes));
	job_set_end(ctx, o, it);
	return o;
}

static void not_reached(struct item *it, enum m_reach reach)
{
	it->result = "not-reached";
	fail_object(&it->fail, "session", it->exp->session);
	if (reach == REACH_DEAF) {
		fail_set(&it->fail, XC_UNSUPPORTED, "%s cannot be told: its module takes no such word",
			 it->exp->session);
		fail_text(&it->fail, "the client cannot be told: its module takes no such word");
		fail_hint(&it->fail, "use 'resize' on the client");
		return;
	}
	fail_set(&it->fail, XC_TIMEOUT, "%s was told, but has not asked for the size",
		 it->exp->session);
	fail_text(&it->fail, "the client was told, but has not asked for the size");
}

static void plan_revalidate(struct ctx *ctx, struct item *it)
{
	struct strlist w = { 0 };

	strlist_add(&w, "server");
	strlist_add(&w, "export");
	strlist_add(&w, "revalidate");
	plan_name(&w, it->exp->name);
	strlist_addf(&w, "--session=%s", it->exp->session);
	if (ctx->force)
		strlist_add(&w, "--force");
	plan_add(ctx, &w);
	strlist_free(&w);
	it->result = "would-tell";
}

static void revalidate_one(struct ctx *ctx, struct job *j, struct item *it, uint64_t timeout)
{
	enum m_reach reach;
	struct nl_error e;
	struct export now;

	if (!ctx->kernel->ops->export_revalidate(ctx->kernel, it->exp->id, timeout, &now, &reach,
						 &e)) {
		fail_nl(&it->fail, &e, "server");
		fail_object(&it->fail, "session", it->exp->session);
		it->result = "failed";
		return;
	}
	if (*e.warning)
		warn(ctx, "%s", e.warning);
	if (ctx->dry_run) {
		plan_revalidate(ctx, it);
		return;
	}
	it->exp->size_bytes = now.size_bytes;
	it->exp->told_bytes = now.told_bytes;
	if (reach != REACH_TOLD) {
		not_reached(it, reach);
		return;
	}
	it->result = now.told_bytes == it->old_state ? "unchanged" : "told";
	j->changed |= now.told_bytes != it->old_state;
	say(ctx, "told %s the size of %s: %" PRIu64 " bytes", it->exp->session, it->exp->name,
	    now.told_bytes);
}

/* --wait: the kernel waits for the answers. */
static uint64_t answer_time(const struct ctx *ctx)
{
	int64_t limit = wait_limit(ctx, 0);

	if (!limit)
		return M_UNKNOWN;
	if (limit < 0 || limit > TIMEOUT_MS_MAX)
		return TIMEOUT_MS_MAX;
	return limit < TIMEOUT_MS_MIN ? TIMEOUT_MS_MIN : (uint64_t)limit;
}

static int request_timeout(struct ctx *ctx, uint64_t *ms)
{
	return way_timeout(ctx, "server export revalidate", ms);
}

int cmd_export_revalidate_check(struct ctx *ctx)
{
	uint64_t timeout;

	return request_timeout(ctx, &timeout);
}

int cmd_export_revalidate(struct ctx *ctx)
{
	uint64_t timeout, old = M_UNKNOWN;
	struct job j = { 0 };
	int rc;

	request_timeout(ctx, &timeout);
	if (timeout == M_UNKNOWN)
		timeout = answer_time(ctx);
	if (!ctx_lock(ctx) || !read_exports(ctx, &j.s))
		return ctx->fail.code;
	rc = collect_stale(ctx, &j, &old);
	if (!rc)
		fail_clear(&ctx->fail);
	for (size_t i = 0; !rc && i < j.n; i++) {
		j.v[i].old_state = j.v[i].exp->told_bytes;
		revalidate_one(ctx, &j, &j.v[i], timeout);
	}
	if (!rc) {
		js_set(ctx->data, "old_size_bytes", js_u64(old));
		js_set(ctx->data, "new_size_bytes", js_u64(j.v[0].exp->size_bytes));
		rc = job_report(ctx, &j, &revalidate_view, js_told);
	}
	job_free(&j);
	return rc;
}
