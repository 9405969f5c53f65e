// SPDX-License-Identifier: GPL-2.0
/*
 * Who has a disk open that is neither mounted here nor under another disk: mounts of other namespaces, files of
 * processes, loop devices.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "host/disks.h"
#include "host/mountinfo.h"
#include "host/processes.h"
#include "host/sysfs-file.h"

/* A disk or a partition. */
struct node {
	char *name;
	uint64_t major, minor;
	struct device *disk;
};

struct search {
	const char *root;
	struct node *v;
	size_t n;
	struct strlist namespaces;	/* that were looked at */
	const char *pid;
	char *who;			/* "process 12 (dd)" */
};

static void add_node(struct search *s, struct device *d, const char *name, uint64_t major, uint64_t minor)
{
	s->v = xrealloc(s->v, (s->n + 1) * sizeof(*s->v));
	s->v[s->n++] = (struct node){ xstrdup(name), major, minor, d };
}

static void add_disk(struct search *s, struct device *d)
{
	struct strlist parts = { 0 };
	uint64_t major, minor;

	add_node(s, d, d->name, d->major, d->minor);
	sys_list(s->root, &parts, "/sys/block/%s", d->name);
	for (size_t i = 0; i < parts.n; i++) {
		char *dev = strncmp(parts.v[i], d->name, strlen(d->name)) ? NULL :
			    sys_read(s->root, "/sys/block/%s/%s/dev", d->name, parts.v[i]);

		if (dev && sscanf(dev, "%" SCNu64 ":%" SCNu64, &major, &minor) == 2)
			add_node(s, d, parts.v[i], major, minor);
		free(dev);
	}
	strlist_free(&parts);
}

static void opened(struct device *d, char *by)
{
	if (!strlist_has(&d->openers, by))
		strlist_add(&d->openers, by);
	free(by);
}

static void look_at_mount(struct search *s, const struct mount *m)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct node *n = &s->v[i];
		bool source = !strncmp(m->source, "/dev/", 5) && !strcmp(m->source + 5, n->name);

		/* some file systems have a device number of their own */
		if (source || (m->major == n->major && m->minor == n->minor))
			opened(n->disk, xasprintf("%s of %s", m->where, s->who));
	}
}

/* Each namespace once, by the first of its processes. */
static void look_at_mounts(struct search *s)
{
	char *ns = proc_link(s->root, s->pid, "ns/mnt"), *file, *text, *save = NULL;
	struct mount m;

	if (!ns || strlist_has(&s->namespaces, ns)) {
		free(ns);
		return;
	}
	strlist_add(&s->namespaces, ns);
	file = xasprintf("/proc/%s/mountinfo", s->pid);
	text = sys_text(s->root, file);
	for (char *l = text ? strtok_r(text, "\n", &save) : NULL; l; l = strtok_r(NULL, "\n", &save)) {
		if (!mount_parse(l, &m))
			continue;
		look_at_mount(s, &m);
		mount_free(&m);
	}
	free(text);
	free(file);
	free(ns);
}

/* Another namespace may have it under another name; below a moved root there is nothing but names. */
static bool is_open(const struct search *s, const struct node *n, const char *fd, const char *to)
{
	char *path;
	struct stat st;
	bool same;

	if (*s->root)
		return !strcmp(to + strlen("/dev/"), n->name);
	path = xasprintf("/proc/%s/fd/%s", s->pid, fd);
	same = !stat(path, &st) && S_ISBLK(st.st_mode) &&
	       st.st_rdev == makedev((unsigned int)n->major, (unsigned int)n->minor);
	free(path);
	return same;
}

static void look_at_file(void *arg, const char *fd, const char *to)
{
	struct search *s = arg;

	/* no look at a file of a network file system, whose server may be silent */
	for (size_t i = 0; i < s->n && !strncmp(to, "/dev/", 5); i++)
		if (is_open(s, &s->v[i], fd, to))
			opened(s->v[i].disk, xstrdup(s->who));
}

static void look_at_process(void *arg, const char *pid)
{
	struct search *s = arg;
	char *comm = sys_read(s->root, "/proc/%s/comm", pid);

	s->pid = pid;
	s->who = xasprintf("process %s (%s)", pid, comm ? comm : "?");
	look_at_mounts(s);
	proc_files(s->root, pid, look_at_file, s);
	free(s->who);
	free(comm);
}

static void look_at_loops(struct search *s)
{
	struct strlist blocks = { 0 };

	sys_list(s->root, &blocks, "/sys/block");
	for (size_t k = 0; k < blocks.n; k++) {
		char *file = strncmp(blocks.v[k], "loop", 4) ? NULL :
			     sys_read(s->root, "/sys/block/%s/loop/backing_file", blocks.v[k]);

		for (size_t i = 0; i < s->n && file && !strncmp(file, "/dev/", 5); i++)
			if (!strcmp(file + 5, s->v[i].name))
				opened(s->v[i].disk, xstrdup(blocks.v[k]));
		free(file);
	}
	strlist_free(&blocks);
}

/* Of a namespace that no process is in, or unmounted while files of it are open. */
static void look_at_filesystems(struct search *s)
{
	static const char *const types[] = { "ext4", "xfs", "f2fs" };

	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < ARRAY_SIZE(types) && !s->v[i].disk->openers.n; k++)
			if (sys_exists(s->root, "/sys/fs/%s/%s", types[k], s->v[i].name))
				opened(s->v[i].disk, xasprintf("%s, mounted where no process sees it",
							       types[k]));
}

void sys_openers(const char *root, struct device_list *l)
{
	struct search s = { .root = root };

	for (size_t i = 0; i < l->n; i++) {
		struct device *d = &l->v[i];

		if (!d->users.n && d->open_count && d->open_count != M_UNKNOWN && *d->name &&
		    !strchr(d->name, '/') && d->name[0] != '.')
			add_disk(&s, d);
	}
	if (s.n) {
		proc_each(root, look_at_process, &s);
		look_at_loops(&s);
		look_at_filesystems(&s);
	}
	for (size_t i = 0; i < s.n; i++)
		free(s.v[i].name);
	free(s.v);
	strlist_free(&s.namespaces);
}
