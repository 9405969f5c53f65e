// SPDX-License-Identifier: GPL-2.0
/*
 * udev: what the rules of udev ask for about a disk. It runs within udev, for each event of
 * each disk, so it takes no lock, does not speak to the kernel, and what it cannot find out
 * is no failure.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "conf.h"
#include "registry.h"
#include "sysfile.h"

struct links {
	char *session, *device_path;	/* escaped, or NULL */
	char *by_session, *by_name;
	struct strlist by_path;
};

/* SERVER/DEVICE for each server address that the session has a path to. */
static void add_paths(const struct ctx *ctx, const char *session, struct links *l)
{
	char *dir = xasprintf("%s/sys/class/rtrs-client/%s/paths", ctx->test_root, session);
	DIR *d = opendir(dir);
	struct dirent *e;

	free(dir);
	while (d && (e = readdir(d))) {
		const char *at = strrchr(e->d_name, '@');
		char *server, *link;

		if (!at)
			continue;
		server = udev_escape(at + 1);
		link = xasprintf("%s/%s", server, l->device_path);
		if (!strlist_has(&l->by_path, link))
			strlist_add(&l->by_path, link);
		free(link);
		free(server);
	}
	if (d)
		closedir(d);
	strlist_sort(&l->by_path);
}

static void add_name(struct ctx *ctx, const char *session, const char *path, struct links *l)
{
	const struct conf_section *s = NULL;
	struct conf c = { 0 };
	char *noted;

	/* a mistake elsewhere in it does not take the link away */
	if (!conf_read(ctx, NULL, &c))
		s = conf_device(&c, session, path);
	noted = s ? xstrdup(s->name) : registry_name(ctx->test_root, session, path);
	if (noted && *noted)
		l->by_name = udev_escape(noted);
	free(noted);
	fail_clear(&ctx->fail);
	conf_free(&c);
}

/* A file of the disk but for the end of its line; names may end in blanks. */
static char *disk_text(const struct ctx *ctx, const char *disk, const char *file)
{
	char *path = xasprintf("/sys/block/%s/rnbd/%s", disk, file);
	char *s = strchr(disk, '/') ? NULL : sys_text(ctx->test_root, path);
	size_t n = s ? strlen(s) : 0;

	free(path);
	if (n && s[n - 1] == '\n')
		s[n - 1] = '\0';
	return s;
}

static void find_links(struct ctx *ctx, const char *disk, struct links *l)
{
	char *session = disk_text(ctx, disk, "session");
	char *path = disk_text(ctx, disk, "mapping_path");

	/* they come after the disk; an event follows them */
	if (session && *session && !strchr(session, '/') && path && *path) {
		l->session = udev_escape(session);
		l->device_path = udev_escape(path);
		l->by_session = xasprintf("%s/%s", l->session, l->device_path);
		add_paths(ctx, session, l);
		add_name(ctx, session, path, l);
	}
	free(session);
	free(path);
}

static void show(struct ctx *ctx, const char *key, const char *value)
{
	char *name;

	if (ctx->out.fmt == OUT_TEXT) {
		if (value)
			printf("RNBD_%s=%s\n", key, value);
		return;
	}
	name = xstrdup(key);
	for (char *p = name; *p; p++)
		*p = (char)(*p == '_' ? '_' : *p - 'A' + 'a');
	js_set(ctx->data, name, value ? js_str(value) : json_null());
	free(name);
}

int cmd_udev(struct ctx *ctx)
{
	const char *disk = ctx->args.args[0];
	struct links l = { 0 };
	struct strbuf paths = { 0 };

	if (!strncmp(disk, "rnbd", 4))
		find_links(ctx, disk, &l);
	/* one key has all of them, so the rule cannot say where they belong */
	for (size_t i = 0; i < l.by_path.n; i++)
		strbuf_printf(&paths, "%srnbd/by-path/%s", i ? " " : "", l.by_path.v[i]);
	show(ctx, "SESSION", l.session);
	show(ctx, "DEVICE_PATH", l.device_path);
	show(ctx, "BY_SESSION", l.by_session);
	show(ctx, "BY_NAME", l.by_name);
	if (ctx->out.fmt == OUT_TEXT)
		show(ctx, "BY_PATH", paths.s);
	else
		js_set(ctx->data, "by_path", js_list(&l.by_path));
	free(paths.s);
	free(l.session);
	free(l.device_path);
	free(l.by_session);
	free(l.by_name);
	strlist_free(&l.by_path);
	return XC_OK;
}
