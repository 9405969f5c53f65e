// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions, paths and their counters in netlink. Commands look objects up and fill
 * messages under rtrs_client_lock, so an object that is found stays.
 */
#include <linux/module.h>
#include <rtrs/nl.h>
#include "client.h"
#include "notify.h"

static unsigned int path_count(struct rtrs_client_session *session)
{
	unsigned int count;

	rcu_read_lock();
	count = rcu_dereference(session->paths)->count;
	rcu_read_unlock();
	return count;
}

int rtrs_client_session_fill(struct sk_buff *skb, struct rtrs_client_session *session)
{
	const struct rtrs_client_attrs *attrs = &session->attrs;
	u32 devices = 0;
	u8 held = 0;

	if (READ_ONCE(session->opened) && session->ops->devices)
		devices = session->ops->devices(session->priv);
	if (READ_ONCE(session->opened) && session->ops->held)
		held = session->ops->held(session->priv);
	if (nla_put_u32(skb, RNBD_A_SESSION_ID, session->id) ||
	    nla_put_string(skb, RNBD_A_SESSION_NAME, session->name) ||
	    nla_put_u32(skb, RNBD_A_SESSION_ROLE, RNBD_ROLE_CLIENT) ||
	    nla_put_u32(skb, RNBD_A_SESSION_STATE, READ_ONCE(session->state)) ||
	    nla_put_u32(skb, RNBD_A_SESSION_MP_POLICY, READ_ONCE(session->settings.policy)) ||
	    nla_put_s32(skb, RNBD_A_SESSION_MAX_RECONNECT_ATTEMPTS,
			READ_ONCE(session->settings.max_reconnects)) ||
	    nla_put_u32(skb, RNBD_A_SESSION_QUEUE_DEPTH, attrs->queue_depth) ||
	    nla_put_u32(skb, RNBD_A_SESSION_MAX_IO_BYTES, attrs->max_io_size) ||
	    nla_put_u32(skb, RNBD_A_SESSION_PATHS_CONNECTED, READ_ONCE(session->connected)) ||
	    nla_put_u32(skb, RNBD_A_SESSION_PATHS_CONFIGURED, path_count(session)) ||
	    nla_put_u32(skb, RNBD_A_SESSION_DEVICES, devices) ||
	    nla_put_u64_64bit(skb, RNBD_A_SESSION_PINNED_BYTES, rtrs_client_pinned(session),
			      RNBD_A_SESSION_PAD) ||
	    rtrs_client_settings_put(skb, &session->settings) ||
	    nla_put_u32(skb, RNBD_A_SESSION_POLL_QUEUES, session->poll_cons) ||
	    nla_put_u8(skb, RNBD_A_SESSION_HELD, held) ||
	    nla_put_u8(skb, RNBD_A_SESSION_REMOVING, READ_ONCE(session->closing)) ||
	    nla_put_u32(skb, RNBD_A_SESSION_GENERATION, rtrs_nl_generation()))
		return -EMSGSIZE;
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_client_session_fill);

/* session->state_lock is held: source address, name and state may change. */
static int put_path_locked(struct sk_buff *skb, struct rtrs_client_path *path)
{
	struct rtrs_client_session *session = path->session;
	s64 rtt = atomic64_read(&path->hb.rtt_ns);

	if (nla_put_u32(skb, RNBD_A_PATH_ID, path->id) ||
	    nla_put_u32(skb, RNBD_A_PATH_SESSION_ID, session->id) ||
	    nla_put_string(skb, RNBD_A_PATH_SESSION_NAME, session->name) ||
	    nla_put_string(skb, RNBD_A_PATH_NAME, path->name) ||
	    nla_put_u32(skb, RNBD_A_PATH_ROLE, RNBD_ROLE_CLIENT) ||
	    rtrs_nl_put_addr(skb, RNBD_A_PATH_CLIENT_ADDR, &path->addr.src) ||
	    rtrs_nl_put_addr(skb, RNBD_A_PATH_SERVER_ADDR, &path->addr.dst) ||
	    nla_put_u32(skb, RNBD_A_PATH_STATE, rtrs_client_path_uapi_state(path->state)) ||
	    nla_put_string(skb, RNBD_A_PATH_HCA_NAME, path->hca_name) ||
	    nla_put_u32(skb, RNBD_A_PATH_HCA_PORT, path->hca_port) ||
	    nla_put_u32(skb, RNBD_A_PATH_CONNECTIONS, path->con_count) ||
	    nla_put_u32(skb, RNBD_A_PATH_RECONNECT_ATTEMPTS, path->attempts) ||
	    nla_put_s32(skb, RNBD_A_PATH_LAST_ERROR, path->last_error) ||
	    (rtt && nla_put_u64_64bit(skb, RNBD_A_PATH_HEARTBEAT_LATENCY_NS, rtt,
				      RNBD_A_PATH_PAD)) ||
	    nla_put_u64_64bit(skb, RNBD_A_PATH_SINCE_NS, ktime_to_ns(path->since),
			      RNBD_A_PATH_PAD) ||
	    nla_put_u8(skb, RNBD_A_PATH_REMOVING, path->removed) ||
	    nla_put_u32(skb, RNBD_A_PATH_GENERATION, rtrs_nl_generation()))
		return -EMSGSIZE;
	return 0;
}

