/* SPDX-License-Identifier: GPL-2.0 */
/* What of an object the command line asks for. */
#ifndef RNBDADM_APP_OBJECT_OPTS_H
#define RNBDADM_APP_OBJECT_OPTS_H

#include "app/app.h"
#include "output/to-json.h"

/* By --stats and --details, or by the name of a field of this view. */
struct object_opts object_opts(const struct ctx *ctx, const struct view *v);
/* What is to be read for that: a kernel that tells no counters is an error only where --stats was given. */
unsigned int object_stats(const struct ctx *ctx, const struct object_opts *o);

#endif
