/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private to the module.
 *
 * Locks, outer first: rtrs_server_session.lock, rtrs_server.lock, handler lock of a CM
 * id; then the spinlocks: con.send_lock, session.fence_lock, path.state_lock.
 *
 * Contexts: "CM" is the handler of RDMA CM, "CQ" the work queue of a completion
 * queue (process context, must not wait for another completion of that queue),
 * "worker" rtrs_server_wq or, to close a path, rtrs_server_close_wq.
 */
#ifndef RTRS_SERVER_PRIV_H
#define RTRS_SERVER_PRIV_H

#include <linux/percpu-refcount.h>
#include <rtrs/server.h>
#include <uapi/linux/rnbd.h>

#include "core.h"
#include "state.h"

#define RTRS_SERVER_HANDSHAKE_MS	30000	/* from the first connection to INFO */
#define RTRS_SERVER_LEAVE_MS		5000	/* for what a client has left to be gone */
#define RTRS_SERVER_STAY_MS		30000	/* between two words on what does not end */
#define RTRS_SERVER_BATCHES		8	/* signalled sends of a connection under way */
#define RTRS_SERVER_ORIGINS		8U	/* where paths came from that are gone */
#define RTRS_SERVER_ASKED		BIT(31)	/* beside the payload of RTRS_IMM_SLOTS */
#define RTRS_SERVER_NO_QUESTION		U32_MAX	/* for the number of one */

struct rtrs_server_session_dir;
struct rtrs_server_path_dir;
struct rtrs_server_path;

/**
 * struct rtrs_server_dev - an RDMA device that we listen on
 * @entry: in rtrs_server.devs
 * @ib_dev: device
 * @paths: on it; its removal waits for zero
 * @drained: bit for each port that takes no new path
 */
struct rtrs_server_dev {
	struct list_head entry;
	struct ib_device *ib_dev;
	unsigned int paths;
	unsigned long *drained;
};

/**
 * struct rtrs_server - the server
 * @ops: of its user
 * @port: host order
 * @lock: protects all below, and the names of sessions
 * @closing: no new session, no new path
 * @is_open: rtrs_server_open() is over
 * @listen_err: why the first listener could not be made
 * @devs: of struct rtrs_server_dev
 * @sessions: not those that are dead; ascending ids
 * @paths: of all sessions; ascending ids
 * @cm_ip: listener for IPv6 and IPv4
 * @cm_ib: listener for GIDs, NULL where there is none
 */
struct rtrs_server {
	const struct rtrs_server_ops *ops;
	u16 port;
	struct mutex lock;	/* of all below */
	bool closing;
	bool is_open;
	int listen_err;
	struct list_head devs;
	struct list_head sessions;
	struct list_head paths;
	struct rdma_cm_id *cm_ip;
	struct rdma_cm_id *cm_ib;
};

/**
 * struct rtrs_server_slot - who uses a slot; see fence.c
 * @word: 0, or the operation, or the operation with RTRS_SERVER_FENCED set
 * @retry: what runs next; only where fenced; under fence_lock
 */
struct rtrs_server_slot {
	unsigned long word;
	struct rtrs_server_op *retry;
} ____cacheline_aligned_in_smp;

/**
 * struct rtrs_server_wait - a work that waits for the end of something; see wait.c
 * @wq: where it runs
 * @work: looks whether it has ended, or its time is up
 * @session: that it waits for, with a reference; NULL while it does not
 * @canceled: @work is not queued again
 * @entry: in session->waiting
 */
struct rtrs_server_wait {
	struct workqueue_struct *wq;
	struct delayed_work work;
	struct rtrs_server_session *session;
	bool canceled;
	struct list_head entry;
};

