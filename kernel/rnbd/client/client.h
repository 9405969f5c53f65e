/* SPDX-License-Identifier: GPL-2.0 */
/* rnbd-client: disks whose blocks are on a server. */
#ifndef RNBD_CLIENT_H
#define RNBD_CLIENT_H

#include <linux/blk-mq.h>
#include <linux/completion.h>
#include <linux/kobject.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sbitmap.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rnbd/proto.h>
#include <rtrs/client.h>
#include "map-args.h"
#include "state.h"

#define RNBD_CLIENT_INDEX_MAX	16383
#define RNBD_CLIENT_NAME_LEN	16		/* "rnbd16383" */

#define RNBD_CLIENT_PAGE_BYTES	4096		/* of the transport, whatever PAGE_SIZE is */

#define RNBD_CLIENT_CTRL_SLOTS	4

/* Slots of a session that are kept for control messages. */
static inline u32 rnbd_client_ctrl_slots(u32 queue_depth)
{
	return min_t(u32, RNBD_CLIENT_CTRL_SLOTS, queue_depth / 2);
}

/* Spare slots: each replaces one whose request was given up while the server may still run it. */
#define RNBD_CLIENT_SPARE_SHARE	32

static inline u32 rnbd_client_spare_slots(u32 queue_depth)
{
	return queue_depth / RNBD_CLIENT_SPARE_SHARE;
}

/* Bits of session->slot_mode */
enum {
	RNBD_CLIENT_SLOTS_FEW,	/* the server came back with fewer slots than there are tags */
	RNBD_CLIENT_SLOTS_CALM,	/* no request since session->slots_work looked, or that rests */
};

/* Access modes; values are those of the OPEN message and of the uapi. */
enum rnbd_client_access {
	RNBD_CLIENT_ACCESS_RO,
	RNBD_CLIENT_ACCESS_RW,
	RNBD_CLIENT_ACCESS_MIGRATION,
	RNBD_CLIENT_ACCESS_COUNT,
};

/**
 * enum rnbd_client_session_state - a session is made once, then used, then closed once
 * @RNBD_CLIENT_SESSION_CONNECTING: belongs to the process that connects it; others wait
 * @RNBD_CLIENT_SESSION_READY: has users
 * @RNBD_CLIENT_SESSION_CLOSING: belongs to the process that closes it; its name is still taken
 * @RNBD_CLIENT_SESSION_GONE: out of the list
 */
enum rnbd_client_session_state {
	RNBD_CLIENT_SESSION_CONNECTING,
	RNBD_CLIENT_SESSION_READY,
	RNBD_CLIENT_SESSION_CLOSING,
	RNBD_CLIENT_SESSION_GONE,
};

/**
 * struct rnbd_client_recoverer - one of several works that reopen devices of a session
 * @session: the session
 * @work: reopens one device after the other
 */
struct rnbd_client_recoverer {
	struct rnbd_client_session *session;
	struct work_struct work;
};

