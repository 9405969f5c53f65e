// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that does not answer. TCP tries again after 0.2, 0.4, 0.8 s and so on: when the network
 * comes back after 6 s it may wait for as long again. So a scout, a second connection, is tried
 * all the time. When the peer accepts it, and the connection is still stuck, the scout takes its
 * place: the peer may have taken it for the connection, and have sent messages. When the peer
 * refuses it, the path connects anew at once.
 *
 * Scouts of a thousand paths would take the CPU from the answers that they are sent for: each new
 * one costs more than it finds, and nothing comes back. So few are under way at once; where there
 * is no room for more, who has had one lets others go first: peers that stay away hold up nobody.
 * And a host that is late itself sends none: the answer may lie in its own queues.
 */
#include <linux/tcp.h>
#include <net/tcp.h>
#include "tcp.h"

/* Jiffies between two looks, where it takes long */
#define PERIOD_MAX	(2 * HZ)
/* One lost packet is none of our business: TCP has sent it so often without an answer. */
#define RETRANSMITS	2
/* In a namespace at once */
#define SCOUTS_MAX	32

static bool late(const struct rds_tcp_path *tp)
{
	return time_after(jiffies, READ_ONCE(tp->watch_due) + RDS_TCP_WATCH_PERIOD / 2);
}

/* Under path->sending, as all that follows; no callback of it runs any more. */
static struct socket *scout_take(struct rds_tcp_path *tp)
{
	struct socket *sock = tp->scout;
	struct sock *sk;

	if (!sock)
		return NULL;
	sk = sock->sk;
	tp->scout = NULL;
	atomic_dec(&rds_tcp_net(sock_net(sk))->scouts);
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	sk->sk_state_change = tp->scout_state_change;
	write_unlock_bh(&sk->sk_callback_lock);
	return sock;
}

static void scout_end(struct rds_tcp_path *tp)
{
	struct socket *sock = scout_take(tp);

	if (sock)
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

/* @again: this path has just had one. */
static void scout_begin(struct rds_tcp_path *tp, bool again)
{
	struct rds_tcp_net *tn = rds_tcp_net(read_pnet(&tp->path->conn->net));
	struct socket *sock;
	struct sock *sk;

	if (atomic_inc_return(&tn->scouts) + again > SCOUTS_MAX) {
		atomic_dec(&tn->scouts);
		return;
	}
	sock = rds_tcp_sock_make(tp->path);
	if (IS_ERR(sock)) {
		atomic_dec(&tn->scouts);
		return;
	}
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

static bool scout_accepted(const struct rds_tcp_path *tp)
{
	return tp->scout && tp->scout->sk->sk_state == TCP_ESTABLISHED;
}

/* The network is there, but the peer's host does not want it. */
static bool scout_refused(const struct rds_tcp_path *tp)
{
	const struct sock *sk;

	if (!tp->scout)
		return false;
	sk = tp->scout->sk;
	return sk->sk_state != TCP_SYN_SENT && sk->sk_state != TCP_ESTABLISHED &&
	       (sk->sk_state != TCP_CLOSE || sk->sk_err == ECONNREFUSED ||
		sk->sk_err == ECONNRESET);
}

static void scout_adopt(struct rds_tcp_path *tp)
{
	struct socket *sock = scout_take(tp);

	if (rds_core_path_replace(tp->path, -ETIMEDOUT, rds_tcp_sock_install, sock))
		rds_tcp_sock_close(sock);
}

/* The end with the higher address only calls: whoever answers will connect. */
static bool settled(struct rds_tcp_path *tp)
{
	bool accepted = scout_accepted(tp);

	if (!accepted && !scout_refused(tp))
		return false;
	rds_tcp_stat(RDS_TCP_STAT_DROP_UNANSWERED);
	if (accepted && !tp->path->conn->passive)
		scout_adopt(tp);
	else
		rds_core_path_retry(tp->path, -ETIMEDOUT);
	return true;
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
	return clamp((jiffies - tp->stuck_since) / 48, (unsigned long)RDS_TCP_WATCH_PERIOD,
		     (unsigned long)PERIOD_MAX);
}

static void look(struct rds_tcp_path *tp, bool is_late)
{
	struct sock *sk = tp->sock->sk;
	bool had = tp->scout;

	if (!stuck(sk)) {
		rds_tcp_watch_end(tp);
		if (answer_due(sk))
			rds_tcp_watch(tp);
		return;
	}
	if (!tp->stuck_since)
		tp->stuck_since = jiffies ?: 1;
	if (settled(tp))
		return;
	scout_end(tp);
	if (!is_late)
		scout_begin(tp, had);
	rds_tcp_look_after(tp, period(tp));
}

void rds_tcp_watch_work(struct work_struct *work)
{
	struct rds_tcp_path *tp = container_of(work, struct rds_tcp_path, watch_work.work);
	bool is_late = late(tp);

	mutex_lock(&tp->path->sending);
	if (tp->sock)
		look(tp, is_late);
	mutex_unlock(&tp->path->sending);
}
