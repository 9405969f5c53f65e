// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "task/event-wait.h"

int monitor_signals(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

enum monitor_end monitor_sleep(const struct ctx *ctx, int signals, int64_t end, int64_t wake)
{
	struct pollfd p[3] = {
		{ .fd = ctx->kernel->event_fd, .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
		{ .fd = STDOUT_FILENO },
	};
	int64_t now = now_ms(), left = end < 0 ? -1 : end - now;

	/* a recording has no more to tell */
	if (ctx->nl_replay)
		return end < 0 ? ENOUGH : TIMED_OUT;
	if (end >= 0 && left <= 0)
		return TIMED_OUT;
	if (wake >= 0 && (left < 0 || wake - now < left))
		left = wake > now ? wake - now : 0;
	if (poll(p, 3, left > 3600000 ? 3600000 : (int)left) < 0 && errno != EINTR)
		return ENOUGH;
	return p[1].revents || p[2].revents & (POLLERR | POLLHUP) ? ENOUGH : GO_ON;
}

enum monitor_end monitor_away(struct ctx *ctx, int signals, int64_t end)
{
	struct pollfd p = { .fd = signals, .events = POLLIN };

	if (ctx->nl_replay)
		return ENOUGH;
	kernel_close(ctx->kernel);
	ctx->kernel = NULL;
	fail_clear(&ctx->fail);
	if (end >= 0 && now_ms() >= end)
		return TIMED_OUT;
	return poll(&p, 1, 500) > 0 ? ENOUGH : GO_ON;
}
