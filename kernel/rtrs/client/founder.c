// SPDX-License-Identifier: GPL-2.0
/* Which path founds the session while none is connected. */
#include <linux/rcupdate.h>
#include "connect.h"

/* Under state_lock. */
static bool path_may_found(const struct rtrs_client_path *path)
{
	const struct rtrs_client_session *session = path->session;

	return !session->founder || session->founder == path ||
	       time_after(jiffies, session->founded + msecs_to_jiffies(RTRS_CLIENT_FOUNDER_MS));
}

/*
 * A server makes a session for the connect request of a founder, and ends its older session of that
 * uuid. While no path is connected, one path is the founder and the others wait: two founders that
 * reach two servers would have the data in two places. A founder without an answer for
 * RTRS_CLIENT_FOUNDER_MS is replaced; the server refuses its late requests by ->founding.
 */
int rtrs_client_session_found(struct rtrs_client_path *path)
{
	struct rtrs_client_session *session = path->session;
	int err = 0;

	spin_lock_bh(&session->state_lock);
	path->asked = session->losses;
	path->founds = false;
	if (!session->connected) {
		path->founds = path_may_found(path);
		if (path->founds) {
			session->founder = path;
			session->founded = jiffies;
			path->founding = ++session->foundings;
		} else {
			err = -EBUSY;
		}
	}
	spin_unlock_bh(&session->state_lock);
	return err;
}

/*
 * The server did not know the session when @path sent its connect request: each path that was up by
 * then is lost, though its heartbeat may not have told yet. The next attempt founds the session.
 */
void rtrs_client_session_gone(struct rtrs_client_path *path)
{
	const struct rtrs_client_path_set *set;
	unsigned int i;

	rcu_read_lock();
	set = rcu_dereference(path->session->paths);
	for (i = 0; i < set->count; i++)
		rtrs_client_path_gone(set->path[i], path->asked);
	rcu_read_unlock();
}

/* An answer to the founder restarts its time: its connections may be many, or slow. */
void rtrs_client_session_answered(struct rtrs_client_path *path)
{
	struct rtrs_client_session *session = path->session;

	spin_lock_bh(&session->state_lock);
	if (session->founder == path)
		session->founded = jiffies;
	spin_unlock_bh(&session->state_lock);
}
