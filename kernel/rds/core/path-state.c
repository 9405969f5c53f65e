// SPDX-License-Identifier: GPL-2.0
/* The states of a path, and what starts its workers. */
#include <linux/export.h>
#include <linux/timekeeping.h>
#include "core.h"

void (*rds_notify)(struct rds_core_path *path, enum rds_event event, int why) __ro_after_init;
static struct workqueue_struct *path_wq;

/* Nothing is started for a connection that is on its way out. Any context. */
static void start(struct rds_core_path *path, struct work_struct *work)
{
	spin_lock_bh(&path->lock);
	if (!READ_ONCE(path->conn->dead))
		queue_work(path_wq, work);
	spin_unlock_bh(&path->lock);
}

void rds_path_start_connect(struct rds_core_path *path, unsigned long delay)
{
	spin_lock_bh(&path->lock);
	if (!READ_ONCE(path->conn->dead))
		queue_delayed_work(path_wq, &path->connect_work, delay);
	spin_unlock_bh(&path->lock);
}

bool rds_path_change(struct rds_core_path *path, enum rds_core_state from, enum rds_core_state to)
{
	if (cmpxchg(&path->state, from, to) != from)
		return false;
	WRITE_ONCE(path->since, ktime_get_real_ns());
	return true;
}

/*
 * A connection, or an attempt at one, has ended. Attempts are told once as long as the reason is
 * the same, a call that was heard is none. The lock keeps events in their order.
 */
void rds_path_ended(struct rds_core_path *path, int was, int why)
{
	if (was != RDS_CORE_UP && (was != RDS_CORE_CONNECTING || why == -EISCONN))
		return;
	spin_lock_bh(&path->lock);
	if (was == RDS_CORE_UP || why != path->error)
		rds_notify(path, was == RDS_CORE_UP ? RDS_EVENT_DOWN : RDS_EVENT_REFUSED, why);
	path->error = why;
	spin_unlock_bh(&path->lock);
}

void rds_core_path_writable(struct rds_core_path *path)
{
	start(path, &path->send_work);
}
EXPORT_SYMBOL_NS_GPL(rds_core_path_writable, RDS_CORE);

/* Nothing, if an attempt is due already */
void rds_path_wake(struct rds_core_path *path)
{
	if (READ_ONCE(path->state) == RDS_CORE_DOWN)
		rds_path_start_connect(path, 0);
}

void rds_core_path_up(struct rds_core_path *path)
{
	bool up;

	/* Before: who sees it up finds the map due. */
	spin_lock_bh(&path->lock);
	path->map_due = true;
	up = rds_path_change(path, RDS_CORE_CONNECTING, RDS_CORE_UP);
	if (up) {
		path->up_since = jiffies ?: 1;
		path->ups++;
		rds_notify(path, RDS_EVENT_UP, 0);
	}
	spin_unlock_bh(&path->lock);
	if (up)
		rds_core_path_writable(path);
}
EXPORT_SYMBOL_NS_GPL(rds_core_path_up, RDS_CORE);

void rds_core_path_drop(struct rds_core_path *path, int why)
{
	int was;

	do {
		was = READ_ONCE(path->state);
		if (was == RDS_CORE_DOWN || was == RDS_CORE_ERROR)
			return;
	} while (!rds_path_change(path, was, RDS_CORE_ERROR));
	rds_path_ended(path, was, why);
	rds_stat(RDS_STAT_CONN_RESET);
	start(path, &path->shutdown_work);
}
EXPORT_SYMBOL_NS_GPL(rds_core_path_drop, RDS_CORE);

void rds_core_path_retry(struct rds_core_path *path, int why)
{
	path->delay = 0;
	rds_core_path_drop(path, why);
}
EXPORT_SYMBOL_NS_GPL(rds_core_path_retry, RDS_CORE);

void rds_core_path_call(struct rds_core_path *path)
{
	rds_path_wake(path);
	rds_path_map_due(path);
}
EXPORT_SYMBOL_NS_GPL(rds_core_path_call, RDS_CORE);

void rds_core_path_forget(struct rds_core_path *path)
{
	spin_lock_bh(&path->lock);
	path->next_rx = 0;
	spin_unlock_bh(&path->lock);
}
EXPORT_SYMBOL_NS_GPL(rds_core_path_forget, RDS_CORE);

int rds_path_wq_init(void)
{
	path_wq = alloc_workqueue("rds", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return path_wq ? 0 : -ENOMEM;
}

void rds_path_wq_exit(void)
{
	destroy_workqueue(path_wq);
}

void rds_path_map_due(struct rds_core_path *path)
{
	spin_lock_bh(&path->lock);
	path->map_due = true;
	spin_unlock_bh(&path->lock);
	rds_core_path_writable(path);
}
