/* SPDX-License-Identifier: GPL-2.0 */
/* The JSON Schemas of schema/, compiled in. */
#ifndef RNBDADM_CMD_SCHEMA_H
#define RNBDADM_CMD_SCHEMA_H

#include <stddef.h>

struct schema {
	const char *topic;
	const char *start, *end;
};

extern const struct schema schema_table[];
extern const size_t schema_count;

#endif
