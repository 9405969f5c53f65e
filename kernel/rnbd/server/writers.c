// SPDX-License-Identifier: GPL-2.0
/*
 * Who wrote last. A client that lost all its paths also lost its right to write to a disk; it
 * gets it again when it is back, unless another has it then. If another one had it in between,
 * what the first still wanted to write is older than what is there: who comes back by itself
 * says how often the right had gone to another client when it had it, and is refused if that is
 * no longer so. That is kept in a file, for the time after a restart. A disk whose number came to
 * another one has a record of its own.
 */
#include <linux/random.h>
#include "writers.h"

/* Of a disk that is not in the file, or had another record there: nobody knows this number. */
static struct rnbd_server_record fresh(void)
{
	return (struct rnbd_server_record){ .start = get_random_u32() };
}

/* One that the file has is not looked for there: who comes back waits for no file system. */
static struct rnbd_server_writer *get(const u8 *identity)
{
	struct rnbd_server_writer *w = rnbd_server_writer_find(identity);
	const struct rnbd_server_record none = fresh();
	int err;

	if (w && READ_ONCE(w->saved))
		return w;
	err = rnbd_server_record_load();
	if (err)
		return ERR_PTR(err);
	return rnbd_server_writer_make(identity, &none) ?: ERR_PTR(-ENOMEM);
}

/* Another disk has the name now, or the same one was attached anew: nobody can tell. */
static bool is_another(const struct rnbd_server_writer *w, const struct rnbd_server_identity *id)
{
	return id->weak && w->is.count && w->is.boot == rnbd_server_boot() &&
	       w->is.diskseq != id->diskseq;
}

static bool claim_holds(const struct rnbd_server_dev *dev, const struct rnbd_claim *claim)
{
	const struct rnbd_server_writer *w = dev->writer;
	static const u8 unknown[RNBD_IDENTITY_LEN];

	if (memcmp(claim->identity, unknown, sizeof(unknown)) &&
	    memcmp(claim->identity, dev->identity.hash, sizeof(claim->identity)))
		return false;
	if (!w || !claim->writers)
		return true;
	return !is_another(w, &dev->identity) && claim->start == w->is.start &&
	       claim->writers == w->is.count && !w->is.two;
}

int rnbd_server_writers_begin(struct rnbd_server_dev *dev, const struct rnbd_claim *claim)
{
	struct rnbd_server_writer *w = NULL;

	if (!dev->read_only)
		w = get(dev->identity.hash);
	if (IS_ERR(w))
		return PTR_ERR(w);
	dev->writer = w;
	if (w)
		mutex_lock(&w->lock);
	if (!claim || claim_holds(dev, claim))
		return 0;
	rnbd_server_writers_end(dev);
	return -ESTALE;
}

void rnbd_server_writers_end(struct rnbd_server_dev *dev)
{
	if (dev->writer)
		mutex_unlock(&dev->writer->lock);
}

/* Of two the one that stays has not been the last one to write before it was alone. */
static struct rnbd_server_record next_record(const struct rnbd_server_dev *dev)
{
	const struct rnbd_server_writer *w = dev->writer;
	const uuid_t *client = &dev->session->client;
	struct rnbd_server_record next = is_another(w, &dev->identity) ? fresh() : w->is;

	if (!next.count || !uuid_equal(&next.client, client) || (next.two && !dev->beside)) {
		next.client = *client;
		next.count = next.count + 1 ?: 1;
	}
	next.boot = rnbd_server_boot();
	next.diskseq = dev->identity.diskseq;
	next.two = dev->beside;
	return next;
}

/*
 * Where the file cannot be written, the right is given only if the file has nothing that is wrong
 * then: after a restart an older client would be let in by it.
 */
static bool may_go_without(const struct rnbd_server_writer *w,
			   const struct rnbd_server_record *next)
{
	return w->slot < 0 || (w->is.start == next->start && w->is.count == next->count &&
			       w->is.two == next->two);
}

static int note(struct rnbd_server_writer *w, const struct rnbd_server_record *next)
{
	int err = 0;

	lockdep_assert_held(&w->lock);
	if (!READ_ONCE(w->saved) || memcmp(next, &w->is, sizeof(*next)))
		err = rnbd_server_record_save(w, next);
	if (err && !may_go_without(w, next))
		return err;
	w->is = *next;
	return 0;
}

int rnbd_server_writers_enter(struct rnbd_server_dev *dev)
{
	struct rnbd_server_writer *w = dev->writer;
	struct rnbd_server_record next;
	int err;

	if (!w)
		return 0;
	w->was = w->is;
	next = next_record(dev);
	err = note(w, &next);
	if (err)
		return err;
	dev->start = next.start;
	dev->writers = next.count;
	return 0;
}

/* Where that cannot be noted the count is too high, and the last client has to be remapped. */
void rnbd_server_writers_undo(struct rnbd_server_dev *dev)
{
	if (dev->writer)
		note(dev->writer, &dev->writer->was);
}
