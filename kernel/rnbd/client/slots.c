// SPDX-License-Identifier: GPL-2.0
/*
 * How many slots of the server the session may use. A tag whose slot is not granted is kept: its
 * bit is set in the tag set, as if a request had it, and requests wait for a tag as they do where
 * all are taken. While there are requests, this looks at how many now and then, and asks the server
 * for more slots, or gives some back: that costs the requests nothing.
 */
#include <linux/bitmap.h>
#include <linux/blk-mq.h>
#include "client.h"

#define TICK	(HZ / 20)	/* while there are requests; each may double the slots */
#define AGAIN	HZ		/* behind a question that was refused, or not answered */
#define REST	(15 * HZ)	/* slots that were not in use for so long are given back */

static struct sbitmap_queue *tags_of(struct rnbd_client_session *session)
{
	return &session->tags.shared_tags->bitmap_tags;
}

/* Under slot_lock. */
static void keep_free_tags(struct rnbd_client_session *session)
{
	int tag;

	while ((tag = __sbitmap_queue_get(tags_of(session))) >= 0) {
		__set_bit(tag, session->kept);
		session->kept_count++;
	}
}

/* Under slot_lock. Whoever waits for a tag is woken. */
static void release_tags(struct rnbd_client_session *session)
{
	bool all = test_bit(RNBD_CLIENT_SLOTS_FEW, &session->slot_mode);
	u32 granted = rtrs_client_granted(session->rtrs), tag;

	for_each_set_bit(tag, session->kept, session->tags.queue_depth) {
		if (!all && session->slot[tag] >= granted)
			continue;
		__clear_bit(tag, session->kept);
		session->kept_count--;
		sbitmap_queue_clear(tags_of(session), tag, raw_smp_processor_id());
	}
}

/* Under slot_lock. Whether no request has a slot from @slots on, nor can get one. */
static bool are_kept(struct rnbd_client_session *session, u32 slots)
{
	u32 tag;

	for_each_clear_bit(tag, session->kept, session->tags.queue_depth)
		if (session->slot[tag] >= slots)
			return false;
	return true;
}

static void ask(struct rnbd_client_session *session, u32 slots)
{
	WRITE_ONCE(session->slots_asked, jiffies);
	WRITE_ONCE(session->slots_pending, true);
	rtrs_client_want(session->rtrs, slots);
}

void rnbd_client_slots_granted(void *priv)
{
	struct rnbd_client_session *session = priv;
	u32 before;

	spin_lock_bh(&session->slot_lock);
	before = session->kept_count;
	release_tags(session);
	WRITE_ONCE(session->slots_pending, false);
	/* They may not be enough. */
	if (session->kept_count < before)
		WRITE_ONCE(session->slots_asked, jiffies - AGAIN);
	spin_unlock_bh(&session->slot_lock);
}

/* Twice the most that were in use; not fewer than were granted first. */
static u32 slots_wanted(const struct rnbd_client_session *session)
{
	u32 used = RNBD_CLIENT_CTRL_SLOTS + session->slots_peak;

	return max_t(u32, roundup_pow_of_two(2 * used), session->slots_min);
}

/* Where a request has one of those slots, it is tried again later. */
static void give_back(struct rnbd_client_session *session, u32 slots)
{
	spin_lock_bh(&session->slot_lock);
	keep_free_tags(session);
	if (are_kept(session, slots))
		ask(session, slots);
	release_tags(session);
	session->slots_waited = atomic_read(&tags_of(session)->completion_cnt);
	spin_unlock_bh(&session->slot_lock);
}

void rnbd_client_slots_watch(struct rnbd_client_session *session)
{
	if (test_and_clear_bit(RNBD_CLIENT_SLOTS_CALM, &session->slot_mode))
		mod_delayed_work(rnbd_client_wq, &session->slots_work, TICK);
}

/*
 * What the session needs, by the requests that are in flight now. The tag set counts the tags that
 * came free while somebody waited for one.
 */
static void look(struct rnbd_client_session *session)
{
	u32 kept = READ_ONCE(session->kept_count), tags = session->tags.queue_depth - kept;
	u32 busy = sbitmap_weight(&tags_of(session)->sb) - kept;
	u32 granted = rtrs_client_granted(session->rtrs);
	struct rtrs_client_attrs attrs;
	u32 waited = atomic_read(&tags_of(session)->completion_cnt);
	bool more = kept && (waited != session->slots_waited || 4 * busy > 3 * tags);

	session->slots_waited = waited;
	session->slots_peak = max(session->slots_peak, busy);
	if (more || READ_ONCE(session->slots_pending)) {
		rtrs_client_query(session->rtrs, &attrs);
		if (time_after_eq(jiffies, READ_ONCE(session->slots_asked) + AGAIN))
			ask(session, more ? min(2 * granted, attrs.queue_depth) : granted);
	} else if (time_after_eq(jiffies, session->slots_until)) {
		if (slots_wanted(session) < granted)
			give_back(session, slots_wanted(session));
		session->slots_peak = busy;
		session->slots_until = jiffies + REST;
	}
}

void rnbd_client_slots_work(struct work_struct *work)
{
	struct rnbd_client_session *session =
		container_of(to_delayed_work(work), struct rnbd_client_session, slots_work);
	long delay = TICK;
	bool calm;

	/* Requests take any slot then: all of them are granted, and stay so. */
	if (test_bit(RNBD_CLIENT_SLOTS_FEW, &session->slot_mode))
		return;
	calm = test_and_set_bit(RNBD_CLIENT_SLOTS_CALM, &session->slot_mode);
	look(session);
	if (calm && READ_ONCE(session->slots_pending))
		delay = AGAIN;
	else if (calm && rtrs_client_granted(session->rtrs) > session->slots_min)
		delay = max_t(long, session->slots_until - jiffies, TICK);
	else if (calm)
		return;
	queue_delayed_work(rnbd_client_wq, &session->slots_work, delay);
}

int rnbd_client_slots_init(struct rnbd_client_session *session)
{
	u32 depth = session->tags.queue_depth;

	session->kept = bitmap_zalloc(depth, GFP_KERNEL);
	if (!session->kept)
		return -ENOMEM;
	session->slots_min = rtrs_client_granted(session->rtrs);
	session->slots_until = jiffies + REST;
	session->slots_asked = jiffies - AGAIN;
	spin_lock_bh(&session->slot_lock);
	keep_free_tags(session);
	release_tags(session);
	spin_unlock_bh(&session->slot_lock);
	if (session->kept_count)
		set_bit(RNBD_CLIENT_SLOTS_CALM, &session->slot_mode);
	return 0;
}
