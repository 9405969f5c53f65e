// SPDX-License-Identifier: GPL-2.0
/* The state of a session, by those of its paths. Its user and netlink are told of changes. */
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include "client.h"
#include "notify.h"

/* The next event for the user of the session; false: none. */
static bool session_next_event(struct rtrs_client_session *session, enum rtrs_client_event *event)
{
	bool any = true;

	spin_lock_bh(&session->state_lock);
	if (session->changed) {
		session->changed = false;
		*event = RTRS_CLIENT_SETTINGS;
	} else if (session->told_losses != session->losses) {
		session->told_losses = session->losses;
		session->told_up = false;
		*event = RTRS_CLIENT_DISCONNECTED;
	} else if (!session->told_up && session->connected) {
		session->told_up = true;
		*event = RTRS_CLIENT_RECONNECTED;
	} else {
		any = false;
	}
	spin_unlock_bh(&session->state_lock);
	return any;
}

void rtrs_client_session_event_work(struct work_struct *work)
{
	struct rtrs_client_session *session =
		container_of(work, struct rtrs_client_session, event_work);
	unsigned int noio = memalloc_noio_save();
	enum rtrs_client_event event;

	/* Under memalloc_noio: I/O may wait for the handler. */
	while (READ_ONCE(session->opened) && session_next_event(session, &event))
		session->ops->event(session->priv, event, READ_ONCE(session->lost_err));
	memalloc_noio_restore(noio);
}

static enum rnbd_session_state session_derive_state(struct rtrs_client_session *session)
{
	const struct rtrs_client_path_set *set;
	unsigned int i, trying = 0, count;

	rcu_read_lock();
	set = rcu_dereference(session->paths);
	count = set->count;
	for (i = 0; i < count; i++)
		trying += rtrs_client_path_uapi_state(set->path[i]->state) <=
			  RNBD_PATH_STATE_RECONNECTING;
	rcu_read_unlock();

	if (session->connected)
		return session->connected == count ? RNBD_SESSION_STATE_CONNECTED :
						     RNBD_SESSION_STATE_DEGRADED;
	return trying ? RNBD_SESSION_STATE_RECONNECTING : RNBD_SESSION_STATE_DISCONNECTED;
}

/* Behind a change of the path set or of a path's state, under state_lock. */
void rtrs_client_session_update(struct rtrs_client_session *session)
{
	unsigned int old = session->state;

	lockdep_assert_held(&session->state_lock);
	session->state = session_derive_state(session);
	if (session->state != old)
		rtrs_client_events->session_event(session, RNBD_EVENT_CHANGE, old);
}

void rtrs_client_session_changed(struct rtrs_client_session *session)
{
	spin_lock_bh(&session->state_lock);
	rtrs_client_events->session_event(session, RNBD_EVENT_CHANGE, session->state);
	session->changed = true;
	if (session->opened)
		queue_work(rtrs_client_event_wq, &session->event_work);
	spin_unlock_bh(&session->state_lock);
}

void rtrs_client_session_path_moved(struct rtrs_client_session *session, unsigned int old,
				    unsigned int state, int err)
{
	unsigned int connected = session->connected;

	lockdep_assert_held(&session->state_lock);
	if (state == RTRS_CLIENT_PATH_CONNECTED)
		session->connected++;
	if (old == RTRS_CLIENT_PATH_CONNECTED && !--session->connected) {
		session->losses++;
		WRITE_ONCE(session->lost_err, err);
	}
	if (session->opened && !session->connected != !connected)
		queue_work(rtrs_client_event_wq, &session->event_work);
	rtrs_client_session_update(session);
}
