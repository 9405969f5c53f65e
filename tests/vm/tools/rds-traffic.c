// SPDX-License-Identifier: GPL-2.0
/*
 * rds-traffic [OPTION].. LOCAL REMOTE: one of two ends that send each other numbered messages, and look at all that comes.
 *
 * Both ends are started with the same options, their addresses exchanged. Socket I has port PORT + I at either end, and talks to its
 * like. Sizes and contents follow from the direction, the socket and the number of a message. SIGTERM: it has sent enough; SIGINT: it
 * ends at once. An end is
 * over when it has sent all, has all of its peer, and the peer has said the same; or when nothing moves any more. It prints "moving"
 * for each socket that has heard of its peer, then one line, and ends with 1 if not all came exactly once, in order:
 *
 *   sent received lost twice disorder wrong: messages; wrong: its bytes, its size or its sender are not as they must be
 *   ended: sockets whose peer has said how many it has sent
 *   silence: ms, the longest time without a message while some were missing
 *   congested: sends that met ENOBUFS; unwoken: there was room again, and poll() had not told it
 *   timeouts: blocking sends that met ETIMEDOUT; slowest: ms that one of them took at most
 *   zcopied: completions of zerocopy; ms: how long all of it took
 *
 * -n N messages (1000), -s S sockets (4), -p PORT (4000), -m MAX bytes (1048576), -b MS: blocking sends, a thread for each socket,
 * with this SO_SNDTIMEO; -q S: gives up when nothing moves for so long (10); -r, -w BYTES: buffers of a socket (as they are, 4 MiB);
 * -z: zerocopy; -x US: sends no more often than that, each socket.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include "rds-traffic.h"

#define SOCKETS_MAX	64
#define BATCH		32
#define HELLO_MS	100
#define UNWOKEN_MS	300

enum kind { DATA, HELLO, WELCOME, LAST, OVER };

/* At the begin of a message that has room for it */
struct mark {
	uint32_t number;
	uint16_t socket;
	uint8_t kind;
	uint8_t side;
};

enum wait { NOTHING, ROOM, MAP };

struct flow {
	int fd, id;
	union name to;
	pthread_t thread;
	/* out */
	unsigned int share, sent;
	struct mark *marks; /* of each message: with zerocopy they must stay as they are */
	enum wait waits;
	bool said_last, said_over;
	uint64_t hello_at, next_at, waits_since;
	/* in */
	unsigned int most, expect, got;
	long last;
	unsigned char *seen;
	bool open, heard_last, heard_over;
};

static struct {
	unsigned int sent, received, twice, disorder, wrong, congested, unwoken, timeouts, zcopied, zcopies;
	uint64_t silence, slowest;
} count;

static unsigned int messages = 1000, flows = 4, port = 4000, patience = 10, rcvbuf, sndbuf = 4 * MIB;
static int timeo = -1;
static unsigned int pause_us;
static bool zerocopy;
static uint8_t side; /* 0: the lower address */
static struct flow flow[SOCKETS_MAX];
static unsigned char in[MIB + 1];
static uint64_t started, moved_at, received_at;
static volatile bool stop, enough;

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ull + ts.tv_nsec / 1000;
}

/* What was sent: bytes, or an errno, negative */
static long transmit(struct flow *f, struct mark *m, const void *rest, size_t len, int flags)
{
	size_t head = len < sizeof(*m) ? 0 : sizeof(*m);
	struct iovec iov[2] = { { m, head }, { (void *)rest, len - head } };
	union {
		struct cmsghdr hdr;
		char bytes[CMSG_SPACE(4)];
	} cookie = { .hdr = { CMSG_LEN(4), SOL_RDS, RDS_CMSG_ZCOPY_COOKIE } };
	struct msghdr msg = { .msg_name = &f->to, .msg_namelen = name_len, .msg_iov = iov, .msg_iovlen = 2 };

	if (flags & MSG_ZEROCOPY) {
		msg.msg_control = &cookie;
		msg.msg_controllen = sizeof(cookie);
	}
	return got(sendmsg(f->fd, &msg, flags));
}

