// SPDX-License-Identifier: GPL-2.0
/* Paths: their states, and the one way down. */
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <rtrs/nl.h>
#include "client.h"
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

static bool path_move(struct rtrs_client_path *path, enum rtrs_client_path_state state, int err)
{
	unsigned int old = path->state;
	unsigned int old_nl = rtrs_client_nl_path_state(old);

	lockdep_assert_held(&path->session->state_lock);
	if (!rtrs_fsm_may(&rtrs_client_path_fsm, old, state))
		return false;
	WRITE_ONCE(path->state, state);
	path->since = ktime_get_real();
	if (err)
		path->last_error = err;
	trace_rtrs_client_path_state(path, old, err);
	if (rtrs_client_nl_path_state(state) != old_nl)
		rtrs_client_nl_path_event(path, RNBD_EVENT_CHANGE, old_nl);
	rtrs_client_session_path_moved(path->session, old, state, err);
	return true;
}

bool rtrs_client_path_move(struct rtrs_client_path *path, enum rtrs_client_path_state state,
			   int err)
{
	bool moved;

	spin_lock_bh(&path->session->state_lock);
	moved = path_move(path, state, err);
	spin_unlock_bh(&path->session->state_lock);
	return moved;
}

void rtrs_client_path_error(struct rtrs_client_path *path, int err)
{
	bool lost = false;

	spin_lock_bh(&path->session->state_lock);
	switch (path->state) {
	case RTRS_CLIENT_PATH_CONNECTING:
		if (path_move(path, RTRS_CLIENT_PATH_CONNECTING_ERR, err))
			rtrs_client_step_done(path);
		break;
	case RTRS_CLIENT_PATH_CONNECTED:
		lost = path_move(path, RTRS_CLIENT_PATH_CLOSING, err);
		break;
	}
	spin_unlock_bh(&path->session->state_lock);
	if (!lost)
		return;
	pr_warn_ratelimited("session %s, path %s: lost: %pe\n", path->session->name, path->name,
			    ERR_PTR(err));
	queue_work(rtrs_client_wq, &path->down_work);
}

static void wait_gone(struct rtrs_client_path *path)
{
	unsigned long until = jiffies + msecs_to_jiffies(RTRS_CLIENT_GONE_MS);
	unsigned int i;

	for (i = 0; i < path->con_count && path->con[i]; i++) {
		long left = until - jiffies;

		if (path->con[i]->live)
			wait_for_completion_timeout(&path->con[i]->gone, max(left, 0L));
	}
}

/*
 * Takes the path down. It has left the states in which anybody posts, so that
 * behind the grace period no submitter, no heartbeat and no completion handler
 * puts anything on its queues. Who still runs:
 *   completions	until their queue pair is drained;
 *   CM handlers	until rdma_destroy_id(); they only tell rtrs_client_path_error(),
 *			which has nothing to do any more;
 *   netlink, sysfs	read members that stay as long as the path.
 * The requests end when no queue pair can bring in data of the server any more and
 * their regions are gone. The CM ids go last: a removal of the RDMA device waits for
 * them, and by then nothing of ours may be on it.
 */
static void path_down(struct work_struct *work)
{
	struct rtrs_client_path *path = container_of(work, struct rtrs_client_path, down_work);
	unsigned int i;

	synchronize_rcu();
	rtrs_hb_stop(&path->hb);
	for (i = 0; i < path->con_count && path->con[i]; i++)
		rtrs_client_con_disconnect(path->con[i]);
	for (i = 0; i < path->con_count && path->con[i]; i++)
		rtrs_client_con_drain(path->con[i]);
	rtrs_client_io_abort(path);
	wait_gone(path);
	for (i = 0; i < path->con_count && path->con[i]; i++)
		rtrs_client_con_release(path->con[i]);
	rtrs_client_io_exit(path);
	if (path->dev)
		rtrs_dev_put(path->dev);
	path->dev = NULL;
	for (i = 0; i < path->con_count && path->con[i]; i++) {
		rtrs_client_con_destroy(path->con[i]);
		path->con[i] = NULL;
	}
	rtrs_client_path_move(path, RTRS_CLIENT_PATH_CLOSED, 0);
}

void rtrs_client_path_close(struct rtrs_client_path *path)
{
	if (rtrs_client_path_move(path, RTRS_CLIENT_PATH_CLOSING, 0))
		queue_work(rtrs_client_wq, &path->down_work);
	flush_work(&path->down_work);
}

struct rtrs_client_path *rtrs_client_path_create(struct rtrs_client_session *session,
						 const struct rtrs_path_addr *addr, bool first)
{
	struct rtrs_client_path *path = kmem_cache_zalloc(path_cache, GFP_KERNEL);

	if (!path)
		return NULL;
	rtrs_census_created(RTRS_CENSUS_CLIENT_PATH);
	kref_init(&path->ref);
	path->session = session;
	path->id = rtrs_nl_new_id();
	path->state = RTRS_CLIENT_PATH_CONNECTING;
	path->since = ktime_get_real();
	path->first = first;
	path->bind = addr->src;
	path->addr = *addr;
	if (!rtrs_addr_port(&path->addr.dst))
		rtrs_addr_set_port(&path->addr.dst, RTRS_DEFAULT_PORT);
	rtrs_addr_print_path(&path->addr, path->name, sizeof(path->name));
	get_random_bytes(path->uuid, sizeof(path->uuid));
	path->uuid[6] = (path->uuid[6] & 0x0f) | 0x40;
	path->uuid[8] = (path->uuid[8] & 0x3f) | 0x80;
	init_completion(&path->step);
	INIT_WORK(&path->down_work, path_down);
	rtrs_hb_init(&path->hb, &rtrs_client_hb_ops, RTRS_HB_INTERVAL_MS, RTRS_HB_MISSED_MAX);
	path->con_count = session->io_cons + session->poll_cons + 1;
	path->con = kcalloc(path->con_count, sizeof(*path->con), GFP_KERNEL);
	path->stats = alloc_percpu(struct rtrs_client_cpu_stats);
	if (!path->con || !path->stats) {
		path_free(path);
		return NULL;
	}
	return path;
}
