// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion maps: a bit for each port of an address whose socket has more to read than it wants.
 */
#include <linux/bitops.h>
#include <linux/jhash.h>
#include "core.h"

static struct hlist_head *bucket(struct rds_net *rnet, const struct in6_addr *addr)
{
	return &rnet->cong[jhash2((const u32 *)addr->s6_addr32, 4, 0) % RDS_CONG_BUCKETS];
}

void rds_cong_give_bits(struct rds_cong *cong, unsigned long *bits)
{
	spin_lock_bh(&cong->rnet->lock);
	if (!cong->bits) {
		smp_store_release(&cong->bits, bits); /* pairs with readers of bits */
		bits = NULL;
	}
	spin_unlock_bh(&cong->rnet->lock);
	kfree(bits);
}

/* @bits: one of its sockets may become congested. Task context. */
struct rds_cong *rds_cong_get(struct rds_net *rnet, const struct in6_addr *addr, bool bits)
{
	struct rds_cong *cong, *fresh = kzalloc(sizeof(*fresh), GFP_KERNEL);
	unsigned long *room = bits ? kzalloc(RDS_MAP_LEN, GFP_KERNEL) : NULL;

	if (!fresh || (bits && !room)) {
		kfree(fresh);
		kfree(room);
		return NULL;
	}
	fresh->addr = *addr;
	fresh->rnet = rnet;
	init_waitqueue_head(&fresh->wait);
	spin_lock_bh(&rnet->lock);
	hlist_for_each_entry(cong, bucket(rnet, addr), entry)
		if (rds_ip_equal(&cong->addr, addr))
			break;
	if (!cong) {
		cong = fresh;
		fresh = NULL;
		hlist_add_head(&cong->entry, bucket(rnet, addr));
		rds_census_created(RDS_CENSUS_CONG);
	}
	cong->refs++;
	spin_unlock_bh(&rnet->lock);
	kfree(fresh);
	if (room)
		rds_cong_give_bits(cong, room);
	return cong;
}

void rds_cong_put(struct rds_cong *cong)
{
	struct rds_net *rnet = cong->rnet;
	bool last;

	spin_lock_bh(&rnet->lock);
	last = !--cong->refs;
	if (last)
		hlist_del(&cong->entry);
	spin_unlock_bh(&rnet->lock);
	if (!last)
		return;
	kfree(cong->bits);
	kfree(cong);
	rds_census_destroyed(RDS_CENSUS_CONG);
}

/* Under the lock of the socket that has the port; it has made sure that there are bits. */
void rds_cong_mark(struct rds_cong *cong, __be16 port, bool congested)
{
	if (congested)
		set_bit_le(ntohs(port), cong->bits);
	else
		clear_bit_le(ntohs(port), cong->bits);
}
