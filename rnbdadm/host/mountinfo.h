/* SPDX-License-Identifier: GPL-2.0 */
/* Lines of /proc/PID/mountinfo. */
#ifndef RNBDADM_HOST_MOUNTINFO_H
#define RNBDADM_HOST_MOUNTINFO_H

#include <stdbool.h>
#include <stdint.h>

struct mount {
	uint64_t major, minor;
	char *where, *type, *source;
};

/* False for what is no such line; else mount_free() is to follow. Writes to @line. */
bool mount_parse(char *line, struct mount *m);
void mount_free(struct mount *m);

/* \040 and the like, as files of /proc have them, in place. */
void proc_unescape(char *s);

#endif
