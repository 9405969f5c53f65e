// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA and atomic operations of sendmsg. No transport here carries them out, so all are refused;
 * what is wrong with one is told first, as programs look for RDMA by what they are told.
 */
#include <linux/overflow.h>
#include "core.h"

#define PIECES_MAX	1024

/* The table is copied once: what is checked cannot change. */
static int pieces_sum(const struct rds_rdma_args *args, u64 *bytes)
{
	struct rds_iovec *v;
	u64 sum = 0;
	unsigned int i;
	int err = 0;

	if (!args->nr_local)
		return -EINVAL;
	if (args->nr_local > PIECES_MAX)
		return -EMSGSIZE;
	v = vmemdup_user(u64_to_user_ptr(args->local_vec_addr), args->nr_local * sizeof(*v));
	if (IS_ERR(v))
		return PTR_ERR(v);
	for (i = 0; i < args->nr_local; i++) {
		u64 end;

		if (check_add_overflow(sum, v[i].bytes, &sum) ||
		    check_add_overflow(v[i].addr, v[i].bytes, &end))
			err = -EINVAL;
	}
	kvfree(v);
	*bytes = sum;
	return err;
}

/* Bytes at the peer that an operation is about */
u64 rds_rdma_size(const struct rds_cmsgs *c)
{
	return c->has & RDS_CMSG_BIT(RDS_CMSG_RDMA_ARGS) ? c->args.remote_vec.bytes : 0;
}

int rds_rdma_check(const struct rds_cmsgs *c)
{
	u64 bytes;
	int err;

	if (c->has & RDS_CMSG_BIT(RDS_CMSG_RDMA_ARGS)) {
		err = pieces_sum(&c->args, &bytes);
		if (err)
			return err;
		return bytes > c->args.remote_vec.bytes ? -EINVAL : -EOPNOTSUPP;
	}
	if (c->has & RDS_CMSG_ATOMICS)
		return c->atomic.local_addr & 7 ? -EFAULT : -EOPNOTSUPP;
	/* No key was ever given out. */
	if (c->has & RDS_CMSG_BIT(RDS_CMSG_RDMA_DEST))
		return -EINVAL;
	return c->has & RDS_CMSG_BIT(RDS_CMSG_RDMA_MAP) ? -EOPNOTSUPP : 0;
}
