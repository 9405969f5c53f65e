// SPDX-License-Identifier: GPL-2.0
/* Connections: the table of each namespace. */
#include <linux/export.h>
#include <linux/jhash.h>
#include "core.h"

/*
 * A host has 2^24 addresses of its own: connections of the loop that nobody uses are not kept
 * beyond this.
 */
#define LOOPS_MAX	4096

static struct hlist_head *bucket(struct rds_net *rnet, const struct rds_core_key *key)
{
	u32 hash = jhash2((const u32 *)key->laddr.s6_addr32, 4, key->scope);

	hash = jhash2((const u32 *)key->faddr.s6_addr32, 4, hash);
	return &rnet->conn[hash % RDS_CONN_BUCKETS];
}

/* Under rnet->lock. With a reference. */
static struct rds_core_conn *conn_find(struct rds_net *rnet, struct rds_core_transport *transport,
				       const struct rds_core_key *key)
{
	struct rds_core_conn *conn;

	hlist_for_each_entry(conn, bucket(rnet, key), hash_entry) {
		if (conn->transport != transport || conn->tos != key->tos ||
		    conn->scope != key->scope || !rds_ip_equal(&conn->laddr, &key->laddr) ||
		    !rds_ip_equal(&conn->faddr, &key->faddr))
			continue;
		kref_get(&conn->ref);
		return conn;
	}
	return NULL;
}

static void conn_free(struct rds_core_conn *conn)
{
	if (conn->lcong)
		rds_cong_put(conn->lcong);
	if (conn->fcong)
		rds_cong_put(conn->fcong);
	kfree(conn);
	rds_census_destroyed(RDS_CENSUS_CONN);
}

static void conn_release(struct kref *ref)
{
	conn_free(container_of(ref, struct rds_core_conn, ref));
}

void rds_core_conn_put(struct rds_core_conn *conn)
{
	kref_put(&conn->ref, conn_release);
}
EXPORT_SYMBOL_NS_GPL(rds_core_conn_put, RDS_CORE);

static struct rds_core_conn *conn_make(struct rds_core_transport *transport,
				       const struct rds_core_key *key)
{
	struct rds_net *rnet = rds_net(key->net);
	struct rds_core_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL_ACCOUNT);
	int err = -ENOMEM;

	if (!conn)
		return ERR_PTR(-ENOMEM);
	rds_census_created(RDS_CENSUS_CONN);
	kref_init(&conn->ref);
	conn->laddr = key->laddr;
	conn->faddr = key->faddr;
	conn->scope = key->scope;
	conn->tos = key->tos;
	conn->transport = transport;
	write_pnet(&conn->net, key->net);
	rds_path_init(&conn->path, conn);
	conn->lcong = rds_cong_get(rnet, &key->laddr, false);
	conn->fcong = rds_cong_get(rnet, &key->faddr, false);
	if (conn->lcong && conn->fcong)
		err = transport->conn_init ? transport->conn_init(conn) : 0;
	if (!err)
		return conn;
	conn_free(conn);
	return ERR_PTR(err);
}

/* Out of the table, under rnet->lock; its reference is the caller's then. */
static void conn_unlist(struct rds_net *rnet, struct rds_core_conn *conn)
{
	hlist_del(&conn->hash_entry);
	list_del(&conn->net_entry);
	if (conn->transport->loops)
		rnet->nr_loops--;
}

/* The oldest of the loop that nobody uses goes when there are too many; under rnet->lock. */
static struct rds_core_conn *conn_evict(struct rds_net *rnet)
{
	struct rds_core_conn *conn;

	if (rnet->nr_loops < LOOPS_MAX)
		return NULL;
	list_for_each_entry(conn, &rnet->conns, net_entry) {
		if (!conn->transport->loops || kref_read(&conn->ref) > 1)
			continue;
		conn_unlist(rnet, conn);
		return conn;
	}
	return NULL;
}

static void conn_discard(struct rds_core_conn *conn)
{
	if (conn->transport->conn_exit)
		conn->transport->conn_exit(conn);
	rds_core_conn_put(conn);
}

struct rds_core_conn *rds_core_conn_get(struct rds_core_transport *transport,
					const struct rds_core_key *key)
{
	struct rds_net *rnet = rds_net(key->net);
	struct rds_core_conn *conn, *fresh, *old;

	spin_lock_bh(&rnet->lock);
	conn = conn_find(rnet, transport, key);
	spin_unlock_bh(&rnet->lock);
	if (conn)
		return conn;
	fresh = conn_make(transport, key);
	if (IS_ERR(fresh))
		return fresh;
	spin_lock_bh(&rnet->lock);
	conn = conn_find(rnet, transport, key);
	if (conn) {
		spin_unlock_bh(&rnet->lock);
		conn_discard(fresh);
		return conn;
	}
	kref_get(&fresh->ref);
	hlist_add_head(&fresh->hash_entry, bucket(rnet, key));
	list_add_tail(&fresh->net_entry, &rnet->conns);
	old = transport->loops ? conn_evict(rnet) : NULL;
	if (transport->loops)
		rnet->nr_loops++;
	spin_unlock_bh(&rnet->lock);
	if (old)
		conn_discard(old);
	return fresh;
}
EXPORT_SYMBOL_NS_GPL(rds_core_conn_get, RDS_CORE);

/* One of the namespace, of @transport if that is not NULL; out of the table. */
static struct rds_core_conn *conn_take(struct rds_net *rnet,
				       const struct rds_core_transport *transport)
{
	struct rds_core_conn *conn;

	spin_lock_bh(&rnet->lock);
	list_for_each_entry(conn, &rnet->conns, net_entry) {
		if (transport && conn->transport != transport)
			continue;
		conn_unlist(rnet, conn);
		spin_unlock_bh(&rnet->lock);
		return conn;
	}
	spin_unlock_bh(&rnet->lock);
	return NULL;
}

/* No socket uses those any more. */
static void conn_end_all(struct rds_net *rnet, const struct rds_core_transport *transport)
{
	struct rds_core_conn *conn;

	while ((conn = conn_take(rnet, transport))) {
		rds_path_exit(&conn->path);
		conn_discard(conn);
	}
}

void rds_conn_end_net(struct rds_net *rnet)
{
	conn_end_all(rnet, NULL);
}

static void end_of_transport(struct rds_net *rnet, void *transport)
{
	conn_end_all(rnet, transport);
}

void rds_conn_end_transport(struct rds_core_transport *transport)
{
	rds_net_each(end_of_transport, transport);
}

void rds_conn_each(struct rds_net *rnet, void (*fn)(struct rds_core_conn *conn, void *arg),
		   void *arg)
{
	struct rds_core_conn *conn;

	spin_lock_bh(&rnet->lock);
	list_for_each_entry(conn, &rnet->conns, net_entry)
		fn(conn, arg);
	spin_unlock_bh(&rnet->lock);
}
