// SPDX-License-Identifier: GPL-2.0
/*
 * hostile list: names of the tests
 * hostile ADDRESS PORT DISK SLOW-DISK TEST...: runs them against a server that exports DISK, and SLOW-DISK which takes about
 * a second for a request, both by their absolute names. Says what went wrong and exits with 1.
 */
#include "peer.h"

const char *disk, *slow_disk;

static const struct test *const groups[] = {
	connect_tests, info_tests, request_tests, lean_tests, rnbd_tests, io_tests, random_tests,
	access_tests, special_tests, stranger_tests, slots_tests, storm_tests,
};

#define GROUPS	(sizeof(groups) / sizeof(groups[0]))

static const struct test *find(const char *name)
{
	const struct test *t;
	size_t i;

	for (i = 0; i < GROUPS; i++)
		for (t = groups[i]; t->name; t++)
			if (!strcmp(t->name, name))
				return t;
	return NULL;
}

static int list(void)
{
	const struct test *t;
	size_t i;

	for (i = 0; i < GROUPS; i++)
		for (t = groups[i]; t->name; t++)
			puts(t->name);
	return 0;
}

int main(int argc, char **argv)
{
	const struct test *t;
	int i, failed = 0;

	if (argc == 2 && !strcmp(argv[1], "list"))
		return list();
	if (argc < 6) {
		fprintf(stderr, "usage: hostile list | ADDRESS PORT DISK SLOW-DISK TEST...\n");
		return 2;
	}
	disk = argv[3];
	slow_disk = argv[4];
	if (peer_init(argv[1], argv[2]))
		return 2;
	for (i = 5; i < argc; i++) {
		t = find(argv[i]);
		if (!t) {
			fprintf(stderr, "no test %s\n", argv[i]);
			return 2;
		}
		if (t->run()) {
			printf("%s failed\n", t->name);
			failed = 1;
		}
		fflush(stdout);
	}
	return failed;
}