static bool control(struct flow *f, enum kind kind)
{
	struct mark m = { .number = f->sent, .socket = f->id, .kind = kind, .side = side };

	return transmit(f, &m, NULL, sizeof(m), MSG_DONTWAIT) == sizeof(m);
}

/* The next message; false: not now */
static bool send_next(struct flow *f, int flags)
{
	unsigned int n = f->sent, len = size_of(side, f->id, n);
	bool zcopy = zerocopy && len;
	long ret;

	f->marks[n] = (struct mark){ .number = n, .socket = f->id, .kind = DATA, .side = side };
	ret = transmit(f, &f->marks[n], bytes_of(side, f->id, n), len, flags | (zcopy ? MSG_ZEROCOPY : 0));
	if (ret == len) {
		f->sent++;
		__atomic_add_fetch(&count.sent, 1, __ATOMIC_RELAXED);
		__atomic_add_fetch(&count.zcopies, zcopy, __ATOMIC_RELAXED);
		moved_at = now_us();
		return true;
	}
	f->waits_since = now_us();
	if (ret == -ENOBUFS) {
		__atomic_add_fetch(&count.congested, 1, __ATOMIC_RELAXED);
		f->waits = MAP;
	} else if (ret == -ETIMEDOUT) {
		__atomic_add_fetch(&count.timeouts, 1, __ATOMIC_RELAXED);
	} else if (ret == -EAGAIN) {
		f->waits = ROOM;
	} else if (ret != -EINTR && ret != -ENOMEM) {
		errno = -ret;
		err(1, "socket %d, message %u of %u bytes: %ld", f->id, n, len, ret);
	}
	return false;
}

static void *sender(void *arg)
{
	struct flow *f = arg;
	uint64_t begin, took;

	while (!stop && !enough && f->sent < f->share) {
		if (!f->open) {
			usleep(1000);
			continue;
		}
		begin = now_us();
		send_next(f, 0);
		took = (now_us() - begin) / 1000;
		if (took > count.slowest)
			count.slowest = took;
		if (pause_us)
			usleep(pause_us);
	}
	f->share = f->sent;
	return NULL;
}

/* A message without room for a mark: the next of this size, or the last once more */
static long short_number(struct flow *f, size_t len)
{
	long n = f->last;

	if (n >= 0 && size_of(!side, f->id, n + 1) != len && size_of(!side, f->id, n) == len)
		return n;
	do
		n++;
	while (n < f->most && size_of(!side, f->id, n) != len);
	return n;
}

static void data(struct flow *f, size_t len)
{
	struct mark m = { .socket = f->id, .side = !side };
	size_t head = len < sizeof(m) ? 0 : sizeof(m);
	uint64_t now = now_us();

	memcpy(&m, in, head);
	if (!head)
		m.number = short_number(f, len);
	if (m.number >= f->most || m.socket != f->id || m.side == side || m.kind != DATA ||
	    len != size_of(!side, f->id, m.number) || memcmp(in + head, bytes_of(!side, f->id, m.number), len - head)) {
		count.wrong++;
		return;
	}
	if (f->seen[m.number]) {
		fprintf(stderr, "socket %d: message %u of %zu bytes again, after %ld\n", f->id, m.number, len, f->last);
		count.twice++;
		return;
	}
	if (m.number < f->last)
		count.disorder++;
	f->seen[m.number] = 1;
	f->last = m.number > f->last ? m.number : f->last;
	f->got++;
	count.received++;
	if (now - received_at > count.silence)
		count.silence = now - received_at;
	received_at = moved_at = now;
}

static void zcopy_done(struct msghdr *msg)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c))
		if (c->cmsg_level == SOL_RDS && c->cmsg_type == RDS_CMSG_ZCOPY_COMPLETION)
			count.zcopied += *(uint32_t *)CMSG_DATA(c);
}

static void opened(void)
{
	received_at = moved_at = now_us();
	puts("moving");
	fflush(stdout);
}