static int put_path(struct sk_buff *skb, struct rtrs_client_path *path)
{
	int err;

	spin_lock_bh(&path->session->state_lock);
	err = put_path_locked(skb, path);
	spin_unlock_bh(&path->session->state_lock);
	return err;
}

/* Look-up; rtrs_client_lock is held */

static struct rtrs_client_session *find_session(const struct nlattr *id, const struct nlattr *name)
{
	struct rtrs_client_session *session;
	unsigned long index;

	if (id)
		return xa_load(&rtrs_client_sessions, nla_get_u32(id));
	xa_for_each(&rtrs_client_sessions, index, session)
		if (!nla_strcmp(name, session->name))
			return session;
	return NULL;
}

static int no_object(struct genl_info *info, const struct nlattr *attr, const char *noun)
{
	if (!attr)
		return rtrs_fail(info->extack, -EINVAL, "the id of the %s is missing", noun);
	NL_SET_BAD_ATTR(info->extack, attr);
	return rtrs_fail(info->extack, -ENOENT, "no such %s on this client", noun);
}

static int get_session(struct sk_buff *msg, struct genl_info *info)
{
	const struct nlattr *id = info->attrs[RNBD_A_SESSION_ID];
	const struct nlattr *name = info->attrs[RNBD_A_SESSION_NAME];
	struct rtrs_client_session *session = NULL;
	int err;

	mutex_lock(&rtrs_client_lock);
	if (id || name)
		session = find_session(id, name);
	if (session)
		err = rtrs_client_session_fill(msg, session);
	else
		err = no_object(info, id ?: name, "session");
	mutex_unlock(&rtrs_client_lock);
	return err;
}

/* A session that is named by either of two attributes, with a reference. */
static struct rtrs_client_session *hold_session(struct genl_info *info, unsigned int id_attr,
						unsigned int name_attr)
{
	const struct nlattr *id = info->attrs[id_attr], *name = info->attrs[name_attr];
	struct rtrs_client_session *session = NULL;
	int err = 0;

	mutex_lock(&rtrs_client_lock);
	if (id || name)
		session = find_session(id, name);
	if (session)
		rtrs_client_session_get(session);
	else
		err = no_object(info, id ?: name, "session");
	mutex_unlock(&rtrs_client_lock);
	return session ?: ERR_PTR(err);
}

static int set_session(struct sk_buff *msg, struct genl_info *info)
{
	const struct nlattr *policy = info->attrs[RNBD_A_SESSION_MP_POLICY];
	const struct nlattr *reconnects = info->attrs[RNBD_A_SESSION_MAX_RECONNECT_ATTEMPTS];
	struct rtrs_client_settings settings;
	struct rtrs_client_session *session;
	int err;

	session = hold_session(info, RNBD_A_SESSION_ID, RNBD_A_SESSION_NAME);
	if (IS_ERR(session))
		return PTR_ERR(session);
	mutex_lock(&session->lock);
	settings = session->settings;
	if (policy)
		settings.policy = nla_get_u32(policy);
	if (reconnects)
		settings.max_reconnects = nla_get_s32(reconnects);
	err = rtrs_client_settings_parse(info->attrs[RNBD_A_SESSION_SETTINGS], &settings,
					 info->extack);
	if (!err) {
		err = rtrs_client_settings_set(session, &settings, info->extack);
		if (err && reconnects)
			NL_SET_BAD_ATTR(info->extack, reconnects);
	}
	mutex_unlock(&session->lock);
	/* Its user is there as long as it can be found. */
	mutex_lock(&rtrs_client_lock);
	if (!err && !xa_load(&rtrs_client_sessions, session->id))
		err = rtrs_fail(info->extack, -ENODEV, "the session is being closed");
	err = err ?: rtrs_client_session_fill(msg, session);
	mutex_unlock(&rtrs_client_lock);
	rtrs_client_session_put(session);
	return err;
}

