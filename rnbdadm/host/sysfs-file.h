/* SPDX-License-Identifier: GPL-2.0 */
/* Small files and directories of /sys, /proc and the like, below a root that tests may move. */
#ifndef RNBDADM_HOST_SYSFS_FILE_H
#define RNBDADM_HOST_SYSFS_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* The content without its trailing white space; NULL if it cannot be read. To be freed. */
char *sys_read(const char *root, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The decimal number at its start; UINT64_MAX if there is none. */
uint64_t sys_number(const char *root, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* All of it, however long; NULL if it cannot be read. */
char *sys_text(const char *root, const char *file);
bool sys_exists(const char *root, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Names in a directory in natural order, without the dot files. */
void sys_list(const char *root, struct strlist *l, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
