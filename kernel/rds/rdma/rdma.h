/* SPDX-License-Identifier: GPL-2.0 */
/* The module rds_rdma for its own files. docs/dev/rds.md has lifetimes and the order of locks. */
#ifndef RDS_RDMA_H
#define RDS_RDMA_H

#include <linux/rds.h>
#include <rds/rdma-proto.h>
#include <rds/transport.h>
#include <rdma/rdma_cm.h>

/* Entries of the send queue, and buffers that the receive queue can have */
#define RDS_RDMA_SENDS		128
#define RDS_RDMA_RECVS		256
/* So many buffers a connection has until its peer sends more. */
#define RDS_RDMA_RECVS_FIRST	16
/* Bytes from one header to the next */
#define RDS_RDMA_HDR_ROOM	64

/**
 * struct rds_rdma_tx - an entry of the send queue
 * @cqe: completion
 * @dma: address of the payload
 * @len: bytes of it; 0: there is none
 * @msg: message that it belongs to, with a reference; or NULL
 * @page: piece of a map; or NULL
 * @ack: an acknowledgment alone
 */
struct rds_rdma_tx {
	struct ib_cqe cqe;
	dma_addr_t dma;
	u32 len;
	struct rds_core_msg *msg;
	struct page *page;
	bool ack;
};

/**
 * struct rds_rdma_rx - a receive buffer
 * @cqe: completion
 * @next: in the list of those that are not posted
 * @page: for the payload; NULL: a message has taken it
 * @dma: its address
 */
struct rds_rdma_rx {
	struct ib_cqe cqe;
	struct rds_rdma_rx *next;
	struct page *page;
	dma_addr_t dma;
};

/**
 * struct rds_rdma_link - a connection of the connection manager, or an attempt at one
 * @path: path that has it; NULL: it waits to be accepted. Changed under the handler lock of @id.
 * @id: of the connection manager
 * @passive: the peer has asked for it
 * @closing: its path does not want it any more; under the handler lock
 * @gone: why it ended before it had a path
 * @order: number of the request among all events of this kind; see rds_rdma_order
 * @version: both ends have it
 * @peer: what the peer has told
 * @resources: RDMA operations that the peer can answer at a time
 * @depth: those that it will have under way
 * @accept_work: gives it to a path
 * @pd: protection domain
 * @cq: completion queue of both
 * @nr_sends: entries of @tx, a power of two
 * @tx: send queue
 * @tx_hdr: headers of @tx
 * @tx_hdr_dma: address of them
 * @tx_head: entries that were used; this and what follows under path->sending
 * @tx_sent: bytes of the message, or of the map, that are on their way
 * @unsignaled: entries since one that tells when it is done
 * @unasked: messages that may go before the peer is asked to acknowledge
 * @tx_tail: entries that are done; changed by the completion handler
 * @blocked: whoever transmits waits for an entry, or for a credit
 * @rx_seq: number of the last message that came
 * @acked: acknowledgment that came last
 * @ack_wanted: the peer wants to know @rx_seq
 * @ack_now: no message is to be waited for that could tell it
 * @ack_flying: an acknowledgment alone is on its way
 * @quick: nothing goes back that could acknowledge
 * @ack_at: when the last one went alone, in jiffies
 * @ack_work: sets @ack_now when nothing went back in time
 * @flow: both ends grant credits
 * @credits: frames that the peer has room for
 * @offered: buffers that the peer does not know of
 * @rx_lock: protects what follows
 * @nr_recvs: entries of @rx
 * @rx: receive buffers
 * @rx_hdr: headers of @rx
 * @rx_hdr_dma: address of them
 * @rx_free: those that are not posted
 * @posted: how many are
 * @want: how many should be
 * @burst: frames that came in this jiffy
 * @burst_at: which
 * @broken: nothing is taken any more
 * @h: header of the message that is coming
 * @have: bytes of it that are there
 * @coming: there is one
 * @inc: it; NULL: a map, or nothing that is wanted
 * @map: map, RDS_MAP_LEN bytes; or NULL
 * @reserved: bytes of what strangers may have
 * @refill_work: posts buffers when there is memory again, or when the socket reads
 */
struct rds_rdma_link {
	struct rds_core_path *path;
	struct rdma_cm_id *id;
	bool passive;
	bool closing;
	int gone;
	u64 order;
	u16 version;
	struct rds_priv peer;
	u8 resources;
	u8 depth;
	struct work_struct accept_work;
	struct ib_pd *pd;
	struct ib_cq *cq;
	u32 nr_sends;
	struct rds_rdma_tx *tx;
	u8 *tx_hdr;
	dma_addr_t tx_hdr_dma;
	u32 tx_head;
	u32 tx_sent;
	unsigned int unsignaled;
	unsigned int unasked;
	u32 tx_tail;
	bool blocked;
	u64 rx_seq;
	u64 acked;
	bool ack_wanted;
	bool ack_now;
	bool ack_flying;
	bool quick;
	unsigned long ack_at;
	struct delayed_work ack_work;
	bool flow;
	atomic_t credits;
	atomic_t offered;
	spinlock_t rx_lock; /* see above */
	u32 nr_recvs;
	struct rds_rdma_rx *rx;
	u8 *rx_hdr;
	dma_addr_t rx_hdr_dma;
	struct rds_rdma_rx *rx_free;
	u32 posted;
	u32 want;
	u32 burst;
	unsigned long burst_at;
	bool broken;
	struct rds_hdr h;
	u32 have;
	bool coming;
	struct rds_rdma_inc *inc;
	u8 *map;
	u32 reserved;
	struct delayed_work refill_work;
};

