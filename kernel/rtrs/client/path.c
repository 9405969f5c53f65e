// SPDX-License-Identifier: GPL-2.0
/* Paths: the one way down, and the way up again. */
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rtrs/aside.h>
#include "backoff.h"
#include "connect.h"
#include "path-state.h"

#define WAIT_STEPS	4	/* of connecting, that a command waits for a path at most */

static bool cons_all_gone(const struct rtrs_client_path *path)
{
	unsigned int i;

	for (i = 0; i < path->con_count && path->con[i]; i++)
		if (path->con[i]->live && !READ_ONCE(path->con[i]->gone))
			return false;
	return true;
}

/* The server takes nothing of the path any more. */
static bool cons_all_told(const struct rtrs_client_path *path)
{
	unsigned int i;

	for (i = 0; i < path->con_count && path->con[i]; i++)
		if (path->con[i]->live && !READ_ONCE(path->con[i]->told))
			return false;
	return true;
}

/* CM ids go last: the removal of a device waits for them, and then nothing of ours may be left. */
static void path_leave_device(struct rtrs_client_path *path)
{
	unsigned int i;

	/*
	 * Before memory regions are deregistered: a queue pair of Soft-RoCE that failed while it
	 * was at a packet holds on to the region of that, and who deregisters it waits 50 s.
	 */
	for (i = 0; i < path->con_count && path->con[i]; i++)
		rtrs_client_con_release(path->con[i]);
	rtrs_client_io_release(path);
	WRITE_ONCE(path->pinned, 0);
	if (path->dev)
		rtrs_dev_put(path->dev);
	path->dev = NULL;
	for (i = 0; i < path->con_count && path->con[i]; i++)
		rtrs_client_con_leave(path->con[i]);
}

/*
 * Takes the path down. It has left the states in which anybody posts, so that
 * behind the grace period no submitter, no heartbeat and no completion handler
 * puts anything on its queues. Who still runs:
 *   completions	until their queue pair is drained;
 *   CM handlers	until rdma_destroy_id(); they only tell rtrs_client_path_error(),
 *			which has nothing to do any more;
 *   netlink, sysfs	read members that stay as long as the path.
 * A request goes on elsewhere, or ends, when its queue pair is destroyed and its region is gone:
 * nothing can bring in data of the server any more. Queue pairs without requests are destroyed
 * behind that: each takes some commands to the device, and there may be hundreds of them. What was
 * sent for requests may still be on its way, and must not arrive behind a retry: the server says
 * when it takes nothing any more, here or, where that does not come or it has been silent for
 * long, over another path. An RDMA device that is removed does not wait for that. Idempotent.
 */
static void path_take_down(struct rtrs_client_path *path)
{
	struct rtrs_client_session *session = path->session;
	unsigned int i;

	spin_lock_bh(&session->state_lock);
	if (session->founder == path) {
		session->founder = NULL;
		rtrs_client_paths_wake(session, false);
	}
	spin_unlock_bh(&session->state_lock);
	synchronize_rcu();
	rtrs_hb_stop(&path->hb);
	for (i = 0; i < path->con_count && path->con[i]; i++) {
		rtrs_client_con_disconnect(path->con[i]);
		rtrs_client_con_drain(path->con[i]);
	}
	for (i = 0; i < path->con_count && path->con[i]; i++)
		rtrs_client_con_drained(path->con[i]);
	if (!rtrs_hb_silent(&path->hb))
		wait_event_timeout(path->wait, cons_all_gone(path),
				   msecs_to_jiffies(RTRS_CLIENT_SETTLE_MS));
	if (!cons_all_told(path))
		rtrs_client_fence(path, path_leave_device);
	rtrs_client_io_failover(path, rtrs_client_con_release);
	for (i = 0; i < path->con_count && path->con[i]; i++)
		rtrs_client_con_release(path->con[i]);
	wait_event_timeout(path->wait, cons_all_gone(path) || READ_ONCE(path->hurry),
			   msecs_to_jiffies(RTRS_CLIENT_GONE_MS - RTRS_CLIENT_SETTLE_MS));
	path_leave_device(path);
	for (i = 0; i < path->con_count && path->con[i]; i++) {
		rtrs_client_con_destroy(path->con[i]);
		path->con[i] = NULL;
	}
}

