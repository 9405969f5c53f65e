// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that does not answer. TCP tries again after 0.2, 0.4, 0.8 s and so on: when the network
 * comes back after 6 s it may wait for as long again. So a scout, a second connection, is tried
 * all the time: when the peer answers it, and the connection is still stuck, that is given up, and
 * the path connects anew at once. The scout is never used; the peer may accept it or reset it.
 */
#include <linux/tcp.h>
#include <net/tcp.h>
#include "tcp.h"

/* How often it is looked, and how old a scout gets, in jiffies; less often when it takes long */
#define PERIOD		(HZ / 8)
#define PERIOD_MAX	(2 * HZ)
/* One lost packet is none of our business: TCP has sent it so often without an answer. */
#define RETRANSMITS	2

void rds_tcp_watch(struct rds_tcp_path *tp)
{
	if (!delayed_work_pending(&tp->watch_work))
		queue_delayed_work(rds_tcp_wq, &tp->watch_work, PERIOD);
}

/* Under path->sending, as all that follows; it is released in task context. */
static void scout_end(struct rds_tcp_path *tp)
{
	struct socket *sock = tp->scout;
	struct sock *sk;

	if (!sock)
		return;
	sk = sock->sk;
	tp->scout = NULL;
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	sk->sk_state_change = tp->scout_state_change;
	write_unlock_bh(&sk->sk_callback_lock);
	rds_tcp_sock_close(sock);
}

void rds_tcp_watch_end(struct rds_tcp_path *tp)
{
	scout_end(tp);
	tp->stuck_since = 0;
}

static void scout_state_change(struct sock *sk)
{
	struct rds_tcp_path *tp;

	read_lock_bh(&sk->sk_callback_lock);
	tp = sk->sk_user_data;
	if (tp)
		mod_delayed_work(rds_tcp_wq, &tp->watch_work, 0);
	read_unlock_bh(&sk->sk_callback_lock);
}

static void scout_begin(struct rds_tcp_path *tp)
{
	struct socket *sock = rds_tcp_sock_make(tp->path);
	struct sock *sk;

	if (IS_ERR(sock))
		return;
	sk = sock->sk;
	tp->scout = sock;
	write_lock_bh(&sk->sk_callback_lock);
	tp->scout_state_change = sk->sk_state_change;
	sk->sk_user_data = tp;
	sk->sk_state_change = scout_state_change;
	write_unlock_bh(&sk->sk_callback_lock);
	if (rds_tcp_sock_connect(sock, tp->path->conn))
		scout_end(tp);
}

/* The peer's host has taken it or refused it: the network is there. */
static bool scout_answered(const struct rds_tcp_path *tp)
{
	const struct sock *sk;

	if (!tp->scout)
		return false;
	sk = tp->scout->sk;
	return sk->sk_state != TCP_SYN_SENT &&
	       (sk->sk_state != TCP_CLOSE || sk->sk_err == ECONNREFUSED ||
		sk->sk_err == ECONNRESET);
}

static bool stuck(const struct sock *sk)
{
	return sk->sk_state == TCP_SYN_SENT || inet_csk(sk)->icsk_retransmits >= RETRANSMITS ||
	       inet_csk(sk)->icsk_probes_out >= RETRANSMITS;
}

static bool answer_due(const struct sock *sk)
{
	return sk->sk_state == TCP_SYN_SENT ||
	       READ_ONCE(tcp_sk(sk)->snd_una) != READ_ONCE(tcp_sk(sk)->write_seq);
}

static unsigned long period(const struct rds_tcp_path *tp)
{
	return clamp((jiffies - tp->stuck_since) / 48, (unsigned long)PERIOD,
		     (unsigned long)PERIOD_MAX);
}

static void look(struct rds_tcp_path *tp)
{
	struct sock *sk = tp->sock->sk;

	if (!stuck(sk)) {
		rds_tcp_watch_end(tp);
		if (answer_due(sk))
			rds_tcp_watch(tp);
		return;
	}
	if (!tp->stuck_since)
		tp->stuck_since = jiffies ?: 1;
	if (scout_answered(tp)) {
		rds_tcp_stat(RDS_TCP_STAT_DROP_UNANSWERED);
		rds_core_path_retry(tp->path, -ETIMEDOUT);
		return;
	}
	scout_end(tp);
	scout_begin(tp);
	queue_delayed_work(rds_tcp_wq, &tp->watch_work, period(tp));
}

void rds_tcp_watch_work(struct work_struct *work)
{
	struct rds_tcp_path *tp = container_of(work, struct rds_tcp_path, watch_work.work);

	mutex_lock(&tp->path->sending);
	if (tp->sock)
		look(tp);
	mutex_unlock(&tp->path->sending);
}
