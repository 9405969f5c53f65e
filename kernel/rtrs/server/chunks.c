// SPDX-License-Identifier: GPL-2.0
/*
 * Chunks: the memory of a session that its client writes to. Each is one piece of many pages, of
 * which a host that has run for long may have no more: those of a client that vanished are kept
 * for its return. They stay in the account, and go when others need the room, or after a while.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include "server.h"

#define SPARE_MS	(5 * 60 * 1000)	/* as long as a client may take to come back */

/**
 * struct spare - chunks of a session that is gone
 * @entry: in spares
 * @chunk: as of a session
 * @node: where they are
 * @until: in jiffies
 */
struct spare {
	struct list_head entry;
	struct page **chunk;
	int node;
	unsigned long until;
};

static LIST_HEAD(spares);	/* the oldest first */
static DEFINE_MUTEX(spares_lock);

static void spares_age(struct work_struct *work);
static DECLARE_DELAYED_WORK(age_work, spares_age);

static void chunks_free(struct page **chunk)
{
	u32 i;

	for (i = 0; i < rtrs_server_geo.queue_depth && chunk[i]; i++)
		__free_pages(chunk[i], get_order(rtrs_server_geo.chunk_size));
	kvfree(chunk);
}

/* Zeroed: a client may ask for more of a chunk than the server ever wrote to it. */
struct page *rtrs_server_pages(int node, u32 bytes)
{
	/* Compound: a network below the block device may keep single pages for a while. */
	const gfp_t gfp = GFP_KERNEL | __GFP_COMP | __GFP_ZERO | __GFP_NOWARN |
			  __GFP_RETRY_MAYFAIL;

	return alloc_pages_node(node, gfp, get_order(bytes));
}

static struct page **chunks_alloc(int node)
{
	u32 depth = rtrs_server_geo.queue_depth;
	struct page **chunk;
	u32 i;

	chunk = kvcalloc(depth, sizeof(chunk[0]), GFP_KERNEL);
	if (!chunk)
		return NULL;
	for (i = 0; i < depth; i++) {
		chunk[i] = rtrs_server_pages(node, rtrs_server_geo.chunk_size);
		if (!chunk[i]) {
			chunks_free(chunk);
			return NULL;
		}
		cond_resched();
	}
	return chunk;
}

/* The oldest that is over, or is on @node, or any; out of the list. */
static struct spare *spare_find(bool (*fits)(const struct spare *spare, int node), int node)
{
	struct spare *spare, *found = NULL;

	mutex_lock(&spares_lock);
	list_for_each_entry(spare, &spares, entry) {
		if (!fits(spare, node))
			continue;
		found = spare;
		list_del(&spare->entry);
		break;
	}
	mutex_unlock(&spares_lock);
	return found;
}

static bool is_over(const struct spare *spare, int node)
{
	return time_after_eq(jiffies, spare->until);
}

static bool is_near(const struct spare *spare, int node)
{
	return spare->node == node;
}

static bool is_any(const struct spare *spare, int node)
{
	return true;
}

static void spare_free(struct spare *spare)
{
	chunks_free(spare->chunk);
	kfree(spare);
	rtrs_server_mem_give(NULL, rtrs_server_mem_session());
}

static void spares_age(struct work_struct *work)
{
	struct spare *spare;

	while ((spare = spare_find(is_over, 0)))
		spare_free(spare);
	mutex_lock(&spares_lock);
	spare = list_first_entry_or_null(&spares, struct spare, entry);
	if (spare)
		queue_delayed_work(system_unbound_wq, &age_work,
				   max_t(long, spare->until - jiffies, 0) + 1);
	mutex_unlock(&spares_lock);
}

/* The session's from now on, with their place in the account; zeroed. */
static bool spare_use(struct rtrs_server_session *session, struct spare *spare)
{
	u32 i;

	if (!spare)
		return false;
	session->chunk = spare->chunk;
	session->node = spare->node;
	kfree(spare);
	rtrs_server_mem_pass(session, rtrs_server_mem_session());
	for (i = 0; i < rtrs_server_geo.queue_depth; i++) {
		memset(page_address(session->chunk[i]), 0, rtrs_server_geo.chunk_size);
		cond_resched();
	}
	return true;
}

int rtrs_server_chunks_get(struct rtrs_server_session *session, struct ib_device *ib_dev)
{
	int err;

	lockdep_assert_held(&session->lock);
	if (session->chunk)
		return 0;
	if (!session->slots)
		session->slots = kvcalloc(rtrs_server_geo.queue_depth, sizeof(session->slots[0]),
					  GFP_KERNEL);
	if (!session->slots)
		return -ENOMEM;
	session->node = ibdev_to_node(ib_dev);
	if (spare_use(session, spare_find(is_near, session->node)))
		return 0;
	err = rtrs_server_mem_take(session, rtrs_server_mem_session());
	if (err)
		return err;
	session->chunk = chunks_alloc(session->node);
	if (session->chunk)
		return 0;
	rtrs_server_mem_give(session, rtrs_server_mem_session());
	return spare_use(session, spare_find(is_any, 0)) ? 0 : -ENOMEM;
}

/*
 * A client that connects is told of too little memory, and when it has logged in takes it: whoever
 * may send a connect request cannot keep it from others. @bytes: needed besides
 */
int rtrs_server_chunks_look(struct rtrs_server_session *session, u64 bytes)
{
	bool spare;
	int err;

	lockdep_assert_held(&session->lock);
	mutex_lock(&spares_lock);
	spare = !list_empty(&spares);
	mutex_unlock(&spares_lock);
	if (session->chunk || spare)
		return 0;
	bytes += rtrs_server_mem_session();
	err = rtrs_server_mem_take(session, bytes);
	if (!err)
		rtrs_server_mem_give(session, bytes);
	return err;
}

/* The session is gone. They are kept where its client may want to go on. */
void rtrs_server_chunks_put(struct rtrs_server_session *session)
{
	struct spare *spare = NULL;

	if (!session->chunk)
		return;
	if (session->vanished)
		spare = kmalloc(sizeof(*spare), GFP_KERNEL);
	if (!spare) {
		chunks_free(session->chunk);
		return;
	}
	spare->chunk = session->chunk;
	spare->node = session->node;
	spare->until = jiffies + msecs_to_jiffies(SPARE_MS);
	rtrs_server_mem_pass(session, -rtrs_server_mem_session());
	mutex_lock(&spares_lock);
	list_add_tail(&spare->entry, &spares);
	mutex_unlock(&spares_lock);
	queue_delayed_work(system_unbound_wq, &age_work, msecs_to_jiffies(SPARE_MS));
}

/* False: there are no more that nobody uses. */
bool rtrs_server_chunks_drop(void)
{
	struct spare *spare = spare_find(is_any, 0);

	if (spare)
		spare_free(spare);
	return spare;
}

void rtrs_server_chunks_exit(void)
{
	while (rtrs_server_chunks_drop())
		;
	cancel_delayed_work_sync(&age_work);
}
