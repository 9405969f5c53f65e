// SPDX-License-Identifier: GPL-2.0
/* Dumps of the family into the model. An attribute too short is unknown. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "kernel/netlink/get.h"
#include "kernel/netlink/netlink.h"

static bool parse(const struct nlmsghdr *h, struct nlattr **tb)
{
	return nla_parse(tb, ATTR_MAX,
			 (struct nlattr *)((char *)h + NLMSG_HDRLEN + GENL_HDRLEN),
			 (int)h->nlmsg_len - (NLMSG_HDRLEN + GENL_HDRLEN), NULL) >= 0;
}

/* One more element of a list. */
static void *grow(void *v, size_t *n, size_t size)
{
	return xgrow(v, (*n)++, size);
}

static bool is_signed(int setting)
{
	return setting == SET_MAX_RECONNECT_ATTEMPTS || setting == SET_NO_PATH_TIMEOUT_MS;
}

_Static_assert((int)RNBD_A_SETTINGS_LOST_WRITES == (int)SET_N &&
	       (int)RNBD_A_SETTINGS_MAX == (int)SET_N, "settings have the order of their attributes");

static void parse_settings(struct nlattr *nest, struct session_settings *s)
{
	struct nlattr *tb[RNBD_A_SETTINGS_MAX + 1];

	if (nla_parse_nested(tb, RNBD_A_SETTINGS_MAX, nest, NULL) < 0)
		return;
	for (int i = 0; i < SET_N; i++) {
		struct nlattr *a = tb[i + 1];

		if (a && nla_len(a) >= 4)
			s->v[i] = is_signed(i) ? nla_get_s32(a) : (int64_t)nla_get_u32(a);
	}
}

static void parse_session(struct nlattr **tb, struct session *s)
{
	session_init(s);
	s->id = get_id(tb[RNBD_A_SESSION_ID]);
	s->generation = get_id(tb[RNBD_A_SESSION_GENERATION]);
	GET_STR(tb[RNBD_A_SESSION_NAME], s->name);
	s->role = get_u32(tb[RNBD_A_SESSION_ROLE]);
	s->state = get_u32(tb[RNBD_A_SESSION_STATE]);
	s->set.mp_policy = get_u32(tb[RNBD_A_SESSION_MP_POLICY]);
	if (tb[RNBD_A_SESSION_SETTINGS])
		parse_settings(tb[RNBD_A_SESSION_SETTINGS], &s->set);
	/* modules without the nest have this one */
	s->set.v[SET_MAX_RECONNECT_ATTEMPTS] =
		get_s32(tb[RNBD_A_SESSION_MAX_RECONNECT_ATTEMPTS],
			s->set.v[SET_MAX_RECONNECT_ATTEMPTS]);
	s->poll_queues = get_u32(tb[RNBD_A_SESSION_POLL_QUEUES]);
	s->held = get_u8(tb[RNBD_A_SESSION_HELD]);
	s->removing = get_u8(tb[RNBD_A_SESSION_REMOVING]) == 1;
	s->queue_depth = get_u32(tb[RNBD_A_SESSION_QUEUE_DEPTH]);
	s->max_io_bytes = get_u32(tb[RNBD_A_SESSION_MAX_IO_BYTES]);
	s->paths_connected = get_u32(tb[RNBD_A_SESSION_PATHS_CONNECTED]);
	s->paths_configured = get_u32(tb[RNBD_A_SESSION_PATHS_CONFIGURED]);
	s->devices = get_u32(tb[RNBD_A_SESSION_DEVICES]);
	s->pinned_bytes = get_u64(tb[RNBD_A_SESSION_PINNED_BYTES]);
	s->pinned_max_bytes = get_u64(tb[RNBD_A_SESSION_PINNED_MAX_BYTES]);
	GET_STR(tb[RNBD_A_SESSION_PEER_NAME], s->peer);
}

static void on_session(const struct nlmsghdr *h, void *arg)
{
	struct session_list *l = arg;
	struct nlattr *tb[ATTR_MAX + 1];

	if (!parse(h, tb))
		return;
	l->v = grow(l->v, &l->n, sizeof(*l->v));
	parse_session(tb, &l->v[l->n - 1]);
}

