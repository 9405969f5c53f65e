// SPDX-License-Identifier: GPL-2.0
/* Netlink: sessions, paths and statistics of the server. */
#include <rtrs/nl.h>
#include "notify.h"
#include "server.h"

static int put_peer(struct sk_buff *msg, int attr, const struct rtrs_server_session *session)
{
	char name[RTRS_SERVER_PEER_LEN];

	session->srv->ops->peer_name(session->id, name);
	return name[0] ? nla_put_string(msg, attr, name) : 0;
}

/* session->lock held. */
static int put_session(struct sk_buff *msg, struct rtrs_server_session *session)
{
	const struct rtrs_server_ops *ops = session->srv->ops;
	u64 pinned = atomic64_read(&session->pinned);
	u32 opens = session->up && ops->opens ? ops->opens(session->priv) : 0;

	if (nla_put_u32(msg, RNBD_A_SESSION_ID, session->id) ||
	    nla_put_string(msg, RNBD_A_SESSION_NAME, session->name) ||
	    nla_put_u32(msg, RNBD_A_SESSION_ROLE, RNBD_ROLE_SERVER) ||
	    nla_put_u32(msg, RNBD_A_SESSION_STATE, rtrs_server_session_state(session)) ||
	    nla_put_u32(msg, RNBD_A_SESSION_QUEUE_DEPTH, rtrs_server_geo.queue_depth) ||
	    nla_put_u32(msg, RNBD_A_SESSION_MAX_IO_BYTES, rtrs_server_geo.max_io_size) ||
	    nla_put_u32(msg, RNBD_A_SESSION_PATHS_CONNECTED, session->up) ||
	    nla_put_u32(msg, RNBD_A_SESSION_PATHS_CONFIGURED, session->path_count) ||
	    nla_put_u32(msg, RNBD_A_SESSION_DEVICES, opens) ||
	    nla_put_u64_64bit(msg, RNBD_A_SESSION_PINNED_BYTES, pinned, RNBD_A_SESSION_PAD) ||
	    nla_put_u64_64bit(msg, RNBD_A_SESSION_PINNED_MAX_BYTES, rtrs_server_slots_max(session),
			      RNBD_A_SESSION_PAD) ||
	    put_peer(msg, RNBD_A_SESSION_PEER_NAME, session) ||
	    nla_put_u32(msg, RNBD_A_SESSION_GENERATION, rtrs_nl_generation()))
		return -EMSGSIZE;
	return 0;
}

static void session_event(struct rtrs_server_session *session, enum rnbd_event event,
			  enum rnbd_session_state old)
{
	void *hdr;
	struct sk_buff *msg = rtrs_nl_event_begin(RNBD_CMD_SESSION_NTF, &hdr);
	int err;

	if (!msg)
		return;
	err = put_session(msg, session);
	if (!err)
		err = nla_put_u32(msg, RNBD_A_SESSION_EVENT, event);
	if (!err && event == RNBD_EVENT_CHANGE)
		err = nla_put_u32(msg, RNBD_A_SESSION_OLD_STATE, old);
	if (err)
		nlmsg_free(msg);
	else
		rtrs_nl_event_send(msg, hdr, RNBD_CMD_SESSION_NTF);
}

static struct rtrs_server_session *session_by_id(u32 id)
{
	struct rtrs_server_session *session = rtrs_server_session_next(id - 1);

	if (session && session->id != id) {
		rtrs_server_session_put(session);
		session = NULL;
	}
	return session;
}

/* With a reference, or an ERR_PTR and the reason in the extended ack. */
static struct rtrs_server_session *session_of(struct genl_info *info)
{
	struct nlattr *id = info->attrs[RNBD_A_SESSION_ID];
	struct nlattr *name = info->attrs[RNBD_A_SESSION_NAME];
	struct rtrs_server_session *session;
	int err;

	if (id)
		session = session_by_id(nla_get_u32(id));
	else if (name)
		session = rtrs_server_session_by_name(nla_data(name));
	else
		return ERR_PTR(rtrs_fail(info->extack, -EINVAL,
					 "id or name of a session is needed"));
	if (session)
		return session;
	NL_SET_BAD_ATTR(info->extack, id ?: name);
	if (id)
		err = rtrs_fail(info->extack, -ENOENT, "no server session with id %u",
				nla_get_u32(id));
	else
		err = rtrs_fail(info->extack, -ENOENT, "no server session '%.48s'",
				(char *)nla_data(name));
	return ERR_PTR(err);
}