static int dump_sessions(struct sk_buff *skb, struct netlink_callback *cb, struct nlattr **attrs,
			 u32 *cursor)
{
	struct rtrs_client_session *session;
	unsigned long id;
	int err = 0;

	mutex_lock(&rtrs_client_lock);
	xa_for_each_start(&rtrs_client_sessions, id, session, *cursor + 1UL) {
		void *hdr = rtrs_nl_dump_begin(skb, cb, RNBD_CMD_SESSION_GET);

		if (!hdr || rtrs_client_session_fill(skb, session)) {
			genlmsg_cancel(skb, hdr);
			err = -EMSGSIZE;
			break;
		}
		rtrs_nl_dump_end(skb, cb, hdr);
		*cursor = id;
	}
	mutex_unlock(&rtrs_client_lock);
	return err;
}

static int get_path(struct sk_buff *msg, struct genl_info *info)
{
	const struct nlattr *id = info->attrs[RNBD_A_PATH_ID];
	struct rtrs_client_path *path;
	int err;

	mutex_lock(&rtrs_client_lock);
	path = id ? xa_load(&rtrs_client_paths, nla_get_u32(id)) : NULL;
	err = path ? put_path(msg, path) : no_object(info, id, "path");
	mutex_unlock(&rtrs_client_lock);
	return err;
}

/* The path that a command names by its id, with a reference on it and on its session. */
static struct rtrs_client_path *hold_path(struct genl_info *info)
{
	const struct nlattr *id = info->attrs[RNBD_A_PATH_ID];
	struct rtrs_client_path *path;
	int err = 0;

	mutex_lock(&rtrs_client_lock);
	path = id ? xa_load(&rtrs_client_paths, nla_get_u32(id)) : NULL;
	if (path) {
		rtrs_client_session_get(path->session);
		rtrs_client_path_get(path);
	} else {
		err = no_object(info, id, "path");
	}
	mutex_unlock(&rtrs_client_lock);
	return path ?: ERR_PTR(err);
}

static void release_path(struct rtrs_client_path *path)
{
	struct rtrs_client_session *session = path->session;

	rtrs_client_path_put(path);
	rtrs_client_session_put(session);
}

static int get_timeout(struct genl_info *info, struct rtrs_client_session *session,
		       unsigned int *ms)
{
	struct nlattr *attr = info->attrs[RNBD_A_PATH_TIMEOUT_MS];

	*ms = attr ? nla_get_u32(attr) : READ_ONCE(session->settings.connect_ms);
	if (*ms <= RTRS_CLIENT_TIMEOUT_MS_MAX)
		return 0;
	NL_SET_BAD_ATTR(info->extack, attr);
	return rtrs_fail(info->extack, -ERANGE, "a time-out is at most %u ms",
			 RTRS_CLIENT_TIMEOUT_MS_MAX);
}

static int get_addrs(struct genl_info *info, struct rtrs_path_addr *addr)
{
	struct nlattr *server = info->attrs[RNBD_A_PATH_SERVER_ADDR];
	struct nlattr *client = info->attrs[RNBD_A_PATH_CLIENT_ADDR];
	int err;

	memset(addr, 0, sizeof(*addr));
	if (GENL_REQ_ATTR_CHECK(info, RNBD_A_PATH_SERVER_ADDR))
		return rtrs_fail(info->extack, -EINVAL, "a path needs the address of the server");
	err = rtrs_nl_get_addr(server, &addr->dst, info->extack);
	if (!err && client)
		err = rtrs_nl_get_addr(client, &addr->src, info->extack);
	if (!err)
		rtrs_addr_set_port(&addr->src, 0);
	return err;
}

