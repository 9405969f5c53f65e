/* SPDX-License-Identifier: GPL-2.0 */
/* What is known of all objects, and what an event changes in it. No I/O. */
#ifndef RNBDADM_TASK_KNOWN_H
#define RNBDADM_TASK_KNOWN_H

#include <jansson.h>

#include "kernel/kernel.h"
#include "output/to-json.h"

/* Which objects; sessions of the server are clients. */
enum {
	WATCH_SESSION	= 1 << 0,
	WATCH_PATH	= 1 << 1,
	WATCH_DEVICE	= 1 << 2,
	WATCH_EXPORT	= 1 << 3,
	WATCH_CLIENT	= 1 << 4,
	WATCH_ACCESS	= 1 << 5,
	WATCH_ALL	= (1 << 6) - 1,
};

struct watch {
	json_t *objects;		/* by kind and id */
	json_t *lost;			/* why paths of a session went, by its id */
};

/* One object as events show it. */
struct seen {
	unsigned int what;
	const char *object;		/* "path" */
	char key[32], session_key[32];
	json_t *data;
	uint64_t edge;
	const char *old_state;		/* of the event, or NULL */
	const struct counters *counters; /* to be told with it, or NULL */
	/* of a decision about access */
	json_t *access;
	char *text;			/* what a line says of it */
	const char *reason;
	uint64_t time_ns;
};

void watch_init(struct watch *w);
void watch_free(struct watch *w);
/* What the event is about; @s->data is to be released. */
void watch_event(const struct nl_event *ev, struct seen *s);
void watch_session(const struct session *sess, struct seen *s);
void watch_path(const struct path *p, struct seen *s);
void watch_device(const struct device *d, struct seen *s);
void watch_export(const struct export *e, struct seen *s);
/*
 * known-access.c: a decision about access; returns the word for it. What @s has is to be released,
 * its text, too.
 */
const char *watch_access(const json_t *ev, struct seen *s);
/* The path that was counted, as far as it is known. */
void watch_stats(const struct watch *w, const struct stats *st, struct seen *s);

/* Learns the object without telling. */
void watch_learn(struct watch *w, const struct seen *s);
/*
 * Learns what the event says. NULL if it was known, as what came before a snapshot is; else the
 * changes {key: {old, new}}, of a creation or an end none.
 */
json_t *watch_apply(struct watch *w, struct seen *s);
/* The errno that explains the state it is in now, or that of the session's path; NULL if nothing does. */
const char *watch_reason(const struct watch *w, const struct seen *s);

#endif