/**
 * struct rnbd_client_session - a session and the devices mapped over it
 * @ref: waiters, users, and each device, as its requests live in @tags
 * @entry: in the list of sessions, under its lock, as are @state and @users
 * @users: mappings, and one if it is @held; the last one closes the session
 * @held: an administrator made it without a device; it stays until it is removed
 * @remove_work: removes it; not the caller, who may be killed
 * @removed: @remove_work is done
 * @wait: for changes of @state
 * @id: in netlink
 * @rtrs: transport; valid while READY and for the connecting and the closing process
 * @tags: requests of all disks; the slot of a tag is @slot[tag], unless FEW of @slot_mode
 * @no_disk: a queue without disk and requests, see rnbd_client_queue_init()
 * @slots: free slots, used with FEW of @slot_mode only
 * @slot_mode: RNBD_CLIENT_SLOTS_*; 0 nearly always
 * @few_base: with FEW: the first slot that is not for control messages
 * @slot_lock: protects @slot, @spares*, @kept and @kept_count. The request of a tag reads its own
 *	@slot without
 * @slot: first the slot of each tag, then @spares slots without a tag: @spares_left that are free,
 *	and those of requests that the server has not answered
 * @spares: slots without a tag
 * @spares_left: spare slots that are free in @spares_epoch
 * @spares_epoch: epoch of @spares_left; in a later one all are free
 * @kept: tags that no request may have, as the server has not granted their slots
 * @kept_count: of @kept
 * @slots_min: granted slots of a session that is idle
 * @slots_work: asks for more or fewer; of it alone is all up to @slots_asked
 * @slots_pending: the server has not answered the last question
 * @slots_peak: most requests in flight, until @slots_until
 * @slots_waited: tags that others waited for, so far
 * @slots_until: jiffies when slots may be given back
 * @slots_asked: jiffies of the last question
 * @io_cons: interrupt driven connections of each path
 * @poll_cons: polled connections of each path
 * @max_bytes: limit of a request, for any alignment
 * @max_segments: limit of a request
 * @version: protocol version agreed upon
 * @minor: minor protocol version of the server, 0 if it tells none
 * @lock: protects @devs, the states of devices and their openers
 * @devs: of struct rnbd_client_dev
 * @lost: number of losses of the session; under @lock
 * @lost_at: jiffies of the last loss; under @lock
 * @down: the session was lost, and RECONNECTED has not come; under @lock
 * @expire_work: fails waiting I/O when no_path_timeout is over
 * @recover_work: greets the server and starts @recover: when the session is back, and again later
 *	if devices did not come back
 * @recover: reopen the devices
 * @recovered: id of the last device that @recover took; under @lock
 * @recover_err: result of the greeting; under @lock
 * @notices: number of notices of the server that a size changed; under @msg_lock
 * @stale: devices that may have another size: bit (id of the device modulo number of bits); under
 *	@msg_lock
 * @revalidate_work: asks the server for the sizes of @stale
 * @msg_lock: protects all that follows
 * @msgs: control messages in flight
 * @orphans: OPENs that succeeded behind the time-out of their waiters
 * @orphan_work: sends a CLOSE for each of @orphans
 * @ctrl_busy: bitmap of the slots for control messages, the first ones of the session
 * @closing: no message may be sent any more
 * @msg_wait: for a free slot in @ctrl_busy
 */
struct rnbd_client_session {
	struct kref ref;
	struct list_head entry;
	enum rnbd_client_session_state state;
	unsigned int users;
	bool held;
	struct work_struct remove_work;
	struct completion removed;
	wait_queue_head_t wait;
	char name[RTRS_NAME_MAX + 1];

	u32 id;
	struct rtrs_client_session *rtrs;
	struct blk_mq_tag_set tags;
	struct request_queue *no_disk;
	struct sbitmap slots;
	unsigned long slot_mode;
	u32 few_base;
	spinlock_t slot_lock; /* any context but hard interrupts */
	u32 *slot;
	u32 spares;
	u32 spares_left;
	u32 spares_epoch;
	unsigned long *kept;
	u32 kept_count;
	u32 slots_min;
	struct delayed_work slots_work;
	bool slots_pending;
	u32 slots_peak;
	u32 slots_waited;
	unsigned long slots_until;
	unsigned long slots_asked;
	unsigned int io_cons;
	unsigned int poll_cons;
	u32 max_bytes;
	u32 max_segments;
	u8 version;
	u8 minor;

	struct mutex lock; /* devices */
	struct list_head devs;
	unsigned int lost;
	unsigned long lost_at;
	bool down;
	struct delayed_work expire_work;
	struct delayed_work recover_work;
	struct rnbd_client_recoverer recover[RNBD_CLIENT_CTRL_SLOTS];
	u32 recovered;
	int recover_err;
	unsigned long stale;
	unsigned int notices;
	struct work_struct revalidate_work;

	spinlock_t msg_lock; /* control messages */
	struct list_head msgs;
	struct list_head orphans;
	struct work_struct orphan_work;
	unsigned long ctrl_busy;
	bool closing;
	wait_queue_head_t msg_wait;
};