void rnl_parse_session(const struct nlmsghdr *h, struct session *s)
{
	struct nlattr *tb[ATTR_MAX + 1];

	if (parse(h, tb))
		parse_session(tb, s);
}

static void parse_path(struct nlattr **tb, struct path *p)
{
	path_init(p);
	p->id = get_id(tb[RNBD_A_PATH_ID]);
	p->session_id = get_id(tb[RNBD_A_PATH_SESSION_ID]);
	p->generation = get_id(tb[RNBD_A_PATH_GENERATION]);
	GET_STR(tb[RNBD_A_PATH_SESSION_NAME], p->session);
	GET_STR(tb[RNBD_A_PATH_NAME], p->name);
	GET_STR(tb[RNBD_A_PATH_HCA_NAME], p->hca);
	get_addr(tb[RNBD_A_PATH_CLIENT_ADDR], &p->client);
	get_addr(tb[RNBD_A_PATH_SERVER_ADDR], &p->server);
	p->role = get_u32(tb[RNBD_A_PATH_ROLE]);
	p->state = get_u32(tb[RNBD_A_PATH_STATE]);
	p->removing = get_u8(tb[RNBD_A_PATH_REMOVING]) == 1;
	p->hca_port = get_u32(tb[RNBD_A_PATH_HCA_PORT]);
	p->connections = get_u32(tb[RNBD_A_PATH_CONNECTIONS]);
	p->reconnect_attempts = get_u32(tb[RNBD_A_PATH_RECONNECT_ATTEMPTS]);
	p->last_error = get_s32(tb[RNBD_A_PATH_LAST_ERROR], 0);
	p->heartbeat_ns = get_u64(tb[RNBD_A_PATH_HEARTBEAT_LATENCY_NS]);
	p->since_ns = get_u64(tb[RNBD_A_PATH_SINCE_NS]);
}

static void on_path(const struct nlmsghdr *h, void *arg)
{
	struct path_list *l = arg;
	struct nlattr *tb[ATTR_MAX + 1];
	struct path *p;

	if (!parse(h, tb))
		return;
	l->v = grow(l->v, &l->n, sizeof(*l->v));
	p = &l->v[l->n - 1];
	parse_path(tb, p);
	/* one that is down waits until it is asked for; this one does not */
	if (p->removing && p->state == RNBD_PATH_STATE_DISCONNECTED)
		p->state = RNBD_PATH_STATE_CLOSING;
}

void rnl_parse_path(const struct nlmsghdr *h, struct path *p)
{
	struct nlattr *tb[ATTR_MAX + 1];

	if (parse(h, tb))
		parse_path(tb, p);
}

static void parse_device(struct nlattr **tb, struct device *d)
{
	device_init(d);
	d->id = get_id(tb[RNBD_A_DEVICE_ID]);
	d->session_id = get_id(tb[RNBD_A_DEVICE_SESSION_ID]);
	d->generation = get_id(tb[RNBD_A_DEVICE_GENERATION]);
	GET_STR(tb[RNBD_A_DEVICE_NAME], d->name);
	GET_STR(tb[RNBD_A_DEVICE_SESSION_NAME], d->session);
	GET_STR(tb[RNBD_A_DEVICE_DEVICE_PATH], d->device_path);
	d->major = get_u32(tb[RNBD_A_DEVICE_MAJOR]);
	d->minor = get_u32(tb[RNBD_A_DEVICE_MINOR]);
	d->access = get_u32(tb[RNBD_A_DEVICE_ACCESS_MODE]);
	d->state = get_u32(tb[RNBD_A_DEVICE_STATE]);
	d->size_bytes = get_u64(tb[RNBD_A_DEVICE_SIZE_BYTES]);
	d->logical_block = get_u32(tb[RNBD_A_DEVICE_LOGICAL_BLOCK_BYTES]);
	d->physical_block = get_u32(tb[RNBD_A_DEVICE_PHYSICAL_BLOCK_BYTES]);
	d->read_only = get_u8(tb[RNBD_A_DEVICE_READ_ONLY]);
	d->write_cache = get_u8(tb[RNBD_A_DEVICE_WRITE_CACHE]);
	d->fua = get_u8(tb[RNBD_A_DEVICE_FUA]);
	d->always_fua = get_u8(tb[RNBD_A_DEVICE_ALWAYS_FUA]);
	d->write_losses = get_u32(tb[RNBD_A_DEVICE_WRITE_LOSSES]);
	d->io_mode = get_u32(tb[RNBD_A_DEVICE_IO_MODE]);
	d->poll_queues = get_u32(tb[RNBD_A_DEVICE_POLL_QUEUES]);
	d->hw_queues = get_u32(tb[RNBD_A_DEVICE_HW_QUEUES]);
	d->open_count = get_u32(tb[RNBD_A_DEVICE_OPEN_COUNT]);
	d->last_error = get_s32(tb[RNBD_A_DEVICE_LAST_ERROR], 0);
}

