/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rnbd_server

#if !defined(RNBD_SERVER_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define RNBD_SERVER_TRACE_H

#include <linux/tracepoint.h>
#include <compat/trace.h>
#include "server.h"

TRACE_EVENT(rnbd_server_open,
	    TP_PROTO(const struct rnbd_server_session *session, const struct rnbd_open *open,
		     int err),
	    TP_ARGS(session, open, err),
	    TP_STRUCT__entry(__string(session, session->name)
			     __string(path, open->path)
			     __field(u8, access_mode)
			     __field(int, err)),
	    TP_fast_assign(rtrs_assign_str(session, session->name);
			   rtrs_assign_str(path, open->path);
			   __entry->access_mode = open->access_mode;
			   __entry->err = err;),
	    TP_printk("session=%s path=%s access_mode=%u err=%d", __get_str(session),
		      __get_str(path), __entry->access_mode, __entry->err)
);

TRACE_EVENT(rnbd_server_close,
	    TP_PROTO(const struct rnbd_server_dev *dev),
	    TP_ARGS(dev),
	    TP_STRUCT__entry(__string(session, dev->session->name)
			     __field(dev_t, devt)
			     __field(u32, id)),
	    TP_fast_assign(rtrs_assign_str(session, dev->session->name);
			   __entry->devt = rnbd_server_devt(dev);
			   __entry->id = dev->id;),
	    TP_printk("session=%s dev=%u:%u id=%u", __get_str(session), MAJOR(__entry->devt),
		      MINOR(__entry->devt), __entry->id)
);

TRACE_EVENT(rnbd_server_io,
	    TP_PROTO(const struct rnbd_server_dev *dev, const void *io, const struct rnbd_io *msg),
	    TP_ARGS(dev, io, msg),
	    TP_STRUCT__entry(__field(const void *, io)
			     __field(dev_t, devt)
			     __field(u64, sector)
			     __field(u32, bytes)
			     __field(u32, flags)
			     __field(u8, op)),
	    TP_fast_assign(__entry->io = io;
			   __entry->devt = rnbd_server_devt(dev);
			   __entry->sector = msg->sector;
			   __entry->bytes = msg->bytes;
			   __entry->flags = msg->flags;
			   __entry->op = msg->op;),
	    TP_printk("io=%p dev=%u:%u op=%s flags=%#x sector=%llu bytes=%u", __entry->io,
		      MAJOR(__entry->devt), MINOR(__entry->devt),
		      __print_symbolic(__entry->op,
				       { RNBD_OP_READ, "read" },
				       { RNBD_OP_WRITE, "write" },
				       { RNBD_OP_FLUSH, "flush" },
				       { RNBD_OP_DISCARD, "discard" },
				       { RNBD_OP_SECURE_ERASE, "secure-erase" },
				       { RNBD_OP_WRITE_ZEROES, "write-zeroes" }),
		      __entry->flags, __entry->sector, __entry->bytes)
);

TRACE_EVENT(rnbd_server_io_done,
	    TP_PROTO(const struct rnbd_server_dev *dev, const void *io, int err),
	    TP_ARGS(dev, io, err),
	    TP_STRUCT__entry(__field(const void *, io)
			     __field(dev_t, devt)
			     __field(int, err)),
	    TP_fast_assign(__entry->io = io;
			   __entry->devt = rnbd_server_devt(dev);
			   __entry->err = err;),
	    TP_printk("io=%p dev=%u:%u err=%d", __entry->io, MAJOR(__entry->devt),
		      MINOR(__entry->devt), __entry->err)
);

#endif /* RNBD_SERVER_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
