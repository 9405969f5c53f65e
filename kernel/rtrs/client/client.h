/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside of rtrs-client.
 *
 * Locks, outer first: session->admin, rtrs_client_lock, session->lock,
 * session->state_lock, con->send_lock; session->fence before the last two. The I/O path takes
 * the last one only and runs under rcu_read_lock(): after a path has left the connected state and
 * a grace period has passed, nobody posts on it any more.
 */
#ifndef RTRS_CLIENT_CLIENT_H
#define RTRS_CLIENT_CLIENT_H

#ifndef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#endif

#include <linux/completion.h>
#include <linux/device.h>
#include <linux/percpu.h>
#include <linux/scatterlist.h>
#include <linux/xarray.h>
#include <rtrs/client.h>

#include "core.h"
#include "hist.h"
#include "state.h"

#define RTRS_CLIENT_TIMEOUT_MS		30000	/* for each step of connecting */
#define RTRS_CLIENT_TIMEOUT_MS_MAX	600000
#define RTRS_CLIENT_GONE_MS		5000	/* for the server to answer a disconnect */
#define RTRS_CLIENT_SETTLE_MS		1000	/* part of that which requests wait */
#define RTRS_CLIENT_FOUNDER_MS		2000	/* for the founder, until the server answers */
/*
 * Gather entries of a send: the message and 64 KiB of pages. Each send queue entry has room for all
 * of them: 1 MiB for 512 slots on mlx5. Paths of many queue pairs have fewer, which is half of that
 * memory; their writes of more than two pages are registered.
 */
#define RTRS_CLIENT_SGES		18
#define RTRS_CLIENT_SGES_OF_MANY	3
#define RTRS_CLIENT_MANY		64	/* I/O connections of a path */
#define RTRS_CLIENT_SEND_MIN		16	/* send queue entries of a usable device */
#define RTRS_CLIENT_SEND_SPARE		4	/* of them, for heartbeats and probes alone */
#define RTRS_CLIENT_SEND_HELD		2	/* of them, by a request until it is done */
#define RTRS_CLIENT_SIGNAL_INTERVAL	64	/* a completion at least each so many entries */

#define RTRS_CLIENT_LONE_ROUND		256	/* requests, of which so many at first must find */
#define RTRS_CLIENT_LONE_PROOF		4	/* no other one: the rest are taken for lone */

/*
 * Bits of rtrs_client_req.pending: what a request waits for; 0 is an idle slot.
 * Whoever clears the last bit finishes the request.
 */
enum {
	RTRS_CLIENT_REQ_POSTING	= 1 << 0, /* rtrs_client_submit() runs */
	RTRS_CLIENT_REQ_AWAIT	= 1 << 1, /* the response; who clears this bit owns the request */
	RTRS_CLIENT_REQ_ANSWER	= 1 << 2, /* end of the handler of the response */
	RTRS_CLIENT_REQ_SENT	= 1 << 3, /* completion of the send */
	RTRS_CLIENT_REQ_INVAL	= 1 << 4, /* completion of the local invalidation, last of all */
};

/**
 * struct rtrs_client_req - a slot of a path
 * @pending: what it waits for, RTRS_CLIENT_REQ_*
 * @err: of the response
 * @wrs: send queue entries that are free when the send is complete
 * @cpu: CPU that submitted it
 * @usr_len: bytes of the user message in @buf
 * @is_read: the server writes to the pages
 * @registered: @mr is valid and has to be invalidated
 * @eager: the response brings no new key
 * @bounced: the bounce buffer of the slot has the data
 * @con: connection that it was sent on
 * @mr: memory region of the slot, NULL once the path is down
 * @buf: user message and header
 * @sgl: data, mapped for DMA; NULL for none
 * @sg_count: entries of @sgl
 * @mapped: entries of @sgl after DMA mapping
 * @bytes: data and user message, for statistics
 * @counted: counts in ->inflight of the path
 * @waiting: requests of @cpu in flight on the path at submission, with this one; 0 if not counted
 * @start: time of submission, ns
 * @send_cqe: completion of the send
 * @inval_cqe: completion of the local invalidation
 * @done: callback of the user
 * @wanted: callback of the user, may be NULL
 * @priv: argument of both
 */
