// SPDX-License-Identifier: GPL-2.0
/* The states of a path, and the one way to end it. */
#include <linux/timekeeping.h>
#include <linux/wait_bit.h>
#include "notify.h"
#include "server.h"
#include "trace.h"

/* The only setter. @err is kept as the reason where the path goes down. */
static bool path_change(struct rtrs_server_path *path, enum rtrs_server_path_state to, int err)
{
	enum rtrs_server_path_state from = path->state;

	lockdep_assert_held(&path->state_lock);
	if (!rtrs_fsm_may(&rtrs_server_path_fsm, from, to))
		return false;
	WRITE_ONCE(path->state, to);
	path->since_ns = ktime_get_real_ns();
	if (err)
		path->last_error = err;
	trace_rtrs_server_path_state(path, from, to);
	return true;
}

bool rtrs_server_path_set(struct rtrs_server_path *path, enum rtrs_server_path_state to, int err)
{
	unsigned long flags;
	bool won;

	spin_lock_irqsave(&path->state_lock, flags);
	won = path_change(path, to, err);
	spin_unlock_irqrestore(&path->state_lock, flags);
	return won;
}

/*
 * session->lock held: listeners of netlink hear of the edges in their order. The edge to
 * CLOSING may be taken where nothing can be sent; the worker tells of it.
 */
void rtrs_server_path_tell(struct rtrs_server_path *path, enum rtrs_server_path_state state)
{
	lockdep_assert_held(&path->session->lock);
	rtrs_server_events->path_event(path, RNBD_EVENT_CHANGE, path->told, state);
	path->told = state;
}

/* False: it was closed in the meantime, and the worker takes it down. */
bool rtrs_server_path_connected(struct rtrs_server_path *path)
{
	bool won;

	mutex_lock(&path->session->lock);
	won = rtrs_server_path_set(path, RTRS_SERVER_PATH_CONNECTED, 0);
	if (won)
		rtrs_server_path_tell(path, RTRS_SERVER_PATH_CONNECTED);
	mutex_unlock(&path->session->lock);
	if (!won)
		return false;
	cancel_delayed_work(&path->handshake_work);
	return true;
}

/* The one way to die, from any context, any number of times; whoever wins starts the worker. */
void rtrs_server_path_close(struct rtrs_server_path *path, int err)
{
	if (rtrs_server_path_set(path, RTRS_SERVER_PATH_CLOSING, err))
		queue_work(rtrs_server_close_wq, &path->close_work);
}

/* Until it is closed and all of it is gone. -EINTR: killed, it closes nevertheless. */
int rtrs_server_path_wait(struct rtrs_server_path *path)
{
	return wait_var_event_killable(&path->state, READ_ONCE(path->state) ==
				       RTRS_SERVER_PATH_CLOSED) ? -EINTR : 0;
}
