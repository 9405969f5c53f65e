// SPDX-License-Identifier: GPL-2.0
/*
 * rds-table ADDRESS ADDRESS6 [TRANSPORT]: makes each call of an RDS socket that can be answered in more
 * than one way, and prints "NAME ANSWER" for each: an errno by its name, or what the call returned. The
 * sockets are bound to ADDRESS, with the option SO_RDS_TRANSPORT if TRANSPORT is there.
 */
#include <net/if.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include "rds.h"

#define BAD		((void *)16)

static const char *address, *address6;
static int transport = -1;
static char big[MIB + 1];

static long set(int fd, int opt, const void *value, int len)
{
	return got(setsockopt(fd, SOL_RDS, opt, value, len));
}

static long set_int(int fd, int opt, int value)
{
	return set(fd, opt, &value, sizeof(value));
}

static int bound(int port)
{
	int fd = open_socket();
	long err;

	if (transport >= 0)
		set_int(fd, SO_RDS_TRANSPORT, transport);
	err = binds(fd, address, port, 16);
	if (err) {
		say("bound.%d", err, port);
		exit(1);
	}
	return fd;
}

static long sends(int fd, const char *addr, int port, size_t len, int flags)
{
	struct sockaddr_in sin = in4(addr ?: "0.0.0.0", port);

	return got(sendto(fd, big, len, flags, addr ? (void *)&sin : NULL, addr ? sizeof(sin) : 0));
}

static void sockets(void)
{
	int fd = open_socket(), pair[2];
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	say("socket.dgram", got(socket(AF_RDS, SOCK_DGRAM, 0)));
	say("socket.stream", got(socket(AF_RDS, SOCK_STREAM, 0)));
	say("socket.proto1", got(socket(AF_RDS, SOCK_SEQPACKET, 1)));
	say("socketpair", got(socketpair(AF_RDS, SOCK_SEQPACKET, 0, pair)));
	memset(&ss, 0xff, sizeof(ss));
	say("getsockname.unbound", got(getsockname(fd, (void *)&ss, &len)));
	say("getsockname.unbound.family", ss.ss_family);
	say("getsockname.unbound.len", len);
	len = sizeof(ss);
	say("getpeername.unconnected", got(getpeername(fd, (void *)&ss, &len)));
	say("listen", got(listen(fd, 1)));
	say("accept", got(accept(fd, NULL, NULL)));
	say("shutdown", got(shutdown(fd, SHUT_RDWR)));
	say("mmap", mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? -errno : 0);
	say("ioctl.fionread", got(ioctl(fd, 0x541b, &pair[0])));
	say("ioctl.tiocoutq", got(ioctl(fd, 0x5411, &pair[0])));
	say("ioctl.siocgstamp", got(ioctl(fd, 0x8906, &ss)));
	polls("poll.unbound", fd);
	say("send.unbound", sends(fd, address, 4000, 1, MSG_DONTWAIT));
	say("recv.unbound", got(recv(fd, big, 1, MSG_DONTWAIT)));
	close(fd);
}

static void binding(void)
{
	int fd = open_socket(), other;
	struct sockaddr_in sin = in4(address, 4000);
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (transport >= 0)
		set_int(fd, SO_RDS_TRANSPORT, transport);
	say("bind.len1", binds(fd, address, 4000, 1));
	say("bind.len15", binds(fd, address, 4000, 15));
	sin.sin_family = AF_UNIX;
	say("bind.family", got(bind(fd, (void *)&sin, sizeof(sin))));
	sin.sin_family = AF_UNSPEC;
	say("bind.unspec", got(bind(fd, (void *)&sin, sizeof(sin))));
	say("bind.any", binds(fd, "0.0.0.0", 4000, 16));
	say("bind.bcast", binds(fd, "255.255.255.255", 4000, 16));
	say("bind.mcast", binds(fd, "224.0.0.1", 4000, 16));
	say("bind.port1", binds(fd, address, 1, 16));
	say("bind.ok", binds(fd, address, 4000, 16));
	say("getsockname", got(getsockname(fd, (void *)&ss, &len)));
	say("getsockname.len", len);
	say("bind.again", binds(fd, address, 4001, 16));
	other = open_socket();
	if (transport >= 0)
		set_int(other, SO_RDS_TRANSPORT, transport);
	say("bind.inuse", binds(other, address, 4000, 16));
	say("bind.inuse.then", binds(other, address, 4002, 16));
	close(fd);
	fd = bound(4000);
	say("bind.reuse.after.close", 0);
	close(other);
	other = bound(0);
	len = sizeof(sin);
	getsockname(other, (void *)&sin, &len);
	say("bind.port0.port.ge2", ntohs(sin.sin_port) >= 2);
	close(other);
	close(fd);
	fd = open_socket();
	say("bind.len28", binds(fd, address, 4003, 28));
	close(fd);
	fd = open_socket();
	say("bind.foreign", binds(fd, "198.51.100.1", 4000, 16));
	if (transport >= 0)
		set_int(fd, SO_RDS_TRANSPORT, transport);
	if (transport >= 0)
		say("bind.foreign.preset", binds(fd, "198.51.100.1", 4000, 16));
	close(fd);
}

