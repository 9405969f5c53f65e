// SPDX-License-Identifier: GPL-2.0
/* check: what is wrong with this host, and what helps */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "cmd/commands.h"
#include "host/disks.h"
#include "host/sysfs-file.h"

static const struct { const char *name; const struct check *checks; } groups[] = {
	{ "modules", modules_checks }, { "netlink", netlink_checks }, { "rdma", rdma_checks },
	{ "net", net_checks }, { "session", session_checks }, { "device", device_checks },
	{ "server", server_checks }, { "system", system_checks }, { "config", config_checks },
};

static const struct { const char *word, *text, *color; } statuses[CHECK_N] = {
	[CHECK_PASS] = { "pass", "ok", "\033[32m" }, [CHECK_WARN] = { "warn", "warn", "\033[33m" },
	[CHECK_FAIL] = { "fail", "FAIL", "\033[31m" }, [CHECK_SKIP] = { "skip", "skip", NULL },
};

void check_tell(struct checkup *k, enum check_status status, const char *object, const char *fmt, ...)
{
	json_t *o = json_object();
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	js_set(o, "id", json_string(k->id));
	js_set(o, "status", json_string(statuses[status].word));
	if (*object)
		js_set_str(o, "object", object);
	else
		js_set(o, "object", json_null());
	js_set(o, "message", js_str(s));
	js_set(o, "hint", json_null());
	js_set(o, "data", json_object());
	json_array_append_new(k->results, o);
	k->counts[status]++;
	free(s);
}

static json_t *last(struct checkup *k)
{
	return json_array_get(k->results, json_array_size(k->results) - 1);
}

void check_hint(struct checkup *k, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	js_set(last(k), "hint", js_str(s));
	free(s);
}

void check_data(struct checkup *k, const char *key, json_t *v)
{
	js_set(json_object_get(last(k), "data"), key, v);
}

void check_source(struct checkup *k, const struct check_planned *p)
{
	const char *hint = json_string_value(json_object_get(last(k), "hint"));

	check_data(k, "source", js_str(p->at));
	if (hint)
		check_hint(k, "%s; or another address in %s", hint, p->at);
}

bool check_family(const struct checkup *k)
{
	return k->ctx->nl && !rnl_is_sysfs(k->ctx->nl);
}

static bool have_lists(struct checkup *k, bool ok, struct fail *why, const char *module)
{
	if (ok)
		return true;
	if (why->code) {
		check_tell(k, CHECK_FAIL, module, "its lists cannot be read: %s", why->message);
		check_hint(k, "%s", why->hint ? why->hint : "the kernel log may say why");
		fail_clear(why);
	} else if (k->ctx->nl && check_loaded(k, module)) {
		check_tell(k, CHECK_SKIP, "", "the kernel does not tell its lists");
	} else {
		check_tell(k, CHECK_SKIP, "", "%s is not loaded, or not ours", module);
	}
	return false;
}

bool check_client(struct checkup *k)
{
	return have_lists(k, k->client_ok, &k->client_why, "rnbd_client");
}

bool check_server(struct checkup *k)
{
	return have_lists(k, k->server_ok, &k->server_why, "rnbd_server");
}

bool check_wants(const struct checkup *k, const struct path *p)
{
	for (size_t i = 0; i < k->only.n; i++)
		if (addr_pair_matches(&k->only.v[i], &p->client, &p->server))
			return true;
	return !k->only.n;
}

/* A module that is not there, or tells less, is looked at by checks of their own. */
static bool read_side(struct ctx *ctx, enum m_role role, unsigned int what, struct snapshot *s,
		      struct fail *why)
{
	if (ctx_snapshot(ctx, role, what, s))
		return true;
	if (ctx->fail.code == XC_UNAVAILABLE || ctx->fail.code == XC_UNSUPPORTED)
		fail_clear(&ctx->fail);
	*why = ctx->fail;
	memset(&ctx->fail, 0, sizeof(ctx->fail));
	return false;
}

/* What cannot be read is a finding, and no failure of the run. */
static void read_all(struct checkup *k)
{
	struct ctx *ctx = k->ctx;

	sys_list(k->root, &k->hcas, "/sys/class/infiniband");
	if (!ctx_nl(ctx)) {
		k->no_nl = ctx->fail;
		memset(&ctx->fail, 0, sizeof(ctx->fail));
		return;
	}
	k->read_ms = now_ms();
	k->client_ok = read_side(ctx, M_CLIENT, NL_SESSIONS | NL_PATHS | NL_DEVICES_OPT | NL_STATS_OPT,
				 &k->client, &k->client_why);
	k->server_ok = read_side(ctx, M_SERVER, NL_SESSIONS | NL_PATHS | NL_EXPORTS_OPT, &k->exports,
				 &k->server_why);
	sys_paths(k->root, &k->client.paths);
	sys_paths(k->root, &k->exports.paths);
	sys_exports(k->root, &k->exports.exports);
	sys_devices(k->root, &k->client.devices);
}

