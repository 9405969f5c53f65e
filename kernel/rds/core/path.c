// SPDX-License-Identifier: GPL-2.0
/*
 * Paths: the workers that connect and shut down. A worker holds path->sending,
 * so that one of them runs at a time and nobody transmits meanwhile. None waits for a peer.
 */
#include <linux/export.h>
#include <linux/random.h>
#include "core.h"

/* What was up for so long does not count as one more failed attempt when it breaks. */
#define STEADY		HZ
/* An end that waits to be called calls after this, at most, if it has something to send. */
#define PASSIVE_DELAY	(HZ / 10)

/* There are messages, or tasks that wait for the peer's map, which comes when the path is up. */
static bool wanted(struct rds_core_path *path)
{
	bool has;

	spin_lock_bh(&path->lock);
	has = !list_empty(&path->send_queue);
	spin_unlock_bh(&path->lock);
	return has || wq_has_sleeper(&path->conn->fcong->wait);
}

/*
 * At once if it was up for a time; then at random within a time that doubles. Where the peer
 * connects, it has a moment to do so.
 */
static void reconnect(struct rds_core_path *path)
{
	unsigned long least = READ_ONCE(rds_sysctl_min_delay),
		      most = READ_ONCE(rds_sysctl_max_delay);
	bool passive = path->conn->passive;
	u32 range;

	if ((passive || path->index) && !wanted(path))
		return;
	if (!path->delay && !passive) {
		path->delay = least;
		rds_path_start_connect(path, 0);
		return;
	}
	if (!path->delay)
		path->delay = PASSIVE_DELAY;
	range = clamp(path->delay, 1UL, (unsigned long)INT_MAX);
	rds_path_start_connect(path, get_random_u32_below(range));
	path->delay = min(path->delay * 2, most);
}

/* The peer has fewer paths than the one before it. */
static bool is_gone(const struct rds_core_path *path)
{
	return path->index >= READ_ONCE(path->conn->nr_paths);
}

static void connect_work(struct work_struct *work)
{
	struct rds_core_path *path = container_of(work, struct rds_core_path, connect_work.work);
	int err = 0;

	mutex_lock(&path->sending);
	if (is_gone(path))
		rds_xmit_move(path, &path->conn->path);
	else if (rds_path_change(path, RDS_CORE_DOWN, RDS_CORE_CONNECTING))
		err = path->conn->transport->connect(path);
	if (err && rds_path_change(path, RDS_CORE_CONNECTING, RDS_CORE_DOWN)) {
		rds_path_ended(path, RDS_CORE_CONNECTING, err);
		reconnect(path);
	}
	mutex_unlock(&path->sending);
}

/* Under path->sending. True: it is down now. */
static bool shut_down(struct rds_core_path *path)
{
	if (!rds_path_change(path, RDS_CORE_ERROR, RDS_CORE_DISCONNECTING))
		return false;
	path->conn->transport->shutdown(path);
	rds_xmit_requeue(path);
	if (path->up_since && time_after(jiffies, path->up_since + STEADY))
		path->delay = 0;
	path->up_since = 0;
	/* Dropped again meanwhile: another pass is queued. */
	return rds_path_change(path, RDS_CORE_DISCONNECTING, RDS_CORE_DOWN);
}

static void shutdown_work(struct work_struct *work)
{
	struct rds_core_path *path = container_of(work, struct rds_core_path, shutdown_work);

	mutex_lock(&path->sending);
	if (shut_down(path))
		reconnect(path);
	mutex_unlock(&path->sending);
}

/* Under path->sending */
static int accept_locked(struct rds_core_path *path,
			 void (*install)(struct rds_core_path *path, void *arg), void *arg)
{
	if (READ_ONCE(path->conn->dead) || is_gone(path))
		return -ENETUNREACH;
	shut_down(path);
	/* This end has called at the same time: its own attempt is given up. */
	if (READ_ONCE(path->state) == RDS_CORE_CONNECTING)
		path->conn->transport->shutdown(path);
	else if (!rds_path_change(path, RDS_CORE_DOWN, RDS_CORE_CONNECTING))
		return -EBUSY;
	install(path, arg);
	return 0;
}

int rds_core_path_replace(struct rds_core_path *path, int why,
			  void (*install)(struct rds_core_path *path, void *arg), void *arg)
{
	if (rds_path_change(path, RDS_CORE_UP, RDS_CORE_DISCONNECTING))
		rds_path_ended(path, RDS_CORE_UP, why);
	else if (!rds_path_change(path, RDS_CORE_CONNECTING, RDS_CORE_DISCONNECTING))
		return -EBUSY;
	path->delay = 0;
	path->up_since = 0;
	path->conn->transport->shutdown(path);
	rds_xmit_requeue(path);
	if (!rds_path_change(path, RDS_CORE_DISCONNECTING, RDS_CORE_CONNECTING))
		return -EBUSY;
	install(path, arg);
	return 0;
}
EXPORT_SYMBOL_NS_GPL(rds_core_path_replace, RDS_CORE);

void rds_path_leave(struct rds_core_path *path)
{
	rds_core_path_drop(path, -EPROTO);
	rds_path_start_connect(path, 0);
}

int rds_core_path_accept(struct rds_core_path *path,
			 void (*install)(struct rds_core_path *path, void *arg), void *arg)
{
	int err;

	mutex_lock(&path->sending);
	err = accept_locked(path, install, arg);
	mutex_unlock(&path->sending);
	return err;
}
EXPORT_SYMBOL_NS_GPL(rds_core_path_accept, RDS_CORE);

int rds_path_init(struct rds_core_path *path, struct rds_core_conn *conn, unsigned int index)
{
	path->conn = conn;
	path->index = index;
	mutex_init(&path->sending);
	spin_lock_init(&path->lock);
	INIT_LIST_HEAD(&path->send_queue);
	INIT_LIST_HEAD(&path->retrans_queue);
	INIT_LIST_HEAD(&path->stop_entry);
	path->next_tx = 1;
	path->state = conn->transport->loops ? RDS_CORE_UP : RDS_CORE_DOWN;
	path->since = ktime_get_real_ns();
	INIT_WORK(&path->send_work, rds_xmit_work);
	INIT_DELAYED_WORK(&path->connect_work, connect_work);
	INIT_WORK(&path->shutdown_work, shutdown_work);
	return conn->transport->path_init ? conn->transport->path_init(path) : 0;
}

/* The connection is dead; no socket has messages in its queues. */
void rds_path_exit(struct rds_core_path *path)
{
	const struct rds_core_transport *transport = path->conn->transport;
	int was;

	/* Who did not see that it is dead has queued its work when this lock is free. */
	spin_lock_bh(&path->lock);
	spin_unlock_bh(&path->lock);
	cancel_delayed_work_sync(&path->connect_work);
	cancel_work_sync(&path->shutdown_work);
	cancel_work_sync(&path->send_work);
	if (transport->loops)
		return;
	mutex_lock(&path->sending);
	was = xchg(&path->state, RDS_CORE_DISCONNECTING);
	if (was != RDS_CORE_DOWN)
		transport->shutdown(path);
	rds_path_ended(path, was, -ESHUTDOWN);
	rds_xmit_purge(path);
	WRITE_ONCE(path->state, RDS_CORE_DOWN);
	mutex_unlock(&path->sending);
	if (transport->path_exit)
		transport->path_exit(path);
}
