// SPDX-License-Identifier: GPL-2.0
/*
 * Exports: which block devices and files are open, how many write to each, and the list of
 * all openings. One mutex; sysfs directories come and go under it, so that a
 * name is never taken by one that is still on its way out.
 */
#include <linux/slab.h>
#include <rtrs/aside.h>
#include "notify.h"

static DEFINE_MUTEX(exports_lock);
static LIST_HEAD(exports);
static LIST_HEAD(opened);	/* ascending netlink ids */
static LIST_HEAD(waiting);	/* of struct rnbd_server_wait */
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

static bool has_lost(const struct rnbd_server_session *session,
		     const struct rnbd_server_session *other)
{
	return session != other && uuid_equal(&session->client, &other->client);
}

static bool is_namesake(const struct rnbd_server_session *session,
			const struct rnbd_server_session *other)
{
	return session == other || !strcmp(session->name, other->name);
}

/*
 * -EBUSY: whoever had it is not through. Its client is not let in before, not even beside
 * another writer: what it wrote then may be overtaken by what it wrote before. -EALREADY: the
 * same, of a session that this client has lost. A page cache beside other I/O would be stale:
 * -EMEDIUMTYPE.
 */
static int may_join(const struct rnbd_server_export *export,
		    const struct rnbd_server_dev *newcomer)
{
	int err = may_open(export, newcomer->access_mode) ? 0 : -EPERM;
	const struct rnbd_server_dev *dev;

	list_for_each_entry(dev, &export->openings, export_entry) {
		if (!READ_ONCE(dev->closing)) {
			if (dev->io_mode != newcomer->io_mode)
				return -EMEDIUMTYPE;
			continue;
		}
		if (has_lost(newcomer->session, dev->session))
			return -EALREADY;
		if ((err && writes(dev)) || is_namesake(newcomer->session, dev->session) ||
		    dev->io_mode != newcomer->io_mode)
			err = -EBUSY;
	}
	return err;
}

/* As may_join(). Who has to wait is in the list before the other one can be through. */
static int check(const struct rnbd_server_export *export, const struct rnbd_server_dev *newcomer,
		 struct rnbd_server_wait *wait)
{
	int err = may_join(export, newcomer);

	lockdep_assert_held(&exports_lock);
	if (err == -EBUSY || err == -EALREADY) {
		wait->key = export->key;
		wait->io_mode = newcomer->io_mode;
		wait->busy = true;
		list_add_tail(&wait->entry, &waiting);
	}
	return err;
}

/* Only those whom it kept out: there may be as many who wait as there are openings to end. */
static void wake(const struct rnbd_server_dev *dev)
{
	struct rnbd_server_wait *wait, *next;

	lockdep_assert_held(&exports_lock);
	list_for_each_entry_safe(wait, next, &waiting, entry) {
		if (wait->key != dev->export->key ||
		    !(writes(dev) || wait->io_mode != dev->io_mode ||
		      is_namesake(wait->session, dev->session) ||
		      has_lost(wait->session, dev->session)))
			continue;
		list_del_init(&wait->entry);
		/* One that is about to begin to wait will see that. */
		if (cancel_delayed_work(&wait->work))
			queue_delayed_work(wait->wq, &wait->work, 0);
	}
}

void rnbd_server_export_wait(struct rnbd_server_wait *wait, unsigned long until)
{
	long left = until - jiffies;

	mutex_lock(&exports_lock);
	if (list_empty(&wait->entry))
		left = 0;
	queue_delayed_work(wait->wq, &wait->work, max(left, 0L));
	mutex_unlock(&exports_lock);
}

bool rnbd_server_export_wait_end(struct rnbd_server_wait *wait)
{
	bool over;

	mutex_lock(&exports_lock);
	over = list_empty(&wait->entry);
	list_del_init(&wait->entry);
	wait->busy = false;
	mutex_unlock(&exports_lock);
	return over;
}

static struct rnbd_server_export *find(const void *key)
{
	struct rnbd_server_export *export;

	lockdep_assert_held(&exports_lock);
	list_for_each_entry(export, &exports, entry)
		if (export->key == key)
			return export;
	return NULL;
}

u8 rnbd_server_export_io_mode(const void *key)
{
	const struct rnbd_server_export *export;
	u8 io_mode;

	mutex_lock(&exports_lock);
	export = find(key);
	io_mode = export ? export->io_mode : RNBD_IO_ANY;
	mutex_unlock(&exports_lock);
	return io_mode;
}

/* Closes are not for memory reclaim: that of a block device may wait for work that is not. */
static int create_queues(struct rnbd_server_export *export, const struct rnbd_server_dev *dev)
{
	const unsigned int major = MAJOR(rnbd_server_devt(dev));
	const unsigned int minor = MINOR(rnbd_server_devt(dev));

	export->submit_wq = alloc_workqueue("rnbd-server-%u:%u", WQ_UNBOUND | WQ_MEM_RECLAIM,
					    dev->file ? RNBD_SERVER_FILE_WORKERS :
							RNBD_SERVER_WORKERS, major, minor);
	export->close_wq = alloc_workqueue("rnbd-close-%u:%u", WQ_UNBOUND, RNBD_SERVER_WORKERS,
					   major, minor);
	return export->submit_wq && export->close_wq ? 0 : -ENOMEM;
}

/* Without the lock: those who run on the queues may want it. */
static void destroy(struct rnbd_server_export *export)
{
	if (!export)
		return;
	if (export->submit_wq)
		destroy_workqueue(export->submit_wq);
	if (export->close_wq)
		destroy_workqueue(export->close_wq);
	kfree(export->file_path);
	kmem_cache_free(export_cache, export);
}

