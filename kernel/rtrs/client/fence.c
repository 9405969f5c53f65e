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

	for (i = 0; i < path->slots; i++)
		if (atomic_read(&path->req[i].pending) & RTRS_CLIENT_REQ_AWAIT)
			return true;
	return false;
}

/*
 * By which requests could go now, with a reference: of those the one that was heard of last, as
 * what has cut off the path may have cut off others, too.
 */
static struct rtrs_client_path *other_path(struct rtrs_client_path *path)
{
	const struct rtrs_client_path_set *set;
	struct rtrs_client_path *other = NULL;
	int missed = INT_MAX;
	unsigned int i;

	rcu_read_lock();
	set = rcu_dereference(path->session->paths);
	for (i = 0; i < set->count; i++) {
		struct rtrs_client_path *p = set->path[i];

		if (p == path || !rtrs_client_path_connected(p) || p->epoch != path->epoch ||
		    !p->fences || atomic_read(&p->hb.missed) >= missed)
			continue;
		missed = atomic_read(&p->hb.missed);
		other = p;
	}
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

/* Its RDMA device is removed, and waits for the path. */
static bool must_leave(const struct rtrs_client_path *path)
{
	unsigned int i;

	for (i = 0; i < path->con_count && path->con[i]; i++)
		if (path->con[i]->c.cm_id && READ_ONCE(path->con[i]->c.removed))
			return true;
	return false;
}

static void leave_removed(struct rtrs_client_path *path)
{
	if (must_leave(path))
		rtrs_client_path_leave_device(path);
}

/*
 * False: the other path is lost as well. As long as that has a heartbeat the server is there, and
 * may wait for a disk that keeps the handler of the old path: so does what was sent to it. What
 * happens to the device of @path wakes nobody who waits for the other one: it is looked at.
 */
static bool fenced_over(struct rtrs_client_path *other, struct rtrs_client_path *path)
{
	u16 recon_cnt = other->fence_cnt ? path->recon_cnt : 0;
	int err = ask(other, rtrs_fence_tag(path->uuid, recon_cnt));
	unsigned int seconds = 0;

	if (err) {
		rtrs_client_path_error(other, err);
		return false;
	}
	while (!wait_event_timeout(other->wait, READ_ONCE(other->fenced) ||
				   !rtrs_client_path_connected(other), HZ)) {
		leave_removed(path);
		if (++seconds % 30 == 0)
			pr_warn("session %s, path %s: lost, but the server is not rid of it yet\n",
				path->session->name, path->name);
	}
	return READ_ONCE(other->fenced);
}

void rtrs_client_fence(struct rtrs_client_path *path)
{
	struct rtrs_client_session *session = path->session;
	struct rtrs_client_path *other;
	bool done = false;

	if (!has_requests(path))
		return;
	/* A server is asked once at a time. */
	while (!mutex_trylock(&session->fence)) {
		wait_event_timeout(path->wait, must_leave(path), HZ / 20);
		leave_removed(path);
	}
	while (!done && (other = other_path(path))) {
		done = fenced_over(other, path);
		rtrs_client_path_put(other);
	}
	mutex_unlock(&session->fence);
}
