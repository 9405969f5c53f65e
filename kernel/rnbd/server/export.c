// SPDX-License-Identifier: GPL-2.0
/*
 * Exports: which block devices are open, how many write to each, and the list of
 * all openings. One mutex; sysfs directories come and go under it, so that a
 * name is never taken by one that is still on its way out.
 */
#include <linux/slab.h>
#include "server.h"

static DEFINE_MUTEX(exports_lock);
static LIST_HEAD(exports);
static LIST_HEAD(opened);	/* ascending netlink ids */
static struct kmem_cache *export_cache;

static bool writes(const struct rnbd_server_dev *dev)
{
	return dev->access_mode != RNBD_ACCESS_MODE_RO;
}

/* Any number of readers; a writer alone, or with one that came for a migration. */
static bool may_open(const struct rnbd_server_export *export, u8 access_mode)
{
	switch (access_mode) {
	case RNBD_ACCESS_MODE_RO:
		return true;
	case RNBD_ACCESS_MODE_RW:
		return export->writers == 0;
	case RNBD_ACCESS_MODE_MIGRATION:
		return export->writers <= 1;
	}
	return false;
}

static struct rnbd_server_export *find(dev_t devt)
{
	struct rnbd_server_export *export;

	lockdep_assert_held(&exports_lock);
	list_for_each_entry(export, &exports, entry)
		if (export->devt == devt)
			return export;
	return NULL;
}

static struct rnbd_server_export *create(struct block_device *bdev)
{
	struct rnbd_server_export *export = kmem_cache_zalloc(export_cache, GFP_KERNEL);
	int err;

	if (!export)
		return ERR_PTR(-ENOMEM);
	export->devt = bdev->bd_dev;
	err = rnbd_server_sysfs_add_export(export, bdev);
	if (err) {
		kmem_cache_free(export_cache, export);
		return ERR_PTR(err);
	}
	list_add(&export->entry, &exports);
	rtrs_census_created(RTRS_CENSUS_RNBD_SERVER_EXPORT);
	return export;
}

static void destroy_unused(struct rnbd_server_export *export)
{
	lockdep_assert_held(&exports_lock);
	if (export->opens)
		return;
	list_del(&export->entry);
	rnbd_server_sysfs_remove_export(export);
	kmem_cache_free(export_cache, export);
	rtrs_census_destroyed(RTRS_CENSUS_RNBD_SERVER_EXPORT);
}

static int add_locked(struct rnbd_server_dev *dev)
{
	struct rnbd_server_export *export = find(dev->bdev->bd_dev);
	int err = -EPERM;

	if (!export)
		export = create(dev->bdev);
	if (IS_ERR(export))
		return PTR_ERR(export);
	if (!may_open(export, dev->access_mode))
		goto unused;
	dev->export = export;
	err = rnbd_server_sysfs_add_dev(dev);
	if (err)
		goto unused;
	export->opens++;
	export->writers += writes(dev);
	dev->nl_id = rnbd_server_nl_new_id();
	list_add_tail(&dev->entry, &opened);
	return 0;

unused:
	destroy_unused(export);
	return err;
}

int rnbd_server_export_add(struct rnbd_server_dev *dev)
{
	int err;

	mutex_lock(&exports_lock);
	err = add_locked(dev);
	mutex_unlock(&exports_lock);
	return err;
}

void rnbd_server_export_hide(struct rnbd_server_dev *dev)
{
	mutex_lock(&exports_lock);
	list_del(&dev->entry);
	rnbd_server_nl_event(dev, RNBD_EVENT_DESTROY);
	mutex_unlock(&exports_lock);
}

/*
 * Whoever waits in a file of the directory for dev->released holds no lock and goes at once:
 * its removal waits for that. The next opening waits for the removal, and finds the name free.
 */
void rnbd_server_export_remove(struct rnbd_server_dev *dev)
{
	struct rnbd_server_export *export = dev->export;

	mutex_lock(&exports_lock);
	export->writers -= writes(dev);
	export->opens--;
	complete_all(&dev->released);
	rnbd_server_sysfs_remove_dev(dev);
	destroy_unused(export);
	mutex_unlock(&exports_lock);
}

struct rnbd_server_dev *rnbd_server_export_find(u32 nl_id,
						void (*fn)(struct rnbd_server_dev *dev, void *arg),
						void *arg)
{
	struct rnbd_server_dev *dev, *found = NULL;

	mutex_lock(&exports_lock);
	list_for_each_entry(dev, &opened, entry) {
		if (dev->nl_id == nl_id) {
			found = dev;
			kref_get(&dev->ref);
			fn(dev, arg);
			break;
		}
	}
	mutex_unlock(&exports_lock);
	return found;
}

static void force(struct rnbd_server_dev *dev, void *arg)
{
	rnbd_server_dev_force(dev);
}

int rnbd_server_export_force(u32 nl_id)
{
	struct rnbd_server_dev *dev = rnbd_server_export_find(nl_id, force, NULL);
	int err;

	if (!dev)
		return -ENOENT;
	err = wait_for_completion_killable(&dev->released);
	rnbd_server_dev_put(dev);
	if (err)
		return -EINTR;
	/* It was completed under the lock, which is let go when the directory is gone. */
	mutex_lock(&exports_lock);
	mutex_unlock(&exports_lock);
	return 0;
}

int rnbd_server_export_walk(u32 after, int (*fn)(const struct rnbd_server_dev *dev, void *arg),
			    void *arg)
{
	struct rnbd_server_dev *dev;
	int ret = 0;

	mutex_lock(&exports_lock);
	list_for_each_entry(dev, &opened, entry) {
		if (dev->nl_id <= after)
			continue;
		ret = fn(dev, arg);
		if (ret)
			break;
	}
	mutex_unlock(&exports_lock);
	return ret;
}

/* Of all exports that are stale: who writes to the file of one cannot take the lock. */
static void tell_work(struct work_struct *work)
{
	struct rnbd_server_export *export;
	struct rnbd_server_dev *dev;

	mutex_lock(&exports_lock);
	list_for_each_entry(export, &exports, entry) {
		if (!xchg(&export->stale, false))
			continue;
		list_for_each_entry(dev, &opened, entry)
			if (dev->export == export && rnbd_server_tell_size(dev))
				pr_info("session %*pE cannot be told of the new size of %pg\n",
					(int)strlen(dev->session->name), dev->session->name,
					dev->bdev);
	}
	mutex_unlock(&exports_lock);
}

static DECLARE_WORK(stale_work, tell_work);

void rnbd_server_export_stale(struct rnbd_server_export *export)
{
	WRITE_ONCE(export->stale, true);
	schedule_work(&stale_work);
}

int __init rnbd_server_export_init(void)
{
	export_cache = KMEM_CACHE(rnbd_server_export, 0);
	return export_cache ? 0 : -ENOMEM;
}

void rnbd_server_export_exit(void)
{
	cancel_work_sync(&stale_work);
	kmem_cache_destroy(export_cache);
}
