// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/class/rtrs-server/<session>/paths/<client@server>/. The directories are objects
 * of their own that hold a reference; they own nothing.
 */
#include <linux/device.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <uapi/linux/rnbd.h>
#include "notify.h"
#include "server.h"

/**
 * struct rtrs_server_session_dir - of a session that has a path up
 * @dev: in the class
 * @paths: directory
 * @session: referenced
 */
struct rtrs_server_session_dir {
	struct device dev;
	struct kobject *paths;
	struct rtrs_server_session *session;
};

/**
 * struct rtrs_server_path_dir - of a path that is up
 * @kobj: directory
 * @stats: below it
 * @path: referenced
 */
struct rtrs_server_path_dir {
	struct kobject kobj;
	struct kobject stats;
	struct rtrs_server_path *path;
};

static struct class server_class = {
	.name	= "rtrs-server",
};

static struct rtrs_server_path *kobj_path(struct kobject *kobj)
{
	return container_of(kobj, struct rtrs_server_path_dir, kobj)->path;
}

static struct rtrs_server_path *stats_path(struct kobject *kobj)
{
	return container_of(kobj, struct rtrs_server_path_dir, stats)->path;
}

static ssize_t hca_name_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", kobj_path(kobj)->hca_name);
}

static ssize_t hca_port_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", kobj_path(kobj)->hca_port);
}

static ssize_t addr_show(const struct sockaddr_storage *addr, char *buf)
{
	char text[RTRS_ADDR_STRLEN];

	rtrs_addr_print(addr, text, sizeof(text));
	return sysfs_emit(buf, "%s\n", text);
}

static ssize_t src_addr_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return addr_show(&kobj_path(kobj)->addr.src, buf);
}

static ssize_t dst_addr_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return addr_show(&kobj_path(kobj)->addr.dst, buf);
}

static ssize_t disconnect_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "Usage: echo 1 > %s\n", attr->attr.name);
}

/* Does not wait: the worker removes this very file. */
static ssize_t disconnect_store(struct kobject *kobj, struct kobj_attribute *attr,
				const char *buf, size_t count)
{
	if (!sysfs_streq(buf, "1"))
		return -EINVAL;
	rtrs_server_path_close(kobj_path(kobj), -ECONNABORTED);
	return count;
}

static ssize_t rdma_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct rtrs_server_totals sum;

	rtrs_server_stats_sum(stats_path(kobj), &sum);
	return sysfs_emit(buf, "%llu %llu %llu %llu\n", sum.ios[1], sum.bytes[1], sum.ios[0],
			  sum.bytes[0]);
}

/* Most completions that one poll found, completions, polls: as the documents of 2019 have it. */
static ssize_t wc_completion_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct rtrs_server_totals sum;

	rtrs_server_stats_sum(stats_path(kobj), &sum);
	return sysfs_emit(buf, "%llu %llu %llu\n", sum.polls.max, sum.polls.total,
			  sum.polls.calls);
}

static ssize_t reset_all_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "echo 1 to reset all statistics\n");
}

/* 1, or 0 as the first documents have it */
static ssize_t reset_by(struct kobject *kobj, const char *buf, size_t count, u32 groups)
{
	if (!sysfs_streq(buf, "1") && !sysfs_streq(buf, "0"))
		return -EINVAL;
	rtrs_server_stats_reset(stats_path(kobj), groups);
	return count;
}

#define STATS_ATTR(name, groups)						\
	static ssize_t name##_store(struct kobject *kobj, struct kobj_attribute *attr, \
				    const char *buf, size_t count)		\
	{									\
		return reset_by(kobj, buf, count, groups);			\
	}									\
	static struct kobj_attribute name##_attr = __ATTR_RW(name)

STATS_ATTR(rdma, RNBD_COUNTERS_IOS);
STATS_ATTR(wc_completion, RNBD_COUNTERS_POLLS);
STATS_ATTR(reset_all, ~0U);
static struct kobj_attribute hca_name_attr = __ATTR_RO(hca_name);
static struct kobj_attribute hca_port_attr = __ATTR_RO(hca_port);
static struct kobj_attribute src_addr_attr = __ATTR_RO(src_addr);
static struct kobj_attribute dst_addr_attr = __ATTR_RO(dst_addr);
static struct kobj_attribute disconnect_attr = __ATTR_RW(disconnect);

