// SPDX-License-Identifier: GPL-2.0
/* The document of a run, and where its lists and objects go: into that or, as text, to stdout. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "app/document.h"
#include "app/report.h"

#ifndef RNBDADM_VERSION
#define RNBDADM_VERSION	"0"
#endif

json_t *js_now(const struct ctx *ctx)
{
	struct timespec ts;

	if (ctx->test_time)
		return js_str(ctx->test_time);
	clock_gettime(CLOCK_REALTIME, &ts);
	return js_time((uint64_t)ts.tv_sec * 1000000000ULL + ts.tv_nsec);
}

const char *ctx_backend(const struct ctx *ctx)
{
	if (ctx->args.cmd && (ctx->args.cmd->flags & CMD_INFO))
		return "info";
	if (ctx->kernel ? kernel_is_sysfs(ctx->kernel) : ctx->backend == NL_SYSFS)
		return "sysfs";
	return ctx->nl_replay ? "replay" : "netlink";
}

static const char *command_words(const struct ctx *ctx, char *buf, size_t len)
{
	const struct cmd *c = ctx->args.cmd;

	if (!c)
		return ctx->args.object ? ctx->args.object : "";
	snprintf(buf, len, "%s%s%s", c->object, c->verb ? " " : "", c->verb ? c->verb : "");
	return buf;
}

json_t *js_fail(const struct ctx *ctx, const struct fail *f)
{
	json_t *e = json_object(), *o;
	char *option = fail_option(ctx, f);
	char words[64];

	js_set(e, "code", json_string(exit_table[f->code].name));
	js_set(e, "exit_status", json_integer(f->code));
	js_set(e, "message", js_str(f->message ? f->message : ""));
	js_set(e, "command", js_str(command_words(ctx, words, sizeof(words))));
	if (f->object_type) {
		o = json_object();
		js_set(o, "type", js_str(f->object_type));
		js_set_str(o, "name", f->object_name ? f->object_name : "");
		js_set(e, "object", o);
	} else {
		js_set(e, "object", json_null());
	}
	js_set(e, "errno", f->err ? json_integer(f->err) : json_null());
	js_set(e, "errno_name", f->err ? json_string(errno_name(f->err)) : json_null());
	js_set(e, "extack", js_str_or_null(f->extack));
	js_set(e, "attribute", js_str_or_null(option));
	free(option);
	js_set(e, "hint", js_str_or_null(f->hint));
	if (f->details.n)
		js_set(e, "details", js_list(&f->details));
	return e;
}

/* Envelope, then the keys that are always there, then those of @data. */
static json_t *json_envelope(const struct ctx *ctx, json_t *data)
{
	const struct cmd *c = ctx->args.cmd;
	json_t *doc = json_object(), *skel, *v;
	char *schema = xasprintf("rnbdadm.%s/1", c ? c->topic : "error");
	const char *key;

	js_set(doc, "schema", json_string(schema));
	free(schema);
	js_set(doc, "tool", json_string("rnbdadm " RNBDADM_VERSION));
	js_set(doc, "backend", json_string(ctx_backend(ctx)));
	skel = c ? json_loads(c->empty, 0, NULL) : NULL;
	json_object_foreach(skel, key, v)
		json_object_set(doc, key, v);
	json_decref(skel);
	json_object_foreach(data, key, v)
		json_object_set(doc, key, v);
	return doc;
}

/* The time is last: two documents of the same state are equal up to there. An event has its own. */
static void write_json(const struct ctx *ctx, json_t *doc)
{
	size_t flags = JSON_REAL_PRECISION(15);
	json_t *time = json_incref(json_object_get(doc, "time"));
	char *text;

	json_object_del(doc, "time");
	js_set(doc, "time", time ? time : js_now(ctx));

	if (ctx->out.pretty && ctx->out.fmt == OUT_JSON)
		flags |= JSON_INDENT(2);
	else
		flags |= JSON_COMPACT;
	text = json_text(doc, flags);
	puts(text);
	free(text);
}

void json_document(struct ctx *ctx)
{
	json_t *doc = json_envelope(ctx, ctx->data);

	if (json_array_size(ctx->warnings))
		json_object_set(doc, "warnings", ctx->warnings);
	if (ctx->fail.code)
		js_set(doc, "error", js_fail(ctx, &ctx->fail));
	write_json(ctx, doc);
	json_decref(doc);
}

void json_line(struct ctx *ctx, json_t *data)
{
	json_t *doc = json_envelope(ctx, data);

	write_json(ctx, doc);
	fflush(stdout);
	json_decref(doc);
	json_decref(data);
	ctx->streamed = true;
}

void out_attach(struct ctx *ctx, const struct view *v, json_t *list)
{
	const struct out_opts *o = &ctx->out;

	js_set(ctx->data, v->key, out_project(v, o, out_select(v, o, list)));
}

/* Each object is a document of its own. */
static void print_lines(struct ctx *ctx, const struct view *v, json_t *list)
{
	json_t *obj;
	size_t i;

	list = out_project(v, &ctx->out, list);
	json_array_foreach(list, i, obj) {
		json_t *one = json_object(), *a = json_array();

		json_array_append(a, obj);
		js_set(one, v->key, a);
		json_line(ctx, one);
	}
	json_decref(list);
}

void out_list(struct ctx *ctx, const struct view *v, json_t *list)
{
	const struct out_opts *o = &ctx->out;

	if (o->fmt == OUT_JSON) {
		out_attach(ctx, v, list);
		return;
	}
	list = out_select(v, o, list);
	if (o->fmt == OUT_JSONL) {
		print_lines(ctx, v, list);
		return;
	}
	if (o->fmt != OUT_PROM)
		out_text(v, list, o, false);
	json_decref(list);
}

void out_show(struct ctx *ctx, const struct view *v, json_t *obj)
{
	json_t *list = json_array();

	json_array_append_new(list, obj);
	if (ctx->out.fmt == OUT_JSON || ctx->out.fmt == OUT_JSONL)
		out_attach(ctx, v, list);
	else {
		out_text(v, list, &ctx->out, true);
		json_decref(list);
	}
}

void out_changed(struct ctx *ctx, const struct view *v, json_t *list)
{
	if (ctx->out.fmt == OUT_CSV)
		out_list(ctx, v, list);
	else if (ctx->out.fmt == OUT_TEXT)
		json_decref(list);
	else
		out_attach(ctx, v, list);
}
