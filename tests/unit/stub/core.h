/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands for kernel/rtrs/core/core.h where hb.c is built on the host: what it uses of the
 * kernel, and hb.h as it is. Time is what the test says it is.
 */
#ifndef STUB_CORE_H
#define STUB_CORE_H

/* The real one is empty then. */
#define RTRS_CORE_H

#include <linux/types.h>
#include <linux/kernel.h>
#include <rtrs/proto.h>

typedef struct {
	int held;
} spinlock_t;

typedef struct {
	int v;
} atomic_t;

typedef struct {
	s64 v;
} atomic64_t;

typedef s64 ktime_t;

struct work_struct {
	void (*fn)(struct work_struct *work);
};

struct delayed_work {
	struct work_struct work;
	unsigned long delay;
	bool armed;
};

extern ktime_t stub_now;

#define container_of(p, type, member)	((type *)((char *)(p) - offsetof(type, member)))
#define to_delayed_work(w)		container_of(w, struct delayed_work, work)
#define INIT_DELAYED_WORK(w, f)		((w)->work.fn = (f))
#define WQ_UNBOUND			0
#define WQ_MEM_RECLAIM			0
#define alloc_workqueue(name, flags, n)	((struct workqueue_struct *)1)
#define destroy_workqueue(wq)		((void)(wq))
#define msecs_to_jiffies(ms)		(ms)
#define queue_delayed_work(wq, w, d)	((void)(wq), (w)->delay = (d), (w)->armed = true)
#define mod_delayed_work(wq, w, d)	queue_delayed_work(wq, w, d)
#define delayed_work_pending(w)		((w)->armed)
#define cancel_delayed_work_sync(w)	((w)->armed = false)
#define spin_lock_init(l)		((l)->held = 0)
#define spin_lock_irqsave(l, f)		((f) = (unsigned long)(l)->held++)
#define spin_unlock_irqrestore(l, f)	((l)->held = (int)(f))
#define atomic_read(a)			((a)->v)
#define atomic_set(a, x)		((a)->v = (x))
#define atomic_cmpxchg(a, old, new)	__sync_val_compare_and_swap(&(a)->v, old, new)
#define atomic64_set(a, x)		((a)->v = (x))
#define ktime_get()			(stub_now)
#define ktime_sub(a, b)			((a) - (b))
#define ktime_to_ns(t)			(t)

#include <hb.h>

#endif /* STUB_CORE_H */
