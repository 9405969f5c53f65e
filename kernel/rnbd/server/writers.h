/* SPDX-License-Identifier: GPL-2.0 */
/* Who wrote last to each disk: between writers.c, which decides, and record.c, which keeps it. */
#ifndef RNBD_SERVER_WRITERS_H
#define RNBD_SERVER_WRITERS_H

#include "server.h"

/**
 * struct rnbd_server_record - what is kept of a disk
 * @client: that got the right to write last, by the identity that its session keeps for life
 * @start: any number; while it stays the same, @count has counted all
 * @count: how often the right went to another client
 * @boot: of this host, when that was written
 * @diskseq: number of the disk within that boot
 * @two: another client had the right, too, and perhaps for longer: no claim holds
 */
struct rnbd_server_record {
	uuid_t client;
	u32 start;
	u32 count;
	u32 boot;
	u32 diskseq;
	u32 two;
};

/**
 * struct rnbd_server_writer - a disk that somebody wrote to; stays until the module goes
 * @entry: in the table
 * @identity: of the disk, the key
 * @lock: held while somebody gets the right to write
 * @is: what holds; under @lock
 * @was: before that; the same
 * @slot: where in the file it is, -1 for nowhere; under the lock of the file
 * @saved: the file has just that; the same
 */
struct rnbd_server_writer {
	struct hlist_node entry;
	u8 identity[RNBD_IDENTITY_LEN];
	struct mutex lock; /* see above */
	struct rnbd_server_record is, was;
	long slot;
	bool saved;
};

/* writer-table.c */

/* The one with this identity, NULL if there is none. */
struct rnbd_server_writer *rnbd_server_writer_find(const u8 *identity);
/* The same; made from @is if there is none. NULL where memory is short. */
struct rnbd_server_writer *rnbd_server_writer_make(const u8 *identity,
						   const struct rnbd_server_record *is);
/* None of them is in the file. Under the lock of the file. */
void rnbd_server_writers_forget_slots(void);

/* record.c */

/* What the file knows is in the table then. */
int rnbd_server_record_load(void);
/*
 * @is of @w is in the file then, for good. Else w->slot tells whether an older one is still
 * there. Under w->lock.
 */
int rnbd_server_record_save(struct rnbd_server_writer *w, const struct rnbd_server_record *is);

#endif /* RNBD_SERVER_WRITERS_H */
