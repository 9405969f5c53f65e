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
#define RTRS_CLIENT_GONE_MS		5000	/* for the server to see a disconnect */
#define RTRS_CLIENT_SETTLE_MS		1000	/* of them, before requests go elsewhere */
#define RTRS_CLIENT_FOUNDER_MS		2000	/* to have the server make the session */
/*
 * Entries of a send: the message and 64 KiB of pages. A queue pair pays for them with each entry of
 * its send queue, 1 MiB for 512 slots. Where there are many queue pairs it is half of that, and
 * writes of more than two pages are registered.
 */
#define RTRS_CLIENT_SGES		18
#define RTRS_CLIENT_SGES_OF_MANY	3
#define RTRS_CLIENT_MANY		64	/* I/O connections of a path */
#define RTRS_CLIENT_SEND_MIN		16	/* send queue entries of a usable device */
#define RTRS_CLIENT_SEND_SPARE		4	/* of them, for heartbeats and probes alone */
#define RTRS_CLIENT_SEND_HELD		2	/* of them, by a request until it is done */
#define RTRS_CLIENT_SIGNAL_INTERVAL	64	/* a completion at least each so many entries */

/*
 * What a request still waits for, bits of rtrs_client_req.pending; 0 is an idle
 * slot. Whoever clears the last one goes on with the request.
 */
enum {
	RTRS_CLIENT_REQ_POSTING	= 1 << 0, /* its submitter is at it */
	RTRS_CLIENT_REQ_AWAIT	= 1 << 1, /* no response has come; who clears this owns it */
	RTRS_CLIENT_REQ_ANSWER	= 1 << 2, /* the response is not yet dealt with */
	RTRS_CLIENT_REQ_SENT	= 1 << 3, /* completion of the send */
	RTRS_CLIENT_REQ_INVAL	= 1 << 4, /* completion of the local invalidation, last of all */
};

/**
 * struct rtrs_client_req - a slot of a path
 * @pending: what it waits for, RTRS_CLIENT_REQ_*
 * @err: of the response
 * @wrs: send queue entries that the completion of its send gives back
 * @cpu: where it was submitted
 * @usr_len: bytes of the user message in @buf
 * @is_read: the server writes to the pages
 * @registered: @mr is valid and has to be invalidated
 * @con: connection it went out on
 * @mr: memory region of the slot, NULL once the path is down
 * @buf: user message and header
 * @sgl: data, mapped for DMA; NULL for none
 * @sg_count: entries of it
 * @mapped: entries of it for the device
 * @bytes: data and user message, for statistics
 * @counted: in @inflight of the path
 * @waiting: requests from @cpu under way on the path, this one counted; 0 if not counted
 * @start: when it was submitted
 * @send_cqe: completion of the send
 * @inval_cqe: completion of the local invalidation
 * @done: callback of the user
 * @wanted: the same
 * @priv: for them
 */
struct rtrs_client_req {
	atomic_t pending;
	int err;
	u32 wrs;
	u16 cpu;
	u16 usr_len;
	bool is_read;
	bool registered;
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
 * @c: what both ends have
 * @path: its path
 * @gone: the peer has disconnected, or need not be waited for
 * @told: it has, and said so
 * @drain: ends what is on its queues, for path_take_down()
 * @live: established once: must be disconnected and drained
 * @unresolved: nobody answered the last question for its address in time
 * @polling: bit 0: somebody reaps completions (polled connections)
 * @recv: receive buffers, NULL where responses are empty
 * @recv_count: of them
 * @recv_cqe: completion of empty receives
 * @reg_cqe: completion of registrations, errors alone
 * @imm_cqe: completion of heartbeats
 * @probe_cqe: completion of probes
 * @invalidated: key that SEND WITH INVALIDATE named last, NO_KEY once it is used up
 * @heard: something came back since the last tick of the heartbeat
 * @silent: ticks since then, in which requests were under way; the tick's
 * @probe: entries that the probe under way gives back, 0 if there is none
 * @send_lock: order of posts, @unsignalled
 * @unsignalled: entries posted since the last completion was asked for
 * @interval: when to ask for one
 * @credits: free entries of the send queue
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

