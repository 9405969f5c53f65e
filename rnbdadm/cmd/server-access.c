// SPDX-License-Identifier: GPL-2.0
/* server access; server export and server peer add, remove: what the list says and would say, and another list */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/commands.h"
#include "config/access-list.h"
#include "config/save-map.h"
#include "output/to-json.h"
#include "task/dry-run.h"

/* "3/9" */
static char *use_text(const json_t *o, const char *used, const char *most)
{
	const json_t *n = json_object_get(o, used), *limit = json_object_get(o, most);
	struct strbuf b = { 0 };

	strbuf_printf(&b, json_is_integer(n) ? "%lld" : "-", (long long)json_integer_value(n));
	if (json_is_integer(limit))
		strbuf_printf(&b, "/%lld", (long long)json_integer_value(limit));
	return b.s;
}

static char *col_sessions(const json_t *o, const struct out_opts *opts)
{
	return use_text(o, "sessions", "max_sessions");
}

static char *col_devices(const json_t *o, const struct out_opts *opts)
{
	return use_text(o, "devices", "max_devices");
}

static char *col_allow(const json_t *o, const struct out_opts *opts)
{
	struct strlist l = { 0 };
	json_t *grant;
	size_t i;
	char *text, *shown;

	json_array_foreach(json_object_get(o, "allow"), i, grant)
		strlist_addf(&l, "%s:%s", json_string_value(json_object_get(grant, "peer")),
			     json_string_value(json_object_get(grant, "access")));
	text = strlist_join(&l, " ");
	shown = printable(l.n ? text : "-");
	free(text);
	strlist_free(&l);
	return shown;
}

static const struct field fields[] = {
	{ "name", NULL, F_STR, false, "its name" },
	{ "auth", NULL, F_STR, false, "how a peer is recognised" },
	{ "session_patterns", NULL, F_LIST, false, "names that its sessions may have" },
	{ "from", NULL, F_LIST, false, "where it may come from" },
	{ "sessions", NULL, F_COUNT, false, "sessions that it has" },
	{ "devices", NULL, F_COUNT, false, "devices that it has open" },
	{ "pinned_bytes", NULL, F_BYTES, false, "memory of its sessions" },
	{ "path", NULL, F_STR, false, "device, file or directory of this host" },
	{ "io_mode", NULL, F_STR, false, "blockio or fileio" },
	{ "openings", NULL, F_COUNT, false, "how often it is open" },
	{ "allow", NULL, F_JSON, false, "peers that may open it" },
	{ 0 }
};

static const struct column peer_columns[] = {
	{ .title = "PEER", .field = "name" },
	{ .title = "AUTH", .field = "auth" },
	{ .title = "SESSIONS", .field = "sessions", .text = col_sessions },
	{ .title = "DEVICES", .field = "devices", .right = true, .text = col_devices },
	{ .title = "MEMORY", .field = "pinned_bytes", .right = true },
	{ .title = "NAMES", .field = "session_patterns" },
	{ .title = "FROM", .field = "from" },
	{ 0 }
};

static const struct column export_columns[] = {
	{ .title = "EXPORT", .field = "name" },
	{ .title = "PATH", .field = "path" },
	{ .title = "MODE", .field = "io_mode" },
	{ .title = "OPEN", .field = "openings", .right = true },
	{ .title = "ALLOW", .field = "allow", .text = col_allow },
	{ 0 }
};

static const struct view views[ACCESS_KINDS] = {
	[ACCESS_PEER] = { .name = "peer", .key = "peers", .fields = fields, .columns = peer_columns },
	[ACCESS_EXPORT] = { .name = "listed", .key = "exports", .fields = fields, .columns = export_columns },
};

static json_t *js_value(enum access_key k, const struct access_value *v)
{
	const char *access = access_name(v->n);
	char *text = access_value_text(k, v);
	json_t *o = k == AK_ALLOW ? json_object() : js_str(text);

	if (k == AK_ALLOW) {
		js_set_str(o, "peer", v->word);
		js_set(o, "access", json_string(access ? access : "unknown"));
	}
	free(text);
	return o;
}

