/* SPDX-License-Identifier: GPL-2.0 */
/* The netlink family rds of our own modules, which tells what RDS_INFO_* does not, and events. */
#ifndef RNBDADM_RDS_FAMILY_H
#define RNBDADM_RDS_FAMILY_H

#include "rds/lists.h"

/* What is told of a connection, or of a path of it. */
struct rds_told {
	struct addr local, remote;
	char transport[16];
	int tos;
	uint64_t agreed;		/* UINT64_MAX: not told */
	uint64_t event;			/* of a notification */
	struct rds_path *paths;		/* to be freed */
	size_t npaths;
};

/* The word for its number */
const char *rds_path_state(const struct rds_path *p);
/* "rnbd" is a module of this project, "other" none; NULL: not known */
const char *rds_peer(const struct rds_path *p);

/* Opens it as ctx->kernel. False with ctx->fail set where it is not there, and what to do about that. */
bool rds_family_open(struct ctx *ctx);
/* Calls @fn for each connection; false with ctx->fail set. */
bool rds_family_each(struct ctx *ctx, void (*fn)(void *arg, struct rds_told *t), void *arg);
/* Adds what it tells to the connections of the lists, if it is there; false with ctx->fail set. */
bool rds_family_add(struct ctx *ctx, struct rds_lists *l);
/* From now on events come. */
bool rds_family_listen(struct ctx *ctx);
/* The next one that is there, in @t with NL_NEXT_EVENT. */
enum nl_next rds_family_next(struct ctx *ctx, struct rds_told *t);

#endif
