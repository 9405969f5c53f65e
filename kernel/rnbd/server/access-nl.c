// SPDX-License-Identifier: GPL-2.0
/* The access list in netlink. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <rtrs/nl.h>
#include "access.h"

static int bad(struct netlink_ext_ack *extack, const struct nlattr *attr, int err,
	       const char *what, const char *name)
{
	NL_SET_BAD_ATTR(extack, attr);
	return rtrs_fail(extack, err, "%s '%.32s'", what, name);
}

static void count_nest(struct rnbd_access_size *size, const struct nlattr *nest, bool is_peer)
{
	const struct nlattr *attr;
	int rem;

	size->peers += is_peer;
	size->exports += !is_peer;
	nla_for_each_nested(attr, nest, rem) {
		size->text += nla_len(attr) + 2;	/* and two NUL of names that have none */
		if (!is_peer)
			size->allows += nla_type(attr) == RNBD_A_ACL_EXPORT_ALLOW;
		else if (nla_type(attr) == RNBD_A_ACL_PEER_SESSION)
			size->patterns++;
		else if (nla_type(attr) == RNBD_A_ACL_PEER_FROM)
			size->prefixes++;
	}
}

static int add_prefix(struct rnbd_access_list *list, const struct nlattr *nest,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[RNBD_A_ACL_PREFIX_MAX + 1];
	struct rnbd_access_prefix prefix = {};
	struct sockaddr_storage ss;
	u32 bits, all;
	int err;

	err = nla_parse_nested(tb, RNBD_A_ACL_PREFIX_MAX, nest, NULL, extack);
	if (err)
		return err;
	if (!tb[RNBD_A_ACL_PREFIX_ADDR])
		return bad(extack, nest, -EINVAL, "no address in a prefix of peer",
			   list->peer[list->has.peers - 1].name);
	err = rtrs_nl_get_addr(tb[RNBD_A_ACL_PREFIX_ADDR], &ss, extack);
	if (err)
		return err;
	all = ss.ss_family == AF_INET ? 32 : 128;
	bits = tb[RNBD_A_ACL_PREFIX_BITS] ? nla_get_u32(tb[RNBD_A_ACL_PREFIX_BITS]) : all;
	if (bits > all)
		return bad(extack, tb[RNBD_A_ACL_PREFIX_BITS], -EINVAL,
			   "more bits than the address has, peer",
			   list->peer[list->has.peers - 1].name);
	prefix.is_gid = ss.ss_family == AF_IB;
	prefix.bits = bits + 128 - all;
	rtrs_addr_bytes(&ss, prefix.addr);
	return rnbd_server_list_add_prefix(list, &prefix);
}

static int add_pattern(struct rnbd_access_list *list, const struct nlattr *nest,
		       struct netlink_ext_ack *extack)
{
	struct nlattr *tb[RNBD_A_ACL_SESSION_MAX + 1], *attr;
	int err = nla_parse_nested(tb, RNBD_A_ACL_SESSION_MAX, nest, NULL, extack);

	if (err)
		return err;
	attr = tb[RNBD_A_ACL_SESSION_PATTERN];
	err = attr ? rnbd_server_list_add_pattern(list, nla_data(attr), strlen(nla_data(attr))) :
		     -EINVAL;
	if (err)
		return bad(extack, attr ?: nest, err, "not a pattern of session names, peer",
			   list->peer[list->has.peers - 1].name);
	return 0;
}

/* What is there for all that came under this name is checked when all has come. */
static int begin_peer(struct rnbd_access_list *list, struct nlattr **tb, const struct nlattr *nest,
		      struct netlink_ext_ack *extack)
{
	const char *name = tb[RNBD_A_ACL_PEER_NAME] ? nla_data(tb[RNBD_A_ACL_PEER_NAME]) : "";
	struct nlattr *auth = tb[RNBD_A_ACL_PEER_AUTH];
	struct rnbd_access_peer *peer;
	int err;

