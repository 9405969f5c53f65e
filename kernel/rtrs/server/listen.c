// SPDX-License-Identifier: GPL-2.0
/*
 * Where the server listens: on all RDMA devices, or on those and the addresses that the
 * administrator names. There are listeners for all, as devices and addresses come and go; what
 * comes elsewhere is answered as where nobody listens, before anything is made of it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ctype.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <rdma/ib.h>
#include <rdma/ib_cache.h>
#include "server.h"

/**
 * struct place - a device or an address
 * @device: name, empty for an address
 * @addr: address
 */
struct place {
	char device[IB_DEVICE_NAME_MAX];
	struct sockaddr_storage addr;
};

static struct place *places;
static unsigned int place_count;

static bool is_device(const char *word, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!isalnum(word[i]) && !strchr("_-.", word[i]))
			return false;
	return len && isalpha(*word) && len < IB_DEVICE_NAME_MAX;
}

static int place_parse(const char *word, size_t len, struct place *place)
{
	if (is_device(word, len)) {
		memcpy(place->device, word, len);
		return 0;
	}
	return rtrs_addr_parse(word, len, 0, &place->addr);
}

/* @list: devices and addresses between commas; NULL or empty: all */
int __init rtrs_server_listen_init(const char *list)
{
	const char *word, *end;
	unsigned int count = 1;

	if (!list || !*list)
		return 0;
	for (word = list; *word; word++)
		count += *word == ',';
	places = kcalloc(count, sizeof(*places), GFP_KERNEL);
	if (!places)
		return -ENOMEM;
	for (word = list; place_count < count; word = end + 1) {
		end = strchrnul(word, ',');
		if (place_parse(word, end - word, &places[place_count++])) {
			pr_err("listen: '%.*s' is neither the name of an RDMA device nor an address as ip:10.0.0.1 or gid:fe80::1\n",
			       (int)(end - word), word);
			rtrs_server_listen_exit();
			return -EINVAL;
		}
	}
	return 0;
}

void rtrs_server_listen_exit(void)
{
	kfree(places);
	places = NULL;
	place_count = 0;
}

static bool is_named(const struct place *place, const struct ib_device *ib_dev)
{
	return !strcmp(place->device, dev_name(&ib_dev->dev));
}

/* May the connection come here? */
bool rtrs_server_listens(const struct rdma_cm_id *cm_id)
{
	unsigned int i;

	for (i = 0; i < place_count; i++)
		if (*places[i].device ? is_named(&places[i], cm_id->device) :
		    rtrs_addr_equal(&places[i].addr, &cm_id->route.addr.src_addr))
			return true;
	return !place_count;
}

/* The GID that stands for an address */
static union ib_gid gid_of(const struct sockaddr_storage *addr)
{
	union ib_gid gid;

	if (addr->ss_family == AF_INET)
		ipv6_addr_set_v4mapped(((const struct sockaddr_in *)addr)->sin_addr.s_addr,
				       (struct in6_addr *)&gid);
	else if (addr->ss_family == AF_INET6)
		memcpy(&gid, &((const struct sockaddr_in6 *)addr)->sin6_addr, sizeof(gid));
	else
		memcpy(&gid, &((const struct sockaddr_ib *)addr)->sib_addr, sizeof(gid));
	return gid;
}

static bool has_addr(struct ib_device *ib_dev, u32 port, const struct sockaddr_storage *addr)
{
	union ib_gid want = gid_of(addr), gid;
	int i;

	for (i = 0; i < ib_dev->port_data[port].immutable.gid_tbl_len; i++)
		if (!rdma_query_gid(ib_dev, port, i, &gid) && !memcmp(&gid, &want, sizeof(gid)))
			return true;
	return false;
}

/* Is there any way to come here over the port? iWARP has no GIDs that tell. */
bool rtrs_server_listens_on(struct ib_device *ib_dev, u32 port)
{
	unsigned int i;

	for (i = 0; i < place_count; i++)
		if (*places[i].device ? is_named(&places[i], ib_dev) :
		    rdma_protocol_iwarp(ib_dev, port) || has_addr(ib_dev, port, &places[i].addr))
			return true;
	return !place_count;
}
