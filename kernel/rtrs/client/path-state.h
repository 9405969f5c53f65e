/* SPDX-License-Identifier: GPL-2.0 */
/* Steps of a change of a path's state, for path-state.c, join.c and path.c. */
#ifndef RTRS_CLIENT_PATH_STATE_H
#define RTRS_CLIENT_PATH_STATE_H

#include "client.h"

/* With one reference; NULL: no memory. Process context. */
struct rtrs_client_path *rtrs_client_path_alloc(void);

/* All that follow: under session->state_lock. */

/* As rtrs_client_path_move(). */
bool rtrs_client_path_move_locked(struct rtrs_client_path *path, enum rtrs_client_path_state state,
				  int err);
/* Starts the path worker: who sees the state of the path finds it started. */
void rtrs_client_path_queue_work(struct rtrs_client_path *path);
/* Starts it after @delay jiffies, unless somebody has started it already. */
void rtrs_client_path_delay_work(struct rtrs_client_path *path, long delay);
/* Jiffies until the next attempt to connect. */
unsigned long rtrs_client_path_backoff(const struct rtrs_client_path *path);
bool rtrs_client_path_may_retry(const struct rtrs_client_path *path);
void rtrs_client_path_clear_busy(struct rtrs_client_path *path);
/*
 * Nobody founds the session now: one path that waits for this goes on, and the next one should that
 * fail. @all: it has a path again, and the server is there for all of them, also for those that it
 * has refused.
 */
void rtrs_client_paths_wake(struct rtrs_client_session *session, bool all);

#endif /* RTRS_CLIENT_PATH_STATE_H */
