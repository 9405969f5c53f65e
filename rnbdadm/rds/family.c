// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include <linux/rds_netlink.h>

#include "host/sysfs-file.h"
#include "kernel/netlink/netlink.h"
#include "rds/family.h"

#define MOST_TRIES	8

const char *rds_path_state(const struct rds_path *p)
{
	static const char *const words[] = {
		[RDS_PATH_STATE_DOWN] = "down",
		[RDS_PATH_STATE_CONNECTING] = "connecting",
		[RDS_PATH_STATE_DISCONNECTING] = "closing",
		[RDS_PATH_STATE_UP] = "connected",
		[RDS_PATH_STATE_RESETTING] = "closing",
		[RDS_PATH_STATE_ERROR] = "closing",
	};

	return p->state < ARRAY_SIZE(words) ? words[p->state] : "unknown";
}

const char *rds_peer(const struct rds_path *p)
{
	if (p->abilities == UINT64_MAX)
		return NULL;
	return p->abilities & RDS_ABILITY_ACK ? "rnbd" : "other";
}

/* An attribute that is absent or too short is not known. */
static uint64_t number(const struct nlattr *a)
{
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	switch (a ? nla_len(a) : 0) {
	case 8:
		memcpy(&v64, nla_data(a), sizeof(v64));
		return v64;
	case 4:
		memcpy(&v32, nla_data(a), sizeof(v32));
		return v32;
	case 2:
		memcpy(&v16, nla_data(a), sizeof(v16));
		return v16;
	case 1:
		return *(const uint8_t *)nla_data(a);
	default:
		return UINT64_MAX;
	}
}

static void parse_path(struct nlattr *nest, struct rds_path *p)
{
	struct nlattr *tb[RDS_A_PATH_MAX + 1] = { NULL };
	struct nlattr *error;

	nla_parse_nested(tb, RDS_A_PATH_MAX, nest, NULL);
	error = tb[RDS_A_PATH_LAST_ERROR];
	*p = (struct rds_path){
		.index = number(tb[RDS_A_PATH_INDEX]),
		.state = number(tb[RDS_A_PATH_STATE]),
		.since_ns = number(tb[RDS_A_PATH_SINCE_NS]),
		.reconnects = number(tb[RDS_A_PATH_RECONNECTS]),
		.error = error && nla_len(error) == 4 ? (int32_t)number(error) : 0,
		.next_send = number(tb[RDS_A_PATH_NEXT_TX]),
		.next_receive = number(tb[RDS_A_PATH_NEXT_RX]),
		.unsent = number(tb[RDS_A_PATH_UNSENT]),
		.unacknowledged = number(tb[RDS_A_PATH_UNACKED]),
		.local_port = number(tb[RDS_A_PATH_LOCAL_PORT]),
		.remote_port = number(tb[RDS_A_PATH_REMOTE_PORT]),
		.abilities = number(tb[RDS_A_PATH_ABILITIES]),
	};
}

static void parse_addr(struct nlattr *a, struct addr *addr)
{
	if (!a || !addr_from_bin(nla_data(a), nla_len(a), addr))
		memset(addr, 0, sizeof(*addr));
}

static void parse(const struct nlmsghdr *h, struct rds_told *t)
{
	struct nlattr *tb[RDS_A_CONNECTION_MAX + 1] = { NULL };
	struct nlattr *first = (struct nlattr *)((char *)h + NLMSG_HDRLEN + GENL_HDRLEN), *a;
	int len = (int)h->nlmsg_len - (NLMSG_HDRLEN + GENL_HDRLEN), rem;
	uint64_t tos;

	memset(t, 0, sizeof(*t));
	nla_parse(tb, RDS_A_CONNECTION_MAX, first, len, NULL);
	parse_addr(tb[RDS_A_CONNECTION_LOCAL_ADDR], &t->local);
	parse_addr(tb[RDS_A_CONNECTION_REMOTE_ADDR], &t->remote);
	tos = number(tb[RDS_A_CONNECTION_TOS]);
	t->tos = tos > UINT8_MAX ? RDS_TOS_UNKNOWN : (int)tos;
	a = tb[RDS_A_CONNECTION_TRANSPORT];
	if (a)
		snprintf(t->transport, sizeof(t->transport), "%.*s", nla_len(a), (char *)nla_data(a));
	t->agreed = number(tb[RDS_A_CONNECTION_PATHS]);
	t->event = number(tb[RDS_A_CONNECTION_EVENT]);
	nla_for_each_attr(a, first, len, rem) {
		if (nla_type(a) != RDS_A_CONNECTION_PATH)
			continue;
		t->paths = xrealloc(t->paths, (t->npaths + 1) * sizeof(*t->paths));
		parse_path(a, &t->paths[t->npaths++]);
	}
}

