// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "task/dry-run.h"

/* "--" stands before such a name until plan_typed() has the words. */
void plan_name(struct strlist *words, const char *name)
{
	if (*name == '-')
		strlist_add(words, "--");
	strlist_add(words, name);
}

/* Is the next word the value of this option? --save is one of map that has none. */
static bool value_follows(const char *word)
{
	bool follows = false;

	for (int id = 1; id < OPT_MAX; id++) {
		if (!opt_table[id].name || strcmp(opt_table[id].name, word + 2))
			continue;
		if (opt_table[id].arg != ARG_REQUIRED)
			return false;
		follows = true;
	}
	return follows;
}

struct strlist plan_typed(const struct strlist *words)
{
	struct strlist all = { 0 }, last = { 0 };

	for (size_t i = 0; i < words->n; i++) {
		const char *word = words->v[i];

		if (!strcmp(word, "--")) {
			strlist_add(&last, words->v[++i]);
		} else if (strncmp(word, "--", 2)) {
			strlist_add(last.n ? &last : &all, word);
		} else if (i + 1 == words->n || !value_follows(word)) {
			strlist_add(&all, word);
		} else if (*words->v[++i] == '-') {
			strlist_addf(&all, "%s=%s", word, words->v[i]);
		} else {
			strlist_add(&all, word);
			strlist_add(&all, words->v[i]);
		}
	}
	if (last.n)
		strlist_add(&all, "--");
	for (size_t i = 0; i < last.n; i++)
		strlist_add(&all, last.v[i]);
	strlist_free(&last);
	return all;
}

void plan_empty(struct ctx *ctx)
{
	js_set(ctx->data, "dry_run", json_true());
	if (!json_object_get(ctx->data, "plan"))
		js_set(ctx->data, "plan", json_array());
}

/* The lines so far, which are text, and @words. */
static void add_plan_hex(struct ctx *ctx, const struct strlist *words)
{
	json_t *hex = json_object_get(ctx->data, "plan_hex"), *line, *word;
	size_t i, k;

	if (!hex) {
		hex = json_array();
		js_set(ctx->data, "plan_hex", hex);
		json_array_foreach(json_object_get(ctx->data, "plan"), i, line) {
			struct strlist l = { 0 };

			json_array_foreach(line, k, word)
				strlist_add(&l, json_string_value(word));
			json_array_append_new(hex, js_words_hex(&l));
			strlist_free(&l);
		}
	}
	json_array_append_new(hex, js_words_hex(words));
}

static void print_line(const struct strlist *words, const char *would)
{
	char *comment = would ? printable(would) : NULL;

	fputs("rnbdadm", stdout);
	for (size_t i = 0; i < words->n; i++) {
		char *q = shell_quote(words->v[i]);

		printf(" %s", q);
		free(q);
	}
	if (comment)
		printf("  # would %s", comment);
	putchar('\n');
	free(comment);
}

static void add_line(struct ctx *ctx, const struct strlist *words, const char *would)
{
	struct strlist typed = plan_typed(words);

	if (ctx->out.fmt == OUT_TEXT) {
		print_line(&typed, would);
	} else {
		plan_empty(ctx);
		if (!words_are_utf8(&typed) || json_object_get(ctx->data, "plan_hex"))
			add_plan_hex(ctx, &typed);
		json_array_append_new(json_object_get(ctx->data, "plan"), js_list(&typed));
	}
	strlist_free(&typed);
}

void plan_line(struct ctx *ctx, const struct strlist *words)
{
	add_line(ctx, words, NULL);
}

void plan_timeout(const struct ctx *ctx, struct strlist *words)
{
	if (ctx->timeout_ms == -1)
		strlist_add(words, "--timeout=infinite");
	else if (ctx->timeout_ms != M_UNKNOWN_INT)
		strlist_addf(words, "--timeout=%lldms", (long long)ctx->timeout_ms);
}

static void add_with_own(struct ctx *ctx, const struct strlist *words, const char *would)
{
	static const enum opt_id own[] = {
		OPT_LAZY, OPT_ONLY_DOWN, OPT_ONLY_DISCONNECTED, OPT_WAIT,
		OPT_NO_WAIT,
	};
	struct strlist all = { 0 };

	for (size_t i = 0; i < words->n; i++)
		strlist_add(&all, words->v[i]);
	for (size_t i = 0; i < ctx->args.nopts; i++)
		for (size_t k = 0; k < ARRAY_SIZE(own); k++)
			if (ctx->args.opts[i].id == own[k])
				optval_word(&ctx->args.opts[i], &all);
	plan_timeout(ctx, &all);
	if (ctx->idempotent)
		strlist_add(&all, "--idempotent");
	add_line(ctx, &all, would);
	strlist_free(&all);
}

void plan_add(struct ctx *ctx, const struct strlist *words)
{
	add_with_own(ctx, words, NULL);
}

void plan_would(struct ctx *ctx, const struct strlist *words, const char *fmt, ...)
{
	va_list ap;
	char *would;

	va_start(ap, fmt);
	would = xvasprintf(fmt, ap);
	va_end(ap);
	add_with_own(ctx, words, would);
	free(would);
}
