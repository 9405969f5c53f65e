// SPDX-License-Identifier: GPL-2.0
/* exchange A B: lets two names change places until that fails, or it is killed */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	if (argc != 3)
		errx(2, "usage: exchange A B");
	while (!renameat2(AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE))
		;
	err(1, "%s, %s", argv[1], argv[2]);
}
