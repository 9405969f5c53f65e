/* SPDX-License-Identifier: GPL-2.0 */
/* Control messages of sendmsg: the pure part, which builds on the host as well. */
#ifndef RDS_CMSG_H
#define RDS_CMSG_H

#include <linux/rds.h>
#include <linux/socket.h>
#include <linux/types.h>

/**
 * struct rds_cmsgs - the control messages of level SOL_RDS
 * @has: bit for each type that was there
 * @refused: a type that nobody can send was there, or two that exclude each other
 * @cookie: RDS_CMSG_ZCOPY_COOKIE
 * @dest: RDS_CMSG_RDMA_DEST
 * @args: RDS_CMSG_RDMA_ARGS
 * @map: RDS_CMSG_RDMA_MAP
 * @atomic: RDS_CMSG_ATOMIC_FADD and the like
 */
struct rds_cmsgs {
	u32 has;
	bool refused;
	u32 cookie;
	u64 dest;
	struct rds_rdma_args args;
	struct rds_get_mr_args map;
	struct rds_atomic_args atomic;
};

#define RDS_CMSG_BIT(type)	(1U << (type))
#define RDS_CMSG_ATOMICS	(RDS_CMSG_BIT(RDS_CMSG_ATOMIC_FADD) | \
				 RDS_CMSG_BIT(RDS_CMSG_ATOMIC_CSWP) | \
				 RDS_CMSG_BIT(RDS_CMSG_MASKED_ATOMIC_FADD) | \
				 RDS_CMSG_BIT(RDS_CMSG_MASKED_ATOMIC_CSWP))
#define RDS_CMSG_OPS		(RDS_CMSG_BIT(RDS_CMSG_RDMA_ARGS) | RDS_CMSG_ATOMICS)
#define RDS_CMSG_OTHERS		(RDS_CMSG_BIT(RDS_CMSG_RDMA_DEST) | \
				 RDS_CMSG_BIT(RDS_CMSG_RDMA_MAP) | \
				 RDS_CMSG_BIT(RDS_CMSG_ZCOPY_COOKIE))

/**
 * rds_cmsgs_parse() - the control messages of sendmsg
 * @control: a chain of struct cmsghdr
 * @len: its bytes
 * @out: result
 *
 * Return: 0, or -EINVAL: the chain is broken, or a control message is too short for its type.
 * Types that are refused are told by @out->refused, as other errors go before that.
 */
int rds_cmsgs_parse(const void *control, size_t len, struct rds_cmsgs *out);

#endif /* RDS_CMSG_H */
