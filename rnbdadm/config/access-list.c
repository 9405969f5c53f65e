// SPDX-License-Identifier: GPL-2.0
/* The access list as the kernel has it, what leads from it to another one, and what that ends. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/access-list.h"

int access_load(struct ctx *ctx, struct access_list *l)
{
	struct kernel *kernel = ctx_kernel(ctx);
	struct nl_error e;

	*l = (struct access_list){ 0 };
	if (!kernel)
		return ctx->fail.code;
	return kernel->ops->access(kernel, ACCESS_GET, NULL, l, &e) ? XC_OK : fail_nl(&ctx->fail, &e, "server");
}

bool access_load_if(struct ctx *ctx, struct access_list *l, int *rc)
{
	bool there;

	*rc = access_load(ctx, l);
	there = !*rc;
	if (*rc == XC_UNAVAILABLE || *rc == XC_UNSUPPORTED) {
		fail_clear(&ctx->fail);
		*rc = XC_OK;
	}
	return there;
}

int access_absent(struct ctx *ctx, const struct access_list *l, enum access_kind kind, const char *name)
{
	bool any = kind == ACCESS_KINDS;
	const char *object = any ? "access" : conf_kind_name(CONF_OF(kind));
	const char *other = kind == ACCESS_PEER ? "'rnbdadm server access show' shows them, 'rnbdadm server peer add' adds one" :
						  "rnbdadm server access show";
	char *hint = access_suggest(l, kind, name);

	fail_object(&ctx->fail, object, name);
	fail_hint(&ctx->fail, "%s", hint ? hint : other);
	free(hint);
	return fail_set(&ctx->fail, XC_NOT_FOUND, "the list has %s%s '%s'", any ? "neither a peer nor an " : "no ",
			any ? "export" : object, name);
}

int access_conf(struct ctx *ctx, struct conf *c)
{
	int rc = conf_load(ctx, ctx->args.nargs ? ctx->args.args[0] : NULL, c);

	if (rc || conf_access(c))
		return rc;
	fail_hint(&ctx->fail, "write some, see rnbdadm-access(8); 'rnbdadm server access open' lets everybody in");
	return fail_set(&ctx->fail, XC_NOT_FOUND, "the configuration has neither [peer] nor [export]");
}

bool access_same(const struct access_item *a, const struct access_item *b, enum access_key k)
{
	const struct access_values *x = &a->of[k], *y = &b->of[k];
	bool same = k == AK_N ? !strcmp(a->name, b->name) : access_keys[k].counted || x->n == y->n;

	for (int each = 0; same && k == AK_N && each < AK_N; each++)
		same = access_same(a, b, each);
	for (size_t i = 0; same && k < AK_N && !access_keys[k].counted && i < x->n; i++)
		same = x->v[i].n == y->v[i].n && !access_value_cmp(&x->v[i], &y->v[i]);
	return same;
}

bool access_differ(const struct access_list *a, const struct access_list *b)
{
	bool same = access_state(a) == access_state(b);

	for (int kind = 0; kind < ACCESS_KINDS && same; kind++) {
		same = a->of[kind].n == b->of[kind].n;
		for (size_t i = 0; same && i < a->of[kind].n; i++)
			same = access_same(&a->of[kind].v[i], &b->of[kind].v[i], AK_N);
	}
	return !same;
}

/* What changes, and where the configuration says it, if it does. */
struct subject {
	const char *object, *name;
	const struct conf_place *at;
};

/* Takes both texts, of which one may be NULL; no change where they are the same. */
static void add(json_t *list, const struct subject *of, const char *key, char *old, char *new)
{
	char *where = of->at ? conf_place_text(of->at) : NULL;
	json_t *o = json_object();

	js_set(o, "action", json_string(key ? "change" : old ? "remove" : "add"));
	js_set(o, "object", json_string(of->object));
	js_set(o, "name", json_null());
	if (of->name)
		js_set_str(o, "name", of->name);
	js_set(o, "key", js_str_or_null(key));
	js_set(o, "old", js_str_or_null(old));
	js_set(o, "new", js_str_or_null(new));
	js_set(o, "source", js_str_or_null(where));
	if (!key || strcmp(old ? old : "", new ? new : ""))
		json_array_append(list, o);
	json_decref(o);
	free(old);
	free(new);
	free(where);
}

