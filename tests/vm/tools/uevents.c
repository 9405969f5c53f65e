// SPDX-License-Identifier: GPL-2.0
/*
 * What udev hears of our objects.
 *
 *   uevents disks	the action of each uevent of a disk rnbdN, and RESIZE=1 where it has that
 *   uevents classes	ACTION@PATH of each uevent of our classes; behind a session of the client
 *			how many paths it has at that moment
 *
 * Says "ready" before, and ends after a minute.
 */
#include <ctype.h>
#include <dirent.h>
#include <err.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DISK "/devices/virtual/block/rnbd"

static bool of_disk(const char *path)
{
	if (strncmp(path, DISK, strlen(DISK)))
		return false;
	for (path += strlen(DISK); isdigit(*path); path++)
		;
	return !*path;
}

static bool has(const char *msg, ssize_t len, const char *var)
{
	const char *at;

	for (at = msg; at < msg + len; at += strlen(at) + 1)
		if (!strcmp(at, var))
			return true;
	return false;
}

static void say_paths(const char *session)
{
	char name[512];
	struct dirent *entry;
	int n = 0;
	DIR *dir;

	snprintf(name, sizeof(name), "/sys%s/paths", session);
	dir = opendir(name);
	if (!dir)
		return;
	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	closedir(dir);
	printf(" %d", n);
}

int main(int argc, char **argv)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	static char msg[65536];
	bool disks;
	int sock;

	if (argc != 2)
		errx(2, "usage: uevents disks|classes");
	disks = !strcmp(argv[1], "disks");
	sock = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
	if (sock < 0 || bind(sock, (struct sockaddr *)&addr, sizeof(addr)))
		err(1, "netlink");
	setvbuf(stdout, NULL, _IOLBF, 0);
	alarm(60);
	puts("ready");
	for (;;) {
		ssize_t len = recv(sock, msg, sizeof(msg) - 1, 0);
		char *path;

		if (len < 0)
			err(1, "recv");
		msg[len] = 0;
		path = strchr(msg, '@');
		if (!path)
			continue;
		path++;
		if (disks && of_disk(path)) {
			printf("%.*s%s\n", (int)(path - msg - 1), msg,
			       has(msg, len, "RESIZE=1") ? " RESIZE=1" : "");
		} else if (!disks && (strstr(path, "/virtual/rtrs-") || strstr(path, "/virtual/rnbd-"))) {
			printf("%s", msg);
			if (strstr(path, "/rtrs-client/"))
				say_paths(path);
			puts("");
		}
	}
}
