// SPDX-License-Identifier: GPL-2.0
/*
 * Those who wait: a connect request or an INFO for the end of what a client has left, a FENCE for
 * a path to stop. None of them keeps a worker, as others have more of them to wait for than there
 * are workers. It is in a list of the session that it waits for, and its work runs
 * again when something of that session has ended, or when its time is up; then it looks anew.
 */
#include "server.h"

void rtrs_server_wait_init(struct rtrs_server_wait *wait, struct workqueue_struct *wq,
			   work_func_t fn)
{
	wait->wq = wq;
	INIT_LIST_HEAD(&wait->entry);
	INIT_DELAYED_WORK(&wait->work, fn);
}

/* session->lock held. The last thing that the work does. */
void rtrs_server_wait(struct rtrs_server_session *session, struct rtrs_server_wait *wait,
		      unsigned long until)
{
	long left = until - jiffies;

	lockdep_assert_held(&session->lock);
	kref_get(&session->ref);
	wait->session = session;
	list_add_tail(&wait->entry, &session->waiting);
	queue_delayed_work(wait->wq, &wait->work, max(left, 0L));
}

/* The first thing that the work does. */
void rtrs_server_wait_end(struct rtrs_server_wait *wait)
{
	struct rtrs_server_session *session = xchg(&wait->session, NULL);

	if (!session)
		return;
	mutex_lock(&session->lock);
	list_del_init(&wait->entry);
	mutex_unlock(&session->lock);
	rtrs_server_session_put(session);
}

/*
 * Nothing but the work itself begins to wait. rtrs_server_wait_over() may have taken the work off
 * its queue, and be about to queue it again: behind the lock of the session it has, and the second
 * time it finds that nobody is to.
 */
void rtrs_server_wait_cancel(struct rtrs_server_wait *wait)
{
	int i;

	WRITE_ONCE(wait->canceled, true);
	for (i = 0; i < 2; i++) {
		cancel_delayed_work_sync(&wait->work);
		rtrs_server_wait_end(wait);
	}
}

/* session->lock held. A work that has just begun will look by itself. */
void rtrs_server_wait_over(struct rtrs_server_wait *wait)
{
	if (!READ_ONCE(wait->canceled) && cancel_delayed_work(&wait->work))
		queue_delayed_work(wait->wq, &wait->work, 0);
}

/* session->lock held. Something of the session has ended. */
void rtrs_server_wake(struct rtrs_server_session *session)
{
	struct rtrs_server_wait *wait;

	lockdep_assert_held(&session->lock);
	list_for_each_entry(wait, &session->waiting, entry)
		rtrs_server_wait_over(wait);
}