	spinlock_t send_lock ____cacheline_aligned_in_smp; /* see above */
	u32 unsignalled;
	u32 interval;
	atomic_t credits;
};

#define RTRS_CLIENT_NO_KEY	U64_MAX

/**
 * struct rtrs_client_latency - how long requests from one CPU take on a path
 * @ns: moving average of what one took for each that waited with it, 0 before the first
 * @at: when the path was last chosen, or a request done; the average fades from then on
 * @waiting: requests that were chosen by this and are not done
 */
struct rtrs_client_latency {
	u64 ns;
	u64 at;
	atomic_t waiting;
};

/**
 * struct rtrs_client_counts - what is counted of requests that are done; writes, reads
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
 * struct rtrs_client_cpu_stats - counters of a path on one CPU, which alone writes to them
 * @c: counts
 * @inflight: submitted here less done here; only the sum over all CPUs means anything
 * @latency: of requests submitted here, kept under min-latency; who completes one writes it
 * @failovers: requests submitted here that it has left to other paths; who takes the path
 *	down writes it
 * @came: requests done here, by the CPU that they were submitted on
 */
struct rtrs_client_cpu_stats {
	struct rtrs_client_counts c;
	s32 inflight;
	struct rtrs_client_latency latency;
	u64 failovers;
	u32 came[];
};

/**
 * struct rtrs_client_moves - requests of a path that one CPU has to do with
 * @from: submitted here, done on another one
 * @to: the reverse
 * @inflight: submitted here, not done
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
 * @epoch: session->losses when it came up: the server knows what it was told since then
 * @last_error: errno that took it down last
 * @since: when @state was entered
 * @founds: the server may make the session for this attempt to connect
 * @founding: its number, if so
 * @asked: session->losses when this attempt began
 * @bind: source address asked for, AF_UNSPEC if the route decides; once it was up, the true one
 * @addr: addresses; src is the true one as soon as it is bound (with @name under state_lock)
 * @name: "SRC@DST"
 * @hca_name: RDMA device
 * @hca_port: its port
 * @uuid: identity of the path for the server
 * @recon_cnt: attempts to connect, ever
 * @timeout_ms: for each step of connecting
 * @attempts: that have failed since it was up, or an administrator has asked for one; under
 *	state_lock
 * @busy: attempts that the server has refused with -EBUSY, one after the other; the same
 * @waits: for another path, which founds the session; the same
 * @making: who adds it, or @connect_work, has not done connecting it, and the path worker leaves it
 *	alone; the same
 * @was_up: it has been connected once; the same
 * @removed: it is on its way out of its session; the same
 * @asked_for: the next one is an administrator's, whatever the limit; the same
 * @retry_at: when the next one is due, in jiffies; the same
 * @tried: attempts of @connect_work that are over; the same
 * @told_error: what the log was told of last; of @connect_work alone
 * @wait: somebody waits for @tried, a state, or connections to be gone
 * @hurry: nobody waits for the server to let go any more
 * @step: the step of connecting that is under way has ended
 * @refused: the server gave an errno as its reason
 * @dev: device, held while there are resources on it
 * @geo: what the server offers
 * @new_rkey: each response brings a new key
 * @lean: two messages for a request, see proto.h
 * @fences: the server can be told that another path is lost
 * @fence_cnt: and which attempt of it
 * @fenced: it has closed the one that it was asked to
 * @data_sges: gather entries for data of a send, on each connection
 * @max_segments: entries of a scatterlist, 4 KiB pages of a memory region
 * @max_io_size: payload bytes of a request
 * @pinned: bytes that it keeps while it is up
 * @con: connections: service, interrupt driven, polled
 * @con_count: of them, all that are wanted
 * @slots: what @req, @req_buf and @chunk have each, while the path is not closed; until it is
 *	connected again the server may offer another number
 * @chunk: buffers of the server; the key changes with each response
 * @info_rx: INFO_RSP
 * @info_tx: INFO_REQ
 * @info_len: bytes of the INFO_RSP received
 * @req: requests
 * @req_buf: their messages
 * @hb: heartbeat
 * @work: the path worker: takes it down, and starts @connect_work
 * @connect_work: connects it again
 * @remove_work: takes it out of its session; queued once, by who has set @removed
 * @gone: it is out of its session
 * @stats: counters, per CPU
 * @reconnects_ok: attempts of @connect_work that were successful
 * @reconnects_failed: the others
 * @kobj: directory in sysfs, NULL where there is none
 * @stats_kobj: directory of the counters
 * @inflight: requests under way, as far as min-inflight chose their path
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
 * struct rtrs_client_path_set - the paths of a session as the I/O path sees them
 * @rcu: freed after a grace period
 * @count: of paths
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
 * @name: unique among those that are open
 * @uuid: identity of the session for the server
 * @ops: callbacks
 * @priv: for them
 * @settings: written under @lock
 * @port: of the server, for paths that come without one
 * @io_cons: interrupt driven connections of a path
 * @poll_cons: polled connections of a path
 * @attrs: what it can do
 * @admin: held by whoever adds or removes a path, for as long as it takes
 * @fence: one path at a time asks another to fence it
 * @closing: no path may be added any more; written under @lock
 * @lock: changes of @paths
 * @paths: path set, never NULL
 * @devs: RDMA devices of them
 * @cursor: next path by round-robin
 * @state_lock: state of all paths, and what follows
 * @connected: paths that carry requests
 * @state: enum rnbd_session_state
 * @founder: path that the server may make the session for, while there is none
 * @founded: when it began to connect, or had the last answer, in jiffies
 * @foundings: how many such attempts there were
 * @opened: events may be told
 * @losses: how often the last path was lost: the epoch of the session
 * @lost_err: errno that took it
 * @changed: the settings were
 * @event_work: tells of that
 * @told_losses: what it has told; its own
 * @told_up: the same
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

	struct mutex admin; /* see above */
	struct mutex fence; /* the same */
	bool closing;
	struct mutex lock; /* see above */
	struct rtrs_client_path_set __rcu *paths;
	struct rtrs_dev_pool devs;
	u32 __percpu *cursor;

	spinlock_t state_lock; /* see above */
	unsigned int connected;
	unsigned int state;
	struct rtrs_client_path *founder;
	unsigned long founded;
	u32 foundings;
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

