// SPDX-License-Identifier: GPL-2.0
/* Those who wait for a session, and who ends that, on two CPUs: kernel/rtrs/server/wait.c. */
#include <semaphore.h>
#include "stub/wait.h"
#include "tap.h"

static struct rtrs_server_session session;
static struct rtrs_server_wait waiter;
static struct workqueue_struct wq;

static pthread_t canceler;
static bool cancels, canceling;	/* is to be when the work is off its queue, is */
static sem_t at_lock;

void mutex_lock(struct mutex *lock)
{
	if (canceling && pthread_equal(pthread_self(), canceler))
		sem_post(&at_lock);
	pthread_mutex_lock(&lock->is);
}

static void *cancel(void *arg)
{
	canceler = pthread_self();
	canceling = true;
	rtrs_server_wait_cancel(arg);
	return NULL;
}

/* Here the other CPU cancels, as far as it comes: to the lock, which this one has. */
bool cancel_delayed_work(struct delayed_work *work)
{
	bool was = work->queued;

	work->queued = false;
	if (cancels && !pthread_create(&canceler, NULL, cancel, &waiter))
		sem_wait(&at_lock);
	return was;
}

void rtrs_server_session_put(struct rtrs_server_session *s)
{
	s->ref.refs--;
}

static void look(struct work_struct *work)
{
	(void)work;
}

static void setup(void)
{
	memset(&session, 0, sizeof(session));
	pthread_mutex_init(&session.lock.is, NULL);
	INIT_LIST_HEAD(&session.waiting);
	memset(&waiter, 0, sizeof(waiter));
	rtrs_server_wait_init(&waiter, &wq, look);
	cancels = canceling = false;
	sem_init(&at_lock, 0, 0);
	mutex_lock(&session.lock);
	rtrs_server_wait(&session, &waiter, jiffies + 50);
	mutex_unlock(&session.lock);
}

static void wake(void)
{
	mutex_lock(&session.lock);
	rtrs_server_wake(&session);
	mutex_unlock(&session.lock);
}

static void is_over(void)
{
	CHECK(!waiter.session);
	EQ(session.ref.refs, 0);
	CHECK(session.waiting.next == &session.waiting);
}

static void waits(void)
{
	setup();
	CHECK(waiter.work.queued);
	EQ(waiter.work.delay, 50);
	EQ(session.ref.refs, 1);
	wake();
	CHECK(waiter.work.queued);
	EQ(waiter.work.delay, 0);
	rtrs_server_wait_end(&waiter);
	is_over();
}

static void is_canceled(void)
{
	setup();
	rtrs_server_wait_cancel(&waiter);
	CHECK(!waiter.work.queued);
	is_over();
	wake();
	CHECK(!waiter.work.queued);
}

static void is_canceled_while_woken(void)
{
	setup();
	cancels = true;
	wake();
	CHECK(canceling);
	pthread_join(canceler, NULL);
	CHECK(!waiter.work.queued);
	is_over();
}

int main(void)
{
	RUN(waits, "a wait that ends: the work looks at once");
	RUN(is_canceled, "a wait that is canceled");
	RUN(is_canceled_while_woken, "one that is canceled while it is woken: the work does not run any more");
	return tap_end();
}
