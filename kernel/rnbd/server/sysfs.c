// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/class/rnbd-server/ctl/devices/<block device, or name of the export of a file>/
 *	block_dev				link to the disk
 *	path					in its place: the file
 *	revalidate				tells clients to ask for the size
 *	sessions/<session>/			a device that this session opened; a second
 *						opening of the same block device by the same
 *						session is <session>.<id>: names of sessions
 *						have no dot
 *		read_only, access_mode, mapping_path, force_close
 *
 * Directories are plain kobjects which own nothing; deleting one waits for those
 * who are in its files.
 */
#include <linux/device.h>
#include <linux/slab.h>
#include <rtrs/aside.h>
#include "notify.h"

enum { ATTR_READ_ONLY, ATTR_ACCESS_MODE, ATTR_MAPPING_PATH, ATTR_FORCE_CLOSE };

static struct class ctl_class = {
	.name = "rnbd-server",
};

static struct device *ctl;
static struct kobject *devices;

static ssize_t read_only_show(struct kobject *dir, struct kobj_attribute *attr, char *page)
{
	const struct rnbd_server_dev *dev = container_of(attr, struct rnbd_server_dev,
							 attr[ATTR_READ_ONLY]);

	return sysfs_emit(page, "%d\n", dev->read_only);
}

static ssize_t access_mode_show(struct kobject *dir, struct kobj_attribute *attr, char *page)
{
	const struct rnbd_server_dev *dev = container_of(attr, struct rnbd_server_dev,
							 attr[ATTR_ACCESS_MODE]);

	return sysfs_emit(page, "%s\n", rnbd_server_access_name(dev->access_mode));
}

static ssize_t mapping_path_show(struct kobject *dir, struct kobj_attribute *attr, char *page)
{
	const struct rnbd_server_dev *dev = container_of(attr, struct rnbd_server_dev,
							 attr[ATTR_MAPPING_PATH]);

	return sysfs_emit(page, "%s\n", dev->path);
}

static ssize_t force_close_show(struct kobject *dir, struct kobj_attribute *attr, char *page)
{
	return sysfs_emit(page, "Usage: echo 1 > %s\n", attr->attr.name);
}

/*
 * The file goes with the device, and that waits for us: no lock is taken here, and what we wait
 * for is complete before anybody removes the file.
 */
static ssize_t force_close_store(struct kobject *dir, struct kobj_attribute *attr,
				 const char *page, size_t count)
{
	struct rnbd_server_dev *dev = container_of(attr, struct rnbd_server_dev,
						   attr[ATTR_FORCE_CLOSE]);

	if (!sysfs_streq(page, "1"))
		return -EINVAL;
	rnbd_server_dev_force(dev);
	return wait_for_completion_state(&dev->released, RTRS_WAIT_STATE) ? -EINTR : count;
}

static const struct kobj_attribute attr_table[] = {
	[ATTR_READ_ONLY]	= __ATTR_RO(read_only),
	[ATTR_ACCESS_MODE]	= __ATTR_RO(access_mode),
	[ATTR_MAPPING_PATH]	= __ATTR_RO(mapping_path),
	[ATTR_FORCE_CLOSE]	= __ATTR_RW(force_close),
};

static ssize_t revalidate_show(struct kobject *dir, struct kobj_attribute *attr, char *page)
{
	return sysfs_emit(page, "Usage: echo 1 > %s\n", attr->attr.name);
}

static ssize_t revalidate_store(struct kobject *dir, struct kobj_attribute *attr,
				const char *page, size_t count)
{
	if (!sysfs_streq(page, "1"))
		return -EINVAL;
	rnbd_server_export_stale(container_of(attr, struct rnbd_server_export, revalidate));
	return count;
}

static ssize_t path_show(struct kobject *dir, struct kobj_attribute *attr, char *page)
{
	const struct rnbd_server_export *export = container_of(attr, struct rnbd_server_export,
							       path);

	return sysfs_emit(page, "%s\n", export->file_path);
}

/* Removes the directory with all that is in it. */
static void remove_dir(struct kobject *dir)
{
	kobject_del(dir);
	kobject_put(dir);
}

/* As it was when it was opened. */
static char *path_of(const struct file *file)
{
	char *page = (char *)__get_free_page(GFP_KERNEL);
	char *path;

	if (!page)
		return NULL;
	path = d_path(&file->f_path, page, PAGE_SIZE);
	path = IS_ERR(path) ? NULL : kstrdup(path, GFP_KERNEL);
	free_page((unsigned long)page);
	return path;
}

