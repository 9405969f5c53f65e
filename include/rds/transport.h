/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module rds offers to transports, and asks of them. docs/dev/rds.md says who owns what
 * and which locks there are. Symbols are in the namespace RDS_CORE.
 */
#ifndef RDS_TRANSPORT_H
#define RDS_TRANSPORT_H

#include <linux/bvec.h>
#include <linux/in6.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/uio.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <rds/proto.h>

/*
 * The kernel has modules of the same names. With its rds loaded, our transports are refused before
 * their first instruction, and all that the kernel logs is which symbols they miss. So one symbol's
 * name gives the reason.
 */
extern const bool rds_core_missing_in_the_kernels_own_rds;

/* Each transport has this, with its licence. */
#define RDS_CORE_TRANSPORT_MODULE							\
	MODULE_IMPORT_NS(RDS_CORE);							\
	static const bool * const rds_core_needed __used =				\
		&rds_core_missing_in_the_kernels_own_rds

struct rds_core_conn;
struct rds_core_inc;
struct rds_core_info;
struct rds_core_path;
struct rds_cong;
struct rds_sock;
struct rds_zcopy;

/* Numbers of transports: those of SO_RDS_TRANSPORT, and that of the loop */
#define RDS_CORE_TRANSPORT_LOOP	3
#define RDS_CORE_TRANSPORTS	4
#define RDS_CORE_NAME_LEN	16

/* Paths that a connection has, at most */
#define RDS_CORE_PATHS		8

/* Points of time of a message that comes in, each in ns of local_clock() */
enum rds_core_stamp {
	RDS_CORE_STAMP_HEADER,		/* its header was there */
	RDS_CORE_STAMP_START,		/* its payload began */
	RDS_CORE_STAMP_COMPLETE,	/* all of it was there */
	RDS_CORE_STAMPS,
};

/**
 * struct rds_core_inc_ops - payload of a message that came in
 * @copy: copies from the first byte on, as many as @to has room for or the payload has. 0, or
 *	-EFAULT. Task context.
 * @free: the owner has done with it. Any context.
 */
struct rds_core_inc_ops {
	int (*copy)(struct rds_core_inc *inc, struct iov_iter *to);
	void (*free)(struct rds_core_inc *inc);
};

/**
 * struct rds_core_inc - a message that came in; embedded in what the transport has of it
 * @ops: of the transport
 * @entry: in the receive queue of a socket
 * @saddr: address it came from
 * @daddr: address it is for
 * @scope: interface of link-local addresses, else 0
 * @tos: type of service of the connection
 * @hdr: its header
 * @stamp: time when it came in, in ns since the epoch; 0: nobody asked for that
 * @at: see enum rds_core_stamp; 0: nobody asked for that
 */
struct rds_core_inc {
	const struct rds_core_inc_ops *ops;
	struct list_head entry;
	struct in6_addr saddr;
	struct in6_addr daddr;
	u32 scope;
	u8 tos;
	struct rds_hdr hdr;
	u64 stamp;
	u64 at[RDS_CORE_STAMPS];
};

/* Bits of struct rds_core_msg.flags, under the lock of the path */
#define RDS_CORE_MSG_CANCELED	0	/* the socket does not want it any more */
#define RDS_CORE_MSG_QUEUED	1	/* it is in a queue of its path */

/**
 * struct rds_core_msg - a message on its way out
 * @ref: docs/dev/rds.md says whose
 * @flags: RDS_CORE_MSG_*
 * @sock_entry: in the send list of its socket
 * @path_entry: in a queue of its path
 * @rs: its socket, with a reference; NULL: a pong, or a message over the loop
 * @listed: it is in the send list; under the lock of the socket
 * @path: where it goes
 * @hdr: header; its payload has @hdr.len bytes
 * @mark: of the transport: how far the peer must be to have all of it
 * @zcopy: what is to be reported when the pages are free; NULL: nothing
 * @nr_pages: entries of @page; 0: the payload is behind the structure
 * @inc: the same message as it comes in, over the loop
 * @page: pages of the payload
 */
