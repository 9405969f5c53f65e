// SPDX-License-Identifier: GPL-2.0
/* server port list, drain, undrain: ports of RDMA devices that this server listens on */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "output/to-json.h"
#include "task/dry-run.h"
#include "task/in-use.h"
#include "task/path-targets.h"
#include "task/select.h"
#include "task/wait.h"

static bool is_over(const struct path *path, const struct port *p)
{
	return path->hca_port == p->number && !strcmp(path->hca, p->hca);
}

/* Paths are sorted by session. */
static json_t *js_port(const struct port *p, const struct snapshot *s)
{
	const char *last = NULL;
	uint64_t clients = 0, paths = 0;
	json_t *j = json_object();
	char gid[ADDR_TEXT_MAX];

	for (size_t i = 0; i < s->paths.n; i++) {
		const struct path *path = &s->paths.v[i];

		if (!is_over(path, p))
			continue;
		paths++;
		clients += !last || strcmp(last, path->session);
		last = path->session;
	}
	addr_format_bare(&p->gid, gid);
	js_set_str(j, "hca", p->hca);
	js_set(j, "hca_port", js_u64(p->number));
	js_set(j, "gid", p->gid.family == ADDR_GID ? json_string(gid) : json_null());
	js_set(j, "listening_port", js_u64(p->listening_port));
	js_set(j, "state", json_string(p->drained == 1 ? "drained" : "listening"));
	js_set(j, "drained", json_boolean(p->drained == 1));
	js_set(j, "clients", js_u64(clients));
	js_set(j, "paths", js_u64(paths));
	return j;
}

static bool read_ports(struct ctx *ctx, struct snapshot *s)
{
	return ctx_snapshot(ctx, M_SERVER, NL_SESSIONS | NL_PATHS | NL_PORTS | NL_EXPORTS_OPT, s);
}

int cmd_port_list(struct ctx *ctx)
{
	struct snapshot s;
	json_t *list;

	if (!read_ports(ctx, &s))
		return ctx->fail.code;
	list = json_array();
	for (size_t i = 0; i < s.ports.n; i++)
		json_array_append_new(list, js_port(&s.ports.v[i], &s));
	out_list(ctx, &port_view, list);
	snapshot_free(&s);
	return XC_OK;
}

static bool is_named(const struct port *p, const char *word)
{
	size_t len = strlen(p->hca);
	uint64_t number;

	if (strncmp(word, p->hca, len))
		return false;
	if (!word[len])
		return true;
	return word[len] == ':' && parse_uint(word + len + 1, &number) && number == p->number;
}

/* HCA:PORT, or HCA alone where it has one port. */
static const struct port *select_port(const struct snapshot *s, const char *word, struct fail *f)
{
	const struct port *found = NULL;
	size_t n = 0;

	for (size_t i = 0; i < s->ports.n; i++) {
		if (!is_named(&s->ports.v[i], word))
			continue;
		found = &s->ports.v[i];
		n++;
		strlist_addf(&f->details, "%s:%u", found->hca, (unsigned int)found->number);
	}
	fail_object(f, "port", word);
	if (n == 1) {
		fail_clear(f);
		return found;
	}
	if (n) {
		fail_set(f, XC_CONFLICT, "%zu ports fit", n);
		return NULL;
	}
	fail_set(f, XC_NOT_FOUND, "no port '%s'", word);
	fail_text(f, "no such port");
	fail_hint(f, "rnbdadm server port list");
	return NULL;
}

static bool has_other(const struct snapshot *s, const struct path *path, const struct port *p)
{
	size_t n;
	const struct index_entry *e = index_find(&s->session_paths, path->session_id, &n);

	for (size_t i = 0; i < n; i++) {
		const struct path *other = &s->paths.v[e[i].pos];

		if (path_is_connected(other) && !is_over(other, p))
			return true;
	}
	return false;
}

static void add_path(json_t *list, const struct path *path)
{
	json_t *j = json_object();

	js_set_str(j, "session", path->session);
	js_set_str(j, "name", path->name);
	json_array_append_new(list, j);
}

/* Class C for those who have no other path. */
static int may_drain(struct ctx *ctx, const struct snapshot *s, const struct port *p,
		     json_t *refused)
{
	struct strlist who = { 0 };

	for (size_t i = 0; i < s->paths.n && !ctx->force; i++) {
		const struct path *path = &s->paths.v[i];

		if (!is_over(path, p) || !path_is_connected(path) || has_other(s, path, p))
			continue;
		strlist_addf(&who, "%s has no other path than %s", path->session, path->name);
		add_path(refused, path);
	}
	if (!who.n)
		return XC_OK;
	fail_object(&ctx->fail, "port", ctx->args.args[0]);
	fail_set(&ctx->fail, XC_BUSY, "refused, %zu path%s the last of a client", who.n,
		 who.n == 1 ? " is" : "s are");
	fail_hint(&ctx->fail, "--force drains it; their I/O stops");
	strlist_free(&ctx->fail.details);
	ctx->fail.details = who;
	return XC_BUSY;
}

