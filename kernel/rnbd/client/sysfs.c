// SPDX-License-Identifier: GPL-2.0
/* /sys/class/rnbd-client/ctl, and the directory "rnbd" of each disk. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ctype.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/utsname.h>
#include <rtrs/aside.h>
#include <rtrs/sysfs.h>
#include "client.h"
#include "notify.h"

static struct class rnbd_class = {
	.name = "rnbd-client",
};

static struct device *ctl;
static struct kobject *devices;

static const char *const access_name[RNBD_CLIENT_ACCESS_COUNT] = {
	[RNBD_CLIENT_ACCESS_RO]		= "ro",
	[RNBD_CLIENT_ACCESS_RW]		= "rw",
	[RNBD_CLIENT_ACCESS_MIGRATION]	= "migration",
};

/* The words of the in-tree interface. */
static const char *const state_name[RNBD_CLIENT_DEV_STATE_COUNT] = {
	[RNBD_CLIENT_DEV_INIT]		= "init",
	[RNBD_CLIENT_DEV_MAPPED]	= "open",
	[RNBD_CLIENT_DEV_DISCONNECTED]	= "closed",
	[RNBD_CLIENT_DEV_UNMAPPED]	= "unmapped",
};

static struct rnbd_client_dev *to_dev(struct kobject *kobj)
{
	return container_of(kobj, struct rnbd_client_dev, kobj);
}

static bool is_word(const char *buf, size_t count, const char *word)
{
	while (count && isspace(*buf)) {
		buf++;
		count--;
	}
	while (count && isspace(buf[count - 1]))
		count--;
	return count == strlen(word) && !memcmp(buf, word, count);
}

static ssize_t unmap_device_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "Usage: echo <normal|force> > %s\n", attr->attr.name);
}

static const struct file_operations pin_fops = {
	.owner = THIS_MODULE,
};

static ssize_t unmap_device_store(struct kobject *kobj, struct kobj_attribute *attr,
				  const char *buf, size_t count)
{
	struct rnbd_client_dev *dev = to_dev(kobj);
	bool force = is_word(buf, count, "force");
	struct netlink_ext_ack why = {};
	struct file *pin;
	ssize_t ret;
	int err;

	if (!force && !is_word(buf, count, "normal"))
		return -EINVAL;
	pin = rtrs_sysfs_pin(&pin_fops);
	if (IS_ERR(pin))
		return PTR_ERR(pin);
	rnbd_client_dev_get(dev);
	err = rnbd_client_dev_claim(dev, force, 0, &why);
	if (!err) {
		/* The removal waits for all who are inside of these files, but not for us. */
		sysfs_remove_file_self(kobj, &attr->attr);
		err = rnbd_client_dev_unmap(dev, &why);
	}
	ret = rtrs_stored(dev->name, "unmap_device", buf, count, err, &why);
	rnbd_client_dev_put(dev);
	fput(pin);
	return ret;
}

static ssize_t resize_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "Usage: echo <size in units of 512 bytes> > %s\n",
			  attr->attr.name);
}

static ssize_t resize_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			    size_t count)
{
	struct rnbd_client_dev *dev = to_dev(kobj);
	struct netlink_ext_ack why = {};
	u64 sectors;
	int err;

	err = kstrtou64(buf, 0, &sectors);
	if (!err)
		err = rnbd_client_dev_resize(dev, sectors, &why);
	return rtrs_stored(dev->name, attr->attr.name, buf, count, err, &why);
}

static ssize_t remap_device_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "Usage: echo <1> > %s\n", attr->attr.name);
}

/**
 * struct wait_for_dev - a command that a worker runs for the writer of a file
 * @args: mapping, for map_device
 * @dev: device
 * @why: reason of a failure
 */
struct wait_for_dev {
	const struct rnbd_client_map_args *args;
	struct rnbd_client_dev *dev;
	struct netlink_ext_ack why;
};

static int remap_in_worker(void *arg)
{
	struct wait_for_dev *w = arg;

	return rnbd_client_dev_remap(w->dev, 0, false, &w->why);
}

static ssize_t remap_device_store(struct kobject *kobj, struct kobj_attribute *attr,
				  const char *buf, size_t count)
{
	struct wait_for_dev w = { .dev = to_dev(kobj) };
	int err;

	if (!sysfs_streq(buf, "1"))
		return -EINVAL;
	err = rtrs_aside(remap_in_worker, &w);
	return rtrs_stored(w.dev->name, attr->attr.name, buf, count, err, &w.why);
}

