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
struct netlink_ext_ack;
struct nlattr;
struct scatterlist;
struct sk_buff;
struct rtrs_client_session;

/**
 * enum rtrs_client_event - what becomes of a session
 * @RTRS_CLIENT_DISCONNECTED: the last connected path was lost; requests fail from now on
 * @RTRS_CLIENT_RECONNECTED: a path is back after DISCONNECTED. The server may have forgotten
 *	all of the session; rtrs_client_query() tells what it offers now
 * @RTRS_CLIENT_SETTINGS: the settings have changed
 */
enum rtrs_client_event {
	RTRS_CLIENT_DISCONNECTED,
	RTRS_CLIENT_RECONNECTED,
	RTRS_CLIENT_SETTINGS,
};

/**
 * struct rtrs_client_ops - callbacks of the user of a session
 * @owner: module of the user; it stays loaded while it has a session
 * @event: process context, no locks held, one at a time for a session and in order; may
 *	sleep but must not close the session. Not called before rtrs_client_open() has
 *	returned, nor after rtrs_client_close(). A session that went down and came back
 *	always gives DISCONNECTED and RECONNECTED. @err is the errno that took the last path.
 * @devices: number of devices on the session, for netlink; any context, may be NULL
 * @held: the session stays without a device, for netlink; any context, may be NULL
 * @notice: rtrs_server_notify() of the server's user, once for each path that it came by; softirq
 *	or the process that polls, must not sleep; may be NULL
 * @granted: the server has answered rtrs_client_want(), rtrs_client_granted() says what; the same.
 *	NULL: the user may use all slots, and the server has memory for them from the first on
 */
struct rtrs_client_ops {
	struct module *owner;
	void (*event)(void *priv, enum rtrs_client_event event, int err);
	u32 (*devices)(void *priv);
	bool (*held)(void *priv);
	void (*notice)(void *priv, u32 what);
	void (*granted)(void *priv);
};

enum rtrs_client_policy {
	RTRS_CLIENT_ROUND_ROBIN,
	RTRS_CLIENT_MIN_INFLIGHT,
	RTRS_CLIENT_MIN_LATENCY,
	RTRS_CLIENT_POLICY_COUNT,
};

/* What becomes of a disk when its server has lost what it had acknowledged and not flushed. */
enum rtrs_client_lost_writes {
	RTRS_CLIENT_LOST_FAIL_FLUSH,	/* it goes on, and its next flush fails */
	RTRS_CLIENT_LOST_DISCONNECT,	/* it stays disconnected until it is asked for */
	RTRS_CLIENT_LOST_COUNT,
};

/**
 * struct rtrs_client_settings - what can be changed while a session lives
 * @policy: how the path of a request is chosen
 * @max_reconnects: attempts to reconnect a path that was lost, 0..9999, -1 is no limit
 * @hb_interval_ms: between heartbeats, 200..60000
 * @hb_misses: intervals of silence after which a path is lost, 2..100
 * @reconnect_ms: before the first attempt to reconnect, doubled by each one that fails, 10..600000
 * @reconnect_max_ms: what that grows to, 10..600000
 * @connect_ms: for each step of a reconnect, 100..600000
 * @io_ms: a request that is not answered by then ends its path, 1000..86400000; 0 is never. The
 *	user of the session keeps the time and calls rtrs_client_timed_out()
 * @no_path_ms: how long I/O waits when no path is left, for the user of the session: 0 is
 *	not at all, -1 for ever; up to 86400000
 * @lost_writes: enum rtrs_client_lost_writes, for the user of the session
 */
struct rtrs_client_settings {
	enum rtrs_client_policy policy;
	int max_reconnects;
	unsigned int hb_interval_ms;
	unsigned int hb_misses;
	unsigned int reconnect_ms;
	unsigned int reconnect_max_ms;
	unsigned int connect_ms;
	unsigned int io_ms;
	int no_path_ms;
	unsigned int lost_writes;
};

/* What holds where nothing is said. */
void rtrs_client_settings_init(struct rtrs_client_settings *settings);

/**
 * rtrs_client_settings_parse - take over what a netlink attribute says
 * @nest: attribute of the set "settings" that was validated, or NULL for none
 * @settings: changed where something is said
 * @extack: gets the reason of a failure
 *
 * Return: 0 or -EINVAL
 */
int rtrs_client_settings_parse(const struct nlattr *nest, struct rtrs_client_settings *settings,
			       struct netlink_ext_ack *extack);

/**
 * struct rtrs_client_params - a session to be opened
 * @name: fit for rtrs_name_check(); copied
 * @path: paths, copied
 * @path_count: 1..RTRS_PATHS_MAX
 * @io_cons: interrupt driven I/O connections for each path; 0 is one per online CPU
 * @poll_cons: polled I/O connections for each path
 * @timeout_ms: for each step of connecting now; 0: the connect time-out of @settings
 * @settings: copied
 */
