// SPDX-License-Identifier: GPL-2.0
/* The access list of the server: read, replaced, asked, and what it decides. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "kernel/netlink/get.h"
#include "kernel/netlink/netlink.h"

#define ATTR_MAX	16		/* of every nest of the access list */
#define LIST_SIZE	(4 << 20)	/* of the message that replaces it: the kernel takes no more */

_Static_assert(RNBD_A_ACL_PREFIX_MAX <= ATTR_MAX && RNBD_A_ACL_SESSION_MAX <= ATTR_MAX &&
	       RNBD_A_ACL_PEER_MAX <= ATTR_MAX && RNBD_A_ACL_ALLOW_MAX <= ATTR_MAX &&
	       RNBD_A_ACL_EXPORT_MAX <= ATTR_MAX, "tb[] holds each nest");

/* A value is the attribute itself or, where it has parts, a nest of them. */
static const struct { int attr, word, addr, n; } values[AK_N] = {
	[AK_SESSION] = { .attr = RNBD_A_ACL_PEER_SESSION, .word = RNBD_A_ACL_SESSION_PATTERN },
	[AK_FROM] = { .attr = RNBD_A_ACL_PEER_FROM, .addr = RNBD_A_ACL_PREFIX_ADDR, .n = RNBD_A_ACL_PREFIX_BITS },
	[AK_SESSIONS] = { .attr = RNBD_A_ACL_PEER_SESSIONS },
	[AK_MAX_SESSIONS] = { .attr = RNBD_A_ACL_PEER_MAX_SESSIONS },
	[AK_DEVICES] = { .attr = RNBD_A_ACL_PEER_DEVICES },
	[AK_MAX_DEVICES] = { .attr = RNBD_A_ACL_PEER_MAX_DEVICES },
	[AK_MEMORY] = { .attr = RNBD_A_ACL_PEER_PINNED_BYTES },
	[AK_MAX_MEMORY] = { .attr = RNBD_A_ACL_PEER_MAX_MEMORY_BYTES },
	[AK_DENIED] = { .attr = RNBD_A_ACL_PEER_DENIED },
	[AK_PATH] = { .attr = RNBD_A_ACL_EXPORT_PATH },
	[AK_IO_MODE] = { .attr = RNBD_A_ACL_EXPORT_IO_MODE },
	[AK_ALLOW] = { .attr = RNBD_A_ACL_EXPORT_ALLOW, .word = RNBD_A_ACL_ALLOW_PEER, .n = RNBD_A_ACL_ALLOW_ACCESS_MODE },
	[AK_OPENINGS] = { .attr = RNBD_A_ACL_EXPORT_OPENINGS },
};

/* Names of a peer and of an export have one number; so has the nest of either its own. */
static const int item_attr[ACCESS_KINDS] = { RNBD_A_ACCESS_PEER, RNBD_A_ACCESS_EXPORT };
_Static_assert((int)RNBD_A_ACL_PEER_NAME == (int)RNBD_A_ACL_EXPORT_NAME, "one number");

static bool is_nest(enum access_key k)
{
	return values[k].word || values[k].addr;
}

static void get_value(struct access_item *x, enum access_key k, struct nlattr *a)
{
	struct nlattr *tb[ATTR_MAX + 1] = { NULL }, *word = a;
	struct access_value v = { 0 };

	if (is_nest(k)) {
		if (nla_parse_nested(tb, ATTR_MAX, a, NULL) < 0)
			return;
		word = tb[values[k].word];
		get_addr(tb[values[k].addr], &v.addr);
		v.addr.port = 0;
	}
	if (values[k].n || !(values[k].word || k == AK_PATH))
		v.n = values[k].n ? get_u32(tb[values[k].n]) : get_uint(a);
	if (values[k].word || k == AK_PATH)
		v.word = word ? xstrndup(nla_data(word), (size_t)nla_len(word)) : xstrdup("");
	if (v.n == M_UNKNOWN && !values[k].n)
		return;
	if (v.n == M_UNKNOWN)
		v.n = k == AK_FROM ? access_bits(&v.addr) : RNBD_ACCESS_MODE_RW;
	access_put(x, k, &v);
}