/* Bits of struct rnbd_client_dev.flags */
enum rnbd_client_dev_flag {
	RNBD_CLIENT_DEV_OPEN,	/* device_id is valid; set under session->lock */
	RNBD_CLIENT_DEV_READY,	/* the mapping process is done with it; under session->lock */
	RNBD_CLIENT_DEV_ADDED,	/* lifecycle: the disk was added */
	RNBD_CLIENT_DEV_SYSFS,	/* lifecycle: the directory is there */
	RNBD_CLIENT_DEV_WAITS,	/* I/O that finds no path waits; set under session->lock */
	RNBD_CLIENT_DEV_PARKED,	/* I/O is set aside; session->lock, to clear aside_lock too */
	RNBD_CLIENT_DEV_FUA,	/* mapped with always_fua: each write has FUA */
	RNBD_CLIENT_DEV_DIRTY,	/* writes were acknowledged since the last flush */
	RNBD_CLIENT_DEV_LOST,	/* acknowledged writes are lost: the next flush fails */
	RNBD_CLIENT_DEV_DROPS,	/* drop_work gives up requests of a slow server */
	RNBD_CLIENT_DEV_RECOVERS,	/* a recoverer reopens it; under session->lock */
};

/**
 * struct rnbd_client_dev - a device of a server and its disk here
 * @flags: enum rnbd_client_dev_flag; the I/O path looks at RNBD_CLIENT_DEV_OPEN
 * @device_id: name of the device in messages
 * @epoch: of the session, in which the server gave it
 * @closed_gp: where it is DISCONNECTED, the grace period after which no queue_rq() runs that saw it
 *	open; under session->lock
 * @session: carries it
 * @disk: NULL before it is made
 * @devt: device number of the disk, 0 before add_disk()
 * @state: changed under session->lock only
 * @openers: of the disk, under session->lock
 * @last_error: reason of DISCONNECTED
 * @gone_work: moves it to DISCONNECTED when the server has closed it
 * @limits_work: sets limits that a reopen could not set
 * @read_work: sends @first_read
 * @first_read: of a new disk; its end queues @scan_work
 * @scan_work: reads the partition table
 * @scan_disk: @disk, for @scan_work
 * @scanned: @scan_work is done
 * @remove_work: removes the device, which is UNMAPPED
 * @removed: @remove_work is done
 * @unmap_ms: time for @remove_work
 * @drop_work: gives up requests that the server does not answer during @remove_work
 * @notices: ->notices of the session before the OPEN was sent
 * @flushing: flushes under way that have taken RNBD_CLIENT_DEV_DIRTY
 * @write_losses: number of times the server has lost acknowledged writes
 * @aside_lock: protects @aside and @aside_flushes
 * @aside: bios that are set aside, or were too long: to be submitted again
 * @aside_flushes: requests that are set aside as such: parts of flushes
 * @aside_work: submits @aside
 * @open_lock: held for the OPEN of a reopen and for the CLOSE; outside of session->lock
 * @ref: of the mapping, each opener of the disk, the kobject, and whoever has found it
 * @id: in netlink
 * @index: N of rnbdN
 * @session_entry: in session->devs
 * @kobj: directory "rnbd" of the disk
 * @link: name in ctl/devices, NULL for none
 * @info: from the answer to the last OPEN
 * @access_mode: enum rnbd_client_access, as asked of the server; migration becomes rw when the
 *	other end is gone, or on demand
 * @io_mode: RNBD_IO_*, as asked of the server
 * @timeout_ms: for the answer to the OPEN of its map
 * @path: name on the server
 */
struct rnbd_client_dev {
	unsigned long flags;
	u32 device_id;
	u32 epoch;
	unsigned long closed_gp;
	struct rnbd_client_session *session;
	struct gendisk *disk;
	dev_t devt;