static bool receive(struct flow *f)
{
	union name from;
	char ctl[256];
	struct iovec iov = { in, sizeof(in) };
	struct msghdr msg = {
		.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl,
		.msg_controllen = sizeof(ctl),
	};
	ssize_t len = recvmsg(f->fd, &msg, MSG_DONTWAIT);
	struct mark *m = (void *)in;

	if (len < 0)
		return false;
	zcopy_done(&msg);
	if (!msg.msg_namelen)
		return true;
	if (!same_name(&from, &f->to)) {
		count.wrong++;
	} else if (len == sizeof(*m) && m->kind != DATA) {
		if (!f->open)
			opened();
		f->open = true;
		f->heard_over |= m->kind == OVER;
		if (m->kind == LAST) {
			f->heard_last = true;
			f->expect = m->number;
		}
		if (m->kind == HELLO)
			control(f, WELCOME);
	} else {
		data(f, len);
	}
	return true;
}

/* A socket that had no room is tried again when poll() told of it. Where that does not come for long, it may never do. */
static void send_some(struct flow *f, bool told)
{
	bool late = f->waits != NOTHING && !told;
	int n;

	if (late && now_us() - f->waits_since < UNWOKEN_MS * 1000)
		return;
	f->waits = NOTHING;
	for (n = 0; n < BATCH && f->sent < f->share; n++) {
		if (pause_us && now_us() < f->next_at)
			return;
		if (!send_next(f, MSG_DONTWAIT))
			return;
		count.unwoken += late && !n;
		f->next_at = now_us() + pause_us;
	}
}

static bool flow_over(struct flow *f)
{
	uint64_t now = now_us();

	if (!f->open && now - f->hello_at > HELLO_MS * 1000) {
		control(f, HELLO);
		f->hello_at = now;
	}
	if (enough && timeo < 0)
		f->share = f->sent;
	if (!f->said_last && f->open && f->sent >= f->share)
		f->said_last = control(f, LAST);
	if (!f->said_over && f->heard_last && f->got >= f->expect)
		f->said_over = control(f, OVER);
	return f->said_last && f->said_over && f->heard_over;
}

static bool all_over(void)
{
	bool over = true;
	unsigned int i;

	for (i = 0; i < flows; i++)
		if (!flow_over(&flow[i]))
			over = false;
	return over && count.zcopied >= count.zcopies;
}

static int ms_to_next(void)
{
	uint64_t now = now_us(), next = now + HELLO_MS * 1000;
	unsigned int i;

	for (i = 0; pause_us && timeo < 0 && i < flows; i++)
		if (flow[i].open && flow[i].waits == NOTHING && flow[i].sent < flow[i].share && flow[i].next_at < next)
			next = flow[i].next_at > now ? flow[i].next_at : now;
	return (next - now + 999) / 1000;
}

static bool turn(void)
{
	struct pollfd p[SOCKETS_MAX];
	unsigned int i, n;

	for (i = 0; i < flows; i++) {
		struct flow *f = &flow[i];
		bool wants = timeo < 0 && f->open && f->sent < f->share && (!pause_us || f->waits == ROOM);

		p[i] = (struct pollfd){ .fd = f->fd, .events = POLLIN | POLLRDNORM | POLLWRBAND };
		if (wants && f->waits != MAP)
			p[i].events |= POLLOUT | POLLWRNORM;
	}
	poll(p, flows, ms_to_next());
	for (i = 0; i < flows; i++) {
		struct flow *f = &flow[i];

		for (n = 0; n < BATCH && receive(f); n++)
			;
		if (timeo < 0 && f->open)
			send_some(f, p[i].revents);
	}
	/* Signed: a thread may have moved something just now. */
	if ((int64_t)(now_us() - moved_at) > patience * 1000000ll)
		return false;
	return !stop && !all_over();
}

/* Messages of ours that a list has */
static int waiting(int list)
{
	socklen_t len = sizeof(in);
	int size = getsockopt(flow[0].fd, SOL_RDS, list, in, &len), n = 0;
	struct rds6_info_message *m;
	unsigned char *at;

	for (at = in; size > 0 && at < in + len; at += size) {
		m = (void *)at;
		n += ntohs(m->lport) >= port && ntohs(m->lport) < port + flows;
	}
	return n;
}

