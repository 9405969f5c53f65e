// SPDX-License-Identifier: GPL-2.0
/* server access apply, close, open; server export and server peer add, remove: another access list */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "config/access-list.h"
#include "config/save-map.h"
#include "output/to-json.h"
#include "task/dry-run.h"
#include "task/in-use.h"

int access_conf(struct ctx *ctx, struct conf *c, struct access_list *l)
{
	int rc = conf_load(ctx, ctx->args.nargs ? ctx->args.args[0] : NULL, c);

	*l = (struct access_list){ .state = ACCESS_LISTED };
	if (rc || conf_access(c, l))
		return rc;
	fail_hint(&ctx->fail, "write some, see rnbdadm-access(8); 'rnbdadm server access open' lets everybody in");
	return fail_set(&ctx->fail, XC_NOT_FOUND, "the configuration has neither [peer] nor [export]");
}

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
	if (rnl_access_set(ctx->nl, req, end, &e)) {
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

	if (!rnl_access_set(ctx->nl, req, &end, &e)) {
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

/* In a dry run: the same command again. */
static int end_of(struct ctx *ctx, int rc)
{
	const struct parsed *a = &ctx->args;
	struct strlist w = { 0 };

	if (rc || !ctx->dry_run)
		return rc;
	strlist_add(&w, "server");
	strlist_add(&w, strchr(a->cmd->object, ' ') + 1);
	strlist_add(&w, a->cmd->verb);
	for (size_t i = 0; i < a->nargs; i++)
		plan_name(&w, a->args[i]);
	for (size_t i = 0; i < a->nopts; i++)
		if (a->opts[i].id > OPT_GLOBAL_LAST && a->opts[i].id != OPT_WAIT && a->opts[i].id != OPT_NO_WAIT)
			optval_word(&a->opts[i], &w);
	if (ctx->force)
		strlist_add(&w, "--force");
	plan_add(ctx, &w);
	strlist_free(&w);
	return rc;
}

/* Frees @want; @rc: of what made it. */
static int replace(struct ctx *ctx, int rc, struct access_list *want)
{
	struct access_list now = { 0 };

	if (!rc && !ctx_lock(ctx))
		rc = ctx->fail.code;
	if (!rc)
		rc = access_load(ctx, &now);
	if (!rc)
		rc = access_replace(ctx, &now, want, ctx->data);
	access_free(&now);
	access_free(want);
	return end_of(ctx, rc);
}

int cmd_access_apply(struct ctx *ctx)
{
	struct conf c = { .lenient = args_has(&ctx->args, OPT_LENIENT) };
	struct access_list want;
	int rc = access_conf(ctx, &c, &want);

	rc = replace(ctx, rc, &want);
	conf_free(&c);
	return rc;
}

/* close, open */
int cmd_access_set(struct ctx *ctx)
{
	bool open = !strcmp(ctx->args.cmd->verb, "open");

	return replace(ctx, XC_OK, &(struct access_list){ .state = open ? ACCESS_OPEN : ACCESS_CLOSED });
}

/* One peer or export more or less. */
struct edit {
	enum access_kind kind;
	const char *object, *name;
	struct conf c;			/* the section that the options make */
	struct access_list one, now, want;
	char *saved;			/* what --save adds to, NULL: not asked for */
};

static struct edit edit_of(const struct ctx *ctx)
{
	const char *object = strchr(ctx->args.cmd->object, ' ') + 1;

	return (struct edit){ .kind = strcmp(object, "peer") ? ACCESS_EXPORT : ACCESS_PEER, .object = object,
			      .name = ctx->args.args[0], .want.state = ACCESS_LISTED };
}

static void edit_free(struct edit *ed)
{
	access_free(&ed->one);
	access_free(&ed->now);
	access_free(&ed->want);
	conf_free(&ed->c);
	free(ed->saved);
}

/* The name of an export is the last part of its path where none is given. */
static int edit_name(struct ctx *ctx, struct edit *ed)
{
	const char *name = args_value(&ctx->args, OPT_EXPORT_NAME), *path = ctx->args.args[0];
	const char *slash = strrchr(path, '/');
	bool dir = access_is_directory(path);

	if (ed->kind == ACCESS_PEER)
		return XC_OK;
	ed->name = name ? name : slash ? slash + 1 : path;
	if (dir && !name)
		return fail_set(&ctx->fail, XC_USAGE, "a directory needs --name=NAME/");
	if (dir != access_is_directory(ed->name))
		return fail_set(&ctx->fail, XC_USAGE, "the path and the name of a directory both end with '/'");
	return args_has(&ctx->args, OPT_ALLOW) ? XC_OK : fail_set(&ctx->fail, XC_USAGE, "needs --allow PEER");
}

/* The options as the section that they are, which finds what is wrong with them. */
static int edit_options(struct ctx *ctx, struct edit *ed)
{
	static const struct conf_place nowhere;
	const struct parsed *a = &ctx->args;
	struct conf_section *s;

	*ed = edit_of(ctx);
	if (edit_name(ctx, ed))
		return XC_USAGE;
	s = conf_section(&ed->c, CONF_OF(ed->kind), ed->name, &nowhere);
	if (ed->kind == ACCESS_EXPORT)
		conf_set(&ed->c, s, "path", a->args[0], &nowhere);
	for (size_t i = 0; i < a->nopts; i++) {
		enum opt_id id = a->opts[i].id;
		bool holds = opt_table[id].repeat || args_value(a, id) == a->opts[i].value;

		if (holds && ((id >= OPT_AUTH && id <= OPT_ALLOW) || id == OPT_IO_MODE))
			conf_set(&ed->c, s, opt_table[id].name, a->opts[i].value, &nowhere);
	}
	if (ed->kind == ACCESS_PEER)
		conf_access_check(&ed->c);
	for (size_t i = 0; i < ed->c.nproblems; i++)
		if (!ed->c.problems[i].warning)
			return fail_set(&ctx->fail, XC_USAGE, "%s", ed->c.problems[i].message);
	conf_access(&ed->c, &ed->one);
	return args_has(a, OPT_SAVE_ACCESS) ? saved_usage(ctx) : XC_OK;
}

int cmd_access_add_check(struct ctx *ctx)
{
	struct edit ed;
	int rc = edit_options(ctx, &ed);

	edit_free(&ed);
	return rc;
}

static int edit_begin(struct ctx *ctx, struct edit *ed)
{
	int rc;

	fail_object(&ctx->fail, ed->object, ed->name);
	if (!ctx_lock(ctx))
		return ctx->fail.code;
	rc = access_load(ctx, &ed->now);
	if (rc || ed->now.state != ACCESS_OPEN)
		return rc;
	fail_hint(&ctx->fail, "'rnbdadm server access apply' loads the list of the configuration; 'rnbdadm server "
		  "access close' begins with an empty one");
	return fail_set(&ctx->fail, XC_CONFLICT, "the server is open and has no list");
}

/* Before anything changes: the configuration can take the section. */
static int save_check(struct ctx *ctx, struct edit *ed)
{
	const struct access_values *allow = &ed->one.of[ed->kind].v[0].of[AK_ALLOW];
	const struct conf_section *s;
	struct conf c = { 0 };
	int rc = XC_OK;

	if (!args_has(&ctx->args, OPT_SAVE_ACCESS))
		return rc;
	rc = conf_load(ctx, NULL, &c);
	if (!rc)
		rc = saved_read(ctx, &ed->saved);
	s = rc ? NULL : conf_find(&c, CONF_OF(ed->kind), ed->name);
	if (s) {
		char *where = conf_place_text(&s->at);

		rc = fail_set(&ctx->fail, XC_CONFLICT, "the configuration has it already (%s)", where);
		free(where);
	}
	for (size_t i = 0; !rc && i < allow->n; i++)
		if (strcmp(allow->v[i].word, "*") && !conf_find(&c, CONF_PEER, allow->v[i].word))
			rc = fail_set(&ctx->fail, XC_CONFLICT, "--save: the configuration has no [peer %s]",
				      allow->v[i].word);
	conf_free(&c);
	return rc;
}

/* What is there already is added only where it is the same, which changes nothing. */
static int edit_add(struct ctx *ctx, struct edit *ed)
{
	const struct access_item *old = access_get(&ed->now, ed->kind, ed->name);
	char *was = old ? access_item_text(old) : NULL, *is = access_item_text(&ed->one.of[ed->kind].v[0]);
	bool same = old && !strcmp(was, is);

	free(was);
	free(is);
	access_copy(&ed->want, &ed->now, ed->kind, NULL);
	if (!old)
		conf_access(&ed->c, &ed->want);
	if (!old || (same && ctx->idempotent))
		return XC_OK;
	fail_hint(&ctx->fail, "rnbdadm server %s remove, or change the configuration and 'server access apply'",
		  ed->object);
	return fail_set(&ctx->fail, XC_CONFLICT, "the list has it already%s", same ? "" : ", and otherwise");
}

int cmd_access_add(struct ctx *ctx)
{
	struct edit ed;
	int rc = edit_options(ctx, &ed);

	if (!rc)
		rc = edit_begin(ctx, &ed);
	if (!rc)
		rc = save_check(ctx, &ed);
	if (!rc)
		rc = edit_add(ctx, &ed);
	if (!rc)
		rc = access_replace(ctx, &ed.now, &ed.want, ctx->data);
	if (!rc && ed.saved && !ctx->dry_run) {
		rc = saved_append(ctx, ed.saved, &ed.c);
		if (!rc)
			js_set(ctx->data, "changed", json_true());
	}
	edit_free(&ed);
	return end_of(ctx, rc);
}

/* The next apply brings back what the configuration still has. */
static void warn_configured(struct ctx *ctx, const struct edit *ed)
{
	const struct conf_section *s;
	struct conf c = { 0 };
	char *where;

	/* mistakes in it are no concern of this command */
	if (conf_read(ctx, NULL, &c))
		fail_clear(&ctx->fail);
	s = conf_find(&c, CONF_OF(ed->kind), ed->name);
	where = s ? conf_place_text(&s->at) : NULL;
	if (where)
		warn(ctx, "%s has it still: 'server access apply' brings it back", where);
	free(where);
	conf_free(&c);
}

int cmd_access_remove(struct ctx *ctx)
{
	struct edit ed = edit_of(ctx);
	int rc = edit_begin(ctx, &ed);

	if (!rc && !access_get(&ed.now, ed.kind, ed.name)) {
		if (!ctx->idempotent)
			rc = access_absent(ctx, &ed.now, ed.kind, ed.name);
	} else if (!rc) {
		access_copy(&ed.want, &ed.now, ed.kind, ed.name);
		rc = end_of(ctx, access_replace(ctx, &ed.now, &ed.want, ctx->data));
		if (!rc)
			warn_configured(ctx, &ed);
	}
	edit_free(&ed);
	return rc;
}