/* main.c */
extern struct workqueue_struct *rtrs_client_wq;
extern struct workqueue_struct *rtrs_client_connect_wq;
extern struct workqueue_struct *rtrs_client_event_wq;
extern struct workqueue_struct *rtrs_client_drain_wq;
extern struct workqueue_struct *rtrs_client_remove_wq;

/* session.c: all in process context */
extern struct mutex rtrs_client_lock;		/* both tables, for netlink */
extern struct xarray rtrs_client_sessions;	/* by id */
extern struct xarray rtrs_client_paths;		/* by id */

int rtrs_client_session_init(void);
void rtrs_client_session_exit(void);
void rtrs_client_session_get(struct rtrs_client_session *session);
void rtrs_client_session_put(struct rtrs_client_session *session);
/* Tells listeners, and the user of the session, of new settings. */
void rtrs_client_session_changed(struct rtrs_client_session *session);
/*
 * Before the first connection: path->founds, where the server may make the session. -EBUSY: another
 * path does. Asked before anything is made for the path, and once more when it is.
 */
int rtrs_client_session_found(struct rtrs_client_path *path);
void rtrs_client_session_answered(struct rtrs_client_path *path);
void rtrs_client_session_gone(struct rtrs_client_path *path);
/* What the path offers fits, and is the session's. While it connects. */
int rtrs_client_session_join(struct rtrs_client_path *path, struct netlink_ext_ack *extack);
/* Adds a path; killable. *@out with a reference, where it is connected, if @out is not NULL. */
int rtrs_client_session_add_path(struct rtrs_client_session *session,
				 const struct rtrs_path_addr *addr, unsigned int timeout_ms,
				 struct netlink_ext_ack *extack, struct rtrs_client_path **out);
/*
 * Closes a path and takes it out of its session, or waits where it is on its way out. Killable, and
 * then goes on by itself. The caller holds references on both.
 */
