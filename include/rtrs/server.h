/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RTRS server: accepts sessions of clients and hands over their requests. The
 * transport under rnbd-server. No verbs types.
 */
#ifndef RTRS_SERVER_H
#define RTRS_SERVER_H

#include <linux/uuid.h>
#include <rtrs/types.h>

struct rtrs_server;
struct rtrs_server_session;
struct rtrs_server_op;

/* User messages longer than this are not handed over: answered with -EMSGSIZE. */
#define RTRS_SERVER_USR_MAX	512

#define RTRS_SERVER_PEER_LEN	64

/**
 * struct rtrs_server_request - a request of a client
 * @op: to be answered with rtrs_server_respond()
 * @slot: of the session, below its queue depth
 * @is_read: the client wants the first bytes of @data
 * @usr: copy of the user message; the client cannot change it. Valid until the answer.
 * @usr_len: its bytes
 * @data: start of the chunk, physically contiguous, in lowmem; written by the client
 *	(write) or to be filled (read). While the operation runs the client may be able to
 *	change it: validate nothing in it.
 * @data_len: bytes of payload, or room for the answer (read)
 */
struct rtrs_server_request {
	struct rtrs_server_op *op;
	u32 slot;
	bool is_read;
	const void *usr;
	u32 usr_len;
	void *data;
	u32 data_len;
};

/**
 * struct rtrs_server_guest - who wants to come in, or has
 * @addr: of the path; that of the client is what it says
 * @gid: where answers go to, 16 bytes
 * @forged: @addr is not an address of @gid, on a link where it must be
 * @name: of the session; NULL before INFO
 * @session_id: in netlink, 0 before INFO
 * @path_id: in netlink, 0 before there is a path
 */
struct rtrs_server_guest {
	const struct rtrs_path_addr *addr;
	const u8 *gid;
	bool forged;
	const char *name;
	u32 session_id;
	u32 path_id;
};

/**
 * struct rtrs_server_ops - callbacks of the user of a server
 * @admit: may it come in? Asked for each connection, and again when the name of the session
 *	is known. An errno goes to the client. Process context.
 * @name_taken: it was refused with -EPERM: another session has this name. Process context.
 * @path_up: a path of the session is about to be up, or has an errno. Behind session_up().
 *	Process context.
 * @peer_name: RTRS_SERVER_PEER_LEN bytes for what the user calls the client of the session with
 *	this netlink id, empty where it has no name. Process context.
 * @session_up: first path of a session is up. Returns 0 and the user's private pointer
 *	in @priv, or an errno, and the session is refused. Process context.
 * @session_lost: no path is left that takes requests; those that came before may run for ever.
 *	Process context.
 * @session_down: nor does an operation of the session run any more. It does not wait for a
 *	disk: when all is closed rtrs_server_session_closed() is called, and before that it may have
 *	returned. Without session_lost() only where session_up() was just called. Process context.
 * @request: a request. Called in the completion context of a connection, process context
 *	(workqueue): it must hand over whatever blocks for long. Every request is answered
 *	exactly once, from the callback or later.
 * @grown: the session has taken memory for more requests: may it keep that? Process context.
 * @opens: number of devices that a session has open, for netlink; may be NULL
 */
struct rtrs_server_ops {
	int (*admit)(const struct rtrs_server_guest *guest);
	void (*name_taken)(const struct rtrs_server_guest *guest);
	int (*path_up)(void *priv, const struct rtrs_server_guest *guest);
	void (*peer_name)(u32 session_id, char *name);
	int (*session_up)(struct rtrs_server_session *session, const char *name, void **priv);
	void (*session_lost)(void *priv);
	void (*session_down)(void *priv);
	void (*request)(void *priv, const struct rtrs_server_request *req);
	int (*grown)(void *priv);
	u32 (*opens)(void *priv);
};

/**
 * rtrs_server_open - listen
 * @ops: callbacks; must outlive the server
 * @port: host order
 *
 * Listens on every RDMA device, those that come later included. One server at
 * a time.
 *
 * Return: the server or an ERR_PTR: -EEXIST, -EADDRINUSE, -ENOMEM
 */
struct rtrs_server *rtrs_server_open(const struct rtrs_server_ops *ops, u16 port);

/* Stops listening and closes every session; returns when all is gone. */
void rtrs_server_close(struct rtrs_server *server);

/**
 * rtrs_server_respond - answer a request
 * @op: of the request; gone after the call
 * @err: 0 or a negative errno; with an error no data is sent
 *
 * Any context, hard interrupts included; does not sleep. A dead path drops the answer.
 */
void rtrs_server_respond(struct rtrs_server_op *op, int err);

/**
 * rtrs_server_op_addr - which way a request has come
 * @op: of the request
 *
 * Return: addresses of the path, src is the client; valid until @op is answered. Any context.
 */
const struct rtrs_path_addr *rtrs_server_op_addr(const struct rtrs_server_op *op);

/* Answers a session_down(): all is closed. The session may be gone after the call. */
void rtrs_server_session_closed(struct rtrs_server_session *session);

/**
 * rtrs_server_notify - say something to the client
 * @session: between session_up() and the end of session_down()
 * @what: 28 bits that it gets in rtrs_client_ops.notice
 *
 * Goes out over all paths that are connected: it is lost only with all of them, and then the client
 * begins anew. Process context; takes no lock that is held while a callback runs.
 *
 * Return: 0, or -EOPNOTSUPP where the client takes no notice on any of its paths
 */
int rtrs_server_notify(struct rtrs_server_session *session, u32 what);

typedef int (*rtrs_server_judge_fn)(const struct rtrs_server_guest *guest, void *arg);

/**
 * rtrs_server_judge_paths - let paths stay, or close them
 * @server: of which
 * @fn: returns an errno to close the path, 0 to let it stay; must not sleep for long, nor take a
 *	lock that is held while a callback runs, but one that the caller holds
 * @arg: for @fn
 *
 * In ascending order of ids, those that are not closing. The name of the session is known from
 * path_up() on. Process context.
 */
void rtrs_server_judge_paths(struct rtrs_server *server, rtrs_server_judge_fn fn, void *arg);

/* Bytes that the session pins. */
u64 rtrs_server_session_pinned(const struct rtrs_server_session *session);

/* Id of the session in netlink. */
u32 rtrs_server_session_id(const struct rtrs_server_session *session);

/*
 * Who the client is: the same as long as it has its session, however often it lost all paths
 * and this end forgot it. Its word only.
 */
void rtrs_server_session_client(const struct rtrs_server_session *session, uuid_t *client);

#endif /* RTRS_SERVER_H */