/**
 * struct rds_rdma_path - what the transport has of a path
 * @path: path
 * @entry: in the list of all
 * @link: connection, or NULL; changed under path->sending and rds_rdma_lock
 * @up_order: order of the reply that made it; see rds_rdma_order
 * @patience: jiffies that an attempt may take
 * @watch_work: ends an attempt that takes longer
 */
struct rds_rdma_path {
	struct rds_core_path *path;
	struct list_head entry;
	struct rds_rdma_link *link;
	u64 up_order;
	unsigned long patience;
	struct delayed_work watch_work;
};

static inline struct rds_rdma_path *rds_rdma_path(const struct rds_core_path *path)
{
	return path->transport_data;
}

/* main.c */
extern struct rds_core_transport rds_rdma_transport;
extern struct workqueue_struct *rds_rdma_wq;
extern spinlock_t rds_rdma_lock;
extern struct list_head rds_rdma_paths;

/* cm.c: requests, replies, and how it ends */
/* Bytes of the address; mapped IPv4 becomes IPv4. */
int rds_rdma_addr_put(struct sockaddr_storage *ss, const struct in6_addr *ip, u32 scope, u16 port);
int rds_rdma_listen_start(void);
void rds_rdma_listen_stop(void);
int rds_rdma_connect(struct rds_core_path *path);
void rds_rdma_shutdown(struct rds_core_path *path);
void rds_rdma_watch_work(struct work_struct *work);
int rds_rdma_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *ev);

/* link.c: queue pair, rings, memory */
/* What the device lacks, in words; NULL: nothing */
const char *rds_rdma_lacks(const struct ib_device *dev);
struct rds_rdma_link *rds_rdma_link_make(void);
/* Queue pair and rings, with the first receive buffers posted */
int rds_rdma_link_setup(struct rds_rdma_link *link);
/* Ends all of it, with its id. */
void rds_rdma_link_end(struct rds_rdma_link *link);
/* Unless it is being ended anyway. Any context. */
void rds_rdma_link_drop(struct rds_rdma_link *link, int why);

/* send.c */
int rds_rdma_xmit(struct rds_core_path *path, struct rds_core_msg *msg);
int rds_rdma_xmit_map(struct rds_core_path *path, const void *bits);
int rds_rdma_xmit_ack(struct rds_core_path *path);
void rds_rdma_tx_done(struct ib_cq *cq, struct ib_wc *wc);
/* All that is left, when the queue pair has ended. */
void rds_rdma_tx_purge(struct rds_rdma_link *link);
/* There is room again, or a credit. */
void rds_rdma_unblock(struct rds_rdma_link *link);
/* The peer wants an acknowledgment. */
void rds_rdma_ack_asked(struct rds_rdma_link *link);
/* No message is waited for that could carry it. */
void rds_rdma_ack_send(struct rds_rdma_link *link);
void rds_rdma_ack_work(struct work_struct *work);

/* recv.c */
void rds_rdma_rx_done(struct ib_cq *cq, struct ib_wc *wc);
/* Posts buffers as far as they are wanted. */
void rds_rdma_refill(struct rds_rdma_link *link, gfp_t gfp);
void rds_rdma_refill_work(struct work_struct *work);
void rds_rdma_rx_purge(struct rds_rdma_link *link);
void rds_rdma_resume(struct rds_core_path *path);

/* info.c */
void rds_rdma_info_init(void);
void rds_rdma_info_exit(void);

/* stats.c: counters in the order in which RDS_INFO_COUNTERS has them */
enum rds_rdma_stat {
	RDS_RDMA_STAT_CONNECT_RACED,
	RDS_RDMA_STAT_LISTEN_CLOSED_STALE,
	RDS_RDMA_STAT_EVT_HANDLER_CALL,
	RDS_RDMA_STAT_TASKLET_CALL,
	RDS_RDMA_STAT_TX_CQ_EVENT,
	RDS_RDMA_STAT_TX_RING_FULL,
	RDS_RDMA_STAT_TX_THROTTLE,
	RDS_RDMA_STAT_TX_SG_MAPPING_FAILURE,
	RDS_RDMA_STAT_TX_STALLED,
	RDS_RDMA_STAT_TX_CREDIT_UPDATES,
	RDS_RDMA_STAT_RX_CQ_EVENT,
	RDS_RDMA_STAT_RX_RING_EMPTY,
	RDS_RDMA_STAT_RX_REFILL_FROM_CQ,
	RDS_RDMA_STAT_RX_REFILL_FROM_THREAD,
	RDS_RDMA_STAT_RX_ALLOC_LIMIT,
	RDS_RDMA_STAT_RX_TOTAL_FRAGS,
	RDS_RDMA_STAT_RX_TOTAL_INCS,
	RDS_RDMA_STAT_RX_CREDIT_UPDATES,
	RDS_RDMA_STAT_ACK_SENT,
	RDS_RDMA_STAT_ACK_SEND_FAILURE,
	RDS_RDMA_STAT_ACK_SEND_DELAYED,
	RDS_RDMA_STAT_ACK_SEND_PIGGYBACKED,
	RDS_RDMA_STAT_ACK_RECEIVED,
	RDS_RDMA_STAT_KEYS,	/* 16 counters of keys and atomics, which there are none of */
	RDS_RDMA_STAT_DROP_BAD_FRAME = RDS_RDMA_STAT_KEYS + 16,
	RDS_RDMA_STAT_REFUSED_PEER,
	RDS_RDMA_STAT_COUNT,
};

struct rds_rdma_stats {
	u64 n[RDS_RDMA_STAT_COUNT];
};

DECLARE_PER_CPU(struct rds_rdma_stats, rds_rdma_stats);

static inline void rds_rdma_stat(enum rds_rdma_stat which)
{
	this_cpu_inc(rds_rdma_stats.n[which]);
}

void rds_rdma_counters(struct rds_core_info *info);

#endif /* RDS_RDMA_H */
