// SPDX-License-Identifier: GPL-2.0
/* The access list of the server: read, replaced, asked, and what it decides. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "nl-get.h"
#include "nl-priv.h"
#include "sysfs.h"

static bool can(struct nl *nl, int cmd, struct nl_error *e)
{
	return nl->sysfs ? sysfs_cannot(e, "tell or change who may map what") : rnl_has_op(nl, cmd, e);
}

static void add_from(struct access_peer *p, struct nlattr *nest)
{
	struct nlattr *tb[RNBD_A_ACL_PREFIX_MAX + 1];
	struct access_from f = { 0 };
	uint64_t bits;

	if (nla_parse_nested(tb, RNBD_A_ACL_PREFIX_MAX, nest, NULL) < 0)
		return;
	get_addr(tb[RNBD_A_ACL_PREFIX_ADDR], &f.addr);
	f.addr.port = 0;
	bits = get_u32(tb[RNBD_A_ACL_PREFIX_BITS]);
	f.bits = bits == M_UNKNOWN ? access_bits(&f.addr) : (unsigned int)bits;
	p->from = xrealloc(p->from, (p->nfrom + 1) * sizeof(*p->from));
	p->from[p->nfrom++] = f;
}

static void add_pattern(struct access_peer *p, struct nlattr *nest)
{
	struct nlattr *tb[RNBD_A_ACL_SESSION_MAX + 1];
	char text[M_NAME_MAX];

	if (nla_parse_nested(tb, RNBD_A_ACL_SESSION_MAX, nest, NULL) < 0)
		return;
	get_str(tb[RNBD_A_ACL_SESSION_PATTERN], text, sizeof(text));
	strlist_add(&p->sessions, text);
}

static void add_allow(struct access_export *e, struct nlattr *nest)
{
	struct nlattr *tb[RNBD_A_ACL_ALLOW_MAX + 1];
	char peer[M_NAME_MAX];
	uint64_t mode;

	if (nla_parse_nested(tb, RNBD_A_ACL_ALLOW_MAX, nest, NULL) < 0)
		return;
	get_str(tb[RNBD_A_ACL_ALLOW_PEER], peer, sizeof(peer));
	mode = get_u32(tb[RNBD_A_ACL_ALLOW_ACCESS_MODE]);
	access_grant(e, peer, mode == M_UNKNOWN ? RNBD_ACCESS_MODE_RW : mode);
}

static void add_peer(struct access_list *l, struct nlattr *nest)
{
	struct nlattr *tb[RNBD_A_ACL_PEER_MAX + 1], *a;
	char text[M_NAME_MAX];
	struct access_peer *p;
	int rem;

	if (nla_parse_nested(tb, RNBD_A_ACL_PEER_MAX, nest, NULL) < 0)
		return;
	get_str(tb[RNBD_A_ACL_PEER_NAME], text, sizeof(text));
	p = l->npeers ? &l->peers[l->npeers - 1] : NULL;
	/* else it is the rest of the one before */
	if (!p || strcmp(p->name, text)) {
		p = access_add_peer(l, text);
		p->limit[ACCESS_SESSIONS] = get_u32(tb[RNBD_A_ACL_PEER_MAX_SESSIONS]);
		p->limit[ACCESS_DEVICES] = get_u32(tb[RNBD_A_ACL_PEER_MAX_DEVICES]);
		p->limit[ACCESS_MEMORY] = get_u64(tb[RNBD_A_ACL_PEER_MAX_MEMORY_BYTES]);
		p->used[ACCESS_SESSIONS] = get_u32(tb[RNBD_A_ACL_PEER_SESSIONS]);
		p->used[ACCESS_DEVICES] = get_u32(tb[RNBD_A_ACL_PEER_DEVICES]);
		p->used[ACCESS_MEMORY] = get_u64(tb[RNBD_A_ACL_PEER_PINNED_BYTES]);
		p->denied = get_u64(tb[RNBD_A_ACL_PEER_DENIED]);
	}
	nla_for_each_nested(a, nest, rem) {
		if (nla_type(a) == RNBD_A_ACL_PEER_FROM)
			add_from(p, a);
		else if (nla_type(a) == RNBD_A_ACL_PEER_SESSION)
			add_pattern(p, a);
	}
}

