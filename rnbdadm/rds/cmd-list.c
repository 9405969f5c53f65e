// SPDX-License-Identifier: GPL-2.0
/* rds socket, rds connection, rds stats */
#include <stdlib.h>
#include <unistd.h>

#include <linux/rds.h>

#include "output/to-json.h"
#include "rds/commands.h"
#include "rds/family.h"
#include "rds/views.h"

static void js_address(json_t *j, const char *key, const struct addr *a)
{
	char text[ADDR_TEXT_MAX];

	addr_format_bare(a, text);
	js_set(j, key, js_str_or_null(text));
}

static void js_end(json_t *j, const char *address, const char *port, const struct addr *a)
{
	js_address(j, address, a);
	js_set(j, port, a->family == ADDR_NONE ? json_null() : json_integer(a->port));
}

static void js_queue(json_t *j, const char *messages, const char *bytes, const struct rds_queue *q)
{
	js_set(j, messages, q->known ? js_u64(q->messages) : json_null());
	js_set(j, bytes, q->known ? js_u64(q->bytes) : json_null());
}

/* Nobody found by one who may not look into all processes is not known. */
static json_t *js_users(const struct rds_socket_row *row)
{
	json_t *list;

	if (!row->nusers && geteuid())
		return json_null();
	list = json_array();
	for (size_t i = 0; i < row->nusers; i++) {
		json_t *p = json_object();

		js_set(p, "pid", js_u64(row->users[i].pid));
		js_set_str(p, "name", row->users[i].name);
		json_array_append_new(list, p);
	}
	return list;
}

static json_t *js_socket(const struct rds_socket_row *row)
{
	json_t *j = json_object();

	js_end(j, "local_address", "local_port", &row->s.local);
	js_end(j, "remote_address", "remote_port", &row->s.remote);
	js_queue(j, "send_queue_messages", "send_queue_bytes", &row->send);
	js_set(j, "send_buffer_bytes", js_u64(row->s.send_buffer));
	js_queue(j, "receive_queue_messages", "receive_queue_bytes", &row->receive);
	js_set(j, "receive_buffer_bytes", js_u64(row->s.receive_buffer));
	js_set(j, "inode", js_u64(row->s.inode));
	js_set(j, "processes", js_users(row));
	return j;
}

static json_t *js_tcp(const struct rds_connection_row *row)
{
	json_t *list = json_array();

	for (size_t i = 0; i < row->ntcp; i++) {
		char *local = rds_end(&row->tcp[i].local), *remote = rds_end(&row->tcp[i].remote);
		char *both = xasprintf("%s-%s", local, remote);

		json_array_append_new(list, js_str(both));
		free(both);
		free(remote);
		free(local);
	}
	return list;
}

static json_t *js_rds_path(const struct rds_path *p)
{
	json_t *j = json_object();
	const char *peer = rds_peer(p);

	js_set(j, "path", js_u64(p->index));
	js_set(j, "state", json_string(rds_path_state(p)));
	js_set(j, "since", js_time(p->since_ns));
	js_set(j, "reconnects", js_u64(p->reconnects));
	js_set(j, "last_error", js_errno(p->error));
	js_set(j, "peer", peer ? json_string(peer) : json_null());
	js_set(j, "local_port", js_u64(p->local_port));
	js_set(j, "remote_port", js_u64(p->remote_port));
	js_set(j, "next_send_sequence", js_u64(p->next_send));
	js_set(j, "next_receive_sequence", js_u64(p->next_receive));
	js_set(j, "unsent_messages", js_u64(p->unsent));
	js_set(j, "unacknowledged_messages", js_u64(p->unacknowledged));
	return j;
}

