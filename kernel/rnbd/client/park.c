// SPDX-License-Identifier: GPL-2.0
/*
 * I/O that waits for a path, where no_path_timeout says so. When the last path is lost, the
 * transport ends the requests in flight with -ECONNABORTED. These and later ones are set aside: as
 * bios, so that other disks of the session have the tags, but parts of a flush as requests. All
 * are submitted again when the device is open again, and fail when the time is over or the disk is
 * removed.
 */
#include "client.h"

#define TIMER_POLLED	(5 * HZ)	/* no request ends by it, see rq_timeout() in queue.c */
#define TIMER		(30 * HZ)

static int no_path_ms(const struct rnbd_client_session *session)
{
	return READ_ONCE(rtrs_client_settings(session->rtrs)->no_path_ms);
}

void rnbd_client_unpark(struct rnbd_client_dev *dev)
{
	bool fails = !test_bit(RNBD_CLIENT_DEV_WAITS, &dev->flags);
	struct bio_list failed = BIO_EMPTY_LIST;
	struct request *rq, *next;
	LIST_HEAD(flushes);
	struct bio *bio;
	bool parked;

	lockdep_assert_held(&dev->session->lock);
	spin_lock(&dev->aside_lock);
	parked = test_and_clear_bit(RNBD_CLIENT_DEV_PARKED, &dev->flags);
	list_splice_init(&dev->aside_flushes, &flushes);
	if (parked && fails) {
		bio_list_merge(&failed, &dev->aside);
		bio_list_init(&dev->aside);
	}
	spin_unlock(&dev->aside_lock);
	if (!parked)
		return;
	/* They fail here, not in queue_rq(): a remap before that would have them sent. */
	while ((bio = bio_list_pop(&failed)))
		bio_io_error(bio);
	list_for_each_entry_safe(rq, next, &flushes, queuelist) {
		list_del_init(&rq->queuelist);
		if (fails) {
			blk_mq_start_request(rq);
			blk_mq_end_request(rq, BLK_STS_IOERR);
		} else {
			blk_mq_requeue_request(rq, false);
		}
	}
	blk_mq_kick_requeue_list(dev->disk->queue);
	queue_work(rnbd_client_aside_wq, &dev->aside_work);
}

void rnbd_client_park_allow(struct rnbd_client_dev *dev)
{
	lockdep_assert_held(&dev->session->lock);
	if (no_path_ms(dev->session))
		set_bit(RNBD_CLIENT_DEV_WAITS, &dev->flags);
}

void rnbd_client_park_forbid(struct rnbd_client_dev *dev)
{
	lockdep_assert_held(&dev->session->lock);
	clear_bit(RNBD_CLIENT_DEV_WAITS, &dev->flags);
	rnbd_client_unpark(dev);
}

/* Jiffies until I/O stops to wait; LONG_MAX for no limit. */
static long park_time_left(const struct rnbd_client_session *session)
{
	int ms = no_path_ms(session);

	return ms < 0 ? LONG_MAX : (long)(session->lost_at + msecs_to_jiffies(ms) - jiffies);
}

/* The time counts from the loss of the session, also when the setting changes later. */
static void park_start_timer(struct rnbd_client_session *session)
{
	if (no_path_ms(session) > 0 && !list_empty(&session->devs))
		mod_delayed_work(rnbd_client_wq, &session->expire_work,
				 max(park_time_left(session), 0L));
	else
		cancel_delayed_work(&session->expire_work);
}

void rnbd_client_park(struct rnbd_client_session *session)
{
	struct rnbd_client_dev *dev;
	bool any = false;

	lockdep_assert_held(&session->lock);
	list_for_each_entry(dev, &session->devs, session_entry) {
		if (!test_bit(RNBD_CLIENT_DEV_WAITS, &dev->flags) ||
		    test_bit(RNBD_CLIENT_DEV_OPEN, &dev->flags))
			continue;
		set_bit(RNBD_CLIENT_DEV_PARKED, &dev->flags);
		any = true;
	}
	if (!any)
		return;
	park_start_timer(session);
}

