/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who is told of sessions and paths. What changes them knows neither netlink nor sysfs: main.c says
 * who is told, before a session can be opened.
 */
#ifndef RTRS_CLIENT_NOTIFY_H
#define RTRS_CLIENT_NOTIFY_H

struct rtrs_client_path;
struct rtrs_client_session;

/**
 * struct rtrs_client_events - changes, told under session->state_lock
 * @session_event: of a session; @event is one of RNBD_EVENT_* (uapi), @old the state before a
 *	change
 * @path_event: of a path; @old as rtrs_client_path_uapi_state() has it
 */
struct rtrs_client_events {
	void (*session_event)(struct rtrs_client_session *session, unsigned int event,
			      unsigned int old);
	void (*path_event)(struct rtrs_client_path *path, unsigned int event, unsigned int old);
};

/**
 * struct rtrs_client_files - what users find of a session and its paths; process context
 * @add_session: an errno if there is no room
 * @announce: the files of the session and of its first paths are all there
 * @del_session: waits for those who read or write a file; nothing, where @add_session failed
 * @add_path: an errno if there is no room
 * @del_path: waits as @del_session does; nothing, where @add_path was not called or failed
 */
struct rtrs_client_files {
	int (*add_session)(struct rtrs_client_session *session);
	void (*announce)(struct rtrs_client_session *session);
	void (*del_session)(struct rtrs_client_session *session);
	int (*add_path)(struct rtrs_client_path *path);
	void (*del_path)(struct rtrs_client_path *path);
};

/* notify.c */
/* Of enum rtrs_client_path_state: enum rnbd_path_state (uapi). */
unsigned int rtrs_client_path_uapi_state(unsigned int state);
extern const struct rtrs_client_events *rtrs_client_events;
extern const struct rtrs_client_files *rtrs_client_files;
/* nl.c, sysfs.c; for main.c */
extern const struct rtrs_client_events rtrs_client_nl_events;
extern const struct rtrs_client_files rtrs_client_sysfs_files;

#endif /* RTRS_CLIENT_NOTIFY_H */
