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

static json_t *js_values(const struct access_item *x, enum access_key k)
{
	json_t *list = json_array();

	for (size_t i = 0; i < x->of[k].n; i++) {
		char *text = access_value_text(k, &x->of[k].v[i]);

		json_array_append_new(list, js_str(text));
		free(text);
	}
	return list;
}

static json_t *js_peer(const struct access_item *p)
{
	json_t *o = json_object();

	js_set_str(o, "name", p->name);
	js_set(o, "auth", json_string("none"));
	js_set(o, "session_patterns", js_values(p, AK_SESSION));
	js_set(o, "from", js_values(p, AK_FROM));
	js_set(o, "sessions", js_u64(p->used[USE_SESSIONS]));
	js_set(o, "max_sessions", js_u64(access_number(p, AK_MAX_SESSIONS)));
	js_set(o, "devices", js_u64(p->used[USE_DEVICES]));
	js_set(o, "max_devices", js_u64(access_number(p, AK_MAX_DEVICES)));
	js_set(o, "pinned_bytes", js_u64(p->used[USE_MEMORY]));
	js_set(o, "max_memory_bytes", js_u64(access_number(p, AK_MAX_MEMORY)));
	js_set(o, "denied_total", js_u64(p->used[USE_DENIED]));
	return o;
}

static json_t *js_export(const struct access_item *x)
{
	const char *mode = io_mode_name(access_number(x, AK_IO_MODE));
	json_t *o = json_object(), *allow = json_array();

	for (size_t i = 0; i < x->of[AK_ALLOW].n; i++) {
		const struct access_value *v = &x->of[AK_ALLOW].v[i];
		json_t *grant = json_object();

		js_set_str(grant, "peer", v->word);
		js_set(grant, "access", json_string(access_name(v->n) ? access_name(v->n) : "unknown"));
		json_array_append_new(allow, grant);
	}
	js_set_str(o, "name", x->name);
	js_set_str(o, "path", x->of[AK_PATH].n ? x->of[AK_PATH].v[0].word : "");
	js_set(o, "io_mode", json_string(mode ? mode : "unknown"));
	js_set(o, "allow", allow);
	js_set(o, "openings", js_u64(x->used[USE_OPENINGS]));
	return o;
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
	json_t *lists[ACCESS_KINDS] = { json_array(), json_array() };
	struct access_list l;
	int rc = access_load(ctx, &l);

	for (int kind = 0; kind < ACCESS_KINDS; kind++) {
		for (size_t i = 0; i < l.of[kind].n; i++) {
			const struct access_item *x = &l.of[kind].v[i];

			if (!name || !strcmp(name, x->name))
				json_array_append_new(lists[kind], kind == ACCESS_PEER ? js_peer(x) : js_export(x));
		}
	}
	if (!rc && name && !json_array_size(lists[0]) && !json_array_size(lists[1]))
		rc = access_absent(ctx, &l, ACCESS_KINDS, name);
	if (!rc && ctx->out.fmt == OUT_TEXT) {
		print_head(&l);
		for (int kind = 0; kind < ACCESS_KINDS; kind++)
			if (json_array_size(lists[kind]))
				table_print(&views[kind], lists[kind], NULL, &ctx->out);
	}
	if (!rc) {
		js_set(ctx->data, "state", json_string(access_word(AW_STATE, l.state)));
		js_set(ctx->data, "number", js_u64(l.number));
		js_set(ctx->data, "loaded", l.loaded_ns ? js_time(l.loaded_ns) : json_null());
		js_set(ctx->data, "loaded_by_uid", js_u64(l.uid));
		js_set(ctx->data, "denied_total", js_u64(l.denied));
		json_object_set(ctx->data, "peers", lists[ACCESS_PEER]);
		json_object_set(ctx->data, "exports", lists[ACCESS_EXPORT]);
	}
	json_decref(lists[ACCESS_PEER]);
	json_decref(lists[ACCESS_EXPORT]);
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
	struct access_list l = { 0 };
	const struct access_value *best = NULL;
	const struct access_item *x;
	char *where = NULL;

	/* it only adds to the answer */
	if (conf_read(ctx, NULL, &c))
		fail_clear(&ctx->fail);
	if (!c.errors)
		conf_access(&c, &l);
	x = *a->peer ? access_get(&l, ACCESS_EXPORT, a->export) : NULL;
	for (size_t i = 0; x && i < x->of[AK_ALLOW].n; i++) {
		const struct access_value *v = &x->of[AK_ALLOW].v[i];

		if ((!strcmp(v->word, "*") || !strcmp(v->word, a->peer)) && (!best || v->n > best->n))
			best = v;
	}
	if (x)
		where = conf_place_text(best ? best->at : x->at);
	access_free(&l);
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
	struct nl_error e;

	if (!kernel)
		return ctx->fail.code;
	parse_question(ctx, &q);
	if (!kernel->ops->access_test(kernel, &q, &a, &e))
		return fail_nl(&ctx->fail, &e, "server");
	tell_answer(ctx, &q, &a);
	return a.allowed ? XC_OK : fail_set(&ctx->fail, XC_DIFFERS, "denied: %s", access_word(AW_REASON, a.reason));
}
