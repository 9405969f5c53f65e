// SPDX-License-Identifier: GPL-2.0
/*
 * I/O that waits for a path, where the settings of the session want it to. The transport
 * hands back what was in flight when the last path was lost; that goes to the requeue list
 * of its disk, and what comes later stays in front of the queue, which is quiesced. All of it
 * goes on when the device is open again, or fails when the time is over, or the disk goes.
 */
#include "client.h"

#define TIMER_POLLED	(5 * HZ)	/* nothing is given up after it, see timeout() in queue.c */
#define TIMER		(30 * HZ)

static int no_path_ms(const struct rnbd_client_session *session)
{
	return READ_ONCE(rtrs_client_settings(session->rtrs)->no_path_ms);
}

void rnbd_client_unpark(struct rnbd_client_dev *dev)
{
	lockdep_assert_held(&dev->session->lock);
	if (!test_and_clear_bit(RNBD_CLIENT_DEV_PARKED, &dev->flags))
		return;
	blk_mq_unquiesce_queue(dev->disk->queue);
	blk_mq_kick_requeue_list(dev->disk->queue);
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

/* Jiffies until I/O waits no more; for ever is long. */
static long time_left(const struct rnbd_client_session *session)
{
	int ms = no_path_ms(session);

	return ms < 0 ? LONG_MAX : (long)(session->lost_at + msecs_to_jiffies(ms) - jiffies);
}

/* It runs since the session was lost, whenever its time is changed. */
static void start_clock(struct rnbd_client_session *session)
{
	if (no_path_ms(session) > 0 && !list_empty(&session->devs))
		mod_delayed_work(rnbd_client_wq, &session->expire_work,
				 max(time_left(session), 0L));
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
		if (!test_and_set_bit(RNBD_CLIENT_DEV_PARKED, &dev->flags))
			blk_mq_quiesce_queue_nowait(dev->disk->queue);
		any = true;
	}
	if (any)
		start_clock(session);
}

void rnbd_client_park_expired(struct work_struct *work)
{
	struct rnbd_client_session *session =
		container_of(to_delayed_work(work), struct rnbd_client_session, expire_work);
	struct rnbd_client_dev *dev;

	mutex_lock(&session->lock);
	/* Another loss may have begun meanwhile, or the time be longer now: it runs anew. */
	if (time_left(session) > 0)
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

void rnbd_client_resplit(struct request *rq)
{
	struct rnbd_client_dev *dev = rq->q->queuedata;
	unsigned long flags;

	spin_lock_irqsave(&dev->resplit_lock, flags);
	blk_steal_bios(&dev->resplit, rq);
	spin_unlock_irqrestore(&dev->resplit_lock, flags);
	queue_work(rnbd_client_wq, &dev->resplit_work);
	blk_mq_end_request(rq, BLK_STS_OK);
}

void rnbd_client_resplit_work(struct work_struct *work)
{
	struct rnbd_client_dev *dev = container_of(work, struct rnbd_client_dev, resplit_work);
	struct bio_list bios = BIO_EMPTY_LIST;
	struct bio *bio;

	spin_lock_irq(&dev->resplit_lock);
	bio_list_merge(&bios, &dev->resplit);
	bio_list_init(&dev->resplit);
	spin_unlock_irq(&dev->resplit_lock);
	while ((bio = bio_list_pop(&bios))) {
		/* It has waited, and nobody polls here. */
		bio->bi_opf &= ~REQ_NOWAIT;
		bio_clear_polled(bio);
		submit_bio_noacct(bio);
	}
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
	 * If a path has come, we are called once more, for that. So we are for a loss: before it
	 * is told the clock would run since the one before.
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
		start_clock(session);
	mutex_unlock(&session->lock);
}
