/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rnbd_client

#if !defined(RNBD_CLIENT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define RNBD_CLIENT_TRACE_H

#include <linux/tracepoint.h>
#include "state.h"

TRACE_EVENT(rnbd_client_dev_state,
	    TP_PROTO(u32 id, int index, unsigned int old, unsigned int new),
	    TP_ARGS(id, index, old, new),
	    TP_STRUCT__entry(__field(u32, id)
			     __field(int, index)
			     __field(u8, old)
			     __field(u8, new)
	    ),
	    TP_fast_assign(__entry->id = id;
			   __entry->index = index;
			   __entry->old = old;
			   __entry->new = new;
	    ),
	    TP_printk("rnbd%d id=%u %s -> %s", __entry->index, __entry->id,
		      __print_symbolic(__entry->old,
				       { RNBD_CLIENT_DEV_INIT, "init" },
				       { RNBD_CLIENT_DEV_MAPPED, "mapped" },
				       { RNBD_CLIENT_DEV_DISCONNECTED, "disconnected" },
				       { RNBD_CLIENT_DEV_UNMAPPED, "unmapped" }),
		      __print_symbolic(__entry->new,
				       { RNBD_CLIENT_DEV_INIT, "init" },
				       { RNBD_CLIENT_DEV_MAPPED, "mapped" },
				       { RNBD_CLIENT_DEV_DISCONNECTED, "disconnected" },
				       { RNBD_CLIENT_DEV_UNMAPPED, "unmapped" }))
);

#endif /* RNBD_CLIENT_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