/* Under state_lock. An attempt was -EBUSY: when the next one is due. */
static unsigned long busy_retry_time(struct rtrs_client_path *path)
{
	struct rtrs_client_session *session = path->session;

	path->waits = !path->refused && !session->connected && session->founder &&
		      session->founder != path;
	if (path->waits)
		return session->founded + msecs_to_jiffies(RTRS_CLIENT_FOUNDER_MS) + 1;
	return jiffies + msecs_to_jiffies(rtrs_client_busy_ms(path->busy++, get_random_u32()));
}

/*
 * An attempt to connect has left nothing behind. The server still has the old paths, or has lost
 * all of them, or another path comes first: that is no failure.
 */
static void path_postpone(struct rtrs_client_path *path)
{
	spin_lock_bh(&path->session->state_lock);
	path->retry_at = busy_retry_time(path);
	path->timeout_ms = READ_ONCE(path->session->settings.connect_ms);
	rtrs_client_path_move_locked(path, RTRS_CLIENT_PATH_RECONNECTING, 0);
	spin_unlock_bh(&path->session->state_lock);
}

/* An attempt to connect has failed, and has left nothing behind. */
static void path_retry(struct rtrs_client_path *path, int err)
{
	bool given_up = false;

	atomic64_inc(&path->reconnects_failed);
	spin_lock_bh(&path->session->state_lock);
	path->attempts++;
	rtrs_client_path_clear_busy(path);
	path->tried++;
	path->asked_for = false;
	path->retry_at = jiffies + rtrs_client_path_backoff(path);
	path->timeout_ms = READ_ONCE(path->session->settings.connect_ms);
	if (rtrs_client_path_may_retry(path))
		rtrs_client_path_move_locked(path, RTRS_CLIENT_PATH_RECONNECTING, 0);
	else
		given_up = rtrs_client_path_move_locked(path, RTRS_CLIENT_PATH_CLOSING, 0);
	spin_unlock_bh(&path->session->state_lock);
	if (err != path->told_error)
		pr_warn("session %s, path %s: does not come back: %pe\n", path->session->name,
			path->name, ERR_PTR(err));
	path->told_error = err;
	if (given_up)
		pr_warn("session %s, path %s: given up after %u attempts: %pe\n",
			path->session->name, path->name, path->attempts, ERR_PTR(err));
	wake_up_all(&path->wait);
}

/* The attempt has failed. The path has no request, so that nobody waits for it to be down. */
static void path_not_up(struct rtrs_client_path *path, int err)
{
	bool gone = err == -ENXIO && path->refused && !path->founds;

	if (gone)
		rtrs_client_session_gone(path);
	rtrs_client_path_move(path, RTRS_CLIENT_PATH_CONNECTING_ERR, err);
	path_take_down(path);
	if (err == -EBUSY || gone)
		path_postpone(path);
	else
		path_retry(path, err);
	rtrs_client_path_not_made(path);
}

static void path_is_up(struct rtrs_client_path *path)
{
	atomic64_inc(&path->reconnects_ok);
	path->told_error = 0;
	pr_info("session %s, path %s: connected again\n", path->session->name, path->name);
	spin_lock_bh(&path->session->state_lock);
	path->tried++;
	spin_unlock_bh(&path->session->state_lock);
	wake_up_all(&path->wait);
}

/*
 * Connects a path. Each step may wait for the server for as long as connect_ms says, so this has
 * a work queue of its own: however many paths wait, the lost ones are taken down. It is a work
 * item of its own as well, since one that is queued to two queues may run twice at once:
 * path->making keeps the path worker away.
 */
static void path_connect_work(struct work_struct *work)
{
	struct rtrs_client_path *path = container_of(work, struct rtrs_client_path, connect_work);
	unsigned int noio = memalloc_noio_save();	/* as in path_work() */
	int err;

	err = rtrs_client_connect(path, NULL);
	if (err)
		path_not_up(path, err);
	else
		path_is_up(path);
	memalloc_noio_restore(noio);
}

/*
 * The path is down. Fewer attempts may be allowed now than when this one was decided on; an
 * administrator may ask.
 */
