// SPDX-License-Identifier: GPL-2.0
/* wait: until a session, a path or a device is as it should be */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "host/disks.h"
#include "output/to-json.h"
#include "task/select.h"
#include "task/wait.h"

struct cond {
	const char *text;		/* as it was given */
	char *expr;			/* a filter; NULL: present or absent */
	bool absent, looked;
	/* what the last look found */
	const char *type;		/* NULL: no such object */
	char *name, *is;		/* "state is degraded" */
};

/* What is wrong with the filter for this kind of object, or NULL. */
static char *problem(const struct view *v, const char *expr, char **hint)
{
	struct out_opts o = { .filter = expr };
	char *msg = NULL, *text;

	*hint = NULL;
	if (out_check(&o, v, &msg, hint))
		return out_names(&o, v, "counters", true) ?
		       xstrdup("--for: counters cannot be waited for, as nothing tells that they change") : NULL;
	/* it speaks of the option that filters have elsewhere */
	text = xasprintf("--for%s", !strncmp(msg, "--filter", 8) ? msg + 8 : msg);
	free(msg);
	return text;
}

static bool has_field(const struct view *v, const char *expr)
{
	char *name = xstrndup(expr, strcspn(expr, "=!<>"));
	bool has = field_find(v, name);

	free(name);
	return has;
}

static bool is_path(const struct parsed *a)
{
	return a->nargs > 1 || args_has(a, OPT_HCA);
}

static void parse(const char *text, struct cond *c)
{
	c->text = text;
	c->absent = !strcmp(text, "absent");
	if (c->absent || !strcmp(text, "present"))
		return;
	if (!strncmp(text, "paths", 5) && strchr("=!<>", text[5]))
		c->expr = xasprintf("paths_connected%s", text + 5);
	else
		c->expr = xstrdup(text);
}

/* The filter fits the kind of object that the words name, or may name. */
static int check_expr(struct ctx *ctx, const char *expr)
{
	bool path = is_path(&ctx->args);
	char *msg, *hint, *other, *other_hint;

	msg = problem(path ? &path_view : &session_view, expr, &hint);
	if (!msg)
		return XC_OK;
	if (path)
		return fail_usage(&ctx->fail, msg, hint);
	/* it may be about a device */
	other = problem(&device_view, expr, &other_hint);
	if (!other || !has_field(&session_view, expr)) {
		free(msg);
		free(hint);
		msg = other;
		hint = other_hint;
	} else {
		free(other);
		free(other_hint);
	}
	return msg ? fail_usage(&ctx->fail, msg, hint) : XC_OK;
}

int cmd_wait_check(struct ctx *ctx)
{
	const struct parsed *a = &ctx->args;
	struct cond c = { 0 };
	int rc = XC_OK;

	if (!args_has(a, OPT_FOR))
		return fail_set(&ctx->fail, XC_USAGE, "--for is missing");
	if (a->nargs > 1 && !path_word_ok(a->args[1], &ctx->fail))
		return XC_USAGE;
	parse(args_value(a, OPT_FOR), &c);
	if (c.expr)
		rc = check_expr(ctx, c.expr);
	free(c.expr);
	return rc;
}

static void forget(struct cond *c)
{
	free(c->name);
	free(c->is);
	c->name = c->is = NULL;
	c->type = NULL;
}

/* The value that the first field of the condition has now. */
static char *value_now(const struct cond *c, const json_t *obj)
{
	char *field = xstrndup(c->expr, strcspn(c->expr, "=!<>")), *raw, *text;
	const json_t *v = json_object_get(obj, field);

	if (json_is_string(v))
		raw = xstrdup(json_string_value(v));
	else
		raw = v ? json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
	text = xasprintf("%s is %s", field, raw ? raw : "unknown");
	free(raw);
	free(field);
	return text;
}

/* Takes the reference to @obj. */
static enum wait_is judge(struct ctx *ctx, struct cond *c, const struct view *v, json_t *obj)
{
	enum wait_is is = WAIT_MORE;
	char *msg, *hint;

	c->type = v->name;
	c->name = xstrdup(json_string_value(json_object_get(obj, "name")));
	if (!c->expr) {
		c->is = xstrdup("it is there");
		is = c->absent ? WAIT_MORE : WAIT_DONE;
	} else {
		msg = problem(v, c->expr, &hint);
		if (msg) {
			fail_usage(&ctx->fail, msg, hint);
			is = WAIT_FAIL;
		} else {
			c->is = value_now(c, obj);
			is = out_passes(v, c->expr, obj) ? WAIT_DONE : WAIT_MORE;
		}
	}
	json_decref(obj);
	return is;
}