struct rtrs_client_req {
	atomic_t pending;
	int err;
	u32 wrs;
	u16 cpu;
	u16 usr_len;
	bool is_read;
	bool registered;
	bool eager;
	bool bounced;
	struct rtrs_client_con *con;
	struct ib_mr *mr;
	struct rtrs_iu *buf;
	struct scatterlist *sgl;
	u32 sg_count;
	u32 mapped;
	u32 bytes;
	bool counted;
	u32 waiting;
	u64 start;
	struct ib_cqe send_cqe;
	struct ib_cqe inval_cqe;
	void (*done)(void *priv, int err);
	bool (*wanted)(const void *priv);
	void *priv;
} ____cacheline_aligned_in_smp;

/**
 * struct rtrs_client_con - a connection of a path
 * @c: part that both ends have in common
 * @path: its path
 * @gone: path_take_down() need not wait for the disconnect of the peer
 * @told: the peer has answered our disconnect: it takes nothing of this connection any more
 * @drain: drains the queue pair, for path_take_down()
 * @live: was established: has to be disconnected and drained
 * @unresolved: the last rdma_resolve_addr() timed out
 * @polling: bit 0: a task reaps completions (polled connections)
 * @recv: receive buffers, NULL where responses are empty
 * @recv_count: number of @recv
 * @recv_cqe: completion of empty receives
 * @reg_cqe: completion of registrations, which are signalled for errors only
 * @imm_cqe: completion of heartbeats
 * @probe_cqe: completion of probes
 * @invalidated: key of the last SEND WITH INVALIDATE until its request takes it, then NO_KEY
 * @heard: a completion came since the last tick of the heartbeat
 * @silent: ticks with requests in flight and without a completion; of the tick alone
 * @probe: send queue entries that the completion of the probe frees, 0 if none is in flight
 * @send_lock: orders posts, protects @unsignalled
 * @unsignalled: entries posted since the last signalled one
 * @interval: most of @unsignalled
 * @credits: free entries of the send queue
 * @lone: requests in a row that found no other one in flight; not exact
 */
struct rtrs_client_con {
	struct rtrs_con c;
	struct rtrs_client_path *path;
	bool gone;
	bool told;
	struct work_struct drain;
	bool live;
	bool unresolved;
	unsigned long polling;
	struct rtrs_iu *recv;
	u32 recv_count;
	struct ib_cqe recv_cqe;
	struct ib_cqe reg_cqe;
	struct ib_cqe imm_cqe;
	struct ib_cqe probe_cqe;
	u64 invalidated;
	bool heard;
	u32 silent;
	u32 probe;

	spinlock_t send_lock ____cacheline_aligned_in_smp; /* of @unsignalled */
	u32 unsignalled;
	u32 interval;
	atomic_t credits;
	u32 lone;
};

#define RTRS_CLIENT_NO_KEY	U64_MAX

/**
 * struct rtrs_client_latency - how long requests from one CPU take on a path
 * @ns: moving average of the time of a request divided by the requests in flight, 0 before the
 *	first
 * @at: time of the last choice or completion, from which @ns decays
 * @waiting: requests in flight that min-latency has placed
 */
struct rtrs_client_latency {
	u64 ns;
	u64 at;
	atomic_t waiting;
};

/**
 * struct rtrs_client_counts - counters of completed requests; index 0 writes, 1 reads
 * @ios: requests
 * @bytes: of data and user messages
 * @polls: of completion queues
 * @latency_max: longest time from submission to completion, in ns
 * @latency: distribution of these times
 * @sg: distribution of the entries of scatter-gather lists
 */
struct rtrs_client_counts {
	u64 ios[2];
	u64 bytes[2];
	struct rtrs_polls polls;
	u64 latency_max[2];
	u64 latency[2][RTRS_LATENCY_BUCKETS];
	u64 sg[RTRS_SG_BUCKETS];
};

/**
 * struct rtrs_client_cpu_stats - counters of a path on one CPU; only that CPU writes, unless noted
 * @c: counters
 * @inflight: submitted here less done here; only the sum over all CPUs means anything
 * @latency: of requests submitted here, under min-latency; written by the CPU that completes one
 * @failovers: requests submitted here that moved to other paths; written by the path worker
 * @came: requests completed here, by the CPU that submitted them
 */
