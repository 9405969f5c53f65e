// SPDX-License-Identifier: GPL-2.0
/*
 * rds-net NAME: what RDS sockets do with a peer that is slow, gone, or congested; tests/vm/rds/rds-peer.c is the peer.
 * Prints "NAME ANSWER" for each step.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include "rds.h"

#define OWN	"10.9.0.1"
#define PEER	"10.9.0.2"

static unsigned char buf[MIB], in[MIB];

static int bound_to(const char *addr, int port)
{
	struct sockaddr_in sin = in4(addr, port);
	int fd = socket(AF_RDS, SOCK_SEQPACKET, 0);

	if (bind(fd, (void *)&sin, sizeof(sin))) {
		say("bind", -errno);
		exit(1);
	}
	return fd;
}

static int bound(int port)
{
	return bound_to(OWN, port);
}

static long sends(int fd, const char *addr, int port, size_t len, int flags)
{
	struct sockaddr_in sin = in4(addr, port);

	return got(sendto(fd, buf, len, flags, (void *)&sin, sizeof(sin)));
}

static void param(const char *name, const char *text)
{
	char path[100];
	int fd;

	snprintf(path, sizeof(path), "/sys/module/rds_peer/parameters/%s", name);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		say("%s", -errno, path);
	close(fd);
}

static void peer(const char *what)
{
	param("peer", what);
}

/* How many messages a list has; the first of them in in[] */
static int listed(int fd, int list)
{
	socklen_t len = sizeof(in);
	int size = getsockopt(fd, SOL_RDS, list, in, &len);

	return size > 0 ? (int)len / size : -errno;
}

/* As long as the list has not so many, for the worker may be on its way */
static void await_listed(const char *name, int fd, int list, int want)
{
	int i;

	for (i = 0; i < 20000 && listed(fd, list) != want; i++)
		usleep(1000);
	say("%s", listed(fd, list), name);
}

static void echo(void)
{
	static const int sizes[] = { 0, 1, 1024, 1025, 4096, 100000 };
	int fd = bound(4000);
	size_t i, j;

	for (j = 0; j < sizeof(buf); j++)
		buf[j] = j * 3 + j / 256;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		say("echo.send", sends(fd, PEER, 5000, sizes[i], 0));
		await(fd, POLLIN);
		memset(in, 0, sizeof(in));
		say("echo.recv", got(recv(fd, in, sizeof(in), 0)));
		say("echo.same", !memcmp(buf, in, sizes[i]));
	}
	peer("old");
	say("echo.duplicate", got(recv(fd, in, 1, MSG_DONTWAIT)));
	peer("ping 5000");
	peer("ping 0");
	peer("probe");
	close(fd);
}

/* The peer takes nothing, or says nothing: the send list fills up. */
static void queue(void)
{
	int fd = bound(4000), n = 0;
	long ret;

	must_set(fd, SOL_SOCKET, SO_SNDBUF, 2304);
	peer("hold");
	param("log", "");
	while ((ret = sends(fd, PEER, 5000, 1000, MSG_DONTWAIT)) == 1000)
		n++;
	say("queue.sent", n);
	say("queue.full", ret);
	say("queue.poll", polled(fd));
	await_listed("queue.retrans", fd, RDS_INFO_RETRANS_MESSAGES, n);
	say("queue.address", ((struct rds_info_message *)in)->faddr == in4(PEER, 0).sin_addr.s_addr);
	say("queue.retrans6", listed(fd, RDS6_INFO_RETRANS_MESSAGES));
	say("queue.send", listed(fd, RDS_INFO_SEND_MESSAGES));
	say("queue.send6", listed(fd, RDS6_INFO_SEND_MESSAGES));
	set_ms(fd, SO_SNDTIMEO, 30);
	say("queue.sndtimeo", sends(fd, PEER, 5000, 1000, 0));
	set_ms(fd, SO_SNDTIMEO, 0);
	alarm_ms(30);
	say("queue.signal", sends(fd, PEER, 5000, 1000, 0));
	peer("ack");
	say("queue.acked", await(fd, POLLOUT));
	say("queue.then", sends(fd, PEER, 5000, 1000, MSG_DONTWAIT));
	close(fd);
}

/* While it waits for room, the message before goes */
static void *acks(void *arg)
{
	(void)arg;
	usleep(20000);
	peer("ack");
	return NULL;
}

static void room(void)
{
	int fd = bound(4000);
	pthread_t t;

	must_set(fd, SOL_SOCKET, SO_SNDBUF, 2304);
	peer("hold");
	while (sends(fd, PEER, 5000, 1000, MSG_DONTWAIT) == 1000)
		;
	pthread_create(&t, NULL, acks, NULL);
	say("room.blocking", sends(fd, PEER, 5000, 1000, 0));
	pthread_join(t, NULL);
	close(fd);
}

