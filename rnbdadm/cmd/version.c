// SPDX-License-Identifier: GPL-2.0
/* version, help, schema */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/libs.h"
#include "cmd/commands.h"
#include "cmd/schema.h"
#include "host/disks.h"
#include "task/select.h"

static bool is_json(const struct ctx *ctx)
{
	return ctx->out.fmt == OUT_JSON || ctx->out.fmt == OUT_JSONL;
}

static const char *const modules[] = {
	"rtrs_core", "rtrs_client", "rtrs_server", "rnbd_client", "rnbd_server",
};

static json_t *js_modules(const struct ctx *ctx)
{
	json_t *a = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(modules); i++) {
		json_t *o = json_object();
		char *version;
		bool loaded = sys_module(ctx->test_root, modules[i], &version);

		js_set(o, "name", json_string(modules[i]));
		js_set(o, "loaded", json_boolean(loaded));
		js_set(o, "version", js_str_or_null(version));
		json_array_append_new(a, o);
		free(version);
	}
	return a;
}

int cmd_version(struct ctx *ctx)
{
	json_t *family = json_null(), *m, *v;
	size_t i;

	if (!is_json(ctx) && !ctx->verbose) {
		puts("rnbdadm " RNBDADM_VERSION);
		return XC_OK;
	}
	/* works without modules */
	if (ctx_kernel(ctx) && !kernel_is_sysfs(ctx->kernel))
		family = json_integer(ctx->kernel->version);
	fail_clear(&ctx->fail);
	v = js_modules(ctx);
	if (is_json(ctx)) {
		js_set(ctx->data, "version", json_string(RNBDADM_VERSION));
		js_set(ctx->data, "libnl", json_string(libnl_version()));
		js_set(ctx->data, "jansson", json_string(jansson_version_str()));
		js_set(ctx->data, "family_version", family);
		js_set(ctx->data, "modules", v);
		return XC_OK;
	}
	printf("rnbdadm " RNBDADM_VERSION "\nlibnl %s\njansson %s\n", libnl_version(),
	       jansson_version_str());
	if (json_is_integer(family))
		printf("family rnbd %lld\n", (long long)json_integer_value(family));
	else
		puts("family rnbd absent");
	json_array_foreach(v, i, m) {
		const char *ver = json_string_value(json_object_get(m, "version"));
		bool loaded = json_is_true(json_object_get(m, "loaded"));

		printf("%s %s\n", modules[i], loaded ? ver ? ver : "loaded" : "not loaded");
	}
	json_decref(family);
	json_decref(v);
	return XC_OK;
}

int cmd_help_check(struct ctx *ctx)
{
	char *message = NULL, *hint = NULL;
	char *text = help_words(ctx->args.args, ctx->args.nargs, &message, &hint);

	if (!text)
		return fail_usage(&ctx->fail, message, hint);
	free(text);
	return XC_OK;
}

int cmd_help(struct ctx *ctx)
{
	char *message = NULL, *hint = NULL;
	char *text = help_words(ctx->args.args, ctx->args.nargs, &message, &hint);

	if (!is_json(ctx)) {
		fputs(text, stdout);
		free(text);
		return XC_OK;
	}
	js_set(ctx->data, "lines", js_lines(text));
	free(text);
	return XC_OK;
}

int cmd_schema(struct ctx *ctx)
{
	const char *topic = ctx->args.nargs ? ctx->args.args[0] : NULL;
	struct strlist names = { 0 };
	char *hint;

	for (size_t i = 0; i < schema_count; i++) {
		const struct schema *s = &schema_table[i];

		strlist_add(&names, s->topic);
		if (topic && !strcmp(s->topic, topic)) {
			/* a document of its own kind, with or without -j */
			fwrite(s->start, 1, (size_t)(s->end - s->start), stdout);
			ctx->streamed = true;
			strlist_free(&names);
			return XC_OK;
		}
	}
	if (topic) {
		hint = suggest(topic, &names);
		fail_set(&ctx->fail, XC_NOT_FOUND, "no schema '%s'", topic);
		fail_text(&ctx->fail, "no such schema");
		fail_object(&ctx->fail, "schema", topic);
		fail_hint(&ctx->fail, "%s", hint ? hint : "rnbdadm schema --list");
		free(hint);
	} else if (is_json(ctx)) {
		js_set(ctx->data, "topics", js_list(&names));
	} else {
		for (size_t i = 0; i < names.n; i++)
			puts(names.v[i]);
	}
	strlist_free(&names);
	return ctx->fail.code;
}
