// SPDX-License-Identifier: GPL-2.0
/*
 * rds-talk ADDRESS [TRANSPORT]: sockets of RDS talk to each other on this host; prints what each
 * step of the talk answered, "NAME ANSWER", as rds-table does. Times, port numbers and what depends on them
 * are not printed.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include "rds.h"

static const char *address;
static int transport = -1;
static unsigned char out[MIB], in[MIB + 1];

static int bound(int port)
{
	struct sockaddr_in sin = in4(address, port);
	int fd = socket(AF_RDS, SOCK_SEQPACKET, 0);
	struct timeval tv = { .tv_sec = 20 };

	if (transport >= 0)
		setsockopt(fd, SOL_RDS, SO_RDS_TRANSPORT, &transport, sizeof(transport));
	if (bind(fd, (void *)&sin, sizeof(sin))) {
		say("bound.%d", -errno, port);
		exit(1);
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	return fd;
}

static long sends(int fd, int port, size_t len, int flags)
{
	struct sockaddr_in sin = in4(address, port);

	return got(sendto(fd, out, len, flags, (void *)&sin, sizeof(sin)));
}

/* One message, with all that came with it */
static long receives(const char *name, int fd, size_t len, int flags)
{
	struct iovec iov = { in, len };
	char bytes[512];
	struct sockaddr_storage ss;
	struct msghdr m = {
		.msg_name = &ss, .msg_namelen = sizeof(ss), .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = bytes, .msg_controllen = sizeof(bytes),
	};
	struct cmsghdr *c;
	long ret;

	memset(&ss, 0xff, sizeof(ss));
	memset(in, 0, len);
	ret = got(recvmsg(fd, &m, flags));
	say("%s", ret, name);
	if (ret < 0)
		return ret;
	printf("%s.flags %#x\n", name, m.msg_flags);
	printf("%s.name %u family %u port %u\n", name, m.msg_namelen, m.msg_namelen ? ss.ss_family : 0,
	       m.msg_namelen ? ntohs(((struct sockaddr_in *)&ss)->sin_port) : 0);
	for (c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		printf("%s.cmsg level %d type %d len %zu\n", name, c->cmsg_level, c->cmsg_type,
		       (size_t)c->cmsg_len - CMSG_LEN(0));
		if (c->cmsg_level == SOL_RDS && c->cmsg_type == RDS_CMSG_RXPATH_LATENCY)
			printf("%s.latency %d: %d %d %d\n", name, CMSG_DATA(c)[0], CMSG_DATA(c)[1],
			       CMSG_DATA(c)[2], CMSG_DATA(c)[3]);
		if (c->cmsg_level == SOL_RDS && c->cmsg_type == RDS_CMSG_CONG_UPDATE)
			printf("%s.mask %#llx\n", name, *(unsigned long long *)CMSG_DATA(c));
		if (c->cmsg_level == SOL_RDS && c->cmsg_type == RDS_CMSG_ZCOPY_COMPLETION)
			printf("%s.zcopy %u: %u %u\n", name, ((unsigned int *)CMSG_DATA(c))[0],
			       ((unsigned int *)CMSG_DATA(c))[1], ((unsigned int *)CMSG_DATA(c))[2]);
	}
	return ret;
}

static void messages(void)
{
	static const int sizes[] = { 0, 1, 4095, 4096, 4097, 65536, 1000000 };
	int a = bound(4000), b = bound(4001);
	size_t i;

	must_set(a, SOL_SOCKET, SO_SNDBUFFORCE, 3 * MIB);
	must_set(b, SOL_SOCKET, SO_RCVBUFFORCE, 3 * MIB);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		say("size.%d", sends(a, 4001, sizes[i], 0), sizes[i]);
		await(b, POLLIN);
		receives("size.recv", b, sizeof(in), 0);
		say("size.same", !memcmp(in, out, sizes[i]));
	}
	sends(a, 4001, 100, 0);
	await(b, POLLIN);
	say("poll.queued", polled(b) & POLLIN);
	receives("peek", b, 10, MSG_PEEK);
	receives("peek.trunc", b, 10, MSG_PEEK | MSG_TRUNC);
	receives("trunc", b, 10, 0);
	receives("trunc.rest", b, 10, MSG_DONTWAIT);
	sends(a, 4001, 5, 0);
	await(b, POLLIN);
	say("recv.badptr", got(recv(b, (void *)16, 5, 0)));
	receives("recv.badptr.then", b, 10, MSG_DONTWAIT);
	/* to oneself */
	say("self", sends(a, 4000, 7, 0));
	await(a, POLLIN);
	receives("self.recv", a, 10, 0);
	close(a);
	close(b);
}

