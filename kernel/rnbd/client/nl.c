// SPDX-License-Identifier: GPL-2.0
/* Netlink: devices, map and unmap, events. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/build_bug.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rtrs/nl.h>
#include "client.h"
#include "notify.h"

static_assert(RNBD_CLIENT_DEV_INIT == (int)RNBD_DEVICE_STATE_INIT);
static_assert(RNBD_CLIENT_DEV_MAPPED == (int)RNBD_DEVICE_STATE_MAPPED);
static_assert(RNBD_CLIENT_DEV_DISCONNECTED == (int)RNBD_DEVICE_STATE_DISCONNECTED);
static_assert(RNBD_CLIENT_DEV_UNMAPPED == (int)RNBD_DEVICE_STATE_UNMAPPED);
static_assert(RNBD_CLIENT_ACCESS_RO == (int)RNBD_ACCESS_MODE_RO);
static_assert(RNBD_CLIENT_ACCESS_RW == (int)RNBD_ACCESS_MODE_RW);
static_assert(RNBD_CLIENT_ACCESS_MIGRATION == (int)RNBD_ACCESS_MODE_MIGRATION);
static_assert(RNBD_IO_BLOCK == (int)RNBD_IO_MODE_BLOCKIO + 1);
static_assert(RNBD_IO_FILE == (int)RNBD_IO_MODE_FILEIO + 1);
static_assert(RTRS_CLIENT_ROUND_ROBIN == (int)RNBD_MP_POLICY_ROUND_ROBIN);
static_assert(RTRS_CLIENT_MIN_INFLIGHT == (int)RNBD_MP_POLICY_MIN_INFLIGHT);
static_assert(RTRS_CLIENT_MIN_LATENCY == (int)RNBD_MP_POLICY_MIN_LATENCY);

#define POLL_QUEUES_ALL	U32_MAX	/* one per CPU, as -1 in sysfs */
#define TIMEOUT_MS_MAX	600000

/* Who the device is: all that is known of it from the start. */
static int put_identity(struct sk_buff *msg, const struct rnbd_client_dev *dev)
{
	const struct rnbd_client_session *session = dev->session;

	return nla_put_u32(msg, RNBD_A_DEVICE_ID, dev->id) ?:
	       nla_put_string(msg, RNBD_A_DEVICE_NAME, dev->name) ?:
	       nla_put_u32(msg, RNBD_A_DEVICE_SESSION_ID, session->id) ?:
	       nla_put_string(msg, RNBD_A_DEVICE_SESSION_NAME, session->name) ?:
	       nla_put_string(msg, RNBD_A_DEVICE_DEVICE_PATH, dev->path) ?:
	       nla_put_u32(msg, RNBD_A_DEVICE_ACCESS_MODE, dev->access_mode) ?:
	       nla_put_u8(msg, RNBD_A_DEVICE_ALWAYS_FUA,
			  test_bit(RNBD_CLIENT_DEV_FUA, &dev->flags));
}

/* The block layer gives the numbers, when the disk is added. */
static int put_numbers(struct sk_buff *msg, const struct rnbd_client_dev *dev)
{
	dev_t devt = READ_ONCE(dev->devt);

	if (!devt)
		return 0;
	return nla_put_u32(msg, RNBD_A_DEVICE_MAJOR, MAJOR(devt)) ?:
	       nla_put_u32(msg, RNBD_A_DEVICE_MINOR, MINOR(devt));
}

/* What the server told of it, once it was opened. */
static int put_info(struct sk_buff *msg, const struct rnbd_client_dev *dev)
{
	const struct rnbd_device_info *info = &dev->info;

	if (!info->logical_block_size)
		return 0;
	return nla_put_u64_64bit(msg, RNBD_A_DEVICE_SIZE_BYTES, info->nsectors << RNBD_SECTOR_SHIFT,
				 RNBD_A_DEVICE_PAD) ?:
	       nla_put_u32(msg, RNBD_A_DEVICE_LOGICAL_BLOCK_BYTES, info->logical_block_size) ?:
	       nla_put_u32(msg, RNBD_A_DEVICE_PHYSICAL_BLOCK_BYTES, info->physical_block_size) ?:
	       nla_put_u8(msg, RNBD_A_DEVICE_WRITE_CACHE, info->writeback) ?:
	       nla_put_u8(msg, RNBD_A_DEVICE_FUA, info->fua) ?:
	       nla_put_u32(msg, RNBD_A_DEVICE_IO_MODE, info->io_mode == RNBD_IO_FILE ?
			   RNBD_IO_MODE_FILEIO : RNBD_IO_MODE_BLOCKIO);
}

