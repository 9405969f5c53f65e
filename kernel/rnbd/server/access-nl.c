// SPDX-License-Identifier: GPL-2.0
/* The access list in netlink. */
#include <linux/slab.h>
#include <rtrs/nl.h>
#include "access.h"

static int get_list(struct genl_info *info, struct rnbd_access_list **out)
{
	struct rnbd_access_list *list;

	if (!info->attrs[RNBD_A_ACCESS_PEER] && !info->attrs[RNBD_A_ACCESS_EXPORT])
		return rtrs_fail(info->extack, -EINVAL,
				 "the list is empty; state closed lets nobody in");
	list = rnbd_server_list_new(nlmsg_attrdata(info->nlhdr, GENL_HDRLEN),
				    nlmsg_attrlen(info->nlhdr, GENL_HDRLEN), info->extack);
	if (IS_ERR(list))
		return PTR_ERR(list);
	rtrs_census_created(RTRS_CENSUS_RNBD_SERVER_LIST);
	*out = list;
	return 0;
}

int rnbd_server_access_set(struct sk_buff *msg, struct genl_info *info)
{
	struct nlattr *const *attrs = info->attrs;
	struct rnbd_access_change change = {
		.to.uid = (u32)(uintptr_t)info->user_ptr[0],
		.to.loginuid = (u32)(uintptr_t)info->user_ptr[1],
		.force = nla_get_flag(attrs[RNBD_A_ACCESS_FORCE]),
		.dry = nla_get_flag(attrs[RNBD_A_ACCESS_DRY_RUN]),
		.msg = msg,
	};
	int err = 0;

	if (!attrs[RNBD_A_ACCESS_STATE])
		return rtrs_fail(info->extack, -EINVAL, "a state is needed");
	change.to.state = nla_get_u32(attrs[RNBD_A_ACCESS_STATE]);
	if (attrs[RNBD_A_ACCESS_EXPECT])
		change.expect = nla_get_u32(attrs[RNBD_A_ACCESS_EXPECT]);
	if (change.to.state == RNBD_ACCESS_STATE_LISTED)
		err = get_list(info, &change.to.list);
	else if (attrs[RNBD_A_ACCESS_PEER] || attrs[RNBD_A_ACCESS_EXPORT])
		err = rtrs_fail(info->extack, -EINVAL, "a list goes with the state listed only");
	if (err)
		return err;
	err = rnbd_server_access_change(&change);
	if (err == -EBUSY)
		return rtrs_fail(info->extack, err,
				 "%u openings and %u paths would end; a dry run tells which",
				 change.exports, change.paths);
	if (err == -EAGAIN)
		return rtrs_fail(info->extack, err, "the list has number %u, not %u",
				 change.to.number, change.expect);
	return err ?: nla_put_u32(msg, RNBD_A_ACCESS_NUMBER, change.to.number) ?:
		      nla_put_u32(msg, RNBD_A_ACCESS_ENDED_PATHS, change.paths) ?:
		      nla_put_u32(msg, RNBD_A_ACCESS_ENDED_EXPORTS, change.exports);
}

static int put_state(struct sk_buff *msg)
{
	const struct rnbd_access *access = &rnbd_server_access;

	return nla_put_u32(msg, RNBD_A_ACCESS_STATE, access->state) ?:
	       nla_put_u32(msg, RNBD_A_ACCESS_NUMBER, access->number) ?:
	       (access->loaded_ns ? nla_put_u64_64bit(msg, RNBD_A_ACCESS_LOADED_NS,
						      access->loaded_ns, RNBD_A_ACCESS_PAD) ?:
				    nla_put_u32(msg, RNBD_A_ACCESS_UID, access->uid) : 0) ?:
	       nla_put_u64_64bit(msg, RNBD_A_ACCESS_DENIED_TOTAL, rnbd_server_access_denials,
				 RNBD_A_ACCESS_PAD) ?:
	       nla_put_u64_64bit(msg, RNBD_A_ACCESS_LAST_SEQ, rnbd_server_access_seq,
				 RNBD_A_ACCESS_PAD) ?:
	       nla_put_u32(msg, RNBD_A_ACCESS_PEERS, access->list ? access->list->peers : 0) ?:
	       nla_put_u32(msg, RNBD_A_ACCESS_EXPORTS, access->list ? access->list->exports : 0);
}

