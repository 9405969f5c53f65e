// SPDX-License-Identifier: GPL-2.0
/* config save, show, validate, edit-hints: what the configuration says */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "config/access-list.h"
#include "config/sections.h"
#include "host/owners.h"
#include "task/new-paths.h"
#include "task/select.h"
#include "task/wait.h"

static bool is_json(const struct ctx *ctx)
{
	return ctx->out.fmt == OUT_JSON || ctx->out.fmt == OUT_JSONL;
}

static const char *file_arg(const struct ctx *ctx)
{
	return ctx->args.nargs ? ctx->args.args[0] : NULL;
}

/* As text or JSON, to be freed. */
static char *conf_text(const struct ctx *ctx, const struct conf *c)
{
	struct strbuf b = { 0 };
	json_t *doc;

	if (!is_json(ctx)) {
		strbuf_puts(&b, "# Written by 'rnbdadm config save'; 'rnbdadm config apply' makes it "
			    "so again.\n\n");
		conf_ini_write(c, &b, false);
		return b.s;
	}
	doc = json_object();
	js_set(doc, "schema", json_string("rnbdadm.config/1"));
	conf_json_write(c, doc, false);
	b.s = json_text(doc, JSON_INDENT(2));
	json_decref(doc);
	b.len = strlen(b.s);
	b.cap = b.len + 1;
	strbuf_puts(&b, "\n");
	return b.s;
}

static int save(struct ctx *ctx, const struct conf *c, const char *file)
{
	char *text;
	int rc = XC_OK;

	for (size_t i = 0; i < c->nproblems; i++)
		warn(ctx, "%s", c->problems[i].message);
	conf_json_write(c, ctx->data, false);
	if (is_json(ctx) && !file)
		return XC_OK;
	text = conf_text(ctx, c);
	if (file)
		rc = ctx->dry_run ? conf_check_file(ctx, file) : conf_write_file(ctx, file, text);
	else
		fputs(text, stdout);
	free(text);
	return rc;
}

/* Those of 'map --name', which no file has. */
static void noted_names(const struct ctx *ctx, const struct snapshot *s, struct conf *named)
{
	static const struct conf_place nowhere;

	for (size_t i = 0; i < s->devices.n; i++) {
		const struct device *d = &s->devices.v[i];
		char *name = conf_device(named, d->session, d->device_path) ? NULL :
			     registry_name(ctx->test_root, d->session, d->device_path);
		struct conf_section *sec;

		if (name && *name && !conf_find(named, CONF_DEVICE, name)) {
			sec = conf_section(named, CONF_DEVICE, name, &nowhere);
			conf_set(named, sec, conf_key_name(CK_SESSION), d->session, &nowhere);
			conf_set(named, sec, conf_key_name(CK_DEVICE_PATH), d->device_path, &nowhere);
		}
		free(name);
	}
}

/* Of all sessions those that can be saved are; one that was asked for by its name must be. */
static int tell_left(struct ctx *ctx, const char *session, const struct strlist *left)
{
	if (session && left->n) {
		fail_object(&ctx->fail, "session", session);
		return fail_set(&ctx->fail, XC_FAILED, "%s", left->v[0]);
	}
	for (size_t i = 0; i < left->n; i++)
		warn(ctx, "%s", left->v[i]);
	return XC_OK;
}

/* The list that is loaded, if there is a server with one. */
static int save_access(struct ctx *ctx, struct conf *c)
{
	struct access_list l = { 0 };
	int rc;

	if (access_load_if(ctx, &l, &rc) && access_state(&l) == ACCESS_LISTED)
		conf_access_running(c, &l);
	access_free(&l);
	return rc;
}

int cmd_config_save(struct ctx *ctx)
{
	const char *session = args_value(&ctx->args, OPT_SESSION), *file = file_arg(ctx);
	struct conf c = { 0 }, named = { 0 };
	struct strlist left = { 0 };
	struct snapshot s;
	int rc;

	if (!read_at_rest(ctx, NL_SESSIONS | NL_PATHS | NL_DEVICES_OPT, session, &s))
		return ctx->fail.code;
	rc = session && !select_session(&s, session, &ctx->fail) ? (int)ctx->fail.code : XC_OK;
	/* for the names of devices alone; one that is wrong has them all the same */
	if (!rc && conf_read(ctx, NULL, &named))
		fail_clear(&ctx->fail);
	if (!rc) {
		noted_names(ctx, &s, &named);
		conf_running(&c, &s, session, &named, ctx->test_root, &left);
		rc = tell_left(ctx, session, &left);
	}
	if (!rc && !session)
		rc = save_access(ctx, &c);
	if (!rc)
		rc = save(ctx, &c, file && strcmp(file, "-") ? file : NULL);
	strlist_free(&left);
	snapshot_free(&s);
	conf_free(&named);
	conf_free(&c);
	return rc;
}