static void plan(struct ctx *ctx, const char *verb, const struct port *p)
{
	struct strlist w = { 0 };

	strlist_add(&w, "server");
	strlist_add(&w, "port");
	strlist_add(&w, verb);
	strlist_addf(&w, "%s:%u", p->hca, (unsigned int)p->number);
	if (ctx->force)
		strlist_add(&w, "--force");
	plan_add(ctx, &w);
	strlist_free(&w);
}

static int drain(struct ctx *ctx, const struct snapshot *s, const struct port *p, json_t *closed)
{
	struct nl_error e;

	if (!ctx->kernel->ops->port_drain(ctx->kernel, p, ctx->force, &e)) {
		fail_nl(&ctx->fail, &e, "server");
		fail_object(&ctx->fail, "port", ctx->args.args[0]);
		return ctx->fail.code;
	}
	if (*e.warning)
		warn(ctx, "%s", e.warning);
	for (size_t i = 0; i < s->paths.n; i++)
		if (is_over(&s->paths.v[i], p))
			add_path(closed, &s->paths.v[i]);
	js_set(ctx->data, "changed", json_true());
	say(ctx, "drained %s:%u, %zu paths closed", p->hca, (unsigned int)p->number,
	    json_array_size(closed));
	return XC_OK;
}

static enum wait_is look_drained(struct ctx *ctx, void *arg)
{
	enum wait_is is = WAIT_DONE;
	struct snapshot s;

	if (!ctx_snapshot(ctx, M_SERVER, NL_PATHS, &s))
		return WAIT_FAIL;
	for (size_t i = 0; i < s.paths.n; i++)
		if (is_over(&s.paths.v[i], arg))
			is = WAIT_MORE;
	snapshot_free(&s);
	return is;
}

static int await_drained(struct ctx *ctx, const struct wait *w, int64_t limit)
{
	int rc = wait_end(ctx, w, limit);

	if (rc == XC_TIMEOUT && !ctx->fail.code) {
		ctx->fail.err = ETIMEDOUT;
		fail_object(&ctx->fail, "port", ctx->args.args[0]);
		fail_set(&ctx->fail, XC_TIMEOUT, "there are still paths over it");
	}
	return rc;
}

static int undrain(struct ctx *ctx, const struct port *p)
{
	struct nl_error e;

	if (!ctx->kernel->ops->port_undrain(ctx->kernel, p, &e)) {
		fail_nl(&ctx->fail, &e, "server");
		fail_object(&ctx->fail, "port", ctx->args.args[0]);
		return ctx->fail.code;
	}
	if (*e.warning)
		warn(ctx, "%s", e.warning);
	js_set(ctx->data, "changed", json_true());
	say(ctx, "undrained %s:%u", p->hca, (unsigned int)p->number);
	return XC_OK;
}

static int change(struct ctx *ctx, bool drained)
{
	json_t *closed = json_array(), *refused = json_array();
	struct wait w = { .group = "path", .look = look_drained };
	/* undrain is done when the kernel returns */
	int64_t limit = drained && !ctx->dry_run ? wait_limit(ctx, 0) : 0;
	const struct port *p;
	struct snapshot s;
	int rc;

	if (!ctx_lock(ctx) || !read_ports(ctx, &s)) {
		json_decref(closed);
		json_decref(refused);
		return ctx->fail.code;
	}
	js_set(ctx->data, "changed", json_false());
	p = select_port(&s, ctx->args.args[0], &ctx->fail);
	rc = p && (!limit || wait_begin(ctx, &w)) ? XC_OK : (int)ctx->fail.code;
	if (!rc && (p->drained == 1) != drained) {
		rc = drained ? may_drain(ctx, &s, p, refused) : XC_OK;
		if (!rc && ctx->dry_run)
			plan(ctx, drained ? "drain" : "undrain", p);
		else if (!rc)
			rc = drained ? drain(ctx, &s, p, closed) : undrain(ctx, p);
	}
	/* one that is drained already may have paths that go on closing */
	if (!rc && limit) {
		w.arg = (void *)p;
		rc = await_drained(ctx, &w, limit);
	}
	if (ctx->dry_run)
		plan_empty(ctx);
	if (ctx->out.fmt == OUT_CSV) {
		out_list(ctx, &port_change_view, closed);
		json_decref(refused);
	} else if (ctx->out.fmt == OUT_TEXT) {
		json_decref(closed);
		json_decref(refused);
	} else {
		out_attach(ctx, &port_change_view, closed);
		js_set(ctx->data, "refused", refused);
	}
	snapshot_free(&s);
	return rc;
}

int cmd_port_drain(struct ctx *ctx)
{
	return change(ctx, true);
}

int cmd_port_undrain(struct ctx *ctx)
{
	return change(ctx, false);
}