static void absent(struct ctx *ctx)
{
	struct fail *f = &ctx->fail;
	struct rds_module m[RDS_MODULES];

	rds_modules(ctx->test_root, m);
	if (!m[0].loaded) {
		fail_set(f, XC_UNAVAILABLE, "this kernel has no RDS: the module rds is not loaded");
		fail_hint(f, "modprobe rds_tcp; only the modules of rnbd-dkms tell events");
	} else {
		fail_set(f, XC_UNAVAILABLE, "the rds that is loaded, %s, has no netlink family rds, and tells no events",
			 !strcmp(m[0].origin, "kernel") ? "the kernel's own" : "an older one of rnbd-dkms");
		fail_hint(f, "install rnbd-dkms, stop the programs of 'rnbdadm rds socket', modprobe -r rds_tcp rds, modprobe rds_tcp");
	}
	rds_modules_free(m);
}

static bool failed(struct ctx *ctx, const struct nl_error *e)
{
	fail_nl(&ctx->fail, e, "client");
	return false;
}

/* @need: it is an error where it is not there. */
static bool open_family(struct ctx *ctx, bool need)
{
	struct nl_error e;

	if (ctx_kernel_family(ctx, &netlink_family_rds, &e))
		return true;
	if (e.kind != NL_FAIL_NO_FAMILY)
		failed(ctx, &e);
	else if (need)
		absent(ctx);
	return false;
}

bool rds_family_open(struct ctx *ctx)
{
	return open_family(ctx, true);
}

struct reading {
	struct rds_told *v;
	size_t n;
};

static void on_connection(const struct nlmsghdr *h, void *arg)
{
	struct reading *r = arg;

	r->v = xrealloc(r->v, (r->n + 1) * sizeof(*r->v));
	parse(h, &r->v[r->n++]);
}

static void reading_free(struct reading *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->v[i].paths);
	free(r->v);
	*r = (struct reading){ 0 };
}

bool rds_family_each(struct ctx *ctx, void (*fn)(void *arg, struct rds_told *t), void *arg)
{
	struct reading r = { 0 };
	struct nl_error e;
	struct nl *nl = to_nl(ctx->kernel);
	bool ok = true;

	/* connections that came or went meanwhile: once more, but not for ever */
	for (size_t tries = 0; ok && tries < MOST_TRIES && (!tries || nl->interrupted); tries++) {
		if (tries && ctx->nl_replay)
			break;
		reading_free(&r);
		ok = rnl_transact(nl, rnl_new(nl, RDS_CMD_CONNECTION_GET, NLM_F_DUMP),
				  on_connection, &r, &e);
	}
	if (!ok)
		failed(ctx, &e);
	else if (nl->interrupted)
		warn(ctx, "connections changed while they were read; the picture may be torn");
	for (size_t i = 0; ok && i < r.n; i++)
		fn(arg, &r.v[i]);
	reading_free(&r);
	return ok;
}

/* The lists tell no type of service of IPv6 connections. */
static bool is_same(const struct rds_connection *c, const struct rds_told *t)
{
	return addr_equal(&c->local, &t->local) && addr_equal(&c->remote, &t->remote) && !strcmp(c->transport, t->transport) &&
	       (c->tos == RDS_TOS_UNKNOWN || c->tos == t->tos);
}

static void add_told(void *arg, struct rds_told *t)
{
	struct rds_lists *l = arg;

	for (size_t i = 0; i < l->nconnections; i++) {
		struct rds_connection_row *row = &l->connections[i];

		if (row->paths || !is_same(&row->c, t))
			continue;
		row->c.tos = t->tos;
		row->agreed = t->agreed;
		row->paths = t->paths;
		row->npaths = t->npaths;
		t->paths = NULL;
		return;
	}
}

bool rds_family_add(struct ctx *ctx, struct rds_lists *l)
{
	/* below a moved root there is one if it was recorded */
	if (*ctx->test_root && !ctx->nl_replay)
		return true;
	if (!open_family(ctx, false))
		return !ctx->fail.code;
	return rds_family_each(ctx, add_told, l);
}

bool rds_family_listen(struct ctx *ctx)
{
	struct nl_error e;

	return ctx->kernel->ops->listen(ctx->kernel, RDS_MCGRP_MONITOR, &e) || failed(ctx, &e);
}

enum nl_next rds_family_next(struct ctx *ctx, struct rds_told *t)
{
	const struct nlmsghdr *h;
	enum nl_next what = rnl_next_message(to_nl(ctx->kernel), &h);

	if (what == NL_NEXT_EVENT)
		parse(h, t);
	return what;
}