static void add_export(struct access_list *l, struct nlattr *nest)
{
	struct nlattr *tb[RNBD_A_ACL_EXPORT_MAX + 1], *a;
	char name[M_NAME_MAX], path[4096];
	struct access_export *x;
	uint64_t mode;
	int rem;

	if (nla_parse_nested(tb, RNBD_A_ACL_EXPORT_MAX, nest, NULL) < 0)
		return;
	get_str(tb[RNBD_A_ACL_EXPORT_NAME], name, sizeof(name));
	x = l->nexports ? &l->exports[l->nexports - 1] : NULL;
	if (!x || strcmp(x->name, name)) {
		x = access_add_export(l, name);
		get_str(tb[RNBD_A_ACL_EXPORT_PATH], path, sizeof(path));
		x->path = xstrdup(path);
		mode = get_u32(tb[RNBD_A_ACL_EXPORT_IO_MODE]);
		x->io_mode = mode == M_UNKNOWN ? RNBD_IO_MODE_BLOCKIO : mode;
		x->openings = get_u32(tb[RNBD_A_ACL_EXPORT_OPENINGS]);
	}
	nla_for_each_nested(a, nest, rem)
		if (nla_type(a) == RNBD_A_ACL_EXPORT_ALLOW)
			add_allow(x, a);
}

static void on_access(const struct nlmsghdr *h, void *arg)
{
	struct nlattr *tb[RNBD_A_ACCESS_MAX + 1], *a;
	struct access_list *l = arg;
	int rem;

	if (nlmsg_parse((struct nlmsghdr *)h, GENL_HDRLEN, tb, RNBD_A_ACCESS_MAX, NULL) < 0)
		return;
	if (tb[RNBD_A_ACCESS_STATE]) {
		l->state = get_u32(tb[RNBD_A_ACCESS_STATE]);
		l->number = get_u32(tb[RNBD_A_ACCESS_NUMBER]);
		l->loaded_ns = get_u64(tb[RNBD_A_ACCESS_LOADED_NS]);
		l->uid = get_u32(tb[RNBD_A_ACCESS_UID]);
		l->denied = get_u64(tb[RNBD_A_ACCESS_DENIED_TOTAL]);
	}
	nlmsg_for_each_attr(a, (struct nlmsghdr *)h, GENL_HDRLEN, rem) {
		if (nla_type(a) == RNBD_A_ACCESS_PEER)
			add_peer(l, a);
		else if (nla_type(a) == RNBD_A_ACCESS_EXPORT)
			add_export(l, a);
	}
}

bool rnl_access_get(struct nl *nl, struct access_list *l, struct nl_error *e)
{
	for (int try = 0; try < 5; try++) {
		access_free(l);
		l->state = l->number = l->loaded_ns = l->uid = l->denied = M_UNKNOWN;
		if (!can(nl, RNBD_CMD_ACCESS_GET, e) ||
		    !rnl_transact(nl, rnl_new(nl, RNBD_CMD_ACCESS_GET, NLM_F_DUMP), on_access, l, e))
			return false;
		/* a list that was replaced meanwhile is read again */
		if (!nl->interrupted || nl->cfg.replay)
			break;
	}
	access_sort(l);
	return true;
}

static void put_u32(struct nl_msg *msg, int attr, uint64_t v)
{
	if (v != M_UNKNOWN)
		nla_put_u32(msg, attr, (uint32_t)v);
}

static void put_addr(struct nl_msg *msg, int attr, const struct addr *a)
{
	uint8_t bin[ADDR_BIN_MAX];

	nla_put(msg, attr, (int)addr_to_bin(a, bin), bin);
}

