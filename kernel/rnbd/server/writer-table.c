// SPDX-License-Identifier: GPL-2.0
/* The table of those who wrote last, by the identity of the disk. */
#include <linux/hashtable.h>
#include <linux/slab.h>
#include "writers.h"

static DEFINE_MUTEX(table_lock);	/* inside of that of the file */
static DEFINE_HASHTABLE(table, 8);

static struct rnbd_server_writer *find(const u8 *identity)
{
	struct rnbd_server_writer *w;

	lockdep_assert_held(&table_lock);
	hash_for_each_possible(table, w, entry, rnbd_get_le32(identity))
		if (!memcmp(w->identity, identity, sizeof(w->identity)))
			return w;
	return NULL;
}

struct rnbd_server_writer *rnbd_server_writer_find(const u8 *identity)
{
	struct rnbd_server_writer *w;

	mutex_lock(&table_lock);
	w = find(identity);
	mutex_unlock(&table_lock);
	return w;
}

struct rnbd_server_writer *rnbd_server_writer_make(const u8 *identity,
						   const struct rnbd_server_record *is)
{
	struct rnbd_server_writer *w;

	mutex_lock(&table_lock);
	w = find(identity);
	if (!w)
		w = kzalloc(sizeof(*w), GFP_KERNEL);
	if (w && hlist_unhashed(&w->entry)) {
		mutex_init(&w->lock);
		memcpy(w->identity, identity, sizeof(w->identity));
		w->is = *is;
		w->slot = -1;
		hash_add(table, &w->entry, rnbd_get_le32(identity));
	}
	mutex_unlock(&table_lock);
	return w;
}

void rnbd_server_writers_forget_slots(void)
{
	struct rnbd_server_writer *w;
	unsigned int i;

	mutex_lock(&table_lock);
	hash_for_each(table, i, w, entry) {
		w->slot = -1;
		WRITE_ONCE(w->saved, false);
	}
	mutex_unlock(&table_lock);
}

void rnbd_server_writers_exit(void)
{
	struct rnbd_server_writer *w;
	struct hlist_node *next;
	unsigned int i;

	hash_for_each_safe(table, i, next, w, entry)
		kfree(w);
}