	if (list->has.peers && !strcmp(list->peer[list->has.peers - 1].name, name) && !auth)
		return 0;	/* more of the last one */
	err = rnbd_server_list_add_peer(list, name, strlen(name));
	if (err)
		return bad(extack, tb[RNBD_A_ACL_PEER_NAME] ?: (struct nlattr *)nest, err,
			   "not a name of a peer:", name);
	if (!auth || nla_get_u32(auth) != RNBD_ACCESS_AUTH_NONE)
		return bad(extack, auth ?: (struct nlattr *)nest, -EOPNOTSUPP,
			   "keys are not supported, only auth none: peer", name);
	peer = &list->peer[list->has.peers - 1];
	if (tb[RNBD_A_ACL_PEER_MAX_SESSIONS])
		peer->max_sessions = nla_get_u32(tb[RNBD_A_ACL_PEER_MAX_SESSIONS]);
	if (tb[RNBD_A_ACL_PEER_MAX_DEVICES])
		peer->max_devices = nla_get_u32(tb[RNBD_A_ACL_PEER_MAX_DEVICES]);
	if (tb[RNBD_A_ACL_PEER_MAX_MEMORY_BYTES])
		peer->max_memory = nla_get_u64(tb[RNBD_A_ACL_PEER_MAX_MEMORY_BYTES]);
	return 0;
}

static int add_peer(struct rnbd_access_list *list, const struct nlattr *nest,
		    struct netlink_ext_ack *extack)
{
	struct nlattr *tb[RNBD_A_ACL_PEER_MAX + 1];
	const struct nlattr *attr;
	int err, rem;

	err = nla_parse_nested(tb, RNBD_A_ACL_PEER_MAX, nest, NULL, extack) ?:
	      begin_peer(list, tb, nest, extack);
	if (err)
		return err;
	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) == RNBD_A_ACL_PEER_SESSION)
			err = add_pattern(list, attr, extack);
		else if (nla_type(attr) == RNBD_A_ACL_PEER_FROM)
			err = add_prefix(list, attr, extack);
		if (err)
			return err;
	}
	return 0;
}

static int begin_export(struct rnbd_access_list *list, struct nlattr **tb,
			const struct nlattr *nest, struct netlink_ext_ack *extack)
{
	const char *name = tb[RNBD_A_ACL_EXPORT_NAME] ? nla_data(tb[RNBD_A_ACL_EXPORT_NAME]) : "";
	struct nlattr *io_mode = tb[RNBD_A_ACL_EXPORT_IO_MODE];
	struct nlattr *path = tb[RNBD_A_ACL_EXPORT_PATH];
	int err;

	if (list->has.exports && !strcmp(list->export[list->has.exports - 1].name, name) && !path)
		return 0;	/* more of the last one */
	if (!path)
		return bad(extack, nest, -EINVAL, "no path in export", name);
	err = rnbd_server_list_add_export(list, name, strlen(name), nla_data(path),
					  strlen(nla_data(path)));
	if (err)
		return bad(extack, nest, err,
			   "name or path is not one, or '/' ends one of them only: export", name);
	if (io_mode)
		list->export[list->has.exports - 1].io_mode = nla_get_u32(io_mode);
	return 0;
}

static int add_export(struct rnbd_access_list *list, const struct nlattr *nest,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[RNBD_A_ACL_EXPORT_MAX + 1], *of[RNBD_A_ACL_ALLOW_MAX + 1];
	const struct nlattr *attr;
	const char *name;
	int err, rem;
	u8 mode;

	err = nla_parse_nested(tb, RNBD_A_ACL_EXPORT_MAX, nest, NULL, extack) ?:
	      begin_export(list, tb, nest, extack);
	if (err)
		return err;
	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) != RNBD_A_ACL_EXPORT_ALLOW)
			continue;
		err = nla_parse_nested(of, RNBD_A_ACL_ALLOW_MAX, attr, NULL, extack);
		if (err)
			return err;
		name = of[RNBD_A_ACL_ALLOW_PEER] ? nla_data(of[RNBD_A_ACL_ALLOW_PEER]) : "";
		mode = of[RNBD_A_ACL_ALLOW_ACCESS_MODE] ?
		       nla_get_u32(of[RNBD_A_ACL_ALLOW_ACCESS_MODE]) : RNBD_ACCESS_MODE_RW;
		err = rnbd_server_list_add_allow(list, name, strlen(name), mode);
		if (err)
			return bad(extack, attr, err, "not a name of a peer:", name);
	}
	return 0;
}

