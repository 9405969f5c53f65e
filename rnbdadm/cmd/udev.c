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

#include "cmd/commands.h"
#include "config/sections.h"
#include "host/owners.h"
#include "host/sysfs-file.h"

struct links {
	const char *part;		/* "1" of rnbd0p1, or NULL */
	char *session, *device_path;	/* escaped, or NULL */
	char *serial;
	char *by_session, *by_name;
	struct strlist servers, by_path;
	bool cut;			/* a name was too long for a file */
};

#define DISK_PREFIX	"rnbd-"

/* Part of a link, no longer than a file name with what comes before and behind it. Frees @text. */
static char *fit(struct links *l, char *text, const char *prefix)
{
	l->cut |= shorten(text, LINK_NAME_MAX - strlen(prefix));
	return text;
}

/* The link of a disk, or of its partition. */
static char *link_of(const struct links *l, const char *disk)
{
	return l->part ? xasprintf("%s-part%s", disk, l->part) : xstrdup(disk);
}

/* SERVER/DEVICE for each server address that the session has a path to. */
static void add_paths(const struct ctx *ctx, const char *session, struct links *l)
{
	char *dir = xasprintf("%s/sys/class/rtrs-client/%s/paths", ctx->test_root, session);
	DIR *d = opendir(dir);
	struct dirent *e;

	free(dir);
	while (d && (e = readdir(d))) {
		const char *at = strrchr(e->d_name, '@');
		char *server;

		if (!at)
			continue;
		server = udev_escape(at + 1);
		if (!strlist_has(&l->servers, server))
			strlist_add(&l->servers, server);
		free(server);
	}
	if (d)
		closedir(d);
	strlist_sort(&l->servers);
	for (size_t i = 0; i < l->servers.n; i++) {
		char *device = fit(l, xstrdup(l->device_path), "");
		char *disk = xasprintf("%s/%s", l->servers.v[i], device), *link = link_of(l, disk);

		strlist_add(&l->by_path, link);
		free(link);
		free(disk);
		free(device);
	}
}

static void add_name(struct ctx *ctx, const char *session, const char *path, struct links *l)
{
	char *noted = registry_name(ctx->test_root, session, path), *escaped;
	const struct conf_section *s = NULL;
	struct conf c = { 0 };

	/* without a note the configuration is read; a mistake elsewhere in it does not take the link away */
	if (!noted && !conf_read(ctx, NULL, &c))
		s = conf_device(&c, session, path);
	if (s)
		noted = xstrdup(s->name);
	if (noted && *noted) {
		escaped = fit(l, udev_escape(noted), "");
		l->by_name = link_of(l, escaped);
		free(escaped);
	}
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
	char *path = disk_text(ctx, disk, "mapping_path"), *plain, *dir, *device;

	/* they come after the disk; an event follows them */
	if (session && *session && !strchr(session, '/') && path && *path) {
		l->session = udev_escape(session);
		l->device_path = udev_escape(path);
		/* no name holds a comma once it is escaped, so no two disks have the same */
		l->serial = fit(l, xasprintf("%s,%s", l->session, l->device_path), DISK_PREFIX);
		dir = fit(l, xstrdup(l->session), "");
		device = fit(l, xstrdup(l->device_path), "");
		plain = xasprintf("%s/%s", dir, device);
		l->by_session = link_of(l, plain);
		free(plain);
		free(device);
		free(dir);
		add_paths(ctx, session, l);
		add_name(ctx, session, path, l);
	}
	free(session);
	free(path);
}

/* A property; in JSON without the prefix, which keeps those of others apart. */
static void show(struct ctx *ctx, const char *key, const char *value)
{
	char *name;

	if (ctx->out.fmt == OUT_TEXT) {
		if (value)
			printf("%s=%s\n", key, value);
		return;
	}
	name = xstrdup(!strncmp(key, "RNBD_", 5) ? key + 5 : key);
	for (char *p = name; *p; p++)
		*p = (char)(*p == '_' ? '_' : *p - 'A' + 'a');
	js_set(ctx->data, name, value ? js_str(value) : json_null());
	free(name);
}

/* SERVER,DEVICE, to be freed. */
static char *path_name(struct links *l, size_t server)
{
	return fit(l, xasprintf("%s,%s", l->servers.v[server], l->device_path), DISK_PREFIX);
}

/* One key has all of them, so the rule cannot say where they belong. */
static char *path_links(struct links *l)
{
	struct strbuf b = { 0 };

	for (size_t i = 0; i < l->by_path.n; i++)
		strbuf_printf(&b, "%srnbd/by-path/%s", i ? " " : "", l->by_path.v[i]);
	for (size_t i = 0; i < l->servers.n; i++) {
		char *disk = path_name(l, i), *link = link_of(l, disk);

		strbuf_printf(&b, " disk/by-path/" DISK_PREFIX "%s", link);
		free(link);
		free(disk);
	}
	return b.s;
}

int cmd_udev(struct ctx *ctx)
{
	char *disk = xstrdup(ctx->args.args[0]), *paths, *id_path = NULL;
	struct links l = { 0 };

	if (!strncmp(disk, "rnbd", 4)) {
		char *p = strchr(disk, 'p');

		if (p && p[1] && !p[1 + strspn(p + 1, "0123456789")]) {
			*p = '\0';
			l.part = p + 1;
		}
		find_links(ctx, disk, &l);
	}
	paths = path_links(&l);
	if (l.servers.n) {
		char *name = path_name(&l, 0);

		id_path = xasprintf(DISK_PREFIX "%s", name);
		free(name);
	}
	if (l.cut)
		warn(ctx, "%s: a name is too long for that of a file; its links end in a hash of it", disk);
	show(ctx, "RNBD_SESSION", l.session);
	show(ctx, "RNBD_DEVICE_PATH", l.device_path);
	show(ctx, "RNBD_BY_SESSION", l.by_session);
	show(ctx, "RNBD_BY_NAME", l.by_name);
	if (ctx->out.fmt == OUT_TEXT)
		show(ctx, "RNBD_BY_PATH", paths);
	else
		js_set(ctx->data, "by_path", js_list(&l.by_path));
	show(ctx, "ID_SERIAL", l.serial);
	show(ctx, "ID_PATH", id_path);
	free(id_path);
	free(paths);
	free(l.session);
	free(l.device_path);
	free(l.serial);
	free(l.by_session);
	free(l.by_name);
	strlist_free(&l.servers);
	strlist_free(&l.by_path);
	free(disk);
	return XC_OK;
}