static struct attribute *path_attrs[] = {
	&hca_name_attr.attr,
	&hca_port_attr.attr,
	&src_addr_attr.attr,
	&dst_addr_attr.attr,
	&disconnect_attr.attr,
	NULL,
};
ATTRIBUTE_GROUPS(path);

static struct attribute *stats_attrs[] = {
	&rdma_attr.attr,
	&wc_completion_attr.attr,
	&reset_all_attr.attr,
	NULL,
};
ATTRIBUTE_GROUPS(stats);

/* The statistics' directory holds its parent, so it goes first. */
static void path_dir_release(struct kobject *kobj)
{
	struct rtrs_server_path_dir *dir = container_of(kobj, struct rtrs_server_path_dir, kobj);

	rtrs_server_path_put(dir->path);
	kfree(dir);
}

static void stats_dir_release(struct kobject *kobj)
{
	kobject_put(&container_of(kobj, struct rtrs_server_path_dir, stats)->kobj);
}

static struct kobj_type path_ktype = {
	.sysfs_ops	= &kobj_sysfs_ops,
	.release	= path_dir_release,
	.default_groups	= path_groups,
};

static struct kobj_type stats_ktype = {
	.sysfs_ops	= &kobj_sysfs_ops,
	.release	= stats_dir_release,
	.default_groups	= stats_groups,
};

static int path_add(struct rtrs_server_path *path)
{
	struct rtrs_server_path_dir *dir;
	int err;

	dir = kzalloc(sizeof(*dir), GFP_KERNEL);
	if (!dir)
		return -ENOMEM;
	kref_get(&path->ref);
	dir->path = path;
	err = kobject_init_and_add(&dir->kobj, &path_ktype, path->session->dir->paths, "%s",
				   path->text);
	if (err) {
		kobject_put(&dir->kobj);
		return err;
	}
	kobject_get(&dir->kobj);	/* released with the statistics */
	err = kobject_init_and_add(&dir->stats, &stats_ktype, &dir->kobj, "stats");
	if (err) {
		kobject_put(&dir->stats);	/* never added: there is nothing to delete */
		kobject_del(&dir->kobj);
		kobject_put(&dir->kobj);
		return err;
	}
	path->dir = dir;
	return 0;
}

static void path_del(struct rtrs_server_path *path)
{
	struct rtrs_server_path_dir *dir = path->dir;

	path->dir = NULL;
	kobject_del(&dir->stats);
	kobject_del(&dir->kobj);
	kobject_put(&dir->stats);
	kobject_put(&dir->kobj);
}

static void session_dir_release(struct device *dev)
{
	struct rtrs_server_session_dir *dir = container_of(dev, struct rtrs_server_session_dir,
							   dev);

	rtrs_server_session_put(dir->session);
	kfree(dir);
}

static int session_add(struct rtrs_server_session *session)
{
	struct rtrs_server_session_dir *dir;
	int err;

	dir = kzalloc(sizeof(*dir), GFP_KERNEL);
	if (!dir)
		return -ENOMEM;
	kref_get(&session->ref);
	dir->session = session;
	device_initialize(&dir->dev);
	dir->dev.class = &server_class;
	dir->dev.release = session_dir_release;
	err = dev_set_name(&dir->dev, "%s", session->name);
	if (err)
		goto put;
	/* Told to user space when it is complete. */
	dev_set_uevent_suppress(&dir->dev, true);
	err = device_add(&dir->dev);
	if (err)
		goto put;
	dir->paths = kobject_create_and_add("paths", &dir->dev.kobj);
	if (!dir->paths) {
		err = -ENOMEM;
		goto del;
	}
	dev_set_uevent_suppress(&dir->dev, false);
	kobject_uevent(&dir->dev.kobj, KOBJ_ADD);
	session->dir = dir;
	return 0;
del:
	device_del(&dir->dev);
put:
	put_device(&dir->dev);
	return err;
}

static void session_del(struct rtrs_server_session *session)
{
	struct rtrs_server_session_dir *dir = session->dir;

	session->dir = NULL;
	kobject_del(dir->paths);
	kobject_put(dir->paths);
	device_unregister(&dir->dev);
}

const struct rtrs_server_files rtrs_server_sysfs_files = {
	.add_session = session_add,
	.del_session = session_del,
	.add_path = path_add,
	.del_path = path_del,
};

int rtrs_server_sysfs_init(void)
{
	return class_register(&server_class);
}

void rtrs_server_sysfs_exit(void)
{
	class_unregister(&server_class);
}
