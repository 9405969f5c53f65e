/* SPDX-License-Identifier: GPL-2.0 */
/* The module rds for its own files. docs/dev/rds.md has the lifetimes and the order of locks. */
#ifndef RDS_CORE_H
#define RDS_CORE_H

#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/rds.h>
#include <linux/rds_netlink.h>
#include <linux/sched/signal.h>
#include <linux/seqlock.h>
#include <linux/skbuff.h>
#include <net/ipv6.h>
#include <net/netns/generic.h>
#include <net/sock.h>
#include <rds/transport.h>
#include "addr.h"
#include "cmsg.h"

/**
 * struct rds_sock - a socket
 * @sk: the network stack's part; first
 * @bind_entry: in the bind table
 * @net_entry: in the list of its namespace
 * @monitor_entry: in the list of those that monitor congestion
 * @laddr: own address; with @lport, @scope, @transport and @cong it does not change once @bound
 *	is set
 * @lport: own port
 * @scope: interface of a link-local address, else 0
 * @bound: release and acquire order what is above
 * @transport: through which it is bound, or is to be; holds its module
 * @cong: map of its address
 * @conn: connection that was used last; taken out, and given back, with xchg()
 * @peer: where it is connected to; under lock_sock() and @lock, or read with @peer_seq. Port 0 and
 *	no address: nowhere.
 * @peer_seq: tells who reads @peer without a lock of a change
 * @tos: type of service
 * @recverr: RDS_RECVERR
 * @monitor: RDS_CONG_MONITOR
 * @traces: points of latency that are wanted, as @trace_pos has them
 * @map_seen: generation of maps that poll has told
 * @lock: protects what follows
 * @sends: messages that nobody has acknowledged
 * @snd_bytes: their payload
 * @nr_sends: how many they are
 * @unasked: bytes of payload since the peer was asked to acknowledge
 * @incs: messages to be read
 * @rcv_bytes: their payload
 * @nr_incs: how many they are
 * @stopped: paths that are not read until it has less to read
 * @congested: the bit of its port is set
 * @cong_mask: ports by number % 64 to which a send was refused
 * @cong_notify: those of them that are to be told
 * @zcopy_flying: zerocopy messages that are on their way; see zerocopy.c
 * @zcopy_done: zerocopy messages that are done
 * @reader: held by who reads
 */
struct rds_sock {
	struct sock sk;
	struct hlist_node bind_entry;
	struct list_head net_entry;
	struct list_head monitor_entry;
	struct in6_addr laddr;
	__be16 lport;
	u32 scope;
	bool bound;
	struct rds_core_transport *transport;
	struct rds_cong *cong;
	struct rds_core_conn *conn;
	struct rds_addr peer;
	seqcount_spinlock_t peer_seq;
	u8 tos;
	bool recverr;
	bool monitor;
	u8 traces;
	u8 trace_pos[RDS_MSG_RX_DGRAM_TRACE_MAX];
	int map_seen;
	spinlock_t lock; /* see above */
	struct list_head sends;
	u32 snd_bytes;
	u32 nr_sends;
	u32 unasked;
	struct list_head incs;
	u64 rcv_bytes;
	u32 nr_incs;
	struct list_head stopped;
	bool congested;
	u64 cong_mask;
	u64 cong_notify;
	struct list_head zcopy_flying;
	struct list_head zcopy_done;
	struct mutex reader; /* see above */
};

static inline struct rds_sock *rds_sk(const struct sock *sk)
{
	return (struct rds_sock *)sk;
}

/* What SO_SNDBUF and SO_RCVBUF were set to, before the network stack doubled it */
static inline u32 rds_sndbuf(const struct rds_sock *rs)
{
	return (u32)READ_ONCE(rs->sk.sk_sndbuf) / 2;
}

static inline u32 rds_rcvbuf(const struct rds_sock *rs)
{
	return (u32)READ_ONCE(rs->sk.sk_rcvbuf) / 2;
}

/* Messages without payload take memory, too. */
#define RDS_SENDS_MAX	65536
#define RDS_INCS_MAX	65536

/* Room in the send list: the last message may go beyond the limit. */
static inline bool rds_has_room(const struct rds_sock *rs)
{
	return READ_ONCE(rs->snd_bytes) < rds_sndbuf(rs) && READ_ONCE(rs->nr_sends) < RDS_SENDS_MAX;
}

/* What a wait has said: 0, -EINTR and the like, -ETIMEDOUT. No time-out is no time-out still. */
static inline int rds_waited(long left, long *timeout)
{
	if (left < 0)
		return sock_intr_errno(*timeout);
	if (*timeout != MAX_SCHEDULE_TIMEOUT)
		*timeout = left;
	return left ? 0 : -ETIMEDOUT;
}

