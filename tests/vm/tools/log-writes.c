// SPDX-License-Identifier: GPL-2.0
/*
 * Writes whose place in the log of dm-log-writes is known, and the log replayed.
 *
 *   log-writes workload DISK TARGET MODE   writes to DISK; after each group that MODE (fsync, dsync,
 *					    cached, none) made lasting puts a mark into the log of
 *					    the dm device TARGET
 *   log-writes verify LOG		    the device, as the log has it at each mark, has what was
 *					    written until then
 *   log-writes image LOG MARK FILE	    the device at that mark
 *
 * What is written, and where, follows from the number of the group alone.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BLOCK		4096
#define BLOCKS		2048
#define GROUPS		12
#define PER_GROUP	8
#define SIZE		(320 << 20)
#define MAGIC		0x6a736677736872ULL
#define DISCARD		4
#define MARK		8
#define LAST_MARK	"dm-log-writes-end"

/* The begin of the log, and of each entry */
struct super {
	uint64_t magic, version, entries;
	uint32_t sectorsize;
} __attribute__((packed));

struct entry {
	uint64_t sector, sectors, flags, length;
	char mark[];
};

struct log {
	FILE *file;
	uint64_t entries;
	size_t unit;
	struct entry *head;
	char *data;
	uint64_t pos, len; /* in bytes, of what was written or discarded */
};

static uint64_t seed;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* The blocks of a group, and what each has from then on */
static void make_group(int group, int blocks[PER_GROUP], char *data)
{
	int i, j;
	size_t at;

	seed = 4711 + group;
	for (i = 0; i < PER_GROUP; i++) {
		do {
			blocks[i] = next_random() % BLOCKS;
			for (j = 0; j < i && blocks[j] != blocks[i]; j++)
				;
		} while (j < i);
		for (at = 0; at < BLOCK; at += sizeof(uint64_t)) {
			uint64_t word = next_random();

			memcpy(data + i * BLOCK + at, &word, sizeof(word));
		}
	}
}

static void put_mark(const char *target, int mark)
{
	struct {
		struct dm_ioctl head;
		uint64_t sector;
		char message[32];
	} msg = {
		.head = {
			.version = { DM_VERSION_MAJOR, 0, 0 },
			.data_size = sizeof(msg),
			.data_start = sizeof(msg.head),
		},
	};
	static int control = -1;

	if (control < 0)
		control = open("/dev/mapper/control", O_RDWR | O_CLOEXEC);
	strncpy(msg.head.name, target, sizeof(msg.head.name) - 1);
	snprintf(msg.message, sizeof(msg.message), "mark %d", mark);
	if (ioctl(control, DM_TARGET_MSG, &msg))
		err(1, "%s: mark %d", target, mark);
}

static int workload(const char *disk, const char *target, const char *mode)
{
	int flags = O_RDWR, blocks[PER_GROUP], group, i, fd;
	bool cached = !strcmp(mode, "cached");
	char *data;

	if (!cached)
		flags |= O_DIRECT;
	if (!strcmp(mode, "dsync"))
		flags |= O_DSYNC;
	fd = open(disk, flags);
	if (fd < 0)
		err(1, "%s", disk);
	data = aligned_alloc(BLOCK, PER_GROUP * BLOCK);
	for (group = 0; group < GROUPS; group++) {
		make_group(group, blocks, data);
		for (i = 0; i < PER_GROUP; i++)
			if (pwrite(fd, data + i * BLOCK, BLOCK, (off_t)blocks[i] * BLOCK) != BLOCK)
				err(1, "block %d", blocks[i]);
		if ((cached || !strcmp(mode, "fsync")) && fsync(fd))
			err(1, "fsync");
		put_mark(target, group);
	}
	return 0;
}

static void read_fully(struct log *log, void *to, size_t len)
{
	if (fread(to, 1, len, log->file) != len)
		err(1, "the log is short");
}

