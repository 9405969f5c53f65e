/* SPDX-License-Identifier: GPL-2.0 */
/* What the clients of RDS have in common. */
#ifndef TOOLS_RDS_H
#define TOOLS_RDS_H

#include <arpa/inet.h>
#include <errno.h>
#include <linux/rds.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define MIB (1 << 20)

/* "NAME ANSWER": a number, or an errno by its name */
__attribute__((format(printf, 1, 3))) static inline void say(const char *name, long answer, ...)
{
	char text[100];
	va_list ap;

	va_start(ap, answer);
	vsnprintf(text, sizeof(text), name, ap);
	va_end(ap);
	if (answer < 0 && strerrorname_np(-answer))
		printf("%s %s\n", text, strerrorname_np(-answer));
	else
		printf("%s %ld\n", text, answer);
}

/* What a call returned, or its errno, negative */
static inline long got(long ret)
{
	return ret < 0 ? -errno : ret;
}

static inline struct sockaddr_in in4(const char *addr, int port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };

	inet_pton(AF_INET, addr, &sin.sin_addr);
	return sin;
}

static inline struct sockaddr_in6 in6(const char *addr, int port)
{
	struct sockaddr_in6 sin = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

	inet_pton(AF_INET6, addr, &sin.sin6_addr);
	return sin;
}

static inline void must_set(int fd, int level, int opt, int value)
{
	if (setsockopt(fd, level, opt, &value, sizeof(value)))
		say("set.%d.%d", -errno, level, opt);
}

static inline int polled(int fd)
{
	struct pollfd p = { .fd = fd, .events = 0x3ff };

	poll(&p, 1, 0);
	return p.revents;
}

/* Until one of these is among the events of the socket */
static inline int await(int fd, int events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, 20000) == 1 ? p.revents & events : -ETIMEDOUT;
}

static inline int open_socket(void)
{
	int fd = socket(AF_RDS, SOCK_SEQPACKET, 0);

	if (fd < 0) {
		perror("socket");
		exit(1);
	}
	return fd;
}

static inline long binds(int fd, const char *addr, int port, int len)
{
	struct sockaddr_in sin = in4(addr, port);

	return got(bind(fd, (void *)&sin, len));
}

static inline long binds6(int fd, const char *addr, int port, int len)
{
	struct sockaddr_in6 sin = in6(addr, port);

	return got(bind(fd, (void *)&sin, len));
}

static inline long connects(int fd, const char *addr, int port, int len)
{
	struct sockaddr_in sin = in4(addr, port);

	return got(connect(fd, (void *)&sin, len));
}

static inline void polls(const char *name, int fd)
{
	struct pollfd p = { .fd = fd, .events = 0x3ff };

	poll(&p, 1, 0);
	say("%s", p.revents, name);
}

static inline void set_ms(int fd, int opt, int ms)
{
	struct timeval tv = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	setsockopt(fd, SOL_SOCKET, opt, &tv, sizeof(tv));
}

static inline void on_alarm(int sig)
{
	(void)sig;
}

/* A signal, not a restart */
static inline void alarm_ms(int ms)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	struct itimerval it = { .it_value.tv_usec = ms * 1000 };

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
}

#endif /* TOOLS_RDS_H */
