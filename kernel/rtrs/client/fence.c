// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of a path that is down go by another one when the server takes nothing of the old path
 * any more. It may not have noticed that the path is lost, and what was sent for them may still be
 * in a queue of the network: that would come to a chunk which is used for something else by then,
 * or be run behind what was acknowledged later. Therefore it is told over the other path.
 */
#include <linux/rcupdate.h>
#include "client.h"

static bool has_requests(const struct rtrs_client_path *path)
{
	u32 i;

	for (i = 0; path->req && i < path->geo.queue_depth; i++)
		if (atomic_read(&path->req[i].pending) & RTRS_CLIENT_REQ_AWAIT)
			return true;
	return false;
}

/* By which requests could go now; with a reference. */
static struct rtrs_client_path *other_path(struct rtrs_client_path *path)
{
	const struct rtrs_client_path_set *set;
	struct rtrs_client_path *other = NULL;
	unsigned int i;

	rcu_read_lock();
	set = rcu_dereference(path->session->paths);
	for (i = 0; i < set->count && !other; i++)
		if (set->path[i] != path && rtrs_client_path_connected(set->path[i]) &&
		    set->path[i]->epoch == path->epoch && set->path[i]->fences)
			other = set->path[i];
	if (other)
		rtrs_client_path_get(other);
	rcu_read_unlock();
	return other;
}

static int ask(struct rtrs_client_path *other, u32 tag)
{
	int err = -ECONNABORTED;

	WRITE_ONCE(other->fenced, false);
	rcu_read_lock();
	if (rtrs_client_path_connected(other))
		err = rtrs_client_con_send_imm(other->con[0], RTRS_IMM_FENCE, tag);
	rcu_read_unlock();
	return err;
}

/* False: the other path is lost as well. */
static bool fenced_over(struct rtrs_client_path *other, u32 tag)
{
	int err = ask(other, tag);

	if (!err && !wait_event_timeout(other->wait, READ_ONCE(other->fenced) ||
					!rtrs_client_path_connected(other),
					msecs_to_jiffies(RTRS_CLIENT_GONE_MS)))
		err = -ETIMEDOUT;
	if (err)
		rtrs_client_path_error(other, err);
	return !err && READ_ONCE(other->fenced);
}

void rtrs_client_fence(struct rtrs_client_path *path)
{
	struct rtrs_client_session *session = path->session;
	struct rtrs_client_path *other;
	bool done = false;

	if (!has_requests(path))
		return;
	mutex_lock(&session->fence);
	while (!done && (other = other_path(path))) {
		done = fenced_over(other, rtrs_fence_tag(path->uuid));
		rtrs_client_path_put(other);
	}
	mutex_unlock(&session->fence);
}
