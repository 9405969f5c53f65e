// SPDX-License-Identifier: GPL-2.0
/*
 * The lists that core has: sockets, connections, messages. Those of version 6 have all, the older
 * ones IPv4.
 */
#include "core.h"

/* Of a connection, or messages of one of its queues, or of a socket */
struct each {
	struct rds_core_info *info;
	bool v6;
	bool retrans;
};

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

static void put_conn4(struct rds_core_conn *conn, void *arg)
{
	struct each *e = arg;
	struct rds_info_connection c = {
		.next_tx_seq = READ_ONCE(conn->path.next_tx),
		.next_rx_seq = READ_ONCE(conn->path.next_rx),
		.laddr = conn->laddr.s6_addr32[3],
		.faddr = conn->faddr.s6_addr32[3],
		.flags = conn_flags(conn),
		.tos = conn->tos,
	};

	strscpy((char *)c.transport, conn->transport->name, sizeof(c.transport));
	if (rds_ip_is_v4(&conn->laddr))
		rds_core_info_put(e->info, &c);
}

static void put_conn6(struct rds_core_conn *conn, void *arg)
{
	struct each *e = arg;
	struct rds6_info_connection c = {
		.next_tx_seq = READ_ONCE(conn->path.next_tx),
		.next_rx_seq = READ_ONCE(conn->path.next_rx),
		.laddr = conn->laddr,
		.faddr = conn->faddr,
		.flags = conn_flags(conn),
	};

	strscpy((char *)c.transport, conn->transport->name, sizeof(c.transport));
	rds_core_info_put(e->info, &c);
}

static void fill_conns4(struct net *net, struct rds_core_info *info)
{
	struct each e = { .info = info };

	rds_conn_each(rds_net(net), put_conn4, &e);
}

static void fill_conns6(struct net *net, struct rds_core_info *info)
{
	struct each e = { .info = info };

	rds_conn_each(rds_net(net), put_conn6, &e);
}

/* What a message is listed with, either way */
struct line {
	const struct rds_hdr *hdr;
	const struct in6_addr *laddr;
	const struct in6_addr *faddr;
	u16 lport;
	u16 fport;
	u8 tos;
};

static void put_line(const struct each *e, const struct line *l)
{
	struct rds6_info_message m6 = {
		.seq = l->hdr->seq, .len = l->hdr->len, .laddr = *l->laddr, .faddr = *l->faddr,
		.lport = htons(l->lport), .fport = htons(l->fport), .tos = l->tos,
	};
	struct rds_info_message m4 = {
		.seq = l->hdr->seq,
		.len = l->hdr->len,
		.laddr = l->laddr->s6_addr32[3],
		.faddr = l->faddr->s6_addr32[3],
		.lport = htons(l->lport),
		.fport = htons(l->fport),
		.tos = l->tos,
	};

	if (e->v6)
		rds_core_info_put(e->info, &m6);
	else if (rds_ip_is_v4(l->laddr))
		rds_core_info_put(e->info, &m4);
}

static void put_path_queue(struct rds_core_path *path, const struct each *e)
{
	struct rds_core_conn *conn = path->conn;
	struct rds_core_msg *msg;

	spin_lock_bh(&path->lock);
	list_for_each_entry(msg, e->retrans ? &path->retrans_queue : &path->send_queue,
			    path_entry) {
		struct line l = { &msg->hdr,	  &conn->laddr,	  &conn->faddr,
				  msg->hdr.sport, msg->hdr.dport, conn->tos };

		put_line(e, &l);
	}
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

static void fill_send4(struct net *net, struct rds_core_info *info)
{
	struct each e = { .info = info };

	rds_conn_each(rds_net(net), put_queue, &e);
}

static void fill_send6(struct net *net, struct rds_core_info *info)
{
	struct each e = { .info = info, .v6 = true };

	rds_conn_each(rds_net(net), put_queue, &e);
}

static void fill_retrans4(struct net *net, struct rds_core_info *info)
{
	struct each e = { .info = info, .retrans = true };

	rds_conn_each(rds_net(net), put_queue, &e);
}

static void fill_retrans6(struct net *net, struct rds_core_info *info)
{
	struct each e = { .info = info, .retrans = true, .v6 = true };

	rds_conn_each(rds_net(net), put_queue, &e);
}

static void sock_each(struct net *net, void (*fn)(struct rds_sock *rs, const struct each *e),
		      const struct each *e)
{
	struct rds_net *rnet = rds_net(net);
	struct rds_sock *rs;

	spin_lock_bh(&rnet->lock);
	list_for_each_entry(rs, &rnet->socks, net_entry) {
		spin_lock(&rs->lock);
		fn(rs, e);
		spin_unlock(&rs->lock);
	}
	spin_unlock_bh(&rnet->lock);
}

static void put_incs(struct rds_sock *rs, const struct each *e)
{
	struct rds_core_inc *inc;

	list_for_each_entry(inc, &rs->incs, entry) {
		struct line l = { &inc->hdr,	  &inc->daddr,	  &inc->saddr,
				  inc->hdr.dport, inc->hdr.sport, inc->tos };

		put_line(e, &l);
	}
}

static void fill_recv4(struct net *net, struct rds_core_info *info)
{
	struct each e = { .info = info };

	sock_each(net, put_incs, &e);
}

static void fill_recv6(struct net *net, struct rds_core_info *info)
{
	struct each e = { .info = info, .v6 = true };

	sock_each(net, put_incs, &e);
}

static void put_sock(struct rds_sock *rs, const struct each *e)
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
	if (e->v6)
		rds_core_info_put(e->info, &s6);
	else if (bound && rds_ip_is_v4(&rs->laddr))
		rds_core_info_put(e->info, &s4);
}

static void fill_socks4(struct net *net, struct rds_core_info *info)
{
	struct each e = { .info = info };

	sock_each(net, put_sock, &e);
}

static void fill_socks6(struct net *net, struct rds_core_info *info)
{
	struct each e = { .info = info, .v6 = true };

	sock_each(net, put_sock, &e);
}

void rds_info_lists_init(void)
{
	rds_core_info_register(RDS_INFO_COUNTERS, sizeof(struct rds_info_counter), rds_stats_fill);
	rds_core_info_register(RDS_INFO_CONNECTIONS, sizeof(struct rds_info_connection),
			       fill_conns4);
	rds_core_info_register(RDS_INFO_SEND_MESSAGES, sizeof(struct rds_info_message), fill_send4);
	rds_core_info_register(RDS_INFO_RETRANS_MESSAGES, sizeof(struct rds_info_message),
			       fill_retrans4);
	rds_core_info_register(RDS_INFO_RECV_MESSAGES, sizeof(struct rds_info_message), fill_recv4);
	rds_core_info_register(RDS_INFO_SOCKETS, sizeof(struct rds_info_socket), fill_socks4);
	rds_core_info_register(RDS6_INFO_CONNECTIONS, sizeof(struct rds6_info_connection),
			       fill_conns6);
	rds_core_info_register(RDS6_INFO_SEND_MESSAGES, sizeof(struct rds6_info_message),
			       fill_send6);
	rds_core_info_register(RDS6_INFO_RETRANS_MESSAGES, sizeof(struct rds6_info_message),
			       fill_retrans6);
	rds_core_info_register(RDS6_INFO_RECV_MESSAGES, sizeof(struct rds6_info_message),
			       fill_recv6);
	rds_core_info_register(RDS6_INFO_SOCKETS, sizeof(struct rds6_info_socket), fill_socks6);
}
