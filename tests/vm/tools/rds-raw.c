// SPDX-License-Identifier: GPL-2.0
/*
 * rds-raw WORD..: a peer of RDS over TCP that is made of its records, one word after the other.
 *
 *   device NAME             sockets from now on are of this VRF
 *   from ADDRESS            they are bound to it; all: to none
 *   listen, accept          at port 16385
 *   connect ADDRESS         to port 16385 there; begin ADDRESS: does not wait for an answer
 *   slot N                  another connection, of ten; 0 is the first
 *   map [PORT..] .          a map, in which these are congested; able: a map whose header says that this end acknowledges in headers
 *   ack N                   from now on headers acknowledge this
 *   send SEQ FLAGS LEN SPORT DPORT EXT     a message, EXT: bytes in hex, or "-"; of its bytes, byte I is SEQ + I
 *   head .. (as send)       its header alone; body SEQ FROM TO: some of its bytes
 *   raw HEX                 bytes
 *   pieces N                from now on what is sent comes in pieces of N bytes; 0: whole
 *   pings N SPORT           so many
 *   get TEXT                reads records until one begins with TEXT (* and ? in it), and prints all of them: "map" (with its congested ports) or
 *                           SEQ/FLAGS/LEN/SPORT/DPORT, /EXT if it has some
 *   waits BYTES             until so many have come that were not read
 *   gone                    waits until the connection is, prints how; alive: it is not
 *   close, reset, fin       ends it; in both directions, without regard to what waits, or in one
 *   strangers N ADDRESS TO  so many connections, from ADDRESS and those behind it. They stay. halves N ..: each says that a message of
 *                           1 MiB comes, and sends little of it
 *   syn N ADDRESS           so many that are begun
 *   say TEXT                prints it
 *   stay                    until it is killed
 *
 * What is awaited comes within 10 s, or "late" is printed, and it ends with 1.
 */
#include <err.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include "rds.h"

#define PORT	16385
#define HEADER	48
#define MAP	8192
#define WAIT_MS	10000

static int slots[10] = { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 }, now, listener = -1;
static const char *from, *device;
static unsigned int pieces;
static unsigned long acked;
static char **word;
static unsigned char buf[MIB + HEADER + MAP];

static const char *next(void)
{
	if (!*word)
		errx(2, "a word is missing");
	return *word++;
}

static unsigned long number(void)
{
	return strtoul(next(), NULL, 0);
}

static void late(const char *what)
{
	printf("late: %s\n", what);
	exit(1);
}

static socklen_t name(struct sockaddr_storage *ss, const char *addr, int port)
{
	struct sockaddr_in *v4 = (void *)ss;
	struct sockaddr_in6 *v6 = (void *)ss;

	memset(ss, 0, sizeof(*ss));
	v4->sin_port = htons(port);
	if (inet_pton(AF_INET, addr, &v4->sin_addr) == 1) {
		ss->ss_family = AF_INET;
		return sizeof(*v4);
	}
	if (inet_pton(AF_INET6, addr, &v6->sin6_addr) != 1)
		errx(2, "%s is no address", addr);
	ss->ss_family = AF_INET6;
	return sizeof(*v6);
}

static int tcp(const char *of, int port)
{
	struct sockaddr_storage ss;
	socklen_t len = name(&ss, of ? of : "0.0.0.0", port);
	int fd = socket(ss.ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (fd < 0)
		err(1, "socket");
	must_set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	must_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	if (device && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, strlen(device)))
		err(1, "device %s", device);
	if ((of || port) && bind(fd, (void *)&ss, len))
		err(1, "bind %s %d", of, port);
	return fd;
}

static bool ready(int fd, int events, int ms)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, ms) == 1;
}

static void use(int fd)
{
	if (slots[now] >= 0)
		close(slots[now]);
	slots[now] = fd;
}

static int begin(const char *to)
{
	struct sockaddr_storage ss;
	socklen_t len = name(&ss, to, PORT);
	int fd = tcp(from, 0);

	if (connect(fd, (void *)&ss, len) && errno != EINPROGRESS)
		err(1, "connect %s", to);
	return fd;
}

static void connect_to(const char *to)
{
	int fd = begin(to), error = 0;
	socklen_t len = sizeof(error);

	if (!ready(fd, POLLOUT, WAIT_MS))
		late("connect");
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	if (error)
		errx(1, "connect %s: %s", to, strerror(error));
	use(fd);
}

static void accept_one(void)
{
	int fd;

	if (!ready(listener, POLLIN, WAIT_MS))
		late("accept");
	fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	if (fd < 0)
		err(1, "accept");
	must_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	use(fd);
}

