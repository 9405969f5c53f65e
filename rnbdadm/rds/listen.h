/* SPDX-License-Identifier: GPL-2.0 */
/* TCP sockets of this host at the port of RDS, as /proc/net/tcp and tcp6 tell them. */
#ifndef RNBDADM_RDS_LISTEN_H
#define RNBDADM_RDS_LISTEN_H

#include "model/address.h"

#define RDS_TCP_PORT	16385
#define RDS_CM_PORT	18634

struct rds_listener {
	struct addr local;	/* ADDR_NONE: all addresses */
	uint64_t inode;
	char *process;		/* "process 12 (nc)" that has it open, or NULL: the kernel; to be freed */
};

struct rds_listeners {
	struct rds_listener *v;
	size_t n;
	bool known;		/* the files could be read */
};

/* Who listens on the port. Processes of others are seen by root alone. */
void rds_listeners(const char *root, unsigned int port, struct rds_listeners *l);
void rds_listeners_free(struct rds_listeners *l);

/* Is a connection to this port of that address tried, with no answer yet? */
bool rds_unanswered(const char *root, unsigned int port, const struct addr *remote);

#endif
