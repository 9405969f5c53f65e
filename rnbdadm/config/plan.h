/* SPDX-License-Identifier: GPL-2.0 */
/* What is to be done so that what runs is as the configuration says, and in which order. */
#ifndef RNBDADM_CONFIG_PLAN_H
#define RNBDADM_CONFIG_PLAN_H

#include "config/sections.h"

enum plan_mode { PLAN_SYNC, PLAN_ADD_ONLY, PLAN_REPLACE };
enum plan_prune { PRUNE_NONE, PRUNE_CONFIG, PRUNE_ALL };

/*
 * The order of work: a new path is there before an old one goes. Documents have the numbers; 4 is kept
 * for sizes, which no configuration has.
 */
enum plan_stage {
	STAGE_CONNECT = 1, STAGE_SETTINGS, STAGE_MAP, STAGE_PATHS = 5, STAGE_PRUNE,
};

enum plan_action { PLAN_ADD, PLAN_CHANGE, PLAN_REMOVE };
enum plan_object { PLAN_SESSION, PLAN_PATH, PLAN_DEVICE };

struct plan_step {
	enum plan_stage stage;
	enum plan_action action;
	enum plan_object object;
	const char *session;
	const struct conf_section *section;	/* what asks for it; NULL: nothing does */
	const struct conf_path *way;		/* the path to add */
	uint32_t id;				/* in the kernel, of what is changed or removed */
	enum conf_key key;			/* the setting to change */
	char *name, *old, *new;
	struct strlist command;			/* that does the same */
	struct conf_place source;
	bool optional;				/* a failure of it is a warning */
	const char *result;			/* word; NULL: not done */
	struct fail fail;
};

/* What is there and not in the configuration. */
struct plan_unlisted {
	enum plan_object object;
	const char *session, *device_path, *name;
	char *owner;
};

/* What differs and stays so: no step makes it so while the object is there. */
struct plan_unmet {
	enum plan_object object;
	const char *session, *name;		/* of the object */
	enum conf_key key;
	char *old, *new;			/* @old may be NULL: unknown */
	const char *reason;
	struct conf_place source;
};

struct plan_opts {
	enum plan_mode mode;
	enum plan_prune prune;
	const struct strlist *only;		/* "session:S", "device:D"; empty: all */
	bool force;
	const struct strlist *map_words;	/* options of each map, or NULL */
	/* the owner of an object, to be freed, or NULL */
	char *(*owner)(const void *arg, const char *session, const char *device_path);
	const void *arg;
};

struct plan {
	enum plan_mode mode;
	struct plan_step *v;
	size_t n;
	struct plan_unlisted *unlisted;
	size_t nunlisted;
	struct plan_unmet *unmet;
	size_t nunmet;
};

/* Both must live as long as the plan. */
void plan_make(struct plan *p, const struct conf *c, const struct snapshot *s,
	       const struct plan_opts *o);
void plan_free(struct plan *p);

/* print-plan.c: the plan as people read it, and "changes", "unlisted", "unmet" and "summary". */
void plan_print(const struct plan *p);
void plan_document(struct ctx *ctx, const struct plan *p);
/* A sentence, to be freed. */
char *plan_unmet_text(const struct plan_unmet *u);
const char *plan_object_name(enum plan_object o);

/*
 * apply.c: does it, step by step; @s is what the plan was made from. An exit code. A dry run only finds
 * what would fail, as far as that can be known before: the steps have it.
 */
int plan_apply(struct ctx *ctx, const struct conf *c, struct plan *p, const struct snapshot *s,
	       bool stop_on_error);

#endif