static void order(void)
{
	int a = bound(4000), b = bound(4001), i, n, bad = 0;
	struct sockaddr_in sin = in4(address, 4001);

	for (i = 0; i < 1000; i++) {
		if (sendto(a, &i, sizeof(i), 0, (void *)&sin, sizeof(sin)) != sizeof(i))
			bad++;
		if (i % 10 < 5)
			continue;
		if (recv(b, &n, sizeof(n), 0) != sizeof(n) || n != i / 10 * 5 + i % 10 - 5)
			bad++;
	}
	for (i = 500; i < 1000; i++)
		if (recv(b, &n, sizeof(n), 0) != sizeof(n) || n != i)
			bad++;
	say("order.bad", bad);
	close(a);
	close(b);
}

static void ping(void)
{
	int a = bound(4000);

	say("ping", sends(a, 0, 0, 0));
	await(a, POLLIN);
	receives("pong", a, 10, 0);
	say("ping.payload", sends(a, 0, 5000, 0));
	await(a, POLLIN);
	receives("pong.payload", a, 10, 0);
	close(a);
}

static void stamps(void)
{
	int a = bound(4000), b = bound(4001);
	unsigned char trace[4] = { 2, 2, 0, 0 };

	must_set(b, SOL_SOCKET, SO_TIMESTAMP, 1);
	sends(a, 4001, 1, 0);
	await(b, POLLIN);
	receives("stamp.socket", b, 10, 0);
	must_set(b, SOL_SOCKET, SO_TIMESTAMP, 0);
	must_set(b, SOL_RDS, 63, 1);
	sends(a, 4001, 1, 0);
	await(b, POLLIN);
	receives("stamp.new", b, 10, 0);
	must_set(b, SOL_RDS, 29, 1);
	sends(a, 4001, 1, 0);
	await(b, POLLIN);
	receives("stamp.old", b, 10, 0);
	must_set(b, SOL_RDS, 29, 0);
	sends(a, 4001, 1, 0);
	await(b, POLLIN);
	receives("stamp.off", b, 10, 0);
	setsockopt(b, SOL_RDS, SO_RDS_MSG_RXPATH_LATENCY, trace, 4);
	sends(a, 4001, 1, 0);
	await(b, POLLIN);
	receives("latency", b, 10, 0);
	trace[0] = 0;
	setsockopt(b, SOL_RDS, SO_RDS_MSG_RXPATH_LATENCY, trace, 4);
	sends(a, 4001, 1, 0);
	await(b, POLLIN);
	receives("latency.off", b, 10, 0);
	close(a);
	close(b);
}

/* Until the peer has said that its port is congested: how many messages went */
static int fill(int fd)
{
	long ret;
	int sent = 0;

	while ((ret = sends(fd, 4001, 1000, MSG_DONTWAIT)) != -ENOBUFS)
		sent += ret >= 0;
	return sent;
}

static void drain(int fd, int messages)
{
	while (messages--)
		recv(fd, in, 1000, 0);
}

/* Asks again and again: who was told of congestion once is not woken by the kernel's own module when it ends */
static int polled_in(int fd)
{
	int events;

	do
		events = polled(fd);
	while (!(events & POLLIN));
	return events;
}

/* Only where the transport is not the loop; that is never congested in the kernel's */
static void congestion(void)
{
	int a = bound(4000), b = bound(4001), sent;

	must_set(b, SOL_SOCKET, SO_RCVBUF, 2304);
	polled(a);
	sent = fill(a);
	say("cong.poll.congested", polled_in(a));
	say("cong.poll.again", polled(a));
	drain(b, sent);
	say("cong.poll.freed", polled_in(a));
	receives("cong.recv", a, 10, MSG_DONTWAIT);
	say("cong.send.then", sends(a, 4001, 1000, MSG_DONTWAIT));
	must_set(a, SOL_RDS, RDS_CONG_MONITOR, 1);
	sent = fill(a);
	say("monitor.poll.congested", polled(a));
	drain(b, 1 + sent);
	await(a, POLLIN);
	say("monitor.poll.freed", polled(a));
	receives("monitor.recv", a, 10, MSG_DONTWAIT);
	receives("monitor.recv.again", a, 10, MSG_DONTWAIT);
	fill(a);
	close(b);
	await(a, POLLIN);
	say("monitor.poll.closed", polled(a));
	close(a);
}

static long zsend(int fd, unsigned int cookie, size_t len, int flags, int with)
{
	struct sockaddr_in sin = in4(address, 4001);
	struct iovec iov = { out + 100, len };
	union {
		struct cmsghdr hdr;
		char bytes[CMSG_SPACE(4)];
	} c = { 0 };
	struct msghdr m = { .msg_name = &sin, .msg_namelen = sizeof(sin), .msg_iov = &iov, .msg_iovlen = 1 };

	c.hdr.cmsg_level = SOL_RDS;
	c.hdr.cmsg_type = RDS_CMSG_ZCOPY_COOKIE;
	c.hdr.cmsg_len = CMSG_LEN(4);
	memcpy(CMSG_DATA(&c.hdr), &cookie, 4);
	if (with) {
		m.msg_control = &c;
		m.msg_controllen = sizeof(c);
	}
	return got(sendmsg(fd, &m, flags));
}

