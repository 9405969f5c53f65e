// SPDX-License-Identifier: GPL-2.0
/*
 * rds-reader ADDRESS PORT: a socket of RDS that prints what it reads, until it is killed: first "ready", then for each message
 *
 *   FROM:PORT LEN same FIRST     its byte I is FIRST + I
 *   FROM:PORT LEN other          it is not
 *
 * and behind that "cmsg TYPE" for all that came with it.
 */
#include <stdbool.h>
#include "rds.h"

static unsigned char in[MIB];

static bool same(size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (in[i] != (unsigned char)(in[0] + i))
			return false;
	return true;
}

static void read_one(int fd)
{
	struct sockaddr_in from;
	char ctl[256], text[20];
	struct iovec iov = { in, sizeof(in) };
	struct msghdr msg = {
		.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl,
		.msg_controllen = sizeof(ctl),
	};
	struct cmsghdr *c;
	ssize_t len = recvmsg(fd, &msg, 0);

	if (len < 0 || !msg.msg_namelen)
		return;
	inet_ntop(AF_INET, &from.sin_addr, text, sizeof(text));
	printf("%s:%d %zd ", text, ntohs(from.sin_port), len);
	if (same(len))
		printf("same %d", len ? in[0] : 0);
	else
		printf("other");
	for (c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
		printf(" cmsg %d", c->cmsg_type);
	putchar('\n');
}

int main(int argc, char **argv)
{
	int fd = open_socket();
	long ret;

	if (argc != 3)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	ret = binds(fd, argv[1], atoi(argv[2]), sizeof(struct sockaddr_in));
	if (ret) {
		say("bind", ret);
		return 1;
	}
	puts("ready");
	for (;;)
		read_one(fd);
}
