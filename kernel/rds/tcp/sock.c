// SPDX-License-Identifier: GPL-2.0
/* TCP sockets: made, bound, connected and closed; and what all files share. */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/tcp.h>
#include <net/ip.h>
#include <net/tcp.h>
#include "tcp.h"

#define KEEPALIVE_IDLE		5	/* s */
#define KEEPALIVE_INTERVAL	5	/* s */
#define KEEPALIVE_PROBES	5

#define PORT_TRIES		64

unsigned int rds_tcp_net_id;
struct workqueue_struct *rds_tcp_wq;
struct rds_core_transport *rds_tcp_transport __ro_after_init;

int rds_tcp_addr_put(struct sockaddr_storage *ss, const struct in6_addr *ip, u32 scope, u16 port)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)ss;
	struct sockaddr_in *sin = (struct sockaddr_in *)ss;

	memset(ss, 0, sizeof(*ss));
	if (ipv6_addr_v4mapped(ip)) {
		sin->sin_family = AF_INET;
		sin->sin_port = htons(port);
		sin->sin_addr.s_addr = ip->s6_addr32[3];
		return sizeof(*sin);
	}
	sin6->sin6_family = AF_INET6;
	sin6->sin6_port = htons(port);
	sin6->sin6_addr = *ip;
	sin6->sin6_scope_id = scope;
	return sizeof(*sin6);
}

/*
 * A free port whose number says which path it is: the peer may get the connections of several in
 * any order.
 */
static int bind_source(struct socket *sock, const struct rds_core_path *path)
{
	const struct rds_core_conn *conn = path->conn;
	struct net *net = read_pnet(&conn->net);
	int low, high, tries, len, err = -EADDRINUSE;
	struct sockaddr_storage ss;

	inet_get_local_port_range(net, &low, &high);
	low = round_up(low, RDS_CORE_PATHS) + path->index;
	for (tries = 0; err == -EADDRINUSE && tries < PORT_TRIES && low <= high; tries++) {
		u32 slots = (high - low) / RDS_CORE_PATHS + 1;
		u16 port = low + get_random_u32_below(slots) * RDS_CORE_PATHS;

		if (inet_is_local_reserved_port(net, port))
			continue;
		len = rds_tcp_addr_put(&ss, &conn->laddr, conn->scope, port);
		err = kernel_bind(sock, (struct sockaddr *)&ss, len);
	}
	return err;
}

struct socket *rds_tcp_sock_make(const struct rds_core_path *path)
{
	const struct rds_core_conn *conn = path->conn;
	struct net *net = read_pnet(&conn->net);
	int family = ipv6_addr_v4mapped(&conn->laddr) ? AF_INET : AF_INET6, err;
	struct socket *sock;

	err = sock_create_kern(net, family, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (err)
		return ERR_PTR(err);
	rds_tcp_sock_tune(rds_tcp_net(net), sock);
	err = bind_source(sock, path);
	if (!err)
		return sock;
	sock_release(sock);
	return ERR_PTR(err);
}

/* 0: it has begun to. */
int rds_tcp_sock_connect(struct socket *sock, const struct rds_core_conn *conn)
{
	struct sockaddr_storage ss;
	int len = rds_tcp_addr_put(&ss, &conn->faddr, conn->scope, RDS_TCP_PORT);
	int err = kernel_connect(sock, (struct sockaddr *)&ss, len, O_NONBLOCK);

	return err == -EINPROGRESS ? 0 : err;
}

static void set_buffer(int *size, int bytes, struct sock *sk, int bit)
{
	if (!bytes)
		return;
	*size = bytes;
	sk->sk_userlocks |= bit;
}

void rds_tcp_sock_tune(struct rds_tcp_net *tn, struct socket *sock)
{
	struct sock *sk = sock->sk;

	tcp_sock_set_nodelay(sk);
	sock_set_keepalive(sk);
	tcp_sock_set_keepidle(sk, KEEPALIVE_IDLE);
	tcp_sock_set_keepintvl(sk, KEEPALIVE_INTERVAL);
	tcp_sock_set_keepcnt(sk, KEEPALIVE_PROBES);
	lock_sock(sk);
	set_buffer(&sk->sk_sndbuf, READ_ONCE(tn->sndbuf), sk, SOCK_SNDBUF_LOCK);
	set_buffer(&sk->sk_rcvbuf, READ_ONCE(tn->rcvbuf), sk, SOCK_RCVBUF_LOCK);
	release_sock(sk);
}

void rds_tcp_sock_close(struct socket *sock)
{
	sock_no_linger(sock->sk);
	sock_release(sock);
}