/* close() takes back what the peer does not have yet. */
static void drain(void)
{
	uint64_t until = now_us() + patience * 1000000ull;

	while (!stop && waiting(RDS6_INFO_SEND_MESSAGES) + waiting(RDS6_INFO_RETRANS_MESSAGES) && now_us() < until)
		usleep(2000);
}

static void open_flow(struct flow *f, int i, const char *local, const char *remote)
{
	union name own;

	f->id = i;
	f->fd = open_socket();
	f->share = messages / flows + ((unsigned int)i < messages % flows);
	f->most = f->share;
	f->last = -1;
	f->marks = calloc(f->share + 1, sizeof(*f->marks));
	f->seen = calloc(f->most + 1, 1);
	must_set(f->fd, SOL_SOCKET, SO_SNDBUFFORCE, sndbuf);
	if (rcvbuf)
		must_set(f->fd, SOL_SOCKET, SO_RCVBUFFORCE, rcvbuf);
	if (zerocopy)
		must_set(f->fd, SOL_SOCKET, SO_ZEROCOPY, 1);
	if (timeo >= 0)
		set_ms(f->fd, SO_SNDTIMEO, timeo);
	name(&f->to, remote, port + i);
	name(&own, local, port + i);
	if (own.sa.sa_family == AF_INET)
		side = ntohl(own.v4.sin_addr.s_addr) > ntohl(f->to.v4.sin_addr.s_addr);
	else
		side = memcmp(&own.v6.sin6_addr, &f->to.v6.sin6_addr, 16) > 0;
	if (bind(f->fd, &own.sa, name_len))
		err(1, "bind %s %u", local, port + i);
}

static void options(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:s:p:m:b:q:r:w:x:z")) > 0)
		switch (c) {
		case 'n': messages = atoi(optarg); break;
		case 's': flows = atoi(optarg); break;
		case 'p': port = atoi(optarg); break;
		case 'm': max_size = atoi(optarg); break;
		case 'b': timeo = atoi(optarg); break;
		case 'q': patience = atoi(optarg); break;
		case 'r': rcvbuf = atoi(optarg); break;
		case 'w': sndbuf = atoi(optarg); break;
		case 'x': pause_us = atoi(optarg); break;
		case 'z': zerocopy = true; break;
		default: exit(2);
		}
	if (argc - optind != 2 || !flows || flows > SOCKETS_MAX)
		errx(2, "LOCAL REMOTE, 1 to %d sockets", SOCKETS_MAX);
}

static int report(void)
{
	unsigned int lost = 0, ended = 0, i;

	for (i = 0; i < flows; i++) {
		ended += flow[i].heard_last;
		lost += (flow[i].heard_last ? flow[i].expect : flow[i].last + 1) - flow[i].got;
	}
	printf("sent=%u received=%u lost=%u twice=%u disorder=%u wrong=%u ended=%u silence=%lu congested=%u unwoken=%u timeouts=%u slowest=%lu "
	       "zcopied=%u/%u ms=%lu\n", count.sent, count.received, lost, count.twice, count.disorder, count.wrong, ended,
	       count.silence / 1000, count.congested, count.unwoken, count.timeouts, count.slowest, count.zcopied, count.zcopies,
	       (now_us() - started) / 1000);
	return lost || count.twice || count.disorder || count.wrong || ended < flows;
}

static void on_term(int sig)
{
	enough = true;
	stop = sig == SIGINT;
}

int main(int argc, char **argv)
{
	unsigned int i;

	options(argc, argv);
	signal(SIGTERM, on_term);
	signal(SIGINT, on_term);
	fill_table();
	started = moved_at = received_at = now_us();
	for (i = 0; i < flows; i++)
		open_flow(&flow[i], i, argv[optind], argv[optind + 1]);
	if (timeo >= 0)
		for (i = 0; i < flows; i++)
			pthread_create(&flow[i].thread, NULL, sender, &flow[i]);
	while (turn())
		;
	drain();
	/* A thread that waits for a peer that is gone goes with the process. */
	stop = true;
	fflush(stdout);
	i = report();
	fflush(stdout);
	_exit(i);
}
