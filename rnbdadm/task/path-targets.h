/* SPDX-License-Identifier: GPL-2.0 */
/* Commands over the paths of sessions. */
#ifndef RNBDADM_TASK_PATH_TARGETS_H
#define RNBDADM_TASK_PATH_TARGETS_H

#include "task/targets.h"

/* A session and paths of it, or --all; see check of struct cmd. */
int path_job_check(struct ctx *ctx);
/* The lock, and what one side has. An exit code. */
int path_job_open(struct ctx *ctx, struct job *j, enum m_role role);
/* The same of the client, for paths that are to be added; @session: see read_at_rest(). */
int path_job_open_to_add(struct ctx *ctx, struct job *j, const char *session);
/*
 * The paths of @sess that @words or --hca name, or all of them where neither does. @absent_ok:
 * what is not there is no failure. An exit code for what ends the command.
 */
int path_job_add(struct ctx *ctx, struct job *j, const struct session *sess,
		 const char *const *words, size_t nwords, bool absent_ok);

bool path_is_connected(const struct path *p);
bool path_is_down(const struct path *p);
/* What the kernel says of it after a change. */
void path_told(const struct ctx *ctx, struct path *p, const struct path *now);
/* Takes it off the picture that path_last() looks at. */
void path_gone(struct path *p);
/*
 * "the last connected path" if devices lose their way without @p, NULL if they do not. @gone: it
 * would not even be tried again.
 */
const char *path_last(const struct job *j, const struct path *p, bool gone);
/* Adds what a client has open to the details of @f. */
void path_opens(const struct snapshot *s, const struct session *sess, struct fail *f);
/* Fills @f with the refusal: what is mapped over the session, and what uses it. */
int path_refuse(const struct job *j, const struct path *p, const char *last, struct fail *f);

/* WANT_DOWN: or not there any more, which becomes of those of a server */
enum path_want { WANT_GONE, WANT_UP, WANT_DOWN };

/*
 * Before what is to be awaited for @limit, see wait_limit(). False, and a failure of the item, if
 * that cannot be.
 */
bool path_wait_begin(struct ctx *ctx, struct item *it, int64_t limit);
/* Until the path with that id is as it should be; a failure is that of the item. */
bool path_wait(struct ctx *ctx, struct item *it, uint32_t id, enum path_want want, int64_t limit);

/* Connects it again, and awaits it as --wait says; the result is in the item. */
void path_reconnect(struct ctx *ctx, struct job *j, struct item *it, uint64_t timeout_ms);
/* The failure of a request about a path becomes that of the item. */
void path_fail(struct ctx *ctx, struct item *it, const struct nl_error *e);
/* "rnbdadm path VERB SESSION PATH", or "server path" for "path". */
void path_plan(struct ctx *ctx, const struct job *j, const char *verb, const struct item *it,
	       bool force);
json_t *path_job_js(const struct ctx *ctx, const struct item *it);

#endif
