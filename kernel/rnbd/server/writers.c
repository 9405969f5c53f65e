// SPDX-License-Identifier: GPL-2.0
/*
 * Who wrote last. A client that lost all its paths also lost its right to write to a
 * device; it gets it again when it is back, unless another has it then. If another one had it
 * in between, what the first still wanted to write is older than what is there: it is told
 * how often the right went to another client, and sees.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include "server.h"

/**
 * struct writer - what is known of a block device, from the first one that wrote to it on
 * @client: the last one, by the identity that its session keeps for life
 * @count: of changes
 */
struct writer {
	uuid_t client;
	u32 count;
};

static DEFINE_MUTEX(lock);	/* of what is in the entries */
static DEFINE_XARRAY(writers);	/* by device number */
static u32 start;

/* @client may write to @dev from now on. 0 where memory is short: not known. */
u32 rnbd_server_writers_enter(dev_t dev, const uuid_t *client)
{
	struct writer *w;
	u32 count = 0;

	mutex_lock(&lock);
	w = xa_load(&writers, dev);
	if (!w) {
		w = kzalloc(sizeof(*w), GFP_KERNEL);
		if (!w || xa_err(xa_store(&writers, dev, w, GFP_KERNEL))) {
			kfree(w);
			goto out;
		}
	}
	if (!w->count || !uuid_equal(&w->client, client)) {
		w->client = *client;
		w->count = w->count + 1 ?: 1;
	}
	count = w->count;
out:
	mutex_unlock(&lock);
	return count;
}

u32 rnbd_server_writers_start(void)
{
	return start;
}

void __init rnbd_server_writers_init(void)
{
	start = get_random_u32();
}

void rnbd_server_writers_exit(void)
{
	struct writer *w;
	unsigned long dev;

	xa_for_each(&writers, dev, w)
		kfree(w);
	xa_destroy(&writers);
}
