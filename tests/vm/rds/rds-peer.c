// SPDX-License-Identifier: GPL-2.0
/*
 * A transport for tests, in place of rds_tcp: 10.9.0.1 and fd09::1 are addresses of this host, all others are those of a
 * peer that lives here, too. The parameter "peer" says what the peer does:
 *
 *   echo      takes messages, acknowledges them, and sends them back
 *   hold      takes them and says nothing; stall: takes nothing; break: breaks the path
 *   refuse    refuses connections from now on; silent: says nothing to them; connect: accepts, also those that wait
 *   ack       acknowledges all that it has; go: room again; drop: the path breaks
 *   congested PORT, free    its map; ping PORT, probe; old: a message again that it has sent before
 *
 * The parameter "log" has what was transmitted since it was written to: "seq/flags/len/sport/dport" or "map", "probe".
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/rds.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <rds/transport.h>

struct peer_inc {
	struct rds_core_inc inc;
	char data[];
};

static char mode = 'e';
static char accepts = 'c';
static struct rds_core_path *last;
static DEFINE_MUTEX(lock); /* protects what is above, and the log */
static char log[4000];
static size_t logged;
static DEFINE_SPINLOCK(log_lock); /* protects the log */

static __printf(1, 2) void note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	spin_lock_bh(&log_lock);
	logged += vscnprintf(log + logged, sizeof(log) - logged, fmt, ap);
	spin_unlock_bh(&log_lock);
	va_end(ap);
}

static int inc_copy(struct rds_core_inc *inc, struct iov_iter *to)
{
	struct peer_inc *p = container_of(inc, struct peer_inc, inc);
	size_t n = min_t(size_t, inc->hdr.len, iov_iter_count(to));

	return copy_to_iter(p->data, n, to) == n ? 0 : -EFAULT;
}

static void inc_free(struct rds_core_inc *inc)
{
	kvfree(container_of(inc, struct peer_inc, inc));
}

static const struct rds_core_inc_ops inc_ops = { .copy = inc_copy, .free = inc_free };

static void comes_in(struct rds_core_path *path, const struct rds_hdr *hdr, struct iov_iter *payload)
{
	struct peer_inc *p = kvmalloc(struct_size(p, data, hdr->len), GFP_KERNEL);

	if (!p)
		return;
	rds_core_inc_init(&p->inc, path->conn, &inc_ops, hdr);
	if (payload && !copy_from_iter_full(p->data, hdr->len, payload))
		note("short ");
	rds_core_receive(path, &p->inc);
}

static bool everything(const struct rds_core_msg *msg, u64 arg)
{
	return msg->hdr.seq <= arg;
}

static int peer_xmit(struct rds_core_path *path, struct rds_core_msg *msg)
{
	struct rds_hdr h = msg->hdr;
	struct iov_iter iter;
	struct kvec flat;

	WRITE_ONCE(last, path);
	if (mode == 's')
		return -EAGAIN;
	if (mode == 'b')
		return -EPIPE;
	note("%llu/%u/%u/%u/%u ", h.seq, h.flags, h.len, h.sport, h.dport);
	if (mode != 'e')
		return 0;
	rds_core_path_acked(path, everything, h.seq);
	if (h.sport < 2)
		return 0;
	swap(h.sport, h.dport);
	h.flags = 0;
	flat = (struct kvec){ rds_core_msg_flat(msg), h.len };
	if (msg->nr_pages)
		rds_core_msg_iter(msg, &iter);
	else
		iov_iter_kvec(&iter, ITER_SOURCE, &flat, 1, h.len);
	comes_in(path, &h, &iter);
	return 0;
}

static int peer_xmit_map(struct rds_core_path *path, const void *bits)
{
	note("map%s ", memchr_inv(bits, 0, RDS_MAP_LEN) ? "!" : "");
	return mode == 's' ? -EAGAIN : 0;
}

static int peer_connect(struct rds_core_path *path)
{
	note("connect ");
	if (accepts == 'r')
		return -ECONNREFUSED;
	if (accepts == 'c')
		rds_core_path_up(path);
	return 0;
}

static void peer_shutdown(struct rds_core_path *path)
{
	note("shutdown ");
}

static int path_init(struct rds_core_path *path)
{
	last = path;
	return 0;
}

static void path_exit(struct rds_core_path *path)
{
	cmpxchg(&last, path, NULL);
}