static void cancel(void)
{
	struct sockaddr_in sin = in4(PEER, 5000);
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6, .sin6_port = htons(5001) };
	int fd = bound(4000), i;

	inet_pton(AF_INET6, "::ffff:" PEER, &sin6.sin6_addr);
	peer("stall");
	param("log", "");
	for (i = 0; i < 6; i++)
		sends(fd, PEER, 5000 + i % 2, 1000, MSG_DONTWAIT);
	say("cancel", got(setsockopt(fd, SOL_RDS, RDS_CANCEL_SENT_TO, &sin, sizeof(sin))));
	await_listed("cancel.left", fd, RDS_INFO_SEND_MESSAGES, 3);
	say("cancel.v6", got(setsockopt(fd, SOL_RDS, RDS_CANCEL_SENT_TO, &sin6, sizeof(sin6))));
	await_listed("cancel.v6.left", fd, RDS_INFO_SEND_MESSAGES, 0);
	say("cancel.poll", polled(fd));
	sends(fd, PEER, 5000, 1000, MSG_DONTWAIT);
	close(fd);
	fd = bound(4000);
	say("close.left", listed(fd, RDS_INFO_SEND_MESSAGES));
	peer("echo");
	say("cancel.then", sends(fd, PEER, 5000, 9, 0));
	say("cancel.then.in", await(fd, POLLIN));
	close(fd);
}

/* The path breaks: what was not acknowledged comes again, in order, before the rest. */
static void again(void)
{
	int fd = bound(4000), i;

	peer("hold");
	for (i = 0; i < 3; i++)
		sends(fd, PEER, 5000, 10 + i, 0);
	await_listed("again.held", fd, RDS_INFO_RETRANS_MESSAGES, 3);
	peer("silent");
	param("log", "");
	peer("drop");
	await_listed("again.queued", fd, RDS_INFO_SEND_MESSAGES, 3);
	sends(fd, PEER, 5000, 20, 0);
	say("again.with.new", listed(fd, RDS_INFO_SEND_MESSAGES));
	/* CONNECTING and broken: once more */
	peer("drop");
	peer("refuse");
	peer("drop");
	await_listed("again.still", fd, RDS_INFO_SEND_MESSAGES, 4);
	peer("echo");
	peer("connect");
	for (i = 0; i < 4; i++) {
		await(fd, POLLIN);
		say("again.recv", got(recv(fd, in, sizeof(in), MSG_DONTWAIT)));
	}
	peer("break");
	sends(fd, PEER, 5000, 30, 0);
	peer("echo");
	await(fd, POLLIN);
	say("again.broken", got(recv(fd, in, sizeof(in), MSG_DONTWAIT)));
	close(fd);
}

/* The peer's port is congested. */
static void *frees(void *arg)
{
	(void)arg;
	usleep(20000);
	peer("free");
	return NULL;
}

static void congested(void)
{
	int fd = bound(4000), other = bound(4001);
	pthread_t t;

	peer("echo");
	sends(fd, PEER, 5000, 1, 0);
	await(fd, POLLIN);
	recv(fd, in, 1, 0);
	say("congested.fresh.poll", polled(other));
	peer("congested 5000");
	say("congested.nonblock", sends(fd, PEER, 5000, 1, MSG_DONTWAIT));
	say("congested.other.port", sends(fd, PEER, 5001, 1, MSG_DONTWAIT));
	recv(fd, in, 1, 0);
	set_ms(fd, SO_SNDTIMEO, 30);
	say("congested.sndtimeo", sends(fd, PEER, 5000, 1, 0));
	set_ms(fd, SO_SNDTIMEO, 0);
	alarm_ms(30);
	say("congested.signal", sends(fd, PEER, 5000, 1, 0));
	polled(fd);
	pthread_create(&t, NULL, frees, NULL);
	say("congested.poll.wakes", await(fd, POLLIN | POLLWRBAND));
	pthread_join(t, NULL);
	peer("congested 5000");
	pthread_create(&t, NULL, frees, NULL);
	say("congested.blocking", sends(fd, PEER, 5000, 1, 0));
	pthread_join(t, NULL);
	close(fd);
	close(other);
}

/* Loop sockets are congested late: nobody fills the memory. */
static void flood(void)
{
	int a = bound_to("127.0.0.1", 4000), b = bound_to("127.0.0.1", 4001), n = 0;

	must_set(b, SOL_SOCKET, SO_RCVBUF, 2304);
	while (n < 1000) {
		struct sockaddr_in sin = in4("127.0.0.1", 4001);

		if (sendto(a, buf, 1000, MSG_DONTWAIT, (void *)&sin, sizeof(sin)) != 1000)
			break;
		n++;
	}
	say("flood.sent", n);
	say("flood.errno", -errno);
	while (recv(b, in, 1000, MSG_DONTWAIT) == 1000)
		;
	say("flood.freed", await(a, POLLIN | POLLWRBAND));
	close(a);
	close(b);
}