static void put_peer(struct nl_msg *msg, const struct access_peer *p)
{
	struct nlattr *nest = nla_nest_start(msg, RNBD_A_ACCESS_PEER | NLA_F_NESTED);

	nla_put_string(msg, RNBD_A_ACL_PEER_NAME, p->name);
	nla_put_u32(msg, RNBD_A_ACL_PEER_AUTH, RNBD_ACCESS_AUTH_NONE);
	for (size_t i = 0; i < p->sessions.n; i++) {
		struct nlattr *session = nla_nest_start(msg, RNBD_A_ACL_PEER_SESSION | NLA_F_NESTED);

		nla_put_string(msg, RNBD_A_ACL_SESSION_PATTERN, p->sessions.v[i]);
		nla_nest_end(msg, session);
	}
	for (size_t i = 0; i < p->nfrom; i++) {
		struct nlattr *from = nla_nest_start(msg, RNBD_A_ACL_PEER_FROM | NLA_F_NESTED);

		put_addr(msg, RNBD_A_ACL_PREFIX_ADDR, &p->from[i].addr);
		nla_put_u32(msg, RNBD_A_ACL_PREFIX_BITS, p->from[i].bits);
		nla_nest_end(msg, from);
	}
	put_u32(msg, RNBD_A_ACL_PEER_MAX_SESSIONS, p->limit[ACCESS_SESSIONS]);
	put_u32(msg, RNBD_A_ACL_PEER_MAX_DEVICES, p->limit[ACCESS_DEVICES]);
	if (p->limit[ACCESS_MEMORY] != M_UNKNOWN)
		nla_put_u64(msg, RNBD_A_ACL_PEER_MAX_MEMORY_BYTES, p->limit[ACCESS_MEMORY]);
	nla_nest_end(msg, nest);
}

static void put_export(struct nl_msg *msg, const struct access_export *x)
{
	struct nlattr *nest = nla_nest_start(msg, RNBD_A_ACCESS_EXPORT | NLA_F_NESTED);

	nla_put_string(msg, RNBD_A_ACL_EXPORT_NAME, x->name);
	nla_put_string(msg, RNBD_A_ACL_EXPORT_PATH, x->path);
	if (x->io_mode != RNBD_IO_MODE_BLOCKIO)
		put_u32(msg, RNBD_A_ACL_EXPORT_IO_MODE, x->io_mode);
	for (size_t i = 0; i < x->nallow; i++) {
		struct nlattr *allow = nla_nest_start(msg, RNBD_A_ACL_EXPORT_ALLOW | NLA_F_NESTED);

		nla_put_string(msg, RNBD_A_ACL_ALLOW_PEER, x->allow[i].peer);
		put_u32(msg, RNBD_A_ACL_ALLOW_ACCESS_MODE, x->allow[i].mode);
		nla_nest_end(msg, allow);
	}
	nla_nest_end(msg, nest);
}

static size_t peer_size(const struct access_peer *p)
{
	size_t size = 128 + strlen(p->name) + p->nfrom * 80;

	for (size_t i = 0; i < p->sessions.n; i++)
		size += 16 + strlen(p->sessions.v[i]);
	return size;
}

static size_t export_size(const struct access_export *x)
{
	size_t size = 64 + strlen(x->name) + strlen(x->path);

	for (size_t i = 0; i < x->nallow; i++)
		size += 24 + strlen(x->allow[i].peer);
	return size;
}

/* Room for the list, 0: one of its parts does not fit into an attribute. */
static size_t list_size(const struct access_list *l, struct nl_error *e)
{
	const char *what = NULL, *name = NULL;
	size_t sum = 4096, one;

	for (size_t i = 0; i < l->npeers + l->nexports; i++) {
		bool peer = i < l->npeers;

		one = peer ? peer_size(&l->peers[i]) : export_size(&l->exports[i - l->npeers]);
		sum += one;
		if (one < 65000)
			continue;
		what = peer ? "peer" : "export";
		name = peer ? l->peers[i].name : l->exports[i - l->npeers].name;
	}
	if (!what)
		return sum;
	memset(e, 0, sizeof(*e));
	e->kind = NL_FAIL_USAGE;
	snprintf(e->extack, sizeof(e->extack), "%s '%.60s' is too long: it has to fit into 64 KiB", what, name);
	return 0;
}