int rtrs_client_session_remove_path(struct rtrs_client_path *path, struct netlink_ext_ack *extack);
void rtrs_client_session_remove_work(struct work_struct *work);
/* Any context but hard interrupts; the session's state_lock is held. */
void rtrs_client_session_path_moved(struct rtrs_client_session *session, unsigned int old,
				    unsigned int state, int err);

/* settings.c; process context */
int rtrs_client_settings_check(const struct rtrs_client_settings *settings,
			       struct netlink_ext_ack *extack);
/* Under session->lock. */
int rtrs_client_settings_set(struct rtrs_client_session *session,
			     const struct rtrs_client_settings *settings,
			     struct netlink_ext_ack *extack);
int rtrs_client_settings_put(struct sk_buff *msg, const struct rtrs_client_settings *settings);

/* path.c */
int rtrs_client_path_init(void);
void rtrs_client_path_exit(void);
struct rtrs_client_path *rtrs_client_path_create(struct rtrs_client_session *session,
						 const struct rtrs_path_addr *addr,
						 unsigned int timeout_ms);
void rtrs_client_path_get(struct rtrs_client_path *path);
void rtrs_client_path_put(struct rtrs_client_path *path);
/* Any context but hard interrupts. Whoever gets true does the work of the edge. */
bool rtrs_client_path_move(struct rtrs_client_path *path, enum rtrs_client_path_state state,
			   int err);
/* The one way for anything that goes wrong on a path. Any context but hard interrupts. */
void rtrs_client_path_error(struct rtrs_client_path *path, int err);
/* The same, if it is up since @epoch and the server has lost it. */
void rtrs_client_path_gone(struct rtrs_client_path *path, u32 epoch);
/* Who connects it has failed to, and is done with it: the path worker goes on. Process context. */
void rtrs_client_path_not_made(struct rtrs_client_path *path);
/* The edge to CONNECTED; an errno where it was lost in this moment. Process context. */
int rtrs_client_path_up(struct rtrs_client_path *path);
/*
 * Any context but hard interrupts. It goes down; @for_good: it is not connected again. True: it is
 * the caller who takes it out of its session.
 */
bool rtrs_client_path_close_begin(struct rtrs_client_path *path, bool for_good);
/* Under session->lock. What is to come is by the settings as they are now. */
void rtrs_client_path_settings_changed(struct rtrs_client_path *path);
/* Path worker, all QPs drained: QPs, regions and buffers leave the RDMA device. Idempotent. */
void rtrs_client_path_leave_device(struct rtrs_client_path *path);
/* Process context. Returns when the path is down: no request is left on it. */
void rtrs_client_path_close(struct rtrs_client_path *path);
/* The same for an administrator: killable, it goes down nevertheless. */
int rtrs_client_path_disconnect(struct rtrs_client_path *path, struct netlink_ext_ack *extack);
/*
 * Takes it down if it is up, and connects it. Killable. -EBUSY: not in this state; -ENOTCONN: the
 * attempt has failed, others follow. Process context.
 */
int rtrs_client_path_reconnect(struct rtrs_client_path *path, unsigned int timeout_ms,
			       struct netlink_ext_ack *extack);

static inline bool rtrs_client_path_connected(const struct rtrs_client_path *path)
{
	/* Pairs with path_move(): what was made for the state */
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
 * For stats.c: the path was chosen for a request, of now so many; that request went elsewhere after
 * all; or it took @ns, and @waiting is what was returned when the path was chosen for it.
 */
u32 rtrs_client_latency_chosen(struct rtrs_client_latency *latency, u64 now);
void rtrs_client_latency_undone(struct rtrs_client_latency *latency);
void rtrs_client_latency_sample(struct rtrs_client_latency *latency, u64 now, u64 ns, u32 waiting);

/* pin.c: process context */

/*
 * Computes what the path will keep, before it is taken. -ENOMEM: the path was never up, and there
 * is not that much.
 */
int rtrs_client_pin(struct rtrs_client_path *path, struct netlink_ext_ack *extack);
/* What all paths of the session keep now. */
u64 rtrs_client_pinned(struct rtrs_client_session *session);

/* connect.c: the process that opens the session or adds a path, or path->connect_work */
int rtrs_client_connect(struct rtrs_client_path *path, struct netlink_ext_ack *extack);
/* Wait for the end of a step; what it waits for is begun after rtrs_client_step_begin(). */
int rtrs_client_step_begin(struct rtrs_client_path *path);
int rtrs_client_step_wait(struct rtrs_client_path *path, unsigned int timeout_ms);
/* Any context but hard interrupts. */
void rtrs_client_step_done(struct rtrs_client_path *path);

/* cm.c: context of rdma_cm, may sleep */
int rtrs_client_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event);