/* Whoever has no key is known by these. */
static int check_peers(const struct rnbd_access_list *list, struct netlink_ext_ack *extack)
{
	u32 i;

	for (i = 0; i < list->has.peers; i++)
		if (!list->peer[i].patterns || !list->peer[i].prefixes)
			return rtrs_fail(extack, -EINVAL,
					 "peer '%.32s' has no key: session and from are needed",
					 list->peer[i].name);
	return 0;
}

static int end_list(struct rnbd_access_list *list, struct netlink_ext_ack *extack)
{
	const char *culprit;
	int err = rnbd_server_list_end(list, &culprit);

	switch (err) {
	case 0:
		return check_peers(list, extack);
	case -ENODATA:
		return rtrs_fail(extack, -EINVAL,
				 "the list is empty; state closed lets nobody in");
	case -EEXIST:
		return rtrs_fail(extack, -EINVAL, "'%.40s' is there twice", culprit);
	default:
		return rtrs_fail(extack, -EINVAL, "allow names '%.32s', which is no peer",
				 culprit);
	}
}

static struct rnbd_access_list *list_of(struct genl_info *info)
{
	struct rnbd_access_size room = {};
	struct rnbd_access_list *list;
	const struct nlattr *attr;
	int err = 0, rem;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem)
		if (nla_type(attr) == RNBD_A_ACCESS_PEER || nla_type(attr) == RNBD_A_ACCESS_EXPORT)
			count_nest(&room, attr, nla_type(attr) == RNBD_A_ACCESS_PEER);
	list = kvzalloc(rnbd_server_list_bytes(&room), GFP_KERNEL);
	if (!list)
		return ERR_PTR(-ENOMEM);
	rtrs_census_created(RTRS_CENSUS_RNBD_SERVER_LIST);
	rnbd_server_list_init(list, &room);
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) == RNBD_A_ACCESS_PEER)
			err = add_peer(list, attr, info->extack);
		else if (nla_type(attr) == RNBD_A_ACCESS_EXPORT)
			err = add_export(list, attr, info->extack);
		if (err)
			break;
	}
	err = err ?: end_list(list, info->extack);
	if (!err)
		return list;
	rnbd_server_access_free(list);
	return ERR_PTR(err);
}

static int put_ids(struct sk_buff *msg, int attr, const u32 *id, u32 count)
{
	u32 i;

	for (i = 0; i < min(count, RNBD_ACCESS_IDS); i++)
		if (nla_put_u32(msg, attr, id[i]))
			return -EMSGSIZE;
	return 0;
}

static int put_change(struct sk_buff *msg, const struct rnbd_access_change *change)
{
	return nla_put_u32(msg, RNBD_A_ACCESS_NUMBER, change->to.number) ?:
	       nla_put_u32(msg, RNBD_A_ACCESS_ENDED_PATHS, change->paths) ?:
	       nla_put_u32(msg, RNBD_A_ACCESS_ENDED_EXPORTS, change->exports) ?:
	       put_ids(msg, RNBD_A_ACCESS_ENDED_PATH_ID, change->path_id, change->paths) ?:
	       put_ids(msg, RNBD_A_ACCESS_ENDED_EXPORT_ID, change->export_id, change->exports);
}

static int fill_change(struct rnbd_access_change *change, struct genl_info *info)
{
	struct nlattr *expect = info->attrs[RNBD_A_ACCESS_EXPECT];
	struct rnbd_access_list *list;

	if (!info->attrs[RNBD_A_ACCESS_STATE])
		return rtrs_fail(info->extack, -EINVAL, "a state is needed");
	change->to.state = nla_get_u32(info->attrs[RNBD_A_ACCESS_STATE]);
	change->to.uid = (u32)(uintptr_t)info->user_ptr[0];
	change->loginuid = (u32)(uintptr_t)info->user_ptr[1];
	change->expect = expect ? nla_get_u32(expect) : 0;
	change->force = nla_get_flag(info->attrs[RNBD_A_ACCESS_FORCE]);
	change->dry = nla_get_flag(info->attrs[RNBD_A_ACCESS_DRY_RUN]);
	if (change->to.state != RNBD_ACCESS_STATE_LISTED) {
		if (info->attrs[RNBD_A_ACCESS_PEER] || info->attrs[RNBD_A_ACCESS_EXPORT])
			return rtrs_fail(info->extack, -EINVAL,
					 "a list goes with the state listed only");
		return 0;
	}
	list = list_of(info);
	if (IS_ERR(list))
		return PTR_ERR(list);
	change->to.list = list;
	return 0;
}