static int add_path(struct sk_buff *msg, struct genl_info *info)
{
	struct rtrs_client_session *session;
	struct rtrs_client_path *path;
	struct rtrs_path_addr addr;
	unsigned int timeout_ms;
	int err;

	err = get_addrs(info, &addr);
	if (err)
		return err;
	session = hold_session(info, RNBD_A_PATH_SESSION_ID, RNBD_A_PATH_SESSION_NAME);
	if (IS_ERR(session))
		return PTR_ERR(session);
	err = get_timeout(info, session, &timeout_ms);
	if (!err)
		err = rtrs_client_session_add_path(session, &addr, timeout_ms, info->extack, &path);
	if (!err) {
		err = put_path(msg, path);
		rtrs_client_path_put(path);
	}
	rtrs_client_session_put(session);
	return err;
}

static int del_path(struct genl_info *info)
{
	struct rtrs_client_path *path = hold_path(info);
	int err;

	if (IS_ERR(path))
		return PTR_ERR(path);
	err = rtrs_client_session_remove_path(path, info->extack);
	release_path(path);
	return err;
}

static int reconnect_path(struct sk_buff *msg, struct genl_info *info)
{
	struct rtrs_client_path *path = hold_path(info);
	unsigned int timeout_ms;
	int err;

	if (IS_ERR(path))
		return PTR_ERR(path);
	err = get_timeout(info, path->session, &timeout_ms) ?:
	      rtrs_client_path_reconnect(path, timeout_ms, info->extack) ?:
	      put_path(msg, path);
	release_path(path);
	return err;
}

static int disconnect_path(struct sk_buff *msg, struct genl_info *info)
{
	struct rtrs_client_path *path = hold_path(info);
	int err;

	if (IS_ERR(path))
		return PTR_ERR(path);
	err = rtrs_client_path_disconnect(path, info->extack) ?: put_path(msg, path);
	release_path(path);
	return err;
}

/**
 * struct filter - the session whose paths are wanted
 * @id: attribute with its id, or NULL
 * @name: attribute with its name, or NULL
 */
struct filter {
	const struct nlattr *id;
	const struct nlattr *name;
};

static bool filter_fits(const struct filter *f, const struct rtrs_client_path *path)
{
	if (f->id && nla_get_u32(f->id) != path->session->id)
		return false;
	return !f->name || !nla_strcmp(f->name, path->session->name);
}

static int dump_all_paths(struct sk_buff *skb, struct netlink_callback *cb, struct nlattr **attrs,
			  u32 *cursor)
{
	const struct filter f = {
		.id = attrs ? attrs[RNBD_A_PATH_SESSION_ID] : NULL,
		.name = attrs ? attrs[RNBD_A_PATH_SESSION_NAME] : NULL,
	};
	struct rtrs_client_path *path;
	unsigned long id;
	int err = 0;

	mutex_lock(&rtrs_client_lock);
	xa_for_each_start(&rtrs_client_paths, id, path, *cursor + 1UL) {
		void *hdr;

		if (!filter_fits(&f, path))
			continue;
		hdr = rtrs_nl_dump_begin(skb, cb, RNBD_CMD_PATH_GET);
		if (!hdr || put_path(skb, path)) {
			genlmsg_cancel(skb, hdr);
			err = -EMSGSIZE;
			break;
		}
		rtrs_nl_dump_end(skb, cb, hdr);
		*cursor = id;
	}
	mutex_unlock(&rtrs_client_lock);
	return err;
}

static int dump_all_stats(struct sk_buff *skb, struct netlink_callback *cb, struct nlattr **attrs,
			  u32 *cursor)
{
	const struct filter f = {
		.id = attrs ? attrs[RNBD_A_STATS_SESSION_ID] : NULL,
		.name = attrs ? attrs[RNBD_A_STATS_SESSION_NAME] : NULL,
	};
	struct rtrs_client_path *path;
	unsigned long id;
	int err = 0;

	mutex_lock(&rtrs_client_lock);
	xa_for_each_start(&rtrs_client_paths, id, path, *cursor + 1UL) {
		if (!filter_fits(&f, path))
			continue;
		err = rtrs_client_nl_dump_stats(skb, cb, path, cursor);
		if (err)
			break;
	}
	mutex_unlock(&rtrs_client_lock);
	return err;
}

static int get_stats(struct sk_buff *msg, struct genl_info *info)
{
	const struct nlattr *id = info->attrs[RNBD_A_STATS_PATH_ID];
	struct rtrs_client_path *path;
	int err;

	mutex_lock(&rtrs_client_lock);
	path = id ? xa_load(&rtrs_client_paths, nla_get_u32(id)) : NULL;
	err = path ? rtrs_client_nl_put_stats(msg, path) : no_object(info, id, "path");
	mutex_unlock(&rtrs_client_lock);
	return err;
}