static void connecting(void)
{
	int fd = open_socket();
	struct sockaddr_in sin;
	socklen_t len = sizeof(sin);

	say("connect.any", connects(fd, "0.0.0.0", 4001, 16));
	say("connect.bcast", connects(fd, "255.255.255.255", 4001, 16));
	say("connect.mcast", connects(fd, "224.0.0.1", 4001, 16));
	say("connect.len15", connects(fd, address, 4001, 15));
	sin = in4(address, 4001);
	sin.sin_family = AF_UNIX;
	say("connect.family", got(connect(fd, (void *)&sin, sizeof(sin))));
	sin.sin_family = AF_UNSPEC;
	say("connect.unspec", got(connect(fd, (void *)&sin, sizeof(sin))));
	say("connect.ok", connects(fd, address, 4000, 16));
	say("connect.again", connects(fd, address, 4001, 16));
	say("getpeername", got(getpeername(fd, (void *)&sin, &len)));
	say("getpeername.port", ntohs(sin.sin_port));
	len = sizeof(sin);
	say("getsockname.connected", got(getsockname(fd, (void *)&sin, &len)));
	say("getsockname.connected.family", sin.sin_family);
	say("getsockname.connected.addr", sin.sin_addr.s_addr);
	say("send.connected.unbound", sends(fd, NULL, 0, 1, MSG_DONTWAIT));
	close(fd);
}

static void options_get(void)
{
	static const int opts[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 29, 63, 99 };
	int fd = open_socket(), value;
	socklen_t len;
	size_t i;

	for (i = 0; i < sizeof(opts) / sizeof(opts[0]); i++) {
		len = sizeof(value);
		say("get.%d", got(getsockopt(fd, SOL_RDS, opts[i], &value, &len)), opts[i]);
	}
	len = 2;
	say("get.5.len2", got(getsockopt(fd, SOL_RDS, RDS_RECVERR, &value, &len)));
	len = 2;
	say("get.8.len2", got(getsockopt(fd, SOL_RDS, SO_RDS_TRANSPORT, &value, &len)));
	len = sizeof(value);
	getsockopt(fd, SOL_RDS, SO_RDS_TRANSPORT, &value, &len);
	say("get.8.value.unbound.is.none", value == -1);
	len = 8;
	say("get.5.badptr", got(getsockopt(fd, SOL_RDS, RDS_RECVERR, BAD, &len)));
	close(fd);
	fd = bound(4000);
	len = sizeof(value);
	getsockopt(fd, SOL_RDS, SO_RDS_TRANSPORT, &value, &len);
	say("get.8.value.bound", value);
	value = 3000;
	say("set.sndbuf", got(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &value, sizeof(value))));
	len = sizeof(value);
	getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &value, &len);
	say("get.sndbuf.3000", value);
	value = 1;
	say("set.sol_socket.zerocopy", got(setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &value, sizeof(value))));
	say("setsockopt.other.level", got(setsockopt(fd, 99, 5, &value, sizeof(value))));
	len = sizeof(value);
	say("getsockopt.other.level", got(getsockopt(fd, 99, 5, &value, &len)));
	close(fd);
}

