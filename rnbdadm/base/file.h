/* SPDX-License-Identifier: GPL-2.0 */
/* Files as a whole: all that is in one, and what went wrong with it; see base/replace.h. */
#ifndef RNBDADM_BASE_FILE_H
#define RNBDADM_BASE_FILE_H

#include "base/failure.h"

/* "-" is stdin. Without the byte order mark of UTF-8. 0, or an errno. */
int whole_read(const char *path, struct strbuf *b);
/* Fills @f for a file that people know by @name; returns the exit code. */
int whole_fail(struct fail *f, const char *name, int err);

#endif
