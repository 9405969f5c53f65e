// SPDX-License-Identifier: GPL-2.0
/*
 * Heartbeats. Both ends send their own on the service connection, from path up
 * to teardown. A heartbeat that is not answered is not repeated: ticks without
 * a message of the peer are counted. Each message resets the count, so a busy
 * link never looks dead.
 */
#include <linux/export.h>
#include "core.h"
#include "main.h"

/* WQ_MEM_RECLAIM: path workers, which end requests, wait for heartbeats to stop. */
static struct workqueue_struct *hb_wq;

int rtrs_hb_wq_init(void)
{
	hb_wq = alloc_workqueue("rtrs_hb", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return hb_wq ? 0 : -ENOMEM;
}

void rtrs_hb_wq_exit(void)
{
	destroy_workqueue(hb_wq);
}

static void hb_arm(struct rtrs_hb *hb)
{
	unsigned long flags;

	spin_lock_irqsave(&hb->lock, flags);
	if (!hb->stopped)
		queue_delayed_work(hb_wq, &hb->work,
				   msecs_to_jiffies(READ_ONCE(hb->interval_ms)));
	spin_unlock_irqrestore(&hb->lock, flags);
}

static void hb_tick(struct work_struct *work)
{
	struct rtrs_hb *hb = container_of(to_delayed_work(work), struct rtrs_hb, work);
	int missed = atomic_read(&hb->missed);
	int err;

	if (READ_ONCE(hb->stopped))
		return;
	if (rtrs_hb_silent(hb)) {
		hb->ops->lost(hb, -ETIMEDOUT);
		return;
	}
	if (missed) {
		/* A receive may reset it meanwhile: then this tick does not count. */
		atomic_cmpxchg(&hb->missed, missed, missed + 1);
		hb_arm(hb);
		return;
	}
	WRITE_ONCE(hb->sent, ktime_get());
	smp_wmb();	/* ->sent before ->missed, for rtrs_hb_recv_ack() */
	atomic_set(&hb->missed, 1);
	err = hb->ops->send(hb, RTRS_IMM_HB);
	if (err) {
		hb->ops->lost(hb, err);
		return;
	}
	hb_arm(hb);
}

void rtrs_hb_init(struct rtrs_hb *hb, const struct rtrs_hb_ops *ops, unsigned int interval_ms,
		  unsigned int missed_max)
{
	memset(hb, 0, sizeof(*hb));
	hb->ops = ops;
	hb->interval_ms = interval_ms;
	hb->missed_max = missed_max;
	spin_lock_init(&hb->lock);
	INIT_DELAYED_WORK(&hb->work, hb_tick);
}
EXPORT_SYMBOL_GPL(rtrs_hb_init);

void rtrs_hb_start(struct rtrs_hb *hb)
{
	hb_arm(hb);
}
EXPORT_SYMBOL_GPL(rtrs_hb_start);

void rtrs_hb_reset(struct rtrs_hb *hb)
{
	unsigned long flags;

	spin_lock_irqsave(&hb->lock, flags);
	atomic_set(&hb->missed, 0);
	atomic64_set(&hb->rtt_ns, 0);
	hb->sent = 0;
	hb->stopped = false;
	spin_unlock_irqrestore(&hb->lock, flags);
}
EXPORT_SYMBOL_GPL(rtrs_hb_reset);

void rtrs_hb_set(struct rtrs_hb *hb, unsigned int interval_ms, unsigned int missed_max)
{
	unsigned long flags;

	spin_lock_irqsave(&hb->lock, flags);
	WRITE_ONCE(hb->missed_max, missed_max);
	WRITE_ONCE(hb->interval_ms, interval_ms);
	/* A heartbeat that is not started takes the new times from rtrs_hb_start(). */
	if (!hb->stopped && delayed_work_pending(&hb->work))
		mod_delayed_work(hb_wq, &hb->work, msecs_to_jiffies(interval_ms));
	spin_unlock_irqrestore(&hb->lock, flags);
}
EXPORT_SYMBOL_GPL(rtrs_hb_set);

void rtrs_hb_stop(struct rtrs_hb *hb)
{
	unsigned long flags;

	/* hb_arm() sees the flag, also in a rtrs_hb_start() that runs at the same time. */
	spin_lock_irqsave(&hb->lock, flags);
	hb->stopped = true;
	spin_unlock_irqrestore(&hb->lock, flags);
	cancel_delayed_work_sync(&hb->work);
}
EXPORT_SYMBOL_GPL(rtrs_hb_stop);

int rtrs_hb_recv(struct rtrs_hb *hb)
{
	return hb->ops->send(hb, RTRS_IMM_HB_ACK);
}
EXPORT_SYMBOL_GPL(rtrs_hb_recv);

void rtrs_hb_recv_ack(struct rtrs_hb *hb)
{
	if (hb->sent)
		atomic64_set(&hb->rtt_ns, ktime_to_ns(ktime_sub(ktime_get(), hb->sent)));
}
EXPORT_SYMBOL_GPL(rtrs_hb_recv_ack);
