// SPDX-License-Identifier: GPL-2.0
/* The access list of the server: read, replaced, asked, and what it decides. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "kernel/netlink/get.h"
#include "kernel/netlink/netlink.h"

#define LIST_SIZE	(4 << 20)	/* of the message that replaces it: the kernel takes no more */

/* Names of a peer and of an export have one number; so has the nest of either its own. */
static const int item_attr[ACCESS_KINDS] = { RNBD_A_ACCESS_PEER, RNBD_A_ACCESS_EXPORT };
_Static_assert((int)RNBD_A_ACL_PEER_NAME == (int)RNBD_A_ACL_EXPORT_NAME, "one number");

static struct nlattr *part(struct nlattr *nest, int attr)
{
	return attr ? nla_find(nla_data(nest), nla_len(nest), attr) : NULL;
}

static void get_value(struct access_item *x, enum access_key k, struct nlattr *a)
{
	const struct access_key_desc *d = &access_keys[k];
	struct nlattr *word = k == AK_PATH ? a : part(a, d->word);
	struct access_value v = { 0 };

	get_addr(part(a, d->addr), &v.addr);
	v.addr.port = 0;
	if (k == AK_PATH || d->word)
		v.word = word ? xstrndup(nla_data(word), (size_t)nla_len(word)) : xstrdup("");
	if (d->n || !v.word)
		v.n = d->n ? get_u32(part(a, d->n)) : get_uint(a);
	if (v.n == M_UNKNOWN && d->n)
		v.n = k == AK_FROM ? access_bits(&v.addr) : RNBD_ACCESS_MODE_RW;
	if (v.n != M_UNKNOWN)
		access_put(x, k, &v);
}

static void add_item(struct access_list *l, enum access_kind kind, struct nlattr *nest)
{
	struct access_item *x;
	char name[M_NAME_MAX];
	struct nlattr *a;
	int rem;

	GET_STR(part(nest, RNBD_A_ACL_PEER_NAME), name);
	x = access_new(l, kind, name);
	if (kind == ACCESS_EXPORT)
		access_put(x, AK_IO_MODE, &(struct access_value){ .n = RNBD_IO_MODE_BLOCKIO });
	nla_for_each_nested(a, nest, rem)
		for (int k = 0; k < AK_N; k++)
			if (access_kind_of(k) == kind && nla_type(a) == access_keys[k].attr)
				get_value(x, k, a);
}

/* NULL: it says nothing. */
static json_t *value(const struct nl_attr_desc *d, struct nlattr *a)
{
	uint64_t n = d->type == NL_U8 ? get_u8(a) : get_uint(a);
	char text[ADDR_TEXT_MAX];
	struct addr addr;

	if (d->type == NL_STR)
		return json_stringn_nocheck(nla_data(a), strnlen(nla_data(a), (size_t)nla_len(a)));
	if (d->type == NL_S32)
		return json_integer(get_s32(a, 0));
	if (d->type != NL_BIN)
		return n > INT64_MAX ? NULL : json_integer((json_int_t)n);
	get_addr(a, &addr);
	addr_format(&addr, text);
	return json_string(text);
}

static const struct nl_attr_set *access_set(void)
{
	return rnl_cmd_set(&netlink_family_rnbd, RNBD_CMD_ACCESS_GET);
}

static void on_reply(const struct nlmsghdr *h, void *arg)
{
	struct access_list *l = arg;
	struct nlattr *a;
	int rem;

	nlmsg_for_each_attr(a, (struct nlmsghdr *)h, GENL_HDRLEN, rem) {
		const struct nl_attr_desc *d = rnl_attr(access_set(), (unsigned int)nla_type(a));
		json_t *v = d && !d->nest ? value(d, a) : NULL;

		for (int kind = 0; d && d->nest && kind < ACCESS_KINDS; kind++)
			if (nla_type(a) == item_attr[kind])
				add_item(l, kind, a);
		if (v && d->list && !json_object_get(l->says, d->name))
			json_object_set_new(l->says, d->name, json_array());
		if (v && d->list)
			json_array_append_new(json_object_get(l->says, d->name), v);
		else if (v)
			json_object_set_new(l->says, d->name, v);
	}
}

json_t *rnl_parse_access(const struct nlmsghdr *h)
{
	struct access_list l = { .says = json_object() };
	json_t *says;

	on_reply(h, &l);
	says = json_incref(l.says);
	access_free(&l);
	return says;
}

/* 0, which the kernel refuses, if there is none of that name */
static int type_of(const struct nl_attr_set *set, const char *name)
{
	int type = (int)set->max;

	while (--type && (!set->attrs[type].name || strcmp(set->attrs[type].name, name)))
		;
	return type;
}