struct rds_core_msg {
	refcount_t ref;
	unsigned long flags;
	struct list_head sock_entry;
	struct list_head path_entry;
	struct rds_sock *rs;
	bool listed;
	struct rds_core_path *path;
	struct rds_hdr hdr;
	u64 mark;
	struct rds_zcopy *zcopy;
	unsigned int nr_pages;
	struct rds_core_inc inc;
	struct bio_vec page[];
};

/* The payload of a message that has no pages */
static inline void *rds_core_msg_flat(struct rds_core_msg *msg)
{
	return msg->page;
}

/* The payload of a message that has pages, to be sent; left at the first byte */
static inline void rds_core_msg_iter(struct rds_core_msg *msg, struct iov_iter *iter)
{
	iov_iter_bvec(iter, ITER_SOURCE, msg->page, msg->nr_pages, msg->hdr.len);
}

/* enum rds_core_state - of a path. The numbers are those of the kernel's own module. */
enum rds_core_state {
	RDS_CORE_DOWN,		/* idle */
	RDS_CORE_CONNECTING,	/* the transport shakes hands */
	RDS_CORE_DISCONNECTING,	/* the shutdown worker owns the path */
	RDS_CORE_UP,		/* may transmit */
	RDS_CORE_RESETTING,	/* none of ours ever is */
	RDS_CORE_ERROR,		/* the shutdown worker is on its way */
};

/**
 * struct rds_core_path - a stream of messages between two addresses
 * @conn: connection that it belongs to
 * @index: its number there
 * @transport_data: the transport's own
 * @sending: held by who transmits, and while the path is shut down
 * @lock: protects the queues, the numbers, @map_due and @pongs
 * @send_queue: messages that were not started
 * @retrans_queue: messages that were started and not acknowledged
 * @next_tx: number of the next message
 * @next_rx: lowest number that a message may have that is sent again
 * @current_msg: message that the transport has begun; under @sending
 * @map_begun: the transport has begun a map; under @sending
 * @map_due: the map of the local address is to be sent before any message
 * @pongs: of them in the queues
 * @state: see enum rds_core_state; changed by path-state.c and path.c
 * @since: when it came into that, in ns since the epoch
 * @ups: how often it was up; under @lock, as the next
 * @error: why the last connection, or attempt at one, has ended, -errno; 0: none has
 * @stopped: nothing is to be read; @stop_entry is in the list of the socket that has too much
 * @stop_entry: under the lock of that socket, with a reference to @conn
 * @kicks: how often somebody wanted to transmit since the transmitting task looked
 * @delay: jiffies until the next attempt to connect, at most; 0: at once
 * @up_since: when it came up, in jiffies; 0: it did not since it was shut down
 * @send_work: transmits
 * @connect_work: connects
 * @shutdown_work: shuts down what was dropped
 */
struct rds_core_path {
	struct rds_core_conn *conn;
	unsigned int index;
	void *transport_data;
	struct mutex sending; /* see above */
	spinlock_t lock; /* see above */
	struct list_head send_queue;
	struct list_head retrans_queue;
	u64 next_tx;
	u64 next_rx;
	struct rds_core_msg *current_msg;
	bool map_begun;
	bool map_due;
	unsigned int pongs;
	int state;
	u64 since;
	unsigned int ups;
	int error;
	bool stopped;
	struct list_head stop_entry;
	atomic_t kicks;
	unsigned long delay;
	unsigned long up_since;
	struct work_struct send_work;
	struct delayed_work connect_work;
	struct work_struct shutdown_work;
};

/**
 * struct rds_core_conn - a connection between two addresses
 * @laddr: address of this host
 * @faddr: address of the peer
 * @scope: interface of link-local addresses, else 0
 * @tos: type of service
 * @net: namespace, which outlives the connection
 * @transport: carries it
 * @passive: the peer connects, and this end only while it has something to send
 * @nr_paths: paths that both ends have; changed by rds_core_conn_paths()
 * @path: the first of them
 * @more: the others; NULL: nobody needed it yet
 * @lcong: map of @laddr
 * @fcong: map of @faddr
 * @used: a socket of this host has sent or received over it
 */
