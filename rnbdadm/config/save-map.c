// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/replace.h"
#include "config/save-map.h"
#include "host/owners.h"
#include "host/sysfs-file.h"
#include "task/select.h"

#define OWNER_MAX	64

static int usage(struct ctx *ctx, const char *option, char *msg)
{
	fail_set(&ctx->fail, XC_USAGE, "%s: %s", option, msg);
	free(msg);
	return XC_USAGE;
}

/* It is shown as it is, and compared as a word. */
static char *owner_problem(const char *owner)
{
	if (strlen(owner) > OWNER_MAX)
		return xasprintf("at most %d bytes", OWNER_MAX);
	for (const char *p = owner; *p; p++)
		if (!isgraph((unsigned char)*p))
			return xstrdup("letters, digits and signs of ASCII, and no spaces");
	return NULL;
}

int saved_usage(struct ctx *ctx)
{
	const char *env = getenv("RNBDADM_CONFIG");

	if (!args_has(&ctx->args, OPT_CONFIG) && !(env && *env))
		return XC_OK;
	return usage(ctx, "--save", xstrdup("goes to " SAVED_FILE ", which another configuration does not read"));
}

int keep_parse(struct ctx *ctx, struct map_keep *k, const char *session, const char *device_path)
{
	const struct parsed *a = &ctx->args;
	char *msg;

	k->session = session;
	k->device_path = device_path;
	k->name = args_value(a, OPT_NAME);
	k->owner = args_value(a, OPT_OWNER);
	k->save = args_has(a, OPT_SAVE_MAP);
	msg = k->name ? device_name_problem(k->name) : NULL;
	if (msg)
		return usage(ctx, "--name", msg);
	msg = k->owner ? owner_problem(k->owner) : NULL;
	if (msg)
		return usage(ctx, "--owner", msg);
	return k->save ? saved_usage(ctx) : XC_OK;
}

static char *below(const struct ctx *ctx, const char *path)
{
	return xasprintf("%s%s", ctx->test_root, path);
}

/* The two directories above it. */
static int make_dirs(struct ctx *ctx)
{
	static const char *const dirs[] = { "/etc/rnbd", "/etc/rnbd/conf.d" };

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		char *path = below(ctx, dirs[i]);
		int err = mkdir(path, 0755) && errno != EEXIST ? errno : 0;

		free(path);
		if (err)
			return whole_fail(&ctx->fail, dirs[i], err);
	}
	return XC_OK;
}

/* The file as it is, which can be replaced; none is as good as an empty one. */
int saved_read(struct ctx *ctx, char **text)
{
	int rc = ctx->dry_run ? XC_OK : make_dirs(ctx), err;
	struct strbuf b = { 0 };
	char *path;

	if (rc)
		return rc;
	path = below(ctx, SAVED_FILE);
	err = whole_read(path, &b);
	*text = b.s;
	if (!err || err == ENOENT)
		err = replace_problem(path);
	free(path);
	/* the directories, in a dry run */
	if (err && !(ctx->dry_run && err == ENOENT))
		return whole_fail(&ctx->fail, SAVED_FILE, err);
	return XC_OK;
}

static int conflict(struct ctx *ctx, const struct conf_section *s, const char *what)
{
	char *where = conf_place_text(&s->at);

	fail_object(&ctx->fail, "device", s->name);
	fail_set(&ctx->fail, XC_CONFLICT, "%s '%s' (%s)", what, s->name, where ? where : "");
	free(where);
	return XC_CONFLICT;
}

/* The name is nobody else's, in the configuration and among the links. */
static int check_name(struct ctx *ctx, const struct map_keep *k, const struct device *known)
{
	const struct conf_section *own = conf_device(&k->named, k->session, k->device_path);
	const struct conf_section *other = conf_find(&k->named, CONF_DEVICE, k->name);
	char *escaped, *link, *disk;
	int rc = XC_OK;

	if (own && strcmp(own->name, k->name))
		return conflict(ctx, own, "the configuration has this device as");
	if (other && other != own)
		return conflict(ctx, other, "the configuration has another device");
	escaped = name_link(k->name);
	link = xasprintf("/dev/rnbd/by-name/%s", escaped);
	disk = sys_exists(ctx->test_root, "%s", link) ? node_disk(ctx->test_root, link) : NULL;
	if (disk && !(known && !strcmp(known->name, disk))) {
		fail_object(&ctx->fail, "device", disk);
		rc = fail_set(&ctx->fail, XC_CONFLICT, "%s is %s", link, disk);
	}
	free(disk);
	free(link);
	free(escaped);
	return rc;
}

/* A note that says something else. */
static int check_note(struct ctx *ctx, const struct device *known, const char *what, const char *want,
		      char *have)
{
	bool same = !want || (have && !strcmp(have, want));

	if (!same) {
		fail_object(&ctx->fail, "device", known->name);
		fail_set(&ctx->fail, XC_CONFLICT, "already mapped as /dev/%s, whose %s is %s%s", known->name,
			 what, have ? "" : "not set", have ? have : "");
	}
	free(have);
	return same ? XC_OK : XC_CONFLICT;
}