static void on_device(const struct nlmsghdr *h, void *arg)
{
	struct device_list *l = arg;
	struct nlattr *tb[ATTR_MAX + 1];

	if (!parse(h, tb))
		return;
	l->v = grow(l->v, &l->n, sizeof(*l->v));
	parse_device(tb, &l->v[l->n - 1]);
}

void rnl_parse_device(const struct nlmsghdr *h, struct device *d)
{
	struct nlattr *tb[ATTR_MAX + 1];

	if (parse(h, tb))
		parse_device(tb, d);
}

static void parse_export(struct nlattr **tb, struct export *e)
{
	export_init(e);
	e->id = get_id(tb[RNBD_A_EXPORT_ID]);
	e->session_id = get_id(tb[RNBD_A_EXPORT_SESSION_ID]);
	e->generation = get_id(tb[RNBD_A_EXPORT_GENERATION]);
	GET_STR(tb[RNBD_A_EXPORT_NAME], e->name);
	GET_STR(tb[RNBD_A_EXPORT_SESSION_NAME], e->session);
	GET_STR(tb[RNBD_A_EXPORT_DEVICE_PATH], e->device_path);
	e->major = get_u32(tb[RNBD_A_EXPORT_MAJOR]);
	e->minor = get_u32(tb[RNBD_A_EXPORT_MINOR]);
	e->access = get_u32(tb[RNBD_A_EXPORT_ACCESS_MODE]);
	e->size_bytes = get_u64(tb[RNBD_A_EXPORT_SIZE_BYTES]);
	e->logical_block = get_u32(tb[RNBD_A_EXPORT_LOGICAL_BLOCK_BYTES]);
	e->read_only = get_u8(tb[RNBD_A_EXPORT_READ_ONLY]);
	e->since_ns = get_u64(tb[RNBD_A_EXPORT_SINCE_NS]);
	e->told_bytes = get_u64(tb[RNBD_A_EXPORT_TOLD_BYTES]);
	GET_STR(tb[RNBD_A_EXPORT_PEER_NAME], e->peer);
	GET_STR(tb[RNBD_A_EXPORT_EXPORT_NAME], e->listed);
	e->io_mode = get_u32(tb[RNBD_A_EXPORT_IO_MODE]);
}

static void on_export(const struct nlmsghdr *h, void *arg)
{
	struct export_list *l = arg;
	struct nlattr *tb[ATTR_MAX + 1];

	if (!parse(h, tb))
		return;
	l->v = grow(l->v, &l->n, sizeof(*l->v));
	parse_export(tb, &l->v[l->n - 1]);
}

void rnl_parse_revalidated(const struct nlmsghdr *h, struct export *now, enum m_reach *reach)
{
	struct nlattr *tb[ATTR_MAX + 1];

	if (!parse(h, tb))
		return;
	parse_export(tb, now);
	*reach = get_u32(tb[RNBD_A_EXPORT_REACH]);
}