static void zerocopy(void)
{
	int a = bound(4000), b = bound(4001);

	say("zcopy.unset.with", zsend(a, 1, 10, MSG_ZEROCOPY | MSG_DONTWAIT, 1));
	say("zcopy.unset.without", zsend(a, 1, 10, MSG_ZEROCOPY | MSG_DONTWAIT, 0));
	must_set(a, SOL_SOCKET, SO_ZEROCOPY, 1);
	say("zcopy.without", zsend(a, 1, 10, MSG_ZEROCOPY | MSG_DONTWAIT, 0));
	say("zcopy.noflag", zsend(a, 1, 10, MSG_DONTWAIT, 1));
	say("zcopy.empty", zsend(a, 6, 0, MSG_ZEROCOPY | MSG_DONTWAIT, 1));
	while (recv(b, in, 10, MSG_DONTWAIT) >= 0)
		;
	while (recv(a, in, 10, MSG_DONTWAIT) >= 0)
		;
	if (zsend(a, 7, 50000, MSG_ZEROCOPY | MSG_DONTWAIT, 1) != 50000) {
		say("zcopy.send", -errno);
		close(a);
		close(b);
		return;
	}
	await(b, POLLIN);
	receives("zcopy.peer", b, sizeof(in), 0);
	say("zcopy.same", !memcmp(in, out + 100, 50000));
	await(a, POLLIN);
	say("zcopy.poll", polled(a));
	receives("zcopy.done", a, 10, MSG_DONTWAIT);
	receives("zcopy.done.then", a, 10, MSG_DONTWAIT);
	close(a);
	close(b);
}

/* Lists whose contents are known: sockets and connections of our own, what waits to be read */
static void info(void)
{
	int a = bound(4000), b = bound(4001), opt, size;
	struct sockaddr_in sin = in4(address, 4001);
	struct stat st;
	socklen_t len;
	unsigned int i;

	connect(a, (void *)&sin, sizeof(sin));
	for (i = 0; i < 3; i++)
		sends(a, 4001, 10 + i, 0);
	await(b, POLLIN);
	fstat(a, &st);
	len = sizeof(in);
	size = getsockopt(a, SOL_RDS, RDS_INFO_SOCKETS, in, &len);
	for (i = 0; i < len / size; i++) {
		struct rds_info_socket *s = (void *)(in + i * size);

		if (s->inum == st.st_ino)
			printf("info.socket %d %d %d %d sndbuf %u rcvbuf %u\n", s->bound_addr == sin.sin_addr.s_addr,
			       ntohs(s->bound_port), s->connected_addr == sin.sin_addr.s_addr,
			       ntohs(s->connected_port), s->sndbuf, s->rcvbuf);
	}
	for (opt = 0; opt < 2; opt++) {
		len = sizeof(in);
		size = getsockopt(a, SOL_RDS, opt ? RDS6_INFO_RECV_MESSAGES : RDS_INFO_RECV_MESSAGES, in, &len);
		printf("info.recv %d bytes in all %u\n", size, len);
		for (i = 0; i < len / size; i++) {
			struct rds_info_message *s = (void *)(in + i * size);
			struct rds6_info_message *t = (void *)(in + i * size);

			if (opt)
				printf("info6.recv len %u %d %d ports %u %u flags %u tos %u\n", t->len,
				       t->laddr.s6_addr32[3] == sin.sin_addr.s_addr,
				       t->faddr.s6_addr32[3] == sin.sin_addr.s_addr, ntohs(t->lport),
				       ntohs(t->fport), t->flags, t->tos);
			else
				printf("info.recv len %u %d %d ports %u %u flags %u tos %u\n", s->len,
				       s->laddr == sin.sin_addr.s_addr, s->faddr == sin.sin_addr.s_addr,
				       ntohs(s->lport), ntohs(s->fport), s->flags, s->tos);
		}
	}
	len = sizeof(in);
	size = getsockopt(a, SOL_RDS, RDS_INFO_CONNECTIONS, in, &len);
	for (i = 0; i < len / size; i++) {
		struct rds_info_connection *c = (void *)(in + i * size);

		if (c->laddr == sin.sin_addr.s_addr && c->faddr == sin.sin_addr.s_addr)
			printf("info.connection %d %s flags %u tos %u\n", size, c->transport, c->flags, c->tos);
	}
	close(a);
	close(b);
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc < 2)
		return 2;
	/* What it asks for again and again may never come */
	alarm(120);
	address = argv[1];
	if (argc > 2)
		transport = atoi(argv[2]);
	for (i = 0; i < sizeof(out); i++)
		out[i] = i * 7 + i / 256;
	alarm(60);
	messages();
	order();
	ping();
	stamps();
	if (transport >= 0)
		congestion();
	zerocopy();
	info();
	return 0;
}
