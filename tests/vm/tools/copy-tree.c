// SPDX-License-Identifier: GPL-2.0
/*
 * copy-tree FROM TO SUFFIX: copies the files below FROM whose names end with SUFFIX, each read to its end: those of gcov's in
 * debugfs have no size.
 */
#include <err.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *from, *to, *suffix;

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n >= m && !strcmp(name + n - m, end);
}

static void make_dirs(char *path)
{
	char *p;

	for (p = path + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		mkdir(path, 0755);
		*p = '/';
	}
}

static int copy(const char *path, const struct stat *st __attribute__((unused)), int type,
		struct FTW *ftw __attribute__((unused)))
{
	static char buf[65536];
	char out[4096];
	ssize_t n;
	int in, fd;

	if (type != FTW_F || !ends_with(path, suffix))
		return 0;
	if (snprintf(out, sizeof(out), "%s%s", to, path + strlen(from)) >= (int)sizeof(out))
		errx(1, "%s: too long", path);
	make_dirs(out);
	in = open(path, O_RDONLY);
	fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (in < 0 || fd < 0)
		err(1, "%s", in < 0 ? path : out);
	while ((n = read(in, buf, sizeof(buf))) > 0)
		if (write(fd, buf, n) != n)
			err(1, "%s", out);
	if (n < 0)
		err(1, "%s", path);
	close(in);
	return close(fd);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		errx(2, "usage: copy-tree FROM TO SUFFIX");
	from = argv[1];
	to = argv[2];
	suffix = argv[3];
	return nftw(from, copy, 16, FTW_PHYS) ? 1 : 0;
}
