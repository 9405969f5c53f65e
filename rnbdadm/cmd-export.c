// SPDX-License-Identifier: GPL-2.0
/* server export list, show, close: block devices that clients have open here */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "job.h"
#include "node.h"
#include "objects.h"
#include "select.h"
#include "use.h"

static struct object_opts object_opts(const struct ctx *ctx)
{
	return (struct object_opts){
		.details = args_has(&ctx->args, OPT_DETAILS),
		.root = ctx->test_root,
	};
}

json_t *js_exports(const struct export_list *l, const char *device, const struct object_opts *o)
{
	json_t *list = json_array();
	size_t n;

	/* they are sorted by block device */
	for (size_t i = 0; i < l->n; i += n) {
		for (n = 1; i + n < l->n && !strcmp(l->v[i + n].name, l->v[i].name); n++)
			;
		if (!device || !strcmp(l->v[i].name, device))
			json_array_append_new(list, js_export(&l->v[i], n, o));
	}
	return list;
}

/* Leaves the openings of one client. False, and a failure, if there is no such client. */
static bool keep_client(struct ctx *ctx, struct snapshot *s, const char *client)
{
	size_t n = 0;

	if (!client)
		return true;
	if (!select_session(s, client, &ctx->fail)) {
		fail_hint(&ctx->fail, "rnbdadm server client list");
		return false;
	}
	for (size_t i = 0; i < s->exports.n; i++)
		if (!strcmp(s->exports.v[i].session, client))
			s->exports.v[n++] = s->exports.v[i];
	s->exports.n = n;
	return true;
}

static bool read_exports(struct ctx *ctx, struct snapshot *s)
{
	unsigned int what = NL_EXPORTS;

	if (args_has(&ctx->args, OPT_CLIENT))
		what |= NL_SESSIONS;
	return ctx_snapshot(ctx, M_SERVER, what, s);
}

int cmd_export_list(struct ctx *ctx)
{
	struct object_opts o = object_opts(ctx);
	struct snapshot s;

	if (!read_exports(ctx, &s))
		return ctx->fail.code;
	if (keep_client(ctx, &s, args_value(&ctx->args, OPT_CLIENT)))
		out_list(ctx, &export_view, js_exports(&s.exports, NULL, &o));
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
	struct object_opts o = object_opts(ctx);
	struct strlist lines = { 0 };
	const char *name;
	struct snapshot s;
	json_t *list;

	if (!read_exports(ctx, &s))
		return ctx->fail.code;
	name = select_export(ctx, &s.exports, ctx->args.args[0], &ctx->fail);
	if (name) {
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
	const char *client = args_value(a, OPT_CLIENT), *name;
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
	if (clients > 1 && !args_has(a, OPT_ALL_CLIENTS)) {
		fail_hint(&ctx->fail, "--client SESSION, or --all-clients");
		return fail_set(&ctx->fail, XC_CONFLICT, "%zu clients have it open", clients);
	}
	if (ctx->force)
		return XC_OK;
	fail_hint(&ctx->fail, "--force closes it; the I/O of the client%s fails then",
		  clients > 1 ? "s" : "");
	return fail_set(&ctx->fail, XC_BUSY, "refused, %zu client%s ha%s it open", clients,
			clients > 1 ? "s" : "", clients > 1 ? "ve" : "s");
}

static int confirm(struct ctx *ctx, const struct job *j)
{
	char *who, *question;
	int rc;

	if (!j->n || !j->v[0].exp)
		return XC_OK;
	who = strlist_join(&ctx->fail.details, ", ");
	question = xasprintf("Close %s (%s)", j->v[0].exp->name, who);
	fail_clear(&ctx->fail);
	rc = use_confirm(ctx, question);
	free(question);
	free(who);
	return rc;
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

static void close_one(struct ctx *ctx, struct job *j, struct item *it)
{
	struct wait w = { .group = "export", .look = look_closed, .arg = it };
	int64_t limit = wait_limit(ctx, 0);
	struct nl_error e;
	int rc;

	if (limit && !wait_begin(ctx, &w)) {
		job_fail(ctx, it);
		return;
	}
	if (!rnl_export_close(ctx->nl, it->exp->id, &e)) {
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

static void plan_one(struct ctx *ctx, struct item *it)
{
	struct strlist w = { 0 };

	strlist_add(&w, "server");
	strlist_add(&w, "export");
	strlist_add(&w, "close");
	strlist_add(&w, it->exp->name);
	strlist_addf(&w, "--client=%s", it->exp->session);
	strlist_add(&w, "--force");
	plan_add(ctx, &w);
	strlist_free(&w);
	it->result = "would-close";
}

int cmd_export_close(struct ctx *ctx)
{
	const struct parsed *a = &ctx->args;
	struct job j = { 0 };
	int rc;

	if (args_has(a, OPT_CLIENT) && args_has(a, OPT_ALL_CLIENTS))
		return fail_set(&ctx->fail, XC_USAGE,
				"--client and --all-clients exclude each other");
	if (!ctx_lock(ctx) || !read_exports(ctx, &j.s))
		return ctx->fail.code;
	rc = collect(ctx, &j);
	if (!rc)
		rc = confirm(ctx, &j);
	for (size_t i = 0; !rc && i < j.n; i++) {
		if (j.v[i].result)
			continue;
		if (ctx->dry_run)
			plan_one(ctx, &j.v[i]);
		else
			close_one(ctx, &j, &j.v[i]);
	}
	if (!rc)
		rc = job_report(ctx, &j, &close_view, js_item);
	job_free(&j);
	return rc;
}
