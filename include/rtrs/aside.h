/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work that may wait for a peer. It is run by a worker: who asks for it has locks of sysfs or of
 * generic netlink, which others want meanwhile, and is to be frozen before a suspend.
 */
#ifndef RTRS_ASIDE_H
#define RTRS_ASIDE_H

#include <linux/sched.h>
#include <linux/types.h>
#include <linux/workqueue.h>

/*
 * State of a process that waits for such work, or for a peer: only a kill ends it, a suspend
 * freezes it. Unsafe, as it may have the lock of an open file of sysfs, which others than its own
 * threads do not want.
 */
#define RTRS_WAIT_STATE	(TASK_KILLABLE | TASK_FREEZABLE_UNSAFE)

/**
 * struct rtrs_aside - one piece of work
 * @work: runs it
 * @run: what it is; may free it
 * @task: the worker that is at it
 * @killed: nobody waits for it any more
 */
struct rtrs_aside {
	struct work_struct work;
	void (*run)(struct rtrs_aside *aside);
	struct task_struct *task;
	bool killed;
};

void rtrs_aside_init(struct rtrs_aside *aside, void (*run)(struct rtrs_aside *aside));

/* Has it run, by a worker that a kill can reach: its killable waits end then. */
void rtrs_aside_start(struct rtrs_aside *aside);

/* Called by @run, before it frees: it cannot be killed any more. False: it was. */
bool rtrs_aside_over(struct rtrs_aside *aside);

/* Before rtrs_aside_over(). Any context. */
void rtrs_aside_kill(struct rtrs_aside *aside);

/*
 * Has a worker call @fn, and waits for it, killable and freezable; with the caller killed, what
 * @fn waits for ends. The result of @fn.
 */
int rtrs_aside(int (*fn)(void *arg), void *arg);

#endif /* RTRS_ASIDE_H */
