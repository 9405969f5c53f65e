// SPDX-License-Identifier: GPL-2.0
/* Connections: the table of each namespace; and namespaces. */
#include <linux/export.h>
#include <linux/jhash.h>
#include "core.h"

/*
 * A host has 2^24 addresses of its own: connections of the loop that nobody uses are not kept
 * beyond this.
 */
#define LOOPS_MAX	4096

/*
 * Whoever reaches the port of a transport makes a connection. Those that no socket of this host
 * has used are strangers: there are not more than these, and those that carried nothing go after a
 * time.
 */
#define STRANGERS_MAX	4096
#define STRANGER_TIME	(60 * HZ)

unsigned int rds_net_id;

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

static void conn_release(struct kref *ref)
{
	struct rds_core_conn *conn = container_of(ref, struct rds_core_conn, ref);

	if (conn->lcong)
		rds_cong_put(conn->lcong);
	if (conn->fcong)
		rds_cong_put(conn->fcong);
	kfree(conn);
	rds_census_destroyed(RDS_CENSUS_CONN);
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
	conn->made = jiffies;
	INIT_LIST_HEAD(&conn->net_entry);
	write_pnet(&conn->net, key->net);
	conn->nr_paths = 1;
	conn->lcong = rds_cong_get(rnet, &key->laddr, false);
	conn->fcong = rds_cong_get(rnet, &key->faddr, false);
	if (conn->lcong && conn->fcong)
		err = rds_path_init(&conn->path, conn, 0);
	if (!err)
		return conn;
	rds_core_conn_put(conn);
	return ERR_PTR(err);
}

static unsigned int *count_of(struct rds_net *rnet, const struct rds_core_conn *conn)
{
	return conn->transport->loops ? &rnet->nr_loops : &rnet->nr_strangers;
}

static void conn_list(struct rds_net *rnet, struct rds_core_conn *conn,
		      const struct rds_core_key *key)
{
	kref_get(&conn->ref);
	conn->number = ++rnet->changes;
	hlist_add_head(&conn->hash_entry, bucket(rnet, key));
	list_add_tail(&conn->net_entry, &rnet->conns);
	(*count_of(rnet, conn))++;
}

/* Out of the table, under rnet->lock; its reference is the caller's then. */
static void conn_unlist(struct rds_net *rnet, struct rds_core_conn *conn)
{
	hlist_del(&conn->hash_entry);
	list_del_init(&conn->net_entry);
	rnet->changes++;
	if (!conn->used)
		(*count_of(rnet, conn))--;
}

bool rds_conn_use_first(struct rds_core_conn *conn)
{
	struct rds_net *rnet = rds_net(read_pnet(&conn->net));
	bool stays;

	spin_lock_bh(&rnet->lock);
	stays = !list_empty(&conn->net_entry);
	if (stays && !conn->used) {
		rnet->nr_strangers--;
		WRITE_ONCE(conn->used, true);
	}
	spin_unlock_bh(&rnet->lock);
	return stays;
}

/* The oldest that @which is true for, out of the table; or NULL. Under rnet->lock. */
static struct rds_core_conn *conn_first(struct rds_net *rnet,
					bool (*which)(const struct rds_core_conn *conn,
						      const void *arg), const void *arg)
{
	struct rds_core_conn *conn;

	list_for_each_entry(conn, &rnet->conns, net_entry) {
		if (!which(conn, arg))
			continue;
		conn_unlist(rnet, conn);
		return conn;
	}
	return NULL;
}

/* Nobody uses it, nor has, and it is one of the loop, or is not, as @fresh is. */
static bool is_spare(const struct rds_core_conn *conn, const void *fresh)
{
	const struct rds_core_conn *like = fresh;

	return conn->transport->loops == like->transport->loops && !conn->used &&
	       kref_read(&conn->ref) == 1;
}

/* When there are too many of its kind, one goes. */
static struct rds_core_conn *conn_evict(struct rds_net *rnet, const struct rds_core_conn *fresh)
{
	unsigned int most = fresh->transport->loops ? LOOPS_MAX : STRANGERS_MAX;

	return *count_of(rnet, fresh) < most ? NULL : conn_first(rnet, is_spare, fresh);
}

/*
 * It is out of the table. As long as one path is there it may look at the others, and what is left
 * of them goes to the first.
 */