static int put_dev(struct sk_buff *msg, const struct rnbd_client_dev *dev)
{
	const struct rnbd_client_session *session = dev->session;

	return put_identity(msg, dev) ?:
	       put_numbers(msg, dev) ?:
	       put_info(msg, dev) ?:
	       nla_put_u32(msg, RNBD_A_DEVICE_STATE, READ_ONCE(dev->state)) ?:
	       nla_put_u8(msg, RNBD_A_DEVICE_READ_ONLY,
			  dev->access_mode == RNBD_CLIENT_ACCESS_RO) ?:
	       nla_put_u32(msg, RNBD_A_DEVICE_POLL_QUEUES, session->poll_cons) ?:
	       nla_put_u32(msg, RNBD_A_DEVICE_HW_QUEUES, session->tags.nr_hw_queues) ?:
	       nla_put_u32(msg, RNBD_A_DEVICE_OPEN_COUNT, READ_ONCE(dev->openers)) ?:
	       nla_put_s32(msg, RNBD_A_DEVICE_LAST_ERROR, READ_ONCE(dev->last_error)) ?:
	       nla_put_u32(msg, RNBD_A_DEVICE_WRITE_LOSSES, READ_ONCE(dev->write_losses)) ?:
	       nla_put_u32(msg, RNBD_A_DEVICE_GENERATION, rtrs_nl_generation());
}

/* @old: state before a change, else negative */
static void send_event(const struct rnbd_client_dev *dev, enum rnbd_event event, int old)
{
	struct sk_buff *msg;
	void *hdr;

	msg = rtrs_nl_event_begin(RNBD_CMD_DEVICE_NTF, &hdr);
	if (!msg)
		return;
	if (put_dev(msg, dev) || nla_put_u32(msg, RNBD_A_DEVICE_EVENT, event) ||
	    (old >= 0 && nla_put_u32(msg, RNBD_A_DEVICE_OLD_STATE, old)))
		nlmsg_free(msg);
	else
		rtrs_nl_event_send(msg, hdr, RNBD_CMD_DEVICE_NTF);
}

static void created(struct rnbd_client_dev *dev)
{
	send_event(dev, RNBD_EVENT_CREATE, -1);
}

static void changed(struct rnbd_client_dev *dev, enum rnbd_client_dev_state old)
{
	send_event(dev, RNBD_EVENT_CHANGE, old);
}

static void destroyed(struct rnbd_client_dev *dev)
{
	send_event(dev, RNBD_EVENT_DESTROY, -1);
}

const struct rnbd_client_events rnbd_client_nl_events = {
	.dev_created = created,
	.dev_changed = changed,
	.dev_destroyed = destroyed,
};

static bool is_string(const struct nlattr *attr, const char *str)
{
	return !attr || !nla_strcmp(attr, str);
}

static bool is_u32(const struct nlattr *attr, u32 value)
{
	return !attr || nla_get_u32(attr) == value;
}

/* Whether all that @attrs say is true of @dev. */
static bool matches(const struct rnbd_client_dev *dev, struct nlattr **attrs)
{
	return !attrs || (is_u32(attrs[RNBD_A_DEVICE_ID], dev->id) &&
			  is_string(attrs[RNBD_A_DEVICE_NAME], dev->name) &&
			  is_u32(attrs[RNBD_A_DEVICE_SESSION_ID], dev->session->id) &&
			  is_string(attrs[RNBD_A_DEVICE_SESSION_NAME], dev->session->name) &&
			  is_string(attrs[RNBD_A_DEVICE_DEVICE_PATH], dev->path));
}

/*
 * The device of a request, with a reference: by id, by name, or by session and
 * path. What else the request says must be true as well.
 */
static struct rnbd_client_dev *find_dev(struct genl_info *info, bool by_path)
{
	struct nlattr **attrs = info->attrs;
	struct rnbd_client_dev *dev;
	u32 id = 0;

