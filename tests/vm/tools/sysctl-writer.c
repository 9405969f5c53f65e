// SPDX-License-Identifier: GPL-2.0
/*
 * sysctl-writer NAMESPACE FILE VALUE..: opens FILE as a process of that namespace, goes back to its own, prints "ready", and writes one
 * value after the other, again and again, until that fails. Then it prints the error.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char path[100];
	int own, space, fd, i;

	if (argc < 4)
		errx(2, "NAMESPACE FILE VALUE..");
	snprintf(path, sizeof(path), "/run/netns/%s", argv[1]);
	own = open("/proc/self/ns/net", O_RDONLY);
	space = open(path, O_RDONLY);
	if (space < 0 || setns(space, CLONE_NEWNET))
		err(1, "%s", argv[1]);
	fd = open(argv[2], O_WRONLY);
	if (fd < 0)
		err(1, "%s", argv[2]);
	if (setns(own, CLONE_NEWNET))
		err(1, "back");
	close(space); /* or the namespace would stay */
	puts("ready");
	fflush(stdout);
	for (i = 3; pwrite(fd, argv[i], strlen(argv[i]), 0) > 0; i = i + 1 < argc ? i + 1 : 3)
		;
	printf("%s\n", strerrorname_np(errno));
	return 0;
}
