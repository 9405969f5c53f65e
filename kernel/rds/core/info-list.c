// SPDX-License-Identifier: GPL-2.0
/*
 * The lists that core has: sockets, connections, messages. Those of version 6 have all, the older
 * ones IPv4.
 */
#include "core.h"

static bool is_v6(const struct rds_core_info *info)
{
	return info->number >= RDS6_INFO_CONNECTIONS;
}

static u8 conn_flags(const struct rds_core_conn *conn)
{
	int state = READ_ONCE(conn->path.state);
	u8 flags = 0;

	if (mutex_is_locked((struct mutex *)&conn->path.sending))
		flags |= RDS_INFO_CONNECTION_FLAG_SENDING;
	if (state == RDS_CORE_CONNECTING)
		flags |= RDS_INFO_CONNECTION_FLAG_CONNECTING;
	if (state == RDS_CORE_UP)
		flags |= RDS_INFO_CONNECTION_FLAG_CONNECTED;
	return flags;
}

static void put_conn(struct rds_core_conn *conn, void *arg)
{
	struct rds6_info_connection c6 = {
		.next_tx_seq = READ_ONCE(conn->path.next_tx),
		.next_rx_seq = READ_ONCE(conn->path.next_rx),
		.laddr = conn->laddr,
		.faddr = conn->faddr,
		.flags = conn_flags(conn),
	};
	struct rds_info_connection c4 = {
		.next_tx_seq = c6.next_tx_seq,
		.next_rx_seq = c6.next_rx_seq,
		.laddr = conn->laddr.s6_addr32[3],
		.faddr = conn->faddr.s6_addr32[3],
		.flags = c6.flags,
		.tos = conn->tos,
	};

	strscpy((char *)c6.transport, conn->transport->name, sizeof(c6.transport));
	memcpy(c4.transport, c6.transport, sizeof(c4.transport));
	if (is_v6(arg))
		rds_core_info_put(arg, &c6);
	else if (rds_ip_is_v4(&conn->laddr))
		rds_core_info_put(arg, &c4);
}

static void fill_conns(struct net *net, struct rds_core_info *info)
{
	rds_conn_each(rds_net(net), put_conn, info);
}

/* A message from @from, which is this host's address if it goes @out */
static void put_message(struct rds_core_info *info, const struct rds_hdr *hdr, bool out, u8 tos,
			const struct in6_addr *from, const struct in6_addr *to)
{
	struct rds6_info_message m6 = {
		.seq = hdr->seq, .len = hdr->len, .tos = tos,
		.laddr = out ? *from : *to, .lport = htons(out ? hdr->sport : hdr->dport),
		.faddr = out ? *to : *from, .fport = htons(out ? hdr->dport : hdr->sport),
	};
	struct rds_info_message m4 = {
		.seq = hdr->seq, .len = hdr->len, .tos = tos,
		.laddr = m6.laddr.s6_addr32[3], .lport = m6.lport,
		.faddr = m6.faddr.s6_addr32[3], .fport = m6.fport,
	};

	if (is_v6(info))
		rds_core_info_put(info, &m6);
	else if (rds_ip_is_v4(from))
		rds_core_info_put(info, &m4);
}

static void put_path_queue(struct rds_core_path *path, struct rds_core_info *info)
{
	bool retrans = info->number == RDS_INFO_RETRANS_MESSAGES ||
		       info->number == RDS6_INFO_RETRANS_MESSAGES;
	struct rds_core_conn *conn = path->conn;
	struct rds_core_msg *msg;

	spin_lock_bh(&path->lock);
	list_for_each_entry(msg, retrans ? &path->retrans_queue : &path->send_queue, path_entry)
		put_message(info, &msg->hdr, true, conn->tos, &conn->laddr, &conn->faddr);
	spin_unlock_bh(&path->lock);
}

