// SPDX-License-Identifier: GPL-2.0
/* Control messages of sendmsg. Pure: the unit tests build it on the host. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "cmsg.h"

static int take(void *to, size_t need, const void *data, size_t have)
{
	if (have < need)
		return -EINVAL;
	memcpy(to, data, need);
	return 0;
}

static int parse_one(int type, const void *data, size_t len, struct rds_cmsgs *out)
{
	int err;

	switch (type) {
	case RDS_CMSG_RDMA_ARGS:
		err = take(&out->args, sizeof(out->args), data, len);
		break;
	case RDS_CMSG_RDMA_DEST:
		err = take(&out->dest, sizeof(out->dest), data, len);
		break;
	case RDS_CMSG_RDMA_MAP:
		err = take(&out->map, sizeof(out->map), data, len);
		break;
	case RDS_CMSG_ZCOPY_COOKIE:
		err = take(&out->cookie, sizeof(out->cookie), data, len);
		break;
	case RDS_CMSG_ATOMIC_FADD:
	case RDS_CMSG_ATOMIC_CSWP:
	case RDS_CMSG_MASKED_ATOMIC_FADD:
	case RDS_CMSG_MASKED_ATOMIC_CSWP:
		err = take(&out->atomic, sizeof(out->atomic), data, len);
		break;
	default:
		out->refused = true;
		return 0;
	}
	if (err)
		return err;
	/* One operation per message */
	if ((RDS_CMSG_BIT(type) & RDS_CMSG_OPS) && (out->has & RDS_CMSG_OPS))
		out->refused = true;
	out->has |= RDS_CMSG_BIT(type);
	return 0;
}

int rds_cmsgs_parse(const void *control, size_t len, struct rds_cmsgs *out)
{
	const char *at = control;
	struct cmsghdr c;
	size_t step;
	int err;

	memset(out, 0, sizeof(*out));
	while (len >= sizeof(c)) {
		memcpy(&c, at, sizeof(c));
		if (c.cmsg_len < sizeof(c) || c.cmsg_len > len)
			return -EINVAL;
		if (c.cmsg_level == SOL_RDS) {
			err = parse_one(c.cmsg_type, at + CMSG_LEN(0), c.cmsg_len - CMSG_LEN(0),
					out);
			if (err)
				return err;
		}
		step = CMSG_ALIGN(c.cmsg_len);
		if (step >= len)
			break;
		at += step;
		len -= step;
	}
	if ((out->has & RDS_CMSG_OPS) && (out->has & RDS_CMSG_OTHERS))
		out->refused = true;
	return 0;
}
