/* SPDX-License-Identifier: GPL-2.0 */
/* The part of completion that the kernel knows. */
#ifndef RNBDADM_TASK_COMPLETE_LIVE_H
#define RNBDADM_TASK_COMPLETE_LIVE_H

#include "grammar/complete.h"

/* Offers what is there to be named, for an argument of that name. */
void complete_live(struct complete *c, const char *what);

#endif
