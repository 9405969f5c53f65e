// SPDX-License-Identifier: GPL-2.0
/*
 * Paths: their states, and the workers that connect and shut down. A worker holds path->sending,
 * so that one of them runs at a time and nobody transmits meanwhile. None waits for a peer.
 */
#include <linux/export.h>
#include <linux/random.h>
#include "core.h"

static struct workqueue_struct *path_wq;

/* Nothing is started for a connection that is on its way out. Any context. */
static void start(struct rds_core_path *path, struct work_struct *work)
{
	spin_lock_bh(&path->lock);
	if (!path->conn->dead)
		queue_work(path_wq, work);
	spin_unlock_bh(&path->lock);
}

static void start_connect(struct rds_core_path *path, unsigned long delay)
{
	spin_lock_bh(&path->lock);
	if (!path->conn->dead)
		queue_delayed_work(path_wq, &path->connect_work, delay);
	spin_unlock_bh(&path->lock);
}

bool rds_core_path_change(struct rds_core_path *path, enum rds_core_state from,
			  enum rds_core_state to)
{
	return cmpxchg(&path->state, from, to) == from;
}
EXPORT_SYMBOL_NS_GPL(rds_core_path_change, RDS_CORE);

void rds_xmit_kick(struct rds_core_path *path)
{
	start(path, &path->send_work);
}

/* Nothing, if an attempt is due already */
void rds_path_wake(struct rds_core_path *path)
{
	if (READ_ONCE(path->state) == RDS_CORE_DOWN)
		start_connect(path, 0);
}

/* At once after a success; then at random within a time that doubles. */
static void reconnect(struct rds_core_path *path)
{
	unsigned long least = READ_ONCE(rds_sysctl_min_delay),
		      most = READ_ONCE(rds_sysctl_max_delay);

	if (!path->delay) {
		path->delay = least;
		start_connect(path, 0);
		return;
	}
	start_connect(path, get_random_u32_below(clamp(path->delay, 1UL, (unsigned long)INT_MAX)));
	path->delay = min(path->delay * 2, most);
}

static void connect_work(struct work_struct *work)
{
	struct rds_core_path *path = container_of(work, struct rds_core_path, connect_work.work);

	mutex_lock(&path->sending);
	if (rds_core_path_change(path, RDS_CORE_DOWN, RDS_CORE_CONNECTING) &&
	    path->conn->transport->connect(path) &&
	    rds_core_path_change(path, RDS_CORE_CONNECTING, RDS_CORE_DOWN))
		reconnect(path);
	mutex_unlock(&path->sending);
}

static void shutdown_work(struct work_struct *work)
{
	struct rds_core_path *path = container_of(work, struct rds_core_path, shutdown_work);

	mutex_lock(&path->sending);
	if (rds_core_path_change(path, RDS_CORE_ERROR, RDS_CORE_DISCONNECTING)) {
		path->conn->transport->shutdown(path);
		rds_xmit_requeue(path);
		/* Dropped again meanwhile: another pass is queued. */
		if (rds_core_path_change(path, RDS_CORE_DISCONNECTING, RDS_CORE_DOWN))
			reconnect(path);
	}
	mutex_unlock(&path->sending);
}

void rds_core_path_up(struct rds_core_path *path)
{
	bool up;

	/* In one: who sees it up, and asks for the map under the lock, finds it due. */
	spin_lock_bh(&path->lock);
	up = rds_core_path_change(path, RDS_CORE_CONNECTING, RDS_CORE_UP) ||
	     rds_core_path_change(path, RDS_CORE_RESETTING, RDS_CORE_UP);
	if (up)
		path->map_due = true;
	spin_unlock_bh(&path->lock);
	if (!up)
		return;
	path->delay = 0;
	rds_xmit_kick(path);
}
EXPORT_SYMBOL_NS_GPL(rds_core_path_up, RDS_CORE);

void rds_core_path_drop(struct rds_core_path *path)
{
	int state = READ_ONCE(path->state), was;

	for (;; state = was) {
		if (state == RDS_CORE_DOWN || state == RDS_CORE_ERROR)
			return;
		was = cmpxchg(&path->state, state, RDS_CORE_ERROR);
		if (was == state)
			break;
	}
	rds_stat(RDS_STAT_CONN_RESET);
	start(path, &path->shutdown_work);
}
EXPORT_SYMBOL_NS_GPL(rds_core_path_drop, RDS_CORE);

void rds_core_path_writable(struct rds_core_path *path)
{
	rds_xmit_kick(path);
}
EXPORT_SYMBOL_NS_GPL(rds_core_path_writable, RDS_CORE);

void rds_path_init(struct rds_core_path *path, struct rds_core_conn *conn)
{
	path->conn = conn;
	mutex_init(&path->sending);
	spin_lock_init(&path->lock);
	INIT_LIST_HEAD(&path->send_queue);
	INIT_LIST_HEAD(&path->retrans_queue);
	path->next_tx = 1;
	path->state = conn->transport->loops ? RDS_CORE_UP : RDS_CORE_DOWN;
	INIT_WORK(&path->send_work, rds_xmit_work);
	INIT_DELAYED_WORK(&path->connect_work, connect_work);
	INIT_WORK(&path->shutdown_work, shutdown_work);
}

/* The connection is out of the table; no socket has messages in its queues. */
void rds_path_exit(struct rds_core_path *path)
{
	spin_lock_bh(&path->lock);
	path->conn->dead = true;
	spin_unlock_bh(&path->lock);
	cancel_delayed_work_sync(&path->connect_work);
	cancel_work_sync(&path->shutdown_work);
	cancel_work_sync(&path->send_work);
	if (path->conn->transport->loops)
		return;
	mutex_lock(&path->sending);
	if (xchg(&path->state, RDS_CORE_DISCONNECTING) != RDS_CORE_DOWN)
		path->conn->transport->shutdown(path);
	rds_xmit_purge(path);
	WRITE_ONCE(path->state, RDS_CORE_DOWN);
	mutex_unlock(&path->sending);
}

int rds_path_wq_init(void)
{
	path_wq = alloc_workqueue("rds", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return path_wq ? 0 : -ENOMEM;
}

void rds_path_wq_exit(void)
{
	destroy_workqueue(path_wq);
}