	enum rnbd_client_dev_state state;
	unsigned int openers;
	int last_error;
	struct work_struct gone_work;
	struct work_struct limits_work;
	struct work_struct read_work;
	struct bio *first_read;
	struct work_struct scan_work;
	struct gendisk *scan_disk;
	struct completion scanned;
	struct work_struct remove_work;
	struct completion removed;
	unsigned int unmap_ms;
	struct delayed_work drop_work;
	unsigned int notices;
	atomic_t flushing;
	unsigned int write_losses;
	spinlock_t aside_lock; /* inside of session->lock; process context */
	struct bio_list aside;
	struct list_head aside_flushes;
	struct work_struct aside_work;
	struct mutex open_lock; /* see @open_lock */
	struct kref ref;
	u32 id;
	int index;
	struct list_head session_entry;
	struct kobject kobj;
	char *link;
	struct rnbd_device_info info;
	u8 access_mode;
	u8 io_mode;
	unsigned int timeout_ms;
	char name[RNBD_CLIENT_NAME_LEN];
	char path[RNBD_PATH_LEN];
};

/**
 * struct rnbd_client_io - the driver's part of a block request
 * @status: result
 * @slot: on the wire
 * @borrowed: @slot is from session->slots, behind as many slots for control messages; else 0
 * @took_dirty: a flush that has cleared RNBD_CLIENT_DEV_DIRTY
 * @epoch: epoch of the session in which it was sent
 * @msg: user message
 * @sgl: session->max_segments entries
 */
struct rnbd_client_io {
	blk_status_t status;
	int slot;
	u8 borrowed;
	bool took_dirty;
	u32 epoch;
	struct rnbd_msg_io msg;
	struct scatterlist sgl[];
};

/* map.c */

/*
 * Maps a device, for sysfs and netlink. 0 and a reference to the device in *@out.
 * Killable. -ENODEV: the module is being unloaded. Process context.
 */
int rnbd_client_map(const struct rnbd_client_map_args *args, struct netlink_ext_ack *extack,
		    struct rnbd_client_dev **out);

/* session.c; process context */

/* The session args->session, connected if there is none, with one user more. Killable. */
struct rnbd_client_session *rnbd_client_session_join(const struct rnbd_client_map_args *args,
						     struct netlink_ext_ack *extack);

/* One user less; the last one closes the session before this returns. */
void rnbd_client_session_leave(struct rnbd_client_session *session);

/* Connects a held session; returns it with a reference. -EEXIST. Killable. */
struct rnbd_client_session *rnbd_client_session_add(const struct rnbd_client_map_args *args,
						    struct netlink_ext_ack *extack);
/* Fills the reply about a session; -ENODEV: it is being closed. */
int rnbd_client_session_fill(struct rnbd_client_session *session, struct sk_buff *msg);
/*
 * Removes a held session. -ENOENT, -EBUSY (devices are mapped), -EINVAL (not held). Killable: a
 * work goes on.
 */
int rnbd_client_session_del(u32 id, const char *name, struct netlink_ext_ack *extack);

/* limits.c */

/* Slots for requests: those that are neither for control messages nor spare. */
u32 rnbd_client_io_slots(u32 queue_depth);
/* Takes the limits of the paths. Under session->lock, or before the session is READY. */
int rnbd_client_session_limits(struct rnbd_client_session *session,
			       struct netlink_ext_ack *extack);

/* objects.c; process context */

/* Both with one reference; NULL: no memory. A device keeps its session. */
struct rnbd_client_session *rnbd_client_session_alloc(void);
struct rnbd_client_dev *rnbd_client_dev_alloc(struct rnbd_client_session *session);
void rnbd_client_session_get(struct rnbd_client_session *session);
void rnbd_client_session_put(struct rnbd_client_session *session);
void rnbd_client_dev_get(struct rnbd_client_dev *dev);
void rnbd_client_dev_put(struct rnbd_client_dev *dev);
/* Gives the device its number, its name and its id, by which _next() finds it. */
int rnbd_client_dev_enter(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack);
/* _next() finds it no more. */
void rnbd_client_dev_withdraw(struct rnbd_client_dev *dev);
/* The one with the lowest id above @id, with a reference, or NULL. */
struct rnbd_client_dev *rnbd_client_dev_next(u32 id);
int rnbd_client_objects_init(void);
void rnbd_client_objects_exit(void);

