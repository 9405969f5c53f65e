// SPDX-License-Identifier: GPL-2.0
/* Another access list, and what that ends. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/access-list.h"
#include "task/in-use.h"

struct change {
	struct ctx *ctx;
	const struct access_list *from, *to;
	struct strlist lines;		/* what ends, for people */
	json_t *ended;			/* and of the document */
};

/* Why the new list does not have the opening, to be freed. */
static char *why_closed(const struct change *c, const struct export *x)
{
	const struct access_item *was = access_get(c->from, ACCESS_EXPORT, x->listed);
	const struct access_item *is = access_get(c->to, ACCESS_EXPORT, x->listed);

	if (c->to->state == ACCESS_CLOSED)
		return xstrdup("the server is to be closed");
	if (*x->peer && !access_get(c->to, ACCESS_PEER, x->peer))
		return xasprintf("there is no peer %s any more", x->peer);
	if (!is)
		return xasprintf("there is no export %s", *x->listed ? x->listed : x->device_path);
	if (!*x->peer)
		return xstrdup("the list does not let it in");
	if (was && !access_same(was, is, AK_PATH))
		return xstrdup("the export has another path");
	if (was && !access_same(was, is, AK_IO_MODE))
		return xstrdup("the export has another io-mode");
	return xasprintf(was && access_same(was, is, AK_ALLOW) ? "peer %s no longer takes this session" :
			 "the export no longer allows %s that", x->peer);
}

/* One opening or path that would end: a line, and an entry of the document. */
static void name_id(struct change *c, const struct snapshot *s, bool is_path, uint32_t id)
{
	char *why, *number = xasprintf("id:%u", id);
	const struct export *x = NULL;
	const struct path *p = NULL;
	json_t *o = json_object();

	for (size_t i = 0; i < s->exports.n && !is_path; i++)
		if (s->exports.v[i].id == id)
			x = &s->exports.v[i];
	for (size_t i = 0; i < s->paths.n && is_path; i++)
		if (s->paths.v[i].id == id)
			p = &s->paths.v[i];
	if (x) {
		why = why_closed(c, x);
		strlist_addf(&c->lines, "%s has %s open (%s): %s", x->session, x->device_path,
			     access_name(x->access) ? access_name(x->access) : "unknown", why);
	} else if (p) {
		why = xstrdup(c->to->state == ACCESS_CLOSED ? "the server is to be closed" :
			      "no peer of the list takes it");
		strlist_addf(&c->lines, "%s %s: %s", p->session, p->name, why);
	} else {
		why = xstrdup("it is gone already");
	}
	js_set(o, "object", json_string(is_path ? "path" : "export"));
	js_set(o, "id", json_integer(id));
	js_set_str(o, "session", x ? x->session : p ? p->session : "");
	js_set_str(o, "name", x ? x->device_path : p ? p->name : number);
	js_set(o, "reason", js_str(why));
	json_array_append_new(c->ended, o);
	free(number);
	free(why);
}

static int name_ended(struct change *c, const struct access_ended *end)
{
	struct ctx *ctx = c->ctx;
	size_t more = end->exports.n + end->paths.n - end->exports.nids - end->paths.nids;
	struct snapshot s = { 0 };

	if (!end->exports.n && !end->paths.n)
		return XC_OK;
	if (!ctx_snapshot(ctx, M_SERVER, NL_SESSIONS | NL_PATHS | NL_EXPORTS_OPT, &s))
		return ctx->fail.code;
	for (size_t i = 0; i < end->exports.nids; i++)
		name_id(c, &s, false, end->exports.ids[i]);
	for (size_t i = 0; i < end->paths.nids; i++)
		name_id(c, &s, true, end->paths.ids[i]);
	if (more)
		strlist_addf(&c->lines, "and %zu more", more);
	snapshot_free(&s);
	return XC_OK;
}

/* "1 opening and 2 paths" */
static char *count_text(const struct access_ended *end)
{
	struct strlist l = { 0 };
	char *text;

	if (end->exports.n)
		strlist_addf(&l, "%u opening%s", end->exports.n, end->exports.n == 1 ? "" : "s");
	if (end->paths.n)
		strlist_addf(&l, "%u path%s", end->paths.n, end->paths.n == 1 ? "" : "s");
	text = strlist_join(&l, " and ");
	strlist_free(&l);
	return text;
}

