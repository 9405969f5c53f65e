// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions, paths and their counters in netlink. Commands look objects up and fill
 * messages under rtrs_client_lock, so an object that is found stays.
 */
#include <linux/module.h>
#include <rtrs/nl.h>
#include "client.h"

unsigned int rtrs_client_nl_path_state(unsigned int state)
{
	static const u8 map[RTRS_CLIENT_PATH_STATE_COUNT] = {
		[RTRS_CLIENT_PATH_CONNECTING]		= RNBD_PATH_STATE_CONNECTING,
		[RTRS_CLIENT_PATH_CONNECTING_ERR]	= RNBD_PATH_STATE_CLOSING,
		[RTRS_CLIENT_PATH_RECONNECTING]		= RNBD_PATH_STATE_RECONNECTING,
		[RTRS_CLIENT_PATH_CONNECTED]		= RNBD_PATH_STATE_CONNECTED,
		[RTRS_CLIENT_PATH_CLOSING]		= RNBD_PATH_STATE_CLOSING,
		[RTRS_CLIENT_PATH_CLOSED]		= RNBD_PATH_STATE_DISCONNECTED,
		[RTRS_CLIENT_PATH_DEAD]			= RNBD_PATH_STATE_DISCONNECTED,
	};

	return map[state];
}

static unsigned int path_count(struct rtrs_client_session *session)
{
	unsigned int count;

	rcu_read_lock();
	count = rcu_dereference(session->paths)->count;
	rcu_read_unlock();
	return count;
}

static int put_session(struct sk_buff *skb, struct rtrs_client_session *session)
{
	const struct rtrs_client_attrs *attrs = &session->attrs;
	u32 devices = 0;

	if (READ_ONCE(session->opened) && session->ops->devices)
		devices = session->ops->devices(session->priv);
	if (nla_put_u32(skb, RNBD_A_SESSION_ID, session->id) ||
	    nla_put_string(skb, RNBD_A_SESSION_NAME, session->name) ||
	    nla_put_u32(skb, RNBD_A_SESSION_ROLE, RNBD_ROLE_CLIENT) ||
	    nla_put_u32(skb, RNBD_A_SESSION_STATE, READ_ONCE(session->state)) ||
	    nla_put_u32(skb, RNBD_A_SESSION_MP_POLICY, READ_ONCE(session->policy)) ||
	    nla_put_s32(skb, RNBD_A_SESSION_MAX_RECONNECT_ATTEMPTS,
			READ_ONCE(session->max_reconnects)) ||
	    nla_put_u32(skb, RNBD_A_SESSION_QUEUE_DEPTH, attrs->queue_depth) ||
	    nla_put_u32(skb, RNBD_A_SESSION_MAX_IO_BYTES, attrs->max_io_size) ||
	    nla_put_u32(skb, RNBD_A_SESSION_PATHS_CONNECTED, READ_ONCE(session->connected)) ||
	    nla_put_u32(skb, RNBD_A_SESSION_PATHS_CONFIGURED, path_count(session)) ||
	    nla_put_u32(skb, RNBD_A_SESSION_DEVICES, devices) ||
	    nla_put_u64_64bit(skb, RNBD_A_SESSION_PINNED_BYTES, rtrs_client_pinned(session),
			      RNBD_A_SESSION_PAD) ||
	    nla_put_u32(skb, RNBD_A_SESSION_GENERATION, rtrs_nl_generation()))
		return -EMSGSIZE;
	return 0;
}

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
	    nla_put_u32(skb, RNBD_A_PATH_STATE, rtrs_client_nl_path_state(path->state)) ||
	    nla_put_string(skb, RNBD_A_PATH_HCA_NAME, path->hca_name) ||
	    nla_put_u32(skb, RNBD_A_PATH_HCA_PORT, path->hca_port) ||
	    nla_put_u32(skb, RNBD_A_PATH_CONNECTIONS, path->con_count) ||
	    nla_put_u32(skb, RNBD_A_PATH_RECONNECT_ATTEMPTS, 0) ||
	    nla_put_s32(skb, RNBD_A_PATH_LAST_ERROR, path->last_error) ||
	    (rtt && nla_put_u64_64bit(skb, RNBD_A_PATH_HEARTBEAT_LATENCY_NS, rtt,
				      RNBD_A_PATH_PAD)) ||
	    nla_put_u64_64bit(skb, RNBD_A_PATH_SINCE_NS, ktime_to_ns(path->since),
			      RNBD_A_PATH_PAD) ||
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