static void on_port(const struct nlmsghdr *h, void *arg)
{
	struct port_list *l = arg;
	struct nlattr *tb[ATTR_MAX + 1], *gid;
	struct port *p;

	if (!parse(h, tb))
		return;
	l->v = grow(l->v, &l->n, sizeof(*l->v));
	p = &l->v[l->n - 1];
	port_init(p);
	p->generation = get_id(tb[RNBD_A_PORT_GENERATION]);
	GET_STR(tb[RNBD_A_PORT_HCA_NAME], p->hca);
	p->number = get_u32(tb[RNBD_A_PORT_HCA_PORT]);
	p->listening_port = get_u32(tb[RNBD_A_PORT_LISTENING_PORT]);
	p->drained = get_u8(tb[RNBD_A_PORT_DRAINED]);
	gid = tb[RNBD_A_PORT_GID];
	if (gid && nla_len(gid) == sizeof(p->gid.raw)) {
		p->gid.family = ADDR_GID;
		memcpy(p->gid.raw, nla_data(gid), sizeof(p->gid.raw));
	}
}

bool rnl_parse_event(const struct nlmsghdr *h, struct nl_event *ev)
{
	const struct genlmsghdr *g = NLMSG_DATA(h);
	struct nlattr *tb[ATTR_MAX + 1];

	memset(ev, 0, sizeof(*ev));
	if (!parse(h, tb))
		return false;
	switch (g->cmd) {
	case RNBD_CMD_SESSION_NTF:
		ev->kind = NL_IS_SESSION;
		ev->edge = get_u32(tb[RNBD_A_SESSION_EVENT]);
		ev->old_state = get_u32(tb[RNBD_A_SESSION_OLD_STATE]);
		parse_session(tb, &ev->session);
		return ev->session.id;
	case RNBD_CMD_PATH_NTF:
		ev->kind = NL_IS_PATH;
		ev->edge = get_u32(tb[RNBD_A_PATH_EVENT]);
		ev->old_state = get_u32(tb[RNBD_A_PATH_OLD_STATE]);
		parse_path(tb, &ev->path);
		return ev->path.id;
	case RNBD_CMD_DEVICE_NTF:
		ev->kind = NL_IS_DEVICE;
		ev->edge = get_u32(tb[RNBD_A_DEVICE_EVENT]);
		ev->old_state = get_u32(tb[RNBD_A_DEVICE_OLD_STATE]);
		parse_device(tb, &ev->device);
		return ev->device.id;
	case RNBD_CMD_EXPORT_NTF:
		ev->kind = NL_IS_EXPORT;
		ev->edge = get_u32(tb[RNBD_A_EXPORT_EVENT]);
		ev->old_state = M_UNKNOWN;
		parse_export(tb, &ev->export);
		return ev->export.id;
	case RNBD_CMD_ACCESS_NTF:
		ev->kind = NL_IS_ACCESS;
		ev->access = rnl_parse_access(h);
		return true;
	default:
		return false;
	}
}

/* The attributes of either set that are distributions. */
struct distribution_attrs {
	int completions, polls, completions_max, read_max, write_max, latency, sg;
};

static const struct distribution_attrs of_path = {
	RNBD_A_STATS_COMPLETIONS, RNBD_A_STATS_POLLS, RNBD_A_STATS_COMPLETIONS_MAX,
	RNBD_A_STATS_READ_LATENCY_MAX_NS, RNBD_A_STATS_WRITE_LATENCY_MAX_NS,
	RNBD_A_STATS_LATENCY, RNBD_A_STATS_SG,
};

static const struct distribution_attrs of_cpu = {
	RNBD_A_CPU_STATS_COMPLETIONS, RNBD_A_CPU_STATS_POLLS, RNBD_A_CPU_STATS_COMPLETIONS_MAX,
	RNBD_A_CPU_STATS_READ_LATENCY_MAX_NS, RNBD_A_CPU_STATS_WRITE_LATENCY_MAX_NS,
	RNBD_A_CPU_STATS_LATENCY, RNBD_A_CPU_STATS_SG,
};

