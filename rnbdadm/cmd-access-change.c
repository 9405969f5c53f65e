// SPDX-License-Identifier: GPL-2.0
/* server access apply, close, open; server export and server peer add, remove: another access list */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd-access.h"
#include "cmd.h"
#include "map-keep.h"
#include "objects.h"
#include "plan-line.h"
#include "select.h"
#include "size.h"
#include "use.h"

/* From one list to another; both live as long. */
struct change {
	struct access_list *from, *to;
	const struct conf *c;		/* where @to is from, or NULL */
	json_t *ended;
	uint32_t openings, paths;
};

int access_conf(struct ctx *ctx, struct conf *c)
{
	struct access_list l;
	int rc = conf_load(ctx, ctx->args.nargs ? ctx->args.args[0] : NULL, c);

	if (rc)
		return rc;
	if (!conf_access(c, &l)) {
		fail_hint(&ctx->fail, "write some, see rnbdadm-access(8); 'rnbdadm server access open' lets "
			  "everybody in");
		rc = fail_set(&ctx->fail, XC_NOT_FOUND, "the configuration has neither [peer] nor [export]");
	}
	access_free(&l);
	return rc;
}

/* Why the new list does not have the opening, to be freed. */
static char *why_closed(const struct change *ch, const struct export *x)
{
	const struct access_export *e = access_find(ch->to, x->device_path);

	if (ch->to->state == ACCESS_CLOSED)
		return xstrdup("the server is to be closed");
	if (*x->peer && !access_peer(ch->to, x->peer))
		return xasprintf("there is no peer %s any more", x->peer);
	if (!e)
		return xasprintf("there is no export %s", x->device_path);
	return *x->peer ? xasprintf("the export no longer allows %s that", x->peer) :
			  xstrdup("the list does not let it in");
}

static void add_ended(struct change *ch, const char *object, uint32_t id, const char *session, char *name,
		      char *why)
{
	json_t *o = json_object();

	js_set(o, "object", json_string(object));
	js_set(o, "id", json_integer(id));
	js_set_str(o, "session", session);
	js_set_str(o, "name", name);
	js_set(o, "reason", js_str(why));
	json_array_append_new(ch->ended, o);
	free(name);
	free(why);
}

static void name_export(struct ctx *ctx, struct change *ch, const struct snapshot *s, uint32_t id)
{
	for (size_t i = 0; i < s->exports.n; i++) {
		const struct export *x = &s->exports.v[i];
		char *why;

		if (x->id != id)
			continue;
		why = why_closed(ch, x);
		strlist_addf(&ctx->fail.details, "%s has %s open (%s): %s", x->session, x->device_path,
			     access_name(x->access) ? access_name(x->access) : "unknown", why);
		add_ended(ch, "export", id, x->session, xstrdup(x->device_path), why);
		return;
	}
	add_ended(ch, "export", id, "", xasprintf("id:%u", id), xstrdup("it is gone already"));
}

static void name_path(struct ctx *ctx, struct change *ch, const struct snapshot *s, uint32_t id)
{
	for (size_t i = 0; i < s->paths.n; i++) {
		const struct path *p = &s->paths.v[i];
		const char *why = ch->to->state == ACCESS_CLOSED ? "the server is to be closed" :
								   "no peer of the list takes it";

		if (p->id != id)
			continue;
		strlist_addf(&ctx->fail.details, "%s %s: %s", p->session, p->name, why);
		add_ended(ch, "path", id, p->session, xstrdup(p->name), xstrdup(why));
		return;
	}
	add_ended(ch, "path", id, "", xasprintf("id:%u", id), xstrdup("it is gone already"));
}

/* What the kernel says it would end, by its names: lines of the failure, and of the document. */
static int name_ended(struct ctx *ctx, struct change *ch, const struct access_ended *end)
{
	struct snapshot s = { 0 };

	ch->openings = end->exports;
	ch->paths = end->paths;
	if (!end->exports && !end->paths)
		return XC_OK;
	if (!ctx_snapshot(ctx, M_SERVER, NL_SESSIONS | NL_PATHS | NL_EXPORTS_OPT, &s))
		return ctx->fail.code;
	for (size_t i = 0; i < end->nexport_ids; i++)
		name_export(ctx, ch, &s, end->export_ids[i]);
	for (size_t i = 0; i < end->npath_ids; i++)
		name_path(ctx, ch, &s, end->path_ids[i]);
	if (end->exports + end->paths > end->nexport_ids + end->npath_ids)
		strlist_addf(&ctx->fail.details, "and %zu more",
			     end->exports + end->paths - end->nexport_ids - end->npath_ids);
	snapshot_free(&s);
	return XC_OK;
}