static void add_item(struct access_list *l, enum access_kind kind, struct nlattr *nest)
{
	struct nlattr *tb[ATTR_MAX + 1], *a;
	struct access_item *x;
	char name[M_NAME_MAX];
	int rem;

	if (nla_parse_nested(tb, ATTR_MAX, nest, NULL) < 0)
		return;
	GET_STR(tb[RNBD_A_ACL_PEER_NAME], name);
	x = access_new(l, kind, name);
	if (kind == ACCESS_EXPORT)
		access_put(x, AK_IO_MODE, &(struct access_value){ .n = RNBD_IO_MODE_BLOCKIO });
	nla_for_each_nested(a, nest, rem)
		for (int k = 0; k < AK_N; k++)
			if (access_kind_of(k) == kind && nla_type(a) == values[k].attr)
				get_value(x, k, a);
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
	nlmsg_for_each_attr(a, (struct nlmsghdr *)h, GENL_HDRLEN, rem)
		for (int kind = 0; kind < ACCESS_KINDS; kind++)
			if (nla_type(a) == item_attr[kind])
				add_item(l, kind, a);
}

bool netlink_access_get(struct kernel *k, struct access_list *l, struct nl_error *e)
{
	struct nl *nl = to_nl(k);

	for (int try = 0; try < 5; try++) {
		access_free(l);
		l->state = l->number = l->loaded_ns = l->uid = l->denied = M_UNKNOWN;
		if (!rnl_has_op(nl, RNBD_CMD_ACCESS_GET, e) ||
		    !rnl_transact(nl, rnl_new(nl, RNBD_CMD_ACCESS_GET, NLM_F_DUMP), on_access, l, e))
			return false;
		/* a list that was replaced meanwhile is read again */
		if (!nl->interrupted || nl->k.cfg.replay)
			break;
	}
	access_sort(l);
	return true;
}

static int put_addr(struct nl_msg *msg, int attr, const struct addr *a)
{
	uint8_t bin[ADDR_BIN_MAX];

	return nla_put(msg, attr, (int)addr_to_bin(a, bin), bin);
}

/* These return whether it had room. */
static bool put_value(struct nl_msg *msg, enum access_key k, const struct access_value *v)
{
	int attr = values[k].attr, bad;
	struct nlattr *nest;

	if (k == AK_PATH)
		return !nla_put_string(msg, attr, v->word);
	if (k == AK_IO_MODE && v->n == RNBD_IO_MODE_BLOCKIO)
		return true;
	if (!is_nest(k))
		return !(k == AK_MAX_MEMORY ? nla_put_u64(msg, attr, v->n) : nla_put_u32(msg, attr, (uint32_t)v->n));
	nest = nla_nest_start(msg, attr | NLA_F_NESTED);
	if (!nest)
		return false;
	bad = values[k].word ? nla_put_string(msg, values[k].word, v->word) : put_addr(msg, values[k].addr, &v->addr);
	if (values[k].n)
		bad |= nla_put_u32(msg, values[k].n, (uint32_t)v->n);
	nla_nest_end(msg, nest);
	return !bad;
}

static bool put_item(struct nl_msg *msg, enum access_kind kind, const struct access_item *x)
{
	struct nlattr *nest = nla_nest_start(msg, item_attr[kind] | NLA_F_NESTED);
	bool ok = nest && !nla_put_string(msg, RNBD_A_ACL_PEER_NAME, x->name);

	if (ok && kind == ACCESS_PEER)
		ok = !nla_put_u32(msg, RNBD_A_ACL_PEER_AUTH, RNBD_ACCESS_AUTH_NONE);
	for (int k = 0; k < AK_N; k++)
		for (size_t i = 0; ok && i < x->of[k].n; i++)
			ok = put_value(msg, k, &x->of[k].v[i]);
	return ok && nla_nest_end(msg, nest) >= 0;
}

static bool put_list(struct nl_msg *msg, const struct access_list *l, struct nl_error *e)
{
	for (int kind = 0; kind < ACCESS_KINDS && l->state == ACCESS_LISTED; kind++) {
		for (size_t i = 0; i < l->of[kind].n; i++) {
			if (put_item(msg, kind, &l->of[kind].v[i]))
				continue;
			*e = (struct nl_error){ .kind = NL_FAIL_USAGE };
			snprintf(e->extack, sizeof(e->extack), "%s '%.60s' is too long: one has to fit into 64 KiB, "
				 "and all into %d MiB", kind == ACCESS_PEER ? "peer" : "export",
				 l->of[kind].v[i].name, LIST_SIZE >> 20);
			return false;
		}
	}
	return true;
}

