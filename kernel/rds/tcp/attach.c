// SPDX-License-Identifier: GPL-2.0
/*
 * A path and its TCP socket, and the callbacks of that. While the path has it sk_user_data is the
 * path's; a callback holds sk_callback_lock as long as it uses that.
 */
#include <net/tcp.h>
#include "tcp.h"

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