static const char *key_name(int k)
{
	return conf_key_name(conf_access_keys[k]);
}

static char *item_text(const struct access_item *x)
{
	struct strlist l = { 0 };
	char *text;

	for (int k = 0; k < AK_N; k++) {
		text = access_keys[k].counted ? NULL : access_text(x, k);
		if (text)
			strlist_addf(&l, "%s=%s", key_name(k), text);
		free(text);
	}
	text = strlist_join(&l, " ");
	strlist_free(&l);
	return text;
}

/* One of both may be NULL: it is not there. */
static void compare(json_t *list, enum access_kind kind, const struct access_item *from, const struct access_item *to)
{
	struct subject of = { conf_kind_name(CONF_OF(kind)), from ? from->name : to->name, to ? to->at : NULL };

	if (!from || !to)
		add(list, &of, NULL, from ? item_text(from) : NULL, to ? item_text(to) : NULL);
	for (int k = 0; from && to && k < AK_N; k++) {
		of.at = to->of[k].n ? to->of[k].v[to->of[k].n - 1].at : to->at;
		if (!access_same(from, to, k))
			add(list, &of, key_name(k), access_text(from, k), access_text(to, k));
	}
}

/* The peers of @l that @other has, too */
static char *order(const struct access_list *l, const struct access_list *other)
{
	struct strlist names = { 0 };
	char *text;

	for (size_t i = 0; i < l->of[ACCESS_PEER].n; i++)
		if (access_get(other, ACCESS_PEER, l->of[ACCESS_PEER].v[i].name))
			strlist_add(&names, l->of[ACCESS_PEER].v[i].name);
	text = strlist_join(&names, ", ");
	strlist_free(&names);
	return text;
}

size_t access_diff(const struct access_list *from, const struct access_list *to, json_t *doc)
{
	const char *old = access_word(AW_STATE, access_state(from)), *new = access_word(AW_STATE, access_state(to));
	const struct subject whole = { .object = "list" };
	json_t *list = json_array();

	add(list, &whole, "state", xstrdup(old), xstrdup(new));
	for (int kind = 0; kind < ACCESS_KINDS; kind++) {
		const struct access_items *was = &from->of[kind], *want = &to->of[kind];

		for (size_t i = 0; i < want->n; i++)
			compare(list, kind, access_get(from, kind, want->v[i].name), &want->v[i]);
		for (size_t i = 0; i < was->n; i++)
			if (!access_get(to, kind, was->v[i].name))
				compare(list, kind, &was->v[i], NULL);
		/* the first peer that fits is taken */
		if (kind == ACCESS_PEER)
			add(list, &whole, "order", order(from, to), order(to, from));
	}
	js_set(doc, "state", json_string(new));
	js_set(doc, "number", js_u64(access_uint(from->says, "number")));
	js_set(doc, "changes", list);
	return json_array_size(list);
}

static const char *str(const json_t *o, const char *key)
{
	const char *s = access_str(o, key);

	return *s ? s : "-";
}

void access_print_changes(const json_t *doc)
{
	json_t *ch;
	size_t i;

	json_array_foreach(json_object_get(doc, "changes"), i, ch) {
		const char *action = str(ch, "action"), *object = str(ch, "object"), *name = access_str(ch, "name");

		if (*action == 'c')
			tell_line(stdout, "~ %s%s%s  %s  %s -> %s", object, *name ? " " : "", name, str(ch, "key"),
				  str(ch, "old"), str(ch, "new"));
		else
			tell_line(stdout, "%c %s %s  %s", *action == 'a' ? '+' : '-', object, name,
				  str(ch, *action == 'a' ? "new" : "old"));
	}
}

