// SPDX-License-Identifier: GPL-2.0
/*
 * How long I/O stands still.
 *
 *   probe DEVICE FILE
 *
 * Reads one block after another, past the page cache. FILE gets a line for each read that took
 * more than 100 ms: when it began, at CLOCK_MONOTONIC, and how long it took, in seconds. An error
 * ends it; SIGTERM ends it well.
 */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define BLOCK	4096
#define STRIDE	(17 * BLOCK)

static void ended(int sig)
{
	(void)sig;
	_exit(0);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	off_t size, place = 0;
	FILE *stalls;
	void *block;
	int disk;

	if (argc != 3)
		errx(2, "usage: probe DEVICE FILE");
	signal(SIGTERM, ended);
	disk = open(argv[1], O_RDONLY | O_DIRECT);
	if (disk < 0)
		err(1, "%s", argv[1]);
	size = lseek(disk, 0, SEEK_END);
	stalls = fopen(argv[2], "a");
	if (!stalls)
		err(1, "%s", argv[2]);
	setvbuf(stalls, NULL, _IOLBF, 0);
	block = aligned_alloc(BLOCK, BLOCK);
	for (;;) {
		double begin = now(), took;

		/* A disk that is gone has no size */
		place = size ? (place + STRIDE) % size : 0;
		if (pread(disk, block, BLOCK, place) != BLOCK)
			err(1, "read");
		took = now() - begin;
		if (took > 0.1)
			fprintf(stalls, "%.3f %.3f\n", begin, took);
		usleep(20000);
	}
}