/* A bucket may come once only. */
static void add_latency(struct distributions *d, struct nlattr *nest)
{
	struct nlattr *tb[RNBD_A_LATENCY_BUCKET_MAX + 1];
	size_t i;

	if (nla_parse_nested(tb, RNBD_A_LATENCY_BUCKET_MAX, nest, NULL) < 0)
		return;
	i = latency_bucket(get_u64(tb[RNBD_A_LATENCY_BUCKET_LE_NS]));
	d->latency[M_READ][i] = get_u64(tb[RNBD_A_LATENCY_BUCKET_READ_IOS]);
	d->latency[M_WRITE][i] = get_u64(tb[RNBD_A_LATENCY_BUCKET_WRITE_IOS]);
}

static void add_sg(struct distributions *d, struct nlattr *nest)
{
	struct nlattr *tb[RNBD_A_SG_BUCKET_MAX + 1];

	if (nla_parse_nested(tb, RNBD_A_SG_BUCKET_MAX, nest, NULL) < 0)
		return;
	d->sg[sg_bucket(get_u32(tb[RNBD_A_SG_BUCKET_ENTRIES]))] =
		get_u64(tb[RNBD_A_SG_BUCKET_IOS]);
}

/* @head: the first attribute, of @len bytes with those behind it. */
static void parse_distributions(struct nlattr **tb, struct nlattr *head, int len,
				const struct distribution_attrs *of, struct distributions *d)
{
	struct nlattr *a;
	int rem;

	distributions_init(d);
	d->completions = get_u64(tb[of->completions]);
	d->polls = get_u64(tb[of->polls]);
	d->completions_max = get_u64(tb[of->completions_max]);
	d->max_ns[M_READ] = get_u64(tb[of->read_max]);
	d->max_ns[M_WRITE] = get_u64(tb[of->write_max]);
	d->counted = tb[of->read_max];
	nla_for_each_attr(a, head, len, rem) {
		if (nla_type(a) == of->latency)
			add_latency(d, a);
		else if (nla_type(a) == of->sg)
			add_sg(d, a);
	}
}

static void add_cpu(struct stats *s, struct nlattr *nest)
{
	struct nlattr *tb[RNBD_A_CPU_STATS_MAX + 1];
	struct cpu_counters *c;

	if (nla_parse_nested(tb, RNBD_A_CPU_STATS_MAX, nest, NULL) < 0)
		return;
	s->cpu = grow(s->cpu, &s->ncpus, sizeof(*s->cpu));
	c = &s->cpu[s->ncpus - 1];
	c->cpu = get_u32(tb[RNBD_A_CPU_STATS_CPU]);
	c->read_ios = get_u64(tb[RNBD_A_CPU_STATS_READ_IOS]);
	c->read_bytes = get_u64(tb[RNBD_A_CPU_STATS_READ_BYTES]);
	c->write_ios = get_u64(tb[RNBD_A_CPU_STATS_WRITE_IOS]);
	c->write_bytes = get_u64(tb[RNBD_A_CPU_STATS_WRITE_BYTES]);
	c->failovers = get_u64(tb[RNBD_A_CPU_STATS_FAILOVERS]);
	c->migrations_from = get_u64(tb[RNBD_A_CPU_STATS_MIGRATIONS_FROM]);
	c->migrations_to = get_u64(tb[RNBD_A_CPU_STATS_MIGRATIONS_TO]);
	c->inflight = get_u32(tb[RNBD_A_CPU_STATS_INFLIGHT]);
	parse_distributions(tb, nla_data(nest), nla_len(nest), &of_cpu, &c->d);
}

static void add_cpus(struct stats *s, const struct nlmsghdr *h)
{
	struct nlattr *a;
	int rem;

	/* the multi-attribute appears many times; nla_parse keeps one */
	nlmsg_for_each_attr(a, (struct nlmsghdr *)h, GENL_HDRLEN, rem)
		if (nla_type(a) == RNBD_A_STATS_CPU)
			add_cpu(s, a);
}