static void options_set(void)
{
	struct sockaddr_in sin = in4(address, 4001);
	int fd = open_socket(), value = 0;
	unsigned char trace[8] = { 3, 0, 1, 2 };
	char zero[200] = { 0 };
	socklen_t len;

	say("set.1.unbound", set(fd, RDS_CANCEL_SENT_TO, &sin, sizeof(sin)));
	say("set.2.unbound", set(fd, RDS_GET_MR, zero, 32));
	say("set.3.unbound", set(fd, RDS_FREE_MR, zero, 16));
	say("set.7.unbound", set(fd, RDS_GET_MR_FOR_DEST, zero, 160));
	say("set.4", set_int(fd, 4, 0));
	say("set.9", set_int(fd, 9, 0));
	say("set.99", set_int(fd, 99, 0));
	say("set.5.len3", set(fd, RDS_RECVERR, zero, 3));
	say("set.5", set_int(fd, RDS_RECVERR, 7));
	len = sizeof(value);
	getsockopt(fd, SOL_RDS, RDS_RECVERR, &value, &len);
	say("set.5.7.reads", value);
	say("set.5.badptr", set(fd, RDS_RECVERR, BAD, 4));
	say("set.6.len3", set(fd, RDS_CONG_MONITOR, zero, 3));
	say("set.6", set_int(fd, RDS_CONG_MONITOR, 1));
	say("set.6.len8", set(fd, RDS_CONG_MONITOR, zero, 8));
	say("set.8.3", set_int(fd, SO_RDS_TRANSPORT, 3));
	say("set.8.-1", set_int(fd, SO_RDS_TRANSPORT, -1));
	say("set.8.9", set_int(fd, SO_RDS_TRANSPORT, 9));
	say("set.8.len3", set(fd, SO_RDS_TRANSPORT, zero, 3));
	say("set.8.len8", set(fd, SO_RDS_TRANSPORT, zero, 8));
	say("set.8.gap", set_int(fd, SO_RDS_TRANSPORT, 1));
	if (transport >= 0) {
		say("set.8.own", set_int(fd, SO_RDS_TRANSPORT, transport));
		say("set.8.twice", set_int(fd, SO_RDS_TRANSPORT, transport));
	}
	say("set.10.len4", set(fd, SO_RDS_MSG_RXPATH_LATENCY, trace, 4));
	say("set.10.len3", set(fd, SO_RDS_MSG_RXPATH_LATENCY, trace, 3));
	trace[0] = 4;
	say("set.10.4", set(fd, SO_RDS_MSG_RXPATH_LATENCY, trace, 4));
	trace[0] = 1;
	trace[1] = 3;
	say("set.10.pos3", set(fd, SO_RDS_MSG_RXPATH_LATENCY, trace, 4));
	trace[1] = 255;
	say("set.10.pos255", set(fd, SO_RDS_MSG_RXPATH_LATENCY, trace, 4));
	say("set.29", set_int(fd, 29, 1));
	say("set.63", set_int(fd, 63, 1));
	say("set.29.len8", set(fd, 29, zero, 8));
	close(fd);

	fd = bound(4000);
	say("set.8.bound", set_int(fd, SO_RDS_TRANSPORT, 2));
	say("set.1.len15", set(fd, RDS_CANCEL_SENT_TO, &sin, 15));
	say("set.1.len0", set(fd, RDS_CANCEL_SENT_TO, NULL, 0));
	say("set.1.nobody", set(fd, RDS_CANCEL_SENT_TO, &sin, 16));
	say("set.1.badptr", set(fd, RDS_CANCEL_SENT_TO, BAD, 16));
	say("set.2.len31", set(fd, RDS_GET_MR, zero, 31));
	say("set.2.zero", set(fd, RDS_GET_MR, zero, 32));
	say("set.3.zero", set(fd, RDS_FREE_MR, zero, 16));
	zero[0] = 1;
	say("set.3.unknown", set(fd, RDS_FREE_MR, zero, 16));
	say("set.3.len15", set(fd, RDS_FREE_MR, zero, 15));
	say("set.7.len159", set(fd, RDS_GET_MR_FOR_DEST, zero, 159));
	say("set.7.zero", set(fd, RDS_GET_MR_FOR_DEST, zero, 160));
	close(fd);
}

static void tos(void)
{
	int fd = open_socket();
	unsigned char t = 5;

	say("ioctl.settos.unbound", got(ioctl(fd, SIOCRDSSETTOS, &t)));
	t = 9;
	say("ioctl.gettos.unbound", got(ioctl(fd, SIOCRDSGETTOS, &t)));
	say("ioctl.gettos.unbound.value", t);
	close(fd);
	fd = bound(4000);
	t = 5;
	say("ioctl.settos.efault", got(ioctl(fd, SIOCRDSSETTOS, BAD)));
	say("ioctl.settos", got(ioctl(fd, SIOCRDSSETTOS, &t)));
	say("ioctl.gettos", got(ioctl(fd, SIOCRDSGETTOS, &t)));
	say("ioctl.gettos.value", t);
	t = 5;
	say("ioctl.settos.again", got(ioctl(fd, SIOCRDSSETTOS, &t)));
	say("ioctl.gettos.efault", got(ioctl(fd, SIOCRDSGETTOS, BAD)));
	close(fd);
}

