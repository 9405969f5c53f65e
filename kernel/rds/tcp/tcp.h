/* SPDX-License-Identifier: GPL-2.0 */
/* The module rds_tcp for its own files. docs/dev/rds.md has lifetimes and the order of locks. */
#ifndef RDS_TCP_H
#define RDS_TCP_H

#include <linux/net.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/sock.h>
#include <rds/transport.h>

#define RDS_TCP_PORT		16385
/* What has come is acknowledged after this at the latest, in jiffies. */
#define RDS_TCP_ACK_DELAY	(HZ / 125)

/**
 * struct rds_tcp_net - a namespace
 * @net: namespace
 * @lock: protects @listener
 * @listener: accepts connections; NULL: nobody does
 * @data_ready: what sockets of TCP have before they are ours
 * @accept_work: accepts what there is
 * @paths_lock: protects @paths, and the socket of each
 * @paths: of struct rds_tcp_path
 * @listen: sysctl
 * @sndbuf: sysctl: bytes of a TCP socket's send buffer; 0: as the kernel likes
 * @rcvbuf: the same of its receive buffer
 * @scouts: of all paths, under way
 * @max_paths: sysctl: paths that a new connection has, at most
 * @table: of the sysctls
 * @sysctl: registration of @table
 */
struct rds_tcp_net {
	struct net *net;
	struct mutex lock; /* see above */
	struct socket *listener;
	void (*data_ready)(struct sock *sk);
	struct work_struct accept_work;
	spinlock_t paths_lock; /* see above */
	struct list_head paths;
	int listen;
	int sndbuf;
	int rcvbuf;
	atomic_t scouts;
	int max_paths;
	struct ctl_table *table;
	struct ctl_table_header *sysctl;
};

extern unsigned int rds_tcp_net_id;

static inline struct rds_tcp_net *rds_tcp_net(const struct net *net)
{
	return net_generic(net, rds_tcp_net_id);
}

/* enum rds_tcp_peer - when a message is the peer's */
enum rds_tcp_peer {
	RDS_TCP_PEER_UNKNOWN,	/* its first map has not come yet */
	RDS_TCP_PEER_PLAIN,	/* when its TCP has acknowledged the last byte */
	RDS_TCP_PEER_ACKS,	/* when a header of it says so */
};

/**
 * struct rds_tcp_rx - the record that is being read; under the lock of the TCP socket
 * @hdr: its header, as far as it is there
 * @hdr_have: bytes of it
 * @h: the same, when it is complete
 * @left: bytes of payload that are missing
 * @inc: message; NULL: a map, or nothing that is wanted
 * @map: map, RDS_MAP_LEN bytes; or NULL
 * @reserved: bytes of what strangers may have
 * @broken: what came is no record: nothing is read any more
 */
struct rds_tcp_rx {
	u8 hdr[RDS_HDR_LEN];
	unsigned int hdr_have;
	struct rds_hdr h;
	u32 left;
	struct rds_tcp_inc *inc;
	u8 *map;
	u32 reserved;
	bool broken;
};

/**
 * struct rds_tcp_path - what the transport has of a path
 * @path: path
 * @entry: in the list of its namespace
 * @sock: TCP socket, or NULL; set under path->sending and the lock of the list
 * @data_ready: callbacks of @sock before it was ours
 * @write_space: the same
 * @state_change: the same
 * @tx_hdr: header of the record that is being sent; this and what follows under path->sending
 * @tx_sent: bytes of the record that are sent
 * @tx_ack: the record is an acknowledgment
 * @tx_acked: what this end has acknowledged
 * @blocked: whoever transmits waits for room in the socket
 * @ack_due: the peer wants to know what has come
 * @peer: see enum rds_tcp_peer; under the lock of the socket
 * @announced: paths that this end tells it has
 * @generation: that this end tells
 * @peer_generation: that the peer told last
 * @peer_told: it told one
 * @rx: what is being read
 * @recv_work: reads what was left
 * @ack_work: acknowledges what no message has acknowledged; tries again when TCP had no memory
 * @watch_work: looks whether the peer answers
 * @watch_due: when it should, in jiffies
 * @scout: a connection that is tried while the peer does not answer; under path->sending
 * @scout_state_change: callback of @scout before it was ours
 * @stuck_since: since when it does not, in jiffies
 */
struct rds_tcp_path {
	struct rds_core_path *path;
	struct list_head entry;
	struct socket *sock;
	void (*data_ready)(struct sock *sk);
	void (*write_space)(struct sock *sk);
	void (*state_change)(struct sock *sk);
	u8 tx_hdr[RDS_HDR_LEN];
	u32 tx_sent;
	bool tx_ack;
	u64 tx_acked;
	bool blocked;
	bool ack_due;
	enum rds_tcp_peer peer;
	unsigned int announced;
	u32 generation;
	u32 peer_generation;
	bool peer_told;
	struct rds_tcp_rx rx;
	struct delayed_work recv_work;
	struct delayed_work ack_work;
	struct delayed_work watch_work;
	unsigned long watch_due;
	struct socket *scout;
	void (*scout_state_change)(struct sock *sk);
	unsigned long stuck_since;
};