/**
 * struct rtrs_server_session - a client
 * @ref: held by each path, by the sysfs device, by lookups
 * @entry: in rtrs_server.sessions
 * @uuid: paths_uuid of the client
 * @id: in netlink
 * @name: of INFO_REQ, empty before the first; changed once, under both locks
 * @devs: RDMA devices of its paths
 * @elsewhere: for who drains a port; srv->lock
 * @lock: protects all below but the slots
 * @named: @name is its own; under both locks
 * @waiting: of struct rtrs_server_wait
 * @dead: it is in no lookup any more; look it up again
 * @paths: all, those that connect or close included
 * @path_count: of @paths
 * @up: paths that are connected and have not stopped
 * @serving: those, and those that have stopped but have operations yet; session_up() was called
 *	where it is not 0
 * @priv: of session_up()
 * @told: state that netlink was told of last
 * @dir: sysfs, where @up is not 0
 * @chunk: buffers of max_chunk_size, room for queue_depth; from the first INFO_REQ on, as all up to
 *	@slots
 * @chunk_count: of them that there are
 * @granted: the first slots, that the client may use; not more than @chunk_count
 * @target: what @granted is on its way to, see slots.c
 * @question: number of the last RTRS_IMM_SLOTS, or RTRS_SERVER_NO_QUESTION
 * @answers: an answer to it is due
 * @slots_work: looks for questions, and how far paths are
 * @node: where they are
 * @slots: queue_depth
 * @fence_lock: protects retries
 * @going_down: the user of the server closes what the last path has left
 * @last: that path, if it waits for it
 * @down_work: that is done
 * @vanished: the client had something open when the last path went
 * @founding: number of the last attempt of a client that was alone; @lock
 * @origin: where paths that were up came from, the last ones
 * @origins: how often there was another one
 * @strangers: the log was told of one
 * @pinned: bytes that it took, its paths included
 */
struct rtrs_server_session {
	struct rtrs_server *srv;
	struct kref ref;
	struct list_head entry;
	u8 uuid[RTRS_UUID_LEN];
	u32 id;
	char name[RTRS_WIRE_NAME_LEN];
	struct rtrs_dev_pool devs;
	bool elsewhere;
	bool named;
	struct mutex lock;	/* of all below */
	struct list_head waiting;
	bool dead;
	struct list_head paths;
	unsigned int path_count;
	unsigned int up;
	unsigned int serving;
	bool going_down;
	struct rtrs_server_path *last;
	struct work_struct down_work;
	void *priv;
	int told;
	struct rtrs_server_session_dir *dir;
	struct page **chunk;
	u32 chunk_count;
	u32 granted;
	u32 target;
	u32 question;
	bool answers;
	struct work_struct slots_work;
	int node;
	struct rtrs_server_slot *slots;
	spinlock_t fence_lock;	/* of retries */
	bool vanished;
	u32 founding;
	union ib_gid origin[RTRS_SERVER_ORIGINS];
	unsigned int origins;
	bool strangers;
	atomic64_t pinned;
};

/**
 * struct rtrs_server_counts - of one CPU; ios and bytes of writes [0] and reads [1]
 * @inflight: may be negative on one CPU, the sum is not
 */
struct rtrs_server_counts {
	u64 ios[2];
	u64 bytes[2];
	struct rtrs_polls polls;
	long inflight;
};