static ssize_t mapping_path_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", to_dev(kobj)->path);
}

static ssize_t state_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", state_name[READ_ONCE(to_dev(kobj)->state)]);
}

static ssize_t session_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", to_dev(kobj)->session->name);
}

static ssize_t access_mode_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", access_name[to_dev(kobj)->access_mode]);
}

/* As the server told at the last OPEN; one that tells nothing has blockio alone. */
static ssize_t io_mode_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", READ_ONCE(to_dev(kobj)->info.io_mode) == RNBD_IO_FILE ?
				       "fileio" : "blockio");
}

static ssize_t always_fua_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", test_bit(RNBD_CLIENT_DEV_FUA, &to_dev(kobj)->flags));
}

/* As the server told at the last OPEN; the queue of the disk always has a write cache. */
static ssize_t write_cache_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	bool writeback = READ_ONCE(to_dev(kobj)->info.writeback);

	return sysfs_emit(buf, "%s\n", writeback ? "write back" : "write through");
}

static ssize_t fua_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(to_dev(kobj)->info.fua));
}

/* 1 until the partition table was read. */
static ssize_t scanning_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", !completion_done(&to_dev(kobj)->scanned));
}

static ssize_t nr_poll_queues_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", to_dev(kobj)->session->poll_cons);
}

static struct kobj_attribute unmap_device_attr = __ATTR_RW(unmap_device);
static struct kobj_attribute resize_attr = __ATTR_RW(resize);
static struct kobj_attribute remap_device_attr = __ATTR_RW(remap_device);
static struct kobj_attribute mapping_path_attr = __ATTR_RO(mapping_path);
static struct kobj_attribute state_attr = __ATTR_RO(state);
static struct kobj_attribute session_attr = __ATTR_RO(session);
static struct kobj_attribute access_mode_attr = __ATTR_RO(access_mode);
static struct kobj_attribute io_mode_attr = __ATTR_RO(io_mode);
static struct kobj_attribute always_fua_attr = __ATTR_RO(always_fua);
static struct kobj_attribute write_cache_attr = __ATTR_RO(write_cache);
static struct kobj_attribute fua_attr = __ATTR_RO(fua);
static struct kobj_attribute scanning_attr = __ATTR_RO(scanning);
static struct kobj_attribute nr_poll_queues_attr = __ATTR_RO(nr_poll_queues);

static struct attribute *dev_attrs[] = {
	&unmap_device_attr.attr,
	&resize_attr.attr,
	&remap_device_attr.attr,
	&mapping_path_attr.attr,
	&state_attr.attr,
	&session_attr.attr,
	&access_mode_attr.attr,
	&io_mode_attr.attr,
	&always_fua_attr.attr,
	&write_cache_attr.attr,
	&fua_attr.attr,
	&scanning_attr.attr,
	&nr_poll_queues_attr.attr,
	NULL
};
ATTRIBUTE_GROUPS(dev);

static void dev_kobj_release(struct kobject *kobj)
{
	rnbd_client_dev_put(to_dev(kobj));
}

static const struct kobj_type dev_ktype = {
	.sysfs_ops	= &kobj_sysfs_ops,
	.default_groups	= dev_groups,
	.release	= dev_kobj_release,
};

/*
 * "path@session" in ctl/devices. Two paths may give one name ("a/b", "a!b"): then only the first
 * device has a link.
 */
static void add_link(struct rnbd_client_dev *dev)
{
	char *name = kasprintf(GFP_KERNEL, "%s@%s", dev->path, dev->session->name);
	int err = -ENOMEM;

	if (name) {
		strreplace(name, '/', '!');
		err = sysfs_create_link_nowarn(devices, &disk_to_dev(dev->disk)->kobj, name);
	}
	if (!err) {
		dev->link = name;
		return;
	}
	pr_info("%s: no link to it in ctl/devices: %pe\n", dev->name, ERR_PTR(err));
	kfree(name);
}

static void remove_link(struct rnbd_client_dev *dev)
{
	if (!dev->link)
		return;
	sysfs_remove_link(devices, dev->link);
	kfree(dev->link);
	dev->link = NULL;
}

