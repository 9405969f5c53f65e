// SPDX-License-Identifier: GPL-2.0
/* The socket family: sockets come and go, and what is asked of them is found. */
#include <linux/module.h>
#include <linux/poll.h>
#include "core.h"

/* Nobody has a reference: no lookup, no message. */
static void sock_destruct(struct sock *sk)
{
	struct rds_sock *rs = rds_sk(sk);

	if (rs->cong)
		rds_cong_put(rs->cong);
	rds_census_destroyed(RDS_CENSUS_SOCK);
}

/* Nothing is put into the queue from now on, and the port is not congested. */
static void stop_receiving(struct rds_sock *rs)
{
	struct rds_core_inc *inc, *next;
	LIST_HEAD(incs);
	bool changed;

	spin_lock_bh(&rs->lock);
	sock_set_flag(&rs->sk, SOCK_DEAD);
	list_splice_init(&rs->incs, &incs);
	changed = (rs->congested || rs->nr_incs) &&
		  rds_recv_account(rs, -(s64)rs->rcv_bytes, -(int)rs->nr_incs);
	spin_unlock_bh(&rs->lock);
	list_for_each_entry_safe(inc, next, &incs, entry) {
		rds_stat_add(RDS_STAT_RECV_BYTES_FREED, inc->hdr.len);
		list_del(&inc->entry);
		inc->ops->free(inc);
	}
	if (changed)
		rds_cong_changed(rs->cong);
	rds_recv_resume(rs);
}

static int release(struct socket *sock)
{
	struct rds_net *rnet;
	struct rds_sock *rs;

	if (!sock->sk)
		return 0;
	rs = rds_sk(sock->sk);
	rnet = rds_net(sock_net(&rs->sk));
	/* First, so that whoever binds the port next finds it free of congestion */
	stop_receiving(rs);
	rds_unbind(rs);
	rds_cancel(rs, NULL);
	rds_cong_monitor(rs, false);
	rds_zcopy_drop(rs);
	spin_lock_bh(&rnet->lock);
	list_del(&rs->net_entry);
	spin_unlock_bh(&rnet->lock);
	if (rs->conn)
		rds_core_conn_put(rs->conn);
	rds_transport_put(rs->transport);
	sock_orphan(&rs->sk);
	sock->sk = NULL;
	sock_put(&rs->sk);
	return 0;
}