static int session_disconnect(struct genl_info *info)
{
	struct rtrs_server_session *session = session_of(info);
	int err;

	if (IS_ERR(session))
		return PTR_ERR(session);
	err = rtrs_server_session_disconnect(session);
	if (err)
		rtrs_fail(info->extack, err, "interrupted; the paths of '%.40s' go on closing",
			  session->name);
	rtrs_server_session_put(session);
	return err;
}

static int session_get(struct sk_buff *msg, struct genl_info *info)
{
	struct rtrs_server_session *session = session_of(info);
	int err;

	if (IS_ERR(session))
		return PTR_ERR(session);
	err = mutex_lock_killable(&session->lock);
	if (!err) {
		err = put_session(msg, session);
		mutex_unlock(&session->lock);
	}
	rtrs_server_session_put(session);
	return err;
}

static int session_dump(struct sk_buff *skb, struct netlink_callback *cb, struct nlattr **attrs,
			u32 *cursor)
{
	struct rtrs_server_session *session;
	void *hdr;
	int err;

	while ((session = rtrs_server_session_next(*cursor))) {
		err = mutex_lock_killable(&session->lock);
		if (!err) {
			hdr = rtrs_nl_dump_begin(skb, cb, RNBD_CMD_SESSION_GET);
			err = hdr ? put_session(skb, session) : -EMSGSIZE;
			if (!err)
				rtrs_nl_dump_end(skb, cb, hdr);
			else if (hdr)
				genlmsg_cancel(skb, hdr);
			mutex_unlock(&session->lock);
		}
		if (!err)
			*cursor = session->id;
		rtrs_server_session_put(session);
		if (err)
			return err;
	}
	return 0;
}

static enum rnbd_path_state nl_state(enum rtrs_server_path_state state)
{
	switch (state) {
	case RTRS_SERVER_PATH_CONNECTING:
		return RNBD_PATH_STATE_CONNECTING;
	case RTRS_SERVER_PATH_CONNECTED:
		return RNBD_PATH_STATE_CONNECTED;
	case RTRS_SERVER_PATH_CLOSING:
		return RNBD_PATH_STATE_CLOSING;
	default:
		return RNBD_PATH_STATE_DISCONNECTED;
	}
}

/* A path has no session name before its INFO. */
static int put_path_state(struct sk_buff *msg, struct rtrs_server_path *path,
			  enum rtrs_server_path_state state)
{
	const struct rtrs_server_session *session = path->session;

	if (nla_put_u32(msg, RNBD_A_PATH_ID, path->id) ||
	    nla_put_u32(msg, RNBD_A_PATH_SESSION_ID, session->id) ||
	    (session->name[0] && nla_put_string(msg, RNBD_A_PATH_SESSION_NAME, session->name)) ||
	    nla_put_string(msg, RNBD_A_PATH_NAME, path->text) ||
	    nla_put_u32(msg, RNBD_A_PATH_ROLE, RNBD_ROLE_SERVER) ||
	    rtrs_nl_put_addr(msg, RNBD_A_PATH_CLIENT_ADDR, &path->addr.src) ||
	    rtrs_nl_put_addr(msg, RNBD_A_PATH_SERVER_ADDR, &path->addr.dst) ||
	    nla_put_u32(msg, RNBD_A_PATH_STATE, nl_state(state)) ||
	    nla_put_string(msg, RNBD_A_PATH_HCA_NAME, path->hca_name) ||
	    nla_put_u32(msg, RNBD_A_PATH_HCA_PORT, path->hca_port) ||
	    nla_put_u32(msg, RNBD_A_PATH_CONNECTIONS, path->con_num) ||
	    nla_put_s32(msg, RNBD_A_PATH_LAST_ERROR, READ_ONCE(path->last_error)) ||
	    nla_put_u64_64bit(msg, RNBD_A_PATH_SINCE_NS, path->since_ns, RNBD_A_PATH_PAD) ||
	    put_peer(msg, RNBD_A_PATH_PEER_NAME, session) ||
	    nla_put_u32(msg, RNBD_A_PATH_GENERATION, rtrs_nl_generation()))
		return -EMSGSIZE;
	return 0;
}

