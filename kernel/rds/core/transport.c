// SPDX-License-Identifier: GPL-2.0
/* The transports there are, and which of them an address belongs to. */
#include <linux/export.h>
#include <linux/kmod.h>
#include "core.h"

static DEFINE_MUTEX(rds_transport_lock);
static struct rds_core_transport *transports[RDS_CORE_TRANSPORTS];

const bool rds_core_missing_in_the_kernels_own_rds = true;
EXPORT_SYMBOL_NS_GPL(rds_core_missing_in_the_kernels_own_rds, RDS_CORE);

int rds_core_transport_register(struct rds_core_transport *transport)
{
	int err;

	mutex_lock(&rds_transport_lock);
	err = transports[transport->type] ? -EEXIST : 0;
	if (!err)
		transports[transport->type] = transport;
	mutex_unlock(&rds_transport_lock);
	return err;
}
EXPORT_SYMBOL_NS_GPL(rds_core_transport_register, RDS_CORE);

void rds_core_transport_unregister(struct rds_core_transport *transport)
{
	mutex_lock(&rds_transport_lock);
	transports[transport->type] = NULL;
	mutex_unlock(&rds_transport_lock);
}
EXPORT_SYMBOL_NS_GPL(rds_core_transport_unregister, RDS_CORE);

static struct rds_core_transport *transport_get(unsigned int type)
{
	struct rds_core_transport *t;

	mutex_lock(&rds_transport_lock);
	t = transports[type];
	if (t && !try_module_get(t->owner))
		t = NULL;
	mutex_unlock(&rds_transport_lock);
	return t;
}

void rds_transport_put(struct rds_core_transport *transport)
{
	if (transport)
		module_put(transport->owner);
}

void rds_transport_counters(struct rds_core_info *info)
{
	unsigned int type;

	mutex_lock(&rds_transport_lock);
	for (type = 0; type < RDS_CORE_TRANSPORTS; type++)
		if (transports[type] && transports[type]->counters)
			transports[type]->counters(info);
	mutex_unlock(&rds_transport_lock);
}

/* Under lock_sock(); the socket has none. */
int rds_transport_preset(struct rds_sock *rs, int type)
{
	struct rds_core_transport *t = transport_get(type);

	if (!t) {
		request_module("%s", type == RDS_TRANS_TCP ? "rds_tcp" : "rds_rdma");
		t = transport_get(type);
	}
	if (!t)
		return -ENOPROTOOPT;
	rs->transport = t;
	return 0;
}

/* Those that may be bound to it: the loop to loopback addresses, else the first by its number. */
struct rds_core_transport *rds_transport_find(struct net *net, const struct in6_addr *addr,
					      u32 scope)
{
	struct rds_core_transport *t;
	unsigned int type;

	if (rds_ip_is_loopback(addr))
		return transport_get(RDS_CORE_TRANSPORT_LOOP);
	for (type = 0; type < RDS_CORE_TRANSPORT_LOOP; type++) {
		t = transport_get(type);
		if (t && t->claims(net, addr, scope))
			return t;
		rds_transport_put(t);
	}
	return NULL;
}

bool rds_transport_local(struct net *net, const struct in6_addr *addr, u32 scope)
{
	struct rds_core_transport *t = rds_transport_find(net, addr, scope);

	rds_transport_put(t);
	return t;
}