static int name_of(struct socket *sock, struct sockaddr *sa, int peer)
{
	struct rds_sock *rs = rds_sk(sock->sk);
	struct rds_addr a = { 0 };

	spin_lock_bh(&rs->lock);
	a = rs->peer;
	spin_unlock_bh(&rs->lock);
	if (peer)
		return rds_ip_is_any(&a.ip) ? -ENOTCONN : rds_addr_put(sa, &a);
	if (rds_bound(rs)) {
		a = (struct rds_addr){ .ip = rs->laddr, .port = rs->lport, .scope = rs->scope };
		return rds_addr_put(sa, &a);
	}
	/* Of a socket that is only connected the family is known. */
	memset(sa, 0, sizeof(struct sockaddr_in6));
	if (rds_ip_is_any(&a.ip))
		return sizeof(struct sockaddr_in);
	sa->sa_family = rds_ip_is_v4(&a.ip) ? AF_INET : AF_INET6;
	return sa->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

static int connect(struct socket *sock, struct sockaddr *sa, int len, int flags)
{
	struct rds_sock *rs = rds_sk(sock->sk);
	struct rds_addr to;
	int err;

	err = rds_addr_parse(sa, len, RDS_ADDR_CONNECT, &to);
	if (err)
		return err;
	lock_sock(&rs->sk);
	if (to.scope && rs->bound && rs->scope != to.scope) {
		err = -EINVAL;
	} else {
		spin_lock_bh(&rs->lock);
		write_seqcount_begin(&rs->peer_seq);
		rs->peer = to;
		write_seqcount_end(&rs->peer_seq);
		spin_unlock_bh(&rs->lock);
	}
	release_sock(&rs->sk);
	return err;
}

static __poll_t poll(struct file *file, struct socket *sock, poll_table *wait)
{
	struct rds_sock *rs = rds_sk(sock->sk);
	struct rds_net *rnet = rds_net(sock_net(&rs->sk));
	__poll_t mask = 0;
	int gen;

	poll_wait(file, sk_sleep(&rs->sk), wait);
	/* Always: epoll queues itself once, before any send was refused. */
	poll_wait(file, &rnet->map_wait, wait);
	gen = atomic_read(&rnet->map_gen);
	spin_lock_bh(&rs->lock);
	if (rs->monitor) {
		if (rs->cong_notify)
			mask |= EPOLLIN | EPOLLRDNORM;
	} else if (rs->map_seen != gen) {
		rs->map_seen = gen;
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLWRBAND;
	}
	if (!list_empty(&rs->incs) || !list_empty(&rs->zcopy_done))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (rds_has_room(rs))
		mask |= EPOLLOUT | EPOLLWRNORM;
	spin_unlock_bh(&rs->lock);
	if (rs->sk.sk_err || !skb_queue_empty_lockless(&rs->sk.sk_error_queue))
		mask |= EPOLLERR;
	return mask;
}

static const struct proto_ops ops = {
	.family = AF_RDS,
	.owner = THIS_MODULE,
	.release = release,
	.bind = rds_bind,
	.connect = connect,
	.socketpair = sock_no_socketpair,
	.accept = sock_no_accept,
	.getname = name_of,
	.poll = poll,
	.ioctl = rds_ioctl,
	.listen = sock_no_listen,
	.shutdown = sock_no_shutdown,
	.setsockopt = rds_setsockopt,
	.getsockopt = rds_getsockopt,
	.sendmsg = rds_sendmsg,
	.recvmsg = rds_recvmsg,
	.mmap = sock_no_mmap,
};

static struct proto rds_proto = {
	.name = "RDS",
	.owner = THIS_MODULE,
	.obj_size = sizeof(struct rds_sock),
};

static int create(struct net *net, struct socket *sock, int protocol, int kern)
{
	struct rds_net *rnet = rds_net(net);
	struct rds_sock *rs;
	struct sock *sk;

	if (sock->type != SOCK_SEQPACKET || protocol)
		return -ESOCKTNOSUPPORT;
	sk = sk_alloc(net, AF_RDS, GFP_KERNEL, &rds_proto, kern);
	if (!sk)
		return -ENOMEM;
	sock_init_data(sock, sk);
	sock->ops = &ops;
	sk->sk_destruct = sock_destruct;
	rs = rds_sk(sk);
	spin_lock_init(&rs->lock);
	seqcount_spinlock_init(&rs->peer_seq, &rs->lock);
	mutex_init(&rs->reader);
	INIT_LIST_HEAD(&rs->sends);
	INIT_LIST_HEAD(&rs->incs);
	INIT_LIST_HEAD(&rs->stopped);
	INIT_LIST_HEAD(&rs->zcopy_flying);
	INIT_LIST_HEAD(&rs->zcopy_done);
	INIT_HLIST_NODE(&rs->bind_entry);
	rs->map_seen = atomic_read(&rnet->map_gen);
	rds_census_created(RDS_CENSUS_SOCK);
	spin_lock_bh(&rnet->lock);
	list_add_tail(&rs->net_entry, &rnet->socks);
	spin_unlock_bh(&rnet->lock);
	return 0;
}

static const struct net_proto_family family = {
	.family = AF_RDS,
	.create = create,
	.owner = THIS_MODULE,
};

int rds_family_init(void)
{
	int err = proto_register(&rds_proto, 1);

	if (err)
		return err;
	err = sock_register(&family);
	if (!err)
		return 0;
	if (err == -EEXIST)
		pr_err("AF_RDS is taken: RDS is built in, or another module of it is loaded\n");
	proto_unregister(&rds_proto);
	return err;
}

void rds_family_exit(void)
{
	sock_unregister(AF_RDS);
	proto_unregister(&rds_proto);
}