/* Whoever sees this sees the address, the port, and the transport. */
static inline bool rds_bound(const struct rds_sock *rs)
{
	return smp_load_acquire(&rs->bound); /* pairs with bind_to() */
}

/**
 * struct rds_cong - the congestion map of an address
 * @addr: address
 * @rnet: namespace
 * @entry: in the list of the namespace
 * @refs: references, under rnet->lock
 * @bits: RDS_MAP_LEN bytes; NULL: no port was ever congested
 * @wait: tasks that wait to send to a port of the address
 */
struct rds_cong {
	struct in6_addr addr;
	struct rds_net *rnet;
	struct hlist_node entry;
	unsigned int refs;
	unsigned long *bits;
	wait_queue_head_t wait;
};

static inline bool rds_cong_test(const struct rds_cong *cong, __be16 port)
{
	unsigned long *bits = smp_load_acquire(&cong->bits); /* pairs with rds_cong_give_bits() */

	return bits && test_bit_le(ntohs(port), bits);
}

#define RDS_CONG_BUCKETS	64
#define RDS_CONN_BUCKETS	256

/**
 * struct rds_net - a namespace
 * @lock: protects the lists
 * @socks: of struct rds_sock
 * @monitors: those that monitor congestion
 * @conns: of struct rds_core_conn, the oldest first, each with a higher number
 * @changes: of this list: the last number
 * @nr_loops: how many of them are of the loop
 * @nr_strangers: how many of the others no socket has used
 * @tidy_work: ends strangers that carried nothing
 * @conn: the same by what names them
 * @cong: maps by address
 * @map_gen: counts changes of maps
 * @map_wait: polls
 */
struct rds_net {
	spinlock_t lock; /* see above */
	struct list_head socks;
	struct list_head monitors;
	struct list_head conns;
	u64 changes;
	unsigned int nr_loops;
	unsigned int nr_strangers;
	struct delayed_work tidy_work;
	struct hlist_head conn[RDS_CONN_BUCKETS];
	struct hlist_head cong[RDS_CONG_BUCKETS];
	atomic_t map_gen;
	wait_queue_head_t map_wait;
};

extern unsigned int rds_net_id;

static inline struct rds_net *rds_net(const struct net *net)
{
	return net_generic(net, rds_net_id);
}

/* census.c */
enum rds_census {
	RDS_CENSUS_SOCK,
	RDS_CENSUS_MSG,
	RDS_CENSUS_CONN,
	RDS_CENSUS_CONG,
	RDS_CENSUS_ZCOPY,
	RDS_CENSUS_COUNT,
};

void rds_census_created(enum rds_census noun);
void rds_census_destroyed(enum rds_census noun);
void rds_census_init(void);
void rds_census_exit(void);

/* family.c: the calls of a socket */
int rds_family_init(void);
void rds_family_exit(void);

/* bind.c */
int rds_bind(struct socket *sock, struct sockaddr *addr, int len);
void rds_unbind(struct rds_sock *rs);
/* With a reference, or NULL. Bottom halves are off. */
struct rds_sock *rds_bind_find(struct net *net, const struct in6_addr *addr, __be16 port,
			       u32 scope);

/* option.c */
int rds_setsockopt(struct socket *sock, int level, int opt, sockptr_t value, unsigned int len);
int rds_getsockopt(struct socket *sock, int level, int opt, char __user *value, int __user *len);
int rds_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg);

/* send.c */
int rds_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);

/* cancel.c: what the socket has sent to @to, or everything if that is NULL, is not sent any more */
void rds_cancel(struct rds_sock *rs, const struct rds_addr *to);

/* rdma-op.c: bytes of an operation, and why it is not carried out; 0: there is none */
u64 rds_rdma_size(const struct rds_cmsgs *c);
int rds_rdma_check(const struct rds_cmsgs *c);

/* recv.c */
int rds_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags);

/* deliver.c */
/* Marks the port congested, or not any more, as far as there is much to read, or little. */
bool rds_recv_mark(struct rds_sock *rs);

/*
 * Of payload that came in, was read, or is gone with the socket; under rs->lock. True: tell others
 * of the map.
 */
static inline bool rds_recv_account(struct rds_sock *rs, s64 bytes, int messages)
{
	rs->rcv_bytes += bytes;
	rs->nr_incs += messages;
	return (rs->congested || rs->rcv_bytes > rds_rcvbuf(rs) || rs->nr_incs > RDS_INCS_MAX) &&
	       rds_recv_mark(rs);
}

/* As rds_core_receive(), of what cannot have come before; bottom halves are off. */
bool rds_receive_new(struct rds_core_path *path, struct rds_core_inc *inc);
/* The socket has less to read: paths that wait for that are read again. */
void rds_recv_resume(struct rds_sock *rs);

