// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/class/rtrs-client: the compatible view. Each directory has a reference to its
 * object; its removal waits for handlers that run.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <rtrs/aside.h>
#include <rtrs/sysfs.h>
#include "notify.h"
#include "sysfs.h"

static struct class client_class = {
	.name = "rtrs-client",
};

/* Sessions */

static const char *const policy_text[RTRS_CLIENT_POLICY_COUNT] = {
	[RTRS_CLIENT_ROUND_ROBIN]	= "round-robin (RR: 0)",
	[RTRS_CLIENT_MIN_INFLIGHT]	= "min-inflight (MI: 1)",
	[RTRS_CLIENT_MIN_LATENCY]	= "min-latency (ML: 2)",
};

static ssize_t policy_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct rtrs_client_session *session = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%s\n", policy_text[READ_ONCE(session->settings.policy)]);
}

static int policy_parse(const char *buf)
{
	static const struct {
		const char *name;
		const char *brief;
	} words[RTRS_CLIENT_POLICY_COUNT] = {
		[RTRS_CLIENT_ROUND_ROBIN]	= { "round-robin", "rr" },
		[RTRS_CLIENT_MIN_INFLIGHT]	= { "min-inflight", "mi" },
		[RTRS_CLIENT_MIN_LATENCY]	= { "min-latency", "ml" },
	};
	size_t len = strcspn(buf, "\n");
	unsigned int i;
	int n;

	for (i = 0; i < RTRS_CLIENT_POLICY_COUNT; i++)
		if (!strncasecmp(buf, words[i].name, strlen(words[i].name)) ||
		    (len == 2 && !strncasecmp(buf, words[i].brief, len)))
			return i;
	if (kstrtoint(buf, 10, &n) || n < 0 || n >= RTRS_CLIENT_POLICY_COUNT)
		return -EINVAL;
	return n;
}

static ssize_t policy_store(struct device *dev, struct device_attribute *attr, const char *buf,
			    size_t count)
{
	struct rtrs_client_session *session = dev_get_drvdata(dev);
	struct rtrs_client_settings settings;
	int policy = policy_parse(buf);

	if (policy < 0)
		return policy;
	mutex_lock(&session->lock);
	settings = session->settings;
	settings.policy = policy;
	rtrs_client_settings_set(session, &settings, NULL);
	mutex_unlock(&session->lock);
	return count;
}

static struct device_attribute dev_attr_mpath_policy =
	__ATTR(mpath_policy, 0644, policy_show, policy_store);
static struct device_attribute dev_attr_mp_policy =
	__ATTR(mp_policy, 0644, policy_show, policy_store);

static ssize_t store_int(struct device *dev, const char *file, size_t offset, const char *buf,
			 size_t count)
{
	struct rtrs_client_session *session = dev_get_drvdata(dev);
	struct rtrs_client_settings settings;
	struct netlink_ext_ack why = {};
	int err, n;

	err = kstrtoint(buf, 10, &n);
	if (!err) {
		mutex_lock(&session->lock);
		settings = session->settings;
		*(int *)((char *)&settings + offset) = n;
		err = rtrs_client_settings_set(session, &settings, &why);
		mutex_unlock(&session->lock);
	}
	return rtrs_stored(session->name, file, buf, count, err, &why);
}

static ssize_t show_int(struct rtrs_client_session *session, size_t offset, char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(*(int *)((char *)&session->settings + offset)));
}

/* A negative number becomes a large one for unsigned settings: out of range as well. */
#define SETTING_ATTR(name, field)							\
	static ssize_t name##_show(struct device *dev, struct device_attribute *attr,	\
				   char *buf)						\
	{										\
		return show_int(dev_get_drvdata(dev),					\
				offsetof(struct rtrs_client_settings, field), buf);	\
	}										\
	static ssize_t name##_store(struct device *dev, struct device_attribute *attr,	\
				    const char *buf, size_t count)			\
	{										\
		return store_int(dev, #name, offsetof(struct rtrs_client_settings, field), \
				 buf, count);						\
	}										\
	static_assert(sizeof_field(struct rtrs_client_settings, field) == sizeof(int));	\
	static DEVICE_ATTR_RW(name)

SETTING_ATTR(max_reconnect_attempts, max_reconnects);
SETTING_ATTR(heartbeat_interval_ms, hb_interval_ms);
SETTING_ATTR(heartbeat_misses, hb_misses);
SETTING_ATTR(reconnect_delay_ms, reconnect_ms);
SETTING_ATTR(reconnect_delay_max_ms, reconnect_max_ms);
SETTING_ATTR(connect_timeout_ms, connect_ms);
SETTING_ATTR(io_timeout_ms, io_ms);
SETTING_ATTR(no_path_timeout_ms, no_path_ms);
SETTING_ATTR(lost_writes, lost_writes);

static ssize_t add_path_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf,
			  "Usage: echo [<source addr>@]<destination addr> > %s\n\n"
			  "<addr> is ip:<IPv4>, ip:<IPv6> or gid:<GID>\n", attr->attr.name);
}

