// SPDX-License-Identifier: GPL-2.0
/*
 * rds-tcp NAME ADDRESS PEER [N]: what sockets of RDS see of TCP. Prints "NAME ANSWER" for each step.
 *
 *   sockets   lists 10007 and 10016, after messages to the peer
 *   begun     how many TCP sockets of ADDRESS have read a message in part; PEER does not matter
 *   timeo     SO_SNDTIMEO towards a peer that is not there
 *   many      pings N peers, from PEER on, and waits for the pong of each; on stderr it says how long that took
 */
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include "rds.h"

static const char *own, *peer;
static unsigned char buf[MIB], in[MIB];

static long sends(int fd, const char *addr, int port, size_t len, int flags)
{
	struct sockaddr_in sin = in4(addr, port);

	return got(sendto(fd, buf, len, flags, (void *)&sin, sizeof(sin)));
}

static int bound(int port)
{
	int fd = open_socket();
	long ret = binds(fd, own, port, sizeof(struct sockaddr_in));

	if (ret) {
		say("bind", ret);
		exit(1);
	}
	return fd;
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* A struct of rds-tools is a byte shorter: the last is that of the type of service. */
static void sockets4(int fd)
{
	socklen_t len = sizeof(in);
	int size = getsockopt(fd, SOL_RDS, RDS_INFO_TCP_SOCKETS, in, &len), n = 0, idle = 0;
	struct rds_info_tcp_socket *s;
	unsigned char *at;

	say("sockets.size", size);
	for (at = in; size > 0 && at < in + len; at += size) {
		s = (void *)at;
		if (s->local_addr != in4(own, 0).sin_addr.s_addr || s->peer_addr != in4(peer, 0).sin_addr.s_addr)
			continue;
		if (s->local_port != htons(16385) && s->peer_port != htons(16385))
			continue;
		if (!s->last_sent_nxt && !s->last_seen_una)
			continue; /* a path that is not used */
		n++;
		idle += s->hdr_rem == 48 && !s->data_rem && s->last_expected_una == s->last_seen_una && !s->tos;
	}
	say("sockets.idle", n && n == idle);
}

static void sockets6(int fd)
{
	socklen_t len = sizeof(in);
	int size = getsockopt(fd, SOL_RDS, RDS6_INFO_TCP_SOCKETS, in, &len), n = 0, idle = 0;
	struct rds6_info_tcp_socket *s;
	struct sockaddr_in6 a;
	char mapped[40];
	unsigned char *at;

	snprintf(mapped, sizeof(mapped), "::ffff:%s", peer);
	a = in6(mapped, 0);
	say("sockets6.size", size);
	for (at = in; size > 0 && at < in + len; at += size) {
		s = (void *)at;
		if (memcmp(&s->peer_addr, &a.sin6_addr, 16) || !s->last_seen_una)
			continue;
		n++;
		idle += s->hdr_rem == 48 && !s->data_rem && s->last_expected_una == s->last_seen_una;
	}
	say("sockets6.idle", n && n == idle);
}

static void sockets(void)
{
	int fd = bound(4000), i;
	char pong;

	for (i = 0; i < 10; i++) {
		sends(fd, peer, 4001, 1000, 0);
		sends(fd, peer, 0, 0, 0);
		await(fd, POLLIN);
		while (recv(fd, &pong, 1, MSG_DONTWAIT) < 0 && await(fd, POLLIN) > 0)
			;
	}
	usleep(100000); /* the acknowledgment of TCP for what came last */
	sockets4(fd);
	sockets6(fd);
}

static void begun(void)
{
	socklen_t len = sizeof(in);
	int fd = open_socket(), size = getsockopt(fd, SOL_RDS, RDS_INFO_TCP_SOCKETS, in, &len), n = 0;
	struct rds_info_tcp_socket *s;
	unsigned char *at;

	for (at = in; size > 0 && at < in + len; at += size) {
		s = (void *)at;
		n += s->local_addr == in4(own, 0).sin_addr.s_addr && s->data_rem;
	}
	say("begun", n);
}

static void timeo(void)
{
	int fd = bound(4000), i;
	double begin, slowest = 0;
	long ret = 0;

	must_set(fd, SOL_SOCKET, SO_SNDBUF, 2304);
	set_ms(fd, SO_SNDTIMEO, 200);
	alarm_ms(0);
	alarm(10);
	for (i = 0; i < 10; i++) {
		begin = seconds();
		ret = sends(fd, peer, 4001, 1000, 0);
		if (seconds() - begin > slowest)
			slowest = seconds() - begin;
		if (ret < 0)
			break;
	}
	say("timeo.sent", i);
	say("timeo.errno", ret);
	say("timeo.in.time", slowest < 1.5);
}

static uint32_t answered(int fd, unsigned char *has, uint32_t first, uint32_t n)
{
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	uint32_t i, fresh = 0;
	char pong;

	while (recvfrom(fd, &pong, 1, MSG_DONTWAIT, (void *)&from, &len) == 0) {
		i = ntohl(from.sin_addr.s_addr) - first;
		if (len && i < n && !has[i]) {
			has[i] = 1;
			fresh++;
		}
		len = sizeof(from);
	}
	return fresh;
}

/* One ping to each, and a minute for all the pongs */
static void many(int n)
{
	uint32_t first = ntohl(in4(peer, 0).sin_addr.s_addr), i, left = n;
	unsigned char *has = calloc(n, 1);
	double begin = seconds(), asked = 0;
	int fd = bound(0);
	struct sockaddr_in to = { .sin_family = AF_INET };

	must_set(fd, SOL_SOCKET, SO_SNDBUFFORCE, 4 * MIB);
	while (left && seconds() - begin < 60) {
		for (i = 0; !asked && i < (uint32_t)n; i++) {
			to.sin_addr.s_addr = htonl(first + i);
			if (sendto(fd, buf, 0, MSG_DONTWAIT, (void *)&to, sizeof(to)) < 0)
				say("many.ping", -errno);
		}
		asked = 1;
		await(fd, POLLIN);
		left -= answered(fd, has, first, n);
	}
	say("many.answered", n - left);
	fprintf(stderr, "%.2f s\n", seconds() - begin);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	own = argv[2];
	peer = argv[3];
	if (!strcmp(argv[1], "sockets"))
		sockets();
	else if (!strcmp(argv[1], "begun"))
		begun();
	else if (!strcmp(argv[1], "timeo"))
		timeo();
	else if (!strcmp(argv[1], "many") && argc > 4)
		many(atoi(argv[4]));
	else
		return 2;
	return 0;
}
