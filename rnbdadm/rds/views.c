// SPDX-License-Identifier: GPL-2.0
/* Fields and columns of RDS objects. */
#include <stdlib.h>
#include <string.h>

#include "output/to-json.h"
#include "rds/views.h"

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
	return end_text(obj, "local_address", "local_port");
}

static char *col_remote(const json_t *obj, const struct out_opts *o)
{
	return end_text(obj, "remote_address", "remote_port");
}

static char *col_processes(const json_t *obj, const struct out_opts *o)
{
	struct strbuf b = { 0 };
	const json_t *p;
	size_t i;

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
	{ .title = "SNDBUF", .field = "send_buffer_bytes", .right = true },
	{ .title = "RECV-Q", .field = "receive_queue_bytes", .right = true },
	{ .title = "RCVBUF", .field = "receive_buffer_bytes", .right = true },
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
	{ "transport", NULL, F_WORD, false, "tcp, infiniband or loopback" },
	{ "tos", NULL, F_COUNT, false, "type of service; for IPv6 only of rnbd-dkms" },
	{ "state", NULL, F_WORD, false, "connected, connecting or down" },
	{ "sending", NULL, F_BOOL, false, "a message is being sent" },
	{ "next_send_sequence", NULL, F_COUNT, false, "number of the next message to be sent" },
	{ "next_receive_sequence", NULL, F_COUNT, false, "number that the next message should have" },
	{ "unsent_messages", NULL, F_COUNT, false, "messages that wait to be sent" },
	{ "unsent_bytes", NULL, F_BYTES, false, "their bytes" },
	{ "unacknowledged_messages", NULL, F_COUNT, false, "messages sent and not acknowledged" },
	{ "unacknowledged_bytes", NULL, F_BYTES, false, "their bytes" },
	{ "tcp_sockets", NULL, F_LIST, false, "its TCP connections" },
	{ "peer", NULL, F_STR, false, "rnbd or other: the module of the peer; as all below of rnbd-dkms" },
	{ "reconnects", NULL, F_COUNT, false, "how often its paths have been connected again" },
	{ "last_error", NULL, F_STR, false, "the last error that ended a path" },
	{ "since", NULL, F_TIME, false, "when the first path came into its state" },
	{ "paths_agreed", NULL, F_COUNT, false, "paths that both ends have" },
	{ "path_details", NULL, F_JSON, false, "the paths that are in use, in JSON alone" },
	{ 0 }
};

static const struct column connection_columns[] = {
	{ .title = "LOCAL", .field = "local_address" },
	{ .title = "REMOTE", .field = "remote_address" },
	{ .title = "TRANSPORT", .field = "transport" },
	{ .title = "TOS", .field = "tos", .right = true },
	{ .title = "STATE", .field = "state", .text = col_state },
	{ .title = "NEXT TX", .field = "next_send_sequence", .right = true },
	{ .title = "NEXT RX", .field = "next_receive_sequence", .right = true },
	{ .title = "UNSENT", .field = "unsent_bytes", .right = true },
	{ .title = "UNACKED", .field = "unacknowledged_bytes", .right = true },
	{ 0 }
};

/* Of our own modules, which tell more. */
static const struct column told_columns[] = {
	{ .title = "LOCAL", .field = "local_address" },
	{ .title = "REMOTE", .field = "remote_address" },
	{ .title = "TRANSPORT", .field = "transport" },
	{ .title = "TOS", .field = "tos", .right = true },
	{ .title = "STATE", .field = "state", .text = col_state },
	{ .title = "PEER", .field = "peer" },
	{ .title = "RECONN", .field = "reconnects", .right = true },
	{ .title = "LAST ERROR", .field = "last_error" },
	{ .title = "NEXT TX", .field = "next_send_sequence", .right = true },
	{ .title = "NEXT RX", .field = "next_receive_sequence", .right = true },
	{ .title = "UNSENT", .field = "unsent_bytes", .right = true },
	{ .title = "UNACKED", .field = "unacknowledged_bytes", .right = true },
	{ 0 }
};

static const struct column *pick_columns(const json_t *list)
{
	const json_t *row;
	size_t i;

	json_array_foreach(list, i, row)
		if (json_is_array(json_object_get(row, "path_details")))
			return told_columns;
	return connection_columns;
}

/* "word N" where it is known */
static void add_number(struct strbuf *b, const char *word, const json_t *p, const char *key)
{
	if (json_is_integer(json_object_get(p, key)))
		strbuf_printf(b, " %s %lld", word, number(p, key));
}

static void add_word(struct strbuf *b, const char *word, const json_t *p, const char *key)
{
	if (json_is_string(json_object_get(p, key)))
		strbuf_printf(b, " %s %s", word, json_string_value(json_object_get(p, key)));
}

/* -v: a line for each path */
static void path_lines(const json_t *obj, struct strlist *lines)
{
	const json_t *p;
	size_t i;

	json_array_foreach(json_object_get(obj, "path_details"), i, p) {
		struct strbuf b = { 0 };

		strbuf_printf(&b, "  path %lld %s", number(p, "path"), json_string_value(json_object_get(p, "state")));
		add_word(&b, "since", p, "since");
		if (json_is_integer(json_object_get(p, "local_port")))
			strbuf_printf(&b, " ports %lld-%lld", number(p, "local_port"), number(p, "remote_port"));
		add_word(&b, "peer", p, "peer");
		add_number(&b, "next tx", p, "next_send_sequence");
		add_number(&b, "rx", p, "next_receive_sequence");
		add_number(&b, "unsent", p, "unsent_messages");
		add_number(&b, "unacked", p, "unacknowledged_messages");
		add_number(&b, "reconnects", p, "reconnects");
		add_word(&b, "last error", p, "last_error");
		strlist_add(lines, b.s);
		free(b.s);
	}
}

const struct view rds_connection_view = {
	.name = "rds-connection", .key = "connections", .fields = connection_fields,
	.columns = connection_columns, .pick = pick_columns, .children = path_lines, .brief = "remote_address",
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