struct rds_core_conn {
	struct in6_addr laddr;
	struct in6_addr faddr;
	u32 scope;
	u8 tos;
	possible_net_t net;
	struct rds_core_transport *transport;
	bool passive;
	unsigned int nr_paths;
	struct rds_core_path path;
	struct rds_core_path *more[RDS_CORE_PATHS - 1];
	struct rds_cong *lcong;
	struct rds_cong *fcong;
	bool used;
	/* private: */
	struct kref ref;
	struct hlist_node hash_entry;
	struct list_head net_entry;
	u64 number;
	unsigned long made;
	bool dead;
};

/**
 * struct rds_core_ends - a connection of a transport that has ports, and the peer
 * @lport: port of this end; 0: there is none
 * @fport: port of the peer
 * @abilities: what the peer can do, RDS_ABILITY_*; negative: it has not told
 */
struct rds_core_ends {
	u16 lport;
	u16 fport;
	int abilities;
};

/**
 * struct rds_core_transport - carries messages
 * @name: shown by RDS_INFO_CONNECTIONS
 * @owner: module
 * @type: RDS_TRANS_*
 * @prefer_loop: the loop carries messages to addresses of this host
 * @claims: true if the transport can be bound to this address of @net. Task context.
 * @path_init: makes @path->transport_data, or -errno. Task context.
 * @path_exit: frees it; the workers of the path are gone. Task context.
 * @connect: starts to connect. 0, then rds_core_path_up() or rds_core_path_drop() follows; or
 *	-errno. Connect worker.
 * @shutdown: leaves nothing that could call the core for this path. Shutdown worker, @sending held.
 * @xmit: transmits @msg, or the rest of it: 0, all is on its way; -EAGAIN, rds_core_path_writable()
 *	  follows; any other -errno drops the path. Must not sleep for the peer. @sending held.
 * @xmit_map: the same for the map @bits of the local address, RDS_MAP_LEN bytes
 * @xmit_ack: there are no messages: acknowledges what is to be acknowledged; optional. As @xmit.
 * @probe: a probe or its answer came in; optional. Context of rds_core_receive().
 * @loops: messages are delivered at once, nothing is ever queued; for the loop
 * @pong: takes the answer to a ping, and its reference, back to its socket; for the loop. Any
 *	context but hard interrupts.
 * @sends_zcopy: MSG_ZEROCOPY is allowed
 * @resume: reads again after rds_core_receive() returned false; optional. Any context but hard
 *	interrupts.
 * @ends: fills in what it is connected by, if it is; optional. Any context but hard interrupts; the
 *	list of connections is locked.
 * @counters: calls rds_core_info_counters(); optional. Task context.
 * @maps_tos: SIOCRDSSETTOS is allowed; returns the type of service of a connection. Optional.
 */
struct rds_core_transport {
	char name[RDS_CORE_NAME_LEN];
	struct module *owner;
	unsigned int type;
	bool prefer_loop;
	bool loops;
	bool sends_zcopy;
	bool (*claims)(struct net *net, const struct in6_addr *addr, u32 scope);
	void (*pong)(struct rds_core_conn *conn, struct rds_core_msg *msg);
	int (*path_init)(struct rds_core_path *path);
	void (*path_exit)(struct rds_core_path *path);
	int (*connect)(struct rds_core_path *path);
	void (*shutdown)(struct rds_core_path *path);
	int (*xmit)(struct rds_core_path *path, struct rds_core_msg *msg);
	int (*xmit_map)(struct rds_core_path *path, const void *bits);
	int (*xmit_ack)(struct rds_core_path *path);
	void (*probe)(struct rds_core_path *path, const struct rds_hdr *hdr);
	void (*resume)(struct rds_core_path *path);
	void (*ends)(const struct rds_core_path *path, struct rds_core_ends *ends);
	void (*counters)(struct rds_core_info *info);
	u8 (*maps_tos)(u8 tos);
};