/* Many addresses of this host: connections of the loop do not pile up. */
static void many(void)
{
	int fd = bound_to("127.0.0.1", 4000), i;
	char addr[20];

	for (i = 0; i < 5000; i++) {
		snprintf(addr, sizeof(addr), "127.1.%d.%d", i / 250, i % 250 + 1);
		sends(fd, addr, 4001, 0, MSG_DONTWAIT);
	}
	say("many.bounded", listed(fd, RDS_INFO_CONNECTIONS) <= 4100);
	close(fd);
}

static volatile bool stop;

static void *hammer(void *arg)
{
	int *fd = arg;

	while (!stop) {
		sends(*fd, "127.0.0.1", 4001, 10, MSG_DONTWAIT);
		sched_yield();
	}
	return NULL;
}

/* Sockets are bound, in vain or not, and closed, while others send to and from them. */
static void churn(void)
{
	int i, fd, a = bound_to("127.0.0.1", 4000);
	struct sockaddr_in good = in4("127.0.0.1", 4001), bad = in4("198.51.100.1", 4001);
	pthread_t t, u;

	pthread_create(&t, NULL, hammer, &a);
	pthread_create(&u, NULL, hammer, &fd);
	for (i = 0; i < 1500; i++) {
		fd = socket(AF_RDS, SOCK_SEQPACKET, 0);
		if (i % 3 == 0)
			bind(fd, (void *)&bad, sizeof(bad));
		bind(fd, (void *)&good, sizeof(good));
		sends(fd, "127.0.0.1", 4000, 10, MSG_DONTWAIT);
		sched_yield();
		recv(a, in, 10, MSG_DONTWAIT);
		close(fd);
	}
	stop = true;
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	close(a);
	say("churn", 0);
}

/* Addresses of the kernel where memory of the application should be */
static void pointers(void)
{
	void *kernel = (void *)0xffff888000000000;
	int a = bound_to("127.0.0.1", 4000);
	struct sockaddr_in sin = in4("127.0.0.1", 4000);
	struct iovec iov = { kernel, 10 };
	struct msghdr m = { .msg_name = &sin, .msg_namelen = sizeof(sin), .msg_iov = &iov, .msg_iovlen = 1 };
	unsigned char name[128];
	socklen_t len;
	size_t i;
	int sizes[] = { 0, 1, 15, 16, 28, 128 };

	say("pointers.send", got(sendmsg(a, &m, MSG_DONTWAIT)));
	say("pointers.self", sends(a, "127.0.0.1", 4000, 10, 0));
	say("pointers.recv", got(recvmsg(a, &m, MSG_DONTWAIT)));
	say("pointers.set", got(setsockopt(a, SOL_RDS, RDS_RECVERR, kernel, 4)));
	len = 4;
	say("pointers.get", got(getsockopt(a, SOL_RDS, RDS_RECVERR, kernel, &len)));
	len = sizeof(in);
	say("pointers.info", got(getsockopt(a, SOL_RDS, RDS_INFO_COUNTERS, kernel, &len)));
	must_set(a, SOL_SOCKET, SO_TIMESTAMP, 1);
	recv(a, in, 10, MSG_DONTWAIT);
	sends(a, "127.0.0.1", 4000, 10, 0);
	iov.iov_base = in;
	m.msg_control = (void *)16;
	m.msg_controllen = 100;
	say("pointers.control", got(recvmsg(a, &m, MSG_DONTWAIT)));
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		memset(name, 0xa5, sizeof(name));
		len = sizes[i];
		recvfrom(a, in, 10, MSG_DONTWAIT | MSG_PEEK, (void *)name, &len);
		say("pointers.name.len", len);
		say("pointers.name.beyond", sizes[i] < 128 ? name[sizes[i] < 16 ? sizes[i] : 16] : name[16]);
	}
	say("pointers.kept", got(recv(a, in, 10, MSG_DONTWAIT)));
	close(a);
}