/**
 * struct rtrs_server_path - a path
 * @ref: held by itself until closed, by its sysfs directory, by lookups
 * @entry: in session->paths
 * @all_entry: in srv->paths
 * @sdev: device, counts us; NULL once the path has left it; srv->lock
 * @dev: the same; operations look at it only where their connection is not dead
 * @uuid: sess_uuid of the client
 * @id: in netlink
 * @addr: src is the client
 * @origin: where it came from, see origin.c
 * @forged: its client's address is none of @origin
 * @named: @name is what it will be; set before the user hears of the path
 * @text: "CLIENT@SERVER"
 * @name: session's name as this path's INFO_REQ had it; its worker's from then on
 * @state_lock: protects state, since, last_error
 * @since_ns: CLOCK_REALTIME of the last change of state
 * @told: state that netlink was told of last; session->lock
 * @lean: two messages for a request, see proto.h
 * @eager_bytes: data of an eager request, see proto.h
 * @notices: the client takes them
 * @fence_cnt: the client tells over it which attempt of another path it has lost
 * @told_info: the answer to INFO is on its way, and nothing overtakes it
 * @beside: the client had another path when it asked for this one
 * @founding: number of this attempt of a client that was alone, 0 for none
 * @recon_cnt: which attempt of the client it came from
 * @stopped: its queue pairs take nothing any more
 * @lost_tag: of the path that the client has asked over this one to close
 * @lost: closes it, and answers
 * @con_num: connections that the client announced
 * @con_count: those that are made; session->lock
 * @con: by cid
 * @up: counted in session->up; session->lock
 * @serving: counted in session->serving; the same
 * @dma: address of each chunk for the device, of the first @mapped
 * @mr: one per region; the first @filled have their chunks
 * @region_chunks: chunks of a region
 * @page_size: of regions
 * @grants: the client uses the slots only that it was granted, see proto.h
 * @asked: RTRS_IMM_SLOTS that came last, with RTRS_SERVER_ASKED
 * @want: chunks that it is to have registered; session->lock
 * @fits: it has, and the same
 * @misfit: it has no memory for as many; the same
 * @shrinks: what it gives back may be in answers that the device has not done with
 * @usable: slots of requests that are taken
 * @rkeys: one buffer, an RKEY_RSP for each slot; only where rkeys change
 * @ops: one per slot; NULL before INFO_REQ
 * @copy_count: of them that have a copy, the first ones
 * @copies: of them that have it mapped
 * @inflight: one for each operation between its request and its answer
 * @close_work: stops the path
 * @idle_work: @inflight reached zero: ends it
 * @stay_work: says that it has not
 * @info: makes the path ready for requests; queued when INFO came
 * @info_until: it waits no longer for what the client has left, 0 before it has begun to
 * @pinned: bytes that it took, of those of its session, without copies; session->lock, then its
 *	worker's
 * @reg_cqe: of registrations and invalidations, but for those of operations
 * @registered: regions of which they are done or under way; 0 before INFO
 * @registers: some are under way, as many work requests
 * @reg_err: what became of them
 */
struct rtrs_server_path {
	struct kref ref;
	struct rtrs_server_session *session;
	struct list_head entry;
	struct list_head all_entry;
	struct rtrs_server_dev *sdev;
	struct rtrs_dev *dev;
	u8 uuid[RTRS_UUID_LEN];
	u32 id;
	struct rtrs_path_addr addr;
	union ib_gid origin;
	bool forged;
	bool named;
	char text[RTRS_PATH_NAME_LEN];
	char name[RTRS_WIRE_NAME_LEN];
	char hca_name[IB_DEVICE_NAME_MAX];
	u32 hca_port;

	spinlock_t state_lock;	/* of the next three */
	enum rtrs_server_path_state state;
	int last_error;
	u64 since_ns;
	enum rtrs_server_path_state told;

	bool lean;
	u32 eager_bytes;
	bool notices;
	bool fence_cnt;
	bool told_info;
	bool stopped;
	bool beside;
	u32 founding;
	u16 recon_cnt;
	u16 con_num;
	u16 con_count;
	struct rtrs_server_con **con;
	bool up;
	bool serving;

	struct rtrs_hb hb;
	struct delayed_work handshake_work;
	struct rtrs_server_wait info;
	unsigned long info_until;
	struct work_struct close_work;
	struct work_struct idle_work;
	struct delayed_work stay_work;
	u32 lost_tag;
	struct rtrs_server_wait lost;

	dma_addr_t *dma;
	u32 mapped;
	struct ib_mr **mr;
	u32 filled;
	u32 region_count;
	u32 region_chunks;
	u32 page_size;
	bool grants;
	u32 asked;
	u32 want;
	bool fits;
	bool misfit;
	bool shrinks;
	struct rtrs_iu *rkeys;
	u32 usable;
	struct rtrs_server_op *ops;
	u32 copy_count;
	u32 copies;
	struct percpu_ref inflight;
	u64 pinned;

	struct rtrs_iu *info_req;
	struct rtrs_iu *info_rsp;
	struct ib_cqe reg_cqe;
	u32 registered;
	u32 registers;
	int reg_err;

	struct rtrs_server_counts __percpu *counts;
	struct rtrs_server_path_dir *dir;
};

/**
 * struct rtrs_server_con - a connection
 * @recv_cqe: of receives without buffer
 * @send_cqe: of all parts of responses
 * @poll: number of the poll that found the last receive
 * @lone: polls before it, in a row, that found no other one
 * @begun: requests that came
 * @handling: the handler of its completions is at a request, or with who serves it
 * @send_lock: protects all below, and the order of posting. Any context
 * @answered: requests that were answered
 * @dead: nothing is posted any more; a grace period of RCU later the RDMA device is left
 * @credits: work requests that the send queue has room for
 * @batch: work requests posted since the last signalled one
 * @interval: @batch that makes the next one signalled
 * @fifo: work requests that each signalled one under way gives back, oldest at @fifo_head
 * @parked: operations that wait for credits
 * @progress: requests that came and signalled ones that are done, at the last tick of the
 *	heartbeat; its own
 * @silent: ticks without any, while answers were under way; the same
 */