struct rtrs_client_cpu_stats {
	struct rtrs_client_counts c;
	s32 inflight;
	struct rtrs_client_latency latency;
	u64 failovers;
	u32 came[];
};

/**
 * struct rtrs_client_moves - CPU migrations of requests of a path, for one CPU
 * @from: submitted here, completed on another CPU
 * @to: submitted on another CPU, completed here
 * @inflight: submitted here, not completed
 */
struct rtrs_client_moves {
	u32 from;
	u32 to;
	u32 inflight;
};

/**
 * struct rtrs_client_path - a pair of addresses and its connections
 * @ref: session, sysfs directories
 * @session: its session, outlives it
 * @id: for netlink
 * @state: enum rtrs_client_path_state; written under session->state_lock
 * @epoch: session->losses when it came up: the server has the devices opened in that epoch
 * @last_error: errno of the last loss
 * @since: time when @state was entered
 * @founds: the server may make the session for this attempt to connect
 * @founding: number of the founding, if @founds
 * @asked: session->losses when this attempt began
 * @bind: source address that was asked for, AF_UNSPEC if the route decides; after the first
 *	connect the bound one
 * @addr: addresses; .src is the bound one once there is one; with @name under state_lock
 * @name: "SRC@DST"
 * @hca_name: RDMA device
 * @hca_port: its port
 * @uuid: identity of the path for the server
 * @recon_cnt: attempts to connect, ever
 * @timeout_ms: for each step of connecting
 * @attempts: failed attempts to connect since it was up, or since the last request of an
 *	administrator. This and all up to @tried under state_lock
 * @busy: attempts in a row that the server has refused with -EBUSY
 * @waits: waits for another path that founds the session
 * @making: a process that adds it, or @connect_work, connects it: the path worker does nothing
 * @was_up: it has been connected once
 * @removed: it is being taken out of its session
 * @asked_for: an administrator has asked for the next attempt: max_reconnects does not apply
 * @retry_at: jiffies of the next attempt
 * @tried: attempts of @connect_work that have ended
 * @told_error: last error that was logged; of @connect_work alone
 * @wait: for @tried, a state, or connections that are gone
 * @hurry: path_take_down() waits for the server no longer
 * @step: end of the current step of connecting
 * @refused: the server has rejected the connection with an errno
 * @dev: device, held while there are resources on it
 * @geo: what the server offers
 * @new_rkey: each response brings a new key
 * @lean: two messages for a request, see proto.h
 * @eager_bytes: data of an eager request, 0 for none; see proto.h
 * @grants: the server grants slots, see proto.h; @granted: by INFO_RSP
 * @fences: RTRS_CONN_RSP_FENCES: the server closes other paths on request
 * @fence_cnt: RTRS_CONN_RSP_FENCE_CNT: the request has the recon_cnt of the path
 * @fenced: the server has closed the path of the last request
 * @data_sges: gather entries for data of a send, on each connection
 * @max_segments: entries of a scatterlist, 4 KiB pages of a memory region
 * @max_io_size: payload bytes of a request
 * @pinned: bytes of memory that it has while it is up
 * @con: connections: service, interrupt driven, polled
 * @con_count: number of connections wanted; after a failure some of @con are NULL
 * @slots: entries of @req, @req_buf and @chunk, until the path is closed. The server may offer
 *	another number at a reconnect
 * @chunk: buffers of the server; the key changes with each response
 * @info_rx: INFO_RSP
 * @info_tx: INFO_REQ
 * @info_len: bytes of the INFO_RSP received
 * @req: requests
 * @req_buf: their messages
 * @bounce: for the data of small requests, one for each slot; allocated as @req. What is copied
 *	needs no region of its own
 * @bounce_mr: region of the first @bounce_slots of them, valid while the path is up
 * @bounce_slots: slots that may use theirs
 * @hb: heartbeat
 * @work: path worker: takes the path down, starts @connect_work
 * @connect_work: reconnects the path
 * @remove_work: takes the path out of its session; queued once, by the task that sets @removed
 * @gone: the path is out of its session
 * @stats: counters, per CPU
 * @reconnects_ok: attempts of @connect_work that were successful
 * @reconnects_failed: attempts of @connect_work that failed
 * @kobj: directory in sysfs, NULL where there is none
 * @stats_kobj: directory of the counters
 * @inflight: requests in flight that min-inflight has placed
 */