struct change {
	struct ctx *ctx;
	const struct access_list *from, *to;
	json_t *doc;			/* of the command */
	struct access_list end;		/* what the kernel says that it ends */
	struct strlist lines;		/* the same for people */
	char *count;
};

/* Why the new list does not have the opening. */
static char *why_closed(const struct change *c, const struct export *x)
{
	const struct access_item *was = access_get(c->from, ACCESS_EXPORT, x->listed);
	const struct access_item *is = access_get(c->to, ACCESS_EXPORT, x->listed);

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

/* One opening or path that ends: a line, and an entry of the document. @x, @p: NULL if it is none, or gone already. */
static void name_one(struct change *c, const char *object, uint32_t id, const struct export *x, const struct path *p)
{
	bool closed = access_state(c->to) == ACCESS_CLOSED;
	char *number = xasprintf("id:%u", id), *why;
	json_t *o = json_pack("{ss, si}", "object", object, "id", id);

	if (closed && (x || p))
		why = xstrdup("the server is to be closed");
	else
		why = x ? why_closed(c, x) : xstrdup(p ? "no peer of the list takes it" : "it is gone already");
	if (x)
		strlist_addf(&c->lines, "%s has %s open (%s): %s", x->session, x->device_path,
			     access_name(x->access) ? access_name(x->access) : "unknown", why);
	else if (p)
		strlist_addf(&c->lines, "%s %s: %s", p->session, p->name, why);
	js_set_str(o, "session", x ? x->session : p ? p->session : "");
	js_set_str(o, "name", x ? x->device_path : p ? p->name : number);
	js_set(o, "reason", js_str(why));
	json_array_append_new(json_object_get(c->doc, "ended"), o);
	free(number);
	free(why);
}

static int name_ended(struct change *c)
{
	struct ctx *ctx = c->ctx;
	json_t *exports = json_object_get(c->end.says, "ended-export-id"), *paths = json_object_get(c->end.says, "ended-path-id"), *id;
	struct snapshot s = { 0 };
	long long more = json_integer_value(json_object_get(c->end.says, "ended-exports")) +
			 json_integer_value(json_object_get(c->end.says, "ended-paths"));
	size_t i, n;

	if (!*c->count)
		return XC_OK;
	if (!ctx_snapshot(ctx, M_SERVER, NL_SESSIONS | NL_PATHS | NL_EXPORTS_OPT, &s))
		return ctx->fail.code;
	json_array_foreach(exports, i, id) {
		for (n = 0; n < s.exports.n && s.exports.v[n].id != json_integer_value(id); n++)
			;
		name_one(c, "export", (uint32_t)json_integer_value(id), n < s.exports.n ? &s.exports.v[n] : NULL, NULL);
	}
	json_array_foreach(paths, i, id) {
		for (n = 0; n < s.paths.n && s.paths.v[n].id != json_integer_value(id); n++)
			;
		name_one(c, "path", (uint32_t)json_integer_value(id), NULL, n < s.paths.n ? &s.paths.v[n] : NULL);
	}
	more -= (long long)(json_array_size(exports) + json_array_size(paths));
	if (more)
		strlist_addf(&c->lines, "and %lld more", more);
	snapshot_free(&s);
	return XC_OK;
}

/* "1 opening and 2 paths", "" for nothing */
static char *count_text(const json_t *end)
{
	static const struct { const char *key, *what; } counts[] = {
		{ "ended-exports", "opening" }, { "ended-paths", "path" },
	};
	struct strlist l = { 0 };
	char *text;

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		long long n = json_integer_value(json_object_get(end, counts[i].key));

		if (n)
			strlist_addf(&l, "%lld %s%s", n, counts[i].what, n == 1 ? "" : "s");
	}
	text = strlist_join(&l, " and ");
	strlist_free(&l);
	return text;
}

