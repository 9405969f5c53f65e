// SPDX-License-Identifier: GPL-2.0
/*
 * Composition of paths. Pure text: what the file system makes of it is
 * lookup.c's.
 */
#include <linux/types.h>
#include <linux/errno.h>

#include "path.h"

int rnbd_server_path_parse_root(const char *val, char *out)
{
	size_t len = __builtin_strlen(val);

	if (len && val[len - 1] == '\n')
		len--;
	if (!len || len >= RNBD_SERVER_PATH_SIZE || val[0] != '/')
		return -EINVAL;
	__builtin_memcpy(out, val, len);
	out[len] = '\0';
	return 0;
}

/* "a/../b", but not "a..b". */
static bool has_dotdot(const char *name)
{
	const char *p = name;

	while (*p) {
		if (p[0] == '.' && p[1] == '.' && (p[2] == '/' || !p[2]))
			return true;
		while (*p && *p != '/')
			p++;
		while (*p == '/')
			p++;
	}
	return false;
}

/* Appends; a '/' behind a '/' is left out. */
static int put(char *text, size_t *len, const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (s[i] == '/' && *len && text[*len - 1] == '/')
			continue;
		if (*len == RNBD_SERVER_PATH_SIZE - 1)
			return -EINVAL;
		text[(*len)++] = s[i];
	}
	return 0;
}

static int put_session(struct rnbd_server_path *path, size_t *len, const char *session,
		       const char *rest)
{
	char *text = path->text;

	if (put(text, len, "/", 1))
		return -EINVAL;
	path->base = *len;
	if (put(text, len, session, __builtin_strlen(session)) ||
	    put(text, len, rest, __builtin_strlen(rest)))
		return -EINVAL;
	return put(text, len, "/", 1);
}

static int put_root(struct rnbd_server_path *path, size_t *len, const char *root,
		    const char *session)
{
	const char *token = __builtin_strstr(root, RNBD_SERVER_PATH_TOKEN);
	size_t n = token ? token - root : __builtin_strlen(root);

	if (put(path->text, len, root, n))
		return -EINVAL;
	if (token)
		return put_session(path, len, session, token + sizeof(RNBD_SERVER_PATH_TOKEN) - 1);
	if (put(path->text, len, "/", 1))
		return -EINVAL;
	path->base = *len;
	return 0;
}

int rnbd_server_path_compose(struct rnbd_server_path *path, const char *root, const char *session,
			     const char *name)
{
	size_t n = __builtin_strlen(name), len = 0;

	if (__builtin_strlen(root) + n >= RNBD_SERVER_PATH_SIZE || has_dotdot(name))
		return -EINVAL;
	if (put_root(path, &len, root, session))
		return -EINVAL;
	path->rel = len;
	if (put(path->text, &len, name, n))
		return -EINVAL;
	path->text[len] = '\0';
	return 0;
}