	if (!attrs[RNBD_A_DEVICE_ID] && !attrs[RNBD_A_DEVICE_NAME] &&
	    !(by_path && attrs[RNBD_A_DEVICE_DEVICE_PATH] &&
	      (attrs[RNBD_A_DEVICE_SESSION_ID] || attrs[RNBD_A_DEVICE_SESSION_NAME]))) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, RNBD_A_DEVICE_NAME);
		return ERR_PTR(rtrs_fail(info->extack, -EINVAL, "which device is meant?"));
	}
	while ((dev = rnbd_client_dev_next(id))) {
		if (by_path ? matches(dev, attrs) :
			      is_u32(attrs[RNBD_A_DEVICE_ID], dev->id) &&
			      is_string(attrs[RNBD_A_DEVICE_NAME], dev->name))
			return dev;
		id = dev->id;
		rnbd_client_dev_put(dev);
	}
	NL_SET_BAD_ATTR(info->extack, attrs[RNBD_A_DEVICE_ID] ?: attrs[RNBD_A_DEVICE_NAME] ?:
				      attrs[RNBD_A_DEVICE_DEVICE_PATH]);
	return ERR_PTR(rtrs_fail(info->extack, -ENOENT, "no such device is mapped"));
}

static int device_get(struct sk_buff *msg, struct genl_info *info)
{
	struct rnbd_client_dev *dev = find_dev(info, true);
	int err;

	if (IS_ERR(dev))
		return PTR_ERR(dev);
	err = put_dev(msg, dev);
	rnbd_client_dev_put(dev);
	return err;
}

static int dump_one(struct sk_buff *skb, struct netlink_callback *cb,
		    const struct rnbd_client_dev *dev)
{
	void *hdr = rtrs_nl_dump_begin(skb, cb, RNBD_CMD_DEVICE_GET);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	err = put_dev(skb, dev);
	if (err)
		genlmsg_cancel(skb, hdr);
	else
		rtrs_nl_dump_end(skb, cb, hdr);
	return err;
}

static int device_dump(struct sk_buff *skb, struct netlink_callback *cb, struct nlattr **attrs,
		       u32 *cursor)
{
	struct rnbd_client_dev *dev;
	int err = 0;

	while (!err && (dev = rnbd_client_dev_next(*cursor))) {
		if (matches(dev, attrs))
			err = dump_one(skb, cb, dev);
		if (!err)
			*cursor = dev->id;
		rnbd_client_dev_put(dev);
	}
	return err;
}

static int get_path(struct nlattr *attr, struct rtrs_path_addr *path,
		    struct netlink_ext_ack *extack)
{
	struct nlattr *tb[RNBD_A_PATH_SPEC_MAX + 1];
	int err;

	/* The policy of the command has looked at the inside as well. */
	err = nla_parse_nested(tb, RNBD_A_PATH_SPEC_MAX, attr, NULL, extack);
	if (err)
		return err;
	memset(path, 0, sizeof(*path));
	if (!tb[RNBD_A_PATH_SPEC_SERVER_ADDR]) {
		NL_SET_ERR_ATTR_MISS(extack, attr, RNBD_A_PATH_SPEC_SERVER_ADDR);
		return rtrs_fail(extack, -EINVAL, "a path needs the address of the server");
	}
	err = rtrs_nl_get_addr(tb[RNBD_A_PATH_SPEC_SERVER_ADDR], &path->dst, extack);
	if (err)
		return err;
	if (!rtrs_addr_port(&path->dst))
		rtrs_addr_set_port(&path->dst, RNBD_CLIENT_PORT_DEFAULT);
	if (!tb[RNBD_A_PATH_SPEC_CLIENT_ADDR])
		return 0;
	err = rtrs_nl_get_addr(tb[RNBD_A_PATH_SPEC_CLIENT_ADDR], &path->src, extack);
	if (err)
		return err;
	rtrs_addr_set_port(&path->src, 0);
	if (path->src.ss_family != path->dst.ss_family) {
		NL_SET_BAD_ATTR(extack, tb[RNBD_A_PATH_SPEC_CLIENT_ADDR]);
		return rtrs_fail(extack, -EINVAL, "the addresses of a path are of two families");
	}
	return 0;
}

