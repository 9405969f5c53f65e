// SPDX-License-Identifier: GPL-2.0
/* Paths: the object, its states, and what a loss does. */
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/wait.h>
#include "backoff.h"
#include "connect.h"
#include "notify.h"
#include "path-state.h"
#include "trace.h"

static struct kmem_cache *path_cache;

int rtrs_client_path_init(void)
{
	path_cache = KMEM_CACHE(rtrs_client_path, 0);
	return path_cache ? 0 : -ENOMEM;
}

void rtrs_client_path_exit(void)
{
	kmem_cache_destroy(path_cache);
}

static void path_free(struct rtrs_client_path *path)
{
	free_percpu(path->stats);
	kfree(path->con);
	kmem_cache_free(path_cache, path);
	rtrs_census_destroyed(RTRS_CENSUS_CLIENT_PATH);
}

struct rtrs_client_path *rtrs_client_path_alloc(void)
{
	struct rtrs_client_path *path = kmem_cache_zalloc(path_cache, GFP_KERNEL);

	if (!path)
		return NULL;
	rtrs_census_created(RTRS_CENSUS_CLIENT_PATH);
	kref_init(&path->ref);
	return path;
}

static void path_release(struct kref *ref)
{
	path_free(container_of(ref, struct rtrs_client_path, ref));
}

void rtrs_client_path_get(struct rtrs_client_path *path)
{
	kref_get(&path->ref);
}

void rtrs_client_path_put(struct rtrs_client_path *path)
{
	kref_put(&path->ref, path_release);
}

bool rtrs_client_path_move_locked(struct rtrs_client_path *path, enum rtrs_client_path_state state,
				  int err)
{
	unsigned int old = path->state;
	unsigned int old_nl = rtrs_client_path_uapi_state(old);

	lockdep_assert_held(&path->session->state_lock);
	if (!rtrs_fsm_may(&rtrs_client_path_fsm, old, state))
		return false;
	smp_store_release(&path->state, state);	/* what was made for it, the epoch above all */
	path->since = ktime_get_real();
	if (err)
		path->last_error = err;
	trace_rtrs_client_path_state(path, old, err);
	wake_up_all(&path->wait);	/* who waits for an answer over it */
	if (rtrs_client_path_uapi_state(state) != old_nl)
		rtrs_client_events->path_event(path, RNBD_EVENT_CHANGE, old_nl);
	rtrs_client_session_path_moved(path->session, old, state, err);
	return true;
}

bool rtrs_client_path_move(struct rtrs_client_path *path, enum rtrs_client_path_state state,
			   int err)
{
	bool moved;

	spin_lock_bh(&path->session->state_lock);
	moved = rtrs_client_path_move_locked(path, state, err);
	spin_unlock_bh(&path->session->state_lock);
	return moved;
}

void rtrs_client_path_queue_work(struct rtrs_client_path *path)
{
	mod_delayed_work(rtrs_client_wq, &path->work, 0);
}

void rtrs_client_path_delay_work(struct rtrs_client_path *path, long delay)
{
	queue_delayed_work(rtrs_client_wq, &path->work, max(delay, 0L));
}

unsigned long rtrs_client_path_backoff(const struct rtrs_client_path *path)
{
	const struct rtrs_client_settings *s = &path->session->settings;

	return msecs_to_jiffies(rtrs_client_backoff_ms(path->attempts, READ_ONCE(s->reconnect_ms),
						       READ_ONCE(s->reconnect_max_ms),
						       get_random_u32()));
}

bool rtrs_client_path_may_retry(const struct rtrs_client_path *path)
{
	int limit = READ_ONCE(path->session->settings.max_reconnects);

	return limit < 0 || path->attempts < limit;
}

void rtrs_client_path_clear_busy(struct rtrs_client_path *path)
{
	path->busy = 0;
	path->waits = false;
}

/* Under state_lock. A path that was up is connected again, if it may be. */
static bool path_lost(struct rtrs_client_path *path, int err)
{
	enum rtrs_client_path_state next;

	path->attempts = 0;
	rtrs_client_path_clear_busy(path);
	path->asked_for = false;
	path->retry_at = jiffies + rtrs_client_path_backoff(path);
	path->timeout_ms = READ_ONCE(path->session->settings.connect_ms);
	next = rtrs_client_path_may_retry(path) ? RTRS_CLIENT_PATH_RECONNECTING :
						  RTRS_CLIENT_PATH_CLOSING;
	if (!rtrs_client_path_move_locked(path, next, err))
		return false;
	rtrs_client_path_queue_work(path);
	return true;
}

void rtrs_client_paths_wake(struct rtrs_client_session *session, bool all)
{
	const struct rtrs_client_path_set *set;
	unsigned int i;

	rcu_read_lock();
	set = rcu_dereference(session->paths);
	for (i = 0; i < set->count; i++) {
		struct rtrs_client_path *path = set->path[i];

		if (path->state != RTRS_CLIENT_PATH_RECONNECTING ||
		    !(path->waits || (all && path->busy)))
			continue;
		path->retry_at = jiffies;
		rtrs_client_path_queue_work(path);
		if (!all)
			break;
	}
	rcu_read_unlock();
}

static void log_path_lost(const struct rtrs_client_path *path, int err)
{
	pr_warn_ratelimited("session %s, path %s: lost: %pe\n", path->session->name, path->name,
			    ERR_PTR(err));
}

void rtrs_client_path_gone(struct rtrs_client_path *path, u32 epoch)
{
	bool lost;

	spin_lock_bh(&path->session->state_lock);
	lost = path->state == RTRS_CLIENT_PATH_CONNECTED && path->epoch == epoch &&
	       path_lost(path, -ENXIO);
	spin_unlock_bh(&path->session->state_lock);
	if (lost)
		log_path_lost(path, -ENXIO);
}

void rtrs_client_path_error(struct rtrs_client_path *path, int err)
{
	bool lost = false;

	spin_lock_bh(&path->session->state_lock);
	switch (path->state) {
	case RTRS_CLIENT_PATH_CONNECTING:
		if (rtrs_client_path_move_locked(path, RTRS_CLIENT_PATH_CONNECTING_ERR, err))
			rtrs_client_step_done(path);
		break;
	case RTRS_CLIENT_PATH_CONNECTED:
		lost = path_lost(path, err);
		break;
	}
	spin_unlock_bh(&path->session->state_lock);
	if (lost)
		log_path_lost(path, err);
}
