// SPDX-License-Identifier: GPL-2.0
/*
 * Direct I/O with buffers that begin and end inside of a page. What is written is read again into a
 * buffer that begins elsewhere, and compared.
 *
 *   unaligned DEVICE		of several sizes from each sector of a page on; and eight sectors of
 *				eight pages by one read, with a gap behind each
 *   unaligned DEVICE BYTES	of that size, from the second sector of a page on, then from the last
 */
#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE	4096
#define SECTOR	512
#define PARTS	8

static char *out, *back;
static int disk;

static char *pages(size_t size)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		err(1, "mmap");
	return p;
}

static void fill(char *buf, size_t len)
{
	while (len) {
		ssize_t n = getrandom(buf, len, 0);

		if (n < 0)
			err(1, "getrandom");
		buf += n;
		len -= n;
	}
}

static void there_and_back(size_t start, size_t size, off_t pos)
{
	char *a = out + start, *b = back + PAGE - start;

	if (pwrite(disk, a, size, pos) != (ssize_t)size)
		err(1, "write of %zu from %zu", size, start);
	if (pread(disk, b, size, pos) != (ssize_t)size)
		err(1, "read of %zu to %zu", size, PAGE - start);
	if (memcmp(a, b, size))
		errx(1, "%zu from %zu: not what was written", size, start);
}

static void read_parts(size_t start, off_t pos)
{
	struct iovec parts[PARTS];
	int i;

	for (i = 0; i < PARTS; i++)
		parts[i] = (struct iovec){ back + PAGE * i + start, SECTOR };
	if (preadv(disk, parts, PARTS, pos) != PARTS * SECTOR)
		err(1, "read of parts from %zu", start);
}

static void several(void)
{
	static const size_t sizes[] = { 512, 3584, 4096, 4608, 126976, 130560 };
	size_t start, i;
	off_t pos = 0;

	out = pages(1 << 20);
	back = pages(1 << 20);
	fill(out, 1 << 20);
	for (start = 0; start < PAGE; start += SECTOR)
		for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			there_and_back(start, sizes[i], pos);
			read_parts(start, pos & ~(off_t)(PAGE - 1));
			pos += sizes[i];
		}
}

static void of_size(size_t size)
{
	static const size_t starts[] = { SECTOR, PAGE - SECTOR };
	size_t i;

	out = pages(size + 2 * PAGE);
	back = pages(size + 2 * PAGE);
	for (i = 0; i < 2; i++) {
		fill(out + starts[i], size);
		there_and_back(starts[i], size, size);
	}
}

int main(int argc, char **argv)
{
	if (argc != 2 && argc != 3)
		errx(2, "usage: unaligned DEVICE [BYTES]");
	disk = open(argv[1], O_RDWR | O_DIRECT);
	if (disk < 0)
		err(1, "%s", argv[1]);
	if (argc == 2)
		several();
	else
		of_size(strtoul(argv[2], NULL, 0));
	return 0;
}
