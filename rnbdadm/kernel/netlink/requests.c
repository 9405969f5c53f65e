// SPDX-License-Identifier: GPL-2.0
/* Requests that change something. */
#include "base/text.h"
#include "kernel/netlink/netlink.h"

static void on_device(const struct nlmsghdr *h, void *arg)
{
	rnl_parse_device(h, arg);
}

static void on_session(const struct nlmsghdr *h, void *arg)
{
	rnl_parse_session(h, arg);
}

static void on_path(const struct nlmsghdr *h, void *arg)
{
	rnl_parse_path(h, arg);
}

static void put_opt(struct nl_msg *msg, int attr, uint64_t v)
{
	if (v != M_UNKNOWN)
		nla_put_u32(msg, attr, (uint32_t)v);
}

static void put_addr(struct nl_msg *msg, int attr, const struct addr *a)
{
	uint8_t bin[ADDR_BIN_MAX];
	size_t len = addr_to_bin(a, bin);

	if (len)
		nla_put(msg, attr, (int)len, bin);
}

static bool has_settings(const struct session_settings *s, int first)
{
	for (int i = first; i < SET_N; i++)
		if (s->v[i] != M_UNKNOWN_INT)
			return true;
	return false;
}

/* Those from @first on, if there are any. */
static void put_settings(struct nl_msg *msg, int attr, const struct session_settings *s, int first)
{
	struct nlattr *nest;

	if (!has_settings(s, first))
		return;
	nest = nla_nest_start(msg, attr | NLA_F_NESTED);
	for (int i = first; i < SET_N; i++)
		if (s->v[i] != M_UNKNOWN_INT)
			nla_put_s32(msg, i + 1, (int32_t)s->v[i]);
	nla_nest_end(msg, nest);
}

static void put_paths(struct nl_msg *msg, int attr, const struct map_request *req)
{
	for (size_t i = 0; i < req->npaths; i++) {
		struct nlattr *nest = nla_nest_start(msg, attr | NLA_F_NESTED);

		put_addr(msg, RNBD_A_PATH_SPEC_CLIENT_ADDR, &req->paths[i].src);
		put_addr(msg, RNBD_A_PATH_SPEC_SERVER_ADDR, &req->paths[i].dst);
		nla_nest_end(msg, nest);
	}
}

static bool can_map(struct kernel *k, const struct map_request *req, struct nl_error *e)
{
	struct nl *nl = to_nl(k);

	/* modules that take settings with a map have session-add, too */
	return rnl_has_op(nl, RNBD_CMD_MAP, e) &&
	       (!has_settings(&req->set, 0) || rnl_has_op(nl, RNBD_CMD_SESSION_ADD, e));
}

static bool map(struct kernel *k, const struct map_request *req, struct device *dev,
	    struct nl_error *e)
{
	struct nl *nl = to_nl(k);
	struct nl_msg *msg;

	if (!can_map(k, req, e))
		return false;
	msg = rnl_new(nl, RNBD_CMD_MAP, 0);
	nla_put_string(msg, RNBD_A_DEVICE_SESSION_NAME, req->session);
	nla_put_string(msg, RNBD_A_DEVICE_DEVICE_PATH, req->device_path);
	put_opt(msg, RNBD_A_DEVICE_ACCESS_MODE, req->access);
	put_paths(msg, RNBD_A_DEVICE_PATH, req);
	put_opt(msg, RNBD_A_DEVICE_POLL_QUEUES, req->poll_queues);
	put_opt(msg, RNBD_A_DEVICE_CONNECTIONS, req->connections);
	put_opt(msg, RNBD_A_DEVICE_MP_POLICY, req->set.mp_policy);
	put_opt(msg, RNBD_A_DEVICE_TIMEOUT_MS, req->timeout_ms);
	put_settings(msg, RNBD_A_DEVICE_SETTINGS, &req->set, 0);
	if (req->always_fua)
		nla_put_u8(msg, RNBD_A_DEVICE_ALWAYS_FUA, 1);
	put_opt(msg, RNBD_A_DEVICE_IO_MODE, req->io_mode);
	device_init(dev);
	return rnl_transact(nl, msg, on_device, dev, e);
}

#define UNMAP_MS	24000	/* of the kernel, where nothing else is said */

static uint32_t unmap_ms(int64_t limit_ms)
{
	int64_t ms = limit_ms / 5 * 4;

	return ms < 100 ? 100 : ms > 600000 ? 600000 : (uint32_t)ms;
}