/* Class C: what is in use ends with --force alone. Opening lets everybody in, so it is refused as well. */
static int may_end(struct change *c)
{
	struct ctx *ctx = c->ctx;
	bool open = access_state(c->to) == ACCESS_OPEN, of_file = !strcmp(ctx->args.cmd->verb, "apply");
	const char *file = of_file && ctx->args.nargs ? ctx->args.args[0] : NULL;

	if (ctx->force || (!open && !*c->count))
		return XC_OK;
	for (size_t i = 0; i < c->lines.n; i++)
		strlist_add(&ctx->fail.details, c->lines.v[i]);
	fail_hint(&ctx->fail, open ? "--force does it" : !of_file ? "--force ends them" :
		  "--force ends them; 'rnbdadm server access diff%s%s' shows the whole change",
		  file ? " " : "", file ? file : "");
	return fail_set(&ctx->fail, XC_BUSY, "refused, %s%s", open ? "" : c->count, open ?
			"every client could map every device below dev_search_path" : " would end");
}

/* @flag: NULL, "dry-run" to be told what it would end, or "force" to end that. */
static bool ask(struct change *c, const char *flag, struct nl_error *e)
{
	struct access_list request = *c->to;
	struct kernel *kernel = c->ctx->kernel;
	bool ok;

	request.says = json_pack("{si}", "state", (int)access_state(c->to));
	json_object_set(request.says, "expect", json_object_get(c->from->says, "number"));
	if (flag)
		json_object_set_new(request.says, flag, json_true());
	access_free(&c->end);
	ok = kernel->ops->access(kernel, ACCESS_SET, &request, &c->end, e);
	json_decref(request.says);
	return ok;
}

/* @busy is set, if given, where the kernel would end something for it, which it does by force alone. */
static int set_list(struct change *c, const char *flag, bool *busy)
{
	struct ctx *ctx = c->ctx;
	struct nl_error e;

	if (ask(c, flag, &e)) {
		if (*e.warning)
			warn(ctx, "%s", e.warning);
		js_set(c->doc, "changed", json_true());
		js_set(c->doc, "number", js_u64(access_uint(c->end.says, "number")));
		return XC_OK;
	}
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

static void tell_ended(const struct change *c)
{
	if (!*c->count || c->ctx->quiet || c->ctx->out.fmt != OUT_TEXT)
		return;
	fprintf(stderr, "rnbdadm: %s: %s ended\n", c->ctx->args.label, c->count);
	for (size_t i = 0; i < c->lines.n; i++)
		tell_line(stderr, "  %s", c->lines.v[i]);
}

/* What ends is looked at first: the kernel tells it to root. */
static int replace_asked(struct change *c)
{
	struct ctx *ctx = c->ctx;
	struct nl_error e;
	int rc = XC_OK;

	if (!ask(c, "dry-run", &e)) {
		if (!ctx->dry_run || e.kind != NL_FAIL_KERNEL || (e.err != EPERM && e.err != EACCES))
			return fail_nl(&ctx->fail, &e, "server");
		warn(ctx, "the openings that this would end are not known: the kernel tells them to root alone");
	}
	c->count = count_text(c->end.says);
	rc = name_ended(c);
	if (!rc)
		rc = may_end(c);
	if (!rc && !ctx->dry_run) {
		rc = set_list(c, ctx->force ? "force" : NULL, NULL);
		if (!rc)
			tell_ended(c);
	}
	free(c->count);
	return rc;
}

int access_replace(struct ctx *ctx, const struct access_list *from, const struct access_list *to, json_t *doc)
{
	bool busy = ctx->dry_run || access_state(to) == ACCESS_OPEN;
	struct change c = { .ctx = ctx, .from = from, .to = to, .doc = doc };
	int rc = XC_OK;

	js_set(doc, "ended", json_array());
	if (ctx->out.fmt != OUT_TEXT)
		access_diff(from, to, doc);
	if (!access_differ(from, to)) {
		say(ctx, "nothing to change");
		return XC_OK;
	}
	/* most changes end nothing: the list is sent once */
	if (!busy)
		rc = set_list(&c, NULL, &busy);
	if (busy)
		rc = replace_asked(&c);
	access_free(&c.end);
	strlist_free(&c.lines);
	return rc;
}
