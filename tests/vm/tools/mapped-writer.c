// SPDX-License-Identifier: GPL-2.0
/*
 * Writes to a disk by a mapping of it, and has that written back, again and again.
 *
 *   mapped-writer DEVICE FILE
 *
 * Until FILE is there, or the disk fails.
 */
#include <err.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char *m;
	int fd;

	if (argc != 3)
		errx(2, "usage: mapped-writer DEVICE FILE");
	fd = open(argv[1], O_RDWR);
	if (fd < 0)
		err(1, "%s", argv[1]);
	m = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (m == MAP_FAILED)
		err(1, "mmap");
	while (access(argv[2], F_OK)) {
		memset(m, 0, 4096);
		if (fsync(fd))
			break;
	}
	return 0;
}
