// SPDX-License-Identifier: GPL-2.0
/* Addresses and ports of sockets, by namespace. */
#include <linux/hash.h>
#include <linux/random.h>
#include "core.h"

#define BUCKET_BITS	10
#define BUCKETS		BIT(BUCKET_BITS)

static struct bucket {
	spinlock_t lock; /* protects socks */
	struct hlist_head socks;
} table[BUCKETS] = {
	[0 ... BUCKETS - 1] = { .lock = __SPIN_LOCK_UNLOCKED(table.lock) },
};

static struct bucket *bucket_of(const struct net *net, const struct in6_addr *addr, __be16 port)
{
	u32 last = (__force u32)addr->s6_addr32[3] ^ (__force u32)addr->s6_addr32[1];

	return &table[hash_32(last ^ (__force u32)port ^ net_hash_mix(net), BUCKET_BITS)];
}

static struct rds_sock *find(struct bucket *b, const struct net *net, const struct in6_addr *addr,
			     __be16 port, u32 scope)
{
	struct rds_sock *rs;

	hlist_for_each_entry(rs, &b->socks, bind_entry)
		if (rs->lport == port && rs->scope == scope && rds_ip_equal(&rs->laddr, addr) &&
		    net_eq(sock_net(&rs->sk), net))
			return rs;
	return NULL;
}

struct rds_sock *rds_bind_find(struct net *net, const struct in6_addr *addr, __be16 port, u32 scope)
{
	struct bucket *b = bucket_of(net, addr, port);
	struct rds_sock *rs;

	spin_lock(&b->lock);
	rs = find(b, net, addr, port, scope);
	if (rs)
		sock_hold(&rs->sk);
	spin_unlock(&b->lock);
	return rs;
}

static bool insert(struct rds_sock *rs, __be16 port)
{
	struct bucket *b = bucket_of(sock_net(&rs->sk), &rs->laddr, port);
	bool taken;

	spin_lock_bh(&b->lock);
	taken = find(b, sock_net(&rs->sk), &rs->laddr, port, rs->scope);
	if (!taken) {
		rs->lport = port;
		hlist_add_head(&rs->bind_entry, &b->socks);
	}
	spin_unlock_bh(&b->lock);
	return !taken;
}

/* @port 0: any that is free, from a random one on */
static int insert_some(struct rds_sock *rs, __be16 port)
{
	u32 first, i;

	if (port)
		return insert(rs, port) ? 0 : -EADDRINUSE;
	first = get_random_u32_below(RDS_MAP_PORTS);
	for (i = 0; i < RDS_MAP_PORTS; i++) {
		u16 p = first + i;

		if (p >= RDS_PORT_FIRST && insert(rs, htons(p)))
			return 0;
	}
	return -EADDRINUSE;
}

void rds_unbind(struct rds_sock *rs)
{
	struct bucket *b;

	if (!rs->bound)
		return;
	b = bucket_of(sock_net(&rs->sk), &rs->laddr, rs->lport);
	spin_lock_bh(&b->lock);
	hlist_del_init(&rs->bind_entry);
	spin_unlock_bh(&b->lock);
}

/* Sets rs->transport, also where it was preset. */
static int choose_transport(struct rds_sock *rs, const struct rds_addr *a)
{
	struct net *net = sock_net(&rs->sk);

	if (rs->transport)
		return rs->transport->claims(net, &a->ip, a->scope) ? 0 : -ENOPROTOOPT;
	rs->transport = rds_transport_find(net, &a->ip, a->scope);
	if (rs->transport)
		return 0;
	net_info_ratelimited("no transport for %pI6c: is rds_tcp or rds_rdma loaded?\n", &a->ip);
	return -EADDRNOTAVAIL;
}

/* Under lock_sock(). The table must not have the socket before all that a lookup needs is there. */
static int bind_to(struct rds_sock *rs, const struct rds_addr *a)
{
	int err = choose_transport(rs, a);

	if (err)
		return err;
	rs->cong = rds_cong_get(rds_net(sock_net(&rs->sk)), &a->ip, true);
	if (!rs->cong)
		return -ENOMEM;
	rs->laddr = a->ip;
	rs->scope = a->scope;
	err = insert_some(rs, a->port);
	if (!err)
		smp_store_release(&rs->bound, true); /* pairs with rds_bound() */
	return err;
}

/* A socket that could not be bound has no transport, like one that is new. */
static void bind_undo(struct rds_sock *rs)
{
	if (rs->cong)
		rds_cong_put(rs->cong);
	rds_transport_put(rs->transport);
	rs->cong = NULL;
	rs->transport = NULL;
}

int rds_bind(struct socket *sock, struct sockaddr *sa, int len)
{
	struct rds_sock *rs = rds_sk(sock->sk);
	struct rds_addr a;
	int err;

	err = rds_addr_parse(sa, len, RDS_ADDR_BIND, &a);
	if (err)
		return err;
	if (a.port == htons(RDS_PORT_PROBE))
		return -EINVAL;
	lock_sock(&rs->sk);
	if (rs->bound || (rs->peer.scope && rs->peer.scope != a.scope)) {
		err = -EINVAL;
	} else {
		err = bind_to(rs, &a);
		if (err)
			bind_undo(rs);
	}
	release_sock(&rs->sk);
	return err;
}
