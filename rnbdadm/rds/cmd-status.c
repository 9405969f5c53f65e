// SPDX-License-Identifier: GPL-2.0
/* rds status: modules, transports, listeners, sums */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/rdma-listeners.h"
#include "rds/commands.h"
#include "rds/listen.h"
#include "rds/lists.h"

static json_t *js_modules(const struct rds_module *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < RDS_MODULES; i++) {
		json_t *j = json_object();

		js_set(j, "name", json_string(m[i].name));
		js_set(j, "loaded", json_boolean(m[i].loaded));
		js_set(j, "version", js_str_or_null(m[i].version));
		js_set(j, "origin", m[i].origin ? json_string(m[i].origin) : json_null());
		json_array_append_new(list, j);
	}
	return list;
}

/* The loopback is a part of the core. */
static json_t *js_transports(const struct rds_module *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < RDS_MODULES; i++)
		if (m[i].loaded)
			json_array_append_new(list, json_string(m[i].transport ? m[i].transport : "loopback"));
	return list;
}

static void add_listener(json_t *list, const char *transport, const char *address, unsigned int port)
{
	json_t *j = json_object();

	js_set(j, "transport", json_string(transport));
	js_set(j, "address", js_str_or_null(address));
	js_set(j, "port", json_integer(port));
	json_array_append_new(list, j);
}

/* A listener that a process has is not that of RDS. */
static json_t *js_listeners(const char *root, const struct rds_module *m)
{
	static const unsigned int ports[] = { RDS_TCP_PORT, RDS_CM_PORT };
	json_t *list = json_array();
	struct rds_listeners tcp;
	struct strlist who;
	char text[ADDR_TEXT_MAX];

	rds_listeners(root, RDS_TCP_PORT, &tcp);
	for (size_t i = 0; i < tcp.n && m[1].loaded; i++) {
		addr_format_bare(&tcp.v[i].local, text);
		if (!tcp.v[i].process)
			add_listener(list, "tcp", text, RDS_TCP_PORT);
	}
	rds_listeners_free(&tcp);
	for (size_t i = 0; i < ARRAY_SIZE(ports) && m[2].loaded && !*root; i++) {
		who = (struct strlist){ 0 };
		rdma_listeners(ports[i], &who);
		if (strlist_has(&who, "the kernel module rds_rdma"))
			add_listener(list, "infiniband", NULL, ports[i]);
		strlist_free(&who);
	}
	return list;
}

static json_t *js_summary(const struct rds_lists *l)
{
	uint64_t bound = 0, connected = 0, connecting = 0;
	json_t *j = json_object();

	for (size_t i = 0; i < l->nsockets; i++)
		bound += l->sockets[i].s.local.family != ADDR_NONE;
	for (size_t i = 0; i < l->nconnections; i++) {
		const char *state = rds_state(&l->connections[i].c);

		connected += !strcmp(state, "connected");
		connecting += !strcmp(state, "connecting");
	}
	js_set(j, "sockets_total", js_u64(l->nsockets));
	js_set(j, "sockets_bound", js_u64(bound));
	js_set(j, "connections_total", js_u64(l->nconnections));
	js_set(j, "connections_connected", js_u64(connected));
	js_set(j, "connections_connecting", js_u64(connecting));
	js_set(j, "connections_down", js_u64(l->nconnections - connected - connecting));
	js_set(j, "unsent_messages", l->unsent.known ? js_u64(l->unsent.messages) : json_null());
	js_set(j, "unsent_bytes", l->unsent.known ? js_u64(l->unsent.bytes) : json_null());
	js_set(j, "unacknowledged_messages",
	       l->unacknowledged.known ? js_u64(l->unacknowledged.messages) : json_null());
	js_set(j, "unacknowledged_bytes",
	       l->unacknowledged.known ? js_u64(l->unacknowledged.bytes) : json_null());
	js_set(j, "unread_messages", l->unread.known ? js_u64(l->unread.messages) : json_null());
	js_set(j, "unread_bytes", l->unread.known ? js_u64(l->unread.bytes) : json_null());
	return j;
}

static long long number(const json_t *j, const char *key)
{
	return (long long)json_integer_value(json_object_get(j, key));
}

static const char *word(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "-";
}

static void print_modules(const json_t *list)
{
	const json_t *m;
	size_t i;

	json_array_foreach(list, i, m) {
		char *version = printable(word(m, "version"));

		if (json_is_true(json_object_get(m, "loaded")))
			printf("module       %s, %s%s%s\n", word(m, "name"),
			       !strcmp(word(m, "origin"), "kernel") ? "the kernel's own" : "of rnbd-dkms",
			       strcmp(version, "-") ? ", version " : "", strcmp(version, "-") ? version : "");
		free(version);
	}
}

static void print_listeners(const json_t *list)
{
	const json_t *l;
	size_t i;

	json_array_foreach(list, i, l) {
		const char *address = word(l, "address");

		printf("listens      %s port %lld", word(l, "transport"), number(l, "port"));
		printf(strcmp(address, "-") ? ", %s\n" : "\n", address);
	}
	if (!i)
		puts("listens      nowhere");
}

static void print_queue(const char *what, const json_t *sum, const char *messages, const char *bytes)
{
	printf("%-12s ", what);
	if (json_is_null(json_object_get(sum, messages)))
		puts("-");
	else
		printf("%lld messages, %lld bytes\n", number(sum, messages), number(sum, bytes));
}

static void print_text(const json_t *data)
{
	const json_t *sum = json_object_get(data, "summary"), *t;
	size_t i;

	print_modules(json_object_get(data, "modules"));
	printf("transports  ");
	json_array_foreach(json_object_get(data, "transports"), i, t)
		printf(" %s", json_string_value(t));
	putchar('\n');
	print_listeners(json_object_get(data, "listeners"));
	printf("sockets      %lld, %lld bound\n", number(sum, "sockets_total"), number(sum, "sockets_bound"));
	printf("connections  %lld: %lld connected, %lld connecting, %lld down\n", number(sum, "connections_total"),
	       number(sum, "connections_connected"), number(sum, "connections_connecting"),
	       number(sum, "connections_down"));
	print_queue("unsent", sum, "unsent_messages", "unsent_bytes");
	print_queue("unacked", sum, "unacknowledged_messages", "unacknowledged_bytes");
	print_queue("unread", sum, "unread_messages", "unread_bytes");
}

int cmd_rds_status(struct ctx *ctx)
{
	struct rds_module m[RDS_MODULES];
	struct rds_lists l;
	struct rds r;

	if (!rds_open(ctx, &r) || !rds_lists(ctx, &r, &l)) {
		rds_close(&r);
		return ctx->fail.code;
	}
	rds_close(&r);
	rds_modules(ctx->test_root, m);
	js_set(ctx->data, "modules", js_modules(m));
	js_set(ctx->data, "transports", js_transports(m));
	js_set(ctx->data, "listeners", js_listeners(ctx->test_root, m));
	js_set(ctx->data, "summary", js_summary(&l));
	if (ctx->out.fmt == OUT_TEXT)
		print_text(ctx->data);
	rds_modules_free(m);
	rds_lists_free(&l);
	return XC_OK;
}