static void path_go_on(struct rtrs_client_path *path)
{
	long left;

	spin_lock_bh(&path->session->state_lock);
	left = (long)(path->retry_at - jiffies);
	if (path->state != RTRS_CLIENT_PATH_RECONNECTING) {
		/* It is being closed. */
	} else if (!path->asked_for && !rtrs_client_path_may_retry(path)) {
		rtrs_client_path_move_locked(path, RTRS_CLIENT_PATH_CLOSING, 0);
	} else if (left > 0) {
		rtrs_client_path_delay_work(path, left);
	} else if (rtrs_client_path_move_locked(path, RTRS_CLIENT_PATH_CONNECTING, 0)) {
		path->making = true;
		WRITE_ONCE(path->hurry, false);
		queue_work(rtrs_client_connect_wq, &path->connect_work);
	}
	spin_unlock_bh(&path->session->state_lock);
}

/* While somebody connects the path it is theirs, whatever its state. */
static bool must_go_down(struct rtrs_client_path *path, enum rtrs_client_path_state state)
{
	bool must;

	spin_lock_bh(&path->session->state_lock);
	must = !path->making && path->state == state;
	spin_unlock_bh(&path->session->state_lock);
	return must;
}

/*
 * The path worker: takes the path down, if its state asks for that, and has it connected. Whoever
 * changes the state in between starts it again. It may be what the memory reclaim waits for: its
 * allocations cause no I/O.
 */
static void path_work(struct work_struct *work)
{
	struct rtrs_client_path *path =
		container_of(to_delayed_work(work), struct rtrs_client_path, work);
	unsigned int noio = memalloc_noio_save();

	if (must_go_down(path, RTRS_CLIENT_PATH_RECONNECTING)) {
		path_take_down(path);
		path_go_on(path);
	}
	if (must_go_down(path, RTRS_CLIENT_PATH_CLOSING)) {
		path_take_down(path);
		rtrs_client_io_exit(path);
		rtrs_client_path_move(path, RTRS_CLIENT_PATH_CLOSED, 0);
		wake_up_all(&path->wait);
	}
	memalloc_noio_restore(noio);
}

bool rtrs_client_path_close_begin(struct rtrs_client_path *path, bool for_good)
{
	bool first;

	spin_lock_bh(&path->session->state_lock);
	first = for_good && !path->removed;
	if (for_good)
		path->removed = true;
	if (rtrs_client_path_move_locked(path, RTRS_CLIENT_PATH_CLOSING, 0)) {
		rtrs_client_step_done(path);
		if (!path->making)
			rtrs_client_path_queue_work(path);
	}
	spin_unlock_bh(&path->session->state_lock);
	return first;
}

void rtrs_client_path_not_made(struct rtrs_client_path *path)
{
	spin_lock_bh(&path->session->state_lock);
	path->making = false;
	if (path->state == RTRS_CLIENT_PATH_CLOSING)
		rtrs_client_path_queue_work(path);
	else if (path->state == RTRS_CLIENT_PATH_RECONNECTING)
		rtrs_client_path_delay_work(path, (long)(path->retry_at - jiffies));
	spin_unlock_bh(&path->session->state_lock);
}

void rtrs_client_path_close(struct rtrs_client_path *path)
{
	rtrs_client_path_close_begin(path, false);
	if (wait_event_killable(path->wait, READ_ONCE(path->state) >= RTRS_CLIENT_PATH_CLOSED)) {
		WRITE_ONCE(path->hurry, true);
		wake_up_all(&path->wait);
	}
	/* In this order: who connects it leaves it to the path worker. */
	flush_work(&path->connect_work);
	flush_delayed_work(&path->work);
}

int rtrs_client_path_disconnect(struct rtrs_client_path *path, struct netlink_ext_ack *extack)
{
	rtrs_client_path_close_begin(path, false);
	/* It may be on its way up again as soon as it is down. */
	if (wait_event_state(path->wait, READ_ONCE(path->state) != RTRS_CLIENT_PATH_CLOSING,
			     RTRS_WAIT_STATE))
		return rtrs_fail(extack, -EINTR, "interrupted; %s goes down by itself", path->name);
	return 0;
}

void rtrs_client_path_settings_changed(struct rtrs_client_path *path)
{
	unsigned long retry_at;

	spin_lock_bh(&path->session->state_lock);
	if (path->state == RTRS_CLIENT_PATH_RECONNECTING && !path->asked_for) {
		retry_at = jiffies + rtrs_client_path_backoff(path);
		if (time_before(retry_at, path->retry_at))
			path->retry_at = retry_at;
		path->timeout_ms = READ_ONCE(path->session->settings.connect_ms);
		rtrs_client_path_queue_work(path);
	}
	spin_unlock_bh(&path->session->state_lock);
}