int rnbd_server_access_get(struct sk_buff *msg, struct genl_info *info)
{
	int err;

	mutex_lock(&rnbd_server_access_lock);
	err = put_state(msg);
	mutex_unlock(&rnbd_server_access_lock);
	return err;
}

static int put_peer_use(struct sk_buff *skb, const struct rnbd_access_entry *peer)
{
	const struct rnbd_access_usage usage = rnbd_server_access_usage(peer->name);

	return nla_put_u32(skb, RNBD_A_ACL_PEER_SESSIONS, usage.sessions) ?:
	       nla_put_u32(skb, RNBD_A_ACL_PEER_DEVICES, usage.devices) ?:
	       nla_put_u64_64bit(skb, RNBD_A_ACL_PEER_PINNED_BYTES, usage.pinned,
				 RNBD_A_ACL_PEER_PAD) ?:
	       nla_put_u64_64bit(skb, RNBD_A_ACL_PEER_DENIED, peer->denied, RNBD_A_ACL_PEER_PAD);
}

/* As it came, and what is used of it. */
static int put_entry(struct sk_buff *skb, const struct rnbd_access_entry *entry, bool is_peer)
{
	struct nlattr *nest;
	int err;

	nest = nla_nest_start(skb, is_peer ? RNBD_A_ACCESS_PEER : RNBD_A_ACCESS_EXPORT);
	if (!nest)
		return -EMSGSIZE;
	err = nla_append(skb, NLA_ALIGN(nla_len(entry->nest)), nla_data(entry->nest));
	if (!err && is_peer)
		err = put_peer_use(skb, entry);
	else if (!err)
		err = nla_put_u32(skb, RNBD_A_ACL_EXPORT_KIND, rnbd_access_is_dir(entry) ?
				  RNBD_EXPORT_KIND_DIRECTORY : RNBD_EXPORT_KIND_DEVICE) ?:
		      nla_put_u32(skb, RNBD_A_ACL_EXPORT_OPENINGS, entry->openings);
	nla_nest_end(skb, nest);
	return err;
}

/* The state, then the peers as they are asked, then the exports by name: number @cursor. */
static int dump_one(struct sk_buff *skb, struct netlink_callback *cb, u32 cursor)
{
	const struct rnbd_access_list *list = rnbd_server_access.list;
	void *hdr = rtrs_nl_dump_begin(skb, cb, RNBD_CMD_ACCESS_GET);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	if (!cursor)
		err = put_state(skb);
	else if (cursor <= list->peers)
		err = put_entry(skb, &list->entry[cursor - 1], true);
	else
		err = put_entry(skb, list->by_name[cursor - 1], false);
	if (err)
		genlmsg_cancel(skb, hdr);
	else
		rtrs_nl_dump_end(skb, cb, hdr);
	return err;
}

static int count_opening(const struct rnbd_server_dev *dev, void *arg)
{
	struct rnbd_access_entry *export = rnbd_server_list_export(arg, dev->by,
								   strlen(dev->by));

	if (export)
		export->openings++;
	return 0;
}

/* A list that came meanwhile is put from there on; netlink says that the dump is none. */
int rnbd_server_access_dump(struct sk_buff *skb, struct netlink_callback *cb,
			    struct nlattr **attrs, u32 *cursor)
{
	struct rnbd_access_list *list;
	u32 count = 0, i;
	int err = 0;

	mutex_lock(&rnbd_server_access_lock);
	list = rnbd_server_access.list;
	if (list) {
		count = list->peers + list->exports;
		for (i = 0; i < count && !*cursor; i++)
			list->entry[i].openings = 0;
		if (!*cursor)
			rnbd_server_export_walk(0, count_opening, list);
		cb->min_dump_alloc = list->longest + 256;	/* from the next message on */
	}
	for (; !err && *cursor <= count; *cursor += !err)
		err = dump_one(skb, cb, *cursor);
	mutex_unlock(&rnbd_server_access_lock);
	return err;
}

