// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include <linux/rds.h>

#include "rds/lists.h"

/* Addresses by number, IPv4 first, none last; then ports. */
static int addr_cmp(const struct addr *a, const struct addr *b, bool ports)
{
	int d = (a->family == ADDR_NONE) - (b->family == ADDR_NONE);

	if (!d)
		d = (a->family > b->family) - (a->family < b->family);
	if (!d)
		d = memcmp(a->raw, b->raw, sizeof(a->raw));
	return d || !ports ? d : (a->port > b->port) - (a->port < b->port);
}

static int socket_cmp(const void *a, const void *b)
{
	const struct rds_socket_row *x = a, *y = b;

	return addr_cmp(&x->s.local, &y->s.local, true);
}

/* Not the transport: messages do not tell theirs. */
static int pair_cmp(const void *a, const void *b)
{
	const struct rds_connection_row *x = a, *y = b;
	int d = addr_cmp(&x->c.local, &y->c.local, false);

	if (!d)
		d = addr_cmp(&x->c.remote, &y->c.remote, false);
	return d ? d : (x->c.tos > y->c.tos) - (x->c.tos < y->c.tos);
}

static int connection_cmp(const void *a, const void *b)
{
	const struct rds_connection_row *x = a, *y = b;
	int d = pair_cmp(a, b);

	return d ? d : strcmp(x->c.transport, y->c.transport);
}

static void *more(void *v, size_t n, size_t size)
{
	/* one more than full: at powers of two */
	return n & (n - 1) ? v : xrealloc(v, (n ? 2 * n : 1) * size);
}

static void add_socket(struct rds_lists *l, const struct rds *r, const struct rds_socket *s)
{
	if (s->inode && s->inode == r->inode)
		return;
	l->sockets = more(l->sockets, l->nsockets, sizeof(*l->sockets));
	l->sockets[l->nsockets++] = (struct rds_socket_row){ .s = *s };
}

static void add_connection(struct rds_lists *l, const struct rds_connection *c)
{
	l->connections = more(l->connections, l->nconnections, sizeof(*l->connections));
	l->connections[l->nconnections++] = (struct rds_connection_row){ .c = *c };
}

/* The list with IPv6 has all of them; older kernels have only the other one. */
static bool read_sockets(struct ctx *ctx, const struct rds *r, struct rds_lists *l)
{
	struct rds_list raw;
	struct rds_socket s;
	bool v6;

	if (!rds_read(ctx, r, RDS6_INFO_SOCKETS, &raw))
		return false;
	v6 = raw.told;
	if (!v6 && !rds_read(ctx, r, RDS_INFO_SOCKETS, &raw))
		return false;
	for (size_t i = 0; i < rds_count(&raw); i++) {
		rds_socket_at(&raw, v6, i, &s);
		add_socket(l, r, &s);
	}
	free(raw.bytes);
	return true;
}

/* Both lists have those of IPv4, but one of them alone tells their tos. */
static bool read_connections(struct ctx *ctx, const struct rds *r, struct rds_lists *l)
{
	struct rds_list v4, v6;
	struct rds_connection c;

	if (!rds_read(ctx, r, RDS_INFO_CONNECTIONS, &v4))
		return false;
	for (size_t i = 0; i < rds_count(&v4); i++) {
		rds_connection_at(&v4, false, i, &c);
		add_connection(l, &c);
	}
	free(v4.bytes);
	if (!rds_read(ctx, r, RDS6_INFO_CONNECTIONS, &v6))
		return false;
	for (size_t i = 0; i < rds_count(&v6); i++) {
		rds_connection_at(&v6, true, i, &c);
		if (c.local.family == ADDR_IPV6 || !v4.told)
			add_connection(l, &c);
	}
	free(v6.bytes);
	return true;
}

static void count(struct rds_queue *q, const struct rds_message *m)
{
	q->messages++;
	q->bytes += m->bytes;
}

static struct rds_socket_row *socket_of(struct rds_lists *l, const struct rds_message *m)
{
	struct rds_socket_row key = { .s.local = m->local };

	return l->nsockets ? bsearch(&key, l->sockets, l->nsockets, sizeof(key), socket_cmp) : NULL;
}

static struct rds_connection_row *connection_of(struct rds_lists *l, const struct rds_message *m)
{
	struct rds_connection_row key = { .c = { .local = m->local, .remote = m->remote, .tos = m->tos } };

	if (m->local.family == ADDR_IPV6)
		key.c.tos = RDS_TOS_UNKNOWN;
	return l->nconnections ? bsearch(&key, l->connections, l->nconnections, sizeof(key), pair_cmp) : NULL;
}

