// SPDX-License-Identifier: GPL-2.0
/*
 * A change is carried out by the kernel until its answer comes; older modules do it within send(),
 * where only a fatal signal ends it. So one with a limit is sent by a thread: when the limit is
 * over the program says so and ends, which ends the wait.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <time.h>

#include "base/text.h"
#include "kernel/netlink/netlink.h"

struct sender {
	struct nl_sock *sk;
	struct nl_msg *msg;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done;
	int rc, err;
};

static void *send_thread(void *arg)
{
	struct sender *s = arg;
	int rc, err;

	errno = 0;
	rc = nl_send(s->sk, s->msg);
	err = errno;
	pthread_mutex_lock(&s->lock);
	s->rc = rc;
	s->err = err;
	s->done = true;
	pthread_cond_signal(&s->cond);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static bool wait_sent(struct sender *s, int64_t limit_ms)
{
	struct timespec end;
	bool done;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += limit_ms / 1000;
	end.tv_nsec += limit_ms % 1000 * 1000000;
	if (end.tv_nsec >= 1000000000) {
		end.tv_nsec -= 1000000000;
		end.tv_sec++;
	}
	pthread_mutex_lock(&s->lock);
	while (!s->done && !pthread_cond_timedwait(&s->cond, &s->lock, &end))
		;
	done = s->done;
	pthread_mutex_unlock(&s->lock);
	return done;
}

/* Dumps answer at once, and what asks a server has its limit in the request. */
static bool has_limit(const struct nl *nl)
{
	const struct genlmsghdr *g = NLMSG_DATA(nl->req);

	if (nl->k.cfg.limit_ms < 0 || nl->k.cfg.replay || nl->req->nlmsg_type != nl->family ||
	    (nl->req->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP)
		return false;
	return g->cmd != RNBD_CMD_MAP && g->cmd != RNBD_CMD_REMAP &&
	       g->cmd != RNBD_CMD_SESSION_ADD && g->cmd != RNBD_CMD_PATH_ADD &&
	       g->cmd != RNBD_CMD_PATH_RECONNECT && g->cmd != RNBD_CMD_DEVICE_SET;
}

static int late(struct nl *nl)
{
	nl->k.stuck = true;
	nl->e->kind = NL_FAIL_TIMEOUT;
	nl->e->err = ETIMEDOUT;
	return RNL_LATE;
}

/* Something has come, or recv() shall say what is wrong. */
static bool wait_answer(const struct nl *nl, int64_t end)
{
	struct pollfd p = { .fd = nl_socket_get_fd(nl->sk), .events = POLLIN };
	int64_t left;
	int rc;

	do {
		left = end - now_ms();
		rc = poll(&p, 1, left > 0 ? (int)(left < 3600000 ? left : 3600000) : 0);
	} while ((rc < 0 && errno == EINTR) || (!rc && left > 3600000));
	return rc;
}

int rnl_send(struct nl *nl, struct nl_msg *msg)
{
	int64_t end = now_ms() + nl->k.cfg.limit_ms;
	pthread_condattr_t attr;
	pthread_t thread;
	struct sender *s;
	int rc;

	if (!has_limit(nl)) {
		errno = 0;
		return nl_send(nl->sk, msg);
	}
	s = xcalloc(1, sizeof(*s));
	s->sk = nl->sk;
	s->msg = msg;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->cond, &attr);
	pthread_condattr_destroy(&attr);
	rc = pthread_create(&thread, NULL, send_thread, s);
	if (rc) {
		free(s);
		errno = rc;
		return -NLE_FAILURE;
	}
	if (!wait_sent(s, nl->k.cfg.limit_ms))
		return late(nl);
	pthread_join(thread, NULL);
	rc = s->rc;
	errno = s->err;
	free(s);
	if (rc >= 0 && !wait_answer(nl, end))
		return late(nl);
	return rc;
}
