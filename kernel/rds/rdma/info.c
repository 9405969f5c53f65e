// SPDX-License-Identifier: GPL-2.0
/* RDS_INFO_IB_CONNECTIONS: the queue pair of each connection. */
#include <rdma/ib_addr.h>
#include "rdma.h"

static void gids(const struct rds_rdma_link *link, u8 *from, u8 *to)
{
	struct rdma_dev_addr *addr;

	if (!link || !link->id->device)
		return;
	addr = &link->id->route.addr.dev_addr;
	rdma_addr_get_sgid(addr, (union ib_gid *)from);
	rdma_addr_get_dgid(addr, (union ib_gid *)to);
}

static void put4(const struct rds_rdma_path *rp, struct rds_core_info *info)
{
	const struct rds_core_conn *conn = rp->path->conn;
	struct rds_info_rdma_connection c = {
		.src_addr = conn->laddr.s6_addr32[3],
		.dst_addr = conn->faddr.s6_addr32[3],
		.tos = conn->tos,
		.sl = conn->tos & 15,
	};

	if (!ipv6_addr_v4mapped(&conn->laddr))
		return;
	gids(rp->link, c.src_gid, c.dst_gid);
	if (rp->link) {
		c.max_send_wr = rp->link->nr_sends;
		c.max_recv_wr = rp->link->nr_recvs;
		c.max_send_sge = 2;
	}
	rds_core_info_put(info, &c);
}

static void put6(const struct rds_rdma_path *rp, struct rds_core_info *info)
{
	const struct rds_core_conn *conn = rp->path->conn;
	struct rds6_info_rdma_connection c = {
		.src_addr = conn->laddr,
		.dst_addr = conn->faddr,
		.tos = conn->tos,
		.sl = conn->tos & 15,
	};

	gids(rp->link, c.src_gid, c.dst_gid);
	if (rp->link) {
		c.max_send_wr = rp->link->nr_sends;
		c.max_recv_wr = rp->link->nr_recvs;
		c.max_send_sge = 2;
	}
	rds_core_info_put(info, &c);
}

static void each(struct net *net, struct rds_core_info *info,
		 void (*put)(const struct rds_rdma_path *rp, struct rds_core_info *info))
{
	const struct rds_rdma_path *rp;

	if (!net_eq(net, &init_net))
		return;
	spin_lock_bh(&rds_rdma_lock);
	list_for_each_entry(rp, &rds_rdma_paths, entry)
		put(rp, info);
	spin_unlock_bh(&rds_rdma_lock);
}

static void fill4(struct net *net, struct rds_core_info *info)
{
	each(net, info, put4);
}

static void fill6(struct net *net, struct rds_core_info *info)
{
	each(net, info, put6);
}

void rds_rdma_info_init(void)
{
	rds_core_info_register(RDS_INFO_IB_CONNECTIONS, sizeof(struct rds_info_rdma_connection),
			       fill4);
	rds_core_info_register(RDS6_INFO_IB_CONNECTIONS, sizeof(struct rds6_info_rdma_connection),
			       fill6);
}

void rds_rdma_info_exit(void)
{
	rds_core_info_unregister(RDS_INFO_IB_CONNECTIONS);
	rds_core_info_unregister(RDS6_INFO_IB_CONNECTIONS);
}