/* conn.c: process context */
int rtrs_client_con_init(void);
void rtrs_client_con_exit(void);
struct rtrs_client_con *rtrs_client_con_create(struct rtrs_client_path *path, u16 cid);
/*
 * A request takes up to four entries of the send queue: registration and RDMA write until they are
 * sent, and what it holds until it is done.
 */
static inline u32 rtrs_client_con_sends(u32 slots)
{
	return 4 * slots + RTRS_CLIENT_SEND_SPARE + 1;
}

/* Receives that responses can use up at a time: two for each request, one on a lean path. */
static inline u32 rtrs_client_con_recvs(const struct rtrs_client_path *path)
{
	return path->lean ? path->geo.queue_depth : 2 * path->geo.queue_depth;
}

int rtrs_client_con_setup(struct rtrs_client_con *con);
int rtrs_client_con_post_recvs(struct rtrs_client_con *con);
void rtrs_client_con_gone(struct rtrs_client_con *con);
void rtrs_client_con_disconnect(struct rtrs_client_con *con);
void rtrs_client_con_drain(struct rtrs_client_con *con);
void rtrs_client_con_drained(struct rtrs_client_con *con);	/* waits for it */
/* QP, CQ and buffers go. Idempotent. */
void rtrs_client_con_release(struct rtrs_client_con *con);
/* So does the CM id. */
void rtrs_client_con_leave(struct rtrs_client_con *con);
void rtrs_client_con_destroy(struct rtrs_client_con *con);	/* behind that */
/* Of the service connection; under rcu_read_lock(), where the path may post. -EAGAIN: no room. */
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

/* With each completion; read before it is written */
static inline void rtrs_client_con_heard(struct rtrs_client_con *con)
{
	if (!READ_ONCE(con->heard))
		WRITE_ONCE(con->heard, true);
}

/* Of a polled connection, what has completed is dealt with. Returns how many. Process context. */
int rtrs_client_con_poll(struct rtrs_client_con *con);

/*
 * fence.c: path worker, all QPs drained. Returns when the server takes nothing of the path any
 * more, or there is no path by which it could be asked. A path whose RDMA device is removed
 * leaves it meanwhile.
 */
void rtrs_client_fence(struct rtrs_client_path *path);

/* info.c: as connect.c */
int rtrs_client_info(struct rtrs_client_path *path);

/* io.c: any context but hard interrupts */

/* Makes the slots, unless they are there, and gives them to the RDMA device. Process context. */
int rtrs_client_io_init(struct rtrs_client_path *path);
/* The RDMA device lets go of all slots. They stay. Process context. */
void rtrs_client_io_release(struct rtrs_client_path *path);
/* Behind that: frees the slots. Process context. */
void rtrs_client_io_exit(struct rtrs_client_path *path);
/*
 * What is left goes to other paths, or is done with -ECONNABORTED, one by one; the QP of each is
 * destroyed before. Path worker, all QPs drained.
 */
void rtrs_client_io_failover(struct rtrs_client_path *path);
/* @clear is over; if it was the last, invalidates what is left to and calls the user. */
void rtrs_client_req_put(struct rtrs_client_req *req, int clear);

