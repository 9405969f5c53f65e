// SPDX-License-Identifier: GPL-2.0
/*
 * Queues of a path, and who transmits from them. One task does at a time; path->kicks counts the
 * wishes, and that task leaves only when it has looked after the last of them.
 */
#include <linux/export.h>
#include <linux/moduleparam.h>
#include "core.h"

/* Many: who sends for others does not read its own answers; with 1024 these waited for a second. */
static unsigned int batch = 32;
module_param_named(send_batch_count, batch, uint, 0444);
MODULE_PARM_DESC(send_batch_count,
		 "Messages that a task transmits before a worker goes on for it (default: 32)");

/* Pongs that a path has in its queues, at most */
#define PONGS_MAX	256

static const u8 empty_map[RDS_MAP_LEN];

static bool is_pong(const struct rds_core_msg *msg)
{
	return msg->hdr.sport == RDS_PORT_PING;
}

/*
 * Takes a reference, unless it was canceled before it came here, or is one pong too many: a peer
 * may ping and never read.
 */
void rds_xmit_queue(struct rds_core_path *path, struct rds_core_msg *msg)
{
	spin_lock_bh(&path->lock);
	if (!test_bit(RDS_CORE_MSG_CANCELED, &msg->flags) &&
	    !(is_pong(msg) && path->pongs >= PONGS_MAX)) {
		path->pongs += is_pong(msg);
		rds_msg_get(msg);
		__set_bit(RDS_CORE_MSG_QUEUED, &msg->flags);
		msg->hdr.seq = path->next_tx++;
		list_add_tail(&msg->path_entry, &path->send_queue);
		rds_stat(RDS_STAT_SEND_QUEUED);
	}
	spin_unlock_bh(&path->lock);
}

/* Under path->lock; its reference is the caller's then. */
static void unqueue(struct rds_core_path *path, struct rds_core_msg *msg)
{
	__clear_bit(RDS_CORE_MSG_QUEUED, &msg->flags);
	list_del_init(&msg->path_entry);
	path->pongs -= is_pong(msg);
}

/* The next message, which waits for its acknowledgment from now on, with a reference */
static struct rds_core_msg *begin(struct rds_core_path *path)
{
	struct rds_core_msg *msg;

	spin_lock_bh(&path->lock);
	msg = list_first_entry_or_null(&path->send_queue, struct rds_core_msg, path_entry);
	if (msg) {
		list_move_tail(&msg->path_entry, &path->retrans_queue);
		rds_msg_get(msg);
	}
	spin_unlock_bh(&path->lock);
	if (!msg)
		rds_stat(RDS_STAT_SEND_QUEUE_EMPTY);
	return msg;
}

static void end_current(struct rds_core_path *path)
{
	if (path->current_msg)
		rds_msg_put(path->current_msg);
	path->current_msg = NULL;
}

static bool map_due(struct rds_core_path *path)
{
	bool due;

	if (!READ_ONCE(path->map_due))
		return false;
	spin_lock_bh(&path->lock);
	due = path->map_due;
	path->map_due = false;
	spin_unlock_bh(&path->lock);
	return due;
}

/*
 * Of a map that was not due there is nothing to send; nor within a message. What changes while a
 * map is on its way makes it due once more.
 */
static int xmit_map(struct rds_core_path *path)
{
	struct rds_core_conn *conn = path->conn;
	unsigned long *bits;
	int err;

	if (!path->map_begun && (path->current_msg || !map_due(path)))
		return 0;
	bits = smp_load_acquire(&conn->lcong->bits); /* pairs with rds_cong_give_bits() */
	err = conn->transport->xmit_map(path, bits ? (const void *)bits : empty_map);
	path->map_begun = err == -EAGAIN;
	return err;
}

static int xmit_ack(struct rds_core_path *path)
{
	const struct rds_core_transport *transport = path->conn->transport;

	return (transport->xmit_ack ? transport->xmit_ack(path) : 0) ?: -ENOENT;
}

static int xmit_one(struct rds_core_path *path)
{
	int err;

	err = xmit_map(path);
	if (err)
		return err;
	if (!path->current_msg)
		path->current_msg = begin(path);
	if (!path->current_msg)
		return xmit_ack(path);
	err = path->conn->transport->xmit(path, path->current_msg);
	if (err != -EAGAIN)
		end_current(path);
	return err;
}

