// SPDX-License-Identifier: GPL-2.0
/* RDS_INFO_*: answers that grow, are cut or are of another release; records of both families. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/rds.h>
#include <stdlib.h>

#include "rds/info.h"
#include "tap.h"

/* A kernel whose list needs @need bytes, and @grows more at each look; the answer is @size, @len. */
struct kernel {
	uint32_t need, grows, len, first;
	int size, asked;
};

static int ask(void *arg, int list, void *buf, uint32_t *len)
{
	struct kernel *k = arg;

	(void)list;
	if (!k->asked++)
		k->first = *len;
	if (k->size < 0)
		return k->size;
	if (k->need > *len) {
		*len = k->need;
		k->need += k->grows;
		return -ENOSPC;
	}
	memset(buf, 0x11, k->len < *len ? k->len : *len);
	*len = k->len;
	return k->size;
}

static int read_from(struct kernel k, int list, struct rds_list *l, int *asked)
{
	int rc = rds_info(ask, &k, list, l);

	*asked = k.asked;
	return rc;
}

static void answers(void)
{
	static const struct { struct kernel k; int list, rc; size_t count; const char *what; } all[] = {
		{ { .size = 40 }, RDS_INFO_COUNTERS, 0, 0, "an empty list" },
		{ { .size = 40, .len = 80 }, RDS_INFO_COUNTERS, 0, 2, "two counters" },
		{ { .size = 48, .len = 96 }, RDS_INFO_COUNTERS, 0, 2, "records with more than is known" },
		{ { .size = 39, .len = 78 }, RDS_INFO_COUNTERS, -EBADMSG, 0, "records with less" },
		{ { .size = 40, .len = 79 }, RDS_INFO_COUNTERS, -EBADMSG, 0, "a list that is cut" },
		{ { .size = 0, .len = 80 }, RDS_INFO_COUNTERS, -EBADMSG, 0, "records of no size" },
		{ { .size = 40, .len = 1 << 20 }, RDS_INFO_COUNTERS, -EBADMSG, 0, "more than the buffer can hold" },
		{ { .size = 41, .len = 82 }, RDS_INFO_CONNECTIONS, 0, 2, "connections of before there was a tos" },
		{ { .size = 40, .len = 80 }, RDS_INFO_CONNECTIONS, -EBADMSG, 0, "connections without their flags" },
		{ { .size = 64, .len = 64 }, RDS6_INFO_CONNECTIONS, -EBADMSG, 0, "IPv6 connections without their flags" },
		{ { .size = 49, .len = 49 }, RDS6_INFO_RECV_MESSAGES, 0, 1, "messages of before there was a tos" },
		{ { .size = 51, .len = 51 }, RDS6_INFO_SOCKETS, -EBADMSG, 0, "sockets without an inode" },
		{ { .size = 40, .len = 40 }, RDS_INFO_TCP_SOCKETS, 0, 1, "TCP sockets of before there was a tos" },
		{ { .size = -ENOPROTOOPT }, RDS6_INFO_SOCKETS, 0, 0, "a list that this kernel lacks" },
		{ { .size = -ENOMEM }, RDS6_INFO_SOCKETS, -ENOMEM, 0, "an error" },
		{ { .size = 52, .len = 52000, .need = 52000 }, RDS6_INFO_SOCKETS, 0, 1000, "more than the first buffer" },
		{ { .size = 52, .len = 260000, .need = 52000, .grows = 52000 }, RDS6_INFO_SOCKETS, 0, 5000,
		  "one that grows at each look" },
		{ { .size = 52, .need = 1 << 20, .grows = 1 << 28 }, RDS6_INFO_SOCKETS, -EOVERFLOW, 0,
		  "one that outgrows every buffer" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct rds_list l;
		int asked, rc = read_from(all[i].k, all[i].list, &l, &asked);

		ok(rc == all[i].rc && rds_count(&l) == all[i].count && asked < 20, "%s: %d, %zu records, asked %d times",
		   all[i].what, rc, rds_count(&l), asked);
		ok(l.told == (!rc && all[i].k.size > 0), "%s: told or not", all[i].what);
		free(l.bytes);
	}
}

#define LIST(v, n)	{ .bytes = (uint8_t *)(v), .len = sizeof(*(v)) * (n), .size = sizeof(*(v)), .told = true }

static bool is(const struct addr *a, const char *text, unsigned int port)
{
	char own[ADDR_TEXT_MAX];

	addr_format_bare(a, own);
	return !strcmp(own, text) && a->port == port;
}

static void counters(void)
{
	struct rds_info_counter v[2] = { { .name = "conn_reset", .value = UINT64_MAX } };
	struct rds_list l = LIST(v, 2);
	struct rds_counter c;

	memset(v[1].name, 'x', sizeof(v[1].name));
	rds_counter_at(&l, 0, &c);
	ok(!strcmp(c.name, "conn_reset") && c.value == UINT64_MAX, "a counter of 64 bits");
	rds_counter_at(&l, 1, &c);
	ok(strlen(c.name) == 32, "a name that fills its place has an end");
}

static void connections(void)
{
	struct rds_info_connection v4 = {
		.next_tx_seq = 1ULL << 40, .next_rx_seq = 7, .laddr = htonl(0x0a000001), .faddr = htonl(0x0a000002),
		.transport = "infiniband", .flags = RDS_INFO_CONNECTION_FLAG_CONNECTED, .tos = 5,
	};
	struct rds6_info_connection v6[2] = { { .transport = "tcp", .flags = 3 }, { .transport = "0123456789abcdef" } };
	struct rds_list l4 = LIST(&v4, 1), l6 = LIST(v6, 2), old;
	struct rds_connection c;

	v6[0].laddr.s6_addr[0] = v6[0].faddr.s6_addr[0] = 0xfd;
	v6[0].faddr.s6_addr[15] = 2;
	memcpy(&v6[1].laddr, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\x09", 16);
	rds_connection_at(&l4, false, 0, &c);
	ok(is(&c.local, "10.0.0.1", 0) && is(&c.remote, "10.0.0.2", 0), "IPv4 addresses");
	ok(c.next_send == 1ULL << 40 && c.next_receive == 7 && c.tos == 5 && c.flags == 4, "numbers of a connection");
	ok(!strcmp(c.transport, "infiniband"), "its transport");
	old = l4;
	old.size = old.len = 41;
	rds_connection_at(&old, false, 0, &c);
	ok(c.tos == RDS_TOS_UNKNOWN && c.flags == 4, "an older record has no tos");
	rds_connection_at(&l6, true, 0, &c);
	ok(is(&c.local, "fd00::", 0) && is(&c.remote, "fd00::2", 0) && c.tos == RDS_TOS_UNKNOWN && c.flags == 3, "IPv6");
	rds_connection_at(&l6, true, 1, &c);
	ok(is(&c.local, "10.0.0.9", 0) && c.remote.family == ADDR_NONE, "IPv4 in a record of IPv6, and no address");
	ok(!strcmp(c.transport, "0123456789abcde"), "the last byte of a transport is no part of its name");
}

static void messages(void)
{
	/* what a later release appends to each record */
	struct { struct rds6_info_message m; uint8_t more[5]; } __attribute__((packed)) v[2] = { { .more = "more" } };
	struct rds_info_message v4 = { .seq = 9, .len = UINT32_MAX, .lport = htons(4000), .fport = htons(65535), .tos = 255 };
	struct rds_list l = LIST(v, 2), l4 = LIST(&v4, 1);
	struct rds_message m;

	v[1].m = (struct rds6_info_message){ .seq = 1ULL << 63, .len = 1048576, .lport = htons(1), .fport = htons(2), .tos = 4 };
	v[1].m.laddr.s6_addr[15] = v[1].m.faddr.s6_addr[15] = 1;
	rds_message_at(&l, true, 1, &m);
	ok(m.sequence == 1ULL << 63 && m.bytes == 1048576 && m.tos == 4, "a message in longer records");
	ok(is(&m.local, "::1", 1) && is(&m.remote, "::1", 2), "its ends");
	rds_message_at(&l4, false, 0, &m);
	ok(m.local.family == ADDR_NONE && m.local.port == 4000 && m.remote.port == 65535, "a message whose addresses are left out");
	ok(m.bytes == UINT32_MAX && m.tos == 255 && m.sequence == 9, "its numbers");
}

static void sockets(void)
{
	struct rds_info_socket v4 = {
		.sndbuf = 106496, .bound_addr = htonl(0x0a000001), .bound_port = htons(4000), .rcvbuf = UINT32_MAX,
		.inum = (1ULL << 32) + 5,
	};
	struct rds6_info_socket v6 = { .sndbuf = 1, .rcvbuf = 2, .inum = 3, .connected_port = htons(7) };
	struct rds_info_tcp_socket t4 = { .local_addr = htonl(0x0a000001), .local_port = htons(40000), .peer_port = htons(16385) };
	struct rds_list l4 = LIST(&v4, 1), l6 = LIST(&v6, 1), lt = LIST(&t4, 1);
	struct rds_socket s;
	struct rds_tcp t;

	v6.connected_addr.s6_addr[0] = 0xfe;
	rds_socket_at(&l4, false, 0, &s);
	ok(is(&s.local, "10.0.0.1", 4000) && s.remote.family == ADDR_NONE, "a socket that is bound");
	ok(s.send_buffer == 106496 && s.receive_buffer == UINT32_MAX && s.inode == (1ULL << 32) + 5, "its numbers");
	rds_socket_at(&l6, true, 0, &s);
	ok(s.local.family == ADDR_NONE && is(&s.remote, "fe00::", 7), "one that is connected, not bound");
	ok(s.send_buffer == 1 && s.receive_buffer == 2 && s.inode == 3, "its numbers");
	rds_tcp_at(&lt, false, 0, &t);
	ok(is(&t.local, "10.0.0.1", 40000) && t.remote.port == 16385, "a TCP socket");
}

int main(void)
{
	answers();
	counters();
	connections();
	messages();
	sockets();
	ok(!rds_record_least(RDS_INFO_IWARP_CONNECTIONS) && !rds_record_least(RDS_INFO_LAST + 1), "lists that are not read");
	return tap_done();
}