/* "1 opening and 2 paths" */
static char *count_text(const struct change *ch)
{
	char *a = ch->openings ? xasprintf("%u opening%s", ch->openings, ch->openings == 1 ? "" : "s") : NULL;
	char *b = ch->paths ? xasprintf("%u path%s", ch->paths, ch->paths == 1 ? "" : "s") : NULL;
	char *text = xasprintf("%s%s%s", a ? a : "", a && b ? " and " : "", b ? b : "");

	free(a);
	free(b);
	return text;
}

static bool may_not_ask(const struct nl_error *e)
{
	return e->kind == NL_FAIL_KERNEL && (e->err == EPERM || e->err == EACCES);
}

/* What it would end, which the kernel tells; without a privilege nobody knows. */
static int look_ahead(struct ctx *ctx, struct change *ch, struct access_request *req)
{
	struct access_ended end;
	struct nl_error e;
	int rc = XC_OK;

	req->dry_run = true;
	if (rnl_access_set(ctx->nl, req, &end, &e))
		rc = name_ended(ctx, ch, &end);
	else if (ctx->dry_run && may_not_ask(&e))
		warn(ctx, "what this would end is not known: the kernel tells it to root alone");
	else
		rc = fail_nl(&ctx->fail, &e, "server");
	req->dry_run = false;
	return rc;
}

/* Class C: what is in use goes with --force alone. Opening lets everybody in, so it is refused as well. */
static int may_end(struct ctx *ctx, const struct change *ch)
{
	bool open = ch->to->state == ACCESS_OPEN;
	char *count = count_text(ch), *what, *question;
	int rc = XC_OK;

	if (!open && !ch->openings && !ch->paths) {
		free(count);
		return XC_OK;
	}
	what = open ? xstrdup("everybody could map what is below dev_search_path") :
	       xasprintf("%s would end", count);
	if (!ctx->force) {
		fail_hint(&ctx->fail, open ? "--force does it" :
			  "--force ends them; 'server access diff' shows the whole change");
		rc = fail_set(&ctx->fail, XC_BUSY, "refused, %s", what);
	} else {
		strlist_free(&ctx->fail.details);
		question = open ? xstrdup("Let everybody in") : xasprintf("End %s", count);
		rc = use_confirm(ctx, question);
		free(question);
	}
	free(what);
	free(count);
	return rc;
}

/* The same command again. */
static void print_plan(struct ctx *ctx)
{
	const struct parsed *a = &ctx->args;
	struct strlist w = { 0 };
	char *copy = xstrdup(a->cmd->object), *rest = copy, *word;

	while ((word = strsep(&rest, " ")))
		strlist_add(&w, word);
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
	free(copy);
}

static int fail_change(struct ctx *ctx, const struct nl_error *e)
{
	int rc = fail_nl(&ctx->fail, e, "server");

	if (e->kind != NL_FAIL_KERNEL || e->err != EAGAIN)
		return rc;
	fail_hint(&ctx->fail, "try again");
	return fail_set(&ctx->fail, XC_CONFLICT, "another one has changed the list meanwhile");
}

static int send_change(struct ctx *ctx, struct change *ch, json_t *doc)
{
	struct access_request req = {
		.state = ch->to->state, .list = ch->to, .expect = ch->from->number, .force = ctx->force,
	};
	struct access_ended end;
	struct nl_error e;
	int rc = look_ahead(ctx, ch, &req);

	if (!rc)
		rc = may_end(ctx, ch);
	if (rc || ctx->dry_run)
		return rc;
	if (!rnl_access_set(ctx->nl, &req, &end, &e))
		return fail_change(ctx, &e);
	if (*e.warning)
		warn(ctx, "%s", e.warning);
	js_set(doc, "changed", json_true());
	js_set(doc, "number", js_u64(end.number));
	if (ch->openings || ch->paths) {
		char *count = count_text(ch);

		say(ctx, "%s ended", count);
		free(count);
	}
	return rc;
}

/* Nothing is sent where nothing changes. */
static int change(struct ctx *ctx, struct change *ch, json_t *doc)
{
	json_t *changes = access_changes(ch->from, ch->to, ch->c);
	int rc = XC_OK;

	ch->ended = json_array();
	js_set(doc, "state", json_string(access_state_name(ch->to->state)));
	js_set(doc, "number", js_u64(ch->from->number));
	js_set(doc, "changes", changes);
	if (json_array_size(changes))
		rc = send_change(ctx, ch, doc);
	else
		say(ctx, "nothing to change");
	js_set(doc, "ended", ch->ended);
	return rc;
}