static void count_message(struct rds_lists *l, int list, const struct rds_message *m)
{
	struct rds_socket_row *s = socket_of(l, m);
	struct rds_connection_row *c;

	if (list == RDS6_INFO_RECV_MESSAGES) {
		count(&l->unread, m);
		if (s)
			count(&s->receive, m);
		return;
	}
	count(list == RDS6_INFO_SEND_MESSAGES ? &l->unsent : &l->unacknowledged, m);
	if (s)
		count(&s->send, m);
	c = connection_of(l, m);
	if (c)
		count(list == RDS6_INFO_SEND_MESSAGES ? &c->unsent : &c->unacknowledged, m);
}

/* The lists of IPv4 are of no use: the kernel leaves out the addresses there. */
static bool read_messages(struct ctx *ctx, const struct rds *r, struct rds_lists *l)
{
	static const int lists[] = { RDS6_INFO_SEND_MESSAGES, RDS6_INFO_RETRANS_MESSAGES, RDS6_INFO_RECV_MESSAGES };
	struct rds_queue *const all[] = { &l->unsent, &l->unacknowledged, &l->unread };
	struct rds_list raw;
	struct rds_message m;

	for (size_t k = 0; k < ARRAY_SIZE(lists); k++) {
		if (!rds_read(ctx, r, lists[k], &raw))
			return false;
		all[k]->known = raw.told;
		for (size_t i = 0; i < rds_count(&raw); i++) {
			rds_message_at(&raw, true, i, &m);
			count_message(l, lists[k], &m);
		}
		free(raw.bytes);
	}
	for (size_t i = 0; i < l->nsockets; i++) {
		struct rds_socket_row *s = &l->sockets[i];

		s->send.known = l->unsent.known && l->unacknowledged.known;
		s->receive.known = l->unread.known;
	}
	for (size_t i = 0; i < l->nconnections; i++) {
		struct rds_connection_row *c = &l->connections[i];
		bool alone = (!i || pair_cmp(c - 1, c)) && (i + 1 == l->nconnections || pair_cmp(c, c + 1));

		c->unsent.known = alone && l->unsent.known;
		c->unacknowledged.known = alone && l->unacknowledged.known;
	}
	return true;
}

static void add_tcp(struct rds_lists *l, const struct rds_tcp *t)
{
	for (size_t i = 0; i < l->nconnections; i++) {
		struct rds_connection_row *c = &l->connections[i];

		if (strcmp(c->c.transport, "tcp") || addr_cmp(&c->c.local, &t->local, false) ||
		    addr_cmp(&c->c.remote, &t->remote, false))
			continue;
		c->tcp = more(c->tcp, c->ntcp, sizeof(*c->tcp));
		c->tcp[c->ntcp++] = *t;
		return;
	}
}

static bool read_tcp(struct ctx *ctx, const struct rds *r, struct rds_lists *l)
{
	struct rds_list raw;
	struct rds_tcp t;
	bool v6;

	if (!rds_read(ctx, r, RDS6_INFO_TCP_SOCKETS, &raw))
		return false;
	v6 = raw.told;
	if (!v6 && !rds_read(ctx, r, RDS_INFO_TCP_SOCKETS, &raw))
		return false;
	for (size_t i = 0; i < rds_count(&raw); i++) {
		rds_tcp_at(&raw, v6, i, &t);
		add_tcp(l, &t);
	}
	free(raw.bytes);
	return true;
}

bool rds_lists(struct ctx *ctx, const struct rds *r, struct rds_lists *l)
{
	memset(l, 0, sizeof(*l));
	if (!read_sockets(ctx, r, l) || !read_connections(ctx, r, l)) {
		rds_lists_free(l);
		return false;
	}
	if (l->nsockets)
		qsort(l->sockets, l->nsockets, sizeof(*l->sockets), socket_cmp);
	if (l->nconnections)
		qsort(l->connections, l->nconnections, sizeof(*l->connections), connection_cmp);
	if (!read_messages(ctx, r, l) || !read_tcp(ctx, r, l)) {
		rds_lists_free(l);
		return false;
	}
	return true;
}

void rds_lists_free(struct rds_lists *l)
{
	for (size_t i = 0; i < l->nsockets; i++) {
		for (size_t k = 0; k < l->sockets[i].nusers; k++)
			free(l->sockets[i].users[k].name);
		free(l->sockets[i].users);
	}
	for (size_t i = 0; i < l->nconnections; i++) {
		free(l->connections[i].tcp);
		free(l->connections[i].paths);
	}
	free(l->sockets);
	free(l->connections);
	memset(l, 0, sizeof(*l));
}

const char *rds_state(const struct rds_connection *c)
{
	return c->flags & RDS_INFO_CONNECTION_FLAG_CONNECTED ? "connected" :
	       c->flags & RDS_INFO_CONNECTION_FLAG_CONNECTING ? "connecting" : "down";
}

char *rds_end(const struct addr *a)
{
	char text[ADDR_TEXT_MAX];

	addr_format_bare(a, text);
	return xasprintf(a->family == ADDR_IPV6 ? "[%s]:%u" : "%s:%u", text, a->port);
}