static bool unmap(struct kernel *k, const struct device *dev, bool force, struct nl_error *e)
{
	struct nl *nl = to_nl(k);

	uint32_t ms = nl->k.cfg.limit_ms < 0 ? UNMAP_MS : unmap_ms(nl->k.cfg.limit_ms);
	struct nl_msg *msg;

	if (!rnl_has_op(nl, RNBD_CMD_UNMAP, e))
		return false;
	msg = rnl_new(nl, RNBD_CMD_UNMAP, 0);
	/* the id, so that a name given to another disk meanwhile is not hit */
	nla_put_u32(msg, RNBD_A_DEVICE_ID, dev->id);
	if (force)
		nla_put_flag(msg, RNBD_A_DEVICE_FORCE);
	/* the kernel is through with it before we give up; older modules know no other time */
	if (force && ms != UNMAP_MS)
		nla_put_u32(msg, RNBD_A_DEVICE_TIMEOUT_MS, ms);
	return rnl_transact(nl, msg, NULL, NULL, e);
}

static bool remap(struct kernel *k, uint32_t id, uint64_t timeout_ms, struct device *dev,
		  struct nl_error *e)
{
	struct nl *nl = to_nl(k);
	struct nl_msg *msg;

	if (!rnl_has_op(nl, RNBD_CMD_REMAP, e))
		return false;
	msg = rnl_new(nl, RNBD_CMD_REMAP, 0);
	nla_put_u32(msg, RNBD_A_DEVICE_ID, id);
	put_opt(msg, RNBD_A_DEVICE_TIMEOUT_MS, timeout_ms);
	device_init(dev);
	return rnl_transact(nl, msg, on_device, dev, e);
}

static bool resize(struct kernel *k, uint32_t id, uint64_t bytes, struct device *dev,
		   struct nl_error *e)
{
	struct nl *nl = to_nl(k);
	struct nl_msg *msg;

	if (!rnl_has_op(nl, RNBD_CMD_RESIZE, e))
		return false;
	msg = rnl_new(nl, RNBD_CMD_RESIZE, 0);
	nla_put_u32(msg, RNBD_A_DEVICE_ID, id);
	nla_put_u64(msg, RNBD_A_DEVICE_SIZE_BYTES, bytes);
	device_init(dev);
	return rnl_transact(nl, msg, on_device, dev, e);
}

static bool device_set_rw(struct kernel *k, uint32_t id, uint64_t timeout_ms, struct device *dev,
			  struct nl_error *e)
{
	struct nl *nl = to_nl(k);
	struct nl_msg *msg;

	if (!rnl_has_op(nl, RNBD_CMD_DEVICE_SET, e))
		return false;
	msg = rnl_new(nl, RNBD_CMD_DEVICE_SET, 0);
	nla_put_u32(msg, RNBD_A_DEVICE_ID, id);
	nla_put_u32(msg, RNBD_A_DEVICE_ACCESS_MODE, RNBD_ACCESS_MODE_RW);
	put_opt(msg, RNBD_A_DEVICE_TIMEOUT_MS, timeout_ms);
	device_init(dev);
	return rnl_transact(nl, msg, on_device, dev, e);
}

static bool session_set(struct kernel *k, uint32_t id, const struct session_settings *want,
			struct session *now, struct nl_error *e)
{
	struct nl *nl = to_nl(k);
	struct nl_msg *msg;

	if (!rnl_has_op(nl, RNBD_CMD_SESSION_SET, e))
		return false;
	msg = rnl_new(nl, RNBD_CMD_SESSION_SET, 0);
	nla_put_u32(msg, RNBD_A_SESSION_ID, id);
	nla_put_u32(msg, RNBD_A_SESSION_ROLE, RNBD_ROLE_CLIENT);
	put_opt(msg, RNBD_A_SESSION_MP_POLICY, want->mp_policy);
	/* modules without the nest have this one */
	if (want->v[SET_MAX_RECONNECT_ATTEMPTS] != M_UNKNOWN_INT)
		nla_put_s32(msg, RNBD_A_SESSION_MAX_RECONNECT_ATTEMPTS,
			    (int32_t)want->v[SET_MAX_RECONNECT_ATTEMPTS]);
	put_settings(msg, RNBD_A_SESSION_SETTINGS, want, SET_MAX_RECONNECT_ATTEMPTS + 1);
	session_init(now);
	return rnl_transact(nl, msg, on_session, now, e);
}