/* dev.c; process context */

/* A new device in state INIT, in all lists. Takes over the caller's user of @session. */
struct rnbd_client_dev *rnbd_client_dev_create(struct rnbd_client_session *session,
					       const struct rnbd_client_map_args *args,
					       struct netlink_ext_ack *extack);
/* Opens it on the server. Killable. */
int rnbd_client_dev_open(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack);
/* INIT -> MAPPED; -ECONNABORTED where the session was lost since it was opened. */
int rnbd_client_dev_mapped(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack);
/* Makes a mapped device READY: others may unmap it from here on. */
int rnbd_client_dev_ready(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack);
/* For the mapping process, when something failed: any state -> UNMAPPED. */
void rnbd_client_dev_abort(struct rnbd_client_dev *dev);
/*
 * Moves a device to UNMAPPED for an administrator, who calls rnbd_client_dev_unmap() then. That
 * takes up to @timeout_ms (0: default) if the server does not answer. -EBUSY, -EALREADY.
 */
int rnbd_client_dev_claim(struct rnbd_client_dev *dev, bool force, unsigned int timeout_ms,
			  struct netlink_ext_ack *extack);
/*
 * Removes the device, for the caller that has moved it to UNMAPPED. Killable: the removal goes on.
 */
int rnbd_client_dev_unmap(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack);

/* dev-state.c; process context */

/* The session was lost. */
void rnbd_client_dev_lost(struct rnbd_client_session *session, int err);
/* False: there is no such edge. Under session->lock. */
bool rnbd_client_dev_move(struct rnbd_client_dev *dev, enum rnbd_client_dev_state state);
/* Moves a MAPPED device, whose OPEN bit is clear, to DISCONNECTED. Under session->lock. */
void rnbd_client_dev_disconnect(struct rnbd_client_dev *dev, int err);
/* The server has given @id to @dev in @epoch: takes it from other devices. Under session->lock. */
void rnbd_client_dev_take_id(struct rnbd_client_dev *dev, u32 id, u32 epoch);
/*
 * Whether the server has lost writes that it had acknowledged and not flushed, by its answer @now
 * to an OPEN. The caller lets no request be sent. Under session->lock.
 */
bool rnbd_client_lost_writes(const struct rnbd_client_dev *dev,
			     const struct rnbd_device_info *now);
/* The server has closed it: it has answered -ENOTCONN. */
void rnbd_client_dev_gone_work(struct work_struct *work);
/* Whether devices that were opened in @epoch are open: the event of an older loss may come late. */
static inline bool rnbd_client_epoch_is(const struct rnbd_client_session *session, u32 epoch)
{
	struct rtrs_client_attrs attrs;

	rtrs_client_query(session->rtrs, &attrs);
	return attrs.epoch == epoch;
}

/* Lets requests go to @dev->device_id in @dev->epoch. Under session->lock. */
static inline void rnbd_client_dev_set_open(struct rnbd_client_dev *dev)
{
	smp_mb__before_atomic();	/* pairs with test_bit_acquire() in queue_rq() */
	set_bit(RNBD_CLIENT_DEV_OPEN, &dev->flags);
}

/* queues.c */

/* Work that I/O waits for and that does not wait for a server. */
extern struct workqueue_struct *rnbd_client_wq;
/* Work that I/O waits for and that waits for a server. */
extern struct workqueue_struct *rnbd_client_recover_wq;
/* Work that waits for tags, so for I/O of other disks. */
extern struct workqueue_struct *rnbd_client_aside_wq;
/* Work that I/O does not wait for. */
extern struct workqueue_struct *rnbd_client_remove_wq;
int rnbd_client_queues_create(void);
void rnbd_client_queues_destroy(void);