static void put_queue(struct rds_core_conn *conn, void *arg)
{
	unsigned int i;

	put_path_queue(&conn->path, arg);
	for (i = 0; i < RDS_CORE_PATHS - 1; i++)
		if (READ_ONCE(conn->more[i]))
			put_path_queue(conn->more[i], arg);
}

static void fill_queues(struct net *net, struct rds_core_info *info)
{
	rds_conn_each(rds_net(net), put_queue, info);
}

static void sock_each(struct net *net, struct rds_core_info *info,
		      void (*put)(struct rds_sock *rs, struct rds_core_info *info))
{
	struct rds_net *rnet = rds_net(net);
	struct rds_sock *rs;

	spin_lock_bh(&rnet->lock);
	list_for_each_entry(rs, &rnet->socks, net_entry) {
		spin_lock(&rs->lock);
		put(rs, info);
		spin_unlock(&rs->lock);
	}
	spin_unlock_bh(&rnet->lock);
}

static void put_incs(struct rds_sock *rs, struct rds_core_info *info)
{
	struct rds_core_inc *inc;

	list_for_each_entry(inc, &rs->incs, entry)
		put_message(info, &inc->hdr, false, inc->tos, &inc->saddr, &inc->daddr);
}

static void fill_recv(struct net *net, struct rds_core_info *info)
{
	sock_each(net, info, put_incs);
}

static void put_sock(struct rds_sock *rs, struct rds_core_info *info)
{
	bool bound = rds_bound(rs);
	struct rds6_info_socket s6 = {
		.sndbuf = rds_sndbuf(rs),
		.connected_addr = rs->peer.ip,
		.connected_port = rs->peer.port,
		.rcvbuf = rds_rcvbuf(rs),
		.inum = sock_i_ino(&rs->sk),
	};
	struct rds_info_socket s4 = {
		.sndbuf = rds_sndbuf(rs),
		.connected_addr = rs->peer.ip.s6_addr32[3],
		.connected_port = rs->peer.port,
		.rcvbuf = rds_rcvbuf(rs),
		.inum = s6.inum,
	};

	if (bound) {
		s6.bound_addr = rs->laddr;
		s6.bound_port = rs->lport;
		s4.bound_addr = rs->laddr.s6_addr32[3];
		s4.bound_port = rs->lport;
	}
	if (is_v6(info))
		rds_core_info_put(info, &s6);
	else if (bound && rds_ip_is_v4(&rs->laddr))
		rds_core_info_put(info, &s4);
}

static void fill_socks(struct net *net, struct rds_core_info *info)
{
	sock_each(net, info, put_sock);
}

static const struct {
	unsigned int number;
	unsigned int size;
	rds_core_info_fill fill;
} lists[] = {
	{ RDS_INFO_COUNTERS, sizeof(struct rds_info_counter), rds_stats_fill },
	{ RDS_INFO_CONNECTIONS, sizeof(struct rds_info_connection), fill_conns },
	{ RDS_INFO_SEND_MESSAGES, sizeof(struct rds_info_message), fill_queues },
	{ RDS_INFO_RETRANS_MESSAGES, sizeof(struct rds_info_message), fill_queues },
	{ RDS_INFO_RECV_MESSAGES, sizeof(struct rds_info_message), fill_recv },
	{ RDS_INFO_SOCKETS, sizeof(struct rds_info_socket), fill_socks },
	{ RDS6_INFO_CONNECTIONS, sizeof(struct rds6_info_connection), fill_conns },
	{ RDS6_INFO_SEND_MESSAGES, sizeof(struct rds6_info_message), fill_queues },
	{ RDS6_INFO_RETRANS_MESSAGES, sizeof(struct rds6_info_message), fill_queues },
	{ RDS6_INFO_RECV_MESSAGES, sizeof(struct rds6_info_message), fill_recv },
	{ RDS6_INFO_SOCKETS, sizeof(struct rds6_info_socket), fill_socks },
};

void rds_info_lists_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		rds_core_info_register(lists[i].number, lists[i].size, lists[i].fill);
}