/**
 * rds_core_transport_register() - offer a transport
 * @transport: stays where it is until it is unregistered
 *
 * Return: 0; -EEXIST: there is one with this number.
 */
int rds_core_transport_register(struct rds_core_transport *transport);

/**
 * rds_core_transport_unregister() - take it back
 * @transport: as registered; no socket is bound through it, as such a socket holds its module, and
 *	rds_core_transport_leave() has ended its connections
 */
void rds_core_transport_unregister(struct rds_core_transport *transport);

/**
 * rds_core_transport_leave() - end the connections of a transport in a namespace
 * @transport: makes no new ones there
 * @net: namespace; no socket of it is bound through @transport
 *
 * Context: task.
 */
void rds_core_transport_leave(struct rds_core_transport *transport, struct net *net);

/**
 * struct rds_core_key - what names a connection
 * @net: namespace
 * @laddr: address of this host
 * @faddr: address of the peer
 * @scope: interface of link-local addresses, else 0
 * @tos: type of service
 */
struct rds_core_key {
	struct net *net;
	struct in6_addr laddr;
	struct in6_addr faddr;
	u32 scope;
	u8 tos;
};

/**
 * rds_core_conn_get() - find a connection, or make it
 * @transport: carries it
 * @key: its name
 *
 * Context: task.
 * The caller sees to it that neither the namespace nor the transport is on its way out.
 * Return: connection with a reference, or ERR_PTR(): -ENOMEM, what path_init() returned.
 */
struct rds_core_conn *rds_core_conn_get(struct rds_core_transport *transport,
					const struct rds_core_key *key);

/**
 * rds_core_conn_put() - drop a reference
 * @conn: from rds_core_conn_get()
 */
void rds_core_conn_put(struct rds_core_conn *conn);

/**
 * rds_core_conn_paths() - the ends have agreed how many paths there are
 * @conn: connection
 * @nr: paths. Fewer than before: the peer is another one, and what waits for it on a path that
 *	goes is sent over the first one.
 *
 * Any context but hard interrupts.
 */
void rds_core_conn_paths(struct rds_core_conn *conn, unsigned int nr);

/**
 * rds_core_conn_path() - a path by its number
 * @conn: connection
 * @index: number, below @conn->nr_paths
 *
 * Context: task.
 * Return: path, or ERR_PTR(): -ENOMEM, what path_init() returned.
 */
struct rds_core_path *rds_core_conn_path(struct rds_core_conn *conn, unsigned int index);

/**
 * rds_core_path_up() - the transport has connected, from CONNECTING
 * @path: path; if it was dropped meanwhile, nothing happens
 *
 * Any context.
 */
void rds_core_path_up(struct rds_core_path *path);

/**
 * rds_core_path_drop() - the path is broken; shut it down and connect again
 * @path: path in any state. A path that is down stays down.
 * @why: -errno
 *
 * Any context.
 */
void rds_core_path_drop(struct rds_core_path *path, int why);

/**
 * rds_core_path_retry() - as rds_core_path_drop(), and connect again without a delay
 * @path: path, @sending held
 * @why: -errno
 */
void rds_core_path_retry(struct rds_core_path *path, int why);

/**
 * rds_core_path_accept() - the peer has connected
 * @path: path that it is for
 * @install: gives the path what the peer has connected to, calls rds_core_path_up(). @sending is
 *	held, the path is CONNECTING, and what it had before is shut down.
 * @arg: for @install
 *
 * Context: task.
 * Return: 0; -EBUSY: the path is up; -ENETUNREACH: the connection is on its way out.
 */
int rds_core_path_accept(struct rds_core_path *path,
			 void (*install)(struct rds_core_path *path, void *arg), void *arg);

/**
 * rds_core_path_replace() - another connection to the peer takes the place of one that is stuck
 * @path: path, @sending held
 * @why: -errno, for @path->error
 * @install: as of rds_core_path_accept()
 * @arg: for @install
 *
 * Context: task.
 * Return: 0; -EBUSY: the path is being shut down anyway.
 */
