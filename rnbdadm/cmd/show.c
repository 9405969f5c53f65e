// SPDX-License-Identifier: GPL-2.0
/* show: whatever has that name */
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "host/disks.h"
#include "output/to-json.h"
#include "task/select.h"

/* Of each kind the one that fits, as JSON, or NULL. */
struct shown {
	json_t *obj;
	const struct view *view;
	struct strlist names;		/* of all that fit */
	struct strlist known;		/* of what there is */
};

/* Takes the object. */
static void found(struct shown *sh, const struct view *v, json_t *obj, const char *kind, const char *name)
{
	strlist_addf(&sh->names, "%s %s", kind, name);
	json_decref(sh->obj);
	sh->obj = obj;
	sh->view = v;
}

static void find_paths(struct shown *sh, const struct snapshot *s, const char *word,
		       const struct object_opts *o)
{
	struct addr_pair want;
	char *msg = addr_pair_parse(word, &want);

	for (size_t i = 0; i < s->paths.n && !msg; i++) {
		const struct path *p = &s->paths.v[i];
		char *name;

		if (!addr_pair_matches(&want, &p->client, &p->server))
			continue;
		name = xasprintf("%s of %s", p->name, p->session);
		found(sh, o->role ? &server_path_view : &path_view, js_path(p, s, o), "path", name);
		free(name);
	}
	free(msg);
}

/* False with ctx->fail set where the name of a device is not that of one. */
static bool find_client(struct ctx *ctx, struct shown *sh, struct snapshot *s, const char *word)
{
	const struct object_opts o = { .root = ctx->test_root };
	const struct session *sess = snapshot_session(s, word);
	const struct device *d;
	struct fail f = { 0 };

	sys_paths(ctx->test_root, &s->paths);
	sys_devices(ctx->test_root, &s->devices);
	sys_openers(ctx->test_root, &s->devices);
	if (sess)
		found(sh, &session_view, js_session(sess, s, &o), "session", sess->name);
	d = select_device(s, word, NULL, ctx->test_root, &f);
	if (d)
		found(sh, &device_view, js_device(d, &o), "device", d->name);
	if (f.code == XC_CONFLICT) {
		ctx->fail = f;
		return false;
	}
	fail_clear(&f);
	find_paths(sh, s, word, &o);
	select_words(&sh->known, s);
	return true;
}

static void find_server(struct ctx *ctx, struct shown *sh, struct snapshot *s, const char *word)
{
	const struct object_opts o = { .root = ctx->test_root, .role = true };
	const struct session *sess = snapshot_session(s, word);
	char *disk = !strncmp(word, "/dev/", 5) ? node_disk(ctx->test_root, word) : xstrdup(word);
	json_t *list;

	sys_exports(ctx->test_root, &s->exports);
	list = js_exports(&s->exports, disk, &o);
	sys_paths(ctx->test_root, &s->paths);
	if (sess)
		found(sh, &client_view, js_session(sess, s, &o), "client", sess->name);
	if (json_array_size(list))
		found(sh, &export_view, json_incref(json_array_get(list, 0)), "export", disk);
	find_paths(sh, s, word, &o);
	select_words(&sh->known, s);
	for (size_t i = 0; i < s->exports.n; i++)
		strlist_add(&sh->known, s->exports.v[i].name);
	json_decref(list);
	free(disk);
}

static int conclude(struct ctx *ctx, struct shown *sh, const char *word)
{
	char *hint;

	if (sh->names.n == 1) {
		out_show(ctx, sh->view, sh->obj);
		sh->obj = NULL;
		return XC_OK;
	}
	fail_object(&ctx->fail, "object", word);
	if (!sh->names.n) {
		hint = suggest(word, &sh->known);
		fail_hint(&ctx->fail, "%s", hint ? hint : "rnbdadm status lists all objects");
		free(hint);
		fail_set(&ctx->fail, XC_NOT_FOUND, "nothing is called '%s'", word);
		fail_text(&ctx->fail, "nothing has this name");
		return XC_NOT_FOUND;
	}
	for (size_t i = 0; i < sh->names.n; i++)
		strlist_add(&ctx->fail.details, sh->names.v[i]);
	fail_hint(&ctx->fail, "rnbdadm session show, device show, path show ...");
	return fail_set(&ctx->fail, XC_CONFLICT, "%zu objects are called '%s'", sh->names.n, word);
}

int cmd_show(struct ctx *ctx)
{
	const char *word = ctx->args.args[0];
	struct shown sh = { 0 };
	struct snapshot s;
	bool client, server = false;
	int rc = XC_OK;

	client = ctx_snapshot(ctx, M_CLIENT, NL_SESSIONS | NL_PATHS | NL_DEVICES_OPT, &s);
	if (client && !find_client(ctx, &sh, &s, word))
		rc = ctx->fail.code;
	snapshot_free(&s);
	/* a host may be either, or both */
	if (!rc && (client || ctx->fail.code == XC_UNAVAILABLE)) {
		fail_clear(&ctx->fail);
		server = ctx_snapshot(ctx, M_SERVER, NL_SESSIONS | NL_PATHS | NL_EXPORTS_OPT, &s);
		if (server)
			find_server(ctx, &sh, &s, word);
		else if (client && ctx->fail.code == XC_UNAVAILABLE)
			fail_clear(&ctx->fail);
		snapshot_free(&s);
	}
	rc = ctx->fail.code ? (int)ctx->fail.code : conclude(ctx, &sh, word);
	json_decref(sh.obj);
	strlist_free(&sh.names);
	strlist_free(&sh.known);
	return rc;
}