struct rtrs_client_params {
	const char *name;
	const struct rtrs_path_addr *path;
	unsigned int path_count;
	unsigned int io_cons;
	unsigned int poll_cons;
	unsigned int timeout_ms;
	struct rtrs_client_settings settings;
};

/**
 * struct rtrs_client_attrs - what a session can do
 * @epoch: changes each time the last path is lost: what the server was told before, it may
 *	have forgotten
 * @queue_depth: slots, 2 or more; like the other limits it may come down with the epoch
 * @max_io_size: payload bytes of one request, over all paths the least
 * @max_segments: entries of a scatterlist of 4 KiB pages
 * @max_usr_len: bytes of a user message
 * @io_cons: interrupt driven I/O connections
 * @poll_cons: polled I/O connections
 */
struct rtrs_client_attrs {
	u32 epoch;
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
 * @epoch: of the session, in which its message makes sense to the server
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
 *	-ECONNABORTED where no path of its epoch could carry the request. When it runs the
 *	server can no longer touch the pages.
 * @wanted: is it still, where its path was lost? Else it goes by no other one, is done with
 *	-ECONNABORTED, and the server may still be at it. NULL: always. Process context, must not
 *	sleep
 * @priv: for @done and @wanted
 */
struct rtrs_client_request {
	u32 slot;
	u32 epoch;
	int con;
	bool is_read;
	const void *usr;
	u32 usr_len;
	struct scatterlist *sgl;
	u32 sg_count;
	u32 data_len;
	void (*done)(void *priv, int err);
	bool (*wanted)(const void *priv);
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
 * Every path must connect; one that is lost later is connected again by itself, and what it
 * carried goes to another one. Killable; each step has the time-out of @params. A
 * name that is open already gives -EEXIST. Process context.
 *
 * Return: the session or an ERR_PTR: -EINVAL, -EEXIST, -ENOMEM, -EHOSTUNREACH, -ECONNREFUSED
 * (nobody listens), -ECONNRESET, -ETIMEDOUT, -ENODEV (no RDMA device for the address, or the
 * module of the user is being unloaded),
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
 * ones may be submitted. Bounded by the teardown time-outs. Process context, of which the exit
 * of the user's module waits for the end: the session no longer keeps that module.
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

/* Slots that may be used, the first ones; queue_depth or more where the server grants none. */
u32 rtrs_client_granted(const struct rtrs_client_session *session);

/**
 * rtrs_client_want - ask the server for another number of slots
 * @session: session
 * @slots: that may be used then, up to queue_depth. If they are fewer than before, they are from
 *	now on, and none of the others may be in use
 *
 * The answer comes with the callback granted(), and not at all where the path is lost meanwhile. It
 * may be the number of before. A session that comes back has what it had when it was lost, or more.
 * Any context but hard interrupts.
 *
 * Return: 0, -ENOTCONN where no path can ask, -EAGAIN
 */
int rtrs_client_want(struct rtrs_client_session *session, u32 slots);

/* Id of the session in netlink. */
u32 rtrs_client_session_id(const struct rtrs_client_session *session);

/* Its settings as they are now; one field is consistent, two may not fit. Any context. */
const struct rtrs_client_settings *rtrs_client_settings(const struct rtrs_client_session *session);

/**
 * rtrs_client_session_fill - fill the reply to a command that made a session
 * @msg: gets the attributes of the set "session"
 * @session: session
 *
 * Return: 0 or -EMSGSIZE
 */
int rtrs_client_session_fill(struct sk_buff *msg, struct rtrs_client_session *session);

/**
 * rtrs_client_submit - send a request
 * @session: session
 * @req: request; used during the call only
 *
 * Any context but hard interrupts. Does not sleep or allocate.
 *
 * Return: 0 and @req->done will be called; or, and it will not: -ECONNABORTED (no connected
 * path of its epoch), -EAGAIN (a send queue is full, try again later), -EMSGSIZE, -EINVAL
 * (scatterlist that cannot be registered), -ENOMEM (DMA mapping)
 */
int rtrs_client_submit(struct rtrs_client_session *session, const struct rtrs_client_request *req);

/**
 * rtrs_client_timed_out - a request has waited for too long
 * @session: session
 * @slot: of the request, which is not done
 * @priv: of the request
 *
 * Its path is given up, as if it had been lost: the request goes to another one, or is done
 * with -ECONNABORTED. Any context but hard interrupts.
 */
void rtrs_client_timed_out(struct rtrs_client_session *session, u32 slot, const void *priv);

/**
 * rtrs_client_lose - give up all paths of a session, as if they had been lost
 * @session: session
 *
 * No request of this epoch is sent any more. Any context but hard interrupts.
 */
void rtrs_client_lose(struct rtrs_client_session *session);

/**
 * rtrs_client_poll - reap completions of a polled connection
 * @session: session
 * @con: io_cons .. io_cons + poll_cons - 1
 *
 * Return: completions reaped, over all paths
 */
int rtrs_client_poll(struct rtrs_client_session *session, int con);

#endif /* RTRS_CLIENT_H */
