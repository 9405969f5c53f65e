/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work that may wait for a peer. A worker runs it: the task that asks for it holds locks of sysfs
 * or of generic netlink, which other tasks wait for, and a suspend has to freeze it.
 */
#ifndef RTRS_ASIDE_H
#define RTRS_ASIDE_H

#include <linux/sched.h>
#include <linux/types.h>
#include <linux/workqueue.h>

/*
 * State of a task that waits for such work, or for a peer: only a kill ends the wait, a suspend
 * freezes the task. "Unsafe" as the task may hold the mutex of an open sysfs file. Only threads
 * that share the file wait for that mutex.
 */
#define RTRS_WAIT_STATE	(TASK_KILLABLE | TASK_FREEZABLE_UNSAFE)

/**
 * struct rtrs_aside - one piece of work
 * @work: runs it
 * @run: called by the worker; may free the struct
 * @task: the worker, while it runs
 * @killed: the task that asked for it was killed
 */
struct rtrs_aside {
	struct work_struct work;
	void (*run)(struct rtrs_aside *aside);
	struct task_struct *task;
	bool killed;
};

void rtrs_aside_init(struct rtrs_aside *aside, void (*run)(struct rtrs_aside *aside));

/* Queues the work. rtrs_aside_kill() ends killable waits of @run. */
void rtrs_aside_start(struct rtrs_aside *aside);

/* For @run, before it frees the struct: no kill comes behind it. False: it was killed. */
bool rtrs_aside_over(struct rtrs_aside *aside);

/* Ends nothing once rtrs_aside_over() was called. Any context. */
void rtrs_aside_kill(struct rtrs_aside *aside);

/*
 * Has a worker call @fn, waits until @fn has returned, and returns its result. The wait is
 * freezable. A kill of the caller ends killable waits of @fn.
 */
int rtrs_aside(int (*fn)(void *arg), void *arg);

#endif /* RTRS_ASIDE_H */
