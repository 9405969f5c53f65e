// SPDX-License-Identifier: GPL-2.0
/* Who uses a disk: mounts, swap, holders; and the links that name it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <limits.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/disks.h"
#include "host/mountinfo.h"

struct link {
	char *disk, *link;
};

/* All of it is read once for all devices, and sorted to be looked up. */
struct use {
	const char *root;
	struct mount *mounts;			/* by number */
	const struct mount **sources;		/* the same by source */
	size_t nmounts;
	struct strlist swaps;
	struct link *links;			/* by disk */
	size_t nlinks;
};

static void add_mount(struct use *u, char *line)
{
	struct mount m;

	if (!mount_parse(line, &m))
		return;
	u->mounts = xgrow(u->mounts, u->nmounts, sizeof(*u->mounts));
	u->mounts[u->nmounts++] = m;
}

static FILE *open_at(const char *root, const char *name)
{
	char *path = xasprintf("%s%s", root, name);
	FILE *f = fopen(path, "re");

	free(path);
	return f;
}

static void load_proc(struct use *u)
{
	FILE *f = open_at(u->root, "/proc/self/mountinfo");
	char *line = NULL;
	size_t cap = 0;

	while (f && getline(&line, &cap, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		add_mount(u, line);
	}
	if (f)
		fclose(f);
	f = open_at(u->root, "/proc/swaps");
	while (f && getline(&line, &cap, f) > 0) {
		line[strcspn(line, " \t\n")] = '\0';
		proc_unescape(line);
		if (!strncmp(line, "/dev/", 5))
			strlist_add(&u->swaps, line + 5);
	}
	if (f)
		fclose(f);
	free(line);
}

/* Every symbolic link below /dev/rnbd, with the disk that it ends in. */
static void load_links(struct use *u, const char *dir, int depth)
{
	char *path = xasprintf("%s%s", u->root, dir);
	DIR *d = opendir(path);
	struct dirent *e;

	free(path);
	while (d && (e = readdir(d))) {
		char target[PATH_MAX], *child, *full;
		ssize_t n;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		child = xasprintf("%s/%s", dir, e->d_name);
		full = xasprintf("%s%s", u->root, child);
		n = readlink(full, target, sizeof(target) - 1);
		if (n > 0) {
			char *base;

			target[n] = '\0';
			base = strrchr(target, '/');
			u->links = xgrow(u->links, u->nlinks, sizeof(*u->links));
			u->links[u->nlinks++] = (struct link){
				xstrdup(base ? base + 1 : target), xstrdup(child),
			};
		} else if (depth < 8) {
			load_links(u, child, depth + 1);
		}
		free(full);
		free(child);
	}
	if (d)
		closedir(d);
}

static int mount_cmp(const void *a, const void *b)
{
	const struct mount *x = a, *y = b;

	if (x->major != y->major)
		return x->major < y->major ? -1 : 1;
	return x->minor < y->minor ? -1 : x->minor > y->minor;
}

/* To sort with: mounts of one disk by their place. */
static int mount_order(const void *a, const void *b)
{
	int rc = mount_cmp(a, b);

	return rc ? rc : strcmp(((const struct mount *)a)->where, ((const struct mount *)b)->where);
}

static int source_cmp(const void *a, const void *b)
{
	return strcmp((*(const struct mount *const *)a)->source,
		      (*(const struct mount *const *)b)->source);
}

static int link_cmp(const void *a, const void *b)
{
	return strcmp(((const struct link *)a)->disk, ((const struct link *)b)->disk);
}

static void sort_all(struct use *u)
{
	if (u->nmounts > 1)
		qsort(u->mounts, u->nmounts, sizeof(*u->mounts), mount_order);
	u->sources = xcalloc(u->nmounts, sizeof(*u->sources));
	for (size_t i = 0; i < u->nmounts; i++)
		u->sources[i] = &u->mounts[i];
	if (u->nmounts > 1)
		qsort(u->sources, u->nmounts, sizeof(*u->sources), source_cmp);
	if (u->nlinks > 1)
		qsort(u->links, u->nlinks, sizeof(*u->links), link_cmp);
}

/* The first of @n sorted elements that is not before @key. */
static size_t lower(const void *v, size_t n, size_t size, const void *key,
		    int (*cmp)(const void *, const void *))
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (cmp((const char *)v + mid * size, key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void add_mount_user(struct device *d, const struct mount *m)
{
	if (strlist_has(&d->mountpoints, m->where))
		return;
	strlist_add(&d->mountpoints, m->where);
	if (!strcmp(m->where, "/") || !strcmp(m->where, "/boot"))
		strlist_addf(&d->users, "mount %s (%s), the system itself", m->where, m->type);
	else
		strlist_addf(&d->users, "mount %s (%s)", m->where, m->type);
}

static void add_mounts(const struct use *u, struct device *d, const char *name,
		       uint64_t major, uint64_t minor)
{
	struct mount key = { .major = major, .minor = minor };
	const struct mount *pkey = &key;
	size_t i;

	for (i = lower(u->mounts, u->nmounts, sizeof(key), &key, mount_cmp);
	     i < u->nmounts && !mount_cmp(&u->mounts[i], &key); i++)
		add_mount_user(d, &u->mounts[i]);
	/* some file systems have a device number of their own */
	key.source = xasprintf("/dev/%s", name);
	for (i = lower(u->sources, u->nmounts, sizeof(pkey), &pkey, source_cmp);
	     i < u->nmounts && !source_cmp(&u->sources[i], &pkey); i++)
		add_mount_user(d, u->sources[i]);
	free(key.source);
}

static void add_holders(const struct use *u, struct device *d, const char *sysdir)
{
	char *path = xasprintf("%s%s/holders", u->root, sysdir), *file, *dm;
	DIR *dir = opendir(path);
	struct strlist names = { 0 };
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			strlist_add(&names, e->d_name);
	if (dir)
		closedir(dir);
	free(path);
	strlist_sort(&names);
	for (size_t i = 0; i < names.n; i++) {
		strlist_add(&d->holders, names.v[i]);
		file = xasprintf("%s/sys/block/%s/dm/name", u->root, names.v[i]);
		dm = read_line_file(file);
		if (dm)
			strlist_addf(&d->users, "%s (%s)", names.v[i], dm);
		else
			strlist_add(&d->users, names.v[i]);
		free(dm);
		free(file);
	}
	strlist_free(&names);
}

static void add_part(const struct use *u, struct device *d, const char *disk, const char *part)
{
	char *sysdir = xasprintf("%s/%s", disk, part);
	char *file = xasprintf("%s%s/dev", u->root, sysdir), *dev = read_line_file(file);
	uint64_t major, minor;

	if (dev && sscanf(dev, "%" SCNu64 ":%" SCNu64, &major, &minor) == 2) {
		add_mounts(u, d, part, major, minor);
		add_holders(u, d, sysdir);
		if (strlist_has(&u->swaps, part))
			strlist_addf(&d->users, "swap on %s", part);
	}
	free(dev);
	free(file);
	free(sysdir);
}

/* Of what is in @sysdir, and of the partitions there. */
static void fill_users(const struct use *u, struct device *d, const char *name, const char *sysdir)
{
	char *path = xasprintf("%s%s", u->root, sysdir);
	struct dirent *e;
	DIR *dir;

	add_mounts(u, d, name, d->major, d->minor);
	add_holders(u, d, sysdir);
	if (strlist_has(&u->swaps, name))
		strlist_add(&d->users, "swap");
	dir = opendir(path);
	while (dir && (e = readdir(dir)))
		if (!strncmp(e->d_name, name, strlen(name)))
			add_part(u, d, sysdir, e->d_name);
	if (dir)
		closedir(dir);
	free(path);
}

static void fill_device(const struct use *u, struct device *d)
{
	char *sysdir = xasprintf("/sys/block/%s", d->name);
	struct link key = { .disk = d->name };

	fill_users(u, d, d->name, sysdir);
	for (size_t i = lower(u->links, u->nlinks, sizeof(key), &key, link_cmp);
	     i < u->nlinks && !link_cmp(&u->links[i], &key); i++)
		strlist_add(&d->links, u->links[i].link);
	strlist_sort(&d->holders);
	strlist_sort(&d->mountpoints);
	strlist_sort(&d->links);
	free(sysdir);
}

/* Of a disk or of a partition; disks of all kinds have their partitions below /sys/class/block, too. */
static void fill_export(const struct use *u, struct export *e)
{
	char *sysdir = xasprintf("/sys/class/block/%s", e->name);
	struct device d = { .major = e->major, .minor = e->minor };

	fill_users(u, &d, e->name, sysdir);
	strlist_sort(&d.users);
	e->users = d.users;
	strlist_free(&d.holders);
	strlist_free(&d.mountpoints);
	free(sysdir);
}

static void free_all(struct use *u)
{
	for (size_t i = 0; i < u->nmounts; i++)
		mount_free(&u->mounts[i]);
	for (size_t i = 0; i < u->nlinks; i++) {
		free(u->links[i].disk);
		free(u->links[i].link);
	}
	free(u->mounts);
	free(u->sources);
	free(u->links);
	strlist_free(&u->swaps);
}

static bool is_name(const char *name)
{
	return *name && !strchr(name, '/') && name[0] != '.';
}

void sys_devices(const char *root, struct device_list *l)
{
	struct use u = { .root = root };

	if (!l->n)
		return;
	load_proc(&u);
	load_links(&u, "/dev/rnbd", 0);
	sort_all(&u);
	for (size_t i = 0; i < l->n; i++)
		if (is_name(l->v[i].name))
			fill_device(&u, &l->v[i]);
	free_all(&u);
}

void sys_exports(const char *root, struct export_list *l)
{
	struct use u = { .root = root };

	if (!l->n)
		return;
	load_proc(&u);
	sort_all(&u);
	for (size_t i = 0; i < l->n; i++)
		if (is_name(l->v[i].name))
			fill_export(&u, &l->v[i]);
	free_all(&u);
}
