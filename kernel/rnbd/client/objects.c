// SPDX-License-Identifier: GPL-2.0
/* Sessions and devices as objects: their references, and the table of devices. */
#include <linux/idr.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include "client.h"

static DEFINE_MUTEX(devs_lock);	/* inside of session->lock */
static DEFINE_XARRAY(devs);	/* by id */
static DEFINE_IDA(indices);
static struct kmem_cache *session_cache, *dev_cache;

struct rnbd_client_session *rnbd_client_session_alloc(void)
{
	struct rnbd_client_session *session = kmem_cache_zalloc(session_cache, GFP_KERNEL);

	if (!session)
		return NULL;
	rtrs_census_created(RTRS_CENSUS_RNBD_CLIENT_SESSION);
	kref_init(&session->ref);
	return session;
}

static void session_release(struct kref *ref)
{
	struct rnbd_client_session *session = container_of(ref, struct rnbd_client_session, ref);

	rnbd_client_queue_exit(session);
	mutex_destroy(&session->lock);
	kmem_cache_free(session_cache, session);
	rtrs_census_destroyed(RTRS_CENSUS_RNBD_CLIENT_SESSION);
}

void rnbd_client_session_get(struct rnbd_client_session *session)
{
	kref_get(&session->ref);
}

void rnbd_client_session_put(struct rnbd_client_session *session)
{
	kref_put(&session->ref, session_release);
}

struct rnbd_client_dev *rnbd_client_dev_alloc(struct rnbd_client_session *session)
{
	struct rnbd_client_dev *dev = kmem_cache_zalloc(dev_cache, GFP_KERNEL);

	if (!dev)
		return NULL;
	rtrs_census_created(RTRS_CENSUS_RNBD_CLIENT_DEV);
	kref_init(&dev->ref);
	rnbd_client_session_get(session);
	dev->session = session;
	dev->index = -1;
	return dev;
}

static void dev_release(struct kref *ref)
{
	struct rnbd_client_dev *dev = container_of(ref, struct rnbd_client_dev, ref);

	if (dev->index >= 0)
		ida_free(&indices, dev->index);
	rnbd_client_session_put(dev->session);
	mutex_destroy(&dev->open_lock);
	kmem_cache_free(dev_cache, dev);
	rtrs_census_destroyed(RTRS_CENSUS_RNBD_CLIENT_DEV);
}

void rnbd_client_dev_get(struct rnbd_client_dev *dev)
{
	kref_get(&dev->ref);
}

void rnbd_client_dev_put(struct rnbd_client_dev *dev)
{
	kref_put(&dev->ref, dev_release);
}

int rnbd_client_dev_enter(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack)
{
	int err;

	dev->index = ida_alloc_max(&indices, RNBD_CLIENT_INDEX_MAX, GFP_KERNEL);
	if (dev->index < 0)
		return rtrs_fail(extack, dev->index, "no disk number is free");
	snprintf(dev->name, sizeof(dev->name), "rnbd%d", dev->index);
	dev->id = rtrs_new_id();
	mutex_lock(&devs_lock);
	err = xa_insert(&devs, dev->id, dev, GFP_KERNEL);
	mutex_unlock(&devs_lock);
	if (err) {
		ida_free(&indices, dev->index);
		dev->index = -1;
	}
	return err;
}

void rnbd_client_dev_withdraw(struct rnbd_client_dev *dev)
{
	mutex_lock(&devs_lock);
	xa_erase(&devs, dev->id);
	mutex_unlock(&devs_lock);
}

struct rnbd_client_dev *rnbd_client_dev_next(u32 id)
{
	struct rnbd_client_dev *dev;
	unsigned long index = id;

	mutex_lock(&devs_lock);
	dev = xa_find_after(&devs, &index, U32_MAX, XA_PRESENT);
	if (dev)
		rnbd_client_dev_get(dev);
	mutex_unlock(&devs_lock);
	return dev;
}

int __init rnbd_client_objects_init(void)
{
	session_cache = kmem_cache_create("rnbd_client_session", sizeof(struct rnbd_client_session),
					  0, SLAB_HWCACHE_ALIGN, NULL);
	if (!session_cache)
		return -ENOMEM;
	dev_cache = kmem_cache_create("rnbd_client_dev", sizeof(struct rnbd_client_dev), 0,
				      SLAB_HWCACHE_ALIGN, NULL);
	if (dev_cache)
		return 0;
	kmem_cache_destroy(session_cache);
	return -ENOMEM;
}

void rnbd_client_objects_exit(void)
{
	kmem_cache_destroy(dev_cache);
	kmem_cache_destroy(session_cache);
	ida_destroy(&indices);
}