/* The connection in one word each. Of the paths that have an error it is that of the one that changed last. */
static void js_paths(json_t *j, const struct rds_connection_row *row)
{
	const struct rds_path *bad = NULL;
	const char *peer = NULL;
	uint64_t reconnects = 0;
	json_t *list = json_array();

	for (size_t i = 0; i < row->npaths; i++) {
		const struct rds_path *p = &row->paths[i];

		json_array_append_new(list, js_rds_path(p));
		reconnects += p->reconnects;
		if (p->error && (!bad || p->since_ns > bad->since_ns))
			bad = p;
		peer = peer ? peer : rds_peer(p);
	}
	js_set(j, "peer", peer ? json_string(peer) : json_null());
	js_set(j, "reconnects", row->paths ? js_u64(reconnects) : json_null());
	js_set(j, "last_error", bad ? js_errno(bad->error) : json_null());
	js_set(j, "since", row->paths ? js_time(row->paths[0].since_ns) : json_null());
	js_set(j, "paths_agreed", row->paths ? js_u64(row->agreed) : json_null());
	js_set(j, "path_details", row->paths ? json_incref(list) : json_null());
	json_decref(list);
}

static json_t *js_connection(const struct rds_connection_row *row)
{
	const struct rds_connection *c = &row->c;
	json_t *j = json_object();

	js_address(j, "local_address", &c->local);
	js_address(j, "remote_address", &c->remote);
	js_set(j, "transport", js_str(c->transport));
	js_set(j, "tos", c->tos == RDS_TOS_UNKNOWN ? json_null() : json_integer(c->tos));
	js_set(j, "state", json_string(rds_state(c)));
	js_set(j, "sending", json_boolean(c->flags & RDS_INFO_CONNECTION_FLAG_SENDING));
	js_set(j, "next_send_sequence", js_u64(c->next_send));
	js_set(j, "next_receive_sequence", js_u64(c->next_receive));
	js_queue(j, "unsent_messages", "unsent_bytes", &row->unsent);
	js_queue(j, "unacknowledged_messages", "unacknowledged_bytes", &row->unacknowledged);
	js_set(j, "tcp_sockets", js_tcp(row));
	js_paths(j, row);
	return j;
}

/* What @add makes of the lists, as rows of @view; false with ctx->fail set */
static int show_lists(struct ctx *ctx, const struct view *view,
		      bool (*add)(struct ctx *ctx, struct rds_lists *l, json_t *rows))
{
	struct rds_lists l;
	json_t *rows;
	struct rds r;
	bool ok;

	if (!rds_open(ctx, &r) || !rds_lists(ctx, &r, &l)) {
		rds_close(&r);
		return ctx->fail.code;
	}
	rows = json_array();
	ok = add(ctx, &l, rows);
	rds_lists_free(&l);
	rds_close(&r);
	if (ok)
		out_list(ctx, view, rows);
	else
		json_decref(rows);
	return ctx->fail.code;
}

static bool add_sockets(struct ctx *ctx, struct rds_lists *l, json_t *rows)
{
	rds_users(ctx->test_root, l);
	for (size_t i = 0; i < l->nsockets; i++)
		json_array_append_new(rows, js_socket(&l->sockets[i]));
	return true;
}

static bool add_connections(struct ctx *ctx, struct rds_lists *l, json_t *rows)
{
	if (!rds_family_add(ctx, l))
		return false;
	for (size_t i = 0; i < l->nconnections; i++)
		json_array_append_new(rows, js_connection(&l->connections[i]));
	return true;
}

int cmd_rds_socket(struct ctx *ctx)
{
	return show_lists(ctx, &rds_socket_view, add_sockets);
}

int cmd_rds_connection(struct ctx *ctx)
{
	return show_lists(ctx, &rds_connection_view, add_connections);
}

int cmd_rds_stats(struct ctx *ctx)
{
	json_t *list = json_array();
	struct rds_counter c;
	struct rds_list raw;
	struct rds r;

	if (!rds_open(ctx, &r) || !rds_read(ctx, &r, RDS_INFO_COUNTERS, &raw)) {
		rds_close(&r);
		json_decref(list);
		return ctx->fail.code;
	}
	for (size_t i = 0; i < rds_count(&raw); i++) {
		json_t *j = json_object();

		rds_counter_at(&raw, i, &c);
		js_set(j, "name", js_str(c.name));
		js_set(j, "value", js_u64(c.value));
		json_array_append_new(list, j);
	}
	free(raw.bytes);
	rds_close(&r);
	out_list(ctx, &rds_stats_view, list);
	return XC_OK;
}
