// SPDX-License-Identifier: GPL-2.0
/*
 * sync-times DEVICE FILE: writes a block past the page cache and has it flushed, again and again, until it is killed. FILE gets a line
 * for each with the microseconds that it took; an error ends it.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BLOCK	4096

static long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
	static char block[BLOCK] __attribute__((aligned(BLOCK)));
	long start;
	FILE *out;
	int fd;

	if (argc != 3)
		errx(2, "usage: sync-times DEVICE FILE");
	fd = open(argv[1], O_WRONLY | O_DIRECT);
	out = fopen(argv[2], "a");
	if (fd < 0 || !out)
		err(1, "%s, %s", argv[1], argv[2]);
	setlinebuf(out);
	for (;;) {
		memset(block, block[0] + 1, BLOCK);
		start = now_us();
		if (pwrite(fd, block, BLOCK, 0) != BLOCK || fsync(fd))
			err(1, "%s", argv[1]);
		fprintf(out, "%ld\n", now_us() - start);
		usleep(1000);
	}
}
