/* SPDX-License-Identifier: GPL-2.0 */
/* Records of RDS_INFO_*, decoded. Pure: bytes in, numbers out. */
#ifndef RNBDADM_RDS_RECORDS_H
#define RNBDADM_RDS_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/address.h"

#define RDS_TOS_UNKNOWN	(-1)	/* records of IPv6 connections have none */

/* An answer of the kernel: records of @size bytes, which may be more or fewer than we know. */
struct rds_list {
	uint8_t *bytes;
	size_t len, size;
	bool told;		/* false: this kernel has no such list */
};

struct rds_counter {
	char name[33];
	uint64_t value;
};

struct rds_connection {
	struct addr local, remote;
	char transport[16];
	uint64_t next_send, next_receive;
	unsigned int flags;	/* RDS_INFO_CONNECTION_FLAG_* */
	int tos;
};

struct rds_message {
	struct addr local, remote;	/* with ports */
	uint64_t sequence;
	uint32_t bytes;
	int tos;
};

struct rds_socket {
	struct addr local, remote;	/* with ports; ADDR_NONE: not bound, not connected */
	uint32_t send_buffer, receive_buffer;
	uint64_t inode;
};

/* What netlink tells of a path; UINT64_MAX is not told. */
struct rds_path {
	uint64_t index, state, since_ns, reconnects;
	int64_t error;			/* negative errno; 0 none */
	uint64_t next_send, next_receive;
	uint64_t unsent, unacknowledged;
	uint64_t local_port, remote_port, abilities;
};

/* A TCP socket below a connection. */
struct rds_tcp {
	struct addr local, remote;	/* with ports */
};

/* The least a record of this list must have; 0: no list that is decoded here. */
size_t rds_record_least(int list);
size_t rds_count(const struct rds_list *l);

/* The record at @i of a list that rds_info() has accepted. @v6: of the list with IPv6 addresses. */
void rds_counter_at(const struct rds_list *l, size_t i, struct rds_counter *c);
void rds_connection_at(const struct rds_list *l, bool v6, size_t i, struct rds_connection *c);
void rds_message_at(const struct rds_list *l, bool v6, size_t i, struct rds_message *m);
void rds_socket_at(const struct rds_list *l, bool v6, size_t i, struct rds_socket *s);
void rds_tcp_at(const struct rds_list *l, bool v6, size_t i, struct rds_tcp *t);

#endif