static void sending(void)
{
	static const struct { const char *name; int flag; } flags[] = {
		{ "oob", MSG_OOB }, { "dontroute", MSG_DONTROUTE }, { "eor", MSG_EOR }, { "more", MSG_MORE },
		{ "nosignal", MSG_NOSIGNAL }, { "confirm", MSG_CONFIRM }, { "fastopen", MSG_FASTOPEN },
		{ "peek", MSG_PEEK }, { "trunc", MSG_TRUNC }, { "waitall", MSG_WAITALL }, { "fin", MSG_FIN },
		{ "proxy", MSG_PROXY }, { "zerocopy", MSG_ZEROCOPY },
	};
	struct sockaddr_in sin = in4(address, 4999);
	struct timeval tv = { .tv_usec = 50000 };
	int fd = bound(4000), value = 3 * MIB;
	size_t i;

	polls("poll.bound", fd);
	say("send.nodest", sends(fd, NULL, 0, 1, MSG_DONTWAIT));
	say("send.len15", got(sendto(fd, big, 1, MSG_DONTWAIT, (void *)&sin, 15)));
	sin.sin_family = AF_UNIX;
	say("send.family", got(sendto(fd, big, 1, MSG_DONTWAIT, (void *)&sin, 16)));
	say("send.any", sends(fd, "0.0.0.0", 4999, 1, MSG_DONTWAIT));
	say("send.bcast", sends(fd, "255.255.255.255", 4999, 1, MSG_DONTWAIT));
	say("send.mcast", sends(fd, "224.0.0.1", 4999, 1, MSG_DONTWAIT));
	say("send.ok.nobody", sends(fd, address, 4999, 1, MSG_DONTWAIT));
	say("send.port1", sends(fd, address, 1, 1, MSG_DONTWAIT));
	say("send.empty", sends(fd, address, 4999, 0, MSG_DONTWAIT));
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		say("send.flag.%s", sends(fd, address, 4999, 1, MSG_DONTWAIT | flags[i].flag), flags[i].name);
	sin = in4(address, 4999);
	say("send.gt.sndbuf", sends(fd, address, 4999, 500000, MSG_DONTWAIT));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &value, sizeof(value));
	say("send.1m", sends(fd, address, 4999, MIB, MSG_DONTWAIT));
	say("send.1m+1", sends(fd, address, 4999, MIB + 1, MSG_DONTWAIT));
	say("send.badptr", got(sendto(fd, BAD, 100, MSG_DONTWAIT, (void *)&sin, sizeof(sin))));
	say("send.badptr.big", got(sendto(fd, BAD, 100000, MSG_DONTWAIT, (void *)&sin, sizeof(sin))));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	say("recv.rcvtimeo", got(recv(fd, big, 1, 0)));
	say("recv.oob", got(recv(fd, big, 1, MSG_OOB)));
	say("recv.errqueue", got(recv(fd, big, 1, MSG_ERRQUEUE)));
	close(fd);
}

/* A message with one control message of @len bytes of @data; @over is added to its length field. */
static long controls(int fd, int level, int type, const void *data, size_t len, long over)
{
	struct sockaddr_in sin = in4(address, 4999);
	struct iovec iov = { big, 1 };
	union {
		struct cmsghdr hdr;
		char bytes[256];
	} c = { 0 };
	struct msghdr m = {
		.msg_name = &sin, .msg_namelen = sizeof(sin), .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &c, .msg_controllen = CMSG_SPACE(len),
	};

	c.hdr.cmsg_level = level;
	c.hdr.cmsg_type = type;
	c.hdr.cmsg_len = CMSG_LEN(len) + over;
	memcpy(CMSG_DATA(&c.hdr), data, len);
	return got(sendmsg(fd, &m, MSG_DONTWAIT));
}

