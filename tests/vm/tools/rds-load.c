// SPDX-License-Identifier: GPL-2.0
/*
 * Load for RDS sockets, and what it measures.
 *
 *   rds-load serve ADDRESS TASKS
 *	Answers at the ports 5000 and so on, one task at each, until it is killed. Prints "ready".
 *   rds-load call ADDRESS PEER TASKS COUNT BYTES REPLY DEPTH
 *	Each task has DEPTH messages of BYTES under way to its port of PEER until COUNT are answered; of each REPLY bytes come back and
 *	are compared. COUNT 0: until it is terminated, and once more each task waits for its last answers. Prints for all tasks
 *	"messages N ns T lost L again A wrong W slow S longest NS median NS p99 NS": the time of all together; messages that were skipped,
 *	came twice or differ; answers that took 4 ms or longer; the longest time that a task heard nothing; times from message to answer.
 *   rds-load message FROM TO COUNT BYTES
 *	One task sends from the address FROM and receives at TO, "NETNS/ADDRESS" or "ADDRESS", one message after the other. Prints
 *	"messages N ns T".
 *   rds-load nothing COUNT
 *	As "message", of system calls of a socket that has nowhere to send to, and nothing to receive.
 *   rds-load peers ADDRESS FIRST COUNT
 *	Sends a message to each of COUNT addresses from FIRST on, prints "sent", and for each line that it reads the time until all
 *	connections of its namespace are up, "up NS connections N"; ends with its input.
 */
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include "rds.h"

#define TASKS_MAX	64
#define DEPTH_MAX	64
#define SLOW_NS		4000000
#define SILENCE_MAX	30000 /* ms */
#define FIRST_MAX	5000
#define BUCKET_NS	10000
#define BUCKETS		10000

/* What begins a message: the answer is its first @reply bytes. */
struct head {
	uint32_t reply;
	uint32_t seq;
};

struct result {
	long answered, lost, again, wrong, slow, longest;
	int ready;
	uint32_t took[BUCKETS];
};

struct shared {
	volatile int begun;
	struct result task[TASKS_MAX];
};

static struct shared *shared;

static volatile sig_atomic_t stop;

static long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000L + ts.tv_nsec;
}

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

/* Of the namespace in front of the address, if there is one */
static int socket_at(const char *where, int port)
{
	const char *addr = strchr(where, '/');
	char path[100];
	int netns, fd;

	if (addr) {
		snprintf(path, sizeof(path), "/run/netns/%.*s", (int)(addr - where), where);
		netns = open(path, O_RDONLY);
		if (netns < 0 || setns(netns, CLONE_NEWNET))
			err(1, "%s", path);
		close(netns);
	}
	fd = open_socket();
	if (binds(fd, addr ? addr + 1 : where, port, sizeof(struct sockaddr_in)))
		err(1, "bind %s %d", where, port);
	return fd;
}

static void serve(const char *addr, int port)
{
	static char buf[MIB];
	struct head *h = (void *)buf;
	struct sockaddr_in from;
	int fd = socket_at(addr, port);
	socklen_t len;
	ssize_t n;

	for (;;) {
		len = sizeof(from);
		n = recvfrom(fd, buf, sizeof(buf), 0, (void *)&from, &len);
		if (n < (ssize_t)sizeof(*h))
			continue;
		if (sendto(fd, buf, h->reply < n ? h->reply : n, 0, (void *)&from, len) < 0)
			err(1, "answer");
	}
}

struct caller {
	struct result *r;
	int fd;
	uint32_t count, bytes, reply, depth, sent, next;
	long begun[DEPTH_MAX];
	char out[MIB], in[MIB];
};

static void send_next(struct caller *c)
{
	struct head *h = (void *)c->out;

	h->reply = c->reply;
	h->seq = c->sent;
	c->begun[c->sent % DEPTH_MAX] = now();
	if (send(c->fd, c->out, c->bytes, 0) < 0)
		err(1, "send");
	c->sent++;
}

static void note(struct caller *c, uint32_t seq, long t)
{
	long took = t - c->begun[seq % DEPTH_MAX];

	c->r->took[took / BUCKET_NS < BUCKETS ? took / BUCKET_NS : BUCKETS - 1]++;
	c->r->slow += took >= SLOW_NS;
	c->r->answered++;
}