struct rtrs_client_path {
	struct kref ref;
	struct rtrs_client_session *session;
	u32 id;
	unsigned int state;
	u32 epoch;
	int last_error;
	ktime_t since;
	bool founds;
	u32 founding;
	u32 asked;
	struct sockaddr_storage bind;
	struct rtrs_path_addr addr;
	char name[RTRS_PATH_NAME_LEN];
	char hca_name[IB_DEVICE_NAME_MAX];
	u32 hca_port;
	u8 uuid[RTRS_UUID_LEN];
	u16 recon_cnt;
	unsigned int timeout_ms;
	unsigned int attempts;
	unsigned int busy;
	bool waits;
	bool asked_for;
	bool making;
	bool was_up;
	bool removed;
	unsigned long retry_at;
	unsigned int tried;
	int told_error;
	wait_queue_head_t wait;
	bool hurry;

	struct completion step;
	bool refused;

	struct rtrs_dev *dev;
	struct rtrs_geometry geo;
	bool new_rkey;
	bool lean;
	u32 eager_bytes;
	bool grants;
	u32 granted;
	bool fences;
	bool fence_cnt;
	bool fenced;
	u32 data_sges;
	u32 max_segments;
	u32 max_io_size;
	u64 pinned;
	struct rtrs_client_con **con;
	unsigned int con_count;
	u32 slots;
	struct rtrs_desc *chunk;
	struct rtrs_iu *info_rx;
	struct rtrs_iu *info_tx;
	u32 info_len;
	struct rtrs_client_req *req;
	struct rtrs_iu *req_buf;
	struct rtrs_iu *bounce;
	struct ib_mr *bounce_mr;
	u32 bounce_slots;
	struct rtrs_hb hb;
	struct delayed_work work;
	struct work_struct connect_work;
	struct work_struct remove_work;
	struct completion gone;
	struct rtrs_client_cpu_stats __percpu *stats;
	atomic64_t reconnects_ok;
	atomic64_t reconnects_failed;
	struct kobject *kobj;
	struct kobject *stats_kobj;
	atomic_t inflight ____cacheline_aligned_in_smp;
};

/**
 * struct rtrs_client_path_set - paths of a session for readers under RCU; replaced as a whole
 * @rcu: frees it after a grace period
 * @count: number of @path
 * @path: paths
 */
struct rtrs_client_path_set {
	struct rcu_head rcu;
	unsigned int count;
	struct rtrs_client_path *path[];
};

/**
 * struct rtrs_client_session - a session
 * @ref: its user, sysfs
 * @id: for netlink
 * @name: unique among open sessions
 * @uuid: identity of the session for the server
 * @ops: callbacks of the user
 * @priv: argument of @ops
 * @settings: written under @lock
 * @port: port of the server, for addresses without one
 * @io_cons: interrupt driven connections of a path
 * @poll_cons: polled connections of a path
 * @attrs: limits of requests
 * @admin: held while a path is added or removed
 * @fence: held while a path waits to be fenced by way of another one
 * @closing: no path may be added any more; written under @lock
 * @lock: changes of @paths
 * @paths: path set, never NULL
 * @devs: RDMA devices of @paths
 * @cursor: next path by round-robin
 * @state_lock: protects the states of all paths and all that follows
 * @connected: number of connected paths
 * @state: enum rnbd_session_state
 * @founder: while no path is connected: the one path for which the server may make the session
 * @founded: jiffies when @founder began to connect, or of the last answer of the server to it
 * @foundings: number of founders so far
 * @granted: slots that may be used; @question: number of the last RTRS_IMM_SLOTS
 * @opened: the user gets events
 * @losses: number of losses of the last connected path: the epoch of the session
 * @lost_err: errno of the last loss
 * @changed: the settings have changed, the event was not sent yet
 * @event_work: calls ->event of @ops
 * @told_losses: @losses of the last DISCONNECTED event; of @event_work
 * @told_up: the last event but SETTINGS was RECONNECTED; of @event_work
 * @dev: device in sysfs
 * @paths_kobj: directory of the paths in sysfs
 */