static void on_set(const struct nlmsghdr *h, void *arg)
{
	struct nlattr *tb[RNBD_A_ACCESS_MAX + 1], *a;
	struct access_ended *end = arg;
	int rem;

	if (nlmsg_parse((struct nlmsghdr *)h, GENL_HDRLEN, tb, RNBD_A_ACCESS_MAX, NULL) < 0)
		return;
	end->number = get_u32(tb[RNBD_A_ACCESS_NUMBER]);
	end->paths = get_id(tb[RNBD_A_ACCESS_ENDED_PATHS]);
	end->exports = get_id(tb[RNBD_A_ACCESS_ENDED_EXPORTS]);
	nlmsg_for_each_attr(a, (struct nlmsghdr *)h, GENL_HDRLEN, rem) {
		if (nla_type(a) == RNBD_A_ACCESS_ENDED_PATH_ID && end->npath_ids < ARRAY_SIZE(end->path_ids))
			end->path_ids[end->npath_ids++] = get_id(a);
		if (nla_type(a) == RNBD_A_ACCESS_ENDED_EXPORT_ID && end->nexport_ids < ARRAY_SIZE(end->export_ids))
			end->export_ids[end->nexport_ids++] = get_id(a);
	}
}

bool rnl_access_set(struct nl *nl, const struct access_request *req, struct access_ended *end,
		    struct nl_error *e)
{
	size_t size = req->state == ACCESS_LISTED ? list_size(req->list, e) : 4096;
	bool dry = nl->cfg.dry_run, ok;
	int room = (int)size + 65536;
	struct nl_msg *msg;

	*end = (struct access_ended){ .number = M_UNKNOWN };
	if (!can(nl, RNBD_CMD_ACCESS_SET, e) || !size)
		return false;
	msg = rnl_new_sized(nl, RNBD_CMD_ACCESS_SET, size);
	put_u32(msg, RNBD_A_ACCESS_STATE, req->state);
	put_u32(msg, RNBD_A_ACCESS_EXPECT, req->expect);
	if (req->force)
		nla_put_flag(msg, RNBD_A_ACCESS_FORCE);
	if (req->dry_run)
		nla_put_flag(msg, RNBD_A_ACCESS_DRY_RUN);
	for (size_t i = 0; req->state == ACCESS_LISTED && i < req->list->npeers; i++)
		put_peer(msg, &req->list->peers[i]);
	for (size_t i = 0; req->state == ACCESS_LISTED && i < req->list->nexports; i++)
		put_export(msg, &req->list->exports[i]);
	/* the whole list is one message */
	if (!nl->cfg.replay)
		setsockopt(nl_socket_get_fd(nl->sk), SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	/* it only asks, so a dry run may send it */
	nl->cfg.dry_run = dry && !req->dry_run;
	ok = rnl_transact(nl, msg, on_set, end, e);
	nl->cfg.dry_run = dry;
	return ok;
}

static void on_test(const struct nlmsghdr *h, void *arg)
{
	struct nlattr *tb[RNBD_A_ACCESS_MAX + 1];
	struct access_answer *a = arg;

	if (nlmsg_parse((struct nlmsghdr *)h, GENL_HDRLEN, tb, RNBD_A_ACCESS_MAX, NULL) < 0)
		return;
	a->allowed = get_u8(tb[RNBD_A_ACCESS_ALLOWED]) == 1;
	a->reason = get_u32(tb[RNBD_A_ACCESS_REASON]);
	a->granted = get_u32(tb[RNBD_A_ACCESS_GRANTED_MODE]);
	GET_STR(tb[RNBD_A_ACCESS_PEER_NAME], a->peer);
	GET_STR(tb[RNBD_A_ACCESS_EXPORT_NAME], a->export);
	GET_STR(tb[RNBD_A_ACCESS_PATH], a->path);
}

bool rnl_access_test(struct nl *nl, const struct access_question *q, struct access_answer *a,
		     struct nl_error *e)
{
	bool dry = nl->cfg.dry_run, ok;
	struct nl_msg *msg;