/* Under state_lock. What an administrator asks for begins now. */
static bool reconnect_begin(struct rtrs_client_path *path, unsigned int timeout_ms)
{
	if (path->removed)
		return false;
	switch (path->state) {
	case RTRS_CLIENT_PATH_CONNECTED:
	case RTRS_CLIENT_PATH_CLOSED:
		rtrs_client_path_move_locked(path, RTRS_CLIENT_PATH_RECONNECTING, 0);
		break;
	case RTRS_CLIENT_PATH_RECONNECTING:
		break;
	default:
		return false;
	}
	path->attempts = 0;
	rtrs_client_path_clear_busy(path);
	path->asked_for = true;
	path->timeout_ms = timeout_ms;
	path->retry_at = jiffies;
	rtrs_client_path_queue_work(path);
	return true;
}

static bool reconnect_over(struct rtrs_client_path *path, unsigned int tried)
{
	unsigned int state;
	bool over;

	spin_lock_bh(&path->session->state_lock);
	state = path->state;
	over = path->tried != tried || state == RTRS_CLIENT_PATH_CLOSED ||
	       state == RTRS_CLIENT_PATH_DEAD;
	spin_unlock_bh(&path->session->state_lock);
	return over;
}

int rtrs_client_path_reconnect(struct rtrs_client_path *path, unsigned int timeout_ms,
			       struct netlink_ext_ack *extack)
{
	unsigned int tried;
	bool begun;
	long left;
	int err;

	/* What an attempt that has failed leaves is cleared away first. */
	if (wait_event_killable_timeout(path->wait, READ_ONCE(path->state) !=
					RTRS_CLIENT_PATH_CONNECTING_ERR,
					msecs_to_jiffies(timeout_ms)) < 0)
		return rtrs_fail(extack, -EINTR, "interrupted");
	spin_lock_bh(&path->session->state_lock);
	tried = path->tried;
	begun = reconnect_begin(path, timeout_ms);
	spin_unlock_bh(&path->session->state_lock);
	if (!begun)
		return rtrs_fail(extack, -EBUSY, "%s is being connected or closed", path->name);
	left = wait_event_killable_timeout(path->wait, reconnect_over(path, tried),
					   msecs_to_jiffies(WAIT_STEPS * timeout_ms));
	if (left < 0)
		return rtrs_fail(extack, -EINTR, "interrupted; %s is tried further", path->name);
	if (rtrs_client_path_connected(path))
		return 0;
	err = left ? READ_ONCE(path->last_error) ?: -ECONNABORTED : -ETIMEDOUT;
	return rtrs_fail(extack, -ENOTCONN, "%s: %pe; see session %.40s for further attempts",
			 path->name, ERR_PTR(err), path->session->name);
}

struct rtrs_client_path *rtrs_client_path_create(struct rtrs_client_session *session,
						 const struct rtrs_path_addr *addr,
						 unsigned int timeout_ms)
{
	struct rtrs_client_path *path = rtrs_client_path_alloc();

	if (!path)
		return NULL;
	path->session = session;
	path->id = rtrs_new_id();
	path->state = RTRS_CLIENT_PATH_CONNECTING;
	path->making = true;
	path->since = ktime_get_real();
	path->timeout_ms = timeout_ms;
	path->bind = addr->src;
	path->addr = *addr;
	if (!rtrs_addr_port(&path->addr.dst))
		rtrs_addr_set_port(&path->addr.dst, session->port);
	rtrs_addr_print_path(&path->addr, path->name, sizeof(path->name));
	get_random_bytes(path->uuid, sizeof(path->uuid));
	path->uuid[6] = (path->uuid[6] & 0x0f) | 0x40;
	path->uuid[8] = (path->uuid[8] & 0x3f) | 0x80;
	init_completion(&path->step);
	init_waitqueue_head(&path->wait);
	INIT_DELAYED_WORK(&path->work, path_work);
	INIT_WORK(&path->connect_work, path_connect_work);
	init_completion(&path->gone);
	rtrs_hb_init(&path->hb, &rtrs_client_hb_ops, session->settings.hb_interval_ms,
		     session->settings.hb_misses);
	path->con_count = session->io_cons + session->poll_cons + 1;
	path->con = kcalloc(path->con_count, sizeof(*path->con), GFP_KERNEL);
	path->stats = rtrs_client_stats_alloc();
	if (!path->con || !path->stats) {
		rtrs_client_path_put(path);
		return NULL;
	}
	return path;
}