/* False: nothing comes any more. */
static bool receive(struct caller *c)
{
	struct head *in = (void *)c->in, *out = (void *)c->out;
	ssize_t n = recv(c->fd, c->in, sizeof(c->in), 0);
	uint32_t seq;

	if (n < 0)
		return errno == EINTR;
	seq = in->seq;
	out->seq = seq;
	if (n != c->reply || memcmp(c->in, c->out, n))
		c->r->wrong++;
	if (seq < c->next || seq >= c->sent) {
		c->r->again++;
		return true;
	}
	c->r->lost += seq - c->next;
	c->next = seq + 1;
	note(c, seq, now());
	return true;
}

static bool more(const struct caller *c)
{
	return !stop && (!c->count || c->sent < c->count);
}

static void call(struct caller *c)
{
	long last = now(), t;

	for (;;) {
		while (more(c) && c->sent - c->next < c->depth)
			send_next(c);
		if (c->sent == c->next || !receive(c))
			break;
		t = now();
		if (t - last > c->r->longest)
			c->r->longest = t - last;
		last = t;
	}
	c->r->lost += c->sent - c->next;
}

static void caller(struct caller *c, const char *addr, const char *peer, int i)
{
	struct sigaction sa = { .sa_handler = on_term };
	uint32_t j;

	for (j = 0; j < c->bytes; j++)
		c->out[j] = j * 7 + j / 256 + i;
	c->r = &shared->task[i];
	c->fd = socket_at(addr, 4000 + i);
	set_ms(c->fd, SO_RCVTIMEO, FIRST_MAX);
	if (connects(c->fd, peer, 5000 + i, sizeof(struct sockaddr_in)))
		err(1, "connect %s", peer);
	sigaction(SIGTERM, &sa, NULL);
	/* The connection is there, and the server. */
	send_next(c);
	if (!receive(c) || c->next != 1)
		errx(1, "no answer");
	set_ms(c->fd, SO_RCVTIMEO, SILENCE_MAX);
	memset(c->r, 0, sizeof(*c->r));
	c->count += !!c->count;
	c->r->ready = 1;
	while (!shared->begun)
		usleep(1000);
	call(c);
}

static long percentile(long all, int percent)
{
	long seen = 0;
	int b, i;

	for (b = 0; b < BUCKETS; b++) {
		for (i = 0; i < TASKS_MAX; i++)
			seen += shared->task[i].took[b];
		if (seen * 100 >= all * percent)
			break;
	}
	return (long)b * BUCKET_NS;
}

static void report(int tasks, long ns)
{
	struct result sum = { 0 };
	int i;

	for (i = 0; i < tasks; i++) {
		const struct result *r = &shared->task[i];

		sum.answered += r->answered;
		sum.lost += r->lost;
		sum.again += r->again;
		sum.wrong += r->wrong;
		sum.slow += r->slow;
		if (r->longest > sum.longest)
			sum.longest = r->longest;
	}
	printf("messages %ld ns %ld lost %ld again %ld wrong %ld slow %ld longest %ld median %ld p99 %ld\n", sum.answered, ns,
	       sum.lost, sum.again, sum.wrong, sum.slow, sum.longest, percentile(sum.answered, 50), percentile(sum.answered, 99));
}

static pid_t children[TASKS_MAX];

static void pass_term(int sig)
{
	for (int i = 0; i < TASKS_MAX && children[i]; i++)
		kill(children[i], sig);
}

static int calls(char **arg)
{
	static struct caller c;
	struct sigaction sa = { .sa_handler = pass_term, .sa_flags = SA_RESTART };
	int tasks = atoi(arg[2]), i, status, bad = 0;
	long start;

	c.count = atoi(arg[3]);
	c.bytes = atoi(arg[4]);
	c.reply = atoi(arg[5]);
	c.depth = atoi(arg[6]);
	if (tasks < 1 || tasks > TASKS_MAX || c.depth < 1 || c.depth > DEPTH_MAX || c.bytes > MIB || c.reply > c.bytes ||
	    c.reply < sizeof(struct head))
		return 2;
	for (i = 0; i < tasks; i++) {
		children[i] = fork();
		if (!children[i]) {
			caller(&c, arg[0], arg[1], i);
			exit(0);
		}
	}
	sigaction(SIGTERM, &sa, NULL);
	for (i = 0; i < tasks; i++)
		while (!*(volatile int *)&shared->task[i].ready) {
			if (waitpid(-1, &status, WNOHANG) > 0)
				errx(1, "a task has ended");
			usleep(1000);
		}
	puts("begun");
	fflush(stdout);
	start = now();
	shared->begun = 1;
	for (i = 0; i < tasks; i++)
		if (wait(&status) < 0 || status)
			bad = 1;
	report(tasks, now() - start);
	return bad;
}

