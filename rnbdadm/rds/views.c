// SPDX-License-Identifier: GPL-2.0
/* Fields and columns of RDS objects. */
#include <stdlib.h>
#include <string.h>

#include "../objects.h"
#include "views.h"

static long long number(const json_t *obj, const char *key)
{
	return (long long)json_integer_value(json_object_get(obj, key));
}

static char *end_text(const json_t *obj, const char *address, const char *port)
{
	const char *a = json_string_value(json_object_get(obj, address));

	if (!a)
		return xstrdup("-");
	return xasprintf(strchr(a, ':') ? "[%s]:%lld" : "%s:%lld", a, number(obj, port));
}

static char *col_local(const json_t *obj, const struct out_opts *o)
{
	(void)o;
	return end_text(obj, "local_address", "local_port");
}

static char *col_remote(const json_t *obj, const struct out_opts *o)
{
	(void)o;
	return end_text(obj, "remote_address", "remote_port");
}

static char *col_processes(const json_t *obj, const struct out_opts *o)
{
	struct strbuf b = { 0 };
	const json_t *p;
	size_t i;

	(void)o;
	json_array_foreach(json_object_get(obj, "processes"), i, p) {
		char *name = shown(p, "name");

		strbuf_printf(&b, "%s%s(%lld)", i ? "," : "", name, number(p, "pid"));
		free(name);
	}
	return b.s ? b.s : xstrdup("-");
}

static char *col_state(const json_t *obj, const struct out_opts *o)
{
	char *state = shown(obj, "state"), *s;

	(void)o;
	if (!json_is_true(json_object_get(obj, "sending")))
		return state;
	s = xasprintf("%s,sending", state);
	free(state);
	return s;
}

static const struct field socket_fields[] = {
	{ "local_address", NULL, F_STR, false, "address that it is bound to" },
	{ "local_port", NULL, F_COUNT, false, "port that it is bound to" },
	{ "remote_address", NULL, F_STR, false, "address that it is connected to" },
	{ "remote_port", NULL, F_COUNT, false, "port that it is connected to" },
	{ "send_queue_messages", NULL, F_COUNT, false, "messages that the peer has not acknowledged" },
	{ "send_queue_bytes", NULL, F_BYTES, false, "their bytes" },
	{ "send_buffer_bytes", NULL, F_BYTES, false, "a send waits, or fails, when these are queued" },
	{ "receive_queue_messages", NULL, F_COUNT, false, "messages that nobody has read" },
	{ "receive_queue_bytes", NULL, F_BYTES, false, "their bytes" },
	{ "receive_buffer_bytes", NULL, F_BYTES, false, "with more queued the port is congested" },
	{ "inode", NULL, F_COUNT, false, "inode of the socket" },
	{ "processes", NULL, F_LIST, false, "processes that have it open" },
	{ 0 }
};

static const struct column socket_columns[] = {
	{ .title = "LOCAL", .field = "local_address", .text = col_local },
	{ .title = "REMOTE", .field = "remote_address", .text = col_remote },
	{ .title = "SEND-Q", .field = "send_queue_bytes", .right = true },
	{ .title = "SNDBUF", .field = "send_buffer_bytes", .right = true, .drop = 2 },
	{ .title = "RECV-Q", .field = "receive_queue_bytes", .right = true },
	{ .title = "RCVBUF", .field = "receive_buffer_bytes", .right = true, .drop = 1 },
	{ .title = "PROCESS", .field = "processes", .text = col_processes },
	{ 0 }
};

const struct view rds_socket_view = {
	.name = "rds-socket", .key = "sockets", .fields = socket_fields, .columns = socket_columns,
	.brief = "inode",
};

static const struct field connection_fields[] = {
	{ "local_address", NULL, F_STR, false, "address of this host" },
	{ "remote_address", NULL, F_STR, false, "address of the peer" },
	{ "transport", NULL, F_STR, false, "tcp, infiniband or loopback" },
	{ "tos", NULL, F_COUNT, false, "type of service; not told for IPv6" },
	{ "state", NULL, F_STR, false, "connected, connecting or down" },
	{ "sending", NULL, F_BOOL, false, "a message is being sent" },
	{ "next_send_sequence", NULL, F_COUNT, false, "number of the next message to be sent" },
	{ "next_receive_sequence", NULL, F_COUNT, false, "number that the next message should have" },
	{ "unsent_messages", NULL, F_COUNT, false, "messages that wait to be sent" },
	{ "unsent_bytes", NULL, F_BYTES, false, "their bytes" },
	{ "unacknowledged_messages", NULL, F_COUNT, false, "messages sent and not acknowledged" },
	{ "unacknowledged_bytes", NULL, F_BYTES, false, "their bytes" },
	{ "tcp_sockets", NULL, F_LIST, false, "its TCP connections" },
	{ 0 }
};

static const struct column connection_columns[] = {
	{ .title = "LOCAL", .field = "local_address" },
	{ .title = "REMOTE", .field = "remote_address" },
	{ .title = "TRANSPORT", .field = "transport" },
	{ .title = "TOS", .field = "tos", .right = true, .drop = 2 },
	{ .title = "STATE", .field = "state", .text = col_state },
	{ .title = "NEXT TX", .field = "next_send_sequence", .right = true, .drop = 1 },
	{ .title = "NEXT RX", .field = "next_receive_sequence", .right = true, .drop = 1 },
	{ .title = "UNSENT", .field = "unsent_bytes", .right = true },
	{ .title = "UNACKED", .field = "unacknowledged_bytes", .right = true },
	{ 0 }
};

const struct view rds_connection_view = {
	.name = "rds-connection", .key = "connections", .fields = connection_fields,
	.columns = connection_columns, .brief = "remote_address",
};

static const struct field stats_fields[] = {
	{ "name", NULL, F_STR, false, "name of the counter" },
	{ "value", NULL, F_COUNT, false, "counted since the module was loaded" },
	{ 0 }
};

static const struct column stats_columns[] = {
	{ .title = "COUNTER", .field = "name" },
	{ .title = "VALUE", .field = "value", .right = true },
	{ 0 }
};

const struct view rds_stats_view = {
	.name = "rds-stats", .key = "counters", .fields = stats_fields, .columns = stats_columns,
	.brief = "name",
};