static void on_stats(const struct nlmsghdr *h, void *arg)
{
	struct stats_list *l = arg;
	struct nlattr *tb[ATTR_MAX + 1];
	struct stats *s;

	if (!parse(h, tb))
		return;
	/* the rest of the path before, whose CPUs did not fit */
	if (l->n && !tb[RNBD_A_STATS_PATH_NAME] &&
	    l->v[l->n - 1].path_id == get_id(tb[RNBD_A_STATS_PATH_ID])) {
		add_cpus(&l->v[l->n - 1], h);
		return;
	}
	l->v = grow(l->v, &l->n, sizeof(*l->v));
	s = &l->v[l->n - 1];
	stats_init(s);
	s->path_id = get_id(tb[RNBD_A_STATS_PATH_ID]);
	s->session_id = get_id(tb[RNBD_A_STATS_SESSION_ID]);
	s->generation = get_id(tb[RNBD_A_STATS_GENERATION]);
	GET_STR(tb[RNBD_A_STATS_PATH_NAME], s->path);
	GET_STR(tb[RNBD_A_STATS_SESSION_NAME], s->session);
	GET_STR(tb[RNBD_A_STATS_HCA_NAME], s->hca);
	s->role = get_u32(tb[RNBD_A_STATS_ROLE]);
	s->hca_port = get_u32(tb[RNBD_A_STATS_HCA_PORT]);
	s->heartbeat_ns = get_u64(tb[RNBD_A_STATS_HEARTBEAT_LATENCY_NS]);
	s->c.read_ios = get_u64(tb[RNBD_A_STATS_READ_IOS]);
	s->c.read_bytes = get_u64(tb[RNBD_A_STATS_READ_BYTES]);
	s->c.write_ios = get_u64(tb[RNBD_A_STATS_WRITE_IOS]);
	s->c.write_bytes = get_u64(tb[RNBD_A_STATS_WRITE_BYTES]);
	s->c.inflight = get_u32(tb[RNBD_A_STATS_INFLIGHT]);
	/* a count that went below zero says nothing */
	if (s->c.inflight > INT32_MAX)
		s->c.inflight = M_UNKNOWN;
	s->c.failovers = get_u64(tb[RNBD_A_STATS_FAILOVERS]);
	s->c.reconnects_ok = get_u64(tb[RNBD_A_STATS_RECONNECTS_OK]);
	s->c.reconnects_failed = get_u64(tb[RNBD_A_STATS_RECONNECTS_FAILED]);
	parse_distributions(tb, nlmsg_attrdata((struct nlmsghdr *)h, GENL_HDRLEN),
			    nlmsg_attrlen(h, GENL_HDRLEN), &of_path, &s->d);
	add_cpus(s, h);
}

bool rnl_has_op(const struct nl *nl, int cmd, struct nl_error *e)
{
	if (!nl->ops || (nl->ops & (1ULL << cmd)))
		return true;
	memset(e, 0, sizeof(*e));
	e->kind = NL_FAIL_NO_OP;
	e->err = EOPNOTSUPP;
	return false;
}

/* What a dump asks for, and where its answers go. */
struct dump_of {
	int cmd;
	int role_attr;
	void (*cb)(const struct nlmsghdr *h, void *arg);
	void *list;
};

/* What the dumps of one snapshot say of themselves. */
struct said {
	bool torn;
	char warning[sizeof(((struct nl_error *)0)->warning)];
};

static bool dump(struct nl *nl, const struct dump_of *d, enum m_role role, struct said *said,
		 struct nl_error *e)
{
	struct nl_msg *msg;

	if (!rnl_has_op(nl, d->cmd, e))
		return false;
	msg = rnl_new(nl, d->cmd, NLM_F_DUMP);
	if (d->role_attr)
		nla_put_u32(msg, d->role_attr,
			    role == M_SERVER ? RNBD_ROLE_SERVER : RNBD_ROLE_CLIENT);
	if (!rnl_transact(nl, msg, d->cb, d->list, e))
		return false;
	said->torn |= nl->interrupted;
	if (*e->warning)
		memcpy(said->warning, e->warning, sizeof(said->warning));
	return true;
}

static bool list_or_skip(bool ok, bool optional, const struct nl_error *e)
{
	return ok || (optional && e->kind == NL_FAIL_KERNEL && e->err == EOPNOTSUPP) ||
	       (optional && e->kind == NL_FAIL_NO_OP);
}