static void path_event(struct rtrs_server_path *path, enum rnbd_event event,
		       enum rtrs_server_path_state old, enum rtrs_server_path_state state)
{
	void *hdr;
	struct sk_buff *msg = rtrs_nl_event_begin(RNBD_CMD_PATH_NTF, &hdr);
	int err;

	lockdep_assert_held(&path->session->lock);
	if (!msg)
		return;
	err = put_path_state(msg, path, state);
	if (!err)
		err = nla_put_u32(msg, RNBD_A_PATH_EVENT, event);
	if (!err && event == RNBD_EVENT_CHANGE)
		err = nla_put_u32(msg, RNBD_A_PATH_OLD_STATE, nl_state(old));
	if (err)
		nlmsg_free(msg);
	else
		rtrs_nl_event_send(msg, hdr, RNBD_CMD_PATH_NTF);
}

static int put_path(struct sk_buff *msg, struct rtrs_server_path *path)
{
	return put_path_state(msg, path, READ_ONCE(path->state));
}

static int put_cpu_stats(struct sk_buff *msg, void *arg, unsigned int cpu)
{
	struct rtrs_server_path *path = arg;
	const struct rtrs_server_counts *c = per_cpu_ptr(path->counts, cpu);
	struct nlattr *nest;

	if (!c->ios[0] && !c->ios[1] && !c->polls.total)
		return 0;
	nest = nla_nest_start(msg, RNBD_A_STATS_CPU);
	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(msg, RNBD_A_CPU_STATS_CPU, cpu) ||
	    nla_put_u64_64bit(msg, RNBD_A_CPU_STATS_READ_IOS, c->ios[1], RNBD_A_CPU_STATS_PAD) ||
	    nla_put_u64_64bit(msg, RNBD_A_CPU_STATS_READ_BYTES, c->bytes[1],
			      RNBD_A_CPU_STATS_PAD) ||
	    nla_put_u64_64bit(msg, RNBD_A_CPU_STATS_WRITE_IOS, c->ios[0], RNBD_A_CPU_STATS_PAD) ||
	    nla_put_u64_64bit(msg, RNBD_A_CPU_STATS_WRITE_BYTES, c->bytes[0],
			      RNBD_A_CPU_STATS_PAD) ||
	    nla_put_u64_64bit(msg, RNBD_A_CPU_STATS_COMPLETIONS, c->polls.total,
			      RNBD_A_CPU_STATS_PAD) ||
	    nla_put_u64_64bit(msg, RNBD_A_CPU_STATS_POLLS, c->polls.calls, RNBD_A_CPU_STATS_PAD) ||
	    nla_put_u64_64bit(msg, RNBD_A_CPU_STATS_COMPLETIONS_MAX, c->polls.max,
			      RNBD_A_CPU_STATS_PAD)) {
		nla_nest_cancel(msg, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, nest);
	return 0;
}

static int put_stats(struct sk_buff *msg, struct rtrs_server_path *path)
{
	const struct rtrs_server_session *session = path->session;
	struct rtrs_server_totals sum;

	rtrs_server_stats_sum(path, &sum);
	if (nla_put_u32(msg, RNBD_A_STATS_PATH_ID, path->id) ||
	    nla_put_string(msg, RNBD_A_STATS_PATH_NAME, path->text) ||
	    nla_put_u32(msg, RNBD_A_STATS_SESSION_ID, session->id) ||
	    (session->name[0] && nla_put_string(msg, RNBD_A_STATS_SESSION_NAME, session->name)) ||
	    nla_put_u32(msg, RNBD_A_STATS_ROLE, RNBD_ROLE_SERVER) ||
	    nla_put_string(msg, RNBD_A_STATS_HCA_NAME, path->hca_name) ||
	    nla_put_u32(msg, RNBD_A_STATS_HCA_PORT, path->hca_port) ||
	    nla_put_u64_64bit(msg, RNBD_A_STATS_READ_IOS, sum.ios[1], RNBD_A_STATS_PAD) ||
	    nla_put_u64_64bit(msg, RNBD_A_STATS_READ_BYTES, sum.bytes[1], RNBD_A_STATS_PAD) ||
	    nla_put_u64_64bit(msg, RNBD_A_STATS_WRITE_IOS, sum.ios[0], RNBD_A_STATS_PAD) ||
	    nla_put_u64_64bit(msg, RNBD_A_STATS_WRITE_BYTES, sum.bytes[0], RNBD_A_STATS_PAD) ||
	    nla_put_u32(msg, RNBD_A_STATS_INFLIGHT, sum.inflight) ||
	    nla_put_u64_64bit(msg, RNBD_A_STATS_COMPLETIONS, sum.polls.total, RNBD_A_STATS_PAD) ||
	    nla_put_u64_64bit(msg, RNBD_A_STATS_POLLS, sum.polls.calls, RNBD_A_STATS_PAD) ||
	    nla_put_u64_64bit(msg, RNBD_A_STATS_COMPLETIONS_MAX, sum.polls.max, RNBD_A_STATS_PAD))
		return -EMSGSIZE;
	return nla_put_u32(msg, RNBD_A_STATS_GENERATION, rtrs_nl_generation()) ? -EMSGSIZE : 0;
}