int rnbd_server_access_set(struct sk_buff *msg, struct genl_info *info)
{
	struct rnbd_access_change *change = kzalloc(sizeof(*change), GFP_KERNEL);
	int err;

	if (!change)
		return -ENOMEM;
	err = fill_change(change, info);
	if (!err)
		err = rnbd_server_access_change(change);
	if (err == -EBUSY)
		rtrs_fail(info->extack, err,
			  "%u openings and %u paths would end; a dry run tells which",
			  change->exports, change->paths);
	else if (err == -EAGAIN)
		rtrs_fail(info->extack, err, "the list has number %u, not %u",
			  change->to.number, change->expect);
	if (!err)
		err = put_change(msg, change);
	kfree(change);
	return err;
}

static int put_state(struct sk_buff *msg)
{
	const struct rnbd_access *access = &rnbd_server_access;
	u64 denied, seq;

	rnbd_server_access_totals(&denied, &seq);
	return nla_put_u32(msg, RNBD_A_ACCESS_STATE, access->state) ?:
	       nla_put_u32(msg, RNBD_A_ACCESS_NUMBER, access->number) ?:
	       (access->loaded_ns ? nla_put_u64_64bit(msg, RNBD_A_ACCESS_LOADED_NS,
						      access->loaded_ns, RNBD_A_ACCESS_PAD) ?:
				    nla_put_u32(msg, RNBD_A_ACCESS_UID, access->uid) : 0) ?:
	       nla_put_u64_64bit(msg, RNBD_A_ACCESS_DENIED_TOTAL, denied, RNBD_A_ACCESS_PAD) ?:
	       nla_put_u64_64bit(msg, RNBD_A_ACCESS_LAST_SEQ, seq, RNBD_A_ACCESS_PAD) ?:
	       nla_put_u32(msg, RNBD_A_ACCESS_PEERS,
			   access->list ? access->list->has.peers : 0) ?:
	       nla_put_u32(msg, RNBD_A_ACCESS_EXPORTS,
			   access->list ? access->list->has.exports : 0);
}

int rnbd_server_access_get(struct sk_buff *msg, struct genl_info *info)
{
	int err;

	rnbd_server_access_begin();
	err = put_state(msg);
	rnbd_server_access_end();
	return err;
}

/* What the sessions of a peer have. */
struct used_by {
	u32 sessions;
	u32 devices;
	u64 pinned;
};

/* The same of each peer. The openings of each export are counted in the list. */
struct used {
	struct rnbd_access_list *list;
	struct used_by *peer;
};

static void count_used(struct rnbd_server_session *session, void *arg)
{
	struct used *used = arg;
	u32 peer = rnbd_server_list_peer_by_name(used->list, session->peer);
	struct rnbd_access_export *export;
	struct rnbd_server_dev *dev;

	if (peer == RNBD_ACCESS_NOBODY)
		return;
	used->peer[peer].sessions++;
	used->peer[peer].devices += READ_ONCE(session->dev_count);
	used->peer[peer].pinned += rtrs_server_session_pinned(session->transport);
	mutex_lock(&session->lock);
	list_for_each_entry(dev, &session->devs, session_entry) {
		export = rnbd_server_list_export_by_name(used->list, dev->by);
		if (export)
			export->openings++;
	}
	mutex_unlock(&session->lock);
}

static int get_used(struct used *used, struct rnbd_access_list *list)
{
	u32 i;

	used->list = list;
	used->peer = kvcalloc(list->has.peers + 1, sizeof(*used->peer), GFP_KERNEL);
	if (!used->peer)
		return -ENOMEM;
	for (i = 0; i < list->has.exports; i++)
		list->export[i].openings = 0;
	rnbd_server_access_sessions(count_used, used);
	return 0;
}

