/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rtrs_server

#if !defined(RTRS_SERVER_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define RTRS_SERVER_TRACE_H

#include <linux/tracepoint.h>
#include "server.h"

#define show_path_state(state) __print_symbolic(state,		\
	{ RTRS_SERVER_PATH_CONNECTING,	"connecting" },		\
	{ RTRS_SERVER_PATH_CONNECTED,	"connected" },		\
	{ RTRS_SERVER_PATH_CLOSING,	"closing" },		\
	{ RTRS_SERVER_PATH_CLOSED,	"closed" })

TRACE_EVENT(rtrs_server_path_state,
	TP_PROTO(const struct rtrs_server_path *path, enum rtrs_server_path_state from,
		 enum rtrs_server_path_state to),
	TP_ARGS(path, from, to),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(int, from)
		__field(int, to)
		__field(int, error)
		__array(char, session, RTRS_WIRE_NAME_LEN)
		__array(char, path, RTRS_PATH_NAME_LEN)
	),
	TP_fast_assign(
		__entry->id = path->id;
		__entry->from = from;
		__entry->to = to;
		__entry->error = path->last_error;
		strscpy(__entry->session, path->session->name, sizeof(__entry->session));
		strscpy(__entry->path, path->text, sizeof(__entry->path));
	),
	TP_printk("session '%s' path %u %s: %s -> %s, last error %d", __entry->session,
		  __entry->id, __entry->path, show_path_state(__entry->from),
		  show_path_state(__entry->to), __entry->error)
);

TRACE_EVENT(rtrs_server_slot_fenced,
	TP_PROTO(const struct rtrs_server_path *old, const struct rtrs_server_path *new, u32 slot),
	TP_ARGS(old, new, slot),
	TP_STRUCT__entry(
		__field(u32, slot)
		__field(u32, old)
		__field(u32, new)
	),
	TP_fast_assign(
		__entry->slot = slot;
		__entry->old = old->id;
		__entry->new = new->id;
	),
	TP_printk("slot %u: retry on path %u waits for path %u to end", __entry->slot,
		  __entry->new, __entry->old)
);

#endif /* RTRS_SERVER_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