static int put_totals(struct sk_buff *msg, void *path)
{
	return put_stats(msg, path);
}

typedef int (*put_fn)(struct sk_buff *msg, struct rtrs_server_path *path);

/* The path and the statistics of a path have the same keys, under different numbers. */
static int path_get_by(struct sk_buff *msg, struct genl_info *info, struct nlattr *id, put_fn put)
{
	struct rtrs_server_path *path;
	int err = -ENOENT;

	if (!id)
		return rtrs_fail(info->extack, -EINVAL, "id of a path is needed");
	path = rtrs_server_path_next(nla_get_u32(id) - 1);
	if (path) {
		if (path->id == nla_get_u32(id))
			err = put(msg, path);
		rtrs_server_path_put(path);
	}
	if (err != -ENOENT)
		return err;
	NL_SET_BAD_ATTR(info->extack, id);
	return rtrs_fail(info->extack, -ENOENT, "no server path with id %u", nla_get_u32(id));
}

static bool path_fits(const struct rtrs_server_path *path, struct nlattr *session_id,
		      struct nlattr *session_name)
{
	if (session_id && nla_get_u32(session_id) != path->session->id)
		return false;
	return !session_name || !nla_strcmp(session_name, path->session->name);
}

static int one_path_get(struct sk_buff *msg, struct genl_info *info)
{
	return path_get_by(msg, info, info->attrs[RNBD_A_PATH_ID], put_path);
}

static int path_dump(struct sk_buff *skb, struct netlink_callback *cb, struct nlattr **attrs,
		     u32 *cursor)
{
	struct nlattr *session_id = attrs ? attrs[RNBD_A_PATH_SESSION_ID] : NULL;
	struct nlattr *session_name = attrs ? attrs[RNBD_A_PATH_SESSION_NAME] : NULL;
	struct rtrs_server_path *path;
	int err = 0;

	while (!err && (path = rtrs_server_path_next(*cursor))) {
		if (path_fits(path, session_id, session_name)) {
			void *hdr = rtrs_nl_dump_begin(skb, cb, RNBD_CMD_PATH_GET);

			err = hdr ? put_path(skb, path) : -EMSGSIZE;
			if (!err)
				rtrs_nl_dump_end(skb, cb, hdr);
			else if (hdr)
				genlmsg_cancel(skb, hdr);
		}
		if (!err)
			*cursor = path->id;
		rtrs_server_path_put(path);
	}
	return err;
}

static int path_disconnect(struct sk_buff *msg, struct genl_info *info)
{
	struct nlattr *id = info->attrs[RNBD_A_PATH_ID];
	struct rtrs_server_path *path;
	int err = -ENOENT;

	if (!id)
		return rtrs_fail(info->extack, -EINVAL, "id of a path is needed");
	path = rtrs_server_path_next(nla_get_u32(id) - 1);
	if (path && path->id == nla_get_u32(id)) {
		rtrs_server_path_close(path, -ECONNABORTED);
		err = rtrs_server_path_wait(path);
		if (err)
			rtrs_fail(info->extack, err, "interrupted; the path goes on closing");
		else
			err = put_path(msg, path);
	}
	if (path)
		rtrs_server_path_put(path);
	if (err != -ENOENT)
		return err;
	NL_SET_BAD_ATTR(info->extack, id);
	return rtrs_fail(info->extack, err, "no server path with id %u", nla_get_u32(id));
}

