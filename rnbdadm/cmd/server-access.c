// SPDX-License-Identifier: GPL-2.0
/* server access show, diff, test: what the list says, and what it would say */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "config/access-list.h"
#include "output/columns.h"

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
	char *text = access_value_text(k, v);
	json_t *o = js_str(text);

	free(text);
	return o;
}

static json_t *js_grant(const struct access_value *v)
{
	const char *access = access_name(v->n);
	json_t *o = json_object();

	js_set_str(o, "peer", v->word);
	js_set(o, "access", json_string(access ? access : "unknown"));
	return o;
}

static void set_key(json_t *o, const struct access_item *x, enum access_key k)
{
	const struct access_values *all = &x->of[k];
	json_t *list = access_keys[k].many ? json_array() : NULL;

	for (size_t i = 0; list && i < all->n; i++)
		json_array_append_new(list, k == AK_ALLOW ? js_grant(&all->v[i]) : js_value(k, &all->v[i]));
	if (k == AK_PATH)
		js_set_str(o, access_keys[k].json, all->n ? all->v[0].word : "");
	else
		js_set(o, access_keys[k].json, list ? list : k == AK_IO_MODE ? js_value(k, all->v) :
		       js_u64(access_number(x, k)));
}

/* The items of that kind, or the one that is called @name. */
static json_t *js_items(const struct access_list *l, enum access_kind kind, const char *name)
{
	json_t *list = json_array();

	for (size_t i = 0; i < l->of[kind].n; i++) {
		const struct access_item *x = &l->of[kind].v[i];
		json_t *o;

		if (name && strcmp(name, x->name))
			continue;
		o = json_object();
		js_set_str(o, "name", x->name);
		if (kind == ACCESS_PEER)
			js_set(o, "auth", json_string("none"));
		for (int k = 0; k < AK_N; k++)
			if (access_kind_of(k) == kind)
				set_key(o, x, k);
		json_array_append_new(list, o);
	}
	return list;
}

static void print_head(const struct access_list *l)
{
	char *when = l->loaded_ns == M_UNKNOWN || !l->loaded_ns ? NULL : time_text(l->loaded_ns);
	const struct passwd *who = l->uid == M_UNKNOWN ? NULL : getpwuid((uid_t)l->uid);

	printf("state %s", access_word(AW_STATE, l->state));
	if (l->number != M_UNKNOWN)
		printf("  number %" PRIu64, l->number);
	if (when)
		printf("  loaded %s", when);
	if (when && who)
		printf(" by %s", who->pw_name);
	else if (when && l->uid != M_UNKNOWN)
		printf(" by user %" PRIu64, l->uid);
	if (l->denied != M_UNKNOWN)
		printf("  denied %" PRIu64, l->denied);
	putchar('\n');
	free(when);
}

