// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/plan.h"
#include "task/dry-run.h"

static const char *const actions[] = { "add", "change", "remove" };

const char *plan_object_name(enum plan_object o)
{
	static const char *const names[] = { "session", "path", "device" };

	return names[o];
}

static const char *device_path(const struct plan_step *st)
{
	return st->object == PLAN_DEVICE && st->section ? st->section->v[CK_DEVICE_PATH].text : NULL;
}

static void print_step(const struct plan_step *st)
{
	static const char signs[] = "+~-";
	char *name = printable(st->name), *path;

	if (st->action == PLAN_CHANGE) {
		printf("~   %s  %s -> %s\n", conf_key_name(st->key), st->old ? st->old : "-", st->new);
	} else if (device_path(st)) {
		path = printable(device_path(st));
		printf("+   device %s  %s\n", name, path);
		free(path);
	} else if (st->action != PLAN_ADD || st->object != PLAN_SESSION) {
		printf("%c   %s %s\n", signs[st->action], plan_object_name(st->object), name);
	}
	free(name);
}

char *plan_unmet_text(const struct plan_unmet *u)
{
	char *name = printable(u->name);
	const char *old = u->old ? u->old : "unknown";
	char *text = xasprintf("%s %s: %s stays %s, not %s: %s", plan_object_name(u->object), name,
			       conf_key_name(u->key), old, u->new, u->reason);

	free(name);
	return text;
}

static void print_unmet(const struct plan_unmet *u)
{
	char *name = printable(u->name);
	bool device = u->object == PLAN_DEVICE;

	printf("!   %s%s%s%s  %s -> %s  (%s)\n", device ? "device " : "", device ? name : "",
	       device ? "  " : "", conf_key_name(u->key), u->old ? u->old : "-", u->new, u->reason);
	free(name);
}

static void print_session(const struct plan *p, const char *session)
{
	char *name = printable(session);
	char sign = ' ';

	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].object == PLAN_SESSION && p->v[i].action != PLAN_CHANGE &&
		    !strcmp(p->v[i].session, session))
			sign = p->v[i].action == PLAN_ADD ? '+' : '-';
	printf("%c session %s\n", sign, name);
	free(name);
	for (size_t i = 0; i < p->n; i++) {
		const struct plan_step *st = &p->v[i];
		char *way;

		if (strcmp(st->session, session))
			continue;
		if (st->action == PLAN_ADD && st->object == PLAN_SESSION) {
			way = printable(st->way->text);
			printf("+   path %s\n", way);
			free(way);
		} else if (st->action != PLAN_REMOVE || st->object != PLAN_SESSION) {
			print_step(st);
		}
	}
	for (size_t i = 0; i < p->nunmet; i++)
		if (!strcmp(p->unmet[i].session, session))
			print_unmet(&p->unmet[i]);
}

static void count(const struct plan *p, size_t by_action[3], size_t *failed)
{
	*failed = 0;
	for (int i = 0; i < 3; i++)
		by_action[i] = 0;
	for (size_t i = 0; i < p->n; i++) {
		by_action[p->v[i].action]++;
		*failed += p->v[i].fail.code && !p->v[i].optional;
	}
}

void plan_print(const struct plan *p)
{
	struct strlist seen = { 0 };
	size_t n[3], failed;

	for (size_t i = 0; i < p->n + p->nunmet; i++) {
		const char *session = i < p->n ? p->v[i].session : p->unmet[i - p->n].session;

		if (strlist_has(&seen, session))
			continue;
		strlist_add(&seen, session);
		print_session(p, session);
	}
	strlist_free(&seen);
	for (size_t i = 0; i < p->nunlisted; i++) {
		const struct plan_unlisted *u = &p->unlisted[i];
		char *name = printable(u->name), *owner = printable(u->owner ? u->owner : "none");
		char *path = printable(u->device_path ? u->device_path : ""), *session = printable(u->session);

		if (u->device_path)
			printf("- device %s  %s@%s  (unlisted, owner %s; only with --prune%s)\n", name,
			       path, session, owner, u->owner ? "" : "=all");
		else
			printf("- session %s  (unlisted, owner %s; only with --prune%s)\n", name, owner,
			       u->owner ? "" : "=all");
		free(name);
		free(owner);
		free(path);
		free(session);
	}
	count(p, n, &failed);
	printf("%zu to add, %zu to change, %zu to remove, %zu unlisted", n[PLAN_ADD], n[PLAN_CHANGE],
	       n[PLAN_REMOVE], p->nunlisted);
	if (p->nunmet)
		printf(", %zu that stay", p->nunmet);
	putchar('\n');
}

