/* SPDX-License-Identifier: GPL-2.0 */
/* What map leaves beside the disk: --name, --owner and --save. */
#ifndef RNBDADM_CONFIG_SAVE_MAP_H
#define RNBDADM_CONFIG_SAVE_MAP_H

#include "config/sections.h"

/* What --save adds to. */
#define SAVED_FILE	"/etc/rnbd/conf.d/90-saved.conf"

/* --save does not go with another configuration. */
int saved_usage(struct ctx *ctx);
/* Its text, to be freed, if it can be added to; an exit code. */
int saved_read(struct ctx *ctx, char **text);
/* Puts it back with what @c has behind it. */
int saved_append(struct ctx *ctx, const char *text, const struct conf *c);

struct map_keep {
	const char *session, *device_path;
	const char *name, *owner;		/* NULL: not asked for */
	bool save;
	struct conf named;			/* the configuration as it is */
	char *saved;				/* text of the file so far */
};

/* What cannot be right, before anything is done; @known: it is mapped as that. Exit codes. */
int keep_parse(struct ctx *ctx, struct map_keep *k, const char *session, const char *device_path);
int keep_check(struct ctx *ctx, struct map_keep *k, const struct device *known);
/* Notes of the name and the owner, which are there before the disk is, and go if it does not come. */
int keep_note(struct ctx *ctx, const struct map_keep *k);
void keep_forget(struct ctx *ctx, const struct map_keep *k);
/* Is it to be saved, and not configured yet? */
/* Reads again what is saved, which another command may have added to; a code as of keep_check(). */
int keep_again(struct ctx *ctx, struct map_keep *k);
bool keep_pending(const struct map_keep *k);
/*
 * The mapping goes into the saved configuration, unless it is configured. @s: what runs, NULL to look;
 * @changed is set if it was not configured.
 */
int keep_save(struct ctx *ctx, const struct map_keep *k, const struct snapshot *s, bool *changed);
/* The options, for a plan. */
void keep_words(struct strlist *words, const struct map_keep *k);
void keep_free(struct map_keep *k);

#endif