struct rtrs_client_session {
	struct kref ref;
	u32 id;
	char name[RTRS_NAME_MAX + 1];
	u8 uuid[RTRS_UUID_LEN];
	const struct rtrs_client_ops *ops;
	void *priv;
	struct rtrs_client_settings settings;
	u16 port;
	unsigned int io_cons;
	unsigned int poll_cons;
	struct rtrs_client_attrs attrs;

	struct mutex admin; /* adding and removing paths */
	struct mutex fence; /* one fence at a time */
	bool closing;
	struct mutex lock; /* of @paths and @settings */
	struct rtrs_client_path_set __rcu *paths;
	struct rtrs_dev_pool devs;
	u32 __percpu *cursor;

	spinlock_t state_lock; /* of all that follows and of path states */
	unsigned int connected;
	unsigned int state;
	struct rtrs_client_path *founder;
	unsigned long founded;
	u32 foundings;
	u32 granted;
	u32 question;
	bool opened;
	u32 losses;
	int lost_err;
	bool changed;
	struct work_struct event_work;
	u32 told_losses;
	bool told_up;

	struct device *dev;
	struct kobject *paths_kobj;
};

/* queues.c */
extern struct workqueue_struct *rtrs_client_wq;
extern struct workqueue_struct *rtrs_client_connect_wq;
extern struct workqueue_struct *rtrs_client_event_wq;
extern struct workqueue_struct *rtrs_client_drain_wq;
extern struct workqueue_struct *rtrs_client_remove_wq;
int rtrs_client_queues_create(void);
void rtrs_client_queues_destroy(void);

/* session.c: all in process context */
extern struct mutex rtrs_client_lock;		/* both tables, for netlink */
extern struct xarray rtrs_client_sessions;	/* by id */
extern struct xarray rtrs_client_paths;		/* by id */

int rtrs_client_session_init(void);
void rtrs_client_session_exit(void);
void rtrs_client_session_get(struct rtrs_client_session *session);
void rtrs_client_session_put(struct rtrs_client_session *session);
/* Adds a path and connects it; killable. Unless @out is NULL, *@out gets it with a reference. */
int rtrs_client_session_add_path(struct rtrs_client_session *session,
				 const struct rtrs_path_addr *addr, unsigned int timeout_ms,
				 struct netlink_ext_ack *extack, struct rtrs_client_path **out);
/*
 * Closes a path and takes it out of its session, or waits if another task does. Killable: the
 * removal goes on. The caller holds references on both.
 */
int rtrs_client_session_remove_path(struct rtrs_client_path *path, struct netlink_ext_ack *extack);
/* Under session->lock. */
int rtrs_client_settings_set(struct rtrs_client_session *session,
			     const struct rtrs_client_settings *settings,
			     struct netlink_ext_ack *extack);

/* session-state.c: any context but hard interrupts */

/* Sends events of new settings, to netlink and to the user of the session. */
void rtrs_client_session_changed(struct rtrs_client_session *session);
/* These two under session->state_lock: behind a change of the paths, or of the state of one. */
void rtrs_client_session_update(struct rtrs_client_session *session);
void rtrs_client_session_path_moved(struct rtrs_client_session *session, unsigned int old,
				    unsigned int state, int err);
void rtrs_client_session_event_work(struct work_struct *work);	/* ->event_work */

/* settings.c; process context */
int rtrs_client_settings_check(const struct rtrs_client_settings *settings,
			       struct netlink_ext_ack *extack);
int rtrs_client_settings_put(struct sk_buff *msg, const struct rtrs_client_settings *settings);

/* path-state.c */
int rtrs_client_path_init(void);
void rtrs_client_path_exit(void);
void rtrs_client_path_get(struct rtrs_client_path *path);
void rtrs_client_path_put(struct rtrs_client_path *path);
/* Any context but hard interrupts. The caller that gets true does the work of the edge. */
bool rtrs_client_path_move(struct rtrs_client_path *path, enum rtrs_client_path_state state,
			   int err);
/* Takes a path down after an error of any kind. Any context but hard interrupts. */
void rtrs_client_path_error(struct rtrs_client_path *path, int err);
/* As rtrs_client_path_error(), if it came up before @epoch ended: the server has lost it. */
void rtrs_client_path_gone(struct rtrs_client_path *path, u32 epoch);