static void control(void)
{
	static unsigned long long data[32];
	struct rds_iovec vec[2] = { { (unsigned long)big, 200 }, { (unsigned long)big, 200 } };
	struct rds_rdma_args args = { .remote_vec.bytes = 300, .local_vec_addr = (unsigned long)vec, .nr_local = 1 };
	int fd = bound(4000);

	say("cmsg.other.level", controls(fd, SOL_SOCKET + 90, 1, data, 8, 0));
	say("cmsg.type99", controls(fd, SOL_RDS, 99, data, 8, 0));
	say("cmsg.type10", controls(fd, SOL_RDS, 10, data, 8, 0));
	say("cmsg.type11", controls(fd, SOL_RDS, RDS_CMSG_RXPATH_LATENCY, data, 8, 0));
	say("cmsg.len0", controls(fd, SOL_RDS, 2, data, 8, -(long)CMSG_LEN(8)));
	say("cmsg.long", controls(fd, SOL_RDS, 2, data, 8, 100));
	say("cmsg.other.long", controls(fd, 1, 2, data, 8, 100));
	say("cmsg.status", controls(fd, SOL_RDS, RDS_CMSG_RDMA_STATUS, data, 16, 0));
	say("cmsg.cong", controls(fd, SOL_RDS, RDS_CMSG_CONG_UPDATE, data, 8, 0));
	say("cmsg.args.short", controls(fd, SOL_RDS, RDS_CMSG_RDMA_ARGS, &args, 55, 0));
	say("cmsg.args.ok", controls(fd, SOL_RDS, RDS_CMSG_RDMA_ARGS, &args, 56, 0));
	args.nr_local = 2;
	say("cmsg.args.sum", controls(fd, SOL_RDS, RDS_CMSG_RDMA_ARGS, &args, 56, 0));
	vec[1].bytes = MIB;
	args.remote_vec.bytes = 4 * MIB;
	say("cmsg.args.big", controls(fd, SOL_RDS, RDS_CMSG_RDMA_ARGS, &args, 56, 0));
	args.remote_vec.bytes = 300;
	say("cmsg.args.local.big", controls(fd, SOL_RDS, RDS_CMSG_RDMA_ARGS, &args, 56, 0));
	vec[1].bytes = -1ULL;
	say("cmsg.args.wraps", controls(fd, SOL_RDS, RDS_CMSG_RDMA_ARGS, &args, 56, 0));
	args.nr_local = 0;
	say("cmsg.args.nr0", controls(fd, SOL_RDS, RDS_CMSG_RDMA_ARGS, &args, 56, 0));
	args.nr_local = 1025;
	say("cmsg.args.nr1025", controls(fd, SOL_RDS, RDS_CMSG_RDMA_ARGS, &args, 56, 0));
	args.nr_local = 1ULL << 32;
	say("cmsg.args.nr2^32", controls(fd, SOL_RDS, RDS_CMSG_RDMA_ARGS, &args, 56, 0));
	args.nr_local = 1;
	args.local_vec_addr = 16;
	say("cmsg.args.badptr", controls(fd, SOL_RDS, RDS_CMSG_RDMA_ARGS, &args, 56, 0));
	say("cmsg.dest.unknown", controls(fd, SOL_RDS, RDS_CMSG_RDMA_DEST, data, 8, 0));
	say("cmsg.dest.short", controls(fd, SOL_RDS, RDS_CMSG_RDMA_DEST, data, 7, 0));
	say("cmsg.map.short", controls(fd, SOL_RDS, RDS_CMSG_RDMA_MAP, data, 31, 0));
	say("cmsg.map.zero", controls(fd, SOL_RDS, RDS_CMSG_RDMA_MAP, data, 32, 0));
	say("cmsg.fadd.short", controls(fd, SOL_RDS, RDS_CMSG_ATOMIC_FADD, data, 71, 0));
	data[1] = 4;
	say("cmsg.fadd.unaligned", controls(fd, SOL_RDS, RDS_CMSG_ATOMIC_FADD, data, 72, 0));
	data[1] = (unsigned long)&data[20];
	say("cmsg.fadd.ok", controls(fd, SOL_RDS, RDS_CMSG_ATOMIC_FADD, data, 72, 0));
	say("cmsg.cswp.ok", controls(fd, SOL_RDS, RDS_CMSG_MASKED_ATOMIC_CSWP, data, 72, 0));
	say("cmsg.zcopy.noflag", controls(fd, SOL_RDS, RDS_CMSG_ZCOPY_COOKIE, data, 4, 0));
	close(fd);
}

