// SPDX-License-Identifier: GPL-2.0
/* A step of connecting a path: begun, waited for, and over. */
#include <linux/sched/signal.h>
#include "connect.h"

static int path_alive(const struct rtrs_client_path *path)
{
	if (READ_ONCE(path->state) == RTRS_CLIENT_PATH_CONNECTING)
		return 0;
	return path->last_error ?: -ECONNABORTED;
}

int rtrs_client_step_begin(struct rtrs_client_path *path)
{
	reinit_completion(&path->step);
	if (fatal_signal_pending(current))
		return -EINTR;
	return path_alive(path);
}

void rtrs_client_step_done(struct rtrs_client_path *path)
{
	complete(&path->step);
}

int rtrs_client_step_wait(struct rtrs_client_path *path, unsigned int timeout_ms)
{
	long left = wait_for_completion_killable_timeout(&path->step, msecs_to_jiffies(timeout_ms));

	if (left < 0)
		return -EINTR;
	if (!left)
		return -ETIMEDOUT;
	return path_alive(path);
}