struct rtrs_server_con {
	struct rtrs_con base;
	struct rtrs_server_path *path;
	struct ib_cqe recv_cqe;
	struct ib_cqe send_cqe;
	u32 poll;
	u32 lone;
	u32 begun;
	bool handling;
	spinlock_t send_lock;	/* of all below */
	u32 answered;
	bool dead;
	u32 credits;
	u32 batch;
	u32 interval;
	u32 fifo[RTRS_SERVER_BATCHES];
	unsigned int fifo_head;
	unsigned int fifo_tail;
	struct list_head parked;
	u32 progress;
	u32 silent;
};

/* A queue pair knows the one as the other. */
static_assert(!offsetof(struct rtrs_server_con, base));

/**
 * enum rtrs_server_op_stage - what an operation has to post next
 * @RTRS_SERVER_OP_INVALIDATE: LOCAL_INV of its chunk
 * @RTRS_SERVER_OP_RESPOND: its response
 */
enum rtrs_server_op_stage {
	RTRS_SERVER_OP_INVALIDATE,
	RTRS_SERVER_OP_RESPOND,
};

/**
 * struct rtrs_server_op - the operation of a slot on a path
 * @slot: number
 * @con: that the request came on
 * @off: of the header in the chunk
 * @err: to answer
 * @eager: its data is in @copy, and its chunk stays as it is
 * @clobbered: bytes at the start of the chunk that a read wrote to while this one waited
 * @req: header of the request
 * @parked: in con->parked
 * @inv_cqe: of the LOCAL_INV
 * @copy: data of an eager request, which the client does not reach; where keys change
 * @copy_dma: address of @copy for the device
 * @usr: copy of the user message
 *
 * From fence_enter() to fence_leave() it belongs to one request. The moment
 * fence_leave() has let go of the slot the peer may use it again, even before
 * the response is posted: nothing of it is touched after that.
 */
struct rtrs_server_op {
	struct rtrs_server_path *path;
	u32 slot;
	struct rtrs_server_con *con;
	u32 off;
	enum rtrs_server_op_stage stage;
	int err;
	bool eager;
	u32 clobbered;
	struct rtrs_request req;
	struct list_head parked;
	struct ib_cqe inv_cqe;
	void *copy;
	dma_addr_t copy_dma;
	u8 usr[RTRS_SERVER_USR_MAX] __aligned(8);
};