/* One path, those of one session, or all. */
static int reset_stats(struct genl_info *info)
{
	const struct nlattr *groups = info->attrs[RNBD_A_STATS_GROUPS];
	const struct nlattr *path_id = info->attrs[RNBD_A_STATS_PATH_ID];
	const struct filter f = {
		.id = info->attrs[RNBD_A_STATS_SESSION_ID],
		.name = info->attrs[RNBD_A_STATS_SESSION_NAME],
	};
	struct rtrs_client_path *path;
	unsigned long id;
	int err = 0;

	mutex_lock(&rtrs_client_lock);
	if (path_id && !xa_load(&rtrs_client_paths, nla_get_u32(path_id)))
		err = no_object(info, path_id, "path");
	else if (!path_id && (f.id || f.name) && !find_session(f.id, f.name))
		err = no_object(info, f.id ?: f.name, "session");
	if (err)
		goto out;
	xa_for_each(&rtrs_client_paths, id, path)
		if (path_id ? id == nla_get_u32(path_id) : filter_fits(&f, path))
			rtrs_client_stats_reset(path, groups ? nla_get_u32(groups) : ~0U);
out:
	mutex_unlock(&rtrs_client_lock);
	return err;
}

static void session_event(struct rtrs_client_session *session, unsigned int event,
			  unsigned int old)
{
	struct sk_buff *skb;
	void *hdr;

	skb = rtrs_nl_event_begin(RNBD_CMD_SESSION_NTF, &hdr);
	if (!skb)
		return;
	if (rtrs_client_session_fill(skb, session) ||
	    nla_put_u32(skb, RNBD_A_SESSION_EVENT, event) ||
	    (event == RNBD_EVENT_CHANGE && nla_put_u32(skb, RNBD_A_SESSION_OLD_STATE, old))) {
		nlmsg_free(skb);
		return;
	}
	rtrs_nl_event_send(skb, hdr, RNBD_CMD_SESSION_NTF);
}

static void path_event(struct rtrs_client_path *path, unsigned int event, unsigned int old)
{
	struct sk_buff *skb;
	void *hdr;

	skb = rtrs_nl_event_begin(RNBD_CMD_PATH_NTF, &hdr);
	if (!skb)
		return;
	if (put_path_locked(skb, path) || nla_put_u32(skb, RNBD_A_PATH_EVENT, event) ||
	    (event == RNBD_EVENT_CHANGE && nla_put_u32(skb, RNBD_A_PATH_OLD_STATE, old))) {
		nlmsg_free(skb);
		return;
	}
	rtrs_nl_event_send(skb, hdr, RNBD_CMD_PATH_NTF);
}

static const struct rtrs_nl_cmd cmds[] = {
	{ .cmd = RNBD_CMD_SESSION_GET, .get = get_session, .dump = dump_sessions },
	{ .cmd = RNBD_CMD_SESSION_SET, .get = set_session },
	{ .cmd = RNBD_CMD_PATH_GET, .get = get_path, .dump = dump_all_paths },
	{ .cmd = RNBD_CMD_PATH_ADD, .get = add_path },
	{ .cmd = RNBD_CMD_PATH_DEL, .act = del_path },
	{ .cmd = RNBD_CMD_PATH_RECONNECT, .get = reconnect_path },
	{ .cmd = RNBD_CMD_PATH_DISCONNECT, .get = disconnect_path },
	{ .cmd = RNBD_CMD_STATS_GET, .get = get_stats, .dump = dump_all_stats },
	{ .cmd = RNBD_CMD_STATS_RESET, .act = reset_stats },
};

static const struct rtrs_nl_provider provider = {
	.name = "rtrs-client",
	.owner = THIS_MODULE,
	.role = RNBD_ROLE_CLIENT,
	.cmds = cmds,
	.count = ARRAY_SIZE(cmds),
};

const struct rtrs_client_events rtrs_client_nl_events = {
	.session_event = session_event,
	.path_event = path_event,
};

int rtrs_client_nl_init(void)
{
	return rtrs_nl_register(&provider);
}

void rtrs_client_nl_exit(void)
{
	rtrs_nl_unregister(&provider);
}
