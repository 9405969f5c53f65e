// SPDX-License-Identifier: GPL-2.0
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/processes.h"
#include "host/sysfs-file.h"

char *proc_link(const char *root, const char *pid, const char *name)
{
	char to[PATH_MAX], *path = xasprintf("%s/proc/%s/%s", root, pid, name);
	ssize_t n = readlink(path, to, sizeof(to));

	free(path);
	return n < 0 ? NULL : xstrndup(to, (size_t)n);
}

void proc_each(const char *root, void (*each)(void *arg, const char *pid), void *arg)
{
	struct strlist all = { 0 };

	sys_list(root, &all, "/proc");
	for (size_t i = 0; i < all.n; i++)
		if (!all.v[i][strspn(all.v[i], "0123456789")])
			each(arg, all.v[i]);
	strlist_free(&all);
}

void proc_files(const char *root, const char *pid, void (*each)(void *arg, const char *fd, const char *to), void *arg)
{
	struct strlist fds = { 0 };

	sys_list(root, &fds, "/proc/%s/fd", pid);
	for (size_t i = 0; i < fds.n; i++) {
		char *name = xasprintf("fd/%s", fds.v[i]), *to = proc_link(root, pid, name);

		if (to)
			each(arg, fds.v[i], to);
		free(to);
		free(name);
	}
	strlist_free(&fds);
}