static json_t *js_item(enum access_kind kind, const struct access_item *x)
{
	json_t *o = json_object();

	js_set_str(o, "name", x->name);
	if (kind == ACCESS_PEER)
		js_set(o, "auth", json_string("none"));
	for (int k = 0; k < AK_N; k++) {
		const struct access_values *all = &x->of[k];
		json_t *list = access_keys[k].many ? json_array() : NULL;

		for (size_t i = 0; list && i < all->n; i++)
			json_array_append_new(list, js_value(k, &all->v[i]));
		if (access_kind_of(k) != kind)
			json_decref(list);
		else if (k == AK_PATH)
			js_set_str(o, access_keys[k].json, all->n ? all->v[0].word : "");
		else
			js_set(o, access_keys[k].json, list ? list : k == AK_IO_MODE ? js_value(k, all->v) :
			       js_u64(access_number(x, k)));
	}
	return o;
}

static void print_head(const json_t *says)
{
	uint64_t loaded = access_uint(says, "loaded-ns"), uid = access_uint(says, "uid");
	char *when = loaded == M_UNKNOWN || !loaded ? NULL : time_text(loaded);
	const struct passwd *who = uid == M_UNKNOWN ? NULL : getpwuid((uid_t)uid);

	printf("state %s", access_word(AW_STATE, access_uint(says, "state")));
	if (json_object_get(says, "number"))
		printf("  number %" PRIu64, access_uint(says, "number"));
	if (when)
		printf("  loaded %s", when);
	if (when && who)
		printf(" by %s", who->pw_name);
	else if (when && uid != M_UNKNOWN)
		printf(" by user %" PRIu64, uid);
	if (json_object_get(says, "denied-total"))
		printf("  denied %" PRIu64, access_uint(says, "denied-total"));
	putchar('\n');
	free(when);
}

int cmd_access_show(struct ctx *ctx)
{
	const char *only = ctx->args.nargs ? ctx->args.args[0] : NULL;
	bool text = ctx->out.fmt == OUT_TEXT;
	struct access_list l;
	int rc = access_load(ctx, &l);

	if (!rc && only && !access_get(&l, ACCESS_PEER, only) && !access_get(&l, ACCESS_EXPORT, only))
		rc = access_absent(ctx, &l, ACCESS_KINDS, only);
	if (!rc) {
		js_set(ctx->data, "state", json_string(access_word(AW_STATE, access_state(&l))));
		js_set(ctx->data, "number", js_u64(access_uint(l.says, "number")));
		js_set(ctx->data, "loaded", js_time(access_uint(l.says, "loaded-ns")));
		js_set(ctx->data, "loaded_by_uid", js_u64(access_uint(l.says, "uid")));
		js_set(ctx->data, "denied_total", js_u64(access_uint(l.says, "denied-total")));
	}
	if (!rc && text)
		print_head(l.says);
	for (int kind = 0; !rc && kind < ACCESS_KINDS; kind++) {
		json_t *list = json_array();

		for (size_t i = 0; i < l.of[kind].n; i++)
			if (!only || !strcmp(only, l.of[kind].v[i].name))
				json_array_append_new(list, js_item(kind, &l.of[kind].v[i]));
		if (text && json_array_size(list))
			table_print(&views[kind], list, NULL, &ctx->out);
		js_set(ctx->data, views[kind].key, list);
	}
	access_free(&l);
	return rc;
}

int cmd_access_diff(struct ctx *ctx)
{
	struct conf c = { .lenient = args_has(&ctx->args, OPT_LENIENT) };
	struct access_list now = { 0 };
	int rc = access_conf(ctx, &c);
	size_t n;

	if (!rc)
		rc = access_load(ctx, &now);
	if (!rc) {
		n = access_diff(&now, &c.access, ctx->data);
		if (ctx->out.fmt == OUT_TEXT)
			access_print_changes(ctx->data);
		if (n)
			rc = fail_set(&ctx->fail, XC_DIFFERS, "%zu change%s", n, n == 1 ? "" : "s");
	}
	access_free(&now);
	conf_free(&c);
	return rc;
}

