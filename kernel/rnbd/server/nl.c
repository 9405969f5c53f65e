// SPDX-License-Identifier: GPL-2.0
/* Opened exports in netlink. */
#include <linux/module.h>
#include <rtrs/nl.h>
#include "access.h"
#include "notify.h"

static_assert(RNBD_IO_BLOCK == (int)RNBD_IO_MODE_BLOCKIO + 1);
static_assert(RNBD_IO_FILE == (int)RNBD_IO_MODE_FILEIO + 1);

#define TOLD_MS		5000U
#define TIMEOUT_MAX_MS	600000U

/* A regular file has none. */
static int put_numbers(struct sk_buff *msg, const struct block_device *bdev)
{
	if (!bdev)
		return 0;
	return nla_put_u32(msg, RNBD_A_EXPORT_MAJOR, MAJOR(bdev->bd_dev)) ?:
	       nla_put_u32(msg, RNBD_A_EXPORT_MINOR, MINOR(bdev->bd_dev));
}

static int put_dev(struct sk_buff *msg, const struct rnbd_server_dev *dev)
{
	if (nla_put_u32(msg, RNBD_A_EXPORT_ID, dev->nl_id) ||
	    nla_put_string(msg, RNBD_A_EXPORT_NAME, kobject_name(dev->export->dir)) ||
	    put_numbers(msg, dev->bdev) ||
	    nla_put_u32(msg, RNBD_A_EXPORT_SESSION_ID, dev->session->id) ||
	    nla_put_string(msg, RNBD_A_EXPORT_SESSION_NAME, dev->session->name) ||
	    nla_put_string(msg, RNBD_A_EXPORT_DEVICE_PATH, dev->path) ||
	    nla_put_u32(msg, RNBD_A_EXPORT_ACCESS_MODE, dev->access_mode) ||
	    nla_put_u64_64bit(msg, RNBD_A_EXPORT_SIZE_BYTES,
			      rnbd_server_sectors(dev) << SECTOR_SHIFT, RNBD_A_EXPORT_PAD) ||
	    nla_put_u32(msg, RNBD_A_EXPORT_LOGICAL_BLOCK_BYTES,
			dev->file ? dev->block : bdev_logical_block_size(dev->bdev)) ||
	    nla_put_u32(msg, RNBD_A_EXPORT_IO_MODE, dev->io_mode - RNBD_IO_BLOCK) ||
	    nla_put_u8(msg, RNBD_A_EXPORT_READ_ONLY, dev->read_only) ||
	    nla_put_u64_64bit(msg, RNBD_A_EXPORT_SINCE_NS, dev->since_ns, RNBD_A_EXPORT_PAD) ||
	    nla_put_u64_64bit(msg, RNBD_A_EXPORT_TOLD_BYTES,
			      READ_ONCE(dev->told_sectors) << SECTOR_SHIFT, RNBD_A_EXPORT_PAD) ||
	    (dev->peer[0] && nla_put_string(msg, RNBD_A_EXPORT_PEER_NAME, dev->peer)) ||
	    (dev->by[0] && nla_put_string(msg, RNBD_A_EXPORT_EXPORT_NAME, dev->by)) ||
	    nla_put_u32(msg, RNBD_A_EXPORT_GENERATION, rtrs_nl_generation()))
		return -EMSGSIZE;
	return 0;
}

/**
 * struct get_ctx - a get under way
 * @msg: reply
 * @id: wanted
 * @found: it is there
 */
struct get_ctx {
	struct sk_buff *msg;
	u32 id;
	bool found;
};

/* Called for the first one behind id - 1: that is it, or it is not there. */
static int get_one(const struct rnbd_server_dev *dev, void *arg)
{
	struct get_ctx *ctx = arg;

	if (dev->nl_id != ctx->id)
		return 1;
	ctx->found = true;
	return put_dev(ctx->msg, dev) ?: 1;
}

static int export_get(struct sk_buff *msg, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[RNBD_A_EXPORT_ID];
	struct get_ctx ctx = { .msg = msg };
	int err;

	if (!attr)
		return rtrs_fail(info->extack, -EINVAL, "an export is named by its id");
	ctx.id = nla_get_u32(attr);
	err = rnbd_server_export_walk(ctx.id - 1, get_one, &ctx);
	if (err < 0)
		return err;
	if (!ctx.found) {
		NL_SET_BAD_ATTR(info->extack, attr);
		return rtrs_fail(info->extack, -ENOENT, "no opened export has id %u", ctx.id);
	}
	return 0;
}

/**
 * struct dump_ctx - a dump under way
 * @skb: to fill
 * @cb: of the dump
 * @session_id: only those of this session, or NULL
 * @session_name: the same by name
 * @cursor: id of the last one that was put
 */
struct dump_ctx {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	const struct nlattr *session_id;
	const struct nlattr *session_name;
	u32 *cursor;
};

static bool wanted(const struct dump_ctx *ctx, const struct rnbd_server_dev *dev)
{
	if (ctx->session_id && nla_get_u32(ctx->session_id) != dev->session->id)
		return false;
	return !ctx->session_name || !nla_strcmp(ctx->session_name, dev->session->name);
}