int keep_check(struct ctx *ctx, struct map_keep *k, const struct device *known)
{
	const struct conf_section *own;
	const char *root = ctx->test_root;
	char *name;
	int rc = XC_OK;

	if (!k->name && !k->owner && !k->save)
		return XC_OK;
	if (k->save)
		rc = conf_load(ctx, NULL, &k->named);
	else if (conf_read(ctx, NULL, &k->named))
		fail_clear(&ctx->fail);
	if (!rc && k->save)
		rc = saved_read(ctx, &k->saved);
	if (!rc && k->name)
		rc = check_name(ctx, k, known);
	if (rc || !known)
		return rc;
	own = conf_device(&k->named, k->session, k->device_path);
	name = own ? xstrdup(own->name) : registry_name(root, k->session, k->device_path);
	rc = check_note(ctx, known, "name", k->name, name);
	if (!rc)
		rc = check_note(ctx, known, "owner", k->owner,
				registry_owner(root, k->session, k->device_path));
	return rc;
}

int keep_again(struct ctx *ctx, struct map_keep *k)
{
	int rc;

	keep_free(k);
	k->named = (struct conf){ 0 };
	k->saved = NULL;
	rc = conf_load(ctx, NULL, &k->named);
	return rc ? rc : saved_read(ctx, &k->saved);
}

int keep_note(struct ctx *ctx, const struct map_keep *k)
{
	int err = 0;

	keep_forget(ctx, k);
	if (k->owner)
		err = registry_set(ctx->test_root, k->session, k->device_path, k->owner);
	if (!err && k->name)
		err = registry_set_name(ctx->test_root, k->session, k->device_path, k->name);
	if (!err)
		return XC_OK;
	keep_forget(ctx, k);
	ctx->fail.err = err;
	return fail_set(&ctx->fail, errno_exit_code(err), "cannot note the %s: %s (%s)",
			k->name ? "name" : "owner", strerror(err), errno_name(err));
}

void keep_forget(struct ctx *ctx, const struct map_keep *k)
{
	registry_forget(ctx->test_root, k->session, k->device_path);
}

int saved_append(struct ctx *ctx, const char *text, const struct conf *c)
{
	size_t len = strlen(text);
	struct strbuf b = { 0 };
	char *path = below(ctx, SAVED_FILE);
	int err;

	if (len)
		strbuf_printf(&b, "%s%s\n", text, text[len - 1] == '\n' ? "" : "\n");
	else
		strbuf_puts(&b, "# 'rnbdadm map --save' adds to it; 'rnbdadm config apply' makes it so "
				"again.\n\n");
	conf_ini_write(c, &b, false);
	err = replace_file(path, b.s, b.len);
	free(b.s);
	free(path);
	return err ? whole_fail(&ctx->fail, SAVED_FILE, err) : XC_OK;
}

/* What was asked for is saved, also where this host would take it by itself. */
static void add_connections(const struct ctx *ctx, struct conf *c)
{
	static const struct conf_place nowhere;
	const char *text = args_value(&ctx->args, OPT_CONNECTIONS);

	if (text && c->v[0].kind == CONF_SESSION && !c->v[0].v[CK_CONNECTIONS].text)
		conf_set(c, &c->v[0], conf_key_name(CK_CONNECTIONS), text, &nowhere);
}

static int add_mapping(struct ctx *ctx, const struct map_keep *k, const struct snapshot *s)
{
	char *name = k->name ? xstrdup(k->name) :
			       registry_name(ctx->test_root, k->session, k->device_path);
	const struct device *d = NULL;
	struct conf c = { 0 };
	int rc;

	/* it may have become the name of another one */
	if (name && (!*name || conf_find(&k->named, CONF_DEVICE, name))) {
		free(name);
		name = NULL;
	}
	for (size_t i = 0; i < s->devices.n; i++)
		if (!strcmp(s->devices.v[i].session, k->session) &&
		    !strcmp(s->devices.v[i].device_path, k->device_path))
			d = &s->devices.v[i];
	if (!d)
		rc = fail_set(&ctx->fail, XC_FAILED, "it is gone again");
	else if (!conf_running_device(&c, s, d, name, &k->named, ctx->test_root))
		rc = fail_set(&ctx->fail, XC_FAILED, "the session has no address that can be saved");
	else
		rc = XC_OK;
	if (!rc) {
		add_connections(ctx, &c);
		rc = saved_append(ctx, k->saved, &c);
	}
	conf_free(&c);
	free(name);
	return rc;
}

bool keep_pending(const struct map_keep *k)
{
	return k->save && !conf_device(&k->named, k->session, k->device_path);
}

int keep_save(struct ctx *ctx, const struct map_keep *k, const struct snapshot *s, bool *changed)
{
	struct snapshot now = { 0 };
	int rc;

	if (!keep_pending(k))
		return XC_OK;
	if (!s && !ctx_snapshot(ctx, M_CLIENT, NL_SESSIONS | NL_PATHS | NL_DEVICES, &now))
		return ctx->fail.code;
	rc = add_mapping(ctx, k, s ? s : &now);
	snapshot_free(&now);
	if (rc)
		return rc;
	*changed = true;
	say(ctx, "saved in %s", SAVED_FILE);
	return XC_OK;
}

void keep_words(struct strlist *words, const struct map_keep *k)
{
	if (k->name)
		strlist_addf(words, "--name=%s", k->name);
	if (k->owner)
		strlist_addf(words, "--owner=%s", k->owner);
	if (k->save)
		strlist_add(words, "--save");
}

void keep_free(struct map_keep *k)
{
	conf_free(&k->named);
	free(k->saved);
}
