// SPDX-License-Identifier: GPL-2.0
/*
 * Who connects. Of two addresses the lower one does; the higher one calls if it has something to
 * send, is refused, and is called back. Compared are 128 bits, IPv4 as mapped to IPv6.
 */
#include <linux/delay.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/tcp.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include "tcp.h"

/* A thousand peers come back at once, each with several paths. */
#define BACKLOG	8192

/* Of the listener, and of what it has accepted until that is a path's. */
static void listener_ready(struct sock *sk)
{
	struct rds_tcp_net *tn;

	read_lock_bh(&sk->sk_callback_lock);
	tn = sk->sk_user_data;
	if (tn)
		queue_work(rds_tcp_wq, &tn->accept_work);
	read_unlock_bh(&sk->sk_callback_lock);
}

/* On all addresses, of both families if @family is that of IPv6 */
static int listen_on(struct rds_tcp_net *tn, int family)
{
	struct in6_addr any = in6addr_any;
	struct sockaddr_storage ss;
	struct socket *sock;
	int err;

	err = sock_create_kern(tn->net, family, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (err)
		return err;
	sock->sk->sk_reuse = SK_CAN_REUSE;
	write_lock_bh(&sock->sk->sk_callback_lock);
	sock->sk->sk_user_data = tn;
	tn->data_ready = sock->sk->sk_data_ready;
	sock->sk->sk_data_ready = listener_ready;
	write_unlock_bh(&sock->sk->sk_callback_lock);
	/* Of both families, whatever is the rule for other programs */
	sock->sk->sk_ipv6only = 0;
	if (family == AF_INET)
		ipv6_addr_set_v4mapped(0, &any);
	err = kernel_bind(sock, (struct sockaddr *)&ss,
			  rds_tcp_addr_put(&ss, &any, 0, RDS_TCP_PORT));
	if (!err)
		err = kernel_listen(sock, BACKLOG);
	if (err)
		sock_release(sock);
	else
		tn->listener = sock;
	return err;
}

int rds_tcp_listen_start(struct rds_tcp_net *tn)
{
	int err = 0;

	mutex_lock(&tn->lock);
	if (!tn->listener)
		err = IS_ENABLED(CONFIG_IPV6) ? listen_on(tn, AF_INET6) : -EAFNOSUPPORT;
	if (err)
		err = listen_on(tn, AF_INET);
	if (err)
		net_err_ratelimited("cannot listen on TCP port %d: error %d. Does another program?\n",
				    RDS_TCP_PORT, err);
	mutex_unlock(&tn->lock);
	return err;
}

/* What it has accepted and nobody has taken ends with it. */
void rds_tcp_listen_stop(struct rds_tcp_net *tn)
{
	struct socket *sock;

	mutex_lock(&tn->lock);
	sock = tn->listener;
	tn->listener = NULL;
	if (sock)
		sock_release(sock);
	mutex_unlock(&tn->lock);
	cancel_work_sync(&tn->accept_work);
}

static void key_of(struct rds_core_key *key, struct rds_tcp_net *tn, const struct sock *sk)
{
	*key = (struct rds_core_key){ .net = tn->net };
	if (sk->sk_family == AF_INET) {
		ipv6_addr_set_v4mapped(inet_sk(sk)->inet_saddr, &key->laddr);
		ipv6_addr_set_v4mapped(inet_sk(sk)->inet_daddr, &key->faddr);
		return;
	}
	key->laddr = sk->sk_v6_rcv_saddr;
	key->faddr = sk->sk_v6_daddr;
	if (ipv6_addr_type(&key->faddr) & IPV6_ADDR_LINKLOCAL)
		key->scope = sk->sk_bound_dev_if;
}

/* What it inherited from the listener goes; what the peer has sent already waits. */
static void disinherit(struct rds_tcp_net *tn, struct sock *sk)
{
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	sk->sk_data_ready = tn->data_ready;
	write_unlock_bh(&sk->sk_callback_lock);
}

/* Peers that have several paths number them by their ports; others have one. */
static struct rds_core_path *path_of(struct rds_core_conn *conn, const struct sock *sk)
{
	unsigned int nr = READ_ONCE(conn->nr_paths),
		     index = ntohs(inet_sk(sk)->inet_dport) % RDS_CORE_PATHS;

	return rds_core_conn_path(conn, index < nr ? index : 0);
}

/* 0: the path has it. */
static int place(struct rds_core_conn *conn, struct socket *sock)
{
	struct rds_core_path *path = path_of(conn, sock->sk);
	int err;

	if (IS_ERR(path))
		return PTR_ERR(path);
	if (READ_ONCE(path->state) == RDS_CORE_CONNECTING)
		rds_tcp_stat(RDS_TCP_STAT_CONNECT_RACED);
	err = conn->passive ? rds_core_path_accept(path, rds_tcp_sock_install, sock) : -EBUSY;
	if (err == -EBUSY)
		rds_core_path_call(path);
	return err;
}

static void accepted(struct rds_tcp_net *tn, struct socket *sock)
{
	struct rds_core_conn *conn;
	struct rds_core_key key;
	int err = -EADDRINUSE;

	disinherit(tn, sock->sk);
	rds_tcp_sock_tune(tn, sock);
	key_of(&key, tn, sock->sk);
	/* This host connects to itself by the loop. */
	if (!rds_tcp_transport->claims(tn->net, &key.faddr, key.scope)) {
		conn = rds_core_conn_get(rds_tcp_transport, &key);
		err = PTR_ERR_OR_ZERO(conn);
		if (!err) {
			err = place(conn, sock);
			rds_core_conn_put(conn);
		}
	}
	if (!err)
		return;
	rds_tcp_stat(RDS_TCP_STAT_LISTEN_CLOSED_STALE);
	rds_tcp_sock_close(sock);
}

static int accept_one(struct rds_tcp_net *tn)
{
	struct socket *sock = NULL;
	int err;

	mutex_lock(&tn->lock);
	err = tn->listener ? kernel_accept(tn->listener, &sock, O_NONBLOCK) : -EAGAIN;
	if (!err)
		accepted(tn, sock);
	mutex_unlock(&tn->lock);
	return err;
}

void rds_tcp_accept_work(struct work_struct *work)
{
	struct rds_tcp_net *tn = container_of(work, struct rds_tcp_net, accept_work);
	int err;

	/* Without memory it is tried again: nobody tells of the same connection twice. */
	while (!(err = accept_one(tn)) || err == -ENOMEM) {
		if (err)
			msleep(20);
		cond_resched();
	}
}
