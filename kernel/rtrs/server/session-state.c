// SPDX-License-Identifier: GPL-2.0
/* The state of a session, and its end. */
#include "notify.h"
#include "server.h"

/*
 * session->lock held, and a reference. It goes out of all lookups: whoever connects makes another
 * one of this client. What its paths have under way may go on for ever.
 */
void rtrs_server_session_leave(struct rtrs_server_session *session)
{
	struct rtrs_server *srv = session->srv;

	lockdep_assert_held(&session->lock);
	if (session->dead)
		return;
	mutex_lock(&srv->lock);
	list_del(&session->entry);
	session->named = false;
	mutex_unlock(&srv->lock);
	session->dead = true;
	rtrs_server_wake(session);
	rtrs_server_session_put(session);
}

/* session->lock held, and a reference. One without a path is left. */
void rtrs_server_session_reap(struct rtrs_server_session *session)
{
	lockdep_assert_held(&session->lock);
	if (!session->path_count)
		rtrs_server_session_leave(session);
}

enum rnbd_session_state rtrs_server_session_state(const struct rtrs_server_session *session)
{
	if (!session->up)
		return RNBD_SESSION_STATE_DISCONNECTED;
	return session->up < session->path_count ? RNBD_SESSION_STATE_DEGRADED :
						   RNBD_SESSION_STATE_CONNECTED;
}

/* session->lock held. Tells netlink if the state is another than it was told. */
void rtrs_server_session_tell(struct rtrs_server_session *session)
{
	enum rnbd_session_state state = rtrs_server_session_state(session);
	int old = session->told;

	lockdep_assert_held(&session->lock);
	if (!session->up || old == state)
		return;
	session->told = state;
	rtrs_server_events->session_event(session, RNBD_EVENT_CHANGE, old);
}