/* Class C: what is in use ends with --force alone. Opening lets everybody in, so it is refused as well. */
static int may_end(const struct change *c, const char *count)
{
	struct ctx *ctx = c->ctx;
	bool open = c->to->state == ACCESS_OPEN, of_file = !strcmp(ctx->args.cmd->verb, "apply");
	const char *file = of_file && ctx->args.nargs ? ctx->args.args[0] : NULL;

	if (!open && !*count)
		return XC_OK;
	if (!ctx->force) {
		for (size_t i = 0; i < c->lines.n; i++)
			strlist_add(&ctx->fail.details, c->lines.v[i]);
		fail_hint(&ctx->fail, open ? "--force does it" : !of_file ? "--force ends them" :
			  "--force ends them; 'rnbdadm server access diff%s%s' shows the whole change",
			  file ? " " : "", file ? file : "");
		return fail_set(&ctx->fail, XC_BUSY, "refused, %s%s", open ? "" : count, open ?
				"every client could map every device below dev_search_path" : " would end");
	}
	return XC_OK;
}

/* Asks the kernel what it would end; only root may. */
static int look_ahead(struct change *c, struct access_request *req, struct access_ended *end)
{
	struct ctx *ctx = c->ctx;
	struct nl_error e;

	req->dry_run = true;
	if (ctx->kernel->ops->access_set(ctx->kernel, req, end, &e)) {
		req->dry_run = false;
		return name_ended(c, end);
	}
	if (!ctx->dry_run || e.kind != NL_FAIL_KERNEL || (e.err != EPERM && e.err != EACCES))
		return fail_nl(&ctx->fail, &e, "server");
	warn(ctx, "the openings that this would end are not known: the kernel tells them to root "
		  "alone");
	return XC_OK;
}

/* @busy is set, if given, where the kernel would end something for it, which it does by force alone. */
static int set_list(struct ctx *ctx, struct access_request *req, json_t *doc, bool *busy)
{
	struct access_ended end;
	struct nl_error e;

	if (!ctx->kernel->ops->access_set(ctx->kernel, req, &end, &e)) {
		if (busy && e.kind == NL_FAIL_KERNEL && e.err == EBUSY) {
			*busy = true;
			return XC_OK;
		}
		fail_nl(&ctx->fail, &e, "server");
		if (e.kind != NL_FAIL_KERNEL || e.err != EAGAIN)
			return ctx->fail.code;
		fail_hint(&ctx->fail, "try again");
		return fail_set(&ctx->fail, XC_CONFLICT, "another one has changed the list meanwhile");
	}
	if (*e.warning)
		warn(ctx, "%s", e.warning);
	js_set(doc, "changed", json_true());
	js_set(doc, "number", js_u64(end.number));
	return XC_OK;
}

static void tell_ended(const struct change *c, const char *count)
{
	char *text;

	if (!*count || c->ctx->quiet || c->ctx->out.fmt != OUT_TEXT)
		return;
	fprintf(stderr, "rnbdadm: %s: %s ended\n", c->ctx->args.label, count);
	for (size_t i = 0; i < c->lines.n; i++) {
		text = printable(c->lines.v[i]);
		fprintf(stderr, "  %s\n", text);
		free(text);
	}
}

/* What ends is looked at first. */
static int replace_asked(struct change *c, struct access_request *req, json_t *doc)
{
	struct access_ended end = { 0 };
	int rc = look_ahead(c, req, &end);
	char *count = count_text(&end);

	if (!rc)
		rc = may_end(c, count);
	if (!rc && !c->ctx->dry_run) {
		req->force = c->ctx->force;
		rc = set_list(c->ctx, req, doc, NULL);
		if (!rc)
			tell_ended(c, count);
	}
	free(count);
	return rc;
}

int access_replace(struct ctx *ctx, const struct access_list *from, const struct access_list *to, json_t *doc)
{
	struct access_request req = { .list = to, .expect = from->number };
	struct change c = { .ctx = ctx, .from = from, .to = to, .ended = json_array() };
	bool busy = ctx->dry_run || to->state == ACCESS_OPEN;
	int rc = XC_OK;

	js_set(doc, "ended", c.ended);
	if (ctx->out.fmt != OUT_TEXT)
		access_diff(from, to, doc);
	if (!access_differ(from, to)) {
		say(ctx, "nothing to change");
		return XC_OK;
	}
	/* most changes end nothing: the list is sent once */
	if (!busy)
		rc = set_list(ctx, &req, doc, &busy);
	if (busy)
		rc = replace_asked(&c, &req, doc);
	strlist_free(&c.lines);
	return rc;
}
