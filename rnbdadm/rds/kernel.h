/* SPDX-License-Identifier: GPL-2.0 */
/* The way to the RDS of this host: a socket, or below a root that tests have moved the files that stand for one. */
#ifndef RNBDADM_RDS_KERNEL_H
#define RNBDADM_RDS_KERNEL_H

#include "app/app.h"
#include "rds/records.h"

struct rds {
	const char *root;
	int fd;			/* -1 below a moved root */
	uint64_t inode;		/* of that socket, which lists show as well */
};

/* The modules, in the order in which they are told. */
#define RDS_MODULES	3

struct rds_module {
	const char *name, *transport;	/* NULL: the core */
	bool loaded;
	char *version;			/* to be freed */
	const char *origin;		/* "kernel", "rnbd", NULL where it is not loaded */
};

void rds_modules(const char *root, struct rds_module m[RDS_MODULES]);
void rds_modules_free(struct rds_module m[RDS_MODULES]);

/* False with ctx->fail set where there is none. */
bool rds_open(struct ctx *ctx, struct rds *r);
void rds_close(struct rds *r);
/* A list, which the kernel may lack; false with ctx->fail set. */
bool rds_read(struct ctx *ctx, const struct rds *r, int list, struct rds_list *l);

#endif
