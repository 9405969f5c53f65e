// SPDX-License-Identifier: GPL-2.0
/*
 * Fencing. Requests of a lost path are sent over another path only when the server takes nothing of
 * the lost one any more. The server may not have noticed the loss, and messages of the requests may
 * still be in a queue of the network. They could write to a chunk that has another use by then, or
 * be executed behind later requests that were acknowledged. So the client tells the server of the
 * loss over the other path, and waits for the answer.
 */
#include <linux/rcupdate.h>
#include "client.h"

typedef void leave_fn(struct rtrs_client_path *path);

static bool path_has_requests(const struct rtrs_client_path *path)
{
	u32 i;

	for (i = 0; i < path->slots; i++)
		if (atomic_read(&path->req[i].pending) & RTRS_CLIENT_REQ_AWAIT)
			return true;
	return false;
}

/*
 * A connected path that can fence, with a reference, or NULL. The one with the fewest missed
 * heartbeats is taken: the failure of @path may affect others.
 */
static struct rtrs_client_path *pick_fence_path(struct rtrs_client_path *path)
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

static int send_fence(struct rtrs_client_path *other, u32 tag)
{
	int err = -ECONNABORTED;

	WRITE_ONCE(other->fenced, false);
	rcu_read_lock();
	if (rtrs_client_path_connected(other))
		err = rtrs_client_con_send_imm(other->con[0], RTRS_IMM_FENCE, tag);
	rcu_read_unlock();
	return err;
}

/* Whether the RDMA device of @path is being removed: it waits for the path to leave it. */
static bool device_is_removed(const struct rtrs_client_path *path)
{
	unsigned int i;

	for (i = 0; i < path->con_count && path->con[i]; i++)
		if (path->con[i]->c.cm_id && READ_ONCE(path->con[i]->c.removed))
			return true;
	return false;
}

static void leave_removed_device(struct rtrs_client_path *path, leave_fn *leave)
{
	if (device_is_removed(path))
		leave(path);
}

/*
 * Has the server close @path by way of @other. False: @other is lost as well. The wait has no limit
 * while @other has heartbeats: a disk of the server may block a handler of @path, which has
 * messages of it. The removal of the device of @path does not wake other->wait, so it is checked
 * each second.
 */
static bool fence_over(struct rtrs_client_path *other, struct rtrs_client_path *path,
		       leave_fn *leave)
{
	u16 recon_cnt = other->fence_cnt ? path->recon_cnt : 0;
	int err = send_fence(other, rtrs_fence_tag(path->uuid, recon_cnt));
	unsigned int seconds = 0;

	if (err) {
		rtrs_client_path_error(other, err);
		return false;
	}
	while (!wait_event_timeout(other->wait, READ_ONCE(other->fenced) ||
				   !rtrs_client_path_connected(other), HZ)) {
		leave_removed_device(path, leave);
		if (++seconds % 30 == 0)
			pr_warn("session %s, path %s: lost, but the server is not rid of it yet\n",
				path->session->name, path->name);
	}
	return READ_ONCE(other->fenced);
}

void rtrs_client_fence(struct rtrs_client_path *path, void (*leave)(struct rtrs_client_path *path))
{
	struct rtrs_client_session *session = path->session;
	struct rtrs_client_path *other;
	bool done = false;

	if (!path_has_requests(path))
		return;
	/* One fence at a time for a session. */
	while (!mutex_trylock(&session->fence)) {
		wait_event_timeout(path->wait, device_is_removed(path), HZ / 20);
		leave_removed_device(path, leave);
	}
	while (!done && (other = pick_fence_path(path))) {
		done = fence_over(other, path, leave);
		rtrs_client_path_put(other);
	}
	mutex_unlock(&session->fence);
}
