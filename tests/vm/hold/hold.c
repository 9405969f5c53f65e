// SPDX-License-Identifier: GPL-2.0
/*
 * A disk that holds chosen requests, and keeps a record: the other end of a network block
 * device, in memory.
 *
 *   hold /dev/nbdN MIB DIR
 *
 * DIR/control is a fifo that takes lines:
 *   hold FIRST COUNT N	the next N writes that touch these sectors are neither done nor answered
 *   release		those that are held are, in the order in which they came
 *   release first	the oldest of them is
 * DIR/record gets a line for each command, and two for each request: when it came and when it
 * was answered, at CLOCK_MONOTONIC. What is written shows by its first bytes.
 *
 * A write that is held changes the disk when it is released.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <endian.h>
#include <err.h>
#include <fcntl.h>
#include <linux/nbd.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECTOR		512
#define TAG_LEN		8

struct request {
	struct nbd_request wire;
	uint32_t cmd;
	uint32_t len;
	uint64_t from;
	unsigned int number;
	char *data;
	struct request *next;
};

static char *disk;
static uint64_t disk_size;
static int sock, record;
static unsigned int requests;

/* Writes that are still to be held, where, and those that are, oldest first */
static unsigned long to_hold;
static uint64_t hold_from, hold_end;
static struct request *held;

static void __attribute__((format(printf, 1, 2))) note(const char *format, ...)
{
	struct timespec now;
	char line[256];
	va_list args;
	int n;

	clock_gettime(CLOCK_MONOTONIC, &now);
	n = snprintf(line, sizeof(line), "%lld.%06ld ", (long long)now.tv_sec, now.tv_nsec / 1000);
	va_start(args, format);
	n += vsnprintf(line + n, sizeof(line) - n, format, args);
	va_end(args);
	if (write(record, line, n) != n)
		err(1, "record");
}

static void note_request(const struct request *req, const char *what)
{
	static const char *const names[] = { "read", "write", "disconnect", "flush", "trim" };
	char tag[TAG_LEN + 1] = "";
	int i;

	for (i = 0; req->data && i < TAG_LEN && isprint(req->data[i]); i++)
		tag[i] = req->data[i];
	note("%s #%u %s %llu+%u %s\n", what, req->number,
	     req->cmd < sizeof(names) / sizeof(names[0]) ? names[req->cmd] : "?",
	     (unsigned long long)req->from / SECTOR, req->len / SECTOR, tag);
}

static void get(void *to, size_t len)
{
	ssize_t n;

	for (; len; to = (char *)to + n, len -= n) {
		n = read(sock, to, len);
		if (n < 0)
			err(1, "read from nbd");
		if (n == 0)
			exit(0); /* the device was disconnected */
	}
}

static void put(const void *from, size_t len)
{
	ssize_t n;

	for (; len; from = (const char *)from + n, len -= n) {
		n = write(sock, from, len);
		if (n <= 0)
			err(1, "write to nbd");
	}
}

static void answer(struct request *req)
{
	struct nbd_reply reply = { .magic = htonl(NBD_REPLY_MAGIC) };

	memcpy(reply.handle, req->wire.handle, sizeof(reply.handle));
	if (req->from + req->len > disk_size)
		reply.error = htonl(28);
	else if (req->cmd == NBD_CMD_WRITE)
		memcpy(disk + req->from, req->data, req->len);
	/* First: who sees the answer finds it in the record */
	note_request(req, "answered");
	put(&reply, sizeof(reply));
	if (req->cmd == NBD_CMD_READ && !reply.error)
		put(disk + req->from, req->len);
	free(req->data);
	free(req);
}

static bool is_to_be_held(const struct request *req)
{
	return to_hold && req->cmd == NBD_CMD_WRITE && req->from < hold_end &&
	       req->from + req->len > hold_from;
}