/* What may be said about a peer: limited, and with its addresses. */
#define path_err(path, fmt, ...) \
	pr_err_ratelimited("path %s: " fmt, (path)->text, ##__VA_ARGS__)

/* shared.c */
extern struct rtrs_geometry rtrs_server_geo;	/* of all sessions; constant after init */
extern unsigned int rtrs_server_hb_interval_ms;
extern unsigned int rtrs_server_hb_misses;
extern bool rtrs_server_new_rkey;		/* always_invalidate */
extern unsigned int rtrs_server_eager_bytes;
extern struct workqueue_struct *rtrs_server_wq;
extern struct workqueue_struct *rtrs_server_close_wq;
extern struct kmem_cache *rtrs_server_session_cache;
extern struct kmem_cache *rtrs_server_path_cache;
extern struct kmem_cache *rtrs_server_con_cache;
int rtrs_server_caches_create(void);
void rtrs_server_caches_destroy(void);
int rtrs_server_queues_create(void);
void rtrs_server_queues_destroy(void);

/* lookup.c; process. rtrs_server_current is for the callbacks of RDMA devices */
extern struct rtrs_server *rtrs_server_current;
int rtrs_server_set_current(struct rtrs_server *srv);
void rtrs_server_clear_current(void);
struct rtrs_server_dev *rtrs_server_dev_find(struct rtrs_server *srv, struct ib_device *ib_dev);
void rtrs_server_dev_left(struct rtrs_server_path *path);
void rtrs_server_dev_await(struct rtrs_server *srv, const struct rtrs_server_dev *sdev);
struct rtrs_server_session *rtrs_server_session_next(u32 id);
struct rtrs_server_session *rtrs_server_session_by_name(const char *name);
struct rtrs_server_path *rtrs_server_path_next(u32 id);
struct rtrs_server *rtrs_server_lock(void);
void rtrs_server_unlock(struct rtrs_server *srv);

/* objects.c; _put: process */
void rtrs_server_session_put(struct rtrs_server_session *session);
void rtrs_server_path_put(struct rtrs_server_path *path);
void rtrs_server_live_get(void);
void rtrs_server_live_put(void);
void rtrs_server_live_await(void);

/* session.c; process */
struct rtrs_server_session *rtrs_server_session_lookup(struct rtrs_server *srv,
						       const struct rtrs_conn_req *req);
int rtrs_server_session_path_up(struct rtrs_server_path *path);
void rtrs_server_session_path_off(struct rtrs_server_path *path);
bool rtrs_server_session_path_down(struct rtrs_server_path *path);
int rtrs_server_session_disconnect(struct rtrs_server_session *session);

/* session-state.c; session->lock held, but for _state */
void rtrs_server_session_leave(struct rtrs_server_session *session);
void rtrs_server_session_reap(struct rtrs_server_session *session);
enum rnbd_session_state rtrs_server_session_state(const struct rtrs_server_session *session);
void rtrs_server_session_tell(struct rtrs_server_session *session);

/* path-state.c; _close, _set: any context; others: process. _tell: session->lock held */
bool rtrs_server_path_set(struct rtrs_server_path *path, enum rtrs_server_path_state to, int err);
void rtrs_server_path_tell(struct rtrs_server_path *path, enum rtrs_server_path_state state);
bool rtrs_server_path_connected(struct rtrs_server_path *path);
void rtrs_server_path_close(struct rtrs_server_path *path, int err);
int rtrs_server_path_wait(struct rtrs_server_path *path);

/* path-end.c; process */
void rtrs_server_path_free_ops(struct rtrs_server_path *path);
void rtrs_server_path_end(struct rtrs_server_path *path);

/* path.c; process. _create: session->lock held */
struct rtrs_server_path *rtrs_server_path_create(struct rtrs_server_session *session,
						 struct rdma_cm_id *cm_id,
						 const struct rtrs_conn_req *req);
struct rtrs_server_path *rtrs_server_path_find(struct rtrs_server_session *session,
					       const u8 *uuid);
int rtrs_server_path_room(struct rtrs_server_path *path);

/* listen.c; process */
int rtrs_server_listen_init(const char *list);
void rtrs_server_listen_exit(void);
bool rtrs_server_listens(const struct rdma_cm_id *cm_id);
bool rtrs_server_listens_on(struct ib_device *ib_dev, u32 port);

/* port.c; process. _drained: srv->lock held */
struct rtrs_server_port {
	const char *hca;
	u32 number;
	u16 listens;
	bool drained;
	bool has_gid;
	union ib_gid gid;
};

/* srv->lock held. What is not 0 ends the walk. */
typedef int (*rtrs_server_port_fn)(const struct rtrs_server_port *port, void *arg);

bool rtrs_server_port_drained(const struct rtrs_server_dev *sdev, u32 port);
/* -ENOENT, -EINTR; -EBUSY: without @force a client would lose its last path */
int rtrs_server_port_drain(const char *hca, u32 port, bool force, struct netlink_ext_ack *extack);
int rtrs_server_port_undrain(const char *hca, u32 port);
/* All behind the first @after. */
int rtrs_server_port_walk(u32 after, rtrs_server_port_fn fn, void *arg);

/* cm.c; CM and worker */
int rtrs_server_cm_handler(struct rdma_cm_id *cm_id, struct rdma_cm_event *ev);

/* origin.c; any context */
void rtrs_server_origin(const struct rdma_cm_id *cm_id, union ib_gid *gid);
bool rtrs_server_same_origin(const struct rtrs_server_path *path, const struct rdma_cm_id *cm_id);
bool rtrs_server_is_client(const struct rtrs_server_session *session,
			   const struct rdma_cm_id *cm_id);
void rtrs_server_remember(struct rtrs_server_path *path);
bool rtrs_server_is_forged(const struct rdma_cm_id *cm_id);
void rtrs_server_guest_of(const struct rtrs_server_path *path, struct rtrs_server_guest *guest);
void rtrs_server_stranger(struct rtrs_server_session *session, const struct rdma_cm_id *cm_id);

/* conn.c; process */
struct rtrs_server_con *rtrs_server_con_create(struct rtrs_server_path *path,
					       struct rdma_cm_id *cm_id, u16 cid);
int rtrs_server_con_post_recvs(struct rtrs_server_con *con);
void rtrs_server_con_stop(struct rtrs_server_con *con);
void rtrs_server_con_flush(struct rtrs_server_con *con);
void rtrs_server_con_detach(struct rtrs_server_con *con);
void rtrs_server_con_free(struct rtrs_server_con *con);

/* post.c; any context. _post: con->send_lock held */
int rtrs_server_con_post(struct rtrs_server_con *con, struct ib_send_wr *first,
			 struct ib_send_wr *last, u32 count);
int rtrs_server_con_send_imm(struct rtrs_server_con *con, enum rtrs_imm_type type, u32 payload);
bool rtrs_server_con_idle(struct rtrs_server_con *con);
int rtrs_server_con_look(struct rtrs_server_con *con, unsigned int misses);

/* send.c; any context */
void rtrs_server_con_submit(struct rtrs_server_con *con, struct rtrs_server_op *op);
void rtrs_server_con_credit(struct rtrs_server_con *con, u32 count);
void rtrs_server_send_done(struct ib_cq *cq, struct ib_wc *wc);

/* wc.c; CQ */
void rtrs_server_wc_failed(struct rtrs_server_con *con, const struct ib_wc *wc, const char *what);

/* chunks.c; process. _get, _grow, _shrink, _look: session->lock held */
int rtrs_server_chunks_get(struct rtrs_server_session *session, struct ib_device *ib_dev,
			   u32 count);
int rtrs_server_chunks_grow(struct rtrs_server_session *session, u32 count);
void rtrs_server_chunks_shrink(struct rtrs_server_session *session, u32 count);
int rtrs_server_chunks_look(struct rtrs_server_session *session, u32 count, u64 bytes);
void rtrs_server_chunks_put(struct rtrs_server_session *session);
bool rtrs_server_chunks_drop(void);
void rtrs_server_chunks_exit(void);
struct page *rtrs_server_pages(int node, u32 bytes);

/* buf.c; process */
int rtrs_server_buf_map(struct rtrs_server_path *path, u32 count);
int rtrs_server_buf_fill(struct rtrs_server_path *path, u32 count);
void rtrs_server_buf_empty(struct rtrs_server_path *path, u32 count);
void rtrs_server_buf_unmap(struct rtrs_server_path *path);
void rtrs_server_buf_next_key(struct ib_mr *mr);
void rtrs_server_buf_reg_wr(struct ib_mr *mr, struct ib_reg_wr *wr);

static inline void *rtrs_server_chunk(const struct rtrs_server_path *path, u32 slot)
{
	return page_address(path->session->chunk[slot]);
}

/* mem.c; process */
void rtrs_server_mem_init(unsigned int mebibytes, bool (*drop)(void));
u64 rtrs_server_mem_session(u32 chunks);
u64 rtrs_server_mem_copy(u32 eager_bytes);
u64 rtrs_server_mem_path(const struct rtrs_conn_req *req);
u64 rtrs_server_mem_con(u16 cid);
int rtrs_server_mem_take(struct rtrs_server_session *session, u64 bytes);
void rtrs_server_mem_give(struct rtrs_server_session *session, u64 bytes);
void rtrs_server_mem_pass(struct rtrs_server_session *session, s64 bytes);
u64 rtrs_server_mem_limit(void);

/* copies.c; process */
int rtrs_server_copies_alloc(struct rtrs_server_path *path, u32 count);
void rtrs_server_copies_free(struct rtrs_server_path *path, u32 count);

/* op.c; _start: CQ. _begin: CQ and worker. _alloc, _free: process */
int rtrs_server_ops_alloc(struct rtrs_server_path *path);
void rtrs_server_ops_free(struct rtrs_server_path *path);
void rtrs_server_op_start(struct rtrs_server_con *con, u32 slot, u32 off);
void rtrs_server_op_begin(struct rtrs_server_op *op);

/* fence.c; enter: CQ. leave: any context. spoilt: CQ and worker. The others: worker of the path */
enum rtrs_server_slot_verdict rtrs_server_fence_enter(struct rtrs_server_op *op,
						      struct rtrs_server_con *con, u32 off);
bool rtrs_server_fence_leave(struct rtrs_server_op *op);
bool rtrs_server_fence_spoilt(const struct rtrs_server_op *op, const struct rtrs_request *req);
void rtrs_server_fence_drop_retries(struct rtrs_server_path *path);
/* @begin: goes on with a retry, whose slot it is now */
void rtrs_server_fence_release(struct rtrs_server_path *path,
			       void (*begin)(struct rtrs_server_op *op));

/* Operations are over; any context. */
static inline void rtrs_server_op_put(struct rtrs_server_path *path, u32 count)
{
	this_cpu_sub(path->counts->inflight, count);
	percpu_ref_put_many(&path->inflight, count);
}

/* Ends without an answer; any context. */
static inline void rtrs_server_op_drop(struct rtrs_server_op *op)
{
	struct rtrs_server_path *path = op->path;

	rtrs_server_fence_leave(op);
	rtrs_server_op_put(path, 1);
}

/* wait.c; process */
void rtrs_server_wait_init(struct rtrs_server_wait *wait, struct workqueue_struct *wq,
			   work_func_t fn);
void rtrs_server_wait(struct rtrs_server_session *session, struct rtrs_server_wait *wait,
		      unsigned long until);
void rtrs_server_wait_end(struct rtrs_server_wait *wait);
void rtrs_server_wait_cancel(struct rtrs_server_wait *wait);
void rtrs_server_wait_over(struct rtrs_server_wait *wait);
void rtrs_server_wake(struct rtrs_server_session *session);

/* ask.c; any context where the path, or session, is not gone */
void rtrs_server_lost_ask(struct rtrs_server_path *path, u32 tag);
void rtrs_server_slots_ask(struct rtrs_server_path *path, u32 payload);
void rtrs_server_slots_kick(struct rtrs_server_session *session);

/* lost.c; worker */
void rtrs_server_lost_work(struct work_struct *work);

/* info.c; _recv_done: CQ, _work: worker */
int rtrs_server_info_alloc(struct rtrs_server_path *path);
void rtrs_server_info_free(struct rtrs_server_path *path);
void rtrs_server_info_work(struct work_struct *work);

/* regions.c; _fit: worker. _done: CQ */
int rtrs_server_regions_fit(struct rtrs_server_path *path);
void rtrs_server_regions_done(struct ib_cq *cq, struct ib_wc *wc);

/* slots.c; worker. _max: session->lock held */
void rtrs_server_slots_fit(struct rtrs_server_path *path);
void rtrs_server_slots_work(struct work_struct *work);
u64 rtrs_server_slots_max(struct rtrs_server_session *session);

/* recv.c; CQ */
void rtrs_server_recv_done(struct ib_cq *cq, struct ib_wc *wc);

/* resp.c; con->send_lock held */
u32 rtrs_server_resp_count(const struct rtrs_server_op *op);
int rtrs_server_resp_post(struct rtrs_server_op *op);

/* stats.c */
struct rtrs_server_totals {
	u64 ios[2];
	u64 bytes[2];
	struct rtrs_polls polls;
	u32 inflight;
};

static inline void rtrs_server_stats_begin(struct rtrs_server_path *path, bool is_read, u32 bytes)
{
	this_cpu_inc(path->counts->ios[is_read]);
	this_cpu_add(path->counts->bytes[is_read], bytes);
}

void rtrs_server_stats_sum(struct rtrs_server_path *path, struct rtrs_server_totals *sum);
/* @groups: RNBD_COUNTERS_* (uapi) */
void rtrs_server_stats_reset(struct rtrs_server_path *path, u32 groups);

/* sysfs.c */
int rtrs_server_sysfs_init(void);
void rtrs_server_sysfs_exit(void);

/* nl.c */
int rtrs_server_nl_init(void);
void rtrs_server_nl_exit(void);

#endif /* RTRS_SERVER_PRIV_H */