static int put_peer_head(struct sk_buff *skb, const struct used *used, u32 number)
{
	const struct rnbd_access_peer *peer = &used->list->peer[number];

	return nla_put_u32(skb, RNBD_A_ACL_PEER_AUTH, RNBD_ACCESS_AUTH_NONE) ?:
	       (peer->max_sessions ? nla_put_u32(skb, RNBD_A_ACL_PEER_MAX_SESSIONS,
						 peer->max_sessions) : 0) ?:
	       (peer->max_devices ? nla_put_u32(skb, RNBD_A_ACL_PEER_MAX_DEVICES,
						peer->max_devices) : 0) ?:
	       (peer->max_memory ? nla_put_u64_64bit(skb, RNBD_A_ACL_PEER_MAX_MEMORY_BYTES,
						     peer->max_memory, RNBD_A_ACL_PEER_PAD) : 0) ?:
	       nla_put_u32(skb, RNBD_A_ACL_PEER_SESSIONS, used->peer[number].sessions) ?:
	       nla_put_u32(skb, RNBD_A_ACL_PEER_DEVICES, used->peer[number].devices) ?:
	       nla_put_u64_64bit(skb, RNBD_A_ACL_PEER_PINNED_BYTES, used->peer[number].pinned,
				 RNBD_A_ACL_PEER_PAD) ?:
	       nla_put_u64_64bit(skb, RNBD_A_ACL_PEER_DENIED, peer->denied, RNBD_A_ACL_PEER_PAD);
}

static int put_prefix(struct sk_buff *skb, const struct rnbd_access_prefix *prefix)
{
	static const u8 mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct sockaddr_storage ss = { .ss_family = prefix->is_gid ? AF_IB : AF_INET6 };
	u32 bits = prefix->bits;

	if (!prefix->is_gid && bits >= 96 && !memcmp(prefix->addr, mapped, sizeof(mapped))) {
		ss.ss_family = AF_INET;
		bits -= 96;
	}
	rtrs_addr_set_bytes(&ss, prefix->addr);
	return rtrs_nl_put_addr(skb, RNBD_A_ACL_PREFIX_ADDR, &ss) ?:
	       nla_put_u32(skb, RNBD_A_ACL_PREFIX_BITS, bits);
}

/* The item of a peer with this number: patterns, then prefixes. */
static int put_peer_item(struct sk_buff *skb, const struct rnbd_access_list *list, u32 number,
			 u32 item)
{
	const struct rnbd_access_peer *peer = &list->peer[number];

	if (item < peer->patterns)
		return nla_put_string(skb, RNBD_A_ACL_SESSION_PATTERN,
				      list->pattern[peer->pattern + item]);
	return put_prefix(skb, &list->prefix[peer->prefix + item - peer->patterns]);
}

static int put_export_head(struct sk_buff *skb, const struct rnbd_access_export *export)
{
	return nla_put_string(skb, RNBD_A_ACL_EXPORT_PATH, export->path) ?:
	       nla_put_u32(skb, RNBD_A_ACL_EXPORT_IO_MODE, export->io_mode) ?:
	       nla_put_u32(skb, RNBD_A_ACL_EXPORT_KIND, export->is_dir) ?:
	       nla_put_u32(skb, RNBD_A_ACL_EXPORT_OPENINGS, export->openings);
}

static int put_allow(struct sk_buff *skb, const struct rnbd_access_allow *allow)
{
	return nla_put_string(skb, RNBD_A_ACL_ALLOW_PEER, allow->name) ?:
	       nla_put_u32(skb, RNBD_A_ACL_ALLOW_ACCESS_MODE, allow->mode);
}

/**
 * struct thing - a peer or an export that is put
 * @used: list, and what is used of it
 * @number: of the peer, or the export
 * @is_peer: which
 * @items: that it has
 */
struct thing {
	const struct used *used;
	u32 number;
	bool is_peer;
	u32 items;
};

static int put_head(struct sk_buff *skb, const struct thing *thing, bool again)
{
	const struct rnbd_access_list *list = thing->used->list;
	int err;

	if (thing->is_peer)
		err = nla_put_string(skb, RNBD_A_ACL_PEER_NAME, list->peer[thing->number].name);
	else
		err = nla_put_string(skb, RNBD_A_ACL_EXPORT_NAME,
				     list->export[thing->number].name);
	if (err || again)
		return err;
	return thing->is_peer ? put_peer_head(skb, thing->used, thing->number) :
				put_export_head(skb, &list->export[thing->number]);
}

