// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/rds.h>

#include "host/sysfs-file.h"
#include "rds/kernel.h"
#include "rds/ping.h"

union name {
	struct sockaddr sa;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	uint8_t raw[ADDR_BIN_MAX];
};

static socklen_t name_of(const struct addr *a, uint16_t port, union name *n)
{
	struct addr with = *a;

	with.port = 0;
	memset(n, 0, sizeof(*n));
	addr_to_bin(&with, n->raw);
	/* at the same place in both */
	n->v4.sin_port = htons(port);
	return a->family == ADDR_IPV4 ? sizeof(n->v4) : sizeof(n->v6);
}

/* Below a moved root a file stands for the way to a peer: the source address, the transport, and if it answers the ns. */
static bool way_of_file(struct rds_ping *p, uint64_t *ns)
{
	char text[ADDR_TEXT_MAX], *line, from[64], transport[16];
	int n;

	addr_format_bare(&p->to, text);
	line = sys_read(p->root, "/rds/ping/%s", text);
	n = line ? sscanf(line, "%63s %15s %llu", from, transport, (unsigned long long *)ns) : 0;
	free(line);
	if (n < 2)
		return false;
	free(addr_literal(from, &p->from));
	p->transport = strcmp(transport, "infiniband") ? "tcp" : "infiniband";
	return n == 3;
}

static bool is_own(const struct addr *a)
{
	struct ifaddrs *all, *i;
	struct addr own;
	bool found = a->family == ADDR_IPV4 && a->raw[0] == IN_LOOPBACKNET;

	if (getifaddrs(&all))
		return found;
	for (i = all; i && !found; i = i->ifa_next) {
		size_t len = i->ifa_addr && i->ifa_addr->sa_family == AF_INET ? sizeof(struct sockaddr_in) :
			     i->ifa_addr && i->ifa_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : 0;

		found = len && addr_from_bin(i->ifa_addr, len, &own) && addr_equal(&own, a);
	}
	freeifaddrs(all);
	return found;
}

/*
 * The kernel's route says which of our addresses reaches the peer. An address of our own is its own source: the
 * kernel's rds answers no ping from one own address to another.
 */