/* Each section with what the defaults give it, each path as the kernel spells it. */
static void flatten(struct conf *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct conf_section *s = &c->v[i];

		for (size_t j = 0; j < s->npaths; j++) {
			struct addr_pair pair = conf_pair(c, s, &s->paths[j]);

			if (!s->paths[j].resolved)
				continue;
			free(s->paths[j].text);
			s->paths[j].text = way_text(&pair);
		}
		for (int k = 0; k < CK_N && s->kind != CONF_DEFAULTS; k++) {
			const struct conf_value *v = conf_get(c, s, k);

			if (v && v != &s->v[k] && conf_key_fits(k, s->kind))
				conf_set(c, s, conf_key_name(k), v->text, &v->at);
		}
	}
	conf_drop_defaults(c);
}

int cmd_config_show(struct ctx *ctx)
{
	struct conf c = { .lenient = args_has(&ctx->args, OPT_LENIENT) };
	int rc = conf_load(ctx, file_arg(ctx), &c);

	if (!rc && args_has(&ctx->args, OPT_RESOLVED)) {
		conf_resolve(&c);
		flatten(&c);
	}
	if (!rc && is_json(ctx)) {
		conf_json_write(&c, ctx->data, true);
	} else if (!rc) {
		struct strbuf b = { 0 };

		strbuf_puts(&b, "");
		conf_ini_write(&c, &b, true);
		fputs(c.n ? b.s : "# nothing is configured\n", stdout);
		free(b.s);
	}
	conf_free(&c);
	return rc;
}

static json_t *js_problems(const struct conf *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->nproblems; i++) {
		const struct conf_problem *p = &c->problems[i];
		json_t *o = json_object();

		js_set(o, "severity", json_string(p->warning ? "warning" : "error"));
		js_set(o, "file", p->at.file ? js_str(p->at.file) : json_null());
		js_set(o, "line", p->at.line ? json_integer(p->at.line) : json_null());
		js_set(o, "column", p->at.col ? json_integer(p->at.col) : json_null());
		js_set(o, "message", js_str(p->message));
		json_array_append_new(list, o);
	}
	return list;
}

int cmd_config_validate(struct ctx *ctx)
{
	struct conf c = { .lenient = args_has(&ctx->args, OPT_LENIENT) };
	int rc = conf_load(ctx, file_arg(ctx), &c);

	js_set(ctx->data, "files", js_list(&c.files));
	js_set(ctx->data, "problems", js_problems(&c));
	if (!rc)
		say(ctx, "%zu files, %zu sections", c.files.n, c.n);
	conf_free(&c);
	return rc;
}

static void hint_keys(struct strbuf *b, enum conf_kind kind)
{
	/* settings come last */
	for (int i = 0; i < CK_N; i++) {
		enum conf_key k = (enum conf_key)((i + CK_PATH) % CK_N);

		if (conf_key_fits(k, kind))
			strbuf_printf(b, "# %s =\n#     %s\n", conf_key_name(k), conf_key_help(k));
	}
}

int cmd_config_edit_hints(struct ctx *ctx)
{
	struct strbuf b = { 0 };

	strbuf_puts(&b, "# Read in this order: /etc/rnbd/rnbdadm.conf, then /etc/rnbd/conf.d/*.conf "
		    "by name.\n"
		    "# A key without a value takes the kernel's default. After a change: 'rnbdadm config\n"
		    "# validate', 'rnbdadm config diff', then 'rnbdadm config apply'.\n\n"
		    "# For sections that do not say otherwise: keys of both that name no object\n"
		    "[defaults]\n");
	strbuf_puts(&b, "\n# A session, by name\n# [session cl1@srv1]\n");
	hint_keys(&b, CONF_SESSION);
	strbuf_puts(&b, "\n# A device; its name becomes the link /dev/rnbd/by-name/data\n"
		    "# [device data]\n");
	hint_keys(&b, CONF_DEVICE);
	strbuf_puts(&b, "\n# On a server: a client, as it is recognised\n# [peer old1]\n");
	hint_keys(&b, CONF_PEER);
	strbuf_puts(&b, "\n# On a server: a device or file that clients may map as vol0\n"
			"# [export vol0]\n");
	hint_keys(&b, CONF_EXPORT);
	if (is_json(ctx))
		js_set(ctx->data, "lines", js_lines(b.s));
	else
		fputs(b.s, stdout);
	free(b.s);
	return XC_OK;
}
