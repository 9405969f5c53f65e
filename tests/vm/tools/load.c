// SPDX-License-Identifier: GPL-2.0
/*
 * I/O while paths are lost: each block that is written is read again and compared.
 *
 *   load DEVICE FILE
 *
 * Every 50 ms it begins to write three blocks of 4 to 64 KiB in the first 2 MiB, past the page cache, and goes on while others
 * wait, up to 32. FILE gets a line for each request that took more than 100 ms: when it began, at CLOCK_MONOTONIC, and how long it
 * took, in seconds. An error, or another byte than was written, ends it badly; after SIGTERM it ends well, once all that it began
 * is done.
 *
 * Two emulated guests need 0.58 of a CPU of their host for these 114 requests a second. With fio, kept to a rate, and a reader that
 * took the times, it was 0.68 for 60 a second, and only time could tell that all was verified.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define BLOCK	4096
#define LONGEST	(16 * BLOCK)
#define TICK	0.05
#define AT_ONCE	3
#define STALL	0.1

struct slot {
	struct iocb io;
	uint64_t seed;
	double begin;
	uint64_t *data;
	int busy;
};

static struct slot slots[32];
static aio_context_t context;
static volatile sig_atomic_t ending;
static int disk, busy;

static void end(int sig)
{
	(void)sig;
	ending = 1;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void submit(struct slot *s, int opcode)
{
	struct iocb *io = &s->io;

	io->aio_lio_opcode = opcode;
	s->begin = now();
	if (syscall(SYS_io_submit, context, 1L, &io) != 1)
		err(1, "io_submit");
}

static void begin_write(struct slot *s, uint64_t *random)
{
	uint64_t word = s->seed = next(random);

	s->io = (struct iocb){
		.aio_data = (uintptr_t)s,
		.aio_fildes = disk,
		.aio_buf = (uintptr_t)s->data,
		.aio_nbytes = BLOCK * (1 + next(random) % (LONGEST / BLOCK)),
		.aio_offset = (s - slots) * LONGEST,
	};
	for (size_t i = 0; i < s->io.aio_nbytes / sizeof(*s->data); i++)
		s->data[i] = next(&word);
	s->busy = 1;
	busy++;
	submit(s, IOCB_CMD_PWRITE);
}

static void done(struct slot *s, int64_t result, FILE *stalls)
{
	int written = s->io.aio_lio_opcode == IOCB_CMD_PWRITE;
	double took = now() - s->begin;
	uint64_t word = s->seed;

	if (took > STALL)
		fprintf(stalls, "%.3f %.3f\n", s->begin, took);
	if (result != (int64_t)s->io.aio_nbytes)
		errx(1, "%s of %llu bytes at %llu: %s", written ? "write" : "read", s->io.aio_nbytes, s->io.aio_offset,
		     result < 0 ? strerror(-result) : "not all");
	if (written) {
		memset(s->data, 0, s->io.aio_nbytes);
		submit(s, IOCB_CMD_PREAD);
		return;
	}
	for (size_t i = 0; i < s->io.aio_nbytes / sizeof(*s->data); i++) {
		if (s->data[i] != next(&word))
			errx(1, "byte %llu is not as it was written", s->io.aio_offset + i * sizeof(*s->data));
	}
	s->busy = 0;
	busy--;
}

int main(int argc, char **argv)
{
	struct io_event events[ARRAY_SIZE(slots)];
	uint64_t random = (uint64_t)getpid() << 32 | (uint64_t)time(NULL);
	unsigned int turn = 0;
	FILE *stalls;
	double tick;

	if (argc != 3)
		errx(2, "usage: load DEVICE FILE");
	signal(SIGTERM, end);
	disk = open(argv[1], O_RDWR | O_DIRECT);
	if (disk < 0)
		err(1, "%s", argv[1]);
	stalls = fopen(argv[2], "a");
	if (!stalls)
		err(1, "%s", argv[2]);
	setvbuf(stalls, NULL, _IOLBF, 0);
	if (syscall(SYS_io_setup, ARRAY_SIZE(slots), &context))
		err(1, "io_setup");
	for (size_t i = 0; i < ARRAY_SIZE(slots); i++) {
		slots[i].data = aligned_alloc(BLOCK, LONGEST);
		if (!slots[i].data)
			err(1, "memory");
	}
	for (tick = now(); busy || !ending;) {
		struct timespec rest = { 0 };
		double left = tick - now();
		long n;

		if (left <= 0) {
			for (int i = 0; !ending && i < AT_ONCE; i++, turn++) {
				struct slot *s = &slots[turn % ARRAY_SIZE(slots)];

				if (!s->busy)
					begin_write(s, &random);
			}
			tick = now() + TICK;
			left = TICK;
		}
		rest.tv_nsec = left * 1e9;
		n = syscall(SYS_io_getevents, context, 1L, (long)ARRAY_SIZE(events), events, &rest);
		if (n < 0 && errno != EINTR)
			err(1, "io_getevents");
		for (long i = 0; i < n; i++)
			done((struct slot *)(uintptr_t)events[i].data, events[i].res, stalls);
	}
}