static int get_paths(struct genl_info *info, int type, struct rnbd_client_map_args *args)
{
	struct nlattr *attr;
	int rem, err;

	nla_for_each_attr(attr, genlmsg_data(info->genlhdr), genlmsg_len(info->genlhdr), rem) {
		if (nla_type(attr) != type)
			continue;
		if (args->path_count == RNBD_CLIENT_PATHS_MAX) {
			NL_SET_BAD_ATTR(info->extack, attr);
			return rtrs_fail(info->extack, -ENOMEM, "more than %u paths",
					 RNBD_CLIENT_PATHS_MAX);
		}
		err = get_path(attr, &args->path[args->path_count], info->extack);
		if (err)
			return err;
		args->path_count++;
	}
	return 0;
}

static int get_poll_queues(struct nlattr *attr, struct rnbd_client_map_args *args,
			   struct netlink_ext_ack *extack)
{
	if (!attr)
		return 0;
	args->poll_queues = nla_get_u32(attr);
	if (args->poll_queues == POLL_QUEUES_ALL)
		args->poll_queues = nr_cpu_ids;
	if (args->poll_queues <= nr_cpu_ids)
		return 0;
	NL_SET_BAD_ATTR(extack, attr);
	return rtrs_fail(extack, -EINVAL, "more poll queues than the %u CPUs", nr_cpu_ids);
}

/* Stays as it is where none is given. */
static int get_timeout(struct nlattr *attr, unsigned int *ms, struct netlink_ext_ack *extack)
{
	if (!attr)
		return 0;
	if (nla_get_u32(attr) > TIMEOUT_MS_MAX) {
		NL_SET_BAD_ATTR(extack, attr);
		return rtrs_fail(extack, -ERANGE, "a time-out is at most %u ms", TIMEOUT_MS_MAX);
	}
	*ms = nla_get_u32(attr);
	return 0;
}

static int get_args(struct genl_info *info, struct rnbd_client_map_args *args)
{
	struct nlattr **attrs = info->attrs;

	rnbd_client_map_args_init(args);
	if (GENL_REQ_ATTR_CHECK(info, RNBD_A_DEVICE_SESSION_NAME))
		return rtrs_fail(info->extack, -EINVAL, "a map needs the name of a session");
	if (GENL_REQ_ATTR_CHECK(info, RNBD_A_DEVICE_DEVICE_PATH))
		return rtrs_fail(info->extack, -EINVAL, "a map needs the path of a device");
	nla_strscpy(args->session, attrs[RNBD_A_DEVICE_SESSION_NAME], sizeof(args->session));
	nla_strscpy(args->device_path, attrs[RNBD_A_DEVICE_DEVICE_PATH], sizeof(args->device_path));
	if (attrs[RNBD_A_DEVICE_ACCESS_MODE])
		args->access_mode = nla_get_u32(attrs[RNBD_A_DEVICE_ACCESS_MODE]);
	if (attrs[RNBD_A_DEVICE_IO_MODE])
		args->io_mode = nla_get_u32(attrs[RNBD_A_DEVICE_IO_MODE]) + RNBD_IO_BLOCK;
	if (attrs[RNBD_A_DEVICE_ALWAYS_FUA])
		args->always_fua = nla_get_u8(attrs[RNBD_A_DEVICE_ALWAYS_FUA]);
	if (attrs[RNBD_A_DEVICE_CONNECTIONS])
		args->connections = nla_get_u32(attrs[RNBD_A_DEVICE_CONNECTIONS]);
	if (attrs[RNBD_A_DEVICE_MP_POLICY])
		args->policy = nla_get_u32(attrs[RNBD_A_DEVICE_MP_POLICY]);
	return get_timeout(attrs[RNBD_A_DEVICE_TIMEOUT_MS], &args->timeout_ms, info->extack) ?:
	       get_poll_queues(attrs[RNBD_A_DEVICE_POLL_QUEUES], args, info->extack) ?:
	       get_paths(info, RNBD_A_DEVICE_PATH, args);
}

/* Those of a new session; NULL where the attribute is absent. */
static int get_settings(struct nlattr *attr, struct rtrs_client_settings *settings,
			struct rnbd_client_map_args *args, struct netlink_ext_ack *extack)
{
	rtrs_client_settings_init(settings);
	args->settings = attr ? settings : NULL;
	return rtrs_client_settings_parse(attr, settings, extack);
}