int access_apply(struct ctx *ctx, struct access_list *now, const struct conf *c, json_t *doc)
{
	struct access_list want;
	struct change ch = { .from = now, .to = &want, .c = c };
	int rc;

	conf_access(c, &want);
	rc = change(ctx, &ch, doc);
	access_free(&want);
	return rc;
}

static int end_of(struct ctx *ctx, int rc)
{
	if (!rc && ctx->dry_run)
		print_plan(ctx);
	return rc;
}

int cmd_access_apply(struct ctx *ctx)
{
	struct conf c = { .lenient = args_has(&ctx->args, OPT_LENIENT) };
	struct access_list now = { 0 };
	int rc = access_conf(ctx, &c);

	if (!rc && !ctx_lock(ctx))
		rc = ctx->fail.code;
	if (!rc)
		rc = access_read(ctx, &now);
	if (!rc)
		rc = access_apply(ctx, &now, &c, ctx->data);
	access_free(&now);
	conf_free(&c);
	return end_of(ctx, rc);
}

static int set_state(struct ctx *ctx, enum access_state state)
{
	struct access_list now, want = { .state = state };
	struct change ch = { .from = &now, .to = &want };
	int rc;

	if (!ctx_lock(ctx))
		return ctx->fail.code;
	rc = access_read(ctx, &now);
	/* the list goes with it */
	if (!rc)
		rc = change(ctx, &ch, ctx->data);
	access_free(&now);
	return end_of(ctx, rc);
}

int cmd_access_close(struct ctx *ctx)
{
	return set_state(ctx, ACCESS_CLOSED);
}

int cmd_access_open(struct ctx *ctx)
{
	return set_state(ctx, ACCESS_OPEN);
}

/* One peer or export more or less. */
struct edit {
	struct access_list now, want;
	struct conf c, named;		/* its section, and the configuration that --save adds to */
	char *saved;
	enum conf_kind kind;
	const char *name;
};

static int edit_begin(struct ctx *ctx, struct edit *ed)
{
	int rc;

	fail_object(&ctx->fail, conf_kind_name(ed->kind), ed->name);
	if (!ctx_lock(ctx))
		return ctx->fail.code;
	rc = access_read(ctx, &ed->now);
	access_copy(&ed->want, &ed->now);
	ed->want.state = ACCESS_LISTED;
	if (rc || ed->now.state != ACCESS_OPEN)
		return rc;
	fail_hint(&ctx->fail, "'rnbdadm server access apply' loads the list of the configuration; 'rnbdadm server "
		  "access close' begins with an empty one");
	return fail_set(&ctx->fail, XC_CONFLICT, "the server is open and has no list");
}

static void edit_free(struct edit *ed)
{
	access_free(&ed->now);
	access_free(&ed->want);
	conf_free(&ed->c);
	conf_free(&ed->named);
	free(ed->saved);
}

/* Before anything changes: the configuration takes the section, and knows whom it speaks of. */
static int save_check(struct ctx *ctx, struct edit *ed)
{
	const struct conf_section *s;
	char *where;
	int rc;

	if (!args_has(&ctx->args, OPT_SAVE_ACCESS))
		return XC_OK;
	rc = conf_load(ctx, NULL, &ed->named);
	if (!rc)
		rc = saved_read(ctx, &ed->saved);
	s = rc ? NULL : conf_find(&ed->named, ed->kind, ed->name);
	if (s) {
		where = conf_place_text(&s->at);
		rc = fail_set(&ctx->fail, XC_CONFLICT, "the configuration has it already (%s)", where);
		free(where);
	}
	for (size_t i = 0; !rc && ed->kind == CONF_EXPORT && i < ed->c.v[0].nentries; i++) {
		struct access_list l = { 0 };
		struct access_export *x = access_add_export(&l, "");

		free(access_allow_parse(ed->c.v[0].entries[i].v.text, x));
		for (size_t k = 0; k < x->nallow && !rc; k++)
			if (strcmp(x->allow[k].peer, "*") && !conf_find(&ed->named, CONF_PEER, x->allow[k].peer))
				rc = fail_set(&ctx->fail, XC_CONFLICT, "--save: the configuration has no [peer %s]",
					      x->allow[k].peer);
		access_free(&l);
	}
	return rc;
}