/* refused.c: puts the reason why an OPEN failed into @extack, and returns @err. */
int rnbd_client_dev_open_failed(const struct rnbd_client_dev *dev, int err,
				unsigned int timeout_ms, struct netlink_ext_ack *extack);

/* park.c: I/O that waits for a path ("parked"); under session->lock unless noted */

/* From now on I/O waits if there is no path, where the settings say so. */
void rnbd_client_park_allow(struct rnbd_client_dev *dev);
/* From now on I/O fails if there is no path. I/O that waits fails. */
void rnbd_client_park_forbid(struct rnbd_client_dev *dev);
/* The session was lost: parks the devices whose I/O waits, and starts the timer. */
void rnbd_client_park(struct rnbd_client_session *session);
/* The device is open again, or its I/O waits no more: lets go of what was set aside. */
void rnbd_client_unpark(struct rnbd_client_dev *dev);
/* Applies settings that have changed. Process context, no locks held. */
void rnbd_client_park_settings(struct rnbd_client_session *session);
void rnbd_client_park_expired(struct work_struct *work);
/*
 * Sets @rq aside until the device is open again. False: the device is not parked. For queue_rq(),
 * without session->lock.
 */
bool rnbd_client_set_aside(struct request *rq);
/*
 * Submits the bios of @rq again, to be cut anew: @rq has waited and is longer than the server takes
 * now. For queue_rq(), without session->lock.
 */
void rnbd_client_resplit(struct request *rq);
void rnbd_client_aside_work(struct work_struct *work);
/* The timeout of requests for the block layer, in jiffies. Any context. */
unsigned int rnbd_client_io_timeout(const struct rnbd_client_session *session);

/* recover.c: starts to reopen the devices of a session that is back. Process context. */
void rnbd_client_recover(struct rnbd_client_session *session);
void rnbd_client_recover_init(struct rnbd_client_session *session);
/* Behind rnbd_client_msg_session_stop(). Process context. */
void rnbd_client_recover_stop(struct rnbd_client_session *session);

/* remap.c */

/*
 * DISCONNECTED -> MAPPED, with size and limits by the server's answer. Killable. -EALREADY: mapped,
 * -EBUSY: being mapped, -ENODEV: unmapped. @by_itself: no administrator asks for it; then -ESTALE
 * if another client may have written to the disk, or it is another disk. Process context.
 */
int rnbd_client_dev_remap(struct rnbd_client_dev *dev, unsigned int timeout_ms, bool by_itself,
			  struct netlink_ext_ack *extack);
/* Another size, in units of 512 bytes. -ENOENT: not mapped. Process context. */
int rnbd_client_dev_resize(struct rnbd_client_dev *dev, u64 sectors,
			   struct netlink_ext_ack *extack);
/* As rnbd_client_dev_resize(), under session->lock. */
int rnbd_client_dev_set_size(struct rnbd_client_dev *dev, u64 sectors,
			     struct netlink_ext_ack *extack);

/* notice.c. Both in softirq or the process that polls; _stale() under msg_lock. */
void rnbd_client_notice(void *session, u32 what);
void rnbd_client_stale(struct rnbd_client_session *session, u32 device_id);
void rnbd_client_missed_notice(struct rnbd_client_dev *dev);	/* process context */
/* Takes over the right to write by the answer to an OPEN. Under session->lock. */
void rnbd_client_take_right(struct rnbd_client_dev *dev, const struct rnbd_device_info *info);
/* The bit of a device in session->stale */
unsigned int rnbd_client_stale_bit(u32 device_id);

/* revalidate.c */
void rnbd_client_revalidate_work(struct work_struct *work);
/*
 * Asks the server for rw in place of migration; -EBUSY: another client writes, -EOPNOTSUPP: the
 * server cannot, -ENOTCONN: it is not open there. Killable, and may be granted nevertheless.
 * Process context.
 */
int rnbd_client_dev_set_rw(struct rnbd_client_dev *dev, unsigned int timeout_ms,
			   struct netlink_ext_ack *extack);

/* disk.c; process context */