static bool is_there(const struct checkup *k, const struct addr_pair *want)
{
	bool found = false;

	for (size_t i = 0; i < k->client.paths.n; i++)
		found |= addr_pair_matches(want, &k->client.paths.v[i].client,
					   &k->client.paths.v[i].server);
	for (size_t i = 0; i < k->nplanned; i++)
		found |= addr_pair_matches(want, &k->planned[i].path.client,
					   &k->planned[i].path.server);
	return found;
}

/* Nothing is well with a path that is not there. */
static int check_paths(struct checkup *k)
{
	char *text;

	if (k->only.n)
		check_planned(k);
	for (size_t i = 0; k->client_ok && i < k->only.n; i++) {
		if (is_there(k, &k->only.v[i]))
			continue;
		text = way_text(&k->only.v[i]);
		fail_set(&k->ctx->fail, XC_NOT_FOUND, "no path '%s'", text);
		fail_object(&k->ctx->fail, "path", text);
		fail_hint(&k->ctx->fail, "rnbdadm path list");
		free(text);
		return XC_NOT_FOUND;
	}
	return XC_OK;
}

static bool in_group(const char *id, const char *group)
{
	size_t n = strlen(group);

	return !strncmp(id, group, n) && id[n] == '.';
}

static bool wanted(const struct parsed *a, const char *id)
{
	for (size_t i = 0; i < a->nargs; i++)
		if (!strcmp(a->args[i], "all") || !strcmp(a->args[i], id) || in_group(id, a->args[i]))
			return true;
	return !a->nargs;
}

void check_names(struct strlist *l)
{
	strlist_add(l, "all");
	for (size_t g = 0; g < ARRAY_SIZE(groups); g++) {
		strlist_add(l, groups[g].name);
		for (const struct check *c = groups[g].checks; c->id; c++)
			strlist_add(l, c->id);
	}
}

/* Every word is a group or a check. */
static int check_words(struct ctx *ctx)
{
	const struct parsed *a = &ctx->args;
	struct strlist legal = { 0 };
	char *hint;
	int rc = XC_OK;

	check_names(&legal);
	for (size_t i = 0; i < a->nargs && !rc; i++) {
		if (strlist_has(&legal, a->args[i]))
			continue;
		rc = fail_set(&ctx->fail, XC_USAGE, "'%s' is no check", a->args[i]);
		hint = suggest(a->args[i], &legal);
		fail_hint(&ctx->fail, "%s", hint ? hint : "'rnbdadm help checks' lists them");
		free(hint);
	}
	strlist_free(&legal);
	return rc;
}

static int check_server_word(struct ctx *ctx, const char *server)
{
	uint64_t port;
	char *host = check_host(server, &port);

	if (!host)
		return fail_set(&ctx->fail, XC_USAGE, "--server: '%s' is not HOST, HOST:PORT or "
				"[IPv6]:PORT, with a port from 1 to 65535", server);
	free(host);
	return XC_OK;
}

char *check_list_text(void)
{
	struct strbuf b = { 0 };

	strbuf_puts(&b, "Checks of 'rnbdadm check', by group:\n");
	for (size_t g = 0; g < ARRAY_SIZE(groups); g++) {
		strbuf_printf(&b, "\n%s:\n", groups[g].name);
		for (const struct check *c = groups[g].checks; c->id; c++)
			strbuf_printf(&b, "  %-22s %s\n", c->id, c->what);
	}
	return b.s;
}