static void put(const void *bytes, size_t len)
{
	const char *p = bytes;

	while (len) {
		size_t n = pieces && pieces < len ? pieces : len;
		ssize_t ret = send(slots[now], p, n, MSG_NOSIGNAL);

		if (ret < 0 && errno == EAGAIN) {
			if (!ready(slots[now], POLLOUT, WAIT_MS))
				late("room");
			continue;
		}
		if (ret < 0) {
			printf("send %s\n", strerrorname_np(errno));
			return;
		}
		/* Each piece in a packet of its own, and seen as one */
		if (pieces)
			usleep(300);
		p += ret;
		len -= ret;
	}
}

static size_t unhex(unsigned char *out, const char *hex)
{
	size_t n;

	for (n = 0; sscanf(hex, "%2hhx", &out[n]) == 1; n++)
		hex += 2;
	return n;
}

static void be(unsigned char *p, int bytes, unsigned long v)
{
	while (bytes--) {
		p[bytes] = v;
		v >>= 8;
	}
}

static void fill(unsigned long seq, unsigned long first, unsigned long end)
{
	unsigned long i;

	for (i = first; i < end; i++)
		buf[i] = seq + i;
	put(buf + first, end - first);
}

static unsigned long put_header(unsigned long *seq)
{
	unsigned char h[HEADER] = { 0 };
	unsigned long len;
	const char *ext;

	*seq = number();
	be(h, 8, *seq);
	be(h + 8, 8, acked);
	h[24] = number();
	len = number();
	be(h + 16, 4, len);
	be(h + 20, 2, number());
	be(h + 22, 2, number());
	ext = next();
	if (*ext != '-')
		unhex(h + 32, ext);
	put(h, sizeof(h));
	return len;
}

static void put_map(bool able)
{
	static unsigned char m[HEADER + MAP];
	const char *port;

	memset(m, 0, sizeof(m));
	be(m + 16, 4, MAP);
	m[24] = 1;
	if (able)
		memcpy(m + 32, (char[]){ 32, 1 }, 2);
	for (port = able ? "." : next(); *port != '.'; port = next())
		m[HEADER + atoi(port) / 8] |= 1 << atoi(port) % 8;
	put(m, sizeof(m));
}

static void pings(unsigned long n, unsigned long sport)
{
	unsigned char h[HEADER] = { 0 };
	unsigned long i;

	for (i = 1; i <= n; i++) {
		be(h, 8, i);
		be(h + 20, 2, sport);
		put(h, sizeof(h));
	}
}

/* 1: it is there; 0: the connection ended; -1: nothing came */
static int get_bytes(unsigned char *to, size_t len)
{
	while (len) {
		ssize_t ret = recv(slots[now], to, len, 0);

		if (!ret || (ret < 0 && errno != EAGAIN))
			return 0;
		if (ret < 0 && !ready(slots[now], POLLIN, WAIT_MS))
			return -1;
		if (ret > 0) {
			to += ret;
			len -= ret;
		}
	}
	return 1;
}