static void conn_end(struct rds_core_conn *conn)
{
	unsigned int i;

	spin_lock_bh(&conn->path.lock);
	WRITE_ONCE(conn->dead, true);
	spin_unlock_bh(&conn->path.lock);
	for (i = 0; i < RDS_CORE_PATHS - 1; i++)
		if (conn->more[i])
			rds_path_exit(conn->more[i]);
	rds_path_exit(&conn->path);
	for (i = 0; i < RDS_CORE_PATHS - 1; i++)
		kfree(conn->more[i]);
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
		conn_end(fresh);
		return conn;
	}
	old = conn_evict(rnet, fresh);
	conn_list(rnet, fresh, key);
	spin_unlock_bh(&rnet->lock);
	if (old)
		conn_end(old);
	if (!transport->loops)
		queue_delayed_work(system_unbound_wq, &rnet->tidy_work, STRANGER_TIME);
	return fresh;
}
EXPORT_SYMBOL_NS_GPL(rds_core_conn_get, RDS_CORE);

/* Of @transport, or of any if that is NULL */
static bool is_of(const struct rds_core_conn *conn, const void *transport)
{
	return !transport || conn->transport == transport;
}

/* A stranger that has carried nothing for so long */
static bool is_idle(const struct rds_core_conn *conn, const void *unused)
{
	return !conn->transport->loops && !conn->used && kref_read(&conn->ref) == 1 &&
	       !READ_ONCE(conn->path.next_rx) && READ_ONCE(conn->path.next_tx) == 1 &&
	       time_after_eq(jiffies, conn->made + STRANGER_TIME);
}

static void conn_end_all(struct rds_net *rnet, bool (*which)(const struct rds_core_conn *conn,
							     const void *arg), const void *arg)
{
	struct rds_core_conn *conn;

	do {
		spin_lock_bh(&rnet->lock);
		conn = conn_first(rnet, which, arg);
		spin_unlock_bh(&rnet->lock);
		if (conn)
			conn_end(conn);
	} while (conn);
}

static void tidy_work(struct work_struct *work)
{
	struct rds_net *rnet = container_of(work, struct rds_net, tidy_work.work);

	conn_end_all(rnet, is_idle, NULL);
	if (READ_ONCE(rnet->nr_strangers))
		queue_delayed_work(system_unbound_wq, &rnet->tidy_work, STRANGER_TIME);
}

void rds_core_transport_leave(struct rds_core_transport *transport, struct net *net)
{
	conn_end_all(rds_net(net), is_of, transport);
	/* It may be ending one. */
	flush_work(&rds_net(net)->tidy_work.work);
}
EXPORT_SYMBOL_NS_GPL(rds_core_transport_leave, RDS_CORE);

void rds_conn_each(struct rds_net *rnet, void (*fn)(struct rds_core_conn *conn, void *arg),
		   void *arg)
{
	struct rds_core_conn *conn;

	spin_lock_bh(&rnet->lock);
	list_for_each_entry(conn, &rnet->conns, net_entry)
		fn(conn, arg);
	spin_unlock_bh(&rnet->lock);
}

static int __net_init net_start(struct net *net)
{
	struct rds_net *rnet = rds_net(net);

	spin_lock_init(&rnet->lock);
	INIT_LIST_HEAD(&rnet->socks);
	INIT_LIST_HEAD(&rnet->monitors);
	INIT_LIST_HEAD(&rnet->conns);
	INIT_DELAYED_WORK(&rnet->tidy_work, tidy_work);
	init_waitqueue_head(&rnet->map_wait);
	return 0;
}

/* The last ones: those of the loop, and of transports that know no namespaces */
static void __net_exit net_end(struct net *net)
{
	struct rds_net *rnet = rds_net(net);

	cancel_delayed_work_sync(&rnet->tidy_work);
	conn_end_all(rnet, is_of, NULL);
}

static struct pernet_operations net_ops = {
	.init = net_start,
	.exit = net_end,
	.id = &rds_net_id,
	.size = sizeof(struct rds_net),
};

/* As a device: it ends before the addresses and routes of the namespace do. */
int rds_net_init(void)
{
	return register_pernet_device(&net_ops);
}

void rds_net_exit(void)
{
	unregister_pernet_device(&net_ops);
}