json_t *js_checks(void)
{
	json_t *list = json_array();

	for (size_t g = 0; g < ARRAY_SIZE(groups); g++) {
		for (const struct check *c = groups[g].checks; c->id; c++) {
			json_t *o = json_object();

			js_set(o, "id", json_string(c->id));
			js_set(o, "group", json_string(groups[g].name));
			js_set(o, "description", json_string(c->what));
			js_set(o, "cause", json_string(c->cause));
			js_set(o, "cure", json_string(c->cure));
			json_array_append_new(list, o);
		}
	}
	return list;
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static enum check_status status_of(const json_t *o)
{
	enum check_status s = CHECK_PASS;

	while (s < CHECK_SKIP && strcmp(statuses[s].word, text_of(o, "status")))
		s++;
	return s;
}

/* Where all of a group is the same skip, that is one line: how many they are, else 1. */
static size_t same_skips(const json_t *results, size_t at)
{
	const json_t *a = json_array_get(results, at), *b = json_array_get(results, at - 1);
	size_t n = 1, len = strcspn(text_of(a, "id"), ".") + 1;

	if (status_of(a) != CHECK_SKIP || (at && !strncmp(text_of(a, "id"), text_of(b, "id"), len)))
		return 1;
	while ((b = json_array_get(results, at + n)) &&
	       !strncmp(text_of(a, "id"), text_of(b, "id"), len)) {
		if (status_of(b) != CHECK_SKIP || strcmp(text_of(a, "message"), text_of(b, "message")))
			return 1;
		n++;
	}
	return n;
}

static void print_line(const struct ctx *ctx, const json_t *o, size_t same)
{
	enum check_status s = status_of(o);
	const char *color = ctx->out.color ? statuses[s].color : NULL, *id = text_of(o, "id");
	char *object = printable(text_of(o, "object")), *message = printable(text_of(o, "message"));
	char *hint = printable(text_of(o, "hint"));
	char *name = same > 1 ? xasprintf("%.*s.*", (int)strcspn(id, "."), id) : xstrdup(id);

	printf("%s%-4s%s  %-22s %s%s%s\n", color ? color : "", statuses[s].text, color ? "\033[0m" : "",
	       name, object, *object ? ": " : "", message);
	if (*hint && s != CHECK_PASS)
		printf("      hint: %s\n", hint);
	free(name);
	free(hint);
	free(message);
	free(object);
}

static const char *plural(unsigned int n)
{
	return n == 1 ? "" : "s";
}

static void print_text(const struct checkup *k)
{
	size_t n = json_array_size(k->results), same;

	for (size_t i = 0; i < n; i += same) {
		same = same_skips(k->results, i);
		print_line(k->ctx, json_array_get(k->results, i), same);
	}
	printf("%u ok, %u warning%s, %u failure%s, %u skipped\n", k->counts[CHECK_PASS],
	       k->counts[CHECK_WARN], plural(k->counts[CHECK_WARN]), k->counts[CHECK_FAIL],
	       plural(k->counts[CHECK_FAIL]), k->counts[CHECK_SKIP]);
}

/* --fix-hints: the cures alone, each once. */
static void print_hints(const struct checkup *k)
{
	struct strlist told = { 0 };
	const json_t *o;
	size_t i;

	json_array_foreach(k->results, i, o) {
		const char *hint = text_of(o, "hint");
		enum check_status s = status_of(o);
		char *text;

		if (!*hint || (s != CHECK_FAIL && s != CHECK_WARN) || strlist_has(&told, hint))
			continue;
		strlist_add(&told, hint);
		text = printable(hint);
		printf("%s: %s\n", text_of(o, "id"), text);
		free(text);
	}
	strlist_free(&told);
}

static void report(struct checkup *k)
{
	struct ctx *ctx = k->ctx;
	json_t *sum = json_object();

	for (int s = 0; s < CHECK_N; s++)
		js_set(sum, statuses[s].word, json_integer(k->counts[s]));
	if (ctx->out.fmt != OUT_TEXT) {
		js_set(ctx->data, "results", json_incref(k->results));
		js_set(ctx->data, "summary", json_incref(sum));
	} else if (args_has(&ctx->args, OPT_FIX_HINTS)) {
		print_hints(k);
	} else {
		print_text(k);
	}
	json_decref(sum);
}

int check_report(struct checkup *k)
{
	unsigned int failed = k->counts[CHECK_FAIL], warned = k->counts[CHECK_WARN];

	report(k);
	if (!failed && !(warned && args_has(&k->ctx->args, OPT_STRICT)))
		return XC_OK;
	return fail_set(&k->ctx->fail, XC_DIFFERS, "%u failure%s, %u warning%s", failed, plural(failed), warned,
			plural(warned));
}

int cmd_check_check(struct ctx *ctx)
{
	const char *server = args_value(&ctx->args, OPT_CHECK_SERVER);
	struct ways only = { .literal = true };
	int rc = check_words(ctx);

	if (!rc && server)
		rc = check_server_word(ctx, server);
	if (!rc)
		rc = ways_parse(ctx, OPT_CHECK_PATH, &only);
	ways_free(&only);
	return rc;
}

int cmd_check(struct ctx *ctx)
{
	struct checkup k = {
		.ctx = ctx, .root = ctx->test_root, .results = json_array(),
		.server = args_value(&ctx->args, OPT_CHECK_SERVER),
	};
	int rc = ways_parse(ctx, OPT_CHECK_PATH, &k.only);

	if (!rc) {
		read_all(&k);
		rc = check_paths(&k);
	}
	for (size_t g = 0; g < ARRAY_SIZE(groups) && !rc; g++) {
		for (const struct check *c = groups[g].checks; c->id; c++) {
			k.id = c->id;
			if (wanted(&ctx->args, c->id))
				c->run(&k);
		}
	}
	if (!rc)
		rc = check_report(&k);
	json_decref(k.results);
	for (size_t i = 0; i < k.nplanned; i++) {
		free(k.planned[i].at);
		free(k.planned[i].problem);
	}
	free(k.planned);
	strlist_free(&k.hcas);
	ways_free(&k.only);
	fail_clear(&k.no_nl);
	fail_clear(&k.client_why);
	fail_clear(&k.server_why);
	snapshot_free(&k.client);
	snapshot_free(&k.exports);
	snapshot_free(&k.later);
	return rc;
}