static inline struct rds_tcp_path *rds_tcp_path(const struct rds_core_path *path)
{
	return path->transport_data;
}

/* sock.c; main.c sets them */
extern struct rds_core_transport *rds_tcp_transport;
extern struct workqueue_struct *rds_tcp_wq;

/* net.c: namespaces and their sysctls */
int rds_tcp_net_init(void);
void rds_tcp_net_exit(void);

/* listen.c */
int rds_tcp_listen_start(struct rds_tcp_net *tn);
void rds_tcp_listen_stop(struct rds_tcp_net *tn);
void rds_tcp_accept_work(struct work_struct *work);

/* sock.c */
/* Bytes of the address of a TCP socket; mapped IPv4 becomes IPv4. */
int rds_tcp_addr_put(struct sockaddr_storage *ss, const struct in6_addr *ip, u32 scope, u16 port);
/* A new one, bound to the address of this host, whose port tells the path; ERR_PTR() */
struct socket *rds_tcp_sock_make(const struct rds_core_path *path);
int rds_tcp_sock_connect(struct socket *sock, const struct rds_core_conn *conn);
/* Options that each connection has */
void rds_tcp_sock_tune(struct rds_tcp_net *tn, struct socket *sock);
/* Resets the connection: nothing of it arrives later. */
void rds_tcp_sock_close(struct socket *sock);

/* attach.c */
/* The path has it from now on. Under path->sending, as the next. */
void rds_tcp_sock_attach(struct rds_tcp_path *tp, struct socket *sock);
/* The same with a connection that is there: for rds_core_path_accept() */
void rds_tcp_sock_install(struct rds_core_path *path, void *sock);
/* Out of it, or NULL: no callback runs any more, and what it has received is delivered. */
struct socket *rds_tcp_sock_detach(struct rds_tcp_path *tp);

/* path.c */
int rds_tcp_path_init(struct rds_core_path *path);
void rds_tcp_path_exit(struct rds_core_path *path);
int rds_tcp_connect(struct rds_core_path *path);
void rds_tcp_shutdown(struct rds_core_path *path);

/* send.c */
int rds_tcp_xmit(struct rds_core_path *path, struct rds_core_msg *msg);
int rds_tcp_xmit_map(struct rds_core_path *path, const void *bits);
int rds_tcp_xmit_ack(struct rds_core_path *path);
/* The peer's TCP has acknowledged something. */
void rds_tcp_una(struct rds_tcp_path *tp);
/* The peer says that the message, and all before it, is its own. */
void rds_tcp_acked(struct rds_tcp_path *tp, u64 seq);
void rds_tcp_ack_work(struct work_struct *work);

/* recv.c */
/* Reads what has come, under the lock of the socket. */
void rds_tcp_read(struct rds_tcp_path *tp, struct sock *sk, bool all);
void rds_tcp_recv_work(struct work_struct *work);
void rds_tcp_resume(struct rds_core_path *path);
void rds_tcp_rx_reset(struct rds_tcp_rx *rx);

/* How often it is looked, and how old a scout gets, in jiffies; less often when it takes long */
#define RDS_TCP_WATCH_PERIOD	(HZ / 8)

/* Inline, as watch.c and files that stand behind it use it. */
static inline void rds_tcp_look_after(struct rds_tcp_path *tp, unsigned long delay)
{
	WRITE_ONCE(tp->watch_due, jiffies + delay);
	queue_delayed_work(rds_tcp_wq, &tp->watch_work, delay);
}

/* There is something that the peer is to answer. */
static inline void rds_tcp_watch(struct rds_tcp_path *tp)
{
	if (!delayed_work_pending(&tp->watch_work))
		rds_tcp_look_after(tp, RDS_TCP_WATCH_PERIOD);
}

/* watch.c */
void rds_tcp_watch_work(struct work_struct *work);
/* Under path->sending */
void rds_tcp_watch_end(struct rds_tcp_path *tp);

/* info.c */
void rds_tcp_ends(const struct rds_core_path *path, struct rds_core_ends *ends);
void rds_tcp_info_init(void);
void rds_tcp_info_exit(void);

/* stats.c: counters in the order in which RDS_INFO_COUNTERS has them */
enum rds_tcp_stat {
	RDS_TCP_STAT_DATA_READY_CALLS,
	RDS_TCP_STAT_WRITE_SPACE_CALLS,
	RDS_TCP_STAT_SNDBUF_FULL,
	RDS_TCP_STAT_CONNECT_RACED,
	RDS_TCP_STAT_LISTEN_CLOSED_STALE,
	RDS_TCP_STAT_DROP_BAD_RECORD,
	RDS_TCP_STAT_DROP_UNANSWERED,
	RDS_TCP_STAT_COUNT,
};

struct rds_tcp_stats {
	u64 n[RDS_TCP_STAT_COUNT];
};

DECLARE_PER_CPU(struct rds_tcp_stats, rds_tcp_stats);

static inline void rds_tcp_stat(enum rds_tcp_stat which)
{
	this_cpu_inc(rds_tcp_stats.n[which]);
}

void rds_tcp_counters(struct rds_core_info *info);

#endif /* RDS_TCP_H */