/* message.c */
int rds_msg_init(void);
void rds_msg_exit(void);
struct rds_core_msg *rds_msg_make(u32 len, gfp_t gfp);
int rds_msg_fill(struct rds_core_msg *msg, struct iov_iter *from);
struct rds_core_msg *rds_msg_pin(struct rds_sock *rs, struct iov_iter *from, u32 len);
void rds_msg_get(struct rds_core_msg *msg);
void rds_msg_put(struct rds_core_msg *msg);
int rds_msg_copy(struct rds_core_msg *msg, struct iov_iter *to);
/* Takes it off the send list of its socket, if it is there, and leaves the socket. */
void rds_msg_unsend(struct rds_core_msg *msg);
/* Lets go of the socket. For who took it off its path. */
void rds_msg_leave(struct rds_core_msg *msg);
/* There is room in the send list. */
void rds_wake_writers(struct rds_sock *rs);

/* zerocopy.c */
int rds_zcopy_attach(struct rds_core_msg *msg, struct rds_sock *rs, unsigned int pages);
void rds_zcopy_cookie(struct rds_core_msg *msg, u32 cookie);
void rds_zcopy_end(struct rds_zcopy *z);
bool rds_zcopy_room(const struct msghdr *msg);
bool rds_zcopy_report(struct rds_sock *rs, struct msghdr *msg);
void rds_zcopy_drop(struct rds_sock *rs);

/* conn.c */
/*
 * A socket of this host has sent or received over it. True: it stays as long as there are sockets;
 * false: it is on its way out.
 */
bool rds_conn_use_first(struct rds_core_conn *conn);

static inline bool rds_conn_use(struct rds_core_conn *conn)
{
	return conn->transport->loops || READ_ONCE(conn->used) || rds_conn_use_first(conn);
}

void rds_conn_each(struct rds_net *rnet, void (*fn)(struct rds_core_conn *conn, void *arg),
		   void *arg);
/* Namespaces */
int rds_net_init(void);
void rds_net_exit(void);

/* path-state.c; any context */

/* Who is told of what happens to a path; main.c sets it */
extern void (*rds_notify)(struct rds_core_path *path, enum rds_event event, int why);
/* True: it was in @from; the work of the edge is the caller's then. */
bool rds_path_change(struct rds_core_path *path, enum rds_core_state from, enum rds_core_state to);
/* It was in the state @was, and is not any more. */
void rds_path_ended(struct rds_core_path *path, int was, int why);
void rds_path_start_connect(struct rds_core_path *path, unsigned long delay);
/* Connects a path that is down. */
void rds_path_wake(struct rds_core_path *path);
/* The map is to be sent, and whoever transmits is told. */
void rds_path_map_due(struct rds_core_path *path);
/* Process context */
int rds_path_wq_init(void);
void rds_path_wq_exit(void);

/* path.c */
int rds_path_init(struct rds_core_path *path, struct rds_core_conn *conn, unsigned int index);
/* It is none of the connection's any more: what it has is sent over the first. */
void rds_path_leave(struct rds_core_path *path);
void rds_path_exit(struct rds_core_path *path);

/* xmit.c */
void rds_xmit_queue(struct rds_core_path *path, struct rds_core_msg *msg);
/* Transmits what is queued, or leaves a note for who does; task context */
void rds_xmit_run(struct rds_core_path *path);
void rds_xmit_work(struct work_struct *work);
void rds_xmit_requeue(struct rds_core_path *path);
void rds_xmit_purge(struct rds_core_path *path);
/* Messages of a path that is down, under its path->sending, are the last of another one. */
void rds_xmit_move(struct rds_core_path *from, struct rds_core_path *to);

/* spread.c */
/* The path that a message of the socket takes */
struct rds_core_path *rds_spread_pick(struct rds_sock *rs, struct rds_core_conn *conn,
				      __be16 dport);

/* ping.c */
void rds_ping_answer(struct rds_core_path *path, const struct rds_core_inc *ping);

/* cong.c */
struct rds_cong *rds_cong_get(struct rds_net *rnet, const struct in6_addr *addr, bool bits);
void rds_cong_put(struct rds_cong *cong);
/* Installs memory for the bits, unless somebody else has. */
void rds_cong_give_bits(struct rds_cong *cong, unsigned long *bits);
void rds_cong_mark(struct rds_cong *cong, __be16 port, bool congested);

