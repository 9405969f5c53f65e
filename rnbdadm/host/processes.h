/* SPDX-License-Identifier: GPL-2.0 */
/* The processes of this host and the files that they have open, below a root that tests may move. */
#ifndef RNBDADM_HOST_PROCESSES_H
#define RNBDADM_HOST_PROCESSES_H

#include "base/text.h"

/* A link of /proc/PID; NULL if it cannot be read. To be freed. */
char *proc_link(const char *root, const char *pid, const char *name);
/* Calls @each for all processes. */
void proc_each(const char *root, void (*each)(void *arg, const char *pid), void *arg);
/* Calls @each for the open files of one, with what their links say; none where the caller may not see them. */
void proc_files(const char *root, const char *pid, void (*each)(void *arg, const char *fd, const char *to), void *arg);

#endif
