/* SPDX-License-Identifier: GPL-2.0 */
/* From the words on the command line to exactly one object. */
#ifndef RNBDADM_TASK_SELECT_H
#define RNBDADM_TASK_SELECT_H

#include "app/app.h"

/*
 * What can be said of a word before there is anything to select from, and before names of hosts
 * are resolved. False with @f filled.
 */
bool device_word_ok(const char *word, struct fail *f);
bool path_word_ok(const char *word, struct fail *f);

/*
 * Each returns the object, or NULL with @f filled: 2 malformed, 4 absent, 6 more than
 * one.
 */
const struct session *select_session(const struct snapshot *s, const char *name,
				     struct fail *f);
/* The same for a session of this server. */
const struct session *select_client(const struct snapshot *s, const char *name, struct fail *f);
/* @session may be NULL. @root as in ctx. */
struct device *select_device(const struct snapshot *s, const char *word,
			     const char *session, const char *root, struct fail *f);
/* @word is [SRC@]DST or id:N; it or @hca may be NULL, not both. */
const struct path *select_path(const struct snapshot *s, const struct session *sess,
			       const char *word, const char *hca, struct fail *f);

/* The words that select a session or a device of @s. */
void select_words(struct strlist *l, const struct snapshot *s);
/* Fills @f where no session and no device is called @word; @known: words that would do. */
void select_nothing(struct fail *f, const char *word, const struct strlist *known);

/* The disk that a file below /dev is, or ends in. To be freed. */
char *node_disk(const char *root, const char *word);

/* What names this path of its session and no other: its name, or "id:N". To be freed. */
char *path_word(const struct snapshot *s, const struct path *p);
/* NULL, or what is wrong with a session name (to be freed). */
char *session_name_problem(const char *name);

#endif