static int stats_get(struct sk_buff *msg, struct genl_info *info)
{
	return path_get_by(msg, info, info->attrs[RNBD_A_STATS_PATH_ID], put_stats);
}

static int stats_dump(struct sk_buff *skb, struct netlink_callback *cb, struct nlattr **attrs,
		      u32 *cursor)
{
	struct nlattr *session_id = attrs ? attrs[RNBD_A_STATS_SESSION_ID] : NULL;
	struct nlattr *session_name = attrs ? attrs[RNBD_A_STATS_SESSION_NAME] : NULL;
	struct rtrs_server_path *path;
	u32 last = *cursor;
	int err = 0;

	while (!err && (path = rtrs_server_path_next(last))) {
		const struct rtrs_nl_stats stats = {
			.id	= path->id,
			.path	= path,
			.totals	= put_totals,
			.cpu	= put_cpu_stats,
		};

		if (path_fits(path, session_id, session_name))
			err = rtrs_nl_dump_stats(skb, cb, &stats, cursor);
		last = path->id;
		rtrs_server_path_put(path);
	}
	return err;
}

static int stats_reset(struct genl_info *info)
{
	struct nlattr *groups = info->attrs[RNBD_A_STATS_GROUPS];
	struct nlattr *id = info->attrs[RNBD_A_STATS_PATH_ID];
	struct nlattr *session_id = info->attrs[RNBD_A_STATS_SESSION_ID];
	struct nlattr *session_name = info->attrs[RNBD_A_STATS_SESSION_NAME];
	struct rtrs_server_path *path;
	u32 cursor = 0;
	bool any = false;

	while ((path = rtrs_server_path_next(cursor))) {
		if ((!id || nla_get_u32(id) == path->id) &&
		    path_fits(path, session_id, session_name)) {
			rtrs_server_stats_reset(path, groups ? nla_get_u32(groups) : ~0U);
			any = true;
		}
		cursor = path->id;
		rtrs_server_path_put(path);
	}
	if (any || (!id && !session_id && !session_name))
		return 0;
	NL_SET_BAD_ATTR(info->extack, id ?: session_id ?: session_name);
	return rtrs_fail(info->extack, -ENOENT, "no such server path");
}

static int put_port(struct sk_buff *msg, const struct rtrs_server_port *port)
{
	if (nla_put_string(msg, RNBD_A_PORT_HCA_NAME, port->hca) ||
	    nla_put_u32(msg, RNBD_A_PORT_HCA_PORT, port->number) ||
	    (port->has_gid &&
	     nla_put(msg, RNBD_A_PORT_GID, sizeof(port->gid), &port->gid)) ||
	    nla_put_u32(msg, RNBD_A_PORT_LISTENING_PORT, port->listens) ||
	    nla_put_u8(msg, RNBD_A_PORT_DRAINED, port->drained) ||
	    nla_put_u32(msg, RNBD_A_PORT_GENERATION, rtrs_nl_generation()))
		return -EMSGSIZE;
	return 0;
}

/**
 * struct port_query - a get or a dump of ports under way
 * @msg: to fill
 * @cb: of the dump
 * @hca: wanted
 * @number: wanted
 * @cursor: how many were put, by the dump
 */
struct port_query {
	struct sk_buff *msg;
	struct netlink_callback *cb;
	const char *hca;
	u32 number;
	u32 *cursor;
};

static int get_port(const struct rtrs_server_port *port, void *arg)
{
	const struct port_query *query = arg;

	if (port->number != query->number || strcmp(port->hca, query->hca))
		return 0;
	return put_port(query->msg, port) ?: 1;
}

static int port_missing(struct genl_info *info)
{
	if (GENL_REQ_ATTR_CHECK(info, RNBD_A_PORT_HCA_NAME) ||
	    GENL_REQ_ATTR_CHECK(info, RNBD_A_PORT_HCA_PORT))
		return rtrs_fail(info->extack, -EINVAL,
				 "an RDMA device and the number of its port are needed");
	return 0;
}

