/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RTRS client: sessions to a server and requests on them. The transport under
 * rnbd-client. No verbs types.
 *
 * A session offers queue_depth slots. Its user names the slot of each request
 * and must not use a slot again before the request on it is done; RTRS never
 * allocates one. A slot is a buffer of the server: slot == tag == buffer id.
 */
#ifndef RTRS_CLIENT_H
#define RTRS_CLIENT_H

#include <rtrs/types.h>

struct module;
struct scatterlist;
struct rtrs_client_session;

/**
 * enum rtrs_client_event - what becomes of a session
 * @RTRS_CLIENT_DISCONNECTED: last connected path lost; requests fail from now on
 * @RTRS_CLIENT_RECONNECTED: first path is back after DISCONNECTED
 * @RTRS_CLIENT_PATH_RECONNECTED: a path came back while others were up; the server may
 *	have been restarted in between
 */
enum rtrs_client_event {
	RTRS_CLIENT_DISCONNECTED,
	RTRS_CLIENT_RECONNECTED,
	RTRS_CLIENT_PATH_RECONNECTED,
};

/**
 * struct rtrs_client_ops - callbacks of the user of a session
 * @event: process context, no locks held, one at a time for a session and in order; may
 *	sleep but must not close the session. Not called before rtrs_client_open() has
 *	returned, nor after rtrs_client_close().
 * @devices: number of devices on the session, for netlink; any context, may be NULL
 */
struct rtrs_client_ops {
	void (*event)(void *priv, enum rtrs_client_event event, int err);
	u32 (*devices)(void *priv);
};

enum rtrs_client_policy {
	RTRS_CLIENT_ROUND_ROBIN,
	RTRS_CLIENT_MIN_INFLIGHT,
	RTRS_CLIENT_MIN_LATENCY,
	RTRS_CLIENT_POLICY_COUNT,
};

/**
 * struct rtrs_client_params - a session to be opened
 * @name: fit for rtrs_name_check(); copied
 * @path: paths, copied
 * @path_count: 1..RTRS_PATHS_MAX
 * @io_cons: interrupt driven I/O connections for each path; 0 is one per online CPU
 * @poll_cons: polled I/O connections for each path
 * @policy: how the path of a request is chosen
 * @timeout_ms: for each step of connecting; 0 is 30000
 */
struct rtrs_client_params {
	const char *name;
	const struct rtrs_path_addr *path;
	unsigned int path_count;
	unsigned int io_cons;
	unsigned int poll_cons;
	enum rtrs_client_policy policy;
	unsigned int timeout_ms;
};

/**
 * struct rtrs_client_attrs - what a session can do
 * @queue_depth: slots, 2 or more
 * @max_io_size: payload bytes of one request, over all paths the least
 * @max_segments: entries of a scatterlist of 4 KiB pages
 * @max_usr_len: bytes of a user message
 * @io_cons: interrupt driven I/O connections
 * @poll_cons: polled I/O connections
 */
struct rtrs_client_attrs {
	u32 queue_depth;
	u32 max_io_size;
	u32 max_segments;
	u32 max_usr_len;
	u32 io_cons;
	u32 poll_cons;
};

/* Bytes that a request needs for the transport, see struct rtrs_client_request. */
#define RTRS_CLIENT_USR_MAX	512

/**
 * struct rtrs_client_request - one request
 * @slot: below queue_depth; the caller's until @done
 * @con: I/O connection, 0..io_cons + poll_cons - 1, or RTRS_CLIENT_CON_SERVICE for
 *	control messages
 * @is_read: the server answers with data
 * @usr: user message, copied before rtrs_client_submit() returns
 * @usr_len: its bytes, up to RTRS_CLIENT_USR_MAX
 * @sgl: payload (write) or place for the result (read); it and the pages must stay until
 *	@done; NULL for none. Entries but the first start, and entries but the last end, at a
 *	multiple of 4 KiB.
 * @sg_count: entries
 * @data_len: bytes of payload or result
 * @done: exactly once for a request that rtrs_client_submit() took; softirq or process
 *	context, must not sleep. @err is 0, the errno that the server answered, or
 *	-ECONNABORTED where no path could carry the request. When it runs the server can no
 *	longer touch the pages.
 * @priv: for @done
 */
struct rtrs_client_request {
	u32 slot;
	int con;
	bool is_read;
	const void *usr;
	u32 usr_len;
	struct scatterlist *sgl;
	u32 sg_count;
	u32 data_len;
	void (*done)(void *priv, int err);
	void *priv;
};

#define RTRS_CLIENT_CON_SERVICE	(-1)

/**
 * rtrs_client_open - connect a session
 * @params: what to open; used during the call only
 * @ops: callbacks; must outlive the session
 * @priv: for the callbacks
 * @extack: gets the reason of a failure; may be NULL
 *
 * Every path must connect. Killable; each step has the time-out of @params. A
 * name that is open already gives -EEXIST. Process context.
 *
 * Return: the session or an ERR_PTR: -EINVAL, -EEXIST, -ENOMEM, -EHOSTUNREACH, -ECONNREFUSED
 * (nobody listens), -ECONNRESET, -ETIMEDOUT, -ENODEV (no RDMA device for the address),
 * -EOPNOTSUPP (policy or device that is of no use), -EINTR, or the errno of the server's reject
 */
struct rtrs_client_session *rtrs_client_open(const struct rtrs_client_params *params,
					     const struct rtrs_client_ops *ops, void *priv,
					     struct netlink_ext_ack *extack);

/**
 * rtrs_client_close - disconnect a session and free it
 * @session: from rtrs_client_open()
 *
 * Requests still in flight are done with -ECONNABORTED before it returns. No new
 * ones may be submitted. Bounded by the teardown time-outs. Process context.
 */
void rtrs_client_close(struct rtrs_client_session *session);

/**
 * rtrs_client_query - what the session can do now
 * @session: session
 * @attrs: result
 *
 * Return: 0 or -ENOTCONN where no path is connected (@attrs keep their last values)
 */
int rtrs_client_query(struct rtrs_client_session *session, struct rtrs_client_attrs *attrs);

/* Id of the session in netlink. */
u32 rtrs_client_session_id(const struct rtrs_client_session *session);

/**
 * rtrs_client_submit - send a request
 * @session: session
 * @req: request; used during the call only
 *
 * Any context but hard interrupts. Does not sleep or allocate.
 *
 * Return: 0 and @req->done will be called; or, and it will not: -ECONNABORTED (no connected
 * path), -EAGAIN (a send queue is full, try again later), -EMSGSIZE, -EINVAL (scatterlist that
 * cannot be registered), -ENOMEM (DMA mapping)
 */
int rtrs_client_submit(struct rtrs_client_session *session, const struct rtrs_client_request *req);

/**
 * rtrs_client_poll - reap completions of a polled connection
 * @session: session
 * @con: io_cons .. io_cons + poll_cons - 1
 *
 * Return: completions reaped, over all paths
 */
int rtrs_client_poll(struct rtrs_client_session *session, int con);

#endif /* RTRS_CLIENT_H */
