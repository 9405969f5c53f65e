// SPDX-License-Identifier: GPL-2.0
/* Work that may wait for a peer. Its workers take SIGKILL, which ends killable waits. */
#include <linux/completion.h>
#include <linux/export.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <rtrs/aside.h>
#include "main.h"

static struct workqueue_struct *aside_wq;
static DEFINE_SPINLOCK(aside_lock);	/* .task and .killed of each struct rtrs_aside */

static void aside_work(struct work_struct *work)
{
	struct rtrs_aside *aside = container_of(work, struct rtrs_aside, work);

	/* Workers ignore signals. disallow_signal() drops one that is still pending. */
	allow_kernel_signal(SIGKILL);
	spin_lock_bh(&aside_lock);
	aside->task = current;
	if (aside->killed)
		send_sig(SIGKILL, current, 1);
	spin_unlock_bh(&aside_lock);
	aside->run(aside);
	disallow_signal(SIGKILL);
}

void rtrs_aside_init(struct rtrs_aside *aside, void (*run)(struct rtrs_aside *aside))
{
	INIT_WORK(&aside->work, aside_work);
	aside->run = run;
	aside->task = NULL;
	aside->killed = false;
}

void rtrs_aside_start(struct rtrs_aside *aside)
{
	queue_work(aside_wq, &aside->work);
}

bool rtrs_aside_over(struct rtrs_aside *aside)
{
	bool killed;

	spin_lock_bh(&aside_lock);
	aside->task = NULL;
	killed = aside->killed;
	spin_unlock_bh(&aside_lock);
	return !killed;
}

void rtrs_aside_kill(struct rtrs_aside *aside)
{
	spin_lock_bh(&aside_lock);
	aside->killed = true;
	if (aside->task)
		send_sig(SIGKILL, aside->task, 1);
	spin_unlock_bh(&aside_lock);
}

/**
 * struct call - call of a function by rtrs_aside()
 * @aside: the work
 * @fn: the function
 * @arg: for it
 * @err: its result
 * @done: it has returned
 */
struct call {
	struct rtrs_aside aside;
	int (*fn)(void *arg);
	void *arg;
	int err;
	struct completion done;
};

static void run_call(struct rtrs_aside *aside)
{
	struct call *call = container_of(aside, struct call, aside);

	call->err = call->fn(call->arg);
	rtrs_aside_over(aside);
	complete(&call->done);
}

int rtrs_aside(int (*fn)(void *arg), void *arg)
{
	struct call call = { .aside.run = run_call, .fn = fn, .arg = arg };

	INIT_WORK_ONSTACK(&call.aside.work, aside_work);
	init_completion(&call.done);
	rtrs_aside_start(&call.aside);
	if (wait_for_completion_state(&call.done, RTRS_WAIT_STATE)) {
		rtrs_aside_kill(&call.aside);
		/* @fn undoes what it began; it waits for no peer any more. */
		wait_for_completion(&call.done);
	}
	destroy_work_on_stack(&call.aside.work);
	return call.err;
}
EXPORT_SYMBOL_GPL(rtrs_aside);

int __init rtrs_aside_wq_init(void)
{
	aside_wq = alloc_workqueue("rtrs_aside", WQ_UNBOUND, WQ_MAX_ACTIVE);
	return aside_wq ? 0 : -ENOMEM;
}

/* Waits for work that runs. */
void rtrs_aside_wq_exit(void)
{
	destroy_workqueue(aside_wq);
}