static struct rnbd_server_export *create(const struct rnbd_server_dev *dev)
{
	struct rnbd_server_export *export = kmem_cache_zalloc(export_cache, GFP_KERNEL);
	int err;

	if (!export)
		return ERR_PTR(-ENOMEM);
	export->key = rnbd_server_key(dev);
	export->io_mode = dev->io_mode;
	INIT_LIST_HEAD(&export->openings);
	err = create_queues(export, dev);
	if (!err)
		err = rnbd_server_files->add_export(export, dev);
	if (err) {
		destroy(export);
		return ERR_PTR(err);
	}
	list_add(&export->entry, &exports);
	rtrs_census_created(RTRS_CENSUS_RNBD_SERVER_EXPORT);
	return export;
}

/* What to destroy, or NULL. */
static struct rnbd_server_export *unlink_unused(struct rnbd_server_export *export)
{
	lockdep_assert_held(&exports_lock);
	if (!list_empty(&export->openings))
		return NULL;
	list_del(&export->entry);
	rnbd_server_files->remove_export(export);
	rtrs_census_destroyed(RTRS_CENSUS_RNBD_SERVER_EXPORT);
	return export;
}

static int add_locked(struct rnbd_server_dev *dev, struct rnbd_server_wait *wait,
		      struct rnbd_server_export **unused)
{
	struct rnbd_server_export *export = find(rnbd_server_key(dev));
	int err;

	if (!export)
		export = create(dev);
	if (IS_ERR(export))
		return PTR_ERR(export);
	err = check(export, dev, wait);
	if (err)
		goto unused;
	dev->export = export;
	err = rnbd_server_files->add_dev(dev);
	if (err)
		goto unused;
	list_add_tail(&dev->export_entry, &export->openings);
	export->writers += writes(dev);
	dev->nl_id = rtrs_new_id();
	list_add_tail(&dev->entry, &opened);
	return 0;

unused:
	*unused = unlink_unused(export);
	return err;
}

int rnbd_server_export_check(struct rnbd_server_dev *dev, struct rnbd_server_wait *wait)
{
	struct rnbd_server_export *export;
	int err;

	mutex_lock(&exports_lock);
	export = find(rnbd_server_key(dev));
	err = export ? check(export, dev, wait) : 0;
	dev->beside = export && export->writers;
	mutex_unlock(&exports_lock);
	return err;
}

bool rnbd_server_export_alone(const struct rnbd_server_dev *dev)
{
	bool alone;

	mutex_lock(&exports_lock);
	alone = dev->export && writes(dev) && dev->export->writers == 1;
	mutex_unlock(&exports_lock);
	return alone;
}

int rnbd_server_export_add(struct rnbd_server_dev *dev, struct rnbd_server_wait *wait)
{
	struct rnbd_server_export *unused = NULL;
	int err;

	mutex_lock(&exports_lock);
	err = add_locked(dev, wait, &unused);
	mutex_unlock(&exports_lock);
	destroy(unused);
	return err;
}

void rnbd_server_export_name(struct rnbd_server_dev *dev, const char *peer, const char *by)
{
	mutex_lock(&exports_lock);
	strscpy(dev->peer, peer, sizeof(dev->peer));
	strscpy(dev->by, by, sizeof(dev->by));
	mutex_unlock(&exports_lock);
}

void rnbd_server_export_hide(struct rnbd_server_dev *dev)
{
	mutex_lock(&exports_lock);
	list_del(&dev->entry);
	rnbd_server_events->opening_event(dev, RNBD_EVENT_DESTROY);
	mutex_unlock(&exports_lock);
}

/* It is in the list of all that is open, and may write. */
static void become_rw(struct rnbd_server_dev *dev)
{
	lockdep_assert_held(&exports_lock);
	if (dev->access_mode == RNBD_ACCESS_MODE_RW)
		return;
	WRITE_ONCE(dev->access_mode, RNBD_ACCESS_MODE_RW);
	rnbd_server_events->opening_event(dev, RNBD_EVENT_CHANGE);
}

bool rnbd_server_export_become_rw(struct rnbd_server_dev *dev)
{
	bool alone;

	mutex_lock(&exports_lock);
	alone = dev->export->writers == 1;
	if (alone)
		become_rw(dev);
	mutex_unlock(&exports_lock);
	return alone;
}

/*
 * Of two ends of a migration one is gone: the other writes alone, if it can be told. It asks, and
 * what it is answered is in dev.c.
 */
static void end_migration(struct rnbd_server_export *export)
{
	struct rnbd_server_dev *dev;

	lockdep_assert_held(&exports_lock);
	if (export->writers != 1)
		return;
	list_for_each_entry(dev, &opened, entry) {
		if (dev->export != export || !writes(dev) || rnbd_server_tell_size(dev))
			continue;
		become_rw(dev);
	}
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
	list_del(&dev->export_entry);
	if (writes(dev))
		end_migration(export);
	wake(dev);
	complete_all(&dev->released);
	rnbd_server_files->remove_dev(dev);
	dev->export = NULL;
	export = unlink_unused(export);
	mutex_unlock(&exports_lock);
	destroy(export);
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
	err = wait_for_completion_state(&dev->released, RTRS_WAIT_STATE);
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
				pr_info("session %*pE cannot be told of the new size of %s\n",
					(int)strlen(dev->session->name), dev->session->name,
					kobject_name(export->dir));
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