static int put_item(struct sk_buff *skb, const struct thing *thing, u32 item)
{
	const struct rnbd_access_list *list = thing->used->list;
	int attr = RNBD_A_ACL_EXPORT_ALLOW, err;
	struct nlattr *nest;

	if (thing->is_peer)
		attr = item < list->peer[thing->number].patterns ? RNBD_A_ACL_PEER_SESSION :
								   RNBD_A_ACL_PEER_FROM;
	nest = nla_nest_start(skb, attr);
	if (!nest)
		return -EMSGSIZE;
	err = thing->is_peer ? put_peer_item(skb, list, thing->number, item) :
	      put_allow(skb, &list->allow[list->export[thing->number].allow + item]);
	if (err)
		nla_nest_cancel(skb, nest);
	else
		nla_nest_end(skb, nest);
	return err;
}

/* As much of it as fits, from item *@done - 1 on. -EMSGSIZE: there is more. */
static int put_thing(struct sk_buff *skb, const struct thing *thing, u32 *done)
{
	u32 first = *done ? *done - 1 : 0, item = first;
	struct nlattr *nest;

	nest = nla_nest_start(skb, thing->is_peer ? RNBD_A_ACCESS_PEER : RNBD_A_ACCESS_EXPORT);
	if (!nest || put_head(skb, thing, *done))
		return -ENOBUFS;
	while (item < thing->items && !put_item(skb, thing, item))
		item++;
	if (*done && item == first)
		return -ENOBUFS;	/* a message of nothing */
	nla_nest_end(skb, nest);
	*done = item + 1;
	return item < thing->items ? -EMSGSIZE : 0;
}

static int dump_thing(struct sk_buff *skb, struct netlink_callback *cb, const struct used *used,
		      u32 *cursor)
{
	const struct rnbd_access_list *list = used->list;
	struct thing thing = { .used = used, .number = cursor[0] - 1 };
	void *hdr = rtrs_nl_dump_begin(skb, cb, RNBD_CMD_ACCESS_GET);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	thing.is_peer = thing.number < list->has.peers;
	if (!thing.is_peer)
		thing.number -= list->has.peers;
	thing.items = thing.is_peer ? list->peer[thing.number].patterns +
				      list->peer[thing.number].prefixes :
				      list->export[thing.number].allows;
	err = put_thing(skb, &thing, &cursor[1]);
	if (err == -ENOBUFS) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	rtrs_nl_dump_end(skb, cb, hdr);
	if (!err) {
		cursor[0]++;
		cursor[1] = 0;
	}
	return err;
}

