/* SPDX-License-Identifier: GPL-2.0 */
/* One run of the program: what was asked, and what there is to tell. */
#ifndef RNBDADM_APP_CTX_H
#define RNBDADM_APP_CTX_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "grammar/parse.h"
#include "kernel/explain.h"
#include "output/output.h"

struct ctx {
	struct parsed args;
	struct out_opts out;
	/* global options */
	int quiet, verbose;
	bool trace, dry_run, force, idempotent, no_lock;
	int64_t timeout_ms;		/* -1 none, M_UNKNOWN_INT not given */
	int64_t lock_timeout_ms;
	const char *test_root;		/* "" or a prefix of /sys, /proc, ... */
	const char *nl_record, *nl_replay, *test_time;
	enum nl_backend backend;	/* asked for */
	/* results */
	json_t *data;			/* collections, in the order of the document */
	json_t *warnings;
	struct fail fail;
	struct kernel *kernel;
	bool streamed;			/* documents are out already */
};

#endif
