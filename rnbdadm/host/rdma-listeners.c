// SPDX-License-Identifier: GPL-2.0
/* Who holds a port of the RDMA connection manager, as the netlink family of the RDMA subsystem tells. */
#include <inttypes.h>
#include <netinet/in.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <rdma/rdma_netlink.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "host/rdma-listeners.h"
#include "host/routes.h"
#include "host/sysfs-file.h"

/* States of a CM id in which it has a port and no peer, as iproute2 numbers them. */
#define STATE_BOUND	7
#define STATE_LISTEN	8

struct search {
	unsigned int port;
	struct strlist *who;
	uint32_t *devs;
	size_t ndevs;
};

static struct nlattr *find(struct nl_msg *msg, int attr)
{
	return nlmsg_find_attr(nlmsg_hdr(msg), 0, attr);
}

static int on_device(struct nl_msg *msg, void *arg)
{
	struct nlattr *index = find(msg, RDMA_NLDEV_ATTR_DEV_INDEX);
	struct search *s = arg;

	if (!index || nla_len(index) < (int)sizeof(uint32_t))
		return NL_OK;
	s->devs = xrealloc(s->devs, (s->ndevs + 1) * sizeof(*s->devs));
	s->devs[s->ndevs++] = nla_get_u32(index);
	return NL_OK;
}

static bool has_port(struct nlattr *addr, unsigned int port)
{
	struct sockaddr_storage ss = { 0 };

	if (!addr)
		return false;
	nla_memcpy(&ss, addr, sizeof(ss));
	if (ss.ss_family == AF_INET)
		return ntohs(((struct sockaddr_in *)&ss)->sin_port) == port;
	return ss.ss_family == AF_INET6 && ntohs(((struct sockaddr_in6 *)&ss)->sin6_port) == port;
}

static char *owner(struct nlattr *pid, struct nlattr *module)
{
	char *comm, *who;

	if (module)
		return xasprintf("the kernel module %.*s", nla_len(module), (char *)nla_data(module));
	if (!pid || nla_len(pid) < (int)sizeof(uint32_t))
		return xstrdup("a process of another PID namespace");
	comm = sys_read("", "/proc/%" PRIu32 "/comm", nla_get_u32(pid));
	who = xasprintf("process %" PRIu32 " (%s)", nla_get_u32(pid), comm ? comm : "?");
	free(comm);
	return who;
}

static void on_cm_id(struct search *s, struct nlattr *id)
{
	struct nlattr *state = nla_find(nla_data(id), nla_len(id), RDMA_NLDEV_ATTR_RES_STATE);
	char *who;

	if (!state || nla_len(state) < 1 ||
	    (nla_get_u8(state) != STATE_BOUND && nla_get_u8(state) != STATE_LISTEN) ||
	    !has_port(nla_find(nla_data(id), nla_len(id), RDMA_NLDEV_ATTR_RES_SRC_ADDR), s->port))
		return;
	who = owner(nla_find(nla_data(id), nla_len(id), RDMA_NLDEV_ATTR_RES_PID),
		    nla_find(nla_data(id), nla_len(id), RDMA_NLDEV_ATTR_RES_KERN_NAME));
	/* There is one for each device and network of a listener. */
	if (!strlist_has(s->who, who))
		strlist_add(s->who, who);
	free(who);
}

static int on_cm_ids(struct nl_msg *msg, void *arg)
{
	struct nlattr *ids = find(msg, RDMA_NLDEV_ATTR_RES_CM_ID), *id;
	int rest;

	if (ids)
		nla_for_each_nested(id, ids, rest)
			on_cm_id(arg, id);
	return NL_OK;
}

static bool dump(int cmd, const uint32_t *dev, int (*answer)(struct nl_msg *msg, void *arg), void *arg)
{
	struct nl_msg *msg = nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, cmd), NLM_F_REQUEST | NLM_F_DUMP);

	if (!msg || (dev && nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, *dev) < 0))
		xabort_no_memory();
	return rtnl_ask(NETLINK_RDMA, msg, answer, arg);
}

void rdma_listeners(unsigned int port, struct strlist *who)
{
	struct search s = { .port = port, .who = who };

	dump(RDMA_NLDEV_CMD_GET, NULL, on_device, &s);
	for (size_t i = 0; i < s.ndevs; i++)
		dump(RDMA_NLDEV_CMD_RES_CM_ID_GET, &s.devs[i], on_cm_ids, &s);
	free(s.devs);
}