static void on_set(const struct nlmsghdr *h, void *arg)
{
	struct nlattr *tb[RNBD_A_ACCESS_MAX + 1], *a;
	struct access_ended *end = arg;
	int rem;

	if (nlmsg_parse((struct nlmsghdr *)h, GENL_HDRLEN, tb, RNBD_A_ACCESS_MAX, NULL) < 0)
		return;
	end->number = get_u32(tb[RNBD_A_ACCESS_NUMBER]);
	end->paths.n = get_id(tb[RNBD_A_ACCESS_ENDED_PATHS]);
	end->exports.n = get_id(tb[RNBD_A_ACCESS_ENDED_EXPORTS]);
	nlmsg_for_each_attr(a, (struct nlmsghdr *)h, GENL_HDRLEN, rem) {
		if (nla_type(a) == RNBD_A_ACCESS_ENDED_PATH_ID && end->paths.nids < ACCESS_ENDED_IDS)
			end->paths.ids[end->paths.nids++] = get_id(a);
		if (nla_type(a) == RNBD_A_ACCESS_ENDED_EXPORT_ID && end->exports.nids < ACCESS_ENDED_IDS)
			end->exports.ids[end->exports.nids++] = get_id(a);
	}
}

/* A request that changes nothing is sent in a dry run, too. */
static bool transact(struct nl *nl, struct nl_msg *msg, bool changes,
		     void (*reply)(const struct nlmsghdr *h, void *arg), void *arg, struct nl_error *e)
{
	bool dry = nl->k.cfg.dry_run, ok;

	nl->k.cfg.dry_run = dry && changes;
	ok = rnl_transact(nl, msg, reply, arg, e);
	nl->k.cfg.dry_run = dry;
	return ok;
}

bool netlink_access_set(struct kernel *k, const struct access_request *req,
			struct access_ended *end,
			struct nl_error *e)
{
	struct nl *nl = to_nl(k);
	int room = LIST_SIZE;
	struct nl_msg *msg;

	*end = (struct access_ended){ .number = M_UNKNOWN };
	if (!rnl_has_op(nl, RNBD_CMD_ACCESS_SET, e))
		return false;
	msg = rnl_new_sized(nl, RNBD_CMD_ACCESS_SET, LIST_SIZE);
	nla_put_u32(msg, RNBD_A_ACCESS_STATE, (uint32_t)req->list->state);
	if (req->expect != M_UNKNOWN)
		nla_put_u32(msg, RNBD_A_ACCESS_EXPECT, (uint32_t)req->expect);
	if (req->force)
		nla_put_flag(msg, RNBD_A_ACCESS_FORCE);
	if (req->dry_run)
		nla_put_flag(msg, RNBD_A_ACCESS_DRY_RUN);
	if (!put_list(msg, req->list, e)) {
		nlmsg_free(msg);
		return false;
	}
	/* the whole list is one message */
	if (!nl->k.cfg.replay)
		setsockopt(nl_socket_get_fd(nl->sk), SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	return transact(nl, msg, !req->dry_run, on_set, end, e);
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

bool netlink_access_test(struct kernel *k, const struct access_question *q, struct access_answer *a,
			 struct nl_error *e)
{
	struct nl *nl = to_nl(k);
	struct nl_msg *msg;

	*a = (struct access_answer){ .reason = M_UNKNOWN, .granted = M_UNKNOWN };
	if (!rnl_has_op(nl, RNBD_CMD_ACCESS_TEST, e))
		return false;
	msg = rnl_new(nl, RNBD_CMD_ACCESS_TEST, 0);
	if (q->peer)
		nla_put_string(msg, RNBD_A_ACCESS_PEER_NAME, q->peer);
	if (q->session) {
		nla_put_string(msg, RNBD_A_ACCESS_SESSION_NAME, q->session);
		put_addr(msg, RNBD_A_ACCESS_CLIENT_ADDR, &q->from);
	}
	nla_put_string(msg, RNBD_A_ACCESS_DEVICE_PATH, q->export);
	nla_put_u32(msg, RNBD_A_ACCESS_ACCESS_MODE, (uint32_t)q->mode);
	return transact(nl, msg, false, on_test, a, e);
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