/* What may be sent now; how many of @most are left */
static unsigned int xmit_some(struct rds_core_path *path, unsigned int most)
{
	int err = 0;

	mutex_lock(&path->sending);
	/* pairs with rds_core_path_up() */
	while (!err && most && smp_load_acquire(&path->state) == RDS_CORE_UP) {
		most--;
		err = xmit_one(path);
	}
	/* Before the lock is given away: later it may be another connection. */
	if (err && err != -EAGAIN && err != -ENOENT)
		rds_core_path_drop(path, err);
	mutex_unlock(&path->sending);
	return most;
}

void rds_xmit_run(struct rds_core_path *path)
{
	unsigned int most = max(batch, 1U);
	int seen;

	if (atomic_inc_return(&path->kicks) != 1) {
		rds_stat(RDS_STAT_SEND_LOCK_CONTENTION);
		return;
	}
	do {
		seen = atomic_read(&path->kicks);
		most = xmit_some(path, most);
		if (!most) {
			atomic_set(&path->kicks, 0);
			rds_core_path_writable(path);
			return;
		}
	} while (atomic_sub_return(seen, &path->kicks));
}

void rds_xmit_work(struct work_struct *work)
{
	rds_xmit_run(container_of(work, struct rds_core_path, send_work));
}

/* What was begun is sent again, in order, before what was not. Under path->sending. */
void rds_xmit_requeue(struct rds_core_path *path)
{
	struct rds_core_msg *msg;

	end_current(path);
	path->map_begun = false;
	spin_lock_bh(&path->lock);
	list_for_each_entry(msg, &path->retrans_queue, path_entry) {
		msg->hdr.flags |= RDS_HDR_ACK_REQUIRED | RDS_HDR_RETRANSMITTED;
		msg->mark = 0;
	}
	list_splice_init(&path->retrans_queue, &path->send_queue);
	spin_unlock_bh(&path->lock);
}

/* @msgs were taken off a queue */
static void done(struct list_head *msgs)
{
	struct rds_core_msg *msg, *next;

	list_for_each_entry_safe(msg, next, msgs, path_entry) {
		list_del_init(&msg->path_entry);
		rds_msg_unsend(msg);
		rds_msg_put(msg);
	}
}

void rds_core_path_acked(struct rds_core_path *path,
			 bool (*reached)(const struct rds_core_msg *msg, u64 arg), u64 arg)
{
	struct rds_core_msg *msg, *next;
	LIST_HEAD(acked);

	spin_lock_bh(&path->lock);
	list_for_each_entry_safe(msg, next, &path->retrans_queue, path_entry) {
		if (!reached(msg, arg))
			break;
		unqueue(path, msg);
		list_add_tail(&msg->path_entry, &acked);
	}
	spin_unlock_bh(&path->lock);
	done(&acked);
}
EXPORT_SYMBOL_NS_GPL(rds_core_path_acked, RDS_CORE);

/* All messages of a path, off its queues; they are of the path @to from now on. */
static void take_all(struct rds_core_path *path, struct rds_core_path *to, struct list_head *msgs)
{
	struct rds_core_msg *msg, *next;

	rds_xmit_requeue(path);
	spin_lock_bh(&path->lock);
	list_for_each_entry_safe(msg, next, &path->send_queue, path_entry) {
		unqueue(path, msg);
		WRITE_ONCE(msg->path, to);
		list_add_tail(&msg->path_entry, msgs);
	}
	spin_unlock_bh(&path->lock);
}

void rds_xmit_move(struct rds_core_path *from, struct rds_core_path *to)
{
	struct rds_core_msg *msg, *next;
	LIST_HEAD(moved);

	take_all(from, to, &moved);
	list_for_each_entry_safe(msg, next, &moved, path_entry) {
		list_del_init(&msg->path_entry);
		msg->hdr.flags = 0;
		rds_xmit_queue(to, msg);
		rds_msg_put(msg);
	}
	rds_core_path_writable(to);
}

/* Under path->sending; the connection ends. */
void rds_xmit_purge(struct rds_core_path *path)
{
	LIST_HEAD(gone);

	take_all(path, path, &gone);
	done(&gone);
}
