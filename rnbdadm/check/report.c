// SPDX-License-Identifier: GPL-2.0
/* Results of checks, told and printed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "host/sysfs-file.h"

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
	return k->ctx->kernel && !kernel_is_sysfs(k->ctx->kernel);
}

static bool have_lists(struct checkup *k, bool ok, struct fail *why, const char *module)
{
	if (ok)
		return true;
	if (why->code) {
		check_tell(k, CHECK_FAIL, module, "its lists cannot be read: %s", why->message);
		check_hint(k, "%s", why->hint ? why->hint : "the kernel log may say why");
		fail_clear(why);
	} else if (k->ctx->kernel && check_loaded(k, module)) {
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
	enum check_status s;

	for (size_t i = 0; i < n; i += same) {
		same = same_skips(k->results, i);
		s = status_of(json_array_get(k->results, i));
		/* on a healthy host most are skipped: without -v only those that were named are told */
		if (k->ctx->verbose || k->ctx->args.nargs || s == CHECK_WARN || s == CHECK_FAIL)
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

bool check_loaded(const struct checkup *k, const char *module)
{
	return sys_exists(k->root, "/sys/module/%s", module);
}