/* The place of the configuration that decides, to be freed; NULL where there is none. */
static char *find_source(struct ctx *ctx, const json_t *answer)
{
	const char *peer = access_str(answer, "peer-name"), *export = access_str(answer, "export-name");
	struct conf c = { .lenient = true };
	const struct access_value *best = NULL;
	const struct access_item *x;
	char *where = NULL;

	/* it only adds to the answer */
	if (conf_read(ctx, NULL, &c))
		fail_clear(&ctx->fail);
	x = *peer && !c.errors ? access_get(&c.access, ACCESS_EXPORT, export) : NULL;
	for (size_t i = 0; x && i < x->of[AK_ALLOW].n; i++) {
		const struct access_value *v = &x->of[AK_ALLOW].v[i];

		if ((!strcmp(v->word, "*") || !strcmp(v->word, peer)) && (!best || v->n > best->n))
			best = v;
	}
	if (x)
		where = conf_place_text(best ? best->at : x->at);
	conf_free(&c);
	return where;
}

/* What the kernel is asked; an exit code. */
static int parse_question(struct ctx *ctx, json_t *q)
{
	const struct parsed *a = &ctx->args;
	const char *peer = args_value(a, OPT_PEER), *session = args_value(a, OPT_TEST_SESSION);
	const char *from = args_value(a, OPT_FROM_ADDR), *mode = args_value(a, OPT_ACCESS);
	struct addr addr = { 0 };
	uint64_t n = 0;
	char *msg;

	if (peer ? session || from : !session || !from)
		return fail_set(&ctx->fail, XC_USAGE, "needs either --peer, or --session and --from");
	msg = from ? addr_literal(from, &addr) : NULL;
	if (msg)
		fail_set(&ctx->fail, XC_USAGE, "--from: %s", msg);
	else if (from && addr.family == ADDR_NONE)
		fail_set(&ctx->fail, XC_USAGE, "--from: '%s' is no address", from);
	free(msg);
	access_parse(mode ? mode : "rw", &n);
	json_object_set_new_nocheck(q, peer ? "peer-name" : "session-name", json_string_nocheck(peer ? peer : session));
	if (from)
		json_object_set_new_nocheck(q, "client-addr", json_string_nocheck(from));
	json_object_set_new_nocheck(q, "device-path", json_string_nocheck(a->args[0]));
	json_object_set_new(q, "access-mode", json_integer((json_int_t)n));
	return ctx->fail.code;
}

int cmd_access_test_check(struct ctx *ctx)
{
	json_t *q = json_object();
	int rc = parse_question(ctx, q);

	json_decref(q);
	return rc;
}

/* What decides. */
static char *says(const json_t *q, const json_t *a)
{
	const char *granted = access_name(access_uint(a, "granted-mode")), *peer = access_str(a, "peer-name");
	const char *export = access_str(a, "export-name");

	if (access_uint(a, "reason") == ACCESS_REASON_CLOSED)
		return xstrdup("the server is closed");
	if (granted)
		return xasprintf("%s has %s", peer, granted);
	if (access_uint(a, "allowed") == 1)
		return xstrdup("the server is open");
	if (!*peer)
		return xstrdup("no peer takes this session from there");
	return *export ? xasprintf("%s allows %s nothing", export, peer) :
			 xasprintf("there is no export %s", access_str(q, "device-path"));
}

static int tell_answer(struct ctx *ctx, const json_t *q, const json_t *a)
{
	char *why = says(q, a), *where = find_source(ctx, a);
	bool allowed = access_uint(a, "allowed") == 1, less = access_uint(a, "reason") == ACCESS_REASON_MODE;
	const char *mode = access_name(access_uint(q, "access-mode")), *export = access_str(a, "export-name");
	const char *reason = access_word(AW_REASON, access_uint(a, "reason"));

	if (ctx->out.fmt == OUT_TEXT)
		tell_line(stdout, "%s: %s%s%s%s%s%s", allowed ? "yes" : "no", why, where ? " (" : "", where ? where : "",
			  where ? ")" : "", less ? ", asked for is " : "", less ? mode : "");
	free(why);
	js_set(ctx->data, "allowed", json_boolean(allowed));
	js_set(ctx->data, "reason", allowed ? json_null() : json_string(reason));
	js_set(ctx->data, "peer", js_str_or_null(access_str(a, "peer-name")));
	js_set_str(ctx->data, "export", *export ? export : access_str(q, "device-path"));
	js_set(ctx->data, "path", js_str_or_null(access_str(a, "path")));
	js_set(ctx->data, "access", json_string(mode));
	js_set(ctx->data, "granted", js_str_or_null(access_name(access_uint(a, "granted-mode"))));
	js_set(ctx->data, "source", js_str_or_null(where));
	free(where);
	return allowed ? XC_OK : fail_set(&ctx->fail, XC_DIFFERS, "denied: %s", reason);
}

