// SPDX-License-Identifier: GPL-2.0
/*
 * A socket that has something in its queues.
 *
 *   rds-socket WORD..
 *
 * One after the other: "bind ADDRESS PORT", "connect ADDRESS PORT", "rcvbuf BYTES", "send ADDRESS PORT N BYTES" (N messages,
 * without waiting), "wait ADDRESS PORT N BYTES" (the same, waiting), "tcp PORT" (instead of an RDS socket one of TCP that listens there). Then it prints "ready", reads nothing, and
 * stays until it is killed.
 */
#include <arpa/inet.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef AF_RDS
#define AF_RDS 21
#endif

union name {
	struct sockaddr sa;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t name_of(char **word, union name *n)
{
	memset(n, 0, sizeof(*n));
	n->v4.sin_port = htons(atoi(word[1]));
	if (inet_pton(AF_INET, word[0], &n->v4.sin_addr) == 1) {
		n->sa.sa_family = AF_INET;
		return sizeof(n->v4);
	}
	if (inet_pton(AF_INET6, word[0], &n->v6.sin6_addr) != 1)
		errx(1, "%s is no address", word[0]);
	n->sa.sa_family = AF_INET6;
	return sizeof(n->v6);
}

static int listener(const char *port)
{
	union name n = { .v4 = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) } };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, &n.sa, sizeof(n.v4)) || listen(fd, 1))
		err(1, "tcp %s", port);
	return fd;
}

static void send_all(int fd, char **word, int flags)
{
	static char bytes[1 << 20];
	union name n;
	socklen_t len = name_of(word, &n);

	for (int i = atoi(word[2]); i; i--)
		if (sendto(fd, bytes, atoi(word[3]), flags, &n.sa, len) < 0)
			err(1, "send to %s", word[0]);
}

int main(int argc, char **argv)
{
	int fd = -1, v;
	union name n;
	socklen_t len;

	for (char **w = argv + 1; w < argv + argc; w++) {
		if (!strcmp(*w, "tcp")) {
			listener(*++w);
			continue;
		}
		if (fd < 0)
			fd = socket(AF_RDS, SOCK_SEQPACKET, 0);
		if (fd < 0)
			err(1, "socket");
		if (!strcmp(*w, "rcvbuf")) {
			v = atoi(*++w);
			if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &v, sizeof(v)))
				err(1, "rcvbuf");
		} else if (!strcmp(*w, "send") || !strcmp(*w, "wait")) {
			send_all(fd, w + 1, **w == 's' ? MSG_DONTWAIT : 0);
			w += 4;
		} else {
			len = name_of(w + 1, &n);
			if (!strcmp(*w, "bind") ? bind(fd, &n.sa, len) : connect(fd, &n.sa, len))
				err(1, "%s %s %s", w[0], w[1], w[2]);
			w += 2;
		}
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
