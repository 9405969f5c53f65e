// SPDX-License-Identifier: GPL-2.0
/* Another access list, and what that ends. */
#include <errno.h>
#include <stdlib.h>

#include "config/access-list.h"
#include "task/in-use.h"

/* Why the new list does not have the opening, to be freed. */
static char *why_closed(const struct access_list *to, const struct export *x)
{
	if (to->state == ACCESS_CLOSED)
		return xstrdup("the server is to be closed");
	if (*x->peer && !access_get(to, ACCESS_PEER, x->peer))
		return xasprintf("there is no peer %s any more", x->peer);
	if (!access_find(to, x->device_path))
		return xasprintf("there is no export %s", x->device_path);
	return *x->peer ? xasprintf("the export no longer allows %s that", x->peer) :
			  xstrdup("the list does not let it in");
}

/* One opening or path that would end: a line of the failure, and an entry of the document. */
static void name_id(struct ctx *ctx, json_t *ended, const struct access_list *to, const struct snapshot *s,
		    bool is_path, uint32_t id)
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
		why = why_closed(to, x);
		strlist_addf(&ctx->fail.details, "%s has %s open (%s): %s", x->session, x->device_path,
			     access_name(x->access) ? access_name(x->access) : "unknown", why);
	} else if (p) {
		why = xstrdup(to->state == ACCESS_CLOSED ? "the server is to be closed" :
			      "no peer of the list takes it");
		strlist_addf(&ctx->fail.details, "%s %s: %s", p->session, p->name, why);
	} else {
		why = xstrdup("it is gone already");
	}
	js_set(o, "object", json_string(is_path ? "path" : "export"));
	js_set(o, "id", json_integer(id));
	js_set_str(o, "session", x ? x->session : p ? p->session : "");
	js_set_str(o, "name", x ? x->device_path : p ? p->name : number);
	js_set(o, "reason", js_str(why));
	json_array_append_new(ended, o);
	free(number);
	free(why);
}

static int name_ended(struct ctx *ctx, json_t *ended, const struct access_list *to, const struct access_ended *end)
{
	size_t more = end->exports.n + end->paths.n - end->exports.nids - end->paths.nids;
	struct snapshot s = { 0 };

	if (!end->exports.n && !end->paths.n)
		return XC_OK;
	if (!ctx_snapshot(ctx, M_SERVER, NL_SESSIONS | NL_PATHS | NL_EXPORTS_OPT, &s))
		return ctx->fail.code;
	for (size_t i = 0; i < end->exports.nids; i++)
		name_id(ctx, ended, to, &s, false, end->exports.ids[i]);
	for (size_t i = 0; i < end->paths.nids; i++)
		name_id(ctx, ended, to, &s, true, end->paths.ids[i]);
	if (more)
		strlist_addf(&ctx->fail.details, "and %zu more", more);
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
static int may_end(struct ctx *ctx, const struct access_list *to, const char *count)
{
	bool open = to->state == ACCESS_OPEN;
	char *question;
	int rc;

	if (!open && !*count)
		return XC_OK;
	if (!ctx->force) {
		fail_hint(&ctx->fail, open ? "--force does it" :
			  "--force ends them; 'server access diff' shows the whole change");
		return fail_set(&ctx->fail, XC_BUSY, "refused, %s%s", open ? "" : count, open ?
				"every client could map every device below dev_search_path" : " would end");
	}
	strlist_free(&ctx->fail.details);
	question = open ? xstrdup("Let everybody in") : xasprintf("End %s", count);
	rc = use_confirm(ctx, question);
	free(question);
	return rc;
}

/* Asks the kernel what it would end; only root may. */
static int look_ahead(struct ctx *ctx, struct access_request *req, struct access_ended *end, json_t *ended)
{
	struct nl_error e;

	req->dry_run = true;
	if (ctx->kernel->ops->access_set(ctx->kernel, req, end, &e)) {
		req->dry_run = false;
		return name_ended(ctx, ended, req->list, end);
	}
	if (!ctx->dry_run || e.kind != NL_FAIL_KERNEL || (e.err != EPERM && e.err != EACCES))
		return fail_nl(&ctx->fail, &e, "server");
	warn(ctx, "the openings that this would end are not known: the kernel tells them to root "
		  "alone");
	return XC_OK;
}

static int set_list(struct ctx *ctx, struct access_request *req, json_t *doc)
{
	struct access_ended end;
	struct nl_error e;

	if (!ctx->kernel->ops->access_set(ctx->kernel, req, &end, &e)) {
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

int access_replace(struct ctx *ctx, const struct access_list *from, const struct access_list *to, json_t *doc)
{
	struct access_request req = { .list = to, .expect = from->number, .force = ctx->force };
	size_t n = access_diff(from, to, doc);
	struct access_ended end = { 0 };
	json_t *ended = json_array();
	char *count;
	int rc;

	js_set(doc, "ended", ended);
	if (!n) {
		say(ctx, "nothing to change");
		return XC_OK;
	}
	rc = look_ahead(ctx, &req, &end, ended);
	count = count_text(&end);
	if (!rc)
		rc = may_end(ctx, to, count);
	if (!rc && !ctx->dry_run) {
		rc = set_list(ctx, &req, doc);
		if (!rc && *count)
			say(ctx, "%s ended", count);
	}
	free(count);
	return rc;
}