/* The attribute that a failed map is to be blamed on, if there is one. */
static const struct nlattr *to_blame(struct nlattr **attrs, int err)
{
	switch (err) {
	case -ENOENT:
	case -ENOTBLK:
	case -EEXIST:
		return attrs[RNBD_A_DEVICE_DEVICE_PATH];
	case -EPERM:
	case -EACCES:
	case -EROFS:
		return attrs[RNBD_A_DEVICE_ACCESS_MODE] ?: attrs[RNBD_A_DEVICE_DEVICE_PATH];
	case -EOPNOTSUPP:
		return attrs[RNBD_A_DEVICE_IO_MODE];
	case -ENXIO:
		return attrs[RNBD_A_DEVICE_SESSION_NAME];
	case -EHOSTUNREACH:
	case -ECONNREFUSED:
	case -ECONNRESET:
	case -ENODEV:
	case -ENOKEY:
		return attrs[RNBD_A_DEVICE_PATH];
	}
	return NULL;
}

static int map_device(struct sk_buff *msg, struct genl_info *info)
{
	struct rnbd_client_map_args *args = kmalloc(sizeof(*args), GFP_KERNEL);
	struct rtrs_client_settings settings;
	struct rnbd_client_dev *dev;
	int err;

	if (!args)
		return -ENOMEM;
	err = get_args(info, args) ?:
	      get_settings(info->attrs[RNBD_A_DEVICE_SETTINGS], &settings, args, info->extack);
	if (err)
		goto free;
	err = rnbd_client_map(args, info->extack, &dev);
	if (err) {
		if (info->extack && !info->extack->bad_attr)
			NL_SET_BAD_ATTR(info->extack, to_blame(info->attrs, err));
		goto free;
	}
	err = put_dev(msg, dev);
	rnbd_client_dev_put(dev);
free:
	kfree(args);
	return err;
}

static int unmap_device(struct genl_info *info)
{
	struct rnbd_client_dev *dev = find_dev(info, false);
	unsigned int timeout_ms = 0;
	int err;

	if (IS_ERR(dev))
		return PTR_ERR(dev);
	err = get_timeout(info->attrs[RNBD_A_DEVICE_TIMEOUT_MS], &timeout_ms, info->extack);
	if (!err)
		err = rnbd_client_dev_claim(dev, nla_get_flag(info->attrs[RNBD_A_DEVICE_FORCE]),
					    timeout_ms, info->extack);
	if (!err)
		err = rnbd_client_dev_unmap(dev, info->extack);
	rnbd_client_dev_put(dev);
	return err;
}

static int remap_device(struct sk_buff *msg, struct genl_info *info)
{
	struct rnbd_client_dev *dev = find_dev(info, false);
	unsigned int timeout_ms = 0;
	int err;

	if (IS_ERR(dev))
		return PTR_ERR(dev);
	err = get_timeout(info->attrs[RNBD_A_DEVICE_TIMEOUT_MS], &timeout_ms, info->extack);
	if (!err)
		err = rnbd_client_dev_remap(dev, timeout_ms, false, info->extack);
	if (!err)
		err = put_dev(msg, dev);
	rnbd_client_dev_put(dev);
	return err;
}

static int resize_device(struct sk_buff *msg, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[RNBD_A_DEVICE_SIZE_BYTES];
	struct rnbd_client_dev *dev;
	u64 bytes;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, RNBD_A_DEVICE_SIZE_BYTES))
		return rtrs_fail(info->extack, -EINVAL, "the new size is missing");
	dev = find_dev(info, false);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	bytes = nla_get_u64(attr);
	if (bytes & (SECTOR_SIZE - 1))
		err = rtrs_fail(info->extack, -EINVAL, "the size is no multiple of 512 bytes");
	else
		err = rnbd_client_dev_resize(dev, bytes >> SECTOR_SHIFT, info->extack);
	if (err == -EINVAL)
		NL_SET_BAD_ATTR(info->extack, attr);
	if (!err)
		err = put_dev(msg, dev);
	rnbd_client_dev_put(dev);
	return err;
}

static int set_access(struct sk_buff *msg, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[RNBD_A_DEVICE_ACCESS_MODE];
	unsigned int timeout_ms = 0;
	struct rnbd_client_dev *dev;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, RNBD_A_DEVICE_ACCESS_MODE))
		return rtrs_fail(info->extack, -EINVAL, "the new access mode is missing");
	if (nla_get_u32(attr) != RNBD_ACCESS_MODE_RW) {
		NL_SET_BAD_ATTR(info->extack, attr);
		return rtrs_fail(info->extack, -EINVAL, "only rw can be set: unmap it, and map it");
	}
	dev = find_dev(info, false);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	err = get_timeout(info->attrs[RNBD_A_DEVICE_TIMEOUT_MS], &timeout_ms, info->extack);
	if (!err)
		err = rnbd_client_dev_set_rw(dev, timeout_ms, info->extack);
	if (!err)
		err = put_dev(msg, dev);
	rnbd_client_dev_put(dev);
	return err;
}

