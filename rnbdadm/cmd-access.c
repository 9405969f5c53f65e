// SPDX-License-Identifier: GPL-2.0
/* server access show, diff, test: what the list says, and what it would say */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd-access.h"
#include "cmd.h"
#include "views.h"

int access_read(struct ctx *ctx, struct access_list *l)
{
	struct nl *nl = ctx_nl(ctx);
	struct nl_error e;

	memset(l, 0, sizeof(*l));
	if (!nl)
		return ctx->fail.code;
	if (!rnl_access_get(nl, l, &e))
		return fail_nl(&ctx->fail, &e, "server");
	return XC_OK;
}

bool access_read_if(struct ctx *ctx, struct access_list *l, int *rc)
{
	*rc = access_read(ctx, l);
	if (*rc == XC_UNAVAILABLE || *rc == XC_UNSUPPORTED) {
		fail_clear(&ctx->fail);
		*rc = XC_OK;
		return false;
	}
	return !*rc;
}

static char *use_text(const json_t *o, const char *used, const char *most)
{
	json_t *limit = json_object_get(o, most), *n = json_object_get(o, used);
	char *text = json_is_integer(n) ? xasprintf("%lld", (long long)json_integer_value(n)) : xstrdup("-"), *both;

	if (!json_is_integer(limit))
		return text;
	both = xasprintf("%s/%lld", text, (long long)json_integer_value(limit));
	free(text);
	return both;
}

static char *col_sessions(const json_t *o, const struct out_opts *opts)
{
	(void)opts;
	return use_text(o, "sessions", "max_sessions");
}

static char *col_devices(const json_t *o, const struct out_opts *opts)
{
	(void)opts;
	return use_text(o, "devices", "max_devices");
}

static char *col_allow(const json_t *o, const struct out_opts *opts)
{
	struct strlist l = { 0 };
	json_t *grant;
	size_t i;
	char *text, *shown;

	(void)opts;
	json_array_foreach(json_object_get(o, "allow"), i, grant)
		strlist_addf(&l, "%s:%s", json_string_value(json_object_get(grant, "peer")),
			     json_string_value(json_object_get(grant, "access")));
	text = strlist_join(&l, " ");
	shown = printable(l.n ? text : "-");
	free(text);
	strlist_free(&l);
	return shown;
}

