// SPDX-License-Identifier: GPL-2.0
/* RDMA devices in use: one protection domain per device and session. */
#include <linux/export.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "core.h"

static void dev_release(struct kref *ref)
{
	struct rtrs_dev *dev = container_of(ref, struct rtrs_dev, ref);
	struct rtrs_dev_pool *pool = dev->pool;

	list_del(&dev->entry);
	mutex_unlock(&pool->lock);
	ib_dealloc_pd(dev->pd);
	kfree(dev);
	rtrs_census_destroyed(RTRS_CENSUS_CORE_DEV);
}

struct rtrs_dev *rtrs_dev_get(struct rtrs_dev_pool *pool, struct ib_device *ib_dev)
{
	struct rtrs_dev *dev;
	unsigned int noio;

	if (!(ib_dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return ERR_PTR(-EOPNOTSUPP);

	noio = memalloc_noio_save();	/* I/O may wait for who wants the lock */
	mutex_lock(&pool->lock);
	list_for_each_entry(dev, &pool->list, entry) {
		if (dev->ib_dev == ib_dev && kref_get_unless_zero(&dev->ref))
			goto out;
	}
	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev) {
		dev = ERR_PTR(-ENOMEM);
		goto out;
	}
	dev->pd = ib_alloc_pd(ib_dev, 0);
	if (IS_ERR(dev->pd)) {
		int err = PTR_ERR(dev->pd);

		kfree(dev);
		dev = ERR_PTR(err);
		goto out;
	}
	dev->ib_dev = ib_dev;
	dev->pool = pool;
	kref_init(&dev->ref);
	list_add(&dev->entry, &pool->list);
	rtrs_census_created(RTRS_CENSUS_CORE_DEV);
out:
	mutex_unlock(&pool->lock);
	memalloc_noio_restore(noio);
	return dev;
}
EXPORT_SYMBOL_GPL(rtrs_dev_get);

void rtrs_dev_put(struct rtrs_dev *dev)
{
	kref_put_mutex(&dev->ref, dev_release, &dev->pool->lock);
}
EXPORT_SYMBOL_GPL(rtrs_dev_put);