/**
 * struct wait_for_path - a command that a worker runs for the writer of a file
 * @session: gets a path (add_path)
 * @addr: addresses of that path
 * @path: is reconnected (reconnect)
 * @why: reason of a failure
 */
struct wait_for_path {
	struct rtrs_client_session *session;
	struct rtrs_path_addr addr;
	struct rtrs_client_path *path;
	struct netlink_ext_ack why;
};

static int add_path(void *arg)
{
	struct wait_for_path *w = arg;

	return rtrs_client_session_add_path(w->session, &w->addr, w->session->settings.connect_ms,
					    &w->why, NULL);
}

/* Each error of the syntax is -EINVAL, as in-tree. */
static ssize_t add_path_store(struct device *dev, struct device_attribute *attr, const char *buf,
			      size_t count)
{
	struct rtrs_client_session *session = dev_get_drvdata(dev);
	struct wait_for_path w = { .session = session };
	size_t len = strcspn(buf, "\n");
	int err;

	if (rtrs_addr_parse_path(buf, len, session->port, &w.addr))
		err = rtrs_fail(&w.why, -EINVAL, "no address, or no two");
	else
		err = rtrs_aside(add_path, &w);
	return rtrs_stored(session->name, attr->attr.name, buf, count, err, &w.why);
}
static DEVICE_ATTR_RW(add_path);

static struct attribute *session_attrs[] = {
	&dev_attr_mpath_policy.attr,
	&dev_attr_mp_policy.attr,
	&dev_attr_add_path.attr,
	&dev_attr_max_reconnect_attempts.attr,
	&dev_attr_heartbeat_interval_ms.attr,
	&dev_attr_heartbeat_misses.attr,
	&dev_attr_reconnect_delay_ms.attr,
	&dev_attr_reconnect_delay_max_ms.attr,
	&dev_attr_connect_timeout_ms.attr,
	&dev_attr_io_timeout_ms.attr,
	&dev_attr_no_path_timeout_ms.attr,
	&dev_attr_lost_writes.attr,
	NULL,
};
ATTRIBUTE_GROUPS(session);

static void session_dev_release(struct device *dev)
{
	rtrs_client_session_put(dev_get_drvdata(dev));
	kfree(dev);
}

static int session_add(struct rtrs_client_session *session)
{
	struct device *dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	int err;

	if (!dev)
		return -ENOMEM;
	device_initialize(dev);
	dev->class = &client_class;
	dev->groups = session_groups;
	dev->release = session_dev_release;
	rtrs_client_session_get(session);
	dev_set_drvdata(dev, session);
	dev_set_uevent_suppress(dev, true);
	err = dev_set_name(dev, "%s", session->name);
	if (!err)
		err = device_add(dev);
	if (err) {
		put_device(dev);
		return err;
	}
	session->dev = dev;
	session->paths_kobj = kobject_create_and_add("paths", &dev->kobj);
	return session->paths_kobj ? 0 : -ENOMEM;
}

static void session_announce(struct rtrs_client_session *session)
{
	dev_set_uevent_suppress(session->dev, false);
	kobject_uevent(&session->dev->kobj, KOBJ_ADD);
}

static void session_del(struct rtrs_client_session *session)
{
	if (!session->dev)
		return;
	if (session->paths_kobj) {
		kobject_del(session->paths_kobj);
		kobject_put(session->paths_kobj);
		session->paths_kobj = NULL;
	}
	device_unregister(session->dev);
	session->dev = NULL;
}

/* Paths */

#define PATH_ATTR(name)								\
	static struct kobj_attribute path_attr_##name = __ATTR_RO(name)

static ssize_t state_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", rtrs_client_path_connected(rtrs_client_path_of(kobj)) ?
			  "connected" : "disconnected");
}
PATH_ATTR(state);

static ssize_t hca_name_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", rtrs_client_path_of(kobj)->hca_name);
}
PATH_ATTR(hca_name);

static ssize_t hca_port_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", rtrs_client_path_of(kobj)->hca_port);
}
PATH_ATTR(hca_port);

static ssize_t addr_emit(const struct sockaddr_storage *addr, char *buf)
{
	char text[RTRS_ADDR_STRLEN];

	rtrs_addr_print(addr, text, sizeof(text));
	return sysfs_emit(buf, "%s\n", text);
}

static ssize_t src_addr_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return addr_emit(&rtrs_client_path_of(kobj)->addr.src, buf);
}
PATH_ATTR(src_addr);

static ssize_t dst_addr_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return addr_emit(&rtrs_client_path_of(kobj)->addr.dst, buf);
}
PATH_ATTR(dst_addr);

static ssize_t cur_latency_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	const struct rtrs_client_path *path = rtrs_client_path_of(kobj);

	return sysfs_emit(buf, "%lld ns\n", (s64)atomic64_read(&path->hb.rtt_ns));
}
PATH_ATTR(cur_latency);