static const struct field peer_fields[] = {
	{ "name", NULL, F_STR, false, "what this server calls it" },
	{ "auth", NULL, F_STR, false, "how it is recognised" },
	{ "session_patterns", NULL, F_LIST, false, "names that its sessions may have" },
	{ "from", NULL, F_LIST, false, "where it may come from" },
	{ "sessions", NULL, F_COUNT, false, "sessions that it has" },
	{ "devices", NULL, F_COUNT, false, "devices that it has open" },
	{ "pinned_bytes", NULL, F_BYTES, false, "memory of its sessions" },
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

static const struct view peer_view = { .name = "peer", .key = "peers", .fields = peer_fields, .columns = peer_columns };

static const struct field export_fields[] = {
	{ "name", NULL, F_STR, false, "what clients call it" },
	{ "path", NULL, F_STR, false, "what it is on this host" },
	{ "io_mode", NULL, F_STR, false, "blockio or fileio" },
	{ "openings", NULL, F_COUNT, false, "how often it is open" },
	{ "allow", NULL, F_JSON, false, "who may open it" },
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

static const struct view listed_view = { .name = "listed", .key = "exports", .fields = export_fields,
					 .columns = export_columns };

static json_t *js_peer(const struct access_peer *p)
{
	json_t *o = json_object(), *from = json_array();

	for (size_t i = 0; i < p->nfrom; i++) {
		char *text = access_from_text(&p->from[i]);

		json_array_append_new(from, json_string(text));
		free(text);
	}
	js_set_str(o, "name", p->name);
	js_set(o, "auth", json_string("none"));
	js_set(o, "session_patterns", js_list(&p->sessions));
	js_set(o, "from", from);
	js_set(o, "sessions", js_u64(p->used[ACCESS_SESSIONS]));
	js_set(o, "max_sessions", js_u64(p->limit[ACCESS_SESSIONS]));
	js_set(o, "devices", js_u64(p->used[ACCESS_DEVICES]));
	js_set(o, "max_devices", js_u64(p->limit[ACCESS_DEVICES]));
	js_set(o, "pinned_bytes", js_u64(p->used[ACCESS_MEMORY]));
	js_set(o, "max_memory_bytes", js_u64(p->limit[ACCESS_MEMORY]));
	js_set(o, "denied_total", js_u64(p->denied));
	return o;
}

static json_t *js_access_name(uint64_t mode)
{
	return json_string(access_name(mode) ? access_name(mode) : "unknown");
}

static json_t *js_listed(const struct access_export *e)
{
	json_t *o = json_object(), *allow = json_array();

	for (size_t i = 0; i < e->nallow; i++) {
		json_t *grant = json_object();

		js_set_str(grant, "peer", e->allow[i].peer);
		js_set(grant, "access", js_access_name(e->allow[i].mode));
		json_array_append_new(allow, grant);
	}
	js_set_str(o, "name", e->name);
	js_set_str(o, "path", e->path ? e->path : "");
	js_set(o, "io_mode", json_string(io_mode_name(e->io_mode) ? io_mode_name(e->io_mode) : "unknown"));
	js_set(o, "allow", allow);
	js_set(o, "openings", js_u64(e->openings));
	return o;
}

static void print_head(const struct access_list *l)
{
	char *when = l->loaded_ns == M_UNKNOWN || !l->loaded_ns ? NULL : time_text(l->loaded_ns);
	const struct passwd *who = l->uid == M_UNKNOWN ? NULL : getpwuid((uid_t)l->uid);

	printf("state %s", access_state_name(l->state));
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
	json_t *peers = json_array(), *exports = json_array();
	struct strlist known = { 0 };
	struct access_list l;
	int rc = access_read(ctx, &l);
	char *hint;

	for (size_t i = 0; i < l.npeers; i++) {
		if (!name || !strcmp(name, l.peers[i].name))
			json_array_append_new(peers, js_peer(&l.peers[i]));
		strlist_add(&known, l.peers[i].name);
	}
	for (size_t i = 0; i < l.nexports; i++) {
		if (!name || !strcmp(name, l.exports[i].name))
			json_array_append_new(exports, js_listed(&l.exports[i]));
		strlist_add(&known, l.exports[i].name);
	}
	if (!rc && name && !json_array_size(peers) && !json_array_size(exports)) {
		hint = suggest(name, &known);
		fail_object(&ctx->fail, "access", name);
		fail_hint(&ctx->fail, "%s", hint ? hint : "rnbdadm server access show");
		free(hint);
		rc = fail_set(&ctx->fail, XC_NOT_FOUND, "the list has neither a peer nor an export '%s'", name);
	}
	if (!rc && ctx->out.fmt == OUT_TEXT) {
		print_head(&l);
		if (json_array_size(peers))
			table_print(&peer_view, peers, NULL, &ctx->out);
		if (json_array_size(exports))
			table_print(&listed_view, exports, NULL, &ctx->out);
	}
	if (!rc) {
		js_set(ctx->data, "state", json_string(access_state_name(l.state)));
		js_set(ctx->data, "number", js_u64(l.number));
		js_set(ctx->data, "loaded", l.loaded_ns ? js_time(l.loaded_ns) : json_null());
		js_set(ctx->data, "loaded_by_uid", js_u64(l.uid));
		js_set(ctx->data, "denied_total", js_u64(l.denied));
		json_object_set(ctx->data, "peers", peers);
		json_object_set(ctx->data, "exports", exports);
	}
	json_decref(peers);
	json_decref(exports);
	strlist_free(&known);
	access_free(&l);
	return rc;
}

json_t *access_to_do(const struct access_list *now, const struct conf *c)
{
	struct access_list want;
	json_t *changes;

	conf_access(c, &want);
	changes = access_changes(now, &want, c);
	access_free(&want);
	return changes;
}

int cmd_access_diff(struct ctx *ctx)
{
	struct conf c = { .lenient = args_has(&ctx->args, OPT_LENIENT) };
	int rc = access_conf(ctx, &c);
	struct access_list now;
	json_t *changes, *one;
	size_t i;

	if (!rc)
		rc = access_read(ctx, &now);
	if (rc) {
		conf_free(&c);
		return rc;
	}
	changes = access_to_do(&now, &c);
	js_set(ctx->data, "number", js_u64(now.number));
	access_free(&now);
	conf_free(&c);
	json_array_foreach(changes, i, one) {
		char *text = access_change_text(one);

		if (ctx->out.fmt == OUT_TEXT)
			puts(text);
		free(text);
	}
	js_set(ctx->data, "state", json_string("listed"));
	js_set(ctx->data, "changes", changes);
	if (!i)
		return XC_OK;
	return fail_set(&ctx->fail, XC_DIFFERS, "%zu change%s", i, i == 1 ? "" : "s");
}

/* The line of the configuration that decides; @at->file is NULL where it has none. */
static void find_source(const struct conf *c, const char *export, const char *peer, struct conf_place *at)
{
	const struct conf_section *s;
	struct access_list l = { 0 };
	struct access_export *e;
	uint64_t best = 0;
	bool any = false;

	if (!c->errors)
		conf_access(c, &l);
	e = access_find(&l, export);
	s = e ? conf_find(c, CONF_EXPORT, e->name) : NULL;
	*at = s ? s->at : (struct conf_place){ 0 };
	for (size_t i = 0; s && i < s->nentries; i++) {
		struct access_list one = { 0 };
		struct access_export *x = access_add_export(&one, "");

		if (s->entries[i].key == CK_ALLOW)
			free(access_allow_parse(s->entries[i].v.text, x));
		for (size_t k = 0; k < x->nallow; k++) {
			if ((strcmp(x->allow[k].peer, "*") && strcmp(x->allow[k].peer, peer)) ||
			    (any && x->allow[k].mode <= best))
				continue;
			any = true;
			best = x->allow[k].mode;
			*at = s->entries[i].v.at;
		}
		access_free(&one);
	}
	access_free(&l);
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

static void tell_answer(struct ctx *ctx, const struct access_question *q, const struct access_answer *a,
			const char *where)
{
	char *why = says(q, a), *line, *text;
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
	js_set(ctx->data, "reason", a->allowed ? json_null() : json_string(access_reason_name(a->reason)));
	js_set(ctx->data, "peer", js_str_or_null(a->peer));
	js_set_str(ctx->data, "export", *a->export ? a->export : q->export);
	js_set(ctx->data, "path", js_str_or_null(a->path));
	js_set(ctx->data, "access", json_string(access_name(q->mode)));
	js_set(ctx->data, "granted", access_name(a->granted) ? json_string(access_name(a->granted)) : json_null());
	js_set(ctx->data, "source", where ? js_str(where) : json_null());
}

int cmd_access_test(struct ctx *ctx)
{
	struct nl *nl = ctx_nl(ctx);
	struct conf c = { .lenient = true };
	struct access_question q;
	struct access_answer a;
	struct conf_place at;
	struct nl_error e;
	char *where;

	if (!nl)
		return ctx->fail.code;
	parse_question(ctx, &q);
	if (!rnl_access_test(nl, &q, &a, &e))
		return fail_nl(&ctx->fail, &e, "server");
	/* it only adds where that is from */
	if (conf_read(ctx, NULL, &c))
		fail_clear(&ctx->fail);
	find_source(&c, *a.export ? a.export : q.export, a.peer, &at);
	where = *a.peer ? conf_place_text(&at) : NULL;
	tell_answer(ctx, &q, &a, where);
	free(where);
	conf_free(&c);
	return a.allowed ? XC_OK : fail_set(&ctx->fail, XC_DIFFERS, "denied: %s", access_reason_name(a.reason));
}