static int put_addr(struct nl_msg *msg, int attr, const struct addr *a)
{
	uint8_t bin[ADDR_BIN_MAX];

	return nla_put(msg, attr, (int)addr_to_bin(a, bin), bin);
}

/* These return whether it had room. */
static bool put_value(struct nl_msg *msg, enum access_key k, const struct access_value *v)
{
	const struct access_key_desc *d = &access_keys[k];
	struct nlattr *nest;
	int bad;

	if (k == AK_PATH)
		return !nla_put_string(msg, d->attr, v->word);
	if (k == AK_IO_MODE && v->n == RNBD_IO_MODE_BLOCKIO)
		return true;
	if (!d->word && !d->addr)
		return !(k == AK_MAX_MEMORY ? nla_put_u64(msg, d->attr, v->n) : nla_put_u32(msg, d->attr, (uint32_t)v->n));
	nest = nla_nest_start(msg, d->attr | NLA_F_NESTED);
	if (!nest)
		return false;
	bad = d->word ? nla_put_string(msg, d->word, v->word) : put_addr(msg, d->addr, &v->addr);
	if (d->n)
		bad |= nla_put_u32(msg, d->n, (uint32_t)v->n);
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

static bool put_says(struct nl_msg *msg, const char *name, const json_t *v)
{
	int type = type_of(access_set(), name);
	struct addr addr;

	if (json_is_true(v))
		return !nla_put_flag(msg, type);
	if (json_is_integer(v))
		return !nla_put_u32(msg, type, (uint32_t)json_integer_value(v));
	if (access_set()->attrs[type].type != NL_BIN)
		return !nla_put_string(msg, type, json_string_value(v));
	free(addr_literal(json_string_value(v), &addr));
	return !put_addr(msg, type, &addr);
}

static bool put_items(struct nl_msg *msg, const struct access_list *l, struct nl_error *e)
{
	for (int kind = 0; kind < ACCESS_KINDS; kind++) {
		for (size_t i = 0; i < l->of[kind].n; i++) {
			if (put_item(msg, kind, &l->of[kind].v[i]))
				continue;
			*e = (struct nl_error){ .kind = NL_FAIL_USAGE };
			snprintf(e->extack, sizeof(e->extack), "%s '%.60s' is too long: one has to fit into 64 KiB, "
				 "and all into %d MiB", access_set()->attrs[item_attr[kind]].name,
				 l->of[kind].v[i].name, LIST_SIZE >> 20);
			return false;
		}
	}
	return true;
}

static bool ask(struct nl *nl, enum access_ask what, const struct access_list *request, struct access_list *reply,
		struct nl_error *e)
{
	static const int cmds[] = { RNBD_CMD_ACCESS_GET, RNBD_CMD_ACCESS_SET, RNBD_CMD_ACCESS_TEST };
	bool set = what == ACCESS_SET, dry = nl->k.cfg.dry_run, ok;
	int cmd = cmds[what], room = LIST_SIZE;
	struct nl_msg *msg;
	const char *name, *bad = NULL;
	json_t *v;

	if (!rnl_has_op(nl, cmd, e))
		return false;
	msg = set ? rnl_new_sized(nl, cmd, LIST_SIZE) : rnl_new(nl, cmd, what == ACCESS_GET ? NLM_F_DUMP : 0);
	if (request)
		json_object_foreach(request->says, name, v)
			bad = put_says(msg, name, v) ? bad : name;
	if (bad) {
		*e = (struct nl_error){ .kind = NL_FAIL_USAGE };
		snprintf(e->extack, sizeof(e->extack), "the %s is too long", bad);
	}
	if (bad || (request && !put_items(msg, request, e))) {
		nlmsg_free(msg);
		return false;
	}
	/* the whole list is one message */
	if (set && !nl->k.cfg.replay)
		setsockopt(nl_socket_get_fd(nl->sk), SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	/* what changes nothing is sent in a dry run, too */
	nl->k.cfg.dry_run = dry && set && !json_object_get(request->says, "dry-run");
	ok = rnl_transact(nl, msg, on_reply, reply, e);
	nl->k.cfg.dry_run = dry;
	return ok;
}

bool netlink_access(struct kernel *k, enum access_ask what, const struct access_list *request,
		    struct access_list *reply, struct nl_error *e)
{
	struct nl *nl = to_nl(k);
	int tries = what == ACCESS_GET && !nl->k.cfg.replay ? 5 : 1;
	bool ok;

	*reply = (struct access_list){ 0 };
	do {
		access_free(reply);
		reply->says = json_object();
		ok = ask(nl, what, request, reply, e);
		/* a list that was replaced meanwhile is read again */
	} while (ok && nl->interrupted && --tries);
	access_sort(reply);
	return ok;
}
