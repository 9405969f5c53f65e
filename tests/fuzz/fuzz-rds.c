// SPDX-License-Identifier: GPL-2.0
/* RDS. Input: what to parse, a byte: 0 header, 1 control messages, 2 to 4 address for bind, connect, send; the bytes. */
#include <rds/proto.h>
#include "fuzz.h"
#include "kernel/rds/core/addr.h"
#include "kernel/rds/core/cmsg.h"

static void header(const uint8_t *p, size_t size)
{
	uint8_t back[RDS_HDR_LEN], area[RDS_EXT_LEN] = { 0 };
	struct rds_ext e, again;
	unsigned int used = 0;
	struct rds_hdr h;

	if (rds_hdr_parse(p, size, &h))
		return;
	accepted++;
	MUST(h.len <= RDS_MSG_MAX);
	rds_hdr_pack(back, &h, 0);
	MUST(!memcmp(back, p, 26) && !memcmp(back + RDS_HDR_EXT_AT, p + RDS_HDR_EXT_AT, RDS_EXT_LEN));
	rds_hdr_pack(back, &h, 1);
	MUST(rds_hdr_csum_ok(back));
	rds_ext_parse(h.ext, &e);
	if (e.has & 1 << RDS_EXT_PATHS)
		MUST(!rds_ext_add(area, &used, RDS_EXT_PATHS, e.paths));
	if (e.has & 1 << RDS_EXT_RDMA_DEST)
		MUST(!rds_ext_add(area, &used, RDS_EXT_RDMA_DEST, (uint64_t)e.dest_key << 32 | e.dest_offset));
	rds_ext_parse(area, &again);
	MUST(again.paths == e.paths && again.dest_key == e.dest_key && again.dest_offset == e.dest_offset);
}

static void control(const uint8_t *p, size_t size)
{
	struct rds_cmsgs c;

	if (rds_cmsgs_parse(p, size, &c))
		return;
	accepted += !!c.has;
	MUST(!(c.has & ~(RDS_CMSG_OPS | RDS_CMSG_OTHERS)));
	MUST(c.refused || !(c.has & RDS_CMSG_OPS) || !(c.has & RDS_CMSG_OTHERS));
}

static void address(const uint8_t *p, size_t size, enum rds_addr_use use)
{
	struct rds_addr a, again;
	uint8_t sa[28];
	int len;

	if (rds_addr_parse(p, size, use, &a))
		return;
	accepted++;
	MUST(!rds_ip_is_any(&a.ip) && a.ip.s6_addr[0] != 0xff);
	MUST(!a.scope == !rds_ip_is_linklocal(&a.ip));
	len = rds_addr_put(sa, &a);
	MUST(!rds_addr_parse(sa, len, use, &again));
	MUST(!memcmp(&a, &again, sizeof(a)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t what, *p;

	if (!take(&data, &size, &what, 1))
		return 0;
	p = exact(data, size);
	if (what == 0)
		header(p, size);
	else if (what == 1)
		control(p, size);
	else
		address(p, size, what % 3);
	free(p);
	return 0;
}
