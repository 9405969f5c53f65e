/* SPDX-License-Identifier: GPL-2.0 */
/* What the commands of the access list have in common. */
#ifndef RNBDADM_CMD_ACCESS_H
#define RNBDADM_CMD_ACCESS_H

#include "access.h"
#include "conf.h"

/* The list that the kernel has; an exit code. */
int access_read(struct ctx *ctx, struct access_list *l);
/* The same, or false without a failure where there is no server with a list: its module, or that part of it, is not there. */
bool access_read_if(struct ctx *ctx, struct access_list *l, int *rc);
/* What leads from one list to the other, each {action, object, name, key, old, new, source}; @c, which may be NULL: where @to is from. */
json_t *access_changes(const struct access_list *from, const struct access_list *to, const struct conf *c);
/* A line of it, to be freed. */
char *access_change_text(const json_t *change);
/* The configuration that the command line names; refused where it has no list. */
int access_conf(struct ctx *ctx, struct conf *c);
/* From what runs to the list of the configuration. */
json_t *access_to_do(const struct access_list *now, const struct conf *c);
/* The list of a configuration that was checked is loaded in place of @now; what it changes and ends is in @doc. An exit code. */
int access_apply(struct ctx *ctx, struct access_list *now, const struct conf *c, json_t *doc);

#endif