static int dump_state(struct sk_buff *skb, struct netlink_callback *cb, u32 *cursor)
{
	void *hdr = rtrs_nl_dump_begin(skb, cb, RNBD_CMD_ACCESS_GET);

	if (!hdr)
		return -EMSGSIZE;
	if (put_state(skb)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	rtrs_nl_dump_end(skb, cb, hdr);
	cursor[0] = 1;
	return 0;
}

/* A list that came meanwhile is put from there on; netlink says that the dump is none. */
int rnbd_server_access_dump(struct sk_buff *skb, struct netlink_callback *cb,
			    struct nlattr **attrs, u32 *cursor)
{
	struct used used = {};
	int err = 0;

	rnbd_server_access_begin();
	if (!cursor[0])
		err = dump_state(skb, cb, cursor);
	if (!err && rnbd_server_access.list)
		err = get_used(&used, rnbd_server_access.list);
	while (!err && used.list && cursor[0] <= used.list->has.peers + used.list->has.exports)
		err = dump_thing(skb, cb, &used, cursor);
	rnbd_server_access_end();
	kvfree(used.peer);
	return err;
}

/**
 * struct question - of access-test
 * @asked: name of the device
 * @session: name, or NULL
 * @mode: that is asked for
 * @peer: that asks, in the end
 * @reason: why not
 * @answer: of the list
 */
struct question {
	const char *asked;
	const char *session;
	u8 mode;
	u32 peer;
	enum rnbd_access_reason reason;
	struct rnbd_access_answer answer;
};

static int find_asker(struct question *q, struct genl_info *info)
{
	struct nlattr *name = info->attrs[RNBD_A_ACCESS_PEER_NAME];
	struct sockaddr_storage from;
	struct rnbd_access_addr addr;
	int err;

	if (name) {
		q->peer = rnbd_server_list_peer_by_name(rnbd_server_access.list, nla_data(name));
		if (q->peer == RNBD_ACCESS_NOBODY)
			return bad(info->extack, name, -ENOENT, "the list has no peer",
				   nla_data(name));
		return 0;
	}
	err = rtrs_nl_get_addr(info->attrs[RNBD_A_ACCESS_CLIENT_ADDR], &from, info->extack);
	if (err)
		return err;
	rnbd_server_access_addr(&from, NULL, &addr);
	rnbd_server_access_find(&rnbd_server_access, &addr, q->session, &q->peer, &q->reason);
	return 0;
}

static int put_answer(struct sk_buff *msg, const struct question *q, int err,
		      struct rnbd_server_right *right)
{
	const struct rnbd_access_list *list = rnbd_server_access.list;
	const struct rnbd_access_export *export = q->answer.export;

	return nla_put_u8(msg, RNBD_A_ACCESS_ALLOWED, !err) ?:
	       nla_put_s32(msg, RNBD_A_ACCESS_ERROR, err) ?:
	       nla_put_u32(msg, RNBD_A_ACCESS_REASON, q->reason) ?:
	       nla_put_u32(msg, RNBD_A_ACCESS_NUMBER, rnbd_server_access.number) ?:
	       (q->peer != RNBD_ACCESS_NOBODY ?
		nla_put_string(msg, RNBD_A_ACCESS_PEER_NAME, list->peer[q->peer].name) : 0) ?:
	       (export ? nla_put_string(msg, RNBD_A_ACCESS_EXPORT_NAME, export->name) : 0) ?:
	       (q->answer.mode >= 0 ?
		nla_put_u32(msg, RNBD_A_ACCESS_GRANTED_MODE, q->answer.mode) : 0) ?:
	       (!err ? nla_put_string(msg, RNBD_A_ACCESS_PATH, right->path.text) : 0);
}

static int test_locked(struct sk_buff *msg, struct genl_info *info, struct question *q,
		       struct rnbd_server_right *right)
{
	const struct rnbd_access *access = &rnbd_server_access;
	const char *session = q->session ?: RNBD_SERVER_PATH_TOKEN, *peer = "";
	int err;

	if (access->state == RNBD_ACCESS_STATE_LISTED) {
		err = find_asker(q, info);
		if (err)
			return err;
		rnbd_server_list_judge(access->list, q->peer, q->asked, q->mode, &q->answer);
		if (q->peer != RNBD_ACCESS_NOBODY)
			peer = access->list->peer[q->peer].name;
	}
	err = q->reason == RNBD_ACCESS_REASON_NO_KEY ? -ENOKEY :
	      q->reason ? -EACCES :
	      rnbd_server_access_judge(access, peer, session, q->asked, q->mode, right);
	if (!q->reason && err)
		q->reason = right->reason ?: RNBD_ACCESS_REASON_OTHER;
	return put_answer(msg, q, err, right);
}

int rnbd_server_access_test(struct sk_buff *msg, struct genl_info *info)
{
	struct nlattr *asked = info->attrs[RNBD_A_ACCESS_DEVICE_PATH];
	struct nlattr *session = info->attrs[RNBD_A_ACCESS_SESSION_NAME];
	struct nlattr *mode = info->attrs[RNBD_A_ACCESS_ACCESS_MODE];
	struct rnbd_server_right *right;
	struct question q = { .peer = RNBD_ACCESS_NOBODY, .answer.mode = -1 };
	int err;

	if (!asked || (!info->attrs[RNBD_A_ACCESS_PEER_NAME] &&
		       !(session && info->attrs[RNBD_A_ACCESS_CLIENT_ADDR])))
		return rtrs_fail(info->extack, -EINVAL,
				 "a device, and a peer or a session and its address are needed");
	right = kmalloc(sizeof(*right), GFP_KERNEL);
	if (!right)
		return -ENOMEM;
	q.asked = nla_data(asked);
	q.session = session ? nla_data(session) : NULL;
	q.mode = mode ? nla_get_u32(mode) : RNBD_ACCESS_MODE_RW;
	rnbd_server_access_begin();
	err = test_locked(msg, info, &q, right);
	rnbd_server_access_end();
	kfree(right);
	return err;
}
