// SPDX-License-Identifier: GPL-2.0
/* The end of a path: what operations use, and its place in the lists. */
#include <linux/wait_bit.h>
#include "notify.h"
#include "server.h"

/* What operations use to their end. */
void rtrs_server_path_free_ops(struct rtrs_server_path *path)
{
	unsigned int i;

	for (i = 0; i < path->con_num; i++) {
		if (path->con[i])
			rtrs_server_con_free(path->con[i]);
		path->con[i] = NULL;
	}
	rtrs_server_ops_free(path);
	rtrs_server_mem_give(path->session, path->pinned);
}

/* Process. Nobody uses the path any more but those who have a reference. */
void rtrs_server_path_end(struct rtrs_server_path *path)
{
	struct rtrs_server_session *session = path->session;

	rtrs_server_path_free_ops(path);
	mutex_lock(&session->lock);
	mutex_lock(&session->srv->lock);
	list_del(&path->all_entry);
	mutex_unlock(&session->srv->lock);
	list_del(&path->entry);
	session->path_count--;
	rtrs_server_session_tell(session);
	rtrs_server_path_set(path, RTRS_SERVER_PATH_CLOSED, 0);
	rtrs_server_events->path_event(path, RNBD_EVENT_DESTROY, path->told,
				       RTRS_SERVER_PATH_CLOSED);
	rtrs_server_session_reap(session);
	rtrs_server_slots_kick(session);
	rtrs_server_wake(session);
	smp_mb();	/* the state before the look for who waits */
	wake_up_var(&path->state);
	mutex_unlock(&session->lock);
	rtrs_server_path_put(path);
}
