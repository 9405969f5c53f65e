// SPDX-License-Identifier: GPL-2.0
/* server access apply, close, open; server export and server peer add, remove: another access list */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/commands.h"
#include "config/access-list.h"
#include "config/save-map.h"
#include "output/to-json.h"
#include "task/dry-run.h"

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

/* The list that is loaded, and the one that is wanted. */
struct edit {
	enum access_kind kind;		/* of one peer or export more or less */
	const char *object, *name;
	struct conf c;			/* the configuration, or the section that the options make */
	struct access_list one, now, want;
	char *saved;			/* what --save adds to, NULL: not asked for */
};

static void edit_free(struct edit *ed)
{
	access_free(&ed->one);
	access_free(&ed->now);
	access_free(&ed->want);
	conf_free(&ed->c);
	free(ed->saved);
}

static int edit_begin(struct ctx *ctx, struct edit *ed)
{
	return ctx_lock(ctx) ? access_load(ctx, &ed->now) : (int)ctx->fail.code;
}

/* Frees @ed; @rc: of what made the list that is wanted. */
static int replace(struct ctx *ctx, int rc, struct edit *ed)
{
	if (!rc)
		rc = edit_begin(ctx, ed);
	if (!rc)
		rc = access_replace(ctx, &ed->now, &ed->want, ctx->data);
	edit_free(ed);
	return end_of(ctx, rc);
}

int cmd_access_apply(struct ctx *ctx)
{
	struct edit ed = { .c.lenient = args_has(&ctx->args, OPT_LENIENT) };

	return replace(ctx, access_conf(ctx, &ed.c, &ed.want), &ed);
}

/* close, open */
int cmd_access_set(struct ctx *ctx)
{
	bool open = !strcmp(ctx->args.cmd->verb, "open");

	return replace(ctx, XC_OK, &(struct edit){ .want.state = open ? ACCESS_OPEN : ACCESS_CLOSED });
}

static struct edit edit_of(const struct ctx *ctx)
{
	const char *object = strchr(ctx->args.cmd->object, ' ') + 1;

	return (struct edit){ .kind = strcmp(object, "peer") ? ACCESS_EXPORT : ACCESS_PEER, .object = object,
			      .name = ctx->args.args[0], .want.state = ACCESS_LISTED };
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
	conf_access_read(&ed->c);
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

/* To change one of the list there must be a list. */
static int edit_list(struct ctx *ctx, struct edit *ed)
{
	int rc;

	fail_object(&ctx->fail, ed->object, ed->name);
	rc = edit_begin(ctx, ed);
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
	bool same = old && access_same(old, ed->one.of[ed->kind].v, AK_N);

	access_copy(&ed->want, &ed->now, ed->kind, NULL);
	if (!old)
		access_copy(&ed->want, &ed->one, ed->kind, NULL);
	if (!old || (same && ctx->idempotent))
		return XC_OK;
	fail_hint(&ctx->fail, "rnbdadm server %s remove, or change the configuration and 'server access apply'",
		  ed->object);
	return fail_set(&ctx->fail, XC_CONFLICT, "the list has it already%s", same ? "" : ", and otherwise");
}

/* The kernel refuses a list that allows somebody who is no peer: it is told who. */
static int name_unknown(struct ctx *ctx, const struct edit *ed)
{
	const struct access_values *allow = &ed->one.of[ed->kind].v[0].of[AK_ALLOW];

	for (size_t i = 0; i < allow->n; i++)
		if (strcmp(allow->v[i].word, "*") && !access_get(&ed->want, ACCESS_PEER, allow->v[i].word))
			return access_absent(ctx, &ed->want, ACCESS_PEER, allow->v[i].word);
	return ctx->fail.code;
}

/* It may come later, as those of a configuration may. */
static void warn_absent(struct ctx *ctx, const struct access_item *x)
{
	const char *is = x->of[AK_PATH].n ? x->of[AK_PATH].v[0].word : "";
	char *path = xasprintf("%s%s", ctx->test_root, is), *each = strstr(path, "%SESSNAME%");
	struct stat st;
	int err;

	if (each)
		*each = '\0';
	err = stat(path, &st) ? errno : 0;
	if (*is && err && err != EACCES)
		warn(ctx, "%s is not there (%s): nobody can open export '%s' until it is", is, errno_name(err), x->name);
	else if (*is && !err && !each && !S_ISBLK(st.st_mode) && !S_ISREG(st.st_mode) && !access_is_directory(x->name))
		warn(ctx, "%s is neither a block device nor a file: nobody can open export '%s'", is, x->name);
	free(path);
}

int cmd_access_add(struct ctx *ctx)
{
	struct edit ed;
	int rc = edit_options(ctx, &ed);

	if (!rc)
		rc = edit_list(ctx, &ed);
	if (!rc)
		rc = save_check(ctx, &ed);
	if (!rc)
		rc = edit_add(ctx, &ed);
	if (!rc)
		rc = access_replace(ctx, &ed.now, &ed.want, ctx->data);
	if (rc == XC_FAILED)
		rc = name_unknown(ctx, &ed);
	if (!rc)
		warn_absent(ctx, ed.one.of[ed.kind].v);
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
	int rc = edit_list(ctx, &ed);

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
