/* SPDX-License-Identifier: GPL-2.0 */
/* Waiting for events of a family: for monitor, and monitor rds. */
#ifndef RNBDADM_TASK_EVENT_WAIT_H
#define RNBDADM_TASK_EVENT_WAIT_H

#include "app/app.h"

enum monitor_end { GO_ON, ENOUGH, TIMED_OUT };

/* Signals end the program as if there were no more events: a signalfd. */
int monitor_signals(void);
/*
 * Until there is an event, a signal, no reader, or no time: the times are those of now_ms(), -1 none. At @wake something
 * else is due.
 */
enum monitor_end monitor_sleep(const struct ctx *ctx, int signals, int64_t end, int64_t wake);
/* Module or family are gone, and --follow waits for them: half a second, then GO_ON to look again, anew. */
enum monitor_end monitor_away(struct ctx *ctx, int signals, int64_t end);

#endif