/* cong-change.c */
/* The map of a local address has changed: connections send it, waiters look again. */
void rds_cong_changed(struct rds_cong *cong);
void rds_cong_monitor(struct rds_sock *rs, bool on);
/* The port is congested. Until it is not: 0, -EINTR and the like, -ETIMEDOUT, -ENOBUFS */
int rds_cong_wait(struct rds_sock *rs, struct rds_core_conn *conn, __be16 port, long *timeout);

/* transport.c */
int rds_transport_preset(struct rds_sock *rs, int type);
/* A transport for the address, its module held */
struct rds_core_transport *rds_transport_find(struct net *net, const struct in6_addr *addr,
					      u32 scope);
/* Whether any could be bound to it */
bool rds_transport_local(struct net *net, const struct in6_addr *addr, u32 scope);
void rds_transport_put(struct rds_core_transport *transport);
/* The counters that transports have, for RDS_INFO_COUNTERS */
void rds_transport_counters(struct rds_core_info *info);

/* loop.c */
extern struct rds_core_transport rds_loop;
void rds_loop_send(struct rds_core_conn *conn, struct rds_core_msg *msg, bool back);

/* info.c, info-list.c */
/**
 * struct rds_core_info - a list that is being made
 * @number: RDS_INFO_*
 * @buf: memory for it; NULL: it is being counted
 * @room: elements that @buf has room for
 * @count: elements there are
 * @size: bytes of one
 */
struct rds_core_info {
	unsigned int number;
	char *buf;
	unsigned int room;
	unsigned int count;
	unsigned int size;
};

int rds_info_get(struct net *net, int number, char __user *value, int __user *len);
void rds_info_lists_init(void);

/* nl.c: tells who listens. Any context. */
void rds_nl_event(struct rds_core_path *path, enum rds_event event, int why);
extern struct genl_family rds_nl_family;

/* sysctl.c */
extern unsigned long rds_sysctl_min_delay;
extern unsigned long rds_sysctl_max_delay;
extern int rds_sysctl_ping;
int rds_sysctl_init(void);
void rds_sysctl_exit(void);

/* stats.c: counters in the order in which RDS_INFO_COUNTERS has them */
enum rds_stat {
	RDS_STAT_CONN_RESET,
	RDS_STAT_RECV_DROP_BAD_CHECKSUM,
	RDS_STAT_RECV_DROP_OLD_SEQ,
	RDS_STAT_RECV_DROP_NO_SOCK,
	RDS_STAT_RECV_DROP_DEAD_SOCK,
	RDS_STAT_RECV_DELIVER_RACED,
	RDS_STAT_RECV_DELIVERED,
	RDS_STAT_RECV_QUEUED,
	RDS_STAT_RECV_IMMEDIATE_RETRY,
	RDS_STAT_RECV_DELAYED_RETRY,
	RDS_STAT_RECV_ACK_REQUIRED,
	RDS_STAT_RECV_RDMA_BYTES,
	RDS_STAT_RECV_PING,
	RDS_STAT_SEND_QUEUE_EMPTY,
	RDS_STAT_SEND_QUEUE_FULL,
	RDS_STAT_SEND_LOCK_CONTENTION,
	RDS_STAT_SEND_LOCK_QUEUE_RACED,
	RDS_STAT_SEND_IMMEDIATE_RETRY,
	RDS_STAT_SEND_DELAYED_RETRY,
	RDS_STAT_SEND_DROP_ACKED,
	RDS_STAT_SEND_ACK_REQUIRED,
	RDS_STAT_SEND_QUEUED,
	RDS_STAT_SEND_RDMA,
	RDS_STAT_SEND_RDMA_BYTES,
	RDS_STAT_SEND_PONG,
	RDS_STAT_PAGE_REMAINDER_HIT,
	RDS_STAT_PAGE_REMAINDER_MISS,
	RDS_STAT_COPY_TO_USER,
	RDS_STAT_COPY_FROM_USER,
	RDS_STAT_CONG_UPDATE_QUEUED,
	RDS_STAT_CONG_UPDATE_RECEIVED,
	RDS_STAT_CONG_SEND_ERROR,
	RDS_STAT_CONG_SEND_BLOCKED,
	RDS_STAT_RECV_BYTES_ADDED,
	RDS_STAT_RECV_BYTES_FREED,
	RDS_STAT_SEND_STUCK_RM,
	RDS_STAT_COUNT,
};

struct rds_stats {
	u64 n[RDS_STAT_COUNT];
};

DECLARE_PER_CPU(struct rds_stats, rds_stats);

static inline void rds_stat_add(enum rds_stat which, u64 n)
{
	this_cpu_add(rds_stats.n[which], n);
}

static inline void rds_stat(enum rds_stat which)
{
	rds_stat_add(which, 1);
}

void rds_stats_fill(struct net *net, struct rds_core_info *info);

#endif /* RDS_CORE_H */
