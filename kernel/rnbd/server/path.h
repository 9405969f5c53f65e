/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the name that a client gave leads to. Text only: the unit tests and
 * fuzzers build path.c on the host.
 */
#ifndef RNBD_SERVER_PATH_H
#define RNBD_SERVER_PATH_H

#include <linux/types.h>
#ifndef __KERNEL__
#include <stddef.h>
#include <stdbool.h>
#endif

#define RNBD_SERVER_PATH_SIZE	4096	/* PATH_MAX: bytes of a path, NUL included */
#define RNBD_SERVER_PATH_TOKEN	"%SESSNAME%"

/**
 * struct rnbd_server_path - a path below the search path of a session
 * @text: terminated; no two '/' in a row
 * @base: bytes before the name of the session in @text, which the client chose; @rel where there
 *	is none
 * @rel: bytes of the search path in @text, its last '/' included; the rest is the client's
 */
struct rnbd_server_path {
	char	text[RNBD_SERVER_PATH_SIZE];
	size_t	base;
	size_t	rel;
};

/**
 * rnbd_server_path_parse_root - check the value of dev_search_path
 * @val: terminated; one newline at its end is cut
 * @out: RNBD_SERVER_PATH_SIZE bytes
 *
 * Return: 0, or -EINVAL if it is too long or does not begin with '/'; @out is then left alone
 */
int rnbd_server_path_parse_root(const char *val, char *out);

/**
 * rnbd_server_path_compose - put search path, session and name together
 * @path: result
 * @root: search path; its first %SESSNAME% becomes "/" and the session's name, text behind stays
 * @session: name of the session
 * @name: what the client asked for
 *
 * Return: 0, or -EINVAL if @name has ".." as a component or the whole is too long
 */
int rnbd_server_path_compose(struct rnbd_server_path *path, const char *root, const char *session,
			     const char *name);

/* Where the search path is not "/", nothing outside may be reached. */
static inline bool rnbd_server_path_confined(const struct rnbd_server_path *path)
{
	return path->rel > 1;
}

#endif /* RNBD_SERVER_PATH_H */
