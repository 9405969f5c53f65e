// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/sysfs-file.h"

static char *below(const char *root, const char *fmt, va_list ap)
{
	char *rel = xvasprintf(fmt, ap), *path = xasprintf("%s%s", root, rel);

	free(rel);
	return path;
}

#define BELOW(root, fmt, path) do {		\
	va_list ap_;				\
						\
	va_start(ap_, fmt);			\
	path = below(root, fmt, ap_);		\
	va_end(ap_);				\
} while (0)

char *sys_read(const char *root, const char *fmt, ...)
{
	char *path, *s;

	BELOW(root, fmt, path);
	s = read_line_file(path);
	free(path);
	return s;
}

uint64_t sys_number(const char *root, const char *fmt, ...)
{
	uint64_t v = UINT64_MAX;
	char *path, *s;

	BELOW(root, fmt, path);
	s = read_line_file(path);
	if (s && *s >= '0' && *s <= '9')
		v = strtoull(s, NULL, 10);
	free(s);
	free(path);
	return v;
}

char *sys_text(const char *root, const char *file)
{
	char *path = xasprintf("%s%s", root, file), buf[4096];
	FILE *f = fopen(path, "re");
	struct strbuf b = { 0 };
	size_t n;

	free(path);
	if (!f)
		return NULL;
	strbuf_puts(&b, "");
	while ((n = fread(buf, 1, sizeof(buf), f)))
		strbuf_add(&b, buf, n);
	fclose(f);
	return b.s;
}

bool sys_exists(const char *root, const char *fmt, ...)
{
	char *path;
	bool there;

	BELOW(root, fmt, path);
	there = !access(path, F_OK);
	free(path);
	return there;
}

void sys_list(const char *root, struct strlist *l, const char *fmt, ...)
{
	struct dirent *e;
	char *path;
	DIR *d;

	BELOW(root, fmt, path);
	d = opendir(path);
	free(path);
	if (!d)
		return;
	while ((e = readdir(d)))
		if (e->d_name[0] != '.')
			strlist_add(l, e->d_name);
	closedir(d);
	strlist_sort(l);
}