static unsigned long value(const unsigned char *p, int bytes)
{
	unsigned long v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

static int record(char *text, size_t room)
{
	unsigned char h[HEADER];
	size_t len, n;
	int i, ret = get_bytes(h, sizeof(h));

	if (ret <= 0)
		return ret;
	len = value(h + 16, 4);
	if (len > MIB)
		errx(1, "a record of %zu bytes", len);
	ret = get_bytes(buf, len);
	if (ret <= 0)
		return ret;
	if (h[24] == 1) {
		n = snprintf(text, room, "map");
		for (i = 0; i < 65536 && n < room; i++)
			if (buf[i / 8] >> i % 8 & 1)
				n += snprintf(text + n, room - n, " %d", i);
		return 1;
	}
	n = snprintf(text, room, "%lu/%u/%zu/%lu/%lu", value(h, 8), h[24], len, value(h + 20, 2), value(h + 22, 2));
	for (len = HEADER; len > 32 && !h[len - 1]; len--)
		;
	if (len > 32)
		n += snprintf(text + n, room - n, "/");
	for (i = 32; i < (int)len; i++)
		n += snprintf(text + n, room - n, "%02x", h[i]);
	return 1;
}

static void get(const char *want)
{
	char text[1000], pattern[100];
	int ret;

	snprintf(pattern, sizeof(pattern), "%s*", want);
	do {
		ret = record(text, sizeof(text));
		if (ret < 0)
			late(want);
		if (!ret) {
			printf("gone before %s\n", want);
			exit(1);
		}
		puts(text);
	} while (fnmatch(pattern, text, 0));
}

static void waits(unsigned long bytes)
{
	int i, n = 0;

	for (i = 0; i < WAIT_MS && !ioctl(slots[now], FIONREAD, &n) && n < (int)bytes; i++)
		usleep(1000);
	if (n < (int)bytes)
		late("bytes");
}

/* What comes before is of no interest. */
static void gone(void)
{
	ssize_t ret;

	for (;;) {
		ret = recv(slots[now], buf, sizeof(buf), 0);
		if (ret < 0 && errno == EAGAIN) {
			if (!ready(slots[now], POLLIN, WAIT_MS))
				late("gone");
		} else if (ret <= 0) {
			puts(ret ? strerrorname_np(errno) : "EOF");
			return;
		}
	}
}

static void end(bool reset)
{
	struct linger l = { .l_onoff = 1 };

	if (reset)
		setsockopt(slots[now], SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	close(slots[now]);
	slots[now] = -1;
}

static void strangers(unsigned long n, const char *first, const char *to, bool halves)
{
	struct in_addr a;
	char text[20];
	unsigned long i, up = 0;
	int *fd = calloc(n, sizeof(int));

	inet_pton(AF_INET, first, &a);
	for (i = 0; i < n; i++) {
		inet_ntop(AF_INET, &a, text, sizeof(text));
		from = text;
		fd[i] = begin(to);
		a.s_addr = htonl(ntohl(a.s_addr) + 1);
		/* No more of them on their way than the listener has room for */
		if (i >= 32)
			ready(fd[i - 32], POLLOUT, WAIT_MS);
	}
	for (i = 0; i < n; i++)
		up += ready(fd[i], POLLOUT, WAIT_MS);
	for (i = 0; halves && i < n; i++) {
		slots[now] = fd[i];
		put((unsigned char[HEADER + 10000]){ [7] = 1, [17] = 16, [22] = 4000 >> 8, 4000 & 255 }, HEADER + 10000);
	}
	printf("strangers %lu\n", up);
}

static void syn(unsigned long n, const char *to)
{
	while (n--)
		begin(to);
}

static bool connection_word(const char *w)
{
	unsigned long seq, first;

	if (!strcmp(w, "device")) {
		device = next();
	} else if (!strcmp(w, "from")) {
		from = next();
		if (!strcmp(from, "all"))
			from = NULL;
	} else if (!strcmp(w, "listen")) {
		listener = tcp(from, PORT);
		if (listen(listener, 100))
			err(1, "listen");
	} else if (!strcmp(w, "accept")) {
		accept_one();
	} else if (!strcmp(w, "connect")) {
		connect_to(next());
	} else if (!strcmp(w, "begin")) {
		use(begin(next()));
	} else if (!strcmp(w, "slot")) {
		now = number() % 10;
	} else if (!strcmp(w, "close") || !strcmp(w, "reset")) {
		end(*w == 'r');
	} else if (!strcmp(w, "fin")) {
		shutdown(slots[now], SHUT_WR);
	} else if (!strcmp(w, "strangers") || !strcmp(w, "halves")) {
		bool halves = *w == 'h';

		seq = number();
		w = next();
		strangers(seq, w, next(), halves);
	} else if (!strcmp(w, "syn")) {
		first = number();
		syn(first, next());
	} else {
		return false;
	}
	return true;
}

static bool record_word(const char *w)
{
	unsigned long seq, first;

	if (!strcmp(w, "map") || !strcmp(w, "able")) {
		put_map(*w == 'a');
	} else if (!strcmp(w, "ack")) {
		acked = number();
	} else if (!strcmp(w, "send")) {
		first = put_header(&seq);
		fill(seq, 0, first);
	} else if (!strcmp(w, "head")) {
		put_header(&seq);
	} else if (!strcmp(w, "body")) {
		seq = number();
		first = number();
		fill(seq, first, number());
	} else if (!strcmp(w, "raw")) {
		put(buf, unhex(buf, next()));
	} else if (!strcmp(w, "pieces")) {
		pieces = number();
	} else if (!strcmp(w, "pings")) {
		seq = number();
		pings(seq, number());
	} else if (!strcmp(w, "get")) {
		get(next());
	} else if (!strcmp(w, "waits")) {
		waits(number());
	} else if (!strcmp(w, "gone")) {
		gone();
	} else if (!strcmp(w, "alive")) {
		puts(ready(slots[now], POLLHUP | POLLERR, 0) ? "dead" : "alive");
	} else {
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct rlimit files = { 10000, 10000 };

	(void)argc;
	setrlimit(RLIMIT_NOFILE, &files);
	signal(SIGPIPE, SIG_IGN);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (word = argv + 1; *word;) {
		const char *w = next();

		if (connection_word(w) || record_word(w))
			continue;
		if (!strcmp(w, "say"))
			puts(next());
		else if (!strcmp(w, "stay"))
			for (;;)
				pause();
		else
			errx(2, "what is %s?", w);
	}
	return 0;
}