static bool session_add(struct kernel *k, const struct map_request *req, struct session *now,
			struct nl_error *e)
{
	struct nl *nl = to_nl(k);
	struct nl_msg *msg;

	if (!rnl_has_op(nl, RNBD_CMD_SESSION_ADD, e))
		return false;
	msg = rnl_new(nl, RNBD_CMD_SESSION_ADD, 0);
	nla_put_string(msg, RNBD_A_SESSION_NAME, req->session);
	put_paths(msg, RNBD_A_SESSION_PATH, req);
	put_opt(msg, RNBD_A_SESSION_CONNECTIONS, req->connections);
	put_opt(msg, RNBD_A_SESSION_POLL_QUEUES, req->poll_queues);
	put_opt(msg, RNBD_A_SESSION_TIMEOUT_MS, req->timeout_ms);
	put_opt(msg, RNBD_A_SESSION_MP_POLICY, req->set.mp_policy);
	put_settings(msg, RNBD_A_SESSION_SETTINGS, &req->set, 0);
	session_init(now);
	return rnl_transact(nl, msg, on_session, now, e);
}

/* A request that only names an object. */
static struct nl_msg *new_by_id(struct nl *nl, int cmd, int attr, uint32_t id, struct nl_error *e)
{
	struct nl_msg *msg;

	if (!rnl_has_op(nl, cmd, e))
		return NULL;
	msg = rnl_new(nl, cmd, 0);
	nla_put_u32(msg, attr, id);
	return msg;
}

static bool can_session_del(struct kernel *k, struct nl_error *e)
{
	return rnl_has_op(to_nl(k), RNBD_CMD_SESSION_DEL, e);
}

static bool session_del(struct kernel *k, uint32_t id, struct nl_error *e)
{
	struct nl *nl = to_nl(k);
	struct nl_msg *msg;

	msg = new_by_id(nl, RNBD_CMD_SESSION_DEL, RNBD_A_SESSION_ID, id, e);
	return msg && rnl_transact(nl, msg, NULL, NULL, e);
}

static bool path_add(struct kernel *k, uint32_t session_id, const struct addr_pair *pair,
		     uint64_t timeout_ms, struct path *now, struct nl_error *e)
{
	struct nl *nl = to_nl(k);
	struct nl_msg *msg;

	msg = new_by_id(nl, RNBD_CMD_PATH_ADD, RNBD_A_PATH_SESSION_ID, session_id, e);
	if (!msg)
		return false;
	put_addr(msg, RNBD_A_PATH_CLIENT_ADDR, &pair->src);
	put_addr(msg, RNBD_A_PATH_SERVER_ADDR, &pair->dst);
	put_opt(msg, RNBD_A_PATH_TIMEOUT_MS, timeout_ms);
	path_init(now);
	return rnl_transact(nl, msg, on_path, now, e);
}

static bool path_del(struct kernel *k, uint32_t id, struct nl_error *e)
{
	struct nl *nl = to_nl(k);
	struct nl_msg *msg;

	msg = new_by_id(nl, RNBD_CMD_PATH_DEL, RNBD_A_PATH_ID, id, e);
	return msg && rnl_transact(nl, msg, NULL, NULL, e);
}

static bool path_reconnect(struct kernel *k, uint32_t id, uint64_t timeout_ms, struct path *now,
			   struct nl_error *e)
{
	struct nl *nl = to_nl(k);
	struct nl_msg *msg;

	msg = new_by_id(nl, RNBD_CMD_PATH_RECONNECT, RNBD_A_PATH_ID, id, e);
	if (!msg)
		return false;
	put_opt(msg, RNBD_A_PATH_TIMEOUT_MS, timeout_ms);
	path_init(now);
	return rnl_transact(nl, msg, on_path, now, e);
}

static bool path_disconnect(struct kernel *k, uint32_t id, struct path *now, struct nl_error *e)
{
	struct nl *nl = to_nl(k);
	struct nl_msg *msg;

	msg = new_by_id(nl, RNBD_CMD_PATH_DISCONNECT, RNBD_A_PATH_ID, id, e);
	path_init(now);
	return msg && rnl_transact(nl, msg, on_path, now, e);
}

static bool export_close(struct kernel *k, uint32_t id, struct nl_error *e)
{
	struct nl *nl = to_nl(k);
	struct nl_msg *msg;

	msg = new_by_id(nl, RNBD_CMD_EXPORT_CLOSE, RNBD_A_EXPORT_ID, id, e);
	return msg && rnl_transact(nl, msg, NULL, NULL, e);
}