static void one_request(void)
{
	struct request *req = calloc(1, sizeof(*req)), **end;

	if (!req)
		err(1, "a request");
	get(&req->wire, sizeof(req->wire));
	if (req->wire.magic != htonl(NBD_REQUEST_MAGIC))
		errx(1, "bad magic");
	req->cmd = ntohl(req->wire.type) & 0xffff;
	req->from = be64toh(req->wire.from);
	req->len = ntohl(req->wire.len);
	req->number = ++requests;
	if (req->cmd == NBD_CMD_DISC)
		exit(0);
	if (req->cmd == NBD_CMD_WRITE) {
		req->data = malloc(req->len);
		if (!req->data)
			err(1, "%u bytes", req->len);
		get(req->data, req->len);
	}
	if (!is_to_be_held(req)) {
		note_request(req, "arrived");
		answer(req);
		return;
	}
	to_hold--;
	note_request(req, "held");
	for (end = &held; *end; end = &(*end)->next)
		;
	*end = req;
}

static void release(bool all)
{
	while (held) {
		struct request *req = held;

		held = req->next;
		answer(req);
		if (!all)
			return;
	}
}

static void one_command(FILE *control)
{
	unsigned long long first, count;
	char line[64];

	if (!fgets(line, sizeof(line), control))
		errx(1, "no command");
	note("command: %s", line);
	if (sscanf(line, "hold %llu %llu %lu", &first, &count, &to_hold) == 3) {
		hold_from = first * SECTOR;
		hold_end = hold_from + count * SECTOR;
	} else if (!strcmp(line, "release\n")) {
		to_hold = 0;
		release(true);
	} else if (!strcmp(line, "release first\n")) {
		release(false);
	} else {
		warnx("unknown: %s", line);
	}
}

/* Connects the device; a child of ours lends it a thread until it is disconnected. */
static void attach(const char *name)
{
	int dev = open(name, O_RDWR), pair[2];

	if (dev < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		err(1, "%s", name);
	sock = pair[0];
	if (ioctl(dev, NBD_SET_BLKSIZE, (unsigned long)SECTOR) ||
	    ioctl(dev, NBD_SET_SIZE_BLOCKS, (unsigned long)(disk_size / SECTOR)) ||
	    ioctl(dev, NBD_CLEAR_SOCK) || ioctl(dev, NBD_SET_SOCK, pair[1]) ||
	    ioctl(dev, NBD_SET_FLAGS, NBD_FLAG_HAS_FLAGS | NBD_FLAG_SEND_FLUSH))
		err(1, "%s", name);
	switch (fork()) {
	case -1:
		err(1, "fork");
	case 0:
		close(sock);
		ioctl(dev, NBD_DO_IT);
		ioctl(dev, NBD_CLEAR_QUE);
		ioctl(dev, NBD_CLEAR_SOCK);
		_exit(0);
	}
	close(pair[1]);
	close(dev);
}

int main(int argc, char **argv)
{
	struct pollfd fds[2];
	FILE *control;
	int fifo;

	if (argc != 4)
		errx(2, "usage: hold /dev/nbdN MIB DIR");
	disk_size = strtoull(argv[2], NULL, 10) << 20;
	disk = calloc(1, disk_size);
	if (!disk)
		err(1, "%s MiB", argv[2]);
	if (chdir(argv[3]) || mkfifo("control", 0600))
		err(1, "%s", argv[3]);
	record = open("record", O_WRONLY | O_CREAT | O_APPEND, 0600);
	/* For writing, too: it has no end */
	fifo = open("control", O_RDWR);
	control = fifo < 0 ? NULL : fdopen(fifo, "r");
	if (record < 0 || !control)
		err(1, "%s", argv[3]);
	setvbuf(control, NULL, _IONBF, 0);
	attach(argv[1]);
	fds[0] = (struct pollfd){ .fd = sock, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = fifo, .events = POLLIN };
	for (;;) {
		if (poll(fds, 2, -1) < 0)
			err(1, "poll");
		if (fds[1].revents)
			one_command(control);
		if (fds[0].revents)
			one_request();
	}
}
