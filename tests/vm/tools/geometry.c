// SPDX-License-Identifier: GPL-2.0
/* geometry DISK: heads, sectors and cylinders, as HDIO_GETGEO has them */
#include <err.h>
#include <fcntl.h>
#include <linux/hdreg.h>
#include <stdio.h>
#include <sys/ioctl.h>

int main(int argc, char **argv)
{
	struct hd_geometry geo;
	int fd;

	if (argc != 2)
		errx(2, "usage: geometry DISK");
	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || ioctl(fd, HDIO_GETGEO, &geo))
		err(1, "%s", argv[1]);
	printf("%u %u %u\n", geo.heads, geo.sectors, geo.cylinders);
	return 0;
}