static json_t *js_step(const struct ctx *ctx, const struct plan_step *st)
{
	char *source = conf_place_text(&st->source);
	struct strlist command = plan_typed(&st->command);
	json_t *o = json_object();

	js_set(o, "step", json_integer(st->stage));
	js_set(o, "action", json_string(actions[st->action]));
	js_set(o, "object", json_string(plan_object_name(st->object)));
	js_set_str(o, "session", st->session);
	js_set_str(o, "name", st->name);
	if (device_path(st))
		js_set_str(o, "device_path", device_path(st));
	else
		js_set(o, "device_path", json_null());
	js_set(o, "old", st->old ? js_str(st->old) : json_null());
	js_set(o, "new", st->new ? js_str(st->new) : json_null());
	js_set(o, "command", js_list(&command));
	if (!words_are_utf8(&command))
		js_set(o, "command_hex", js_words_hex(&command));
	strlist_free(&command);
	js_set(o, "source", source ? js_str(source) : json_null());
	js_set(o, "result", st->result ? json_string(st->result) : json_null());
	js_set(o, "error", st->fail.code ? js_fail(ctx, &st->fail) : json_null());
	free(source);
	return o;
}

static json_t *js_unmet(const struct plan_unmet *u)
{
	char *source = conf_place_text(&u->source), *key = conf_key_json(u->key);
	json_t *o = json_object();

	js_set(o, "object", json_string(plan_object_name(u->object)));
	js_set_str(o, "session", u->session);
	js_set_str(o, "name", u->name);
	js_set(o, "key", json_string(key));
	js_set(o, "old", u->old ? json_string(u->old) : json_null());
	js_set(o, "new", json_string(u->new));
	js_set(o, "reason", json_string(u->reason));
	js_set(o, "source", source ? js_str(source) : json_null());
	free(source);
	free(key);
	return o;
}

void plan_document(struct ctx *ctx, const struct plan *p)
{
	static const char *const modes[] = { "sync", "add", "replace" };
	json_t *changes = json_array(), *rest = json_array(), *stay = json_array();
	json_t *sum = json_object();
	size_t n[3], failed;

	for (size_t i = 0; i < p->n; i++)
		json_array_append_new(changes, js_step(ctx, &p->v[i]));
	for (size_t i = 0; i < p->nunlisted; i++) {
		const struct plan_unlisted *u = &p->unlisted[i];
		json_t *o = json_object();

		js_set(o, "object", json_string(plan_object_name(u->object)));
		js_set_str(o, "name", u->name);
		js_set_str(o, "session", u->session);
		if (u->device_path)
			js_set_str(o, "device_path", u->device_path);
		else
			js_set(o, "device_path", json_null());
		js_set(o, "owner", u->owner ? js_str(u->owner) : json_null());
		json_array_append_new(rest, o);
	}
	for (size_t i = 0; i < p->nunmet; i++)
		json_array_append_new(stay, js_unmet(&p->unmet[i]));
	count(p, n, &failed);
	for (int i = 0; i < 3; i++)
		js_set(sum, actions[i], json_integer((json_int_t)n[i]));
	js_set(sum, "unlisted", json_integer((json_int_t)p->nunlisted));
	js_set(sum, "failed", json_integer((json_int_t)failed));
	js_set(ctx->data, "mode", json_string(modes[p->mode]));
	js_set(ctx->data, "changes", changes);
	js_set(ctx->data, "unlisted", rest);
	js_set(ctx->data, "unmet", stay);
	js_set(ctx->data, "summary", sum);
}