static int dump_one(const struct rnbd_server_dev *dev, void *arg)
{
	struct dump_ctx *ctx = arg;
	void *hdr;
	int err;

	if (!wanted(ctx, dev))
		return 0;
	hdr = rtrs_nl_dump_begin(ctx->skb, ctx->cb, RNBD_CMD_EXPORT_GET);
	if (!hdr)
		return -EMSGSIZE;
	err = put_dev(ctx->skb, dev);
	if (err) {
		genlmsg_cancel(ctx->skb, hdr);
		return err;
	}
	rtrs_nl_dump_end(ctx->skb, ctx->cb, hdr);
	*ctx->cursor = dev->nl_id;
	return 0;
}

static int export_dump(struct sk_buff *skb, struct netlink_callback *cb, struct nlattr **attrs,
		       u32 *cursor)
{
	struct dump_ctx ctx = {
		.skb = skb,
		.cb = cb,
		.session_id = attrs ? attrs[RNBD_A_EXPORT_SESSION_ID] : NULL,
		.session_name = attrs ? attrs[RNBD_A_EXPORT_SESSION_NAME] : NULL,
		.cursor = cursor,
	};

	return rnbd_server_export_walk(*cursor, dump_one, &ctx);
}

static void opening_event(const struct rnbd_server_dev *dev, enum rnbd_event event)
{
	struct sk_buff *skb;
	void *hdr;

	skb = rtrs_nl_event_begin(RNBD_CMD_EXPORT_NTF, &hdr);
	if (!skb)
		return;
	if (put_dev(skb, dev) || nla_put_u32(skb, RNBD_A_EXPORT_EVENT, event)) {
		nlmsg_free(skb);
		return;
	}
	rtrs_nl_event_send(skb, hdr, RNBD_CMD_EXPORT_NTF);
}

const struct rnbd_server_events rnbd_server_nl_events = {
	.opening_event = opening_event,
};

static int export_close(struct genl_info *info)
{
	struct nlattr *attr = info->attrs[RNBD_A_EXPORT_ID];
	int err;

	if (!attr)
		return rtrs_fail(info->extack, -EINVAL, "an export is named by its id");
	err = rnbd_server_export_force(nla_get_u32(attr));
	if (err == -EINTR)
		return rtrs_fail(info->extack, err, "interrupted; the close of export %u goes on",
				 nla_get_u32(attr));
	if (!err)
		return 0;
	NL_SET_BAD_ATTR(info->extack, attr);
	return rtrs_fail(info->extack, err, "no opened export has id %u", nla_get_u32(attr));
}

static int export_revalidate(struct sk_buff *msg, struct genl_info *info)
{
	struct nlattr *id = info->attrs[RNBD_A_EXPORT_ID];
	struct nlattr *timeout = info->attrs[RNBD_A_EXPORT_TIMEOUT_MS];
	unsigned int timeout_ms = timeout ? nla_get_u32(timeout) : TOLD_MS;
	enum rnbd_reach reach;
	int err;

	if (!id)
		return rtrs_fail(info->extack, -EINVAL, "an export is named by its id");
	if (timeout_ms > TIMEOUT_MAX_MS) {
		NL_SET_BAD_ATTR(info->extack, timeout);
		return rtrs_fail(info->extack, -EINVAL, "a time-out is at most %u ms",
				 TIMEOUT_MAX_MS);
	}
	err = rnbd_server_revalidate(nla_get_u32(id), timeout_ms, &reach);
	if (err == -EINTR)
		return rtrs_fail(info->extack, err, "interrupted; the client may ask nevertheless");
	if (!err)
		err = nla_put_u32(msg, RNBD_A_EXPORT_REACH, reach);
	if (err && err != -ENOENT)
		return err;
	return export_get(msg, info);
}

static const struct rtrs_nl_cmd cmds[] = {
	{ .cmd = RNBD_CMD_EXPORT_GET, .get = export_get, .dump = export_dump },
	{ .cmd = RNBD_CMD_EXPORT_REVALIDATE, .get = export_revalidate },
	{ .cmd = RNBD_CMD_EXPORT_CLOSE, .act = export_close },
	{ .cmd = RNBD_CMD_ACCESS_GET, .get = rnbd_server_access_get,
	  .dump = rnbd_server_access_dump },
	{ .cmd = RNBD_CMD_ACCESS_SET, .get = rnbd_server_access_set },
	{ .cmd = RNBD_CMD_ACCESS_TEST, .get = rnbd_server_access_test },
};

static const struct rtrs_nl_provider provider = {
	.name = "rnbd-server",
	.owner = THIS_MODULE,
	.role = RNBD_ROLE_SERVER,
	.cmds = cmds,
	.count = ARRAY_SIZE(cmds),
};

int __init rnbd_server_nl_init(void)
{
	return rtrs_nl_register(&provider);
}

void rnbd_server_nl_exit(void)
{
	rtrs_nl_unregister(&provider);
}
