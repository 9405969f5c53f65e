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
 * @chunk: as of a session, and the next two
 * @count: of them
 * @node: where they are
 * @until: in jiffies
 */
struct spare {
	struct list_head entry;
	struct page **chunk;
	u32 count;
	int node;
	unsigned long until;
};

static LIST_HEAD(spares);	/* the oldest first */
static DEFINE_MUTEX(spares_lock);

static void spares_age(struct work_struct *work);
static DECLARE_DELAYED_WORK(age_work, spares_age);

static void pages_free(struct page **chunk, u32 from, u32 to)
{
	while (to > from) {
		__free_pages(chunk[--to], get_order(rtrs_server_geo.chunk_size));
		chunk[to] = NULL;
	}
}

static void chunks_free(struct page **chunk, u32 count)
{
	pages_free(chunk, 0, count);
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
	chunks_free(spare->chunk, spare->count);
	rtrs_server_mem_give(NULL, rtrs_server_mem_session(spare->count));
	kfree(spare);
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

/* To @count chunks. Where the host has none, those go that are kept for a session that is gone. */
int rtrs_server_chunks_grow(struct rtrs_server_session *session, u32 count)
{
	u32 before = session->chunk_count, i = before;
	u64 bytes = (u64)rtrs_server_geo.chunk_size * (count - before);
	int err;

	lockdep_assert_held(&session->lock);
	if (before >= count)
		return 0;
	err = rtrs_server_mem_take(session, bytes);
	if (err)
		return err;
	while (i < count) {
		session->chunk[i] = rtrs_server_pages(session->node, rtrs_server_geo.chunk_size);
		if (session->chunk[i])
			i++;
		else if (!rtrs_server_chunks_drop())
			break;
		cond_resched();
	}
	if (i == count) {
		session->chunk_count = count;
		return 0;
	}
	pages_free(session->chunk, before, i);
	rtrs_server_mem_give(session, bytes);
	return -ENOMEM;
}

/* No path has those behind the first @count mapped. */
void rtrs_server_chunks_shrink(struct rtrs_server_session *session, u32 count)
{
	u32 before = session->chunk_count;

	lockdep_assert_held(&session->lock);
	if (before <= count)
		return;
	session->chunk_count = count;
	pages_free(session->chunk, count, before);
	rtrs_server_mem_give(session, (u64)rtrs_server_geo.chunk_size * (before - count));
}

/* The session's from now on, with its place in the account; no more than @count, zeroed. */
static void spare_use(struct rtrs_server_session *session, struct spare *spare, u32 count)
{
	u32 i;

	session->chunk = spare->chunk;
	session->chunk_count = spare->count;
	session->node = spare->node;
	kfree(spare);
	rtrs_server_mem_pass(session, rtrs_server_mem_session(session->chunk_count));
	rtrs_server_chunks_shrink(session, count);
	for (i = 0; i < session->chunk_count; i++) {
		memset(page_address(session->chunk[i]), 0, rtrs_server_geo.chunk_size);
		cond_resched();
	}
}

static int chunks_begin(struct rtrs_server_session *session, struct ib_device *ib_dev, u32 count)
{
	u32 depth = rtrs_server_geo.queue_depth;
	struct spare *spare;
	int err;

	if (!session->slots)
		session->slots = kvcalloc(depth, sizeof(session->slots[0]), GFP_KERNEL);
	if (!session->slots)
		return -ENOMEM;
	session->node = ibdev_to_node(ib_dev);
	spare = spare_find(is_near, session->node);
	if (spare) {
		spare_use(session, spare, count);
		return 0;
	}
	err = rtrs_server_mem_take(session, rtrs_server_mem_session(0));
	if (err)
		return err;
	session->chunk = kvcalloc(depth, sizeof(session->chunk[0]), GFP_KERNEL);
	if (session->chunk)
		return 0;
	rtrs_server_mem_give(session, rtrs_server_mem_session(0));
	return -ENOMEM;
}

/* The session has @count chunks or more then. */
int rtrs_server_chunks_get(struct rtrs_server_session *session, struct ib_device *ib_dev, u32 count)
{
	int err = session->chunk ? 0 : chunks_begin(session, ib_dev, count);

	return err ?: rtrs_server_chunks_grow(session, count);
}

/*
 * A client that connects is told of too little memory, and when it has logged in takes it: whoever
 * may send a connect request cannot keep it from others. @count: chunks; @bytes: needed besides
 */
int rtrs_server_chunks_look(struct rtrs_server_session *session, u32 count, u64 bytes)
{
	bool spare;
	int err;

	lockdep_assert_held(&session->lock);
	mutex_lock(&spares_lock);
	spare = !list_empty(&spares);
	mutex_unlock(&spares_lock);
	if (session->chunk || spare)
		return 0;
	bytes += rtrs_server_mem_session(count);
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
		chunks_free(session->chunk, session->chunk_count);
		return;
	}
	spare->chunk = session->chunk;
	spare->count = session->chunk_count;
	spare->node = session->node;
	spare->until = jiffies + msecs_to_jiffies(SPARE_MS);
	rtrs_server_mem_pass(session, -rtrs_server_mem_session(spare->count));
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
