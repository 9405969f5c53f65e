// SPDX-License-Identifier: GPL-2.0
/*
 * exercise DEVICE MODEL OPERATIONS [SEED]: random reads, writes, discards, zeroes and syncs of any
 * place and length, past the page cache and through it. The file MODEL is what the device must be
 * like: all of it is compared before and after, so it holds from one mapping of a disk to the next.
 * What fails names the seed, which brings the same operations again.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#define LONGEST	(512 << 10)

static uint64_t seed, state, size;
static unsigned int number;
static int direct, cached, sector;
static unsigned char *model, *data;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

__attribute__((format(printf, 1, 2), noreturn)) static void failed(const char *fmt, ...)
{
	va_list ap;

	warnx("seed %llu, operation %u:", (unsigned long long)seed, number);
	va_start(ap, fmt);
	verr(1, fmt, ap);
}

static void compare(int fd, uint64_t at, size_t len)
{
	size_t i;

	errno = 0;
	memset(data, 0x5a, len);
	if (pread(fd, data, len, at) != (ssize_t)len)
		failed("%zu bytes at %#llx are not read", len, (unsigned long long)at);
	for (i = 0; i < len; i++)
		if (data[i] != model[at + i])
			failed("of %zu bytes at %#llx that were read %s, byte %#zx is %02x, not %02x", len,
			       (unsigned long long)at, fd == direct ? "past the page cache" : "through it", i,
			       data[i], model[at + i]);
}

static void compare_all(void)
{
	uint64_t at;

	for (at = 0; at < size; at += LONGEST)
		compare(direct, at, size - at < LONGEST ? size - at : LONGEST);
}

static void change(int fd, uint64_t at, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		data[i] = next_random() >> 32;
	if (pwrite(fd, data, len, at) != (ssize_t)len)
		failed("%zu bytes at %#llx are not written", len, (unsigned long long)at);
	memcpy(model + at, data, len);
}

static void clear(unsigned long request, const char *what, uint64_t at, size_t len)
{
	uint64_t range[2] = { at, len };

	if (ioctl(direct, request, range))
		failed("%s of %zu bytes at %#llx", what, len, (unsigned long long)at);
	memset(model + at, 0, len);
}

/* Short and long ones, as often. The page cache takes any, the disk whole sectors. */
static void operate(void)
{
	size_t most = 512 << next_random() % 11, len = 1 + next_random() % most;
	unsigned int what = next_random() % 10;
	bool whole = what < 6;
	uint64_t at;

	if (whole)
		len = (len + sector - 1) / sector * sector;
	at = next_random() % (size - len + 1);
	if (whole)
		at -= at % sector;
	switch (what) {
	case 0:
		return compare(direct, at, len);
	case 1 ... 3:
		return change(direct, at, len);
	case 4:
		return clear(BLKDISCARD, "discard", at, len);
	case 5:
		return clear(BLKZEROOUT, "zeroes", at, len);
	case 6:
		return compare(cached, at, len);
	case 7 ... 8:
		return change(cached, at, len);
	default:
		if (fsync(cached))
			failed("fsync");
	}
}

int main(int argc, char **argv)
{
	unsigned int count;
	int fd;

	if (argc < 4 || argc > 5)
		errx(2, "usage: exercise DEVICE MODEL OPERATIONS [SEED]");
	if (argc < 5 && getrandom(&seed, sizeof(seed), 0) < 0)
		err(1, "getrandom");
	seed = argc < 5 ? seed : strtoull(argv[4], NULL, 0);
	state = seed ?: 1;
	count = atoi(argv[3]);
	direct = open(argv[1], O_RDWR | O_DIRECT);
	cached = open(argv[1], O_RDWR);
	if (direct < 0 || cached < 0 || ioctl(direct, BLKGETSIZE64, &size) || ioctl(direct, BLKSSZGET, &sector))
		err(1, "%s", argv[1]);
	fd = open(argv[2], O_RDWR);
	model = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || model == MAP_FAILED)
		err(1, "%s", argv[2]);
	data = aligned_alloc(4096, LONGEST);
	compare_all();
	for (number = 1; number <= count; number++)
		operate();
	if (fsync(cached))
		failed("fsync");
	compare_all();
	return 0;
}