/* path.c: process context, where not said otherwise */

/* ->remove_work is the caller's. */
struct rtrs_client_path *rtrs_client_path_create(struct rtrs_client_session *session,
						 const struct rtrs_path_addr *addr,
						 unsigned int timeout_ms);
/* Connecting a new path has failed: leaves it to the path worker. */
void rtrs_client_path_not_made(struct rtrs_client_path *path);
/*
 * Starts to take a path down; @for_good: it does not reconnect. True: the caller has to take it out
 * of its session. Any context but hard interrupts.
 */
bool rtrs_client_path_close_begin(struct rtrs_client_path *path, bool for_good);
/* Applies new settings to a path that waits to reconnect. Under session->lock. */
void rtrs_client_path_settings_changed(struct rtrs_client_path *path);
/* Takes a path down; no request is left on it when this returns. */
void rtrs_client_path_close(struct rtrs_client_path *path);
/* As rtrs_client_path_close(), for an administrator. Killable: the path worker goes on. */
int rtrs_client_path_disconnect(struct rtrs_client_path *path, struct netlink_ext_ack *extack);
/*
 * Takes a path down if it is up, and connects it. Killable. -EBUSY: not in this state; -ENOTCONN:
 * the attempt has failed, retries follow.
 */
int rtrs_client_path_reconnect(struct rtrs_client_path *path, unsigned int timeout_ms,
			       struct netlink_ext_ack *extack);

static inline bool rtrs_client_path_connected(const struct rtrs_client_path *path)
{
	/* Pairs with rtrs_client_path_move_locked(): resources of the path before its state */
	return smp_load_acquire(&path->state) == RTRS_CLIENT_PATH_CONNECTED;
}

/* Completion handlers may post; under rcu_read_lock(). */
static inline bool rtrs_client_path_may_post(const struct rtrs_client_path *path)
{
	unsigned int state = READ_ONCE(path->state);

	return state == RTRS_CLIENT_PATH_CONNECTED || state == RTRS_CLIENT_PATH_CONNECTING;
}

/* path-set.c: process context, session->lock held */
int rtrs_client_path_set_init(struct rtrs_client_session *session);
int rtrs_client_path_set_add(struct rtrs_client_session *session, struct rtrs_client_path *path);
/* The path may be in use until a grace period has passed. */
void rtrs_client_path_set_del(struct rtrs_client_session *session, struct rtrs_client_path *path);

static inline struct rtrs_client_path_set *
rtrs_client_path_set_locked(struct rtrs_client_session *session)
{
	return rcu_dereference_protected(session->paths, lockdep_is_held(&session->lock));
}

/* policy.c: any context but hard interrupts, under rcu_read_lock() */

/**
 * struct rtrs_client_pick - the choice of a path for one request
 * @set: paths
 * @start: first candidate
 * @tried: candidates seen
 */
struct rtrs_client_pick {
	const struct rtrs_client_path_set *set;
	unsigned int start;
	unsigned int tried;
};

void rtrs_client_pick_start(struct rtrs_client_pick *pick, struct rtrs_client_session *session);
/* Next connected path, each at most once; NULL: no more. */
struct rtrs_client_path *rtrs_client_pick_next(struct rtrs_client_pick *pick);
/*
 * For stats.c: a request was placed on the path (returns how many are in flight now); it was not
 * sent there after all; it was completed after @ns, @waiting was returned when it was placed.
 */
u32 rtrs_client_latency_chosen(struct rtrs_client_latency *latency, u64 now);
void rtrs_client_latency_undone(struct rtrs_client_latency *latency);
void rtrs_client_latency_sample(struct rtrs_client_latency *latency, u64 now, u64 ns, u32 waiting);

/* pin.c: process context */

/*
 * Computes the memory of a path before it is allocated. -ENOMEM: not enough is available, and the
 * path was never up.
 */
int rtrs_client_pin(struct rtrs_client_path *path, struct netlink_ext_ack *extack);
/* Memory of all paths of the session, in bytes. */
u64 rtrs_client_pinned(struct rtrs_client_session *session);

