/* SPDX-License-Identifier: GPL-2.0 */
/* One command over several objects: each has a result of its own, and the rest goes on. */
#ifndef RNBDADM_TASK_TARGETS_H
#define RNBDADM_TASK_TARGETS_H

#include "app/app.h"

/* One object to change, or a word that names none. */
struct item {
	union {
		struct device *dev;
		struct export *exp;
		struct path *path;
		struct session *sess;
	};
	const char *word;
	const char *session;		/* of a path that is not there, or not yet */
	uint64_t old_state;		/* of a path, before */
	const char *result;		/* word of the document; NULL: nothing done yet */
	struct fail fail;
};

struct job {
	struct snapshot s;
	struct item *v;
	size_t n;
	bool changed;
	const char *plural;		/* "devices" */
};

/* The words of job_devices(); see check of struct cmd. */
int job_devices_check(struct ctx *ctx);
/*
 * The devices that the command line names, by words, --session or --all. @absent_ok: what is
 * not there is no failure. An exit code for what ends the command.
 */
int job_devices(struct ctx *ctx, struct job *j, bool absent_ok);
struct item *job_add(struct job *j, void *obj, const char *word);
/*
 * A word that names no object, with the reason in @f, which it takes. NULL: the command ends with
 * it. @absent_ok: that it is not there is no failure.
 */
struct item *job_miss(struct ctx *ctx, struct job *j, const char *word, struct fail *f,
		      bool absent_ok);
/* Moves the failure of the run to the item. */
void job_fail(struct ctx *ctx, struct item *it);
/* "name", "device_path", "session", "result", "error" of a device; the caller may put more before the last. */
json_t *job_device(const struct ctx *ctx, const struct item *it);
void job_set_end(const struct ctx *ctx, json_t *o, const struct item *it);
/*
 * "changed", the list under the view's key, and the failure of the whole: that of its only object, or
 * one that counts. Returns its code.
 */
int job_report(struct ctx *ctx, struct job *j, const struct view *v,
	       json_t *(*js)(const struct ctx *ctx, const struct item *it));
/* The last part of job_report() alone. */
int job_conclude(struct ctx *ctx, struct job *j);
void job_free(struct job *j);

#endif
