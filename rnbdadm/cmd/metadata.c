// SPDX-License-Identifier: GPL-2.0
/* metadata: the command table, for completion, manuals and tests */
#include <string.h>

#include "cmd/commands.h"

static json_t *js_words(const char *values)
{
	json_t *a = json_array();

	while (values && *values) {
		size_t n = strcspn(values, "|");

		/* '#' stands for any number */
		if (n != 1 || *values != '#')
			json_array_append_new(a, json_stringn(values, n));
		values += n;
		values += *values == '|';
	}
	return a;
}

static json_t *js_option(const struct opt *o, bool global)
{
	static const char *const args[] = { "none", "required", "optional" };
	static const char *const types[] = { "text", "word", "number", "time" };
	char letter[2] = { o->letter, '\0' };
	json_t *j = json_object();

	js_set(j, "long", json_string(o->name));
	js_set(j, "short", js_str_or_null(letter));
	js_set(j, "argument", json_string(args[o->arg]));
	js_set(j, "metavar", js_str_or_null(o->metavar));
	js_set(j, "type", o->arg == ARG_NONE ? json_null() : json_string(types[o->type]));
	js_set(j, "values", js_words(o->values));
	js_set(j, "repeat", json_boolean(o->repeat));
	js_set(j, "global", json_boolean(global));
	js_set(j, "hidden", json_boolean(o->hidden));
	js_set(j, "description", json_string(o->help));
	js_set(j, "since", json_string("0.1.0"));
	return j;
}

static json_t *js_args(const struct cmd *c)
{
	json_t *a = json_array();

	for (size_t i = 0; i < CMD_ARGS && c->args[i].name; i++) {
		json_t *o = json_object();

		js_set(o, "name", json_string(c->args[i].name));
		js_set(o, "required", json_boolean(!c->args[i].optional));
		js_set(o, "repeat", json_boolean(c->args[i].repeat));
		js_set(o, "values", js_words(c->args[i].values));
		js_set(o, "description", json_string(c->args[i].help));
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *js_command(const struct cmd *c)
{
	json_t *j = json_object(), *opts = json_array(), *caps = json_array(), *ex = json_array();
	char *name = xasprintf("%s%s%s", c->object, c->verb ? " " : "", c->verb ? c->verb : "");
	char *schema = xasprintf("rnbdadm.%s/1", c->topic);

	js_set(j, "name", json_string(name));
	js_set(j, "summary", json_string(c->summary));
	js_set(j, "arguments", js_args(c));
	for (const unsigned char *o = c->opts; o && *o; o++)
		json_array_append_new(opts, js_option(&opt_table[*o], false));
	js_set(j, "options", opts);
	for (size_t i = 0; i < 2 && c->examples[i]; i++)
		json_array_append_new(ex, json_string(c->examples[i]));
	js_set(j, "examples", ex);
	js_set(j, "schema", json_string(schema));
	js_set(j, "changes", json_boolean(c->flags & CMD_CHANGES));
	js_set(j, "csv", json_boolean(!(c->flags & CMD_PLAIN)));
	if (c->flags & CMD_CHANGES) {
		json_array_append_new(caps, json_string("CAP_NET_ADMIN"));
		json_array_append_new(caps, json_string("CAP_SYS_ADMIN"));
	}
	js_set(j, "capabilities", caps);
	js_set(j, "manual", json_string(c->page));
	js_set(j, "since", json_string("0.1.0"));
	free(schema);
	free(name);
	return j;
}

int cmd_metadata(struct ctx *ctx)
{
	json_t *commands = json_array(), *options = json_array(), *codes = json_array();

	for (size_t i = 0; i < grammar->ncmds; i++)
		if (!(grammar->cmds[i].flags & CMD_HIDDEN))
			json_array_append_new(commands, js_command(&grammar->cmds[i]));
	for (int id = 1; id <= OPT_GLOBAL_LAST; id++)
		json_array_append_new(options, js_option(&opt_table[id], true));
	for (int i = 0; i < XC_MAX; i++) {
		json_t *o = json_object();

		js_set(o, "code", json_integer(i));
		js_set(o, "name", json_string(exit_table[i].name));
		js_set(o, "meaning", json_string(exit_table[i].meaning));
		json_array_append_new(codes, o);
	}
	js_set(ctx->data, "commands", commands);
	js_set(ctx->data, "options", options);
	js_set(ctx->data, "exit_codes", codes);
	js_set(ctx->data, "checks", js_checks());
	/* JSON is its only form; text means indented */
	if (ctx->out.fmt == OUT_TEXT) {
		ctx->out.fmt = OUT_JSON;
		ctx->out.pretty = true;
	}
	return XC_OK;
}