static bool claims(struct net *net, const struct in6_addr *addr, u32 scope)
{
	if (ipv6_addr_v4mapped(addr))
		return addr->s6_addr32[3] == htonl(0x0a090001);
	return addr->s6_addr32[0] == htonl(0xfd090000) && addr->s6_addr32[3] == htonl(1);
}

static void probed(struct rds_core_path *path, const struct rds_hdr *hdr)
{
	note("probe ");
}

static u8 no_tos(u8 tos)
{
	return 0;
}

static struct rds_core_transport peer = {
	.name = "tcp",
	.owner = THIS_MODULE,
	.type = RDS_TRANS_TCP,
	.prefer_loop = true,
	.sends_zcopy = true,
	.claims = claims,
	.path_init = path_init,
	.path_exit = path_exit,
	.connect = peer_connect,
	.shutdown = peer_shutdown,
	.xmit = peer_xmit,
	.xmit_map = peer_xmit_map,
	.probe = probed,
	.maps_tos = no_tos,
};

static void on_path(const char *what, unsigned int port)
{
	static u8 bits[RDS_MAP_LEN];
	struct rds_hdr h = { .seq = last->next_rx, .sport = port };

	if (!strcmp(what, "ack")) {
		rds_core_path_acked(last, everything, U64_MAX);
	} else if (!strcmp(what, "drop")) {
		rds_core_path_drop(last, -ECONNRESET);
	} else if (!strcmp(what, "congested") || !strcmp(what, "free")) {
		memset(bits, 0, sizeof(bits));
		if (*what == 'c')
			bits[port / 8] = 1 << port % 8;
		rds_core_map_received(last->conn, bits, ~0ULL);
	} else if (!strcmp(what, "ping")) {
		comes_in(last, &h, NULL);
	} else if (!strcmp(what, "probe")) {
		h.sport = RDS_PORT_PROBE;
		comes_in(last, &h, NULL);
		h.sport = 0;
		h.dport = RDS_PORT_PROBE;
		comes_in(last, &h, NULL);
	} else if (!strcmp(what, "old")) {
		h.seq = 1;
		h.sport = 5000;
		h.dport = 4000;
		h.flags = RDS_HDR_RETRANSMITTED;
		comes_in(last, &h, NULL);
	}
}

static int peer_set(const char *val, const struct kernel_param *kp)
{
	char what[16] = "";
	unsigned int port = 0;

	if (sscanf(val, "%15s %u", what, &port) < 1)
		return -EINVAL;
	mutex_lock(&lock);
	if (!strcmp(what, "echo") || !strcmp(what, "hold") || !strcmp(what, "stall") || !strcmp(what, "break"))
		mode = *what;
	if (!strcmp(what, "refuse") || !strcmp(what, "silent") || !strcmp(what, "connect"))
		accepts = *what;
	if (last) {
		on_path(what, port);
		if (!strcmp(what, "connect"))
			rds_core_path_up(last);
		rds_core_path_writable(last);
	}
	mutex_unlock(&lock);
	return 0;
}

static const struct kernel_param_ops peer_ops = { .set = peer_set };
module_param_cb(peer, &peer_ops, NULL, 0200);

static int log_set(const char *val, const struct kernel_param *kp)
{
	spin_lock_bh(&log_lock);
	logged = 0;
	log[0] = '\0';
	spin_unlock_bh(&log_lock);
	return 0;
}

static int log_get(char *page, const struct kernel_param *kp)
{
	int n;

	spin_lock_bh(&log_lock);
	n = scnprintf(page, PAGE_SIZE, "%s\n", log);
	spin_unlock_bh(&log_lock);
	return n;
}

static const struct kernel_param_ops log_ops = { .set = log_set, .get = log_get };
module_param_cb(log, &log_ops, NULL, 0600);

static void fill(struct net *net, struct rds_core_info *info)
{
	struct rds_info_tcp_socket s = { .local_port = htons(16385) };

	rds_core_info_put(info, &s);
}

static int __init peer_init(void)
{
	int err = rds_core_transport_register(&peer);

	if (!err)
		rds_core_info_register(RDS_INFO_TCP_SOCKETS, sizeof(struct rds_info_tcp_socket), fill);
	return err;
}

static void __exit peer_exit(void)
{
	rds_core_info_unregister(RDS_INFO_TCP_SOCKETS);
	rds_core_transport_leave(&peer, &init_net);
	rds_core_transport_unregister(&peer);
}

module_init(peer_init);
module_exit(peer_exit);
MODULE_DESCRIPTION("Transport of RDS whose peer is the test");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(RDS_CORE);