void rnbd_client_park_expired(struct work_struct *work)
{
	struct rnbd_client_session *session =
		container_of(to_delayed_work(work), struct rnbd_client_session, expire_work);
	struct rnbd_client_dev *dev;

	mutex_lock(&session->lock);
	/* The session was lost again, or the setting changed: the timer is armed for that. */
	if (park_time_left(session) > 0)
		goto unlock;
	list_for_each_entry(dev, &session->devs, session_entry) {
		if (!test_bit(RNBD_CLIENT_DEV_PARKED, &dev->flags))
			continue;
		pr_warn("%s: no path for %d ms, I/O fails\n", dev->name, no_path_ms(session));
		rnbd_client_park_forbid(dev);
	}
unlock:
	mutex_unlock(&session->lock);
}

bool rnbd_client_set_aside(struct request *rq)
{
	struct rnbd_client_dev *dev = rq->q->queuedata;
	bool keeps_bios = !rq->bio || rq->rq_flags & RQF_FLUSH_SEQ;

	spin_lock(&dev->aside_lock);
	if (!test_bit(RNBD_CLIENT_DEV_PARKED, &dev->flags)) {
		spin_unlock(&dev->aside_lock);
		return false;
	}
	if (keeps_bios) {
		list_add_tail(&rq->queuelist, &dev->aside_flushes);
	} else {
		blk_mq_start_request(rq);
		blk_steal_bios(&dev->aside, rq);
	}
	spin_unlock(&dev->aside_lock);
	if (!keeps_bios)
		blk_mq_end_request(rq, BLK_STS_OK);
	return true;
}

void rnbd_client_resplit(struct request *rq)
{
	struct rnbd_client_dev *dev = rq->q->queuedata;

	blk_mq_start_request(rq);
	spin_lock(&dev->aside_lock);
	blk_steal_bios(&dev->aside, rq);
	spin_unlock(&dev->aside_lock);
	queue_work(rnbd_client_aside_wq, &dev->aside_work);
	blk_mq_end_request(rq, BLK_STS_OK);
}

static struct bio *pop_aside_bio(struct rnbd_client_dev *dev)
{
	struct bio *bio = NULL;

	spin_lock(&dev->aside_lock);
	if (!test_bit(RNBD_CLIENT_DEV_PARKED, &dev->flags))
		bio = bio_list_pop(&dev->aside);
	spin_unlock(&dev->aside_lock);
	return bio;
}

void rnbd_client_aside_work(struct work_struct *work)
{
	struct rnbd_client_dev *dev = container_of(work, struct rnbd_client_dev, aside_work);
	struct blk_plug plug;
	struct bio *bio;

	blk_start_plug(&plug);
	while ((bio = pop_aside_bio(dev))) {
		/* It has waited already, and no task polls for it. */
		bio->bi_opf &= ~REQ_NOWAIT;
		bio_clear_polled(bio);
		submit_bio_noacct(bio);
	}
	blk_finish_plug(&plug);
}

unsigned int rnbd_client_io_timeout(const struct rnbd_client_session *session)
{
	unsigned int ms = READ_ONCE(rtrs_client_settings(session->rtrs)->io_ms);

	if (ms)
		return msecs_to_jiffies(ms);
	return session->poll_cons ? TIMER_POLLED : TIMER;
}

void rnbd_client_park_settings(struct rnbd_client_session *session)
{
	struct rtrs_client_attrs attrs;
	struct rnbd_client_dev *dev;
	bool lost;

	mutex_lock(&session->lock);
	/*
	 * Events of a path that came, or of a loss, follow and do the rest. Before the event of a
	 * loss ->lost_at is that of an older one, so the timer is not started.
	 */
	lost = session->down && rtrs_client_query(session->rtrs, &attrs);
	list_for_each_entry(dev, &session->devs, session_entry) {
		if (dev->state == RNBD_CLIENT_DEV_UNMAPPED ||
		    !test_bit(RNBD_CLIENT_DEV_READY, &dev->flags))
			continue;
		blk_queue_rq_timeout(dev->disk->queue, rnbd_client_io_timeout(session));
		if (!no_path_ms(session))
			rnbd_client_park_forbid(dev);
		else if (lost || test_bit(RNBD_CLIENT_DEV_OPEN, &dev->flags))
			rnbd_client_park_allow(dev);
	}
	if (lost)
		rnbd_client_park(session);
	else
		park_start_timer(session);
	mutex_unlock(&session->lock);
}
