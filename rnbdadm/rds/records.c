// SPDX-License-Identifier: GPL-2.0
/* Records of RDS_INFO_*: addresses and ports are in network order, numbers in that of the host. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include <linux/rds.h>

#include "rds/records.h"

size_t rds_record_least(int list)
{
	switch (list) {
	case RDS_INFO_COUNTERS:
		return sizeof(struct rds_info_counter);
	case RDS_INFO_CONNECTIONS:
		return offsetof(struct rds_info_connection, tos);
	case RDS_INFO_SEND_MESSAGES:
	case RDS_INFO_RETRANS_MESSAGES:
	case RDS_INFO_RECV_MESSAGES:
		return offsetof(struct rds_info_message, tos);
	case RDS_INFO_SOCKETS:
		return sizeof(struct rds_info_socket);
	case RDS_INFO_TCP_SOCKETS:
		return offsetof(struct rds_info_tcp_socket, tos);
	case RDS6_INFO_CONNECTIONS:
		return sizeof(struct rds6_info_connection);
	case RDS6_INFO_SEND_MESSAGES:
	case RDS6_INFO_RETRANS_MESSAGES:
	case RDS6_INFO_RECV_MESSAGES:
		return offsetof(struct rds6_info_message, tos);
	case RDS6_INFO_SOCKETS:
		return sizeof(struct rds6_info_socket);
	case RDS6_INFO_TCP_SOCKETS:
		return sizeof(struct rds6_info_tcp_socket);
	default:
		return 0;
	}
}

size_t rds_count(const struct rds_list *l)
{
	return l->size ? l->len / l->size : 0;
}

/* What the kernel has not is zero, what we do not know is left out. Returns the bytes that are there. */
static size_t record(const struct rds_list *l, size_t i, void *to, size_t size)
{
	size_t n = l->size < size ? l->size : size;

	memset(to, 0, size);
	memcpy(to, l->bytes + i * l->size, n);
	return n;
}

static void address4(struct addr *a, uint32_t raw, uint16_t port)
{
	memset(a, 0, sizeof(*a));
	a->port = ntohs(port);
	if (raw) {
		a->family = ADDR_IPV4;
		memcpy(a->raw, &raw, sizeof(raw));
	}
}

static void address6(struct addr *a, struct in6_addr raw, uint16_t port)
{
	uint32_t v4;

	memcpy(&v4, &raw.s6_addr[12], sizeof(v4));
	if (IN6_IS_ADDR_V4MAPPED(&raw)) {
		address4(a, v4, port);
		return;
	}
	address4(a, 0, port);
	if (!IN6_IS_ADDR_UNSPECIFIED(&raw)) {
		a->family = ADDR_IPV6;
		memcpy(a->raw, &raw, sizeof(a->raw));
	}
}

void rds_counter_at(const struct rds_list *l, size_t i, struct rds_counter *c)
{
	struct rds_info_counter r;

	record(l, i, &r, sizeof(r));
	memcpy(c->name, r.name, sizeof(r.name));
	c->name[sizeof(r.name)] = '\0';
	c->value = r.value;
}

static void transport(struct rds_connection *c, const uint8_t *name)
{
	/* the last byte held flags before 2009, and is no part of the name */
	memcpy(c->transport, name, sizeof(c->transport) - 1);
	c->transport[sizeof(c->transport) - 1] = '\0';
}

void rds_connection_at(const struct rds_list *l, bool v6, size_t i, struct rds_connection *c)
{
	struct rds_info_connection r4;
	struct rds6_info_connection r6;

	memset(c, 0, sizeof(*c));
	c->tos = RDS_TOS_UNKNOWN;
	if (v6) {
		record(l, i, &r6, sizeof(r6));
		address6(&c->local, r6.laddr, 0);
		address6(&c->remote, r6.faddr, 0);
		transport(c, r6.transport);
		c->next_send = r6.next_tx_seq;
		c->next_receive = r6.next_rx_seq;
		c->flags = r6.flags;
		return;
	}
	if (record(l, i, &r4, sizeof(r4)) == sizeof(r4))
		c->tos = r4.tos;
	address4(&c->local, r4.laddr, 0);
	address4(&c->remote, r4.faddr, 0);
	transport(c, r4.transport);
	c->next_send = r4.next_tx_seq;
	c->next_receive = r4.next_rx_seq;
	c->flags = r4.flags;
}

void rds_message_at(const struct rds_list *l, bool v6, size_t i, struct rds_message *m)
{
	struct rds_info_message r4;
	struct rds6_info_message r6;

	memset(m, 0, sizeof(*m));
	m->tos = RDS_TOS_UNKNOWN;
	if (v6) {
		if (record(l, i, &r6, sizeof(r6)) == sizeof(r6))
			m->tos = r6.tos;
		address6(&m->local, r6.laddr, r6.lport);
		address6(&m->remote, r6.faddr, r6.fport);
		m->sequence = r6.seq;
		m->bytes = r6.len;
		return;
	}
	if (record(l, i, &r4, sizeof(r4)) == sizeof(r4))
		m->tos = r4.tos;
	address4(&m->local, r4.laddr, r4.lport);
	address4(&m->remote, r4.faddr, r4.fport);
	m->sequence = r4.seq;
	m->bytes = r4.len;
}

void rds_socket_at(const struct rds_list *l, bool v6, size_t i, struct rds_socket *s)
{
	struct rds_info_socket r4;
	struct rds6_info_socket r6;

	memset(s, 0, sizeof(*s));
	if (v6) {
		record(l, i, &r6, sizeof(r6));
		address6(&s->local, r6.bound_addr, r6.bound_port);
		address6(&s->remote, r6.connected_addr, r6.connected_port);
		s->send_buffer = r6.sndbuf;
		s->receive_buffer = r6.rcvbuf;
		s->inode = r6.inum;
		return;
	}
	record(l, i, &r4, sizeof(r4));
	address4(&s->local, r4.bound_addr, r4.bound_port);
	address4(&s->remote, r4.connected_addr, r4.connected_port);
	s->send_buffer = r4.sndbuf;
	s->receive_buffer = r4.rcvbuf;
	s->inode = r4.inum;
}

void rds_tcp_at(const struct rds_list *l, bool v6, size_t i, struct rds_tcp *t)
{
	struct rds_info_tcp_socket r4;
	struct rds6_info_tcp_socket r6;

	if (v6) {
		record(l, i, &r6, sizeof(r6));
		address6(&t->local, r6.local_addr, r6.local_port);
		address6(&t->remote, r6.peer_addr, r6.peer_port);
		return;
	}
	record(l, i, &r4, sizeof(r4));
	address4(&t->local, r4.local_addr, r4.local_port);
	address4(&t->remote, r4.peer_addr, r4.peer_port);
}