static int serves(char **arg)
{
	int tasks = atoi(arg[1]), i;

	for (i = 0; i < tasks; i++) {
		children[i] = fork();
		if (!children[i])
			serve(arg[0], 5000 + i);
	}
	signal(SIGTERM, pass_term);
	puts("ready");
	fflush(stdout);
	while (wait(NULL) > 0)
		;
	return 0;
}

static int message(char **arg)
{
	static char buf[MIB];
	int from = socket_at(arg[0], 4000), to = socket_at(arg[1], 5000), count = atoi(arg[2]), bytes = atoi(arg[3]), i;
	const char *slash = strchr(arg[1], '/');
	long start = 0;

	if (connects(from, slash ? slash + 1 : arg[1], 5000, sizeof(struct sockaddr_in)))
		err(1, "connect");
	set_ms(to, SO_RCVTIMEO, SILENCE_MAX);
	for (i = -100; i < count; i++) {
		if (!i)
			start = now();
		if (send(from, buf, bytes, 0) != bytes || recv(to, buf, sizeof(buf), 0) != bytes)
			err(1, "message");
	}
	printf("messages %d ns %ld\n", count, now() - start);
	return 0;
}

static int nothing(char **arg)
{
	static char buf[64];
	int fd = open_socket(), count = atoi(arg[0]), i;
	long start = now();

	for (i = 0; i < count; i++)
		if (send(fd, buf, sizeof(buf), 0) >= 0 || recv(fd, buf, sizeof(buf), MSG_DONTWAIT) >= 0)
			errx(1, "nothing");
	printf("messages %d ns %ld\n", count, now() - start);
	return 0;
}

/* How many connections there are, and of them not up */
static int connections(int fd, int *down)
{
	static struct rds_info_connection list[10000];
	socklen_t len = sizeof(list);
	int size = getsockopt(fd, SOL_RDS, RDS_INFO_CONNECTIONS, list, &len), i, n;

	if (size != sizeof(list[0]))
		err(1, "list of connections: %d", size);
	n = len / size;
	*down = 0;
	for (i = 0; i < n; i++)
		*down += !(list[i].flags & RDS_INFO_CONNECTION_FLAG_CONNECTED);
	return n;
}

static int peers(char **arg)
{
	struct sockaddr_in sin = in4(arg[1], 5000);
	in_addr_t first = ntohl(sin.sin_addr.s_addr);
	int fd = socket_at(arg[0], 4000), count = atoi(arg[2]), i, down;
	char line[100];
	long start;

	for (i = 0; i < count; i++) {
		sin.sin_addr.s_addr = htonl(first + i);
		if (sendto(fd, line, 8, 0, (void *)&sin, sizeof(sin)) < 0)
			err(1, "send to peer %d", i);
	}
	puts("sent");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		start = now();
		do
			usleep(10000);
		while ((connections(fd, &down) < count || down) && now() - start < 10000000000);
		printf("up %ld connections %d down %d\n", now() - start, connections(fd, &down), down);
		fflush(stdout);
	}
	return 0;
}

static const struct {
	const char *name;
	int args;
	int (*run)(char **arg);
} verbs[] = {
	{ "serve", 2, serves }, { "call", 7, calls }, { "message", 4, message }, { "peers", 3, peers },
	{ "nothing", 1, nothing },
};

int main(int argc, char **argv)
{
	size_t i;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		err(1, "memory");
	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (argc == verbs[i].args + 2 && !strcmp(argv[1], verbs[i].name))
			return verbs[i].run(argv + 2);
	fprintf(stderr, "rds-load: see tests/vm/tools/rds-load.c\n");
	return 2;
}