int rds_core_path_replace(struct rds_core_path *path, int why,
			  void (*install)(struct rds_core_path *path, void *arg), void *arg);

/**
 * rds_core_path_call() - the peer wants to be connected to
 * @path: path. If it is up the map is sent once more: if the peer does not know of the connection
 *	any more, it says so.
 *
 * Any context.
 */
void rds_core_path_call(struct rds_core_path *path);

/**
 * rds_core_path_forget() - the peer does not know what it sent before, and counts from 1 again
 * @path: path
 *
 * Any context but hard interrupts.
 */
void rds_core_path_forget(struct rds_core_path *path);

/**
 * rds_core_path_writable() - the transport can go on after -EAGAIN
 * @path: path
 *
 * Any context.
 */
void rds_core_path_writable(struct rds_core_path *path);

/**
 * rds_core_path_acked() - the peer has messages
 * @path: path
 * @reached: true for each message that it has, in the order of the queue; @path->lock is held
 * @arg: for @reached
 *
 * Any context but hard interrupts.
 */
void rds_core_path_acked(struct rds_core_path *path,
			 bool (*reached)(const struct rds_core_msg *msg, u64 arg), u64 arg);

/**
 * rds_core_inc_init() - the core's part of a message that comes in
 * @inc: filled in, field by field: with memset() it takes twice as long
 * @conn: connection it came over
 * @ops: of the transport
 * @hdr: its header
 */
static inline void rds_core_inc_init(struct rds_core_inc *inc, const struct rds_core_conn *conn,
				     const struct rds_core_inc_ops *ops, const struct rds_hdr *hdr)
{
	inc->ops = ops;
	inc->saddr = conn->faddr;
	inc->daddr = conn->laddr;
	inc->scope = conn->scope;
	inc->tos = conn->tos;
	inc->hdr = *hdr;
	inc->stamp = 0;
	memset(inc->at, 0, sizeof(inc->at));
}

/**
 * rds_core_receive() - a message came in
 * @path: over this path; calls for one path do not overlap
 * @inc: message, which is the core's from now on
 *
 * Any context but hard interrupts.
 * Return: true; false: its socket has far more to read than it wants. The transport delivers no
 * more over this path until resume(), unless the path is being shut down.
 */
bool rds_core_receive(struct rds_core_path *path, struct rds_core_inc *inc);

/**
 * rds_core_map_received() - a congestion map came in
 * @conn: over this connection
 * @bits: RDS_MAP_LEN bytes
 * @freed: ports by number % 64 that may have been congested before and are not now; ~0: not known
 *
 * Any context but hard interrupts.
 * Return: 0, or -ENOMEM.
 */
int rds_core_map_received(struct rds_core_conn *conn, const void *bits, u64 freed);

/**
 * typedef rds_core_info_fill - makes one of the lists of RDS_INFO_*
 *
 * Calls rds_core_info_put() for each element. Task context; it is called twice, first to count.
 */
typedef void (*rds_core_info_fill)(struct net *net, struct rds_core_info *info);

/**
 * rds_core_info_register() - offer a list
 * @number: RDS_INFO_*
 * @size: bytes of an element
 * @fill: makes the list
 */
void rds_core_info_register(unsigned int number, unsigned int size, rds_core_info_fill fill);

/**
 * rds_core_info_unregister() - take it back; when this returns nobody calls @fill any more
 * @number: RDS_INFO_*
 */
void rds_core_info_unregister(unsigned int number);

/**
 * rds_core_info_counters() - counters that each CPU has, as elements of RDS_INFO_COUNTERS
 * @info: list
 * @name: names, of less than 32 bytes
 * @nr: how many there are
 * @value: the first of them
 *
 * Any context.
 */
void rds_core_info_counters(struct rds_core_info *info, const char *const *name, unsigned int nr,
			    const u64 __percpu *value);

/**
 * rds_core_info_put() - one element more
 * @info: list
 * @element: of the registered size
 *
 * Any context.
 */
void rds_core_info_put(struct rds_core_info *info, const void *element);

#endif /* RDS_TRANSPORT_H */
