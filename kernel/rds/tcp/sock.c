// SPDX-License-Identifier: GPL-2.0
/*
 * The TCP socket of a path, and its callbacks. While the path has it sk_user_data is the path's;
 * a callback holds sk_callback_lock as long as it uses that.
 */
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

static void data_ready(struct sock *sk)
{
	struct rds_tcp_path *tp;

	rds_tcp_stat(RDS_TCP_STAT_DATA_READY_CALLS);
	read_lock_bh(&sk->sk_callback_lock);
	tp = sk->sk_user_data;
	if (tp)
		rds_tcp_read(tp, sk, false);
	read_unlock_bh(&sk->sk_callback_lock);
}

static void write_space(struct sock *sk)
{
	struct rds_tcp_path *tp;

	rds_tcp_stat(RDS_TCP_STAT_WRITE_SPACE_CALLS);
	read_lock_bh(&sk->sk_callback_lock);
	tp = sk->sk_user_data;
	if (tp) {
		rds_tcp_una(tp);
		if (READ_ONCE(tp->blocked) && sk_stream_is_writeable(sk)) {
			WRITE_ONCE(tp->blocked, false);
			rds_core_path_writable(tp->path);
		}
	}
	read_unlock_bh(&sk->sk_callback_lock);
}

/* A call of the end with the higher address is over when the peer has heard it. */
static void established(struct rds_tcp_path *tp)
{
	if (tp->path->conn->passive)
		rds_core_path_drop(tp->path, -EISCONN);
	else
		rds_core_path_up(tp->path);
}

static void state_change(struct sock *sk)
{
	struct rds_tcp_path *tp;

	read_lock_bh(&sk->sk_callback_lock);
	tp = sk->sk_user_data;
	if (tp) {
		switch (sk->sk_state) {
		case TCP_SYN_SENT:
		case TCP_SYN_RECV:
			break;
		case TCP_ESTABLISHED:
			established(tp);
			break;
		default:
			rds_core_path_drop(tp->path, -(sk->sk_err ?: ECONNRESET));
		}
	}
	read_unlock_bh(&sk->sk_callback_lock);
}

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

static void set_sock(struct rds_tcp_path *tp, struct socket *sock)
{
	struct rds_tcp_net *tn = rds_tcp_net(read_pnet(&tp->path->conn->net));

	spin_lock_bh(&tn->paths_lock);
	tp->sock = sock;
	spin_unlock_bh(&tn->paths_lock);
}

void rds_tcp_sock_attach(struct rds_tcp_path *tp, struct socket *sock)
{
	struct sock *sk = sock->sk;

	tp->tx_sent = 0;
	tp->tx_ack = false;
	tp->tx_acked = 0;
	tp->blocked = false;
	tp->ack_due = false;
	tp->peer = RDS_TCP_PEER_UNKNOWN;
	set_sock(tp, sock);
	write_lock_bh(&sk->sk_callback_lock);
	tp->data_ready = sk->sk_data_ready;
	tp->write_space = sk->sk_write_space;
	tp->state_change = sk->sk_state_change;
	sk->sk_user_data = tp;
	sk->sk_data_ready = data_ready;
	sk->sk_write_space = write_space;
	sk->sk_state_change = state_change;
	write_unlock_bh(&sk->sk_callback_lock);
}

void rds_tcp_sock_install(struct rds_core_path *path, void *sock)
{
	rds_tcp_sock_attach(rds_tcp_path(path), sock);
	/* Whatever came before the callbacks did. */
	rds_tcp_resume(path);
	/* Here, as under path->sending no other attempt to connect can be meant. */
	rds_core_path_up(path);
}

struct socket *rds_tcp_sock_detach(struct rds_tcp_path *tp)
{
	struct socket *sock = tp->sock;
	struct sock *sk;

	if (!sock)
		return NULL;
	sk = sock->sk;
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	sk->sk_data_ready = tp->data_ready;
	sk->sk_write_space = tp->write_space;
	sk->sk_state_change = tp->state_change;
	write_unlock_bh(&sk->sk_callback_lock);
	/*
	 * The peer's kernel may take it as delivered. What came meanwhile must not be acknowledged,
	 * as nobody reads it: the connection ends before the lock is given away.
	 */
	lock_sock(sk);
	rds_tcp_read(tp, sk, true);
	rds_tcp_rx_reset(&tp->rx);
	set_sock(tp, NULL);
	tcp_disconnect(sk, 0);
	release_sock(sk);
	return sock;
}

void rds_tcp_sock_close(struct socket *sock)
{
	sock_no_linger(sock->sk);
	sock_release(sock);
}
