/* SPDX-License-Identifier: GPL-2.0 */
/* Sockets and connections of this host, each with what waits in its queues. */
#ifndef RNBDADM_RDS_LISTS_H
#define RNBDADM_RDS_LISTS_H

#include "rds/kernel.h"

struct rds_queue {
	uint64_t messages, bytes;
	bool known;
};

struct rds_user {
	uint64_t pid;
	char *name;			/* to be freed */
};

struct rds_socket_row {
	struct rds_socket s;
	struct rds_queue send, receive;
	struct rds_user *users;
	size_t nusers;
};

struct rds_connection_row {
	struct rds_connection c;
	/* messages not sent yet, and sent but not acknowledged; shared by several connections: not known */
	struct rds_queue unsent, unacknowledged;
	struct rds_tcp *tcp;
	size_t ntcp;
	/* of our own modules; NULL: not told */
	struct rds_path *paths;
	size_t npaths;
	uint64_t agreed;		/* paths of both ends */
};

struct rds_lists {
	struct rds_socket_row *sockets;
	size_t nsockets;
	struct rds_connection_row *connections;
	size_t nconnections;
	struct rds_queue unsent, unacknowledged, unread;	/* of all */
};

/* All of it; false with ctx->fail set. Sorted by address. */
bool rds_lists(struct ctx *ctx, const struct rds *r, struct rds_lists *l);
void rds_lists_free(struct rds_lists *l);

/* users.c: the processes that have the sockets open, as far as the caller may see them. */
void rds_users(const char *root, struct rds_lists *l);

/* "connected", "connecting" or "down" */
const char *rds_state(const struct rds_connection *c);
/* 10.0.0.1:4000, [fd00::1]:4000; to be freed */
char *rds_end(const struct addr *a);

#endif