static int no_port(struct genl_info *info, int err)
{
	if (err == -EINTR)
		return rtrs_fail(info->extack, err,
				 "interrupted; the port is drained, its paths go on closing");
	if (err != -ENOENT)
		return err;
	NL_SET_BAD_ATTR(info->extack, info->attrs[RNBD_A_PORT_HCA_NAME]);
	return rtrs_fail(info->extack, err, "no RDMA device '%.32s' with a port %u is listened on",
			 (char *)nla_data(info->attrs[RNBD_A_PORT_HCA_NAME]),
			 nla_get_u32(info->attrs[RNBD_A_PORT_HCA_PORT]));
}

static int port_get(struct sk_buff *msg, struct genl_info *info)
{
	struct port_query query = { .msg = msg };
	int err = port_missing(info);

	if (err)
		return err;
	query.hca = nla_data(info->attrs[RNBD_A_PORT_HCA_NAME]);
	query.number = nla_get_u32(info->attrs[RNBD_A_PORT_HCA_PORT]);
	err = rtrs_server_port_walk(0, get_port, &query);
	if (err > 0)
		return 0;
	return no_port(info, err ?: -ENOENT);
}

static int port_drain(struct sk_buff *msg, struct genl_info *info)
{
	int err = port_missing(info);

	if (err)
		return err;
	err = rtrs_server_port_drain(nla_data(info->attrs[RNBD_A_PORT_HCA_NAME]),
				     nla_get_u32(info->attrs[RNBD_A_PORT_HCA_PORT]),
				     nla_get_flag(info->attrs[RNBD_A_PORT_FORCE]), info->extack);
	return err ? no_port(info, err) : port_get(msg, info);
}

static int port_undrain(struct sk_buff *msg, struct genl_info *info)
{
	int err = port_missing(info);

	if (err)
		return err;
	err = rtrs_server_port_undrain(nla_data(info->attrs[RNBD_A_PORT_HCA_NAME]),
				       nla_get_u32(info->attrs[RNBD_A_PORT_HCA_PORT]));
	return err ? no_port(info, err) : port_get(msg, info);
}

static int dump_port(const struct rtrs_server_port *port, void *arg)
{
	const struct port_query *query = arg;
	void *hdr = rtrs_nl_dump_begin(query->msg, query->cb, RNBD_CMD_PORT_GET);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	err = put_port(query->msg, port);
	if (err) {
		genlmsg_cancel(query->msg, hdr);
		return err;
	}
	rtrs_nl_dump_end(query->msg, query->cb, hdr);
	++*query->cursor;
	return 0;
}

static int port_dump(struct sk_buff *skb, struct netlink_callback *cb, struct nlattr **attrs,
		     u32 *cursor)
{
	struct port_query query = { .msg = skb, .cb = cb, .cursor = cursor };

	return rtrs_server_port_walk(*cursor, dump_port, &query);
}

static const struct rtrs_nl_cmd cmds[] = {
	{ .cmd = RNBD_CMD_SESSION_GET, .get = session_get, .dump = session_dump },
	{ .cmd = RNBD_CMD_SESSION_DISCONNECT, .act = session_disconnect },
	{ .cmd = RNBD_CMD_PATH_GET, .get = one_path_get, .dump = path_dump },
	{ .cmd = RNBD_CMD_PATH_DISCONNECT, .get = path_disconnect },
	{ .cmd = RNBD_CMD_PORT_GET, .get = port_get, .dump = port_dump },
	{ .cmd = RNBD_CMD_PORT_DRAIN, .get = port_drain },
	{ .cmd = RNBD_CMD_PORT_UNDRAIN, .get = port_undrain },
	{ .cmd = RNBD_CMD_STATS_GET, .get = stats_get, .dump = stats_dump },
	{ .cmd = RNBD_CMD_STATS_RESET, .act = stats_reset },
};

static const struct rtrs_nl_provider provider = {
	.name	= "rtrs-server",
	.owner	= THIS_MODULE,
	.role	= RNBD_ROLE_SERVER,
	.cmds	= cmds,
	.count	= ARRAY_SIZE(cmds),
};

const struct rtrs_server_events rtrs_server_nl_events = {
	.session_event = session_event,
	.path_event = path_event,
};

int rtrs_server_nl_init(void)
{
	return rtrs_nl_register(&provider);
}

void rtrs_server_nl_exit(void)
{
	rtrs_nl_unregister(&provider);
}
