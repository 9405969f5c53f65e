// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/replace.h"
#include "base/text.h"

#define LINKS_MAX	40
#define ACL		"system.posix_acl_access"

/* The file to be replaced, and what it is. */
struct target {
	char *path, *dir;
	bool there;
	struct stat st;
};

/* The name that the link @path stands for, which need not exist; NULL if @path is no link. */
static char *link_target(const char *path)
{
	char to[PATH_MAX];
	ssize_t n = readlink(path, to, sizeof(to) - 1);
	const char *slash = strrchr(path, '/');

	if (n < 0)
		return NULL;
	to[n] = '\0';
	return *to == '/' || !slash ? xstrdup(to) : xasprintf("%.*s/%s", (int)(slash - path), path, to);
}

static char *dir_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
}

static int find_target(struct target *t, const char *path)
{
	char *next;

	/* here the kernel refuses a stranger's link in a directory like /tmp, and a circle */
	t->there = !stat(path, &t->st);
	if (!t->there && errno != ENOENT)
		return errno;
	if (t->there && !S_ISREG(t->st.st_mode))
		return S_ISDIR(t->st.st_mode) ? EISDIR : EEXIST;
	t->path = xstrdup(path);
	for (int i = 0; i < LINKS_MAX && (next = link_target(t->path)); i++) {
		free(t->path);
		t->path = next;
	}
	t->dir = dir_of(t->path);
	return access(t->dir, W_OK | X_OK) ? errno : 0;
}

static void free_target(struct target *t)
{
	free(t->path);
	free(t->dir);
}

/* Its group bits are the upper limit of the list, which may have none for the group itself. */
static int copy_acl(const char *from, int fd)
{
	char acl[4096];
	ssize_t n = getxattr(from, ACL, acl, sizeof(acl));

	if (n < 0)
		return errno == ENODATA || errno == EOPNOTSUPP ? 0 : errno;
	return fsetxattr(fd, ACL, acl, (size_t)n, 0) ? errno : 0;
}

/* Nobody but us can read the new file until then. */
static int copy_access(const struct target *t, int fd)
{
	struct stat now;

	/* whatever the umask says */
	if (!t->there)
		return fchmod(fd, 0644) ? errno : 0;
	if (fstat(fd, &now))
		return errno;
	if ((now.st_uid != t->st.st_uid || now.st_gid != t->st.st_gid) &&
	    fchown(fd, t->st.st_uid, t->st.st_gid))
		return errno;
	if (fchmod(fd, t->st.st_mode & 07777))
		return errno;
	return copy_acl(t->path, fd);
}

static int write_out(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno != EINTR)
			return errno;
		text += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* The name is of the new file for good. */
static int sync_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	/* one that can be written to and not read has no more to give */
	if (fd < 0)
		return errno == EACCES ? 0 : errno;
	err = fsync(fd) && errno != EINVAL ? errno : 0;
	close(fd);
	return err;
}

static int put(const struct target *t, const char *text, size_t len)
{
	/* a name that no former run can have left, and that nobody reads *.conf or *.prom by */
	char *tmp = xasprintf("%s.XXXXXX.tmp", t->path);
	int fd = mkostemps(tmp, (int)strlen(".tmp"), O_CLOEXEC);
	int err = fd < 0 ? errno : write_out(fd, text, len);

	if (!err)
		err = copy_access(t, fd);
	if (!err && fsync(fd))
		err = errno;
	if (fd >= 0 && close(fd) && !err)
		err = errno;
	if (!err && rename(tmp, t->path))
		err = errno;
	if (err && fd >= 0)
		unlink(tmp);
	free(tmp);
	return err ? err : sync_dir(t->dir);
}

int replace_file(const char *path, const char *text, size_t len)
{
	struct target t = { 0 };
	int err = find_target(&t, path);

	if (!err)
		err = put(&t, text, len);
	free_target(&t);
	return err;
}

int replace_problem(const char *path)
{
	struct target t = { 0 };
	int err = find_target(&t, path);

	free_target(&t);
	return err;
}
