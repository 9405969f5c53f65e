/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rtrs_client

#if !defined(RTRS_CLIENT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define RTRS_CLIENT_TRACE_H

#include <linux/tracepoint.h>
#include "client.h"

#define rtrs_client_show_state(state)						\
	__print_symbolic(state,							\
			 { RTRS_CLIENT_PATH_CONNECTING, "connecting" },		\
			 { RTRS_CLIENT_PATH_CONNECTING_ERR, "connecting-err" },	\
			 { RTRS_CLIENT_PATH_RECONNECTING, "reconnecting" },	\
			 { RTRS_CLIENT_PATH_CONNECTED, "connected" },		\
			 { RTRS_CLIENT_PATH_CLOSING, "closing" },		\
			 { RTRS_CLIENT_PATH_CLOSED, "closed" },			\
			 { RTRS_CLIENT_PATH_DEAD, "dead" })

TRACE_EVENT(rtrs_client_path_state,
	TP_PROTO(const struct rtrs_client_path *path, unsigned int old, int err),
	TP_ARGS(path, old, err),
	TP_STRUCT__entry(
		__array(char, session, 64)
		__array(char, path, RTRS_PATH_NAME_LEN)
		__field(unsigned int, id)
		__field(unsigned int, old)
		__field(unsigned int, state)
		__field(int, err)
	),
	TP_fast_assign(
		strscpy(__entry->session, path->session->name, sizeof(__entry->session));
		strscpy(__entry->path, path->name, sizeof(__entry->path));
		__entry->id = path->id;
		__entry->old = old;
		__entry->state = path->state;
		__entry->err = err;
	),
	TP_printk("session=%s path=%s id=%u %s -> %s err=%d",
		  __entry->session, __entry->path, __entry->id,
		  rtrs_client_show_state(__entry->old),
		  rtrs_client_show_state(__entry->state), __entry->err)
);

#endif /* RTRS_CLIENT_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace

#include <trace/define_trace.h>
