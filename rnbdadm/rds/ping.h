/* SPDX-License-Identifier: GPL-2.0 */
/* One ping of RDS: a message to port 0, which the kernel of the peer answers. */
#ifndef RNBDADM_RDS_PING_H
#define RNBDADM_RDS_PING_H

#include "app/app.h"

struct rds_ping {
	const char *root;
	struct addr to, from;
	const char *transport;	/* of the source address, or NULL */
	int signals;		/* signalfd of what ends the program */
};

enum rds_answer { RDS_ANSWER, RDS_SILENCE, RDS_INTERRUPTED, RDS_CANNOT };

/* Finds the source address and blocks the signals; false with ctx->fail set. */
bool rds_ping_open(struct ctx *ctx, struct rds_ping *p);
void rds_ping_close(struct rds_ping *p);
/*
 * Sends one and waits for its answer, @ms at most, or without end with -1. A socket of its own tells its answer from a
 * late one of those before, and takes back the message when it is closed. RDS_CANNOT: ctx->fail is set.
 */
enum rds_answer rds_ping_once(struct ctx *ctx, struct rds_ping *p, int64_t ms, uint64_t *ns);
/* Until @ms from now; true if a signal came. */
bool rds_ping_rest(const struct rds_ping *p, int64_t ms);

#endif