/* Makes the disk of a device that is open on the server; adds nothing yet. */
int rnbd_client_disk_create(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack);
/* add_disk() without a scan for partitions: that is rnbd_client_scan_begin(). */
int rnbd_client_disk_add(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack);
/* The device was opened again in @epoch: takes over @info. Under session->lock. */
int rnbd_client_disk_reopen(struct rnbd_client_dev *dev, const struct rnbd_device_info *info,
			    u32 epoch, struct netlink_ext_ack *extack);
void rnbd_client_disk_limits_work(struct work_struct *work);
/* Removes the disk; all requests are done when it returns. Idempotent. */
void rnbd_client_disk_remove(struct rnbd_client_dev *dev);

/* scan.c; process context */

/* Starts the scan for partitions of an added disk, which is not READY yet. */
void rnbd_client_scan_begin(struct rnbd_client_dev *dev);
/* Waits for the scan, for 2 s at most. Killable. */
void rnbd_client_scan_wait(struct rnbd_client_dev *dev);
void rnbd_client_first_read_work(struct work_struct *work);
void rnbd_client_scan_work(struct work_struct *work);

/* queue.c */
extern const struct blk_mq_ops rnbd_client_mq_ops;

/* Sets up the requests of a session once its attributes are known. Process context. */
int rnbd_client_queue_init(struct rnbd_client_session *session, u32 depth, u32 spares);
void rnbd_client_queue_drop_work(struct work_struct *work);
void rnbd_client_queue_exit(struct rnbd_client_session *session);
/* The server has @depth slots only. Under session->lock; no request of this epoch is in flight. */
void rnbd_client_queue_shrink(struct rnbd_client_session *session, u32 depth, u32 count);

/* slots.c */

/* Behind the tag set, before a disk. Process context. */
int rnbd_client_slots_init(struct rnbd_client_session *session);
/* A request came. Any context but hard interrupts. */
void rnbd_client_slots_watch(struct rnbd_client_session *session);
/* The server has granted another number of slots. Any context but hard interrupts. */
void rnbd_client_slots_granted(void *priv);
void rnbd_client_slots_work(struct work_struct *work);

/* Default time-out for each step of a command. */
static inline unsigned int rnbd_client_timeout_ms(const struct rnbd_client_session *session)
{
	return READ_ONCE(rtrs_client_settings(session->rtrs)->connect_ms);
}

/* msg.c; process context; killable, bounded by @timeout_ms */
int rnbd_client_msg_sess_info(struct rnbd_client_session *session, unsigned int timeout_ms);
/*
 * *@epoch: epoch of the session in which the server gave the id. @by_itself: no administrator asks
 * for the OPEN; a server of ours refuses it with -ESTALE unless the disk is as it was.
 */
int rnbd_client_msg_open(struct rnbd_client_dev *dev, u8 access_mode, unsigned int timeout_ms,
			 bool by_itself, struct rnbd_device_info *info, u32 *epoch);
int rnbd_client_msg_close(struct rnbd_client_dev *dev, u32 device_id, u32 epoch);
/* As rnbd_client_msg_close(), with a time-out. */
int rnbd_client_msg_close_within(struct rnbd_client_dev *dev, u32 device_id, u32 epoch,
				 unsigned int timeout_ms);
/* True if @err is an error of messages of any type: puts its text into @extack. */
bool rnbd_client_msg_failed(int err, unsigned int timeout_ms, struct netlink_ext_ack *extack);
void rnbd_client_msg_session_init(struct rnbd_client_session *session);
/* Before rtrs_client_close(): no message is sent any more. */
void rnbd_client_msg_session_stop(struct rnbd_client_session *session);
int rnbd_client_msg_init(void);
void rnbd_client_msg_exit(void);

/* sysfs.c; process context */
int rnbd_client_sysfs_init(void);
void rnbd_client_sysfs_exit(void);

/* nl.c */
int rnbd_client_nl_init(void);
void rnbd_client_nl_exit(void);

#endif /* RNBD_CLIENT_H */