int cmd_access_test(struct ctx *ctx)
{
	struct access_list q = { .says = json_object() }, a = { 0 }, l = { 0 };
	struct kernel *kernel = ctx_kernel(ctx);
	const char *peer = args_value(&ctx->args, OPT_PEER);
	struct nl_error e;

	parse_question(ctx, q.says);
	if (kernel && kernel->ops->access(kernel, ACCESS_TEST, &q, &a, &e)) {
		tell_answer(ctx, q.says, a.says);
	} else if (kernel) {
		fail_nl(&ctx->fail, &e, "server");
		if (e.err == ENOENT && peer && !access_load(ctx, &l))
			access_absent(ctx, &l, ACCESS_PEER, peer);
	}
	access_free(&q);
	access_free(&a);
	access_free(&l);
	return ctx->fail.code;
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

/* The list that is loaded, and the one that is wanted. */
struct edit {
	enum access_kind kind;		/* of one peer or export more or less */
	const char *name;
	struct conf c;			/* the configuration, or the section that the options make */
	struct access_list now, want;
	char *saved;			/* what --save adds to, NULL: not asked for */
};

static void edit_free(struct edit *ed)
{
	access_free(&ed->now);
	access_free(&ed->want);
	conf_free(&ed->c);
	free(ed->saved);
}

static int edit_begin(struct ctx *ctx, struct edit *ed)
{
	return ctx_lock(ctx) ? access_load(ctx, &ed->now) : (int)ctx->fail.code;
}

/* apply, close, open */
int cmd_access_set(struct ctx *ctx)
{
	const char *verb = ctx->args.cmd->verb;
	struct edit ed = { .c.lenient = args_has(&ctx->args, OPT_LENIENT) };
	bool apply = !strcmp(verb, "apply");
	int rc = apply ? access_conf(ctx, &ed.c) : XC_OK;

	ed.want = access_empty(!strcmp(verb, "open") ? ACCESS_OPEN : ACCESS_CLOSED);
	if (!rc)
		rc = edit_begin(ctx, &ed);
	if (!rc)
		rc = access_replace(ctx, &ed.now, apply ? &ed.c.access : &ed.want, ctx->data);
	edit_free(&ed);
	return end_of(ctx, rc);
}

static struct edit edit_of(const struct ctx *ctx)
{
	bool peer = !strcmp(ctx->args.cmd->object, "server peer");

	return (struct edit){ .kind = peer ? ACCESS_PEER : ACCESS_EXPORT, .name = ctx->args.args[0] };
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

	fail_object(&ctx->fail, conf_kind_name(CONF_OF(ed->kind)), ed->name);
	rc = edit_begin(ctx, ed);
	if (rc || access_state(&ed->now) != ACCESS_OPEN)
		return rc;
	fail_hint(&ctx->fail, "'rnbdadm server access apply' loads the list of the configuration; 'rnbdadm server "
		  "access close' begins with an empty one");
	return fail_set(&ctx->fail, XC_CONFLICT, "the server is open and has no list");
}

/* What the options make */
static const struct access_item *edit_item(const struct edit *ed)
{
	return ed->c.access.of[ed->kind].v;
}

/* Before anything changes: the configuration can take the section. */
static int save_check(struct ctx *ctx, struct edit *ed)
{
	const struct conf_section *s;
	struct conf c = { 0 };
	const struct access_value *stranger = NULL;
	char *where = NULL;
	int rc;

	if (!args_has(&ctx->args, OPT_SAVE_ACCESS))
		return XC_OK;
	rc = conf_load(ctx, NULL, &c);
	if (!rc)
		rc = saved_read(ctx, &ed->saved);
	if (!rc) {
		s = conf_find(&c, CONF_OF(ed->kind), ed->name);
		where = s ? conf_place_text(&s->at) : NULL;
		stranger = access_stranger(&c.access, &edit_item(ed)->of[AK_ALLOW]);
	}
	if (where)
		rc = fail_set(&ctx->fail, XC_CONFLICT, "the configuration has it already (%s)", where);
	else if (stranger)
		rc = fail_set(&ctx->fail, XC_CONFLICT, "--save: the configuration has no [peer %s]", stranger->word);
	free(where);
	conf_free(&c);
	return rc;
}

/* The list with @new, or without what has the name; exports forget a peer that goes. */
static void edit_want(struct edit *ed, const struct access_item *new)
{
	ed->want = access_empty(ACCESS_LISTED);
	for (int kind = 0; kind < ACCESS_KINDS; kind++) {
		for (size_t i = 0; i < ed->now.of[kind].n; i++) {
			const struct access_item *x = &ed->now.of[kind].v[i];

			if (new || kind != (int)ed->kind || strcmp(x->name, ed->name))
				access_copy(&ed->want, kind, x, !new && ed->kind == ACCESS_PEER ? ed->name : NULL);
		}
	}
	if (new && !access_get(&ed->now, ed->kind, ed->name))
		access_copy(&ed->want, ed->kind, new, NULL);
	access_sort(&ed->want);
}

/* What is there already is added only where it is the same, which changes nothing. */
static int edit_add(struct ctx *ctx, struct edit *ed)
{
	const struct access_item *old = access_get(&ed->now, ed->kind, ed->name);
	bool same = old && access_same(old, edit_item(ed), AK_N);

	edit_want(ed, edit_item(ed));
	if (!old || (same && ctx->idempotent))
		return XC_OK;
	fail_hint(&ctx->fail, "rnbdadm server %s remove, or change the configuration and 'server access apply'",
		  conf_kind_name(CONF_OF(ed->kind)));
	return fail_set(&ctx->fail, XC_CONFLICT, "the list has it already%s", same ? "" : ", and otherwise");
}

/* It may come later, as those of a configuration may. */
static void warn_absent(struct ctx *ctx, const struct access_item *x)
{
	const char *is = x->of[AK_PATH].n ? x->of[AK_PATH].v[0].word : "", *name = x->name;
	char *path = xasprintf("%s%s", ctx->test_root, is), *each = strstr(path, "%SESSNAME%");
	struct stat st;
	int err;

	if (each)
		*each = '\0';
	err = stat(path, &st) ? errno : 0;
	if (*is && err && err != EACCES)
		warn(ctx, "%s is not there (%s): nobody can open export '%s' until it is", is, errno_name(err), name);
	else if (*is && !err && !each && !S_ISBLK(st.st_mode) && !S_ISREG(st.st_mode) && !access_is_directory(name))
		warn(ctx, "%s is neither a block device nor a file: nobody can open export '%s'", is, name);
	free(path);
}

int cmd_access_add(struct ctx *ctx)
{
	struct edit ed;
	int rc = edit_options(ctx, &ed);
	const struct access_value *stranger = NULL;

	if (!rc)
		rc = edit_list(ctx, &ed);
	if (!rc)
		rc = save_check(ctx, &ed);
	if (!rc)
		rc = edit_add(ctx, &ed);
	if (!rc)
		rc = access_replace(ctx, &ed.now, &ed.want, ctx->data);
	/* the kernel refuses a list that allows somebody who is no peer: it is told who */
	if (rc == XC_FAILED)
		stranger = access_stranger(&ed.want, &edit_item(&ed)->of[AK_ALLOW]);
	if (stranger)
		rc = access_absent(ctx, &ed.want, ACCESS_PEER, stranger->word);
	if (!rc)
		warn_absent(ctx, edit_item(&ed));
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
		edit_want(&ed, NULL);
		rc = end_of(ctx, access_replace(ctx, &ed.now, &ed.want, ctx->data));
		if (!rc)
			warn_configured(ctx, &ed);
	}
	edit_free(&ed);
	return rc;
}