/* The object as the command line names it; its view is NULL if there is none. */
static json_t *find(struct ctx *ctx, const struct snapshot *s, const struct view **v, struct fail *f)
{
	const struct parsed *a = &ctx->args;
	struct object_opts o = { .details = true, .root = ctx->test_root };
	const struct session *sess = snapshot_session(s, a->args[0]);
	const struct path *p;
	const struct device *d;

	*v = NULL;
	if (is_path(a)) {
		if (!sess)
			return NULL;
		p = select_path(s, sess, a->nargs > 1 ? a->args[1] : NULL,
				args_value(a, OPT_HCA), f);
		*v = p ? &path_view : NULL;
		return p ? js_path(p, s, &o) : NULL;
	}
	if (sess) {
		*v = &session_view;
		return js_session(sess, s, &o);
	}
	d = select_device(s, a->args[0], args_value(a, OPT_SESSION), ctx->test_root, f);
	*v = d ? &device_view : NULL;
	return d ? js_device(d, &o) : NULL;
}

/* No name that is to come, but a path whose session is not said. */
static bool is_path_word(const char *word)
{
	struct addr_pair pair;
	uint64_t id;
	char *msg;

	if (!strncmp(word, "id:", 3))
		return parse_uint(word + 3, &id);
	msg = addr_pair_parse(word, &pair);
	free(msg);
	return !msg;
}

static enum wait_is path_alone(struct ctx *ctx, const char *word)
{
	fail_set(&ctx->fail, XC_USAGE, "'%s' is a path, and its session is not named", word);
	fail_hint(&ctx->fail, "rnbdadm wait SESSION %s --for COND", word);
	return WAIT_FAIL;
}

static enum wait_is look(struct ctx *ctx, void *arg)
{
	struct cond *c = arg;
	const struct view *v;
	struct fail f = { 0 };
	struct snapshot s;
	enum wait_is is;
	json_t *obj;

	forget(c);
	if (!ctx_snapshot(ctx, M_CLIENT, NL_SESSIONS | NL_PATHS | NL_DEVICES_OPT, &s))
		return WAIT_FAIL;
	sys_paths(ctx->test_root, &s.paths);
	sys_devices(ctx->test_root, &s.devices);
	obj = find(ctx, &s, &v, &f);
	if (obj) {
		is = judge(ctx, c, v, obj);
	} else if (f.code && f.code != XC_NOT_FOUND) {
		fail_clear(&ctx->fail);
		ctx->fail = f;
		memset(&f, 0, sizeof(f));
		is = WAIT_FAIL;
	} else if (!c->looked && !snapshot_session(&s, ctx->args.args[0]) &&
		   is_path_word(ctx->args.args[0])) {
		is = path_alone(ctx, ctx->args.args[0]);
	} else {
		c->is = xstrdup("there is no such object");
		is = c->absent ? WAIT_DONE : WAIT_MORE;
	}
	c->looked = true;
	fail_clear(&f);
	snapshot_free(&s);
	return is;
}

static int run(struct ctx *ctx, struct cond *c)
{
	struct wait w = { .group = "session path device", .look = look, .arg = c };
	int64_t limit = ctx->timeout_ms == M_UNKNOWN_INT ? 30000 : ctx->timeout_ms;
	enum wait_is is;

	if (!args_has(&ctx->args, OPT_TEST))
		return wait_begin(ctx, &w) ? wait_end(ctx, &w, limit) : (int)ctx->fail.code;
	is = look(ctx, c);
	return is == WAIT_DONE ? XC_OK : is == WAIT_FAIL ? (int)ctx->fail.code : XC_DIFFERS;
}

int cmd_wait(struct ctx *ctx)
{
	struct cond c = { 0 };
	int64_t start = now_ms();
	json_t *o;
	int rc;

	parse(args_value(&ctx->args, OPT_FOR), &c);
	rc = run(ctx, &c);
	if (rc && !ctx->fail.code) {
		ctx->fail.err = rc == XC_TIMEOUT ? ETIMEDOUT : 0;
		fail_set(&ctx->fail, rc, "not %s: %s", c.text, c.is);
		fail_object(&ctx->fail, c.type ? c.type : "object", c.name ? c.name :
			    ctx->args.args[0]);
		if (rc == XC_TIMEOUT)
			fail_hint(&ctx->fail, "--timeout=TIME waits longer");
	}
	js_set(ctx->data, "condition", js_str(c.text));
	js_set(ctx->data, "met", json_boolean(!rc));
	if (c.type) {
		o = json_object();
		js_set(o, "type", json_string(c.type));
		js_set_str(o, "name", c.name);
		js_set(ctx->data, "object", o);
	}
	js_set(ctx->data, "waited_ms", js_s64(ctx->nl_replay ? 0 : now_ms() - start));
	if (!rc)
		say(ctx, "%s: %s", ctx->args.args[0], c.is);
	forget(&c);
	free(c.expr);
	return rc;
}