/* By its name, or as if it came now. */
static int find_asker(struct genl_info *info, const struct rnbd_access_entry **peer,
		      enum rnbd_access_reason *reason)
{
	struct nlattr *name = info->attrs[RNBD_A_ACCESS_PEER_NAME];
	const struct rnbd_access *access = &rnbd_server_access;
	struct rtrs_path_addr addr = {};
	struct rtrs_server_guest guest = { .addr = &addr };
	int err;

	if (!name) {
		guest.name = nla_data(info->attrs[RNBD_A_ACCESS_SESSION_NAME]);
		err = rtrs_nl_get_addr(info->attrs[RNBD_A_ACCESS_CLIENT_ADDR], &addr.src,
				       info->extack);
		if (!err)
			*reason = rnbd_server_access_recognise(access, &guest, "", peer);
		return err;
	}
	*peer = access->list ? rnbd_server_list_peer(access->list, nla_data(name)) : NULL;
	if (*peer || !access->list)
		return 0;
	NL_SET_BAD_ATTR(info->extack, name);
	return rtrs_fail(info->extack, -ENOENT, "the list has no peer '%.32s'",
			 (char *)nla_data(name));
}

static int test_locked(struct sk_buff *msg, struct genl_info *info,
		       struct rnbd_server_right *right)
{
	struct nlattr *session = info->attrs[RNBD_A_ACCESS_SESSION_NAME];
	const char *of = session ? nla_data(session) : RNBD_SERVER_PATH_TOKEN;
	struct nlattr *mode = info->attrs[RNBD_A_ACCESS_ACCESS_MODE];
	enum rnbd_access_reason reason = RNBD_ACCESS_REASON_NONE;
	const struct rnbd_access_entry *peer = NULL;
	int err = find_asker(info, &peer, &reason);

	if (err)
		return err;
	err = rnbd_server_access_judge(&rnbd_server_access, peer ? peer->name : "", of,
				       nla_data(info->attrs[RNBD_A_ACCESS_DEVICE_PATH]),
				       mode ? nla_get_u32(mode) : RNBD_ACCESS_MODE_RW, right);
	if (reason)
		err = rnbd_server_access_errno(reason);
	else if (err)
		reason = right->reason ?: RNBD_ACCESS_REASON_OTHER;
	return nla_put_u8(msg, RNBD_A_ACCESS_ALLOWED, !err) ?:
	       nla_put_s32(msg, RNBD_A_ACCESS_ERROR, err) ?:
	       nla_put_u32(msg, RNBD_A_ACCESS_REASON, reason) ?:
	       nla_put_u32(msg, RNBD_A_ACCESS_NUMBER, rnbd_server_access.number) ?:
	       (peer ? nla_put_string(msg, RNBD_A_ACCESS_PEER_NAME, peer->name) : 0) ?:
	       (right->export[0] ?
		nla_put_string(msg, RNBD_A_ACCESS_EXPORT_NAME, right->export) : 0) ?:
	       (right->mode >= 0 ?
		nla_put_u32(msg, RNBD_A_ACCESS_GRANTED_MODE, right->mode) : 0) ?:
	       (!err ? nla_put_string(msg, RNBD_A_ACCESS_PATH, right->path.text) : 0);
}

int rnbd_server_access_test(struct sk_buff *msg, struct genl_info *info)
{
	struct rnbd_server_right *right;
	int err;

	if (!info->attrs[RNBD_A_ACCESS_DEVICE_PATH] ||
	    (!info->attrs[RNBD_A_ACCESS_PEER_NAME] &&
	     !(info->attrs[RNBD_A_ACCESS_SESSION_NAME] && info->attrs[RNBD_A_ACCESS_CLIENT_ADDR])))
		return rtrs_fail(info->extack, -EINVAL,
				 "a device, and a peer or a session and its address are needed");
	right = kmalloc(sizeof(*right), GFP_KERNEL);
	if (!right)
		return -ENOMEM;
	mutex_lock(&rnbd_server_access_lock);
	err = test_locked(msg, info, right);
	mutex_unlock(&rnbd_server_access_lock);
	kfree(right);
	return err;
}