/* Is it there already? @same: as it is to be. */
static int exists(struct ctx *ctx, const struct edit *ed, bool same)
{
	if (same && ctx->idempotent)
		return XC_OK;
	fail_hint(&ctx->fail, "rnbdadm server %s remove, or change the configuration and 'server access apply'",
		  conf_kind_name(ed->kind));
	return fail_set(&ctx->fail, XC_CONFLICT, "the list has it already%s", same ? "" : ", and otherwise");
}

static int edit_end(struct ctx *ctx, struct edit *ed)
{
	struct change ch = { .from = &ed->now, .to = &ed->want };
	int rc = change(ctx, &ch, ctx->data);

	if (!rc && ed->saved && !ctx->dry_run) {
		rc = saved_append(ctx, ed->saved, &ed->c);
		if (!rc)
			js_set(ctx->data, "changed", json_true());
	}
	return end_of(ctx, rc);
}

/* The options as the section that they are, which finds what is wrong with them. */
static int edit_options(struct ctx *ctx, struct edit *ed)
{
	static const struct { enum opt_id opt; enum conf_key key; } keys[] = {
		{ OPT_AUTH, CK_AUTH }, { OPT_PATTERN, CK_PEER_SESSION }, { OPT_FROM, CK_FROM },
		{ OPT_MAX_SESSIONS, CK_MAX_SESSIONS }, { OPT_MAX_DEVICES, CK_MAX_DEVICES },
		{ OPT_MAX_MEMORY, CK_MAX_MEMORY }, { OPT_ALLOW, CK_ALLOW }, { OPT_IO_MODE, CK_IO_MODE },
	};
	static const struct conf_place nowhere;
	const struct parsed *a = &ctx->args;
	struct conf_section *s = conf_section(&ed->c, ed->kind, ed->name, &nowhere);

	if (ed->kind == CONF_EXPORT)
		conf_set(&ed->c, s, "path", a->args[0], &nowhere);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *text;

		for (size_t n = 0; (text = args_nth(a, keys[i].opt, n)); n++)
			if (conf_key_is_list(keys[i].key) || !args_nth(a, keys[i].opt, n + 1))
				conf_set(&ed->c, s, conf_key_name(keys[i].key), text, &nowhere);
	}
	if (ed->kind == CONF_PEER)
		conf_access_check(&ed->c);
	for (size_t i = 0; i < ed->c.nproblems; i++)
		if (!ed->c.problems[i].warning)
			return fail_set(&ctx->fail, XC_USAGE, "%s", ed->c.problems[i].message);
	return XC_OK;
}

/* What clients call it where nothing is said: the last part of the path. */
static const char *export_name(const struct parsed *a)
{
	const char *name = args_value(a, OPT_EXPORT_NAME), *slash = strrchr(a->args[0], '/');

	return name ? name : slash ? slash + 1 : a->args[0];
}

static int export_options(struct ctx *ctx, struct edit *ed)
{
	const struct parsed *a = &ctx->args;
	bool dir = access_is_directory(a->args[0]);
	int rc;

	if (dir && !args_has(a, OPT_EXPORT_NAME))
		return fail_set(&ctx->fail, XC_USAGE, "a directory needs --name=NAME/");
	ed->kind = CONF_EXPORT;
	ed->name = export_name(a);
	rc = edit_options(ctx, ed);
	if (!rc && dir != access_is_directory(ed->name))
		rc = fail_set(&ctx->fail, XC_USAGE, "the path and the name of a directory both end with '/'");
	if (!rc && !args_has(a, OPT_ALLOW))
		rc = fail_set(&ctx->fail, XC_USAGE, "needs --allow PEER");
	return rc;
}

static int saves_elsewhere(struct ctx *ctx)
{
	const char *env = getenv("RNBDADM_CONFIG");

	if (!args_has(&ctx->args, OPT_SAVE_ACCESS) || (!args_has(&ctx->args, OPT_CONFIG) && !(env && *env)))
		return XC_OK;
	return fail_set(&ctx->fail, XC_USAGE, "--save: goes to " SAVED_FILE ", which another configuration does "
			"not read");
}

int cmd_export_add_check(struct ctx *ctx)
{
	struct edit ed = { 0 };
	int rc = export_options(ctx, &ed);

	edit_free(&ed);
	return rc ? rc : saves_elsewhere(ctx);
}

int cmd_peer_add_check(struct ctx *ctx)
{
	struct edit ed = { .kind = CONF_PEER, .name = ctx->args.args[0] };
	int rc = edit_options(ctx, &ed);

	edit_free(&ed);
	return rc ? rc : saves_elsewhere(ctx);
}

