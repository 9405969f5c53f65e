// SPDX-License-Identifier: GPL-2.0
/* /sys/class/rnbd-client/ctl, and the directory "rnbd" of each disk. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ctype.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <rtrs/sysfs.h>
#include "client.h"

static struct class class = {
	.name = "rnbd-client",
};

static struct device *ctl;
static struct kobject *devices;

static const char *const access_name[RNBD_CLIENT_ACCESS_COUNT] = {
	[RNBD_CLIENT_ACCESS_RO]		= "ro",
	[RNBD_CLIENT_ACCESS_RW]		= "rw",
	[RNBD_CLIENT_ACCESS_MIGRATION]	= "migration",
};

/* Words of the interface, other than those of our state machine. */
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

/* What must not happen while the module goes away pins it. */
static ssize_t unmap_device_store(struct kobject *kobj, struct kobj_attribute *attr,
				  const char *buf, size_t count)
{
	struct rnbd_client_dev *dev = to_dev(kobj);
	bool force = is_word(buf, count, "force");
	struct netlink_ext_ack why = {};
	ssize_t ret;
	int err;

	if (!force && !is_word(buf, count, "normal"))
		return -EINVAL;
	if (!try_module_get(THIS_MODULE))
		return -ENODEV;
	rnbd_client_dev_get(dev);
	err = rnbd_client_dev_claim(dev, force, &why);
	if (!err) {
		/* The removal waits for all who are inside of these files, but not for us. */
		sysfs_remove_file_self(kobj, &attr->attr);
		err = rnbd_client_dev_unmap(dev, &why);
	}
	ret = rtrs_stored(dev->name, "unmap_device", buf, count, err, &why);
	rnbd_client_dev_put(dev);
	module_put(THIS_MODULE);
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

static ssize_t remap_device_store(struct kobject *kobj, struct kobj_attribute *attr,
				  const char *buf, size_t count)
{
	struct rnbd_client_dev *dev = to_dev(kobj);
	struct netlink_ext_ack why = {};
	int err;

	if (!sysfs_streq(buf, "1"))
		return -EINVAL;
	err = rnbd_client_dev_remap(dev, 0, false, &why);
	return rtrs_stored(dev->name, attr->attr.name, buf, count, err, &why);
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
static struct kobj_attribute nr_poll_queues_attr = __ATTR_RO(nr_poll_queues);

static struct attribute *dev_attrs[] = {
	&unmap_device_attr.attr,
	&resize_attr.attr,
	&remap_device_attr.attr,
	&mapping_path_attr.attr,
	&state_attr.attr,
	&session_attr.attr,
	&access_mode_attr.attr,
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
 * "path@session" in ctl/devices, a convenience: two paths may have one name ("a/b",
 * "a!b"), the first has the link then.
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

int rnbd_client_sysfs_dev_add(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack)
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

void rnbd_client_sysfs_dev_remove(struct rnbd_client_dev *dev)
{
	remove_link(dev);
	if (!test_and_clear_bit(RNBD_CLIENT_DEV_SYSFS, &dev->flags))
		return;
	kobject_del(&dev->kobj);
	kobject_put(&dev->kobj);
}

static ssize_t map_device_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf,
			  "Usage: echo \"[dest_port=<port of the server>] sessname=<name of the session> path=<[srcaddr@]dstaddr> [path=<[srcaddr@]dstaddr>] device_path=<device on the server> [access_mode=<ro|rw|migration>] [nr_poll_queues=<number of polled queues>] [<setting of a new session>=<number>]\" > %s\n\naddr ::= [ ip:<ipv4> | ip:<ipv6> | gid:<gid> ]\n",
			  attr->attr.name);
}

static ssize_t map_device_store(struct device *device, struct device_attribute *attr,
				const char *buf, size_t count)
{
	struct rnbd_client_map_args *args = kmalloc(sizeof(*args), GFP_KERNEL);
	struct rtrs_client_settings settings;
	struct netlink_ext_ack why = {};
	struct rnbd_client_dev *dev;
	int err;

	if (!args)
		return -ENOMEM;
	rtrs_client_settings_init(&settings);
	err = rnbd_client_map_args_parse(buf, count, nr_cpu_ids, &settings, args);
	if (!err)
		err = rnbd_client_map(args, &why, &dev);
	if (!err)
		rnbd_client_dev_put(dev);
	kfree(args);
	return rtrs_stored(dev_name(device), attr->attr.name, buf, count, err, &why);
}
static DEVICE_ATTR_RW(map_device);

static void ctl_release(struct device *dev)
{
	kfree(dev);
}

/* Told of when its files are there. */
static int __init ctl_add(void)
{
	int err;

	ctl = kzalloc(sizeof(*ctl), GFP_KERNEL);
	if (!ctl)
		return -ENOMEM;
	device_initialize(ctl);
	ctl->class = &class;
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
	int err = class_register(&class);

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
	/* Last: a mapping needs all of the above. */
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
	class_unregister(&class);
	return err;
}

/* A map_device that runs pins the module, so nobody is in there now. */
void rnbd_client_sysfs_exit(void)
{
	device_remove_file(ctl, &dev_attr_map_device);
	kobject_put(devices);
	device_unregister(ctl);
	class_unregister(&class);
}