static int dev_add(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack)
{
	int err;

	rnbd_client_dev_get(dev);
	err = kobject_init_and_add(&dev->kobj, &dev_ktype, &disk_to_dev(dev->disk)->kobj, "rnbd");
	if (err) {
		kobject_put(&dev->kobj);
		return rtrs_fail(extack, err, "no sysfs directory for %s: error %d", dev->name,
				 err);
	}
	set_bit(RNBD_CLIENT_DEV_SYSFS, &dev->flags);
	add_link(dev);
	return 0;
}

static void dev_remove(struct rnbd_client_dev *dev)
{
	remove_link(dev);
	if (!test_and_clear_bit(RNBD_CLIENT_DEV_SYSFS, &dev->flags))
		return;
	kobject_del(&dev->kobj);
	kobject_put(&dev->kobj);
}

const struct rnbd_client_files rnbd_client_sysfs_files = {
	.add_dev = dev_add,
	.remove_dev = dev_remove,
};

static ssize_t map_device_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf,
			  "Usage: echo \"[dest_port=<port of the server>] sessname=<name of the session> path=<[srcaddr@]dstaddr> [path=<[srcaddr@]dstaddr>] device_path=<device on the server> [access_mode=<ro|rw|migration>] [io_mode=<blockio|fileio>] [input_mode=<mq|rq>] [always_fua=<0|1>] [nr_poll_queues=<number of polled queues>] [<setting of a new session>=<number>]\" > %s\n\naddr ::= [ ip:<ipv4> | ip:<ipv6> | gid:<gid> ]\n",
			  attr->attr.name);
}

static int map_in_worker(void *arg)
{
	struct wait_for_dev *w = arg;

	return rnbd_client_map(w->args, &w->why, &w->dev);
}

static ssize_t map_device_store(struct device *device, struct device_attribute *attr,
				const char *buf, size_t count)
{
	struct rnbd_client_map_args *args = kmalloc(sizeof(*args), GFP_KERNEL);
	struct wait_for_dev w = { .args = args };
	struct rtrs_client_settings settings;
	int err;

	if (!args)
		return -ENOMEM;
	rtrs_client_settings_init(&settings);
	err = rnbd_client_map_args_parse(buf, count, nr_cpu_ids, utsname()->nodename, &settings,
					 args);
	if (!err && args->input_rq)
		pr_info("map_device: input_mode=rq: this kernel has mq alone, which is taken\n");
	if (!err)
		err = rtrs_aside(map_in_worker, &w);
	if (!err)
		rnbd_client_dev_put(w.dev);
	kfree(args);
	return rtrs_stored(dev_name(device), attr->attr.name, buf, count, err, &w.why);
}
static DEVICE_ATTR_RW(map_device);

static void ctl_release(struct device *dev)
{
	kfree(dev);
}

/* The uevent is suppressed until all files are there. */
static int __init ctl_add(void)
{
	int err;

	ctl = kzalloc(sizeof(*ctl), GFP_KERNEL);
	if (!ctl)
		return -ENOMEM;
	device_initialize(ctl);
	ctl->class = &rnbd_class;
	ctl->release = ctl_release;
	dev_set_uevent_suppress(ctl, true);
	err = dev_set_name(ctl, "ctl");
	if (!err)
		err = device_add(ctl);
	if (err)
		put_device(ctl);
	return err;
}

int __init rnbd_client_sysfs_init(void)
{
	int err = class_register(&rnbd_class);

	if (err)
		return err;
	err = ctl_add();
	if (err)
		goto err_class;
	devices = kobject_create_and_add("devices", &ctl->kobj);
	if (!devices) {
		err = -ENOMEM;
		goto err_ctl;
	}
	/* Last, as a write to it needs all of the above. */
	err = device_create_file(ctl, &dev_attr_map_device);
	if (err)
		goto err_devices;
	dev_set_uevent_suppress(ctl, false);
	kobject_uevent(&ctl->kobj, KOBJ_ADD);
	return 0;

err_devices:
	kobject_put(devices);
err_ctl:
	device_unregister(ctl);
err_class:
	class_unregister(&rnbd_class);
	return err;
}

/* Waits for a map_device that runs. It gets no session any more: the module is being unloaded. */
void rnbd_client_sysfs_exit(void)
{
	device_remove_file(ctl, &dev_attr_map_device);
	kobject_put(devices);
	device_unregister(ctl);
	class_unregister(&rnbd_class);
}