static bool read_lists(struct nl *nl, enum m_role role, unsigned int what,
		       struct snapshot *s, struct said *said, struct nl_error *e)
{
	const struct dump_of sessions = {
		RNBD_CMD_SESSION_GET, RNBD_A_SESSION_ROLE, on_session, &s->sessions,
	};
	const struct dump_of paths = {
		RNBD_CMD_PATH_GET, RNBD_A_PATH_ROLE, on_path, &s->paths,
	};
	const struct dump_of devices = {
		RNBD_CMD_DEVICE_GET, 0, on_device, &s->devices,
	};
	const struct dump_of exports = {
		RNBD_CMD_EXPORT_GET, 0, on_export, &s->exports,
	};
	const struct dump_of ports = {
		RNBD_CMD_PORT_GET, 0, on_port, &s->ports,
	};
	const struct dump_of stats = {
		RNBD_CMD_STATS_GET, RNBD_A_STATS_ROLE, on_stats, &s->stats,
	};

	if ((what & NL_SESSIONS) && !dump(nl, &sessions, role, said, e))
		return false;
	if ((what & NL_PATHS) && !dump(nl, &paths, role, said, e))
		return false;
	if ((what & (NL_DEVICES | NL_DEVICES_OPT)) &&
	    !list_or_skip(dump(nl, &devices, role, said, e), what & NL_DEVICES_OPT, e))
		return false;
	if ((what & (NL_EXPORTS | NL_EXPORTS_OPT)) &&
	    !list_or_skip(dump(nl, &exports, role, said, e), what & NL_EXPORTS_OPT, e))
		return false;
	if ((what & NL_PORTS) && !dump(nl, &ports, role, said, e))
		return false;
	if ((what & (NL_STATS | NL_STATS_OPT)) &&
	    !list_or_skip(dump(nl, &stats, role, said, e), what & NL_STATS_OPT, e))
		return false;
	memset(e, 0, sizeof(*e));
	memcpy(e->warning, said->warning, sizeof(e->warning));
	return true;
}

/* Lists that were read at different generations do not fit together. */
static bool same_generation(const struct snapshot *s)
{
	uint32_t g[6], n = 0;

	if (s->sessions.n)
		g[n++] = s->sessions.v[0].generation;
	if (s->paths.n)
		g[n++] = s->paths.v[0].generation;
	if (s->devices.n)
		g[n++] = s->devices.v[0].generation;
	if (s->stats.n)
		g[n++] = s->stats.v[0].generation;
	if (s->exports.n)
		g[n++] = s->exports.v[0].generation;
	if (s->ports.n)
		g[n++] = s->ports.v[0].generation;
	for (uint32_t i = 1; i < n; i++)
		if (g[i] != g[0])
			return false;
	return true;
}

static void set_role(uint64_t *role, enum m_role asked)
{
	if (*role > M_SERVER)
		*role = asked;
}

/* Where the kernel does not tell the role, it is that which was asked for. */
static void set_roles(struct snapshot *s, enum m_role asked)
{
	for (size_t i = 0; i < s->sessions.n; i++)
		set_role(&s->sessions.v[i].role, asked);
	for (size_t i = 0; i < s->paths.n; i++)
		set_role(&s->paths.v[i].role, asked);
	for (size_t i = 0; i < s->stats.n; i++)
		set_role(&s->stats.v[i].role, asked);
}

bool netlink_snapshot(struct kernel *k, enum m_role role, unsigned int what, struct snapshot *s,
		      bool *torn, struct nl_error *e)
{
	struct nl *nl = to_nl(k);
	struct said said;

	*torn = false;
	for (int try = 0; try < 5; try++) {
		memset(s, 0, sizeof(*s));
		memset(&said, 0, sizeof(said));
		if (!read_lists(nl, role, what, s, &said, e)) {
			snapshot_free(s);
			/* a recording is shorter than the patience of this loop */
			return false;
		}
		*torn = said.torn || !same_generation(s);
		if (!*torn || try == 4 || nl->k.cfg.replay)
			break;
		snapshot_free(s);
	}
	set_roles(s, role);
	snapshot_sort(s);
	return true;
}
