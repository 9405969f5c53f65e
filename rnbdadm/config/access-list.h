/* SPDX-License-Identifier: GPL-2.0 */
/* The access list: read, compared, replaced. */
#ifndef RNBDADM_CONFIG_ACCESS_LIST_H
#define RNBDADM_CONFIG_ACCESS_LIST_H

#include "config/sections.h"

/* The list that the kernel has; an exit code. */
int access_load(struct ctx *ctx, struct access_list *l);
/* The same; false, with XC_OK in @rc, where no module with a list is loaded. */
bool access_load_if(struct ctx *ctx, struct access_list *l, int *rc);
/* The list has no such peer or export, with ACCESS_KINDS neither. An exit code. */
int access_absent(struct ctx *ctx, const struct access_list *l, enum access_kind kind, const char *name);
/* Do both say the same with this key, with AK_N: with each, and their name? */
bool access_same(const struct access_item *a, const struct access_item *b, enum access_key k);
/* Does anything lead from one list to the other? Far quicker than to tell what. */
bool access_differ(const struct access_list *a, const struct access_list *b);
/* "state", "number" and "changes" of @doc: what leads from one list to the other. Returns how many changes. */
size_t access_diff(const struct access_list *from, const struct access_list *to, json_t *doc);
void access_print_changes(const json_t *doc);
/* The configuration that the command line names; refused where it has no list. */
int access_conf(struct ctx *ctx, struct conf *c);
/* Loads @to in place of @from; @doc gets what that changes and ends. An exit code. */
int access_replace(struct ctx *ctx, const struct access_list *from, const struct access_list *to, json_t *doc);

#endif
