// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

#define SIZE_MAX_FILE	(16 << 20)

/* Some editors begin UTF-8 with it. */
static void drop_mark(struct strbuf *b)
{
	static const char mark[] = "\xef\xbb\xbf";
	size_t n = strlen(mark);

	if (strncmp(b->s, mark, n))
		return;
	b->len -= n;
	memmove(b->s, b->s + n, b->len + 1);
}

int whole_read(const char *path, struct strbuf *b)
{
	bool in = !strcmp(path, "-");
	int fd = in ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), err;
	char buf[16384];
	ssize_t n;

	strbuf_puts(b, "");
	if (fd < 0)
		return errno;
	while ((n = read(fd, buf, sizeof(buf))) > 0 && b->len <= SIZE_MAX_FILE)
		strbuf_add(b, buf, (size_t)n);
	err = n < 0 ? errno : b->len > SIZE_MAX_FILE ? EFBIG : 0;
	if (!in)
		close(fd);
	drop_mark(b);
	return err;
}

int whole_fail(struct fail *f, const char *name, int err)
{
	f->err = err;
	fail_object(f, "file", name);
	return fail_set(f, errno_exit_code(err), "%s: %s (%s)", name, strerror(err), errno_name(err));
}
