/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands for kernel/rtrs/server/server.h where wait.c is built on the host: the fields and
 * functions that it uses, and no others. A lock that is taken and work that is taken off its
 * queue are the moments at which the test lets another CPU go on.
 */
#ifndef STUB_WAIT_H
#define STUB_WAIT_H

/* The real one is empty then. */
#define RTRS_SERVER_PRIV_H

#include <linux/types.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <pthread.h>

struct mutex {
	pthread_mutex_t is;
};

struct kref {
	int refs;
};

struct work_struct {
	int unused;
};

typedef void (*work_func_t)(struct work_struct *work);

struct workqueue_struct {
	int unused;
};

struct delayed_work {
	work_func_t fn;
	unsigned long delay;
	bool queued;
};

struct rtrs_server_session {
	struct kref ref;
	struct mutex lock;
	struct list_head waiting;
};

struct rtrs_server_wait {
	struct workqueue_struct *wq;
	struct delayed_work work;
	struct rtrs_server_session *session;
	bool canceled;
	struct list_head entry;
};

#define jiffies				1000UL
#define xchg(p, v)			__atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)
#define lockdep_assert_held(l)		((void)(l))
#define kref_get(r)			((r)->refs++)
#define INIT_DELAYED_WORK(w, f)		((w)->fn = (f), (w)->queued = false)
#define queue_delayed_work(wq, w, d)	((void)(wq), (w)->delay = (d), (w)->queued = true)
#define cancel_delayed_work_sync(w)	((w)->queued = false)
#define mutex_unlock(l)			pthread_mutex_unlock(&(l)->is)

void mutex_lock(struct mutex *lock);
bool cancel_delayed_work(struct delayed_work *work);
void rtrs_server_session_put(struct rtrs_server_session *session);

void rtrs_server_wait_init(struct rtrs_server_wait *wait, struct workqueue_struct *wq,
			   work_func_t fn);
void rtrs_server_wait(struct rtrs_server_session *session, struct rtrs_server_wait *wait,
		      unsigned long until);
void rtrs_server_wait_end(struct rtrs_server_wait *wait);
void rtrs_server_wait_cancel(struct rtrs_server_wait *wait);
void rtrs_server_wait_over(struct rtrs_server_wait *wait);
void rtrs_server_wake(struct rtrs_server_session *session);

#endif /* STUB_WAIT_H */