/* conn.c: process context */
int rtrs_client_con_init(void);
void rtrs_client_con_exit(void);
struct rtrs_client_con *rtrs_client_con_create(struct rtrs_client_path *path, u16 cid);
/*
 * A request needs up to four entries of the send queue: for registration and RDMA write until they
 * are sent, and RTRS_CLIENT_SEND_HELD until it is done.
 */
static inline u32 rtrs_client_con_sends(u32 slots)
{
	return 4 * slots + RTRS_CLIENT_SEND_SPARE + 1;
}

/* Receives for the responses of all slots: two for each, one on a lean path. */
static inline u32 rtrs_client_con_recvs(const struct rtrs_client_path *path)
{
	return path->lean ? path->geo.queue_depth : 2 * path->geo.queue_depth;
}

int rtrs_client_con_setup(struct rtrs_client_con *con);
int rtrs_client_con_post_recvs(struct rtrs_client_con *con);
void rtrs_client_con_gone(struct rtrs_client_con *con);
void rtrs_client_con_disconnect(struct rtrs_client_con *con);
void rtrs_client_con_drain(struct rtrs_client_con *con);
/* Waits for rtrs_client_con_drain(). */
void rtrs_client_con_drained(struct rtrs_client_con *con);
/* Frees QP, CQ and receive buffers. Idempotent. */
void rtrs_client_con_release(struct rtrs_client_con *con);
/* Destroys the CM id, behind rtrs_client_con_release(). */
void rtrs_client_con_leave(struct rtrs_client_con *con);
/* Frees the connection, behind rtrs_client_con_leave(). */
void rtrs_client_con_destroy(struct rtrs_client_con *con);
/* For the service connection of a path that may post, under rcu_read_lock(). -EAGAIN: no room. */
int rtrs_client_con_send_imm(struct rtrs_client_con *con, enum rtrs_imm_type type, u32 payload);
extern const struct rtrs_hb_ops rtrs_client_hb_ops;

static inline struct rtrs_client_con *rtrs_client_con_of(struct ib_qp *qp)
{
	return container_of((struct rtrs_con *)qp->qp_context, struct rtrs_client_con, c);
}

static inline void rtrs_client_con_give(struct rtrs_client_con *con, u32 wrs)
{
	atomic_add(wrs, &con->credits);
}

/* For each completion. Reads first, so that the cache line stays shared. */
static inline void rtrs_client_con_heard(struct rtrs_client_con *con)
{
	if (!READ_ONCE(con->heard))
		WRITE_ONCE(con->heard, true);
}

/*
 * fence.c: for the path worker, all QPs drained. Returns when the server takes nothing of the path
 * any more, or no other path is left to ask it over. If the RDMA device of the path is removed
 * meanwhile, @leave takes the path off it.
 */
void rtrs_client_fence(struct rtrs_client_path *path,
		       void (*leave)(struct rtrs_client_path *path));

/* io.c: any context but hard interrupts */

/* Allocates the slots, unless there are, and maps them for the RDMA device. Process context. */
int rtrs_client_io_init(struct rtrs_client_path *path);
/* Unmaps all slots from the RDMA device; they stay allocated. Process context. */
void rtrs_client_io_release(struct rtrs_client_path *path);
/* Frees the slots, behind rtrs_client_io_release(). Process context. */
void rtrs_client_io_exit(struct rtrs_client_path *path);
/*
 * Moves each request of the path to another path, or completes it with -ECONNABORTED, after
 * @release has destroyed its QP. For the path worker, all QPs drained.
 */
void rtrs_client_io_failover(struct rtrs_client_path *path,
			     void (*release)(struct rtrs_client_con *con));

/* req.c: any context but hard interrupts */

/*
 * Clears bits of ->pending. Behind the last one: invalidates the region if need be, calls ->done.
 */
void rtrs_client_req_put(struct rtrs_client_req *req, int clear);
/* Ends a request whose region is not valid any more: ->done is called, the slot is free. */
void rtrs_client_req_complete(struct rtrs_client_req *req, int err);
void rtrs_client_req_invalidated(struct ib_cq *cq, struct ib_wc *wc);	/* completion */