int cmd_access_show(struct ctx *ctx)
{
	const char *name = ctx->args.nargs ? ctx->args.args[0] : NULL;
	bool text = ctx->out.fmt == OUT_TEXT;
	struct access_list l;
	int rc = access_load(ctx, &l);

	if (!rc && name && !access_get(&l, ACCESS_PEER, name) && !access_get(&l, ACCESS_EXPORT, name))
		rc = access_absent(ctx, &l, ACCESS_KINDS, name);
	if (!rc) {
		js_set(ctx->data, "state", json_string(access_word(AW_STATE, l.state)));
		js_set(ctx->data, "number", js_u64(l.number));
		js_set(ctx->data, "loaded", l.loaded_ns ? js_time(l.loaded_ns) : json_null());
		js_set(ctx->data, "loaded_by_uid", js_u64(l.uid));
		js_set(ctx->data, "denied_total", js_u64(l.denied));
	}
	if (!rc && text)
		print_head(&l);
	for (int kind = 0; !rc && kind < ACCESS_KINDS; kind++) {
		json_t *list = js_items(&l, kind, name);

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
	struct access_list now = { 0 }, want;
	int rc = access_conf(ctx, &c, &want);
	size_t n;

	if (!rc)
		rc = access_load(ctx, &now);
	if (!rc) {
		n = access_diff(&now, &want, ctx->data);
		if (ctx->out.fmt == OUT_TEXT)
			access_print_changes(ctx->data);
		if (n)
			rc = fail_set(&ctx->fail, XC_DIFFERS, "%zu change%s", n, n == 1 ? "" : "s");
	}
	access_free(&now);
	access_free(&want);
	conf_free(&c);
	return rc;
}

/* The place of the configuration that decides, to be freed; NULL where there is none. */
static char *find_source(struct ctx *ctx, const struct access_answer *a)
{
	struct conf c = { .lenient = true };
	const struct access_value *best = NULL;
	const struct access_item *x;
	char *where = NULL;

	/* it only adds to the answer */
	if (conf_read(ctx, NULL, &c))
		fail_clear(&ctx->fail);
	x = *a->peer && !c.errors ? access_get(&c.access, ACCESS_EXPORT, a->export) : NULL;
	for (size_t i = 0; x && i < x->of[AK_ALLOW].n; i++) {
		const struct access_value *v = &x->of[AK_ALLOW].v[i];

		if ((!strcmp(v->word, "*") || !strcmp(v->word, a->peer)) && (!best || v->n > best->n))
			best = v;
	}
	if (x)
		where = conf_place_text(best ? best->at : x->at);
	conf_free(&c);
	return where;
}

static int parse_question(struct ctx *ctx, struct access_question *q)
{
	const struct parsed *a = &ctx->args;
	const char *from = args_value(a, OPT_FROM_ADDR), *mode = args_value(a, OPT_ACCESS);
	char *msg;

	*q = (struct access_question){
		.peer = args_value(a, OPT_PEER), .session = args_value(a, OPT_TEST_SESSION), .export = a->args[0],
	};
	access_parse(mode ? mode : "rw", &q->mode);
	if (q->peer ? q->session || from : !q->session || !from)
		return fail_set(&ctx->fail, XC_USAGE, "needs either --peer, or --session and --from");
	msg = from ? addr_literal(from, &q->from) : NULL;
	if (msg)
		fail_set(&ctx->fail, XC_USAGE, "--from: %s", msg);
	else if (from && q->from.family == ADDR_NONE)
		fail_set(&ctx->fail, XC_USAGE, "--from: '%s' is no address", from);
	free(msg);
	return ctx->fail.code;
}

int cmd_access_test_check(struct ctx *ctx)
{
	struct access_question q;

	return parse_question(ctx, &q);
}

/* What decides. */
static char *says(const struct access_question *q, const struct access_answer *a)
{
	const char *granted = access_name(a->granted);

	if (a->reason == ACCESS_REASON_CLOSED)
		return xstrdup("the server is closed");
	if (granted)
		return xasprintf("%s has %s", a->peer, granted);
	if (a->allowed)
		return xstrdup("the server is open");
	if (!*a->peer)
		return xstrdup("no peer takes this session from there");
	return *a->export ? xasprintf("%s allows %s nothing", a->export, a->peer) :
			    xasprintf("there is no export %s", q->export);
}

static void tell_answer(struct ctx *ctx, const struct access_question *q, const struct access_answer *a)
{
	char *why = says(q, a), *where = find_source(ctx, a), *line, *text;
	bool less = a->reason == ACCESS_REASON_MODE;

	line = xasprintf("%s: %s%s%s%s%s%s", a->allowed ? "yes" : "no", why, where ? " (" : "", where ? where : "",
			 where ? ")" : "", less ? ", asked for is " : "", less ? access_name(q->mode) : "");
	text = printable(line);
	if (ctx->out.fmt == OUT_TEXT)
		puts(text);
	free(text);
	free(line);
	free(why);
	js_set(ctx->data, "allowed", json_boolean(a->allowed));
	js_set(ctx->data, "reason", a->allowed ? json_null() : json_string(access_word(AW_REASON, a->reason)));
	js_set(ctx->data, "peer", js_str_or_null(a->peer));
	js_set_str(ctx->data, "export", *a->export ? a->export : q->export);
	js_set(ctx->data, "path", js_str_or_null(a->path));
	js_set(ctx->data, "access", json_string(access_name(q->mode)));
	js_set(ctx->data, "granted", js_str_or_null(access_name(a->granted)));
	js_set(ctx->data, "source", js_str_or_null(where));
	free(where);
}

int cmd_access_test(struct ctx *ctx)
{
	struct kernel *kernel = ctx_kernel(ctx);
	struct access_question q;
	struct access_answer a;
	struct access_list l = { 0 };
	struct nl_error e;

	if (!kernel)
		return ctx->fail.code;
	parse_question(ctx, &q);
	if (!kernel->ops->access_test(kernel, &q, &a, &e)) {
		fail_nl(&ctx->fail, &e, "server");
		if (e.err == ENOENT && q.peer && !access_load(ctx, &l))
			access_absent(ctx, &l, ACCESS_PEER, q.peer);
		access_free(&l);
		return ctx->fail.code;
	}
	tell_answer(ctx, &q, &a);
	return a.allowed ? XC_OK : fail_set(&ctx->fail, XC_DIFFERS, "denied: %s", access_word(AW_REASON, a.reason));
}
