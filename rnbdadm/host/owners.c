// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "host/owners.h"

#define KEY_MAX		250
#define DIR_NAME	"/run/rnbd/registry"

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("#+-.:=@_", c));
}

char *udev_escape(const char *s)
{
	struct strbuf b = { 0 };
	/* these two are directories */
	bool dots = !strcmp(s, ".") || !strcmp(s, "..");

	strbuf_puts(&b, "");
	while (*s) {
		size_t n = utf8_len((const unsigned char *)s);

		if (n > 1) {
			strbuf_add(&b, s, n);
			s += n;
			continue;
		}
		if (is_plain(*s) && !dots)
			strbuf_add(&b, s, 1);
		else
			strbuf_printf(&b, "\\x%02x", (unsigned char)*s);
		s++;
	}
	return b.s;
}

char *hex_unescape(const char *s)
{
	struct strbuf b = { 0 };
	unsigned int c;

	strbuf_puts(&b, "");
	for (; *s; s++) {
		bool hex = !strncmp(s, "\\x", 2) && isxdigit((unsigned char)s[2]) &&
			   isxdigit((unsigned char)s[3]) && sscanf(s + 2, "%2x", &c) == 1;

		strbuf_add(&b, hex ? &(char){ (char)c } : s, 1);
		s += hex ? 3 : 0;
	}
	return b.s;
}

bool shorten(char *name, size_t most)
{
	uint64_t h = 0xcbf29ce484222325;
	char *end = name + most - 17;

	if (strlen(name) <= most)
		return false;
	for (const char *p = name; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3;
	/* no half of a character of UTF-8, nor of \xNN */
	while (end > name && ((unsigned char)*end & 0xc0) == 0x80)
		end--;
	for (int i = 1; i < 4 && end - name > i; i++)
		if (end[-i] == '\\')
			end -= i;
	snprintf(end, 18, "~%016llx", (unsigned long long)h);
	return true;
}

char *name_link(const char *name)
{
	char *s = udev_escape(name);

	shorten(s, LINK_NAME_MAX);
	return s;
}

char *registry_key(const char *session, const char *device_path)
{
	char *s = udev_escape(session), *d = device_path ? udev_escape(device_path) : NULL;
	struct strbuf b = { 0 };

	/* where the session's name ends would not be told by a colon if it held one */
	strbuf_puts(&b, d ? "device:" : "session:");
	for (const char *p = s; *p; p++) {
		if (d && *p == ':')
			strbuf_puts(&b, "\\x3a");
		else
			strbuf_add(&b, p, 1);
	}
	if (d)
		strbuf_printf(&b, ":%s", d);
	free(s);
	free(d);
	shorten(b.s, KEY_MAX);
	return b.s;
}

static char *object_dir(const char *root, const char *session, const char *device_path)
{
	char *key = registry_key(session, device_path);
	char *dir = xasprintf("%s" DIR_NAME "/%s", root, key);

	free(key);
	return dir;
}

static char *get(const char *root, const char *session, const char *device_path, const char *what)
{
	char *dir = object_dir(root, session, device_path), *file = xasprintf("%s/%s", dir, what);
	char *value = read_line_file(file);

	free(file);
	free(dir);
	return value;
}

char *registry_owner(const char *root, const char *session, const char *device_path)
{
	return get(root, session, device_path, "owner");
}

char *registry_name(const char *root, const char *session, const char *device_path)
{
	return get(root, session, device_path, "name");
}

static int make_top(const char *root)
{
	static const char *const above[] = { "/run/rnbd", DIR_NAME };

	for (size_t i = 0; i < ARRAY_SIZE(above); i++) {
		char *path = xasprintf("%s%s", root, above[i]);
		int err = mkdir(path, 0755) && errno != EEXIST ? errno : 0;

		free(path);
		if (err)
			return err;
	}
	return 0;
}

/*
 * A note comes before its object, which may take its time. Until this program ends nobody takes the note
 * for one of an object that is gone.
 */
static void hold(const char *root)
{
	static atomic_flag held = ATOMIC_FLAG_INIT;
	char *top;
	int fd;

	if (atomic_flag_test_and_set(&held))
		return;
	top = xasprintf("%s" DIR_NAME, root);
	fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		flock(fd, LOCK_SH);
	free(top);
}

static int put(const char *root, const char *session, const char *device_path, const char *what,
	       const char *value)
{
	char *dir = object_dir(root, session, device_path);
	char *file = xasprintf("%s/%s", dir, what), *tmp = xasprintf("%s/%s.tmp", dir, what);
	int err = make_top(root), fd;
	size_t len = strlen(value);

	if (!err) {
		hold(root);
		err = mkdir(dir, 0755) && errno != EEXIST ? errno : 0;
	}
	if (!err) {
		fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
		if (fd < 0 || write(fd, value, len) != (ssize_t)len || rename(tmp, file))
			err = errno ? errno : EIO;
		if (fd >= 0)
			close(fd);
	}
	free(tmp);
	free(file);
	free(dir);
	return err;
}

int registry_set(const char *root, const char *session, const char *device_path, const char *owner)
{
	return put(root, session, device_path, "owner", owner);
}

int registry_set_name(const char *root, const char *session, const char *device_path,
		      const char *name)
{
	return put(root, session, device_path, "name", name);
}

static void forget(const char *dir)
{
	static const char *const files[] = { "owner", "owner.tmp", "name", "name.tmp" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char *file = xasprintf("%s/%s", dir, files[i]);

		unlink(file);
		free(file);
	}
	rmdir(dir);
}

void registry_forget(const char *root, const char *session, const char *device_path)
{
	char *dir = object_dir(root, session, device_path);

	forget(dir);
	free(dir);
}

void registry_clean(const char *root, const struct strlist *there)
{
	char *top = xasprintf("%s" DIR_NAME, root);
	DIR *d = opendir(top);
	struct dirent *e;

	/* see hold() */
	while (d && !flock(dirfd(d), LOCK_EX | LOCK_NB) && (e = readdir(d))) {
		char *dir;

		if (e->d_name[0] == '.' || strlist_has(there, e->d_name))
			continue;
		dir = xasprintf("%s/%s", top, e->d_name);
		forget(dir);
		free(dir);
	}
	if (d)
		closedir(d);
	free(top);
}