/* mr.c: any context but hard interrupts, where not said otherwise */
int rtrs_client_mr_limits(struct rtrs_client_path *path);		/* process context */
struct ib_mr *rtrs_client_mr_alloc(struct rtrs_client_path *path);	/* process context */
int rtrs_client_mr_map_data(struct rtrs_client_req *req, const struct rtrs_client_request *rq);
/* The device lets go of the data. */
void rtrs_client_mr_release_data(struct rtrs_client_req *req);
/* It is the user's again. */
void rtrs_client_mr_unmap_data(struct rtrs_client_req *req);
/* The data becomes one region with a fresh key; @wr registers it. */
int rtrs_client_mr_prepare(struct rtrs_client_req *req, u32 data_len, struct ib_reg_wr *wr);
int rtrs_client_mr_invalidate(struct rtrs_client_req *req);
void rtrs_client_mr_invalidated(struct ib_cq *cq, struct ib_wc *wc);	/* completion */

/* recv.c: completions, softirq or the process that polls */
void rtrs_client_recv_done(struct ib_cq *cq, struct ib_wc *wc);
/* @wc failed: takes the path down. */
void rtrs_client_wc_failed(struct rtrs_client_con *con, const struct ib_wc *wc, const char *what);

/* stats.c: any context but hard interrupts */
void rtrs_client_stats_submit(struct rtrs_client_path *path, struct rtrs_client_req *req);
void rtrs_client_stats_unsubmit(struct rtrs_client_path *path, const struct rtrs_client_req *req);
void rtrs_client_stats_done(struct rtrs_client_path *path, const struct rtrs_client_req *req);
/* A completion of @con; those of polled connections are told by how many a poll found. */
void rtrs_client_stats_wc(struct rtrs_client_con *con, const struct ib_cq *cq,
			  const struct ib_wc *wc);
void rtrs_client_stats_polled(struct rtrs_client_path *path, unsigned int n);

/* process context */
struct rtrs_client_cpu_stats __percpu *rtrs_client_stats_alloc(void);
void rtrs_client_stats_sum(struct rtrs_client_path *path, struct rtrs_client_counts *sum);
u32 rtrs_client_stats_inflight(struct rtrs_client_path *path);
u64 rtrs_client_stats_failovers(struct rtrs_client_path *path);
/* Of each CPU, for kvfree(); NULL: no memory */
struct rtrs_client_moves *rtrs_client_stats_moves(struct rtrs_client_path *path);
/* @groups: RNBD_COUNTERS_* (uapi). What is in flight is not touched. */
void rtrs_client_stats_reset(struct rtrs_client_path *path, u32 groups);

/* sysfs-stats.c */
extern const struct attribute_group *rtrs_client_stats_groups[];

/* sysfs.c: process context */
struct rtrs_client_path *rtrs_client_sysfs_path(struct kobject *kobj);
int rtrs_client_sysfs_init(void);
void rtrs_client_sysfs_exit(void);
int rtrs_client_sysfs_add_session(struct rtrs_client_session *session);
/* Tell user space, when the paths are there. */
void rtrs_client_sysfs_announce(struct rtrs_client_session *session);
void rtrs_client_sysfs_del_session(struct rtrs_client_session *session);
int rtrs_client_sysfs_add_path(struct rtrs_client_path *path);
void rtrs_client_sysfs_del_path(struct rtrs_client_path *path);

/* nl.c */
int rtrs_client_nl_init(void);
void rtrs_client_nl_exit(void);
/* Any context but hard interrupts. */
unsigned int rtrs_client_nl_path_state(unsigned int state);
int rtrs_client_nl_put_session(struct sk_buff *skb, struct rtrs_client_session *session);
/* nl-stats.c; -EMSGSIZE: @skb is full */
int rtrs_client_nl_put_stats(struct sk_buff *skb, struct rtrs_client_path *path);
int rtrs_client_nl_dump_stats(struct sk_buff *skb, struct netlink_callback *cb,
			      struct rtrs_client_path *path, u32 *cursor);
/* @event and @old: RNBD_EVENT_*, state before (uapi). session->state_lock is held. */
void rtrs_client_nl_session_event(struct rtrs_client_session *session, unsigned int event,
				  unsigned int old);
void rtrs_client_nl_path_event(struct rtrs_client_path *path, unsigned int event,
			       unsigned int old);

#endif /* RTRS_CLIENT_CLIENT_H */