/* Takes the only one of the list that the options make over into the list that is wanted. */
static int edit_add(struct ctx *ctx, struct edit *ed)
{
	struct access_list one;
	bool there = ed->kind == CONF_PEER ? access_peer(&ed->now, ed->name) != NULL :
					     access_export(&ed->now, ed->name) != NULL;
	int rc;

	conf_access(&ed->c, &one);
	if (there && ed->kind == CONF_PEER)
		access_remove_peer(&ed->want, access_peer(&ed->want, ed->name));
	else if (there)
		access_remove_export(&ed->want, access_export(&ed->want, ed->name));
	access_move(&ed->want, &one);
	access_free(&one);
	if (there) {
		json_t *changes = access_changes(&ed->now, &ed->want, NULL);

		rc = exists(ctx, ed, !json_array_size(changes));
		json_decref(changes);
		if (rc)
			return rc;
	}
	return edit_end(ctx, ed);
}

int cmd_export_add(struct ctx *ctx)
{
	struct edit ed = { 0 };
	int rc = export_options(ctx, &ed);

	if (!rc)
		rc = edit_begin(ctx, &ed);
	if (!rc)
		rc = save_check(ctx, &ed);
	if (!rc)
		rc = edit_add(ctx, &ed);
	edit_free(&ed);
	return rc;
}

int cmd_peer_add(struct ctx *ctx)
{
	struct edit ed = { .kind = CONF_PEER, .name = ctx->args.args[0] };
	int rc = edit_options(ctx, &ed);

	if (!rc)
		rc = edit_begin(ctx, &ed);
	if (!rc)
		rc = save_check(ctx, &ed);
	if (!rc)
		rc = edit_add(ctx, &ed);
	edit_free(&ed);
	return rc;
}

/* The next apply brings back what the configuration still has. */
static void warn_configured(struct ctx *ctx, const struct edit *ed)
{
	struct conf c = { 0 };
	const struct conf_section *s;
	char *where;

	if (conf_read(ctx, NULL, &c)) {
		/* which is somebody else's concern */
		conf_free(&c);
		fail_clear(&ctx->fail);
		return;
	}
	s = conf_find(&c, ed->kind, ed->name);
	where = s ? conf_place_text(&s->at) : NULL;
	if (where)
		warn(ctx, "%s has it still: 'server access apply' brings it back", where);
	free(where);
	conf_free(&c);
}

static int absent(struct ctx *ctx, const struct edit *ed)
{
	struct strlist known = { 0 };
	char *hint;

	if (ctx->idempotent)
		return XC_OK;
	for (size_t i = 0; i < ed->now.npeers && ed->kind == CONF_PEER; i++)
		strlist_add(&known, ed->now.peers[i].name);
	for (size_t i = 0; i < ed->now.nexports && ed->kind == CONF_EXPORT; i++)
		strlist_add(&known, ed->now.exports[i].name);
	hint = suggest(ed->name, &known);
	fail_hint(&ctx->fail, "%s", hint ? hint : "rnbdadm server access show");
	free(hint);
	strlist_free(&known);
	return fail_set(&ctx->fail, XC_NOT_FOUND, "the list has no such %s", conf_kind_name(ed->kind));
}

static void remove_grants(struct access_list *l, const char *peer)
{
	for (size_t i = 0; i < l->nexports; i++)
		access_revoke(&l->exports[i], peer);
}

static int edit_remove(struct ctx *ctx, enum conf_kind kind)
{
	struct edit ed = { .kind = kind, .name = ctx->args.args[0] };
	int rc = edit_begin(ctx, &ed);
	struct access_peer *p = kind == CONF_PEER ? access_peer(&ed.want, ed.name) : NULL;
	struct access_export *e = kind == CONF_EXPORT ? access_export(&ed.want, ed.name) : NULL;

	if (!rc && !p && !e) {
		rc = absent(ctx, &ed);
		edit_free(&ed);
		return rc;
	}
	if (!rc && p) {
		remove_grants(&ed.want, ed.name);
		access_remove_peer(&ed.want, p);
	} else if (!rc) {
		access_remove_export(&ed.want, e);
	}
	if (!rc)
		rc = edit_end(ctx, &ed);
	if (!rc)
		warn_configured(ctx, &ed);
	edit_free(&ed);
	return rc;
}

int cmd_export_remove(struct ctx *ctx)
{
	return edit_remove(ctx, CONF_EXPORT);
}

int cmd_peer_remove(struct ctx *ctx)
{
	return edit_remove(ctx, CONF_PEER);
}