	*a = (struct access_answer){ .reason = M_UNKNOWN, .granted = M_UNKNOWN };
	if (!can(nl, RNBD_CMD_ACCESS_TEST, e))
		return false;
	msg = rnl_new(nl, RNBD_CMD_ACCESS_TEST, 0);
	if (q->peer)
		nla_put_string(msg, RNBD_A_ACCESS_PEER_NAME, q->peer);
	if (q->session) {
		nla_put_string(msg, RNBD_A_ACCESS_SESSION_NAME, q->session);
		put_addr(msg, RNBD_A_ACCESS_CLIENT_ADDR, &q->from);
	}
	nla_put_string(msg, RNBD_A_ACCESS_DEVICE_PATH, q->export);
	put_u32(msg, RNBD_A_ACCESS_ACCESS_MODE, q->mode);
	nl->cfg.dry_run = false;
	ok = rnl_transact(nl, msg, on_test, a, e);
	nl->cfg.dry_run = dry;
	return ok;
}

bool rnl_parse_access(const struct nlmsghdr *h, struct access_event *ev)
{
	struct nlattr *tb[RNBD_A_ACCESS_MAX + 1];

	if (nlmsg_parse((struct nlmsghdr *)h, GENL_HDRLEN, tb, RNBD_A_ACCESS_MAX, NULL) < 0)
		return false;
	*ev = (struct access_event){
		.seq = get_u64(tb[RNBD_A_ACCESS_SEQ]), .time_ns = get_u64(tb[RNBD_A_ACCESS_TIME_NS]),
		.kind = get_u32(tb[RNBD_A_ACCESS_EVENT]), .step = get_u32(tb[RNBD_A_ACCESS_STEP]),
		.reason = get_u32(tb[RNBD_A_ACCESS_REASON]), .access = get_u32(tb[RNBD_A_ACCESS_ACCESS_MODE]),
		.suppressed = get_u32(tb[RNBD_A_ACCESS_SUPPRESSED]), .number = get_u32(tb[RNBD_A_ACCESS_NUMBER]),
		.old_number = get_u32(tb[RNBD_A_ACCESS_OLD_NUMBER]), .state = get_u32(tb[RNBD_A_ACCESS_STATE]),
		.old_state = get_u32(tb[RNBD_A_ACCESS_OLD_STATE]), .peers = get_u32(tb[RNBD_A_ACCESS_PEERS]),
		.exports = get_u32(tb[RNBD_A_ACCESS_EXPORTS]), .uid = get_u32(tb[RNBD_A_ACCESS_UID]),
		.loginuid = get_u32(tb[RNBD_A_ACCESS_LOGINUID]), .err = get_s32(tb[RNBD_A_ACCESS_ERROR], 0),
	};
	GET_STR(tb[RNBD_A_ACCESS_PEER_NAME], ev->peer);
	GET_STR(tb[RNBD_A_ACCESS_SESSION_NAME], ev->session);
	GET_STR(tb[RNBD_A_ACCESS_DEVICE_PATH], ev->device_path);
	GET_STR(tb[RNBD_A_ACCESS_EXPORT_NAME], ev->export);
	GET_STR(tb[RNBD_A_ACCESS_PATH], ev->path);
	get_addr(tb[RNBD_A_ACCESS_CLIENT_ADDR], &ev->client);
	get_addr(tb[RNBD_A_ACCESS_SERVER_ADDR], &ev->server);
	return true;
}
