// SPDX-License-Identifier: GPL-2.0
/* RDS_INFO_TCP_SOCKETS: the TCP sockets of a namespace. And what netlink tells of them. */
#include <linux/rds.h>
#include <linux/rds_netlink.h>
#include <linux/tcp.h>
#include <net/tcp.h>
#include "tcp.h"

static void put4(const struct rds_tcp_path *tp, struct rds_core_info *info, u32 shown)
{
	const struct sock *sk = tp->sock->sk;
	struct rds_info_tcp_socket s = {
		.local_addr = tp->path->conn->laddr.s6_addr32[3],
		.local_port = inet_sk(sk)->inet_sport,
		.peer_addr = tp->path->conn->faddr.s6_addr32[3],
		.peer_port = inet_sk(sk)->inet_dport,
		.hdr_rem = RDS_HDR_LEN - READ_ONCE(tp->rx.hdr_have),
		.data_rem = READ_ONCE(tp->rx.left),
		.last_sent_nxt = READ_ONCE(tcp_sk(sk)->write_seq) & shown,
		.last_expected_una = READ_ONCE(tcp_sk(sk)->write_seq) & shown,
		.last_seen_una = READ_ONCE(tcp_sk(sk)->snd_una) & shown,
		.tos = tp->path->conn->tos,
	};

	if (ipv6_addr_v4mapped(&tp->path->conn->laddr))
		rds_core_info_put(info, &s);
}

static void put6(const struct rds_tcp_path *tp, struct rds_core_info *info, u32 shown)
{
	const struct sock *sk = tp->sock->sk;
	struct rds6_info_tcp_socket s = {
		.local_addr = tp->path->conn->laddr,
		.local_port = inet_sk(sk)->inet_sport,
		.peer_addr = tp->path->conn->faddr,
		.peer_port = inet_sk(sk)->inet_dport,
		.hdr_rem = RDS_HDR_LEN - READ_ONCE(tp->rx.hdr_have),
		.data_rem = READ_ONCE(tp->rx.left),
		.last_sent_nxt = READ_ONCE(tcp_sk(sk)->write_seq) & shown,
		.last_expected_una = READ_ONCE(tcp_sk(sk)->write_seq) & shown,
		.last_seen_una = READ_ONCE(tcp_sk(sk)->snd_una) & shown,
	};

	rds_core_info_put(info, &s);
}

/* Sequence numbers are for the administrator: others could end connections, or speak in them. */
static void each(struct net *net, struct rds_core_info *info,
		 void (*put)(const struct rds_tcp_path *, struct rds_core_info *, u32 shown))
{
	const u32 shown = ns_capable_noaudit(net->user_ns, CAP_NET_ADMIN) ? ~0U : 0;
	struct rds_tcp_net *tn = rds_tcp_net(net);
	const struct rds_tcp_path *tp;

	spin_lock_bh(&tn->paths_lock);
	list_for_each_entry(tp, &tn->paths, entry)
		if (tp->sock)
			put(tp, info, shown);
	spin_unlock_bh(&tn->paths_lock);
}

static void fill4(struct net *net, struct rds_core_info *info)
{
	each(net, info, put4);
}

static void fill6(struct net *net, struct rds_core_info *info)
{
	each(net, info, put6);
}

void rds_tcp_ends(const struct rds_core_path *path, struct rds_core_ends *ends)
{
	struct rds_tcp_net *tn = rds_tcp_net(read_pnet(&path->conn->net));
	struct rds_tcp_path *tp = rds_tcp_path(path);
	enum rds_tcp_peer peer = READ_ONCE(tp->peer);

	spin_lock_bh(&tn->paths_lock);
	if (tp->sock) {
		ends->lport = ntohs(inet_sk(tp->sock->sk)->inet_sport);
		ends->fport = ntohs(inet_sk(tp->sock->sk)->inet_dport);
		ends->abilities = peer == RDS_TCP_PEER_ACKS ? RDS_ABILITY_ACK :
				  peer == RDS_TCP_PEER_PLAIN ? 0 : -1;
	}
	spin_unlock_bh(&tn->paths_lock);
}

void rds_tcp_info_init(void)
{
	rds_core_info_register(RDS_INFO_TCP_SOCKETS, sizeof(struct rds_info_tcp_socket), fill4);
	rds_core_info_register(RDS6_INFO_TCP_SOCKETS, sizeof(struct rds6_info_tcp_socket), fill6);
}

void rds_tcp_info_exit(void)
{
	rds_core_info_unregister(RDS_INFO_TCP_SOCKETS);
	rds_core_info_unregister(RDS6_INFO_TCP_SOCKETS);
}