/* Calls @act when "1" is written. */
#define ACTION_ATTR(file, act)								\
	static ssize_t file##_show(struct kobject *kobj, struct kobj_attribute *attr,	\
				   char *buf)						\
	{										\
		return sysfs_emit(buf, "Usage: echo 1 > %s\n", attr->attr.name);	\
	}										\
	static ssize_t file##_store(struct kobject *kobj, struct kobj_attribute *attr,	\
				    const char *buf, size_t count)			\
	{										\
		return sysfs_streq(buf, "1") ? act(kobj, attr, buf, count) : -EINVAL;	\
	}										\
	static struct kobj_attribute path_attr_##file = __ATTR_RW(file)

static int reconnect_path(void *arg)
{
	struct wait_for_path *w = arg;

	return rtrs_client_path_reconnect(w->path, w->path->session->settings.connect_ms, &w->why);
}

static ssize_t do_reconnect(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			    size_t count)
{
	struct wait_for_path w = { .path = rtrs_client_path_of(kobj) };
	int err = rtrs_aside(reconnect_path, &w);

	return rtrs_stored(w.path->name, attr->attr.name, buf, count, err, &w.why);
}
ACTION_ATTR(reconnect, do_reconnect);

static ssize_t do_disconnect(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			     size_t count)
{
	struct rtrs_client_path *path = rtrs_client_path_of(kobj);
	struct netlink_ext_ack why = {};
	int err = rtrs_client_path_disconnect(path, &why);

	return rtrs_stored(path->name, attr->attr.name, buf, count, err, &why);
}
ACTION_ATTR(disconnect, do_disconnect);

static const struct file_operations pin_fops = {
	.owner = THIS_MODULE,
};

/* Removes the directory of its own file. A path that is gone already is no error. */
static ssize_t do_remove(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			 size_t count)
{
	struct rtrs_client_path *path = rtrs_client_path_of(kobj);
	struct rtrs_client_session *session = path->session;
	struct netlink_ext_ack why = {};
	struct kernfs_node *kn;
	ssize_t ret = count;
	struct file *pin;

	pin = rtrs_sysfs_pin(&pin_fops);
	if (IS_ERR(pin))
		return PTR_ERR(pin);
	rtrs_client_session_get(session);
	rtrs_client_path_get(path);
	kn = sysfs_break_active_protection(kobj, &attr->attr);
	if (kn) {
		ret = rtrs_stored(path->name, "remove_path", buf, count,
				  rtrs_client_session_remove_path(path, &why), &why);
		sysfs_unbreak_active_protection(kn);
	}
	rtrs_client_path_put(path);
	rtrs_client_session_put(session);
	fput(pin);
	return ret;
}
ACTION_ATTR(remove_path, do_remove);

static struct attribute *path_attrs[] = {
	&path_attr_state.attr,
	&path_attr_reconnect.attr,
	&path_attr_disconnect.attr,
	&path_attr_remove_path.attr,
	&path_attr_hca_name.attr,
	&path_attr_hca_port.attr,
	&path_attr_src_addr.attr,
	&path_attr_dst_addr.attr,
	&path_attr_cur_latency.attr,
	NULL,
};
ATTRIBUTE_GROUPS(path);

static void path_dir_release(struct kobject *kobj)
{
	struct rtrs_client_path_dir *dir = container_of(kobj, struct rtrs_client_path_dir, kobj);

	rtrs_client_path_put(dir->path);
	kfree(dir);
}

static struct kobj_type path_ktype = {
	.sysfs_ops = &kobj_sysfs_ops,
	.release = path_dir_release,
	.default_groups = path_groups,
};

static struct kobj_type stats_ktype = {
	.sysfs_ops = &kobj_sysfs_ops,
	.release = path_dir_release,
	.default_groups = rtrs_client_stats_groups,
};

static struct kobject *dir_add(struct rtrs_client_path *path, struct kobj_type *ktype,
			       struct kobject *parent, const char *name)
{
	struct rtrs_client_path_dir *dir = kzalloc(sizeof(*dir), GFP_KERNEL);

	if (!dir)
		return NULL;
	rtrs_client_path_get(path);
	dir->path = path;
	if (!kobject_init_and_add(&dir->kobj, ktype, parent, "%s", name))
		return &dir->kobj;
	kobject_put(&dir->kobj);
	return NULL;
}

static void dir_del(struct kobject **kobj)
{
	if (!*kobj)
		return;
	kobject_del(*kobj);
	kobject_put(*kobj);
	*kobj = NULL;
}

static int path_add(struct rtrs_client_path *path)
{
	path->kobj = dir_add(path, &path_ktype, path->session->paths_kobj, path->name);
	if (!path->kobj)
		return -ENOMEM;
	path->stats_kobj = dir_add(path, &stats_ktype, path->kobj, "stats");
	return path->stats_kobj ? 0 : -ENOMEM;
}

static void path_del(struct rtrs_client_path *path)
{
	dir_del(&path->stats_kobj);
	dir_del(&path->kobj);
}

const struct rtrs_client_files rtrs_client_sysfs_files = {
	.add_session = session_add,
	.announce = session_announce,
	.del_session = session_del,
	.add_path = path_add,
	.del_path = path_del,
};

int rtrs_client_sysfs_init(void)
{
	return class_register(&client_class);
}

void rtrs_client_sysfs_exit(void)
{
	class_unregister(&client_class);
}