/* mr.c: any context but hard interrupts, where not said otherwise */
int rtrs_client_mr_limits(struct rtrs_client_path *path);		/* process context */
struct ib_mr *rtrs_client_mr_alloc(struct rtrs_client_path *path);	/* process context */
int rtrs_client_mr_map_data(struct rtrs_client_req *req, const struct rtrs_client_request *rq);
/* Unmaps the data from the device; ->sgl stays. */
void rtrs_client_mr_release_data(struct rtrs_client_req *req);
/* Unmaps the data and forgets ->sgl, which is the user's. */
void rtrs_client_mr_unmap_data(struct rtrs_client_req *req);
/* Maps the data into the region, with a new key; @wr is its registration. */
int rtrs_client_mr_prepare(struct rtrs_client_req *req, u32 data_len, struct ib_reg_wr *wr);
int rtrs_client_mr_invalidate(struct rtrs_client_req *req);

/* recv.c: completions, softirq or the process that polls */
void rtrs_client_recv_done(struct ib_cq *cq, struct ib_wc *wc);

/* wc.c: as recv.c */

/* Handles the completions of a polled connection; returns how many. */
int rtrs_client_con_poll(struct rtrs_client_con *con);
/* For @wc with an error: takes the path down. */
void rtrs_client_wc_failed(struct rtrs_client_con *con, const struct ib_wc *wc, const char *what);

/* bounce.c: process context, but for _copy() and _fill(): any but hard interrupts */

/* Of a slot, 0 where there are none */
u32 rtrs_client_bounce_bytes(const struct rtrs_client_path *path);
/* Allocates the buffers, unless there are, and maps them. */
int rtrs_client_bounce_init(struct rtrs_client_path *path);
/* Fills in the registration of all of them; false: there is none. */
bool rtrs_client_bounce_reg(struct rtrs_client_path *path, struct ib_reg_wr *wr);
/* Unmaps them from the RDMA device; they stay allocated. */
void rtrs_client_bounce_release(struct rtrs_client_path *path);
void rtrs_client_bounce_exit(struct rtrs_client_path *path);
/* To the pages of the request; what the device has brought. */
void rtrs_client_bounce_copy(struct rtrs_client_req *req, u32 slot);
/* From the pages of a write, @sge tells the device where. -EINVAL: they are not all there. */
int rtrs_client_bounce_fill(const struct rtrs_client_path *path,
			    const struct rtrs_client_request *rq, struct ib_sge *sge);

/* stats.c: any context but hard interrupts */
void rtrs_client_stats_submit(struct rtrs_client_path *path, struct rtrs_client_req *req);
void rtrs_client_stats_unsubmit(struct rtrs_client_path *path, const struct rtrs_client_req *req);
void rtrs_client_stats_done(struct rtrs_client_path *path, const struct rtrs_client_req *req);
/* Counts a completion of @con, unless it is polled: _polled() counts @n completions of a poll. */
void rtrs_client_stats_wc(struct rtrs_client_con *con, const struct ib_cq *cq,
			  const struct ib_wc *wc);
void rtrs_client_stats_polled(struct rtrs_client_path *path, unsigned int n);

/* process context */
struct rtrs_client_cpu_stats __percpu *rtrs_client_stats_alloc(void);
void rtrs_client_stats_sum(struct rtrs_client_path *path, struct rtrs_client_counts *sum);
u32 rtrs_client_stats_inflight(struct rtrs_client_path *path);
u64 rtrs_client_stats_failovers(struct rtrs_client_path *path);
/* An array by CPU, for kvfree(); NULL: no memory */
struct rtrs_client_moves *rtrs_client_stats_moves(struct rtrs_client_path *path);
/* @groups: RNBD_COUNTERS_* (uapi). Requests in flight stay counted. */
void rtrs_client_stats_reset(struct rtrs_client_path *path, u32 groups);

/* sysfs.c: process context */
int rtrs_client_sysfs_init(void);
void rtrs_client_sysfs_exit(void);

/* nl.c */
int rtrs_client_nl_init(void);
void rtrs_client_nl_exit(void);
/* nl-stats.c; -EMSGSIZE: @skb is full */
int rtrs_client_nl_put_stats(struct sk_buff *skb, struct rtrs_client_path *path);
int rtrs_client_nl_dump_stats(struct sk_buff *skb, struct netlink_callback *cb,
			      struct rtrs_client_path *path, u32 *cursor);

#endif /* RTRS_CLIENT_CLIENT_H */