static int get_session_args(struct genl_info *info, struct rnbd_client_map_args *args)
{
	struct nlattr **attrs = info->attrs;

	rnbd_client_map_args_init(args);
	if (GENL_REQ_ATTR_CHECK(info, RNBD_A_SESSION_NAME))
		return rtrs_fail(info->extack, -EINVAL, "a session needs a name");
	nla_strscpy(args->session, attrs[RNBD_A_SESSION_NAME], sizeof(args->session));
	if (attrs[RNBD_A_SESSION_CONNECTIONS])
		args->connections = nla_get_u32(attrs[RNBD_A_SESSION_CONNECTIONS]);
	if (attrs[RNBD_A_SESSION_MP_POLICY])
		args->policy = nla_get_u32(attrs[RNBD_A_SESSION_MP_POLICY]);
	return get_timeout(attrs[RNBD_A_SESSION_TIMEOUT_MS], &args->timeout_ms, info->extack) ?:
	       get_poll_queues(attrs[RNBD_A_SESSION_POLL_QUEUES], args, info->extack) ?:
	       get_paths(info, RNBD_A_SESSION_PATH, args);
}

static int session_add(struct sk_buff *msg, struct genl_info *info)
{
	struct nlattr *reconnects = info->attrs[RNBD_A_SESSION_MAX_RECONNECT_ATTEMPTS];
	struct rnbd_client_map_args *args = kmalloc(sizeof(*args), GFP_KERNEL);
	struct rtrs_client_settings settings;
	struct rnbd_client_session *session;
	int err;

	if (!args)
		return -ENOMEM;
	err = get_session_args(info, args) ?:
	      get_settings(info->attrs[RNBD_A_SESSION_SETTINGS], &settings, args, info->extack);
	if (err)
		goto free;
	if (reconnects) {
		settings.max_reconnects = nla_get_s32(reconnects);
		args->settings = &settings;
	}
	session = rnbd_client_session_add(args, info->extack);
	if (IS_ERR(session)) {
		err = PTR_ERR(session);
		goto free;
	}
	err = rnbd_client_session_fill(session, msg);
	rnbd_client_session_put(session);
free:
	kfree(args);
	return err;
}

static int session_del(struct genl_info *info)
{
	struct nlattr *id = info->attrs[RNBD_A_SESSION_ID];
	struct nlattr *name = info->attrs[RNBD_A_SESSION_NAME];
	int err;

	if (!id && !name) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, RNBD_A_SESSION_NAME);
		return rtrs_fail(info->extack, -EINVAL, "which session is meant?");
	}
	err = rnbd_client_session_del(id ? nla_get_u32(id) : 0, name ? nla_data(name) : NULL,
				      info->extack);
	if (err == -ENOENT)
		NL_SET_BAD_ATTR(info->extack, id ?: name);
	return err;
}

static const struct rtrs_nl_cmd cmds[] = {
	{ .cmd = RNBD_CMD_SESSION_ADD, .get = session_add },
	{ .cmd = RNBD_CMD_SESSION_DEL, .act = session_del },
	{ .cmd = RNBD_CMD_DEVICE_GET, .get = device_get, .dump = device_dump },
	{ .cmd = RNBD_CMD_MAP, .get = map_device },
	{ .cmd = RNBD_CMD_UNMAP, .act = unmap_device },
	{ .cmd = RNBD_CMD_REMAP, .get = remap_device },
	{ .cmd = RNBD_CMD_RESIZE, .get = resize_device },
	{ .cmd = RNBD_CMD_DEVICE_SET, .get = set_access },
};

static const struct rtrs_nl_provider provider = {
	.name	= "rnbd-client",
	.owner	= THIS_MODULE,
	.role	= RNBD_ROLE_CLIENT,
	.cmds	= cmds,
	.count	= ARRAY_SIZE(cmds),
};

int __init rnbd_client_nl_init(void)
{
	return rtrs_nl_register(&provider);
}

void rnbd_client_nl_exit(void)
{
	rtrs_nl_unregister(&provider);
}