/* A file may be named like a disk. */
static struct kobject *make_export_dir(const struct rnbd_server_dev *dev)
{
	struct kernfs_node *there;
	struct kobject *dir;
	char *name;

	if (dev->bdev)
		name = kasprintf(GFP_KERNEL, "%pg", dev->bdev);
	else
		name = kasprintf(GFP_KERNEL, "%s", dev->path);
	if (!name)
		return NULL;
	strreplace(name, '/', '!');
	there = sysfs_get_dirent(devices->sd, name);
	if (there) {
		sysfs_put(there);
		kfree(name);
		name = kasprintf(GFP_KERNEL, "%u:%u.%lu", MAJOR(rnbd_server_devt(dev)),
				 MINOR(rnbd_server_devt(dev)),
				 dev->file ? file_inode(dev->file)->i_ino : 0);
		if (!name)
			return NULL;
	}
	dir = kobject_create_and_add(name, devices);
	kfree(name);
	return dir;
}

static int add_export(struct rnbd_server_export *export, const struct rnbd_server_dev *dev)
{
	int err;

	export->dir = make_export_dir(dev);
	if (!export->dir)
		return -ENOMEM;
	if (dev->bdev) {
		err = sysfs_create_link(export->dir, &disk_to_dev(dev->bdev->bd_disk)->kobj,
					"block_dev");
	} else {
		export->path = (struct kobj_attribute)__ATTR_RO(path);
		sysfs_attr_init(&export->path.attr);
		export->file_path = path_of(dev->file);
		err = !export->file_path ? -ENOMEM :
		      sysfs_create_file(export->dir, &export->path.attr);
	}
	if (err)
		goto remove;
	export->revalidate = (struct kobj_attribute)__ATTR_RW(revalidate);
	sysfs_attr_init(&export->revalidate.attr);
	err = sysfs_create_file(export->dir, &export->revalidate.attr);
	if (err)
		goto remove;
	export->sessions = kobject_create_and_add("sessions", export->dir);
	if (!export->sessions) {
		err = -ENOMEM;
		goto remove;
	}
	return 0;

remove:
	remove_dir(export->dir);
	return err;
}

static void remove_export(struct rnbd_server_export *export)
{
	remove_dir(export->sessions);
	remove_dir(export->dir);
}

static struct kobject *make_dir(const struct rnbd_server_dev *dev)
{
	struct kobject *sessions = dev->export->sessions, *dir;
	struct kernfs_node *there = sysfs_get_dirent(sessions->sd, dev->session->name);
	char *name;

	if (!there)
		return kobject_create_and_add(dev->session->name, sessions);
	sysfs_put(there);
	name = kasprintf(GFP_KERNEL, "%s.%u", dev->session->name, dev->id);
	if (!name)
		return NULL;
	dir = kobject_create_and_add(name, sessions);
	kfree(name);
	return dir;
}

static int add_dev(struct rnbd_server_dev *dev)
{
	unsigned int i;
	int err;

	BUILD_BUG_ON(ARRAY_SIZE(dev->attr) != ARRAY_SIZE(attr_table));
	dev->dir = make_dir(dev);
	if (!dev->dir)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(attr_table); i++) {
		dev->attr[i] = attr_table[i];
		sysfs_attr_init(&dev->attr[i].attr);
		err = sysfs_create_file(dev->dir, &dev->attr[i].attr);
		if (err) {
			remove_dir(dev->dir);
			return err;
		}
	}
	return 0;
}

static void remove_dev(struct rnbd_server_dev *dev)
{
	remove_dir(dev->dir);
}

const struct rnbd_server_files rnbd_server_sysfs_files = {
	.add_export = add_export,
	.remove_export = remove_export,
	.add_dev = add_dev,
	.remove_dev = remove_dev,
};

int __init rnbd_server_sysfs_init(void)
{
	int err;

	err = class_register(&ctl_class);
	if (err)
		return err;
	ctl = device_create(&ctl_class, NULL, MKDEV(0, 0), NULL, "ctl");
	if (IS_ERR(ctl)) {
		err = PTR_ERR(ctl);
		goto unregister;
	}
	devices = kobject_create_and_add("devices", &ctl->kobj);
	if (!devices) {
		err = -ENOMEM;
		goto destroy;
	}
	return 0;

destroy:
	device_unregister(ctl);
unregister:
	class_unregister(&ctl_class);
	return err;
}

void rnbd_server_sysfs_exit(void)
{
	remove_dir(devices);
	device_unregister(ctl);
	class_unregister(&ctl_class);
}