static struct log open_log(const char *name)
{
	struct super super;
	struct log log = { .file = fopen(name, "r") };

	if (!log.file)
		err(1, "%s", name);
	read_fully(&log, &super, sizeof(super));
	if (super.magic != MAGIC || super.version != 1)
		errx(1, "no log");
	log.entries = super.entries;
	log.unit = super.sectorsize;
	log.head = malloc(log.unit);
	fseeko(log.file, log.unit, SEEK_SET);
	return log;
}

/* One entry after the other: a mark, a discard, which has no data, or a write */
static bool next_entry(struct log *log)
{
	if (!log->entries)
		return false;
	log->entries--;
	read_fully(log, log->head, log->unit);
	log->pos = log->head->sector * log->unit;
	log->len = log->head->sectors * log->unit;
	if (log->head->flags & MARK) {
		if (log->head->length >= log->unit - sizeof(*log->head))
			errx(1, "a mark without an end");
		log->head->mark[log->head->length] = 0;
	} else if (!(log->head->flags & DISCARD)) {
		log->data = realloc(log->data, log->len ?: 1);
		read_fully(log, log->data, log->len);
	}
	return true;
}

static int verify(const char *name)
{
	static char medium[BLOCKS][BLOCK], expected[BLOCKS][BLOCK], data[PER_GROUP * BLOCK];
	static bool written[BLOCKS];
	struct log log = open_log(name);
	int blocks[PER_GROUP], marks = 0, n = 0, i;
	uint64_t at;

	while (next_entry(&log)) {
		if (!(log.head->flags & MARK)) {
			if (log.pos % BLOCK || log.len % BLOCK)
				errx(1, "%llu bytes at %llu", (unsigned long long)log.len,
				     (unsigned long long)log.pos);
			for (at = 0; at < log.len && log.pos + at < sizeof(medium); at += BLOCK) {
				char *block = medium[(log.pos + at) / BLOCK];

				if (log.head->flags & DISCARD)
					memset(block, 0, BLOCK);
				else
					memcpy(block, log.data + at, BLOCK);
			}
			continue;
		}
		if (!strcmp(log.head->mark, LAST_MARK))
			break;
		make_group(atoi(log.head->mark), blocks, data);
		for (i = 0; i < PER_GROUP; i++) {
			n += !written[blocks[i]];
			written[blocks[i]] = true;
			memcpy(expected[blocks[i]], data + i * BLOCK, BLOCK);
		}
		for (i = 0; i < BLOCKS; i++)
			if (written[i] && memcmp(medium[i], expected[i], BLOCK))
				errx(1, "mark %s: block %d is not on the medium", log.head->mark, i);
		marks++;
	}
	if (marks != GROUPS)
		errx(1, "%d marks", marks);
	printf("%d marks, %d blocks\n", marks, n);
	return 0;
}

static int image(const char *name, const char *mark, const char *to)
{
	struct log log = open_log(name);
	int fd = open(to, O_RDWR | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || ftruncate(fd, SIZE))
		err(1, "%s", to);
	while (next_entry(&log)) {
		if (log.head->flags & MARK) {
			if (!strcmp(log.head->mark, mark))
				return 0;
		} else if (log.head->flags & DISCARD) {
			if (log.len &&
			    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, log.pos,
				      log.len))
				err(1, "discard");
		} else if (pwrite(fd, log.data, log.len, log.pos) != (ssize_t)log.len) {
			err(1, "write");
		}
	}
	errx(1, "no mark %s", mark);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "workload"))
		return workload(argv[2], argv[3], argv[4]);
	if (argc == 3 && !strcmp(argv[1], "verify"))
		return verify(argv[2]);
	if (argc == 5 && !strcmp(argv[1], "image"))
		return image(argv[2], argv[3], argv[4]);
	errx(2, "usage: log-writes workload DISK TARGET MODE | verify LOG | image LOG MARK FILE");
}
