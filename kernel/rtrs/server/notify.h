/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who is told of sessions and paths. What changes them knows neither netlink nor sysfs: main.c says
 * who is told, before the server can be opened.
 */
#ifndef RTRS_SERVER_NOTIFY_H
#define RTRS_SERVER_NOTIFY_H

#include "server.h"

/**
 * struct rtrs_server_events - changes, told under session->lock
 * @session_event: of a session; @old is its state before a change
 * @path_event: of a path: from @old to @state
 */
struct rtrs_server_events {
	void (*session_event)(struct rtrs_server_session *session, enum rnbd_event event,
			      enum rnbd_session_state old);
	void (*path_event)(struct rtrs_server_path *path, enum rnbd_event event,
			   enum rtrs_server_path_state old, enum rtrs_server_path_state state);
};

/**
 * struct rtrs_server_files - what users find of a session that is up and its paths, under
 * session->lock
 * @add_session: an errno if there is no room
 * @del_session: behind its last path
 * @add_path: an errno if there is no room
 * @del_path: what @add_path has added
 */
struct rtrs_server_files {
	int (*add_session)(struct rtrs_server_session *session);
	void (*del_session)(struct rtrs_server_session *session);
	int (*add_path)(struct rtrs_server_path *path);
	void (*del_path)(struct rtrs_server_path *path);
};

/* notify.c */
extern const struct rtrs_server_events *rtrs_server_events;
extern const struct rtrs_server_files *rtrs_server_files;
/* nl.c, sysfs.c; for main.c */
extern const struct rtrs_server_events rtrs_server_nl_events;
extern const struct rtrs_server_files rtrs_server_sysfs_files;

#endif /* RTRS_SERVER_NOTIFY_H */
