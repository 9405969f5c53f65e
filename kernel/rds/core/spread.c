// SPDX-License-Identifier: GPL-2.0
/*
 * Several paths of a connection: conversations are spread over them by the sum of both ports, so
 * that an answer takes the path of the question, and carries its acknowledgments: both ends compute
 * the same. The messages of a socket stay in order, as it changes to another path only while the
 * peer has all of them.
 */
#include <linux/export.h>
#include <linux/jhash.h>
#include <linux/slab.h>
#include "core.h"

struct rds_core_path *rds_spread_pick(struct rds_sock *rs, struct rds_core_conn *conn,
				      __be16 dport)
{
	unsigned int nr = READ_ONCE(conn->nr_paths), index;
	struct rds_core_msg *msg;

	if (nr <= 1)
		return &conn->path;
	index = jhash_1word(ntohs(rs->lport) + ntohs(dport), 0) % nr;
	spin_lock_bh(&rs->lock);
	list_for_each_entry_reverse(msg, &rs->sends, sock_entry) {
		if (msg->path->conn != conn)
			continue;
		index = msg->path->index;
		break;
	}
	spin_unlock_bh(&rs->lock);
	return rds_core_conn_path(conn, index);
}

static struct rds_core_path *path_add(struct rds_core_conn *conn, unsigned int index)
{
	struct rds_core_path *path = kzalloc(sizeof(*path), GFP_KERNEL_ACCOUNT), *other;
	int err;

	if (!path)
		return ERR_PTR(-ENOMEM);
	err = rds_path_init(path, conn, index);
	if (err) {
		kfree(path);
		return ERR_PTR(err);
	}
	other = cmpxchg(&conn->more[index - 1], NULL, path);
	if (!other)
		return path;
	rds_path_exit(path);
	kfree(path);
	return other;
}

struct rds_core_path *rds_core_conn_path(struct rds_core_conn *conn, unsigned int index)
{
	struct rds_core_path *path;

	if (!index)
		return &conn->path;
	path = smp_load_acquire(&conn->more[index - 1]); /* pairs with cmpxchg() in path_add() */
	return path ?: path_add(conn, index);
}
EXPORT_SYMBOL_NS_GPL(rds_core_conn_path, RDS_CORE);

void rds_core_conn_paths(struct rds_core_conn *conn, unsigned int nr)
{
	struct rds_core_path *path;
	unsigned int i;

	WRITE_ONCE(conn->nr_paths, clamp(nr, 1U, (unsigned int)RDS_CORE_PATHS));
	for (i = conn->nr_paths; i < RDS_CORE_PATHS; i++) {
		path = READ_ONCE(conn->more[i - 1]);
		if (path)
			rds_path_leave(path);
	}
}
EXPORT_SYMBOL_NS_GPL(rds_core_conn_paths, RDS_CORE);