static int route_to(struct rds_ping *p)
{
	int fd = socket(p->to.family == ADDR_IPV4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc = 0;
	union name n;
	socklen_t len = name_of(&p->to, 9, &n);

	if (fd < 0)
		return errno;
	if (is_own(&p->to)) {
		p->from = p->to;
	} else if (connect(fd, &n.sa, len)) {
		rc = errno;
	} else {
		len = sizeof(n);
		if (getsockname(fd, &n.sa, &len) || !addr_from_bin(n.raw, len, &p->from))
			rc = errno;
	}
	close(fd);
	p->from.port = 0;
	return rc;
}

static int cannot(struct ctx *ctx, const struct rds_ping *p, int err, const char *what)
{
	struct fail *f = &ctx->fail;
	char from[ADDR_TEXT_MAX], to[ADDR_TEXT_MAX];

	addr_format_bare(&p->from, from);
	addr_format_bare(&p->to, to);
	if (err == EADDRNOTAVAIL) {
		fail_set(f, XC_UNAVAILABLE, "no transport of RDS is loaded that takes the address %s", from);
		fail_hint(f, "modprobe rds_tcp, or modprobe rds_rdma where the address is of an RDMA device");
	} else {
		fail_set(f, err == ENETUNREACH || err == EHOSTUNREACH ? XC_FAILED : errno_exit_code(err),
			 "%s: %s (%s)", what, strerror(err), errno_name(err));
		if (err == ENETUNREACH || err == EHOSTUNREACH)
			fail_hint(f, "ip route get %s", to);
	}
	f->err = err;
	fail_object(f, "address", err == EADDRNOTAVAIL ? from : to);
	return RDS_CANNOT;
}

bool rds_ping_open(struct ctx *ctx, struct rds_ping *p)
{
	uint64_t ns;
	sigset_t set;
	int err;

	p->root = ctx->test_root;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	p->signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (*p->root) {
		way_of_file(p, &ns);
		if (p->from.family == ADDR_NONE)
			cannot(ctx, p, ENETUNREACH, "no route");
		return p->from.family != ADDR_NONE;
	}
	err = route_to(p);
	if (err)
		cannot(ctx, p, err, "no route");
	return !err;
}

void rds_ping_close(struct rds_ping *p)
{
	if (p->signals >= 0)
		close(p->signals);
}

static const char *transport_of(int fd)
{
	int v = -1;
	socklen_t len = sizeof(v);

	if (getsockopt(fd, SOL_RDS, SO_RDS_TRANSPORT, &v, &len))
		return NULL;
	return v == RDS_TRANS_TCP ? "tcp" : v == RDS_TRANS_IB ? "infiniband" : v == RDS_TRANS_COUNT ? "loopback" : NULL;
}

/* 1: something came; 0: not in time; -1: a signal. @until is in ns, -1 for ever. */
static int wait_for(const struct rds_ping *p, int fd, int64_t until)
{
	struct pollfd fds[] = { { .fd = p->signals, .events = POLLIN }, { .fd = fd, .events = POLLIN } };
	int64_t ms = -1;

	if (until >= 0) {
		ms = (until - now_ns() + 999999) / 1000000;
		ms = ms < 0 ? 0 : ms > INT_MAX ? INT_MAX : ms;
	}
	if (poll(fds, 2, (int)ms) < 0 && errno != EINTR)
		return 0;
	if (fds[0].revents)
		return -1;
	return fds[1].revents != 0;
}

/* The answer comes from the peer's port 0 and is empty. A poll may say that something is there when nothing is. */
static bool is_answer(const struct rds_ping *p, int fd)
{
	struct addr from;
	union name n;
	socklen_t len;
	uint8_t byte;

	for (;;) {
		len = sizeof(n);
		if (recvfrom(fd, &byte, sizeof(byte), MSG_DONTWAIT, &n.sa, &len) < 0)
			return false;
		if (addr_from_bin(n.raw, len, &from) && !n.v4.sin_port && addr_equal(&from, &p->to))
			return true;
	}
}

static enum rds_answer exchange(struct ctx *ctx, struct rds_ping *p, int fd, int64_t ms, uint64_t *ns)
{
	union name n;
	socklen_t len = name_of(&p->from, 0, &n);
	int64_t start, until;
	int rc;

	if (bind(fd, &n.sa, len))
		return cannot(ctx, p, errno, "cannot bind the source address");
	p->transport = transport_of(fd);
	len = name_of(&p->to, 0, &n);
	start = now_ns();
	until = ms < 0 ? -1 : start + ms * 1000000;
	/* one that waits would wait without end */
	if (sendto(fd, NULL, 0, MSG_DONTWAIT, &n.sa, len))
		return cannot(ctx, p, errno, "cannot send");
	do {
		rc = wait_for(p, fd, until);
		if (rc < 0)
			return RDS_INTERRUPTED;
		if (rc && is_answer(p, fd)) {
			*ns = (uint64_t)(now_ns() - start);
			return RDS_ANSWER;
		}
	} while (until < 0 || now_ns() < until);
	return RDS_SILENCE;
}

enum rds_answer rds_ping_once(struct ctx *ctx, struct rds_ping *p, int64_t ms, uint64_t *ns)
{
	enum rds_answer answer;
	int fd;

	if (*p->root)
		return way_of_file(p, ns) ? RDS_ANSWER : RDS_SILENCE;
	fd = socket(AF_RDS, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return cannot(ctx, p, errno, "cannot open an RDS socket");
	answer = exchange(ctx, p, fd, ms, ns);
	close(fd);
	return answer;
}

bool rds_ping_rest(const struct rds_ping *p, int64_t ms)
{
	return wait_for(p, -1, now_ns() + ms * 1000000) < 0;
}