/* Every byte of every list is defined: two looks with other patterns below tell the same. */
static void defined(void)
{
	static unsigned char other[MIB];
	int a = bound(4000), list, fd6 = socket(AF_RDS, SOCK_SEQPACKET, 0);
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6, .sin6_port = htons(4002) };

	inet_pton(AF_INET6, "fd09::1", &sin6.sin6_addr);
	bind(fd6, (void *)&sin6, sizeof(sin6));
	sendto(fd6, buf, 5, 0, (void *)&sin6, sizeof(sin6));
	peer("hold");
	sends(a, PEER, 5000, 10, 0);
	sends(a, OWN, 4000, 10, 0);
	await_listed("defined.held", a, RDS_INFO_RETRANS_MESSAGES, 1);
	for (list = RDS_INFO_CONNECTIONS; list <= RDS_INFO_LAST; list++) {
		socklen_t len = sizeof(in), len2 = sizeof(other);

		memset(in, 0x55, sizeof(in));
		memset(other, 0xaa, sizeof(other));
		if (getsockopt(a, SOL_RDS, list, in, &len) < 0)
			continue;
		getsockopt(a, SOL_RDS, list, other, &len2);
		if (len != len2 || memcmp(in, other, len))
			say("defined.differs", list);
	}
	peer("ack");
	close(a);
	close(fd6);
}

/* The same address and port in another namespace; nothing of this one is seen there. */
static void spaces(void)
{
	int a = bound(4000), b, i;

	sends(a, OWN, 4000, 10, 0);
	if (unshare(CLONE_NEWNET))
		say("unshare", -errno);
	b = socket(AF_RDS, SOCK_SEQPACKET, 0);
	say("spaces.socks", listed(b, RDS_INFO_SOCKETS));
	say("spaces.conns", listed(b, RDS_INFO_CONNECTIONS));
	say("spaces.recv", listed(b, RDS_INFO_RECV_MESSAGES));
	i = 0;
	say("spaces.ib", got(setsockopt(b, SOL_RDS, SO_RDS_TRANSPORT, &i, sizeof(i))));
	close(b);
	b = bound(4000);
	say("spaces.send", sends(b, OWN, 4000, 20, 0));
	say("spaces.here", got(recv(b, in, 100, MSG_DONTWAIT)));
	say("spaces.there", got(recv(a, in, 100, MSG_DONTWAIT)));
	peer("hold");
	sends(b, PEER, 5000, 20, 0);
	sends(b, OWN, 4000, 20, 0);
	close(a);
	close(b);
}

/* Pages that cannot be had, or are not needed after all */
static void zerocopy(void)
{
	struct sockaddr_in sin = in4(PEER, 5000);
	struct iovec iov = { buf + 10, 100000 };
	union {
		struct cmsghdr hdr;
		char bytes[CMSG_SPACE(4)];
	} c = { .hdr = { CMSG_LEN(4), SOL_RDS, RDS_CMSG_ZCOPY_COOKIE } };
	struct msghdr m = {
		.msg_name = &sin, .msg_namelen = sizeof(sin), .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c,
		.msg_controllen = sizeof(c),
	};
	char control[CMSG_SPACE(36)];
	int fd = bound(4000), i;

	must_set(fd, SOL_SOCKET, SO_ZEROCOPY, 1);
	peer("echo");
	for (i = 0; i < 10; i++) {
		say("zcopy.send", got(sendmsg(fd, &m, MSG_ZEROCOPY)));
		await(fd, POLLIN);
		recv(fd, in, sizeof(in), 0);
	}
	m.msg_iovlen = 0;
	m.msg_control = control;
	m.msg_controllen = sizeof(control);
	say("zcopy.done", got(recvmsg(fd, &m, MSG_DONTWAIT)));
	say("zcopy.cookies", *(unsigned int *)CMSG_DATA((struct cmsghdr *)control));
	m.msg_controllen = sizeof(control) - 8;
	say("zcopy.no.room", got(recvmsg(fd, &m, MSG_DONTWAIT)));
	m.msg_namelen = sizeof(sin);
	m.msg_control = &c;
	m.msg_controllen = sizeof(c);
	m.msg_iovlen = 1;
	iov.iov_base = (void *)16;
	say("zcopy.badptr", got(sendmsg(fd, &m, MSG_ZEROCOPY)));
	iov.iov_base = buf;
	peer("congested 5000");
	say("zcopy.congested", got(sendmsg(fd, &m, MSG_ZEROCOPY | MSG_DONTWAIT)));
	peer("free");
	peer("stall");
	while (got(sendmsg(fd, &m, MSG_ZEROCOPY | MSG_DONTWAIT)) > 0)
		;
	say("zcopy.full", -errno);
	close(fd);
	peer("echo");
}

static const struct {
	const char *name;
	void (*run)(void);
} runs[] = {
	{ "echo", echo }, { "queue", queue }, { "room", room }, { "cancel", cancel }, { "again", again },
	{ "congested", congested }, { "flood", flood }, { "many", many }, { "churn", churn }, { "pointers", pointers },
	{ "defined", defined }, { "spaces", spaces }, { "zerocopy", zerocopy },
};

int main(int argc, char **argv)
{
	size_t i;

	alarm(100);
	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		if (argc > 1 && !strcmp(argv[1], runs[i].name)) {
			runs[i].run();
			return 0;
		}
	return 2;
}
