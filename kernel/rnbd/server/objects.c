// SPDX-License-Identifier: GPL-2.0
/* An opening as an object: its references, and where its end is worked on. */
#include <linux/slab.h>
#include "server.h"

static struct kmem_cache *dev_cache;
struct workqueue_struct *rnbd_server_release_wq;

static const char *const access_name[] = {
	[RNBD_ACCESS_MODE_RO]		= "ro",
	[RNBD_ACCESS_MODE_RW]		= "rw",
	[RNBD_ACCESS_MODE_MIGRATION]	= "migration",
};

const char *rnbd_server_access_name(u8 access_mode)
{
	return access_mode < ARRAY_SIZE(access_name) ? access_name[access_mode] : "unknown";
}

struct rnbd_server_dev *rnbd_server_dev_alloc(void)
{
	struct rnbd_server_dev *dev = kmem_cache_zalloc(dev_cache, GFP_KERNEL);

	if (!dev)
		return NULL;
	kref_init(&dev->ref);
	rtrs_census_created(RTRS_CENSUS_RNBD_SERVER_DEV);
	return dev;
}

static void release(struct kref *ref)
{
	struct rnbd_server_dev *dev = container_of(ref, struct rnbd_server_dev, ref);

	kfree(dev->where);
	kmem_cache_free(dev_cache, dev);
	rtrs_census_destroyed(RTRS_CENSUS_RNBD_SERVER_DEV);
}

void rnbd_server_dev_put(struct rnbd_server_dev *dev)
{
	kref_put(&dev->ref, release);
}

void rnbd_server_dev_force(struct rnbd_server_dev *dev)
{
	queue_work(rnbd_server_release_wq, &dev->force_work);
}

int __init rnbd_server_dev_init(void)
{
	dev_cache = KMEM_CACHE(rnbd_server_dev, 0);
	if (!dev_cache)
		return -ENOMEM;
	rnbd_server_release_wq = alloc_workqueue("rnbd-server-release", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (!rnbd_server_release_wq) {
		kmem_cache_destroy(dev_cache);
		return -ENOMEM;
	}
	return 0;
}

void rnbd_server_dev_exit(void)
{
	destroy_workqueue(rnbd_server_release_wq);
	kmem_cache_destroy(dev_cache);
}