static bool session_disconnect(struct kernel *k, uint32_t id, struct nl_error *e)
{
	struct nl *nl = to_nl(k);
	struct nl_msg *msg;

	if (!rnl_has_op(nl, RNBD_CMD_SESSION_DISCONNECT, e))
		return false;
	msg = rnl_new(nl, RNBD_CMD_SESSION_DISCONNECT, 0);
	nla_put_u32(msg, RNBD_A_SESSION_ID, id);
	nla_put_u32(msg, RNBD_A_SESSION_ROLE, RNBD_ROLE_SERVER);
	return rnl_transact(nl, msg, NULL, NULL, e);
}

/* What export-revalidate answers. */
struct revalidated {
	struct export *now;
	enum m_reach *reach;
};

static void on_revalidated(const struct nlmsghdr *h, void *arg)
{
	const struct revalidated *r = arg;

	rnl_parse_revalidated(h, r->now, r->reach);
}

static bool export_revalidate(struct kernel *k, uint32_t id, uint64_t timeout_ms,
			      struct export *now,
			      enum m_reach *reach, struct nl_error *e)
{
	struct nl *nl = to_nl(k);
	struct nl_msg *msg;
	struct revalidated r = { now, reach };

	msg = new_by_id(nl, RNBD_CMD_EXPORT_REVALIDATE, RNBD_A_EXPORT_ID, id, e);
	if (!msg)
		return false;
	put_opt(msg, RNBD_A_EXPORT_TIMEOUT_MS, timeout_ms);
	export_init(now);
	*reach = REACH_NO_ANSWER;
	return rnl_transact(nl, msg, on_revalidated, &r, e);
}

static bool on_port(struct nl *nl, int cmd, const struct port *p, bool force, struct nl_error *e)
{
	struct nl_msg *msg;

	if (!rnl_has_op(nl, cmd, e))
		return false;
	msg = rnl_new(nl, cmd, 0);
	nla_put_string(msg, RNBD_A_PORT_HCA_NAME, p->hca);
	put_opt(msg, RNBD_A_PORT_HCA_PORT, p->number);
	if (force)
		nla_put_flag(msg, RNBD_A_PORT_FORCE);
	return rnl_transact(nl, msg, NULL, NULL, e);
}

static bool port_drain(struct kernel *k, const struct port *p, bool force, struct nl_error *e)
{
	return on_port(to_nl(k), RNBD_CMD_PORT_DRAIN, p, force, e);
}

static bool port_undrain(struct kernel *k, const struct port *p, struct nl_error *e)
{
	return on_port(to_nl(k), RNBD_CMD_PORT_UNDRAIN, p, false, e);
}

static bool stats_reset(struct kernel *k, const struct nl_stats_reset *r, struct nl_error *e)
{
	struct nl *nl = to_nl(k);
	struct nl_msg *msg;

	if (!rnl_has_op(nl, RNBD_CMD_STATS_RESET, e))
		return false;
	msg = rnl_new(nl, RNBD_CMD_STATS_RESET, 0);
	if (r->path_id)
		nla_put_u32(msg, RNBD_A_STATS_PATH_ID, r->path_id);
	else if (r->session_id)
		nla_put_u32(msg, RNBD_A_STATS_SESSION_ID, r->session_id);
	nla_put_u32(msg, RNBD_A_STATS_ROLE,
		    r->role == M_SERVER ? RNBD_ROLE_SERVER : RNBD_ROLE_CLIENT);
	if (r->groups)
		nla_put_u32(msg, RNBD_A_STATS_GROUPS, r->groups);
	return rnl_transact(nl, msg, NULL, NULL, e);
}

const struct kernel_ops netlink_ops = {
	.close = netlink_close, .snapshot = netlink_snapshot,
	.listen = netlink_listen, .has_group = netlink_has_group, .next_event = netlink_next_event,
	.events = netlink_events, .can_map = can_map, .map = map, .unmap = unmap, .remap = remap,
	.resize = resize, .device_set_rw = device_set_rw, .session_set = session_set,
	.session_add = session_add, .session_del = session_del, .can_session_del = can_session_del,
	.path_add = path_add, .path_del = path_del, .path_reconnect = path_reconnect,
	.path_disconnect = path_disconnect, .export_close = export_close,
	.session_disconnect = session_disconnect, .export_revalidate = export_revalidate,
	.port_drain = port_drain, .port_undrain = port_undrain, .access = netlink_access,
	.stats_reset = stats_reset,
};