static void info(void)
{
	int fd = open_socket(), other = bound(4000), opt;
	socklen_t len;

	for (opt = 10000; opt <= 10021; opt++) {
		len = 0;
		say("info.%d.len0", got(getsockopt(fd, SOL_RDS, opt, big, &len)), opt);
		len = sizeof(big);
		say("info.%d.size", got(getsockopt(fd, SOL_RDS, opt, big, &len)), opt);
	}
	len = 100;
	say("info.counters.short", got(getsockopt(fd, SOL_RDS, RDS_INFO_COUNTERS, big, &len)));
	say("info.counters.short.len.divides", len % 40 == 0 && len >= 36 * 40);
	len = -1;
	say("info.negative", got(getsockopt(fd, SOL_RDS, RDS_INFO_COUNTERS, big, &len)));
	len = sizeof(big);
	say("info.badptr", got(getsockopt(fd, SOL_RDS, RDS_INFO_COUNTERS, BAD, &len)));
	close(other);
	close(fd);
}

static void version6(void)
{
	struct sockaddr_storage ss;
	struct sockaddr_in6 sin;
	socklen_t len = sizeof(ss);
	int fd = open_socket();

	if (transport >= 0)
		set_int(fd, SO_RDS_TRANSPORT, transport);
	say("v6.len24", binds6(fd, address6, 4000, 24));
	say("v6.len27", binds6(fd, address6, 4000, 27));
	say("v6.any", binds6(fd, "::", 4000, 28));
	say("v6.mcast", binds6(fd, "ff02::1", 4000, 28));
	say("v6.linklocal.noscope", binds6(fd, "fe80::1", 4000, 28));
	say("v6.mapped.any", binds6(fd, "::ffff:0.0.0.0", 4000, 28));
	say("v6.mapped.mcast", binds6(fd, "::ffff:224.0.0.1", 4000, 28));
	say("v6.bind", binds6(fd, address6, 4000, 28));
	memset(&ss, 0xff, sizeof(ss));
	say("v6.getsockname", got(getsockname(fd, (void *)&ss, &len)));
	say("v6.getsockname.len", len);
	say("v6.getsockname.family", ss.ss_family);
	say("v6.send.v4", sends(fd, address, 4000, 1, MSG_DONTWAIT));
	sin = in6(address6, 4000);
	say("v6.send.self", got(sendto(fd, "abc", 3, MSG_DONTWAIT, (void *)&sin, sizeof(sin))));
	len = sizeof(ss);
	memset(&ss, 0xff, sizeof(ss));
	say("v6.recv", got(recvfrom(fd, big, 10, 0, (void *)&ss, &len)));
	say("v6.recv.family", ss.ss_family);
	say("v6.recv.len", len);
	say("v6.recv.port", ntohs(((struct sockaddr_in6 *)&ss)->sin6_port));
	sin = in6("::", 4000);
	say("v6.connect.any", got(connect(fd, (void *)&sin, sizeof(sin))));
	sin = in6("ff02::1", 4000);
	say("v6.connect.mcast", got(connect(fd, (void *)&sin, sizeof(sin))));
	sin = in6("::ffff:224.0.0.1", 4000);
	say("v6.connect.mapped.mcast", got(connect(fd, (void *)&sin, sizeof(sin))));
	sin = in6("fe80::1", 4000);
	say("v6.connect.linklocal.noscope", got(connect(fd, (void *)&sin, sizeof(sin))));
	sin = in6(address6, 4000);
	say("v6.connect.len27", got(connect(fd, (void *)&sin, 27)));
	say("v6.connect", got(connect(fd, (void *)&sin, 28)));
	close(fd);
	fd = bound(4001);
	sin = in6(address6, 4000);
	say("v6.from.v4", got(sendto(fd, "abc", 3, MSG_DONTWAIT, (void *)&sin, sizeof(sin))));
	close(fd);
	fd = open_socket();
	snprintf(big, 60, "::ffff:%s", address);
	sin = in6(big, 4002);
	say("v6.bind.mapped", got(bind(fd, (void *)&sin, sizeof(sin))));
	len = sizeof(ss);
	getsockname(fd, (void *)&ss, &len);
	say("v6.bind.mapped.family", ss.ss_family);
	close(fd);
	fd = open_socket();
	sin = in6("2001:db8::1", 4000);
	say("v6.foreign", got(bind(fd, (void *)&sin, sizeof(sin))));
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	address = argv[1];
	address6 = argv[2];
	if (argc > 3)
		transport = atoi(argv[3]);
	signal(SIGALRM, SIG_DFL);
	alarm(60);
	sockets();
	binding();
	connecting();
	options_get();
	options_set();
	tos();
	sending();
	control();
	info();
	version6();
	return 0;
}