static int put_cpu_stats(struct sk_buff *skb, struct rtrs_client_path *path, unsigned int cpu)
{
	const struct rtrs_client_cpu_stats *s = per_cpu_ptr(path->stats, cpu);
	u32 from = atomic_read(&s->migrations_from), to = READ_ONCE(s->migrations_to);
	struct nlattr *nest;

	if (!s->ios[0] && !s->ios[1] && !from && !to)
		return 0;
	nest = nla_nest_start(skb, RNBD_A_STATS_CPU);
	if (!nest ||
	    nla_put_u32(skb, RNBD_A_CPU_STATS_CPU, cpu) ||
	    nla_put_u64_64bit(skb, RNBD_A_CPU_STATS_READ_IOS, s->ios[1], RNBD_A_CPU_STATS_PAD) ||
	    nla_put_u64_64bit(skb, RNBD_A_CPU_STATS_READ_BYTES, s->bytes[1],
			      RNBD_A_CPU_STATS_PAD) ||
	    nla_put_u64_64bit(skb, RNBD_A_CPU_STATS_WRITE_IOS, s->ios[0], RNBD_A_CPU_STATS_PAD) ||
	    nla_put_u64_64bit(skb, RNBD_A_CPU_STATS_WRITE_BYTES, s->bytes[0],
			      RNBD_A_CPU_STATS_PAD) ||
	    nla_put_u64_64bit(skb, RNBD_A_CPU_STATS_MIGRATIONS_FROM, from, RNBD_A_CPU_STATS_PAD) ||
	    nla_put_u64_64bit(skb, RNBD_A_CPU_STATS_MIGRATIONS_TO, to, RNBD_A_CPU_STATS_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_stats_head(struct sk_buff *skb, struct rtrs_client_path *path)
{
	int err;

	spin_lock_bh(&path->session->state_lock);
	err = nla_put_u32(skb, RNBD_A_STATS_PATH_ID, path->id) ||
	      nla_put_string(skb, RNBD_A_STATS_PATH_NAME, path->name) ||
	      nla_put_u32(skb, RNBD_A_STATS_SESSION_ID, path->session->id) ||
	      nla_put_string(skb, RNBD_A_STATS_SESSION_NAME, path->session->name) ||
	      nla_put_u32(skb, RNBD_A_STATS_ROLE, RNBD_ROLE_CLIENT) ||
	      nla_put_string(skb, RNBD_A_STATS_HCA_NAME, path->hca_name) ||
	      nla_put_u32(skb, RNBD_A_STATS_HCA_PORT, path->hca_port);
	spin_unlock_bh(&path->session->state_lock);
	return err ? -EMSGSIZE : 0;
}

static int put_stats(struct sk_buff *skb, struct rtrs_client_path *path)
{
	s64 rtt = atomic64_read(&path->hb.rtt_ns);
	struct rtrs_client_cpu_stats sum;
	unsigned int cpu;

	rtrs_client_stats_sum(path, &sum);
	if (put_stats_head(skb, path) ||
	    nla_put_u64_64bit(skb, RNBD_A_STATS_READ_IOS, sum.ios[1], RNBD_A_STATS_PAD) ||
	    nla_put_u64_64bit(skb, RNBD_A_STATS_READ_BYTES, sum.bytes[1], RNBD_A_STATS_PAD) ||
	    nla_put_u64_64bit(skb, RNBD_A_STATS_WRITE_IOS, sum.ios[0], RNBD_A_STATS_PAD) ||
	    nla_put_u64_64bit(skb, RNBD_A_STATS_WRITE_BYTES, sum.bytes[0], RNBD_A_STATS_PAD) ||
	    nla_put_u32(skb, RNBD_A_STATS_INFLIGHT, sum.inflight) ||
	    nla_put_u64_64bit(skb, RNBD_A_STATS_FAILOVERS, 0, RNBD_A_STATS_PAD) ||
	    nla_put_u64_64bit(skb, RNBD_A_STATS_RECONNECTS_OK, 0, RNBD_A_STATS_PAD) ||
	    nla_put_u64_64bit(skb, RNBD_A_STATS_RECONNECTS_FAILED, 0, RNBD_A_STATS_PAD) ||
	    (rtt && nla_put_u64_64bit(skb, RNBD_A_STATS_HEARTBEAT_LATENCY_NS, rtt,
				      RNBD_A_STATS_PAD)))
		return -EMSGSIZE;
	for_each_possible_cpu(cpu)
		if (put_cpu_stats(skb, path, cpu))
			return -EMSGSIZE;
	return nla_put_u32(skb, RNBD_A_STATS_GENERATION, rtrs_nl_generation());
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
	err = session ? put_session(msg, session) : no_object(info, id ?: name, "session");
	mutex_unlock(&rtrs_client_lock);
	return err;
}

static int set_session(struct sk_buff *msg, struct genl_info *info)
{
	const struct nlattr *id = info->attrs[RNBD_A_SESSION_ID];
	const struct nlattr *name = info->attrs[RNBD_A_SESSION_NAME];
	const struct nlattr *policy = info->attrs[RNBD_A_SESSION_MP_POLICY];
	const struct nlattr *reconnects = info->attrs[RNBD_A_SESSION_MAX_RECONNECT_ATTEMPTS];
	struct rtrs_client_session *session = NULL;
	int err;

	if (reconnects && (nla_get_s32(reconnects) < -1 ||
			   nla_get_s32(reconnects) > RTRS_CLIENT_RECONNECTS_MAX)) {
		NL_SET_BAD_ATTR(info->extack, reconnects);
		return rtrs_fail(info->extack, -EINVAL, "attempts to reconnect are -1 to %d",
				 RTRS_CLIENT_RECONNECTS_MAX);
	}
	mutex_lock(&rtrs_client_lock);
	if (id || name)
		session = find_session(id, name);
	if (session) {
		if (policy)
			WRITE_ONCE(session->policy, nla_get_u32(policy));
		if (reconnects)
			WRITE_ONCE(session->max_reconnects, nla_get_s32(reconnects));
		rtrs_client_session_changed(session);
		err = put_session(msg, session);
	} else {
		err = no_object(info, id ?: name, "session");
	}
	mutex_unlock(&rtrs_client_lock);
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

		if (!hdr || put_session(skb, session)) {
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

typedef int (*put_fn)(struct sk_buff *skb, struct rtrs_client_path *path);

static int dump_paths(struct sk_buff *skb, struct netlink_callback *cb, const struct filter *f,
		      u32 *cursor, u8 cmd)
{
	put_fn put = cmd == RNBD_CMD_PATH_GET ? put_path : put_stats;
	struct rtrs_client_path *path;
	unsigned long id;
	int err = 0;

	mutex_lock(&rtrs_client_lock);
	xa_for_each_start(&rtrs_client_paths, id, path, *cursor + 1UL) {
		void *hdr;

		if (!filter_fits(f, path))
			continue;
		hdr = rtrs_nl_dump_begin(skb, cb, cmd);
		if (!hdr || put(skb, path)) {
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

static int dump_all_paths(struct sk_buff *skb, struct netlink_callback *cb, struct nlattr **attrs,
			  u32 *cursor)
{
	const struct filter f = {
		.id = attrs ? attrs[RNBD_A_PATH_SESSION_ID] : NULL,
		.name = attrs ? attrs[RNBD_A_PATH_SESSION_NAME] : NULL,
	};

	return dump_paths(skb, cb, &f, cursor, RNBD_CMD_PATH_GET);
}

static int dump_all_stats(struct sk_buff *skb, struct netlink_callback *cb, struct nlattr **attrs,
			  u32 *cursor)
{
	const struct filter f = {
		.id = attrs ? attrs[RNBD_A_STATS_SESSION_ID] : NULL,
		.name = attrs ? attrs[RNBD_A_STATS_SESSION_NAME] : NULL,
	};

	return dump_paths(skb, cb, &f, cursor, RNBD_CMD_STATS_GET);
}

static int get_stats(struct sk_buff *msg, struct genl_info *info)
{
	const struct nlattr *id = info->attrs[RNBD_A_STATS_PATH_ID];
	struct rtrs_client_path *path;
	int err;

	mutex_lock(&rtrs_client_lock);
	path = id ? xa_load(&rtrs_client_paths, nla_get_u32(id)) : NULL;
	err = path ? put_stats(msg, path) : no_object(info, id, "path");
	mutex_unlock(&rtrs_client_lock);
	return err;
}

/* One path, those of one session, or all. */
static int reset_stats(struct genl_info *info)
{
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
			rtrs_client_stats_reset(path);
out:
	mutex_unlock(&rtrs_client_lock);
	return err;
}

void rtrs_client_nl_session_event(struct rtrs_client_session *session, unsigned int event,
				  unsigned int old)
{
	struct sk_buff *skb;
	void *hdr;

	skb = rtrs_nl_event_begin(RNBD_CMD_SESSION_NTF, &hdr);
	if (!skb)
		return;
	if (put_session(skb, session) || nla_put_u32(skb, RNBD_A_SESSION_EVENT, event) ||
	    (event == RNBD_EVENT_CHANGE && nla_put_u32(skb, RNBD_A_SESSION_OLD_STATE, old))) {
		nlmsg_free(skb);
		return;
	}
	rtrs_nl_event_send(skb, hdr, RNBD_CMD_SESSION_NTF);
}

void rtrs_client_nl_path_event(struct rtrs_client_path *path, unsigned int event,
			       unsigned int old)
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

int rtrs_client_nl_init(void)
{
	return rtrs_nl_register(&provider);
}

void rtrs_client_nl_exit(void)
{
	rtrs_nl_unregister(&provider);
}
