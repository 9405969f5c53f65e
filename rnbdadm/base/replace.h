/* SPDX-License-Identifier: GPL-2.0 */
/* A new content for a file, at once: whoever reads it sees the old one or the new one. */
#ifndef RNBDADM_BASE_REPLACE_H
#define RNBDADM_BASE_REPLACE_H

#include <stddef.h>

/*
 * Puts this content in place of the file @path. Owner, mode and access list stay; a new file is readable
 * for all. A symbolic link stays, and the file that it names is replaced. 0 or an errno: EEXIST for what
 * is no regular file.
 */
int replace_file(const char *path, const char *text, size_t len);
/* What it would fail with, as far as that is to be seen before. */
int replace_problem(const char *path);

#endif
