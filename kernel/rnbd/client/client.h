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

/* Slots that are kept for those of requests which were given up while the server is at them. */
static inline u32 rnbd_client_spare_slots(u32 queue_depth)
{
	return queue_depth / 32;
}

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
 * struct rnbd_client_recoverer - opens devices of a session that is back, beside others
 * @session: that session
 * @work: takes one device after the other
 */
struct rnbd_client_recoverer {
	struct rnbd_client_session *session;
	struct work_struct work;
};

/**
 * struct rnbd_client_session - a session and the devices mapped over it
 * @ref: waiters, users, and each disk, as its requests live in @tags
 * @entry: in the list of sessions, under its lock, as are @state and @users
 * @users: mappings, and one if it is @held; the last one closes the session
 * @held: it was made without a device, and stays until it is removed
 * @remove_work: lets go of it then
 * @removed: it has
 * @wait: somebody waits for a change of @state
 * @id: in netlink
 * @rtrs: transport; valid while READY and for the connecting and the closing process
 * @tags: requests of all its disks; tag == slot, but with @few_slots
 * @no_disk: has the tags in common with the queues of the disks, and no requests
 * @slots: the slots for them, looked at with @few_slots only
 * @few_slots: the server came back with less of them than there are tags
 * @slot_lock: protects what follows
 * @slot: of each tag, which its request may look at; then those that are spare, and those that are
 *	in use by a server which has not answered
 * @spares: slots that are none of a tag
 * @spares_left: of them those that can be used
 * @spares_epoch: in which others cannot
 * @io_cons: interrupt driven connections of each path
 * @poll_cons: polled ones
 * @max_bytes: of one request, whatever the alignment of its pages
 * @max_segments: of one request
 * @version: protocol version agreed upon
 * @minor: its minor number, 0 where the server tells none
 * @lock: protects @devs, the states of devices and their openers
 * @devs: of struct rnbd_client_dev
 * @lost: how often the session was lost; moves under @lock
 * @lost_at: the last time, in jiffies; the same
 * @down: it is lost, and not known to be back; the same
 * @expire_work: no path has come for so long that I/O waits no more
 * @recover_work: the session is back, or devices did not come back and are tried again
 * @recover: those who open the devices then
 * @recovered: id of the device that the last of them took; @lock
 * @recover_err: what the server said of the session; the same
 * @notices: how often the server has told of a size; @msg_lock
 * @stale: bit for each device that may have another size, by its id modulo their number
 * @revalidate_work: asks the server for them
 * @msg_lock: protects what follows
 * @msgs: control messages in flight
 * @orphans: messages whose OPEN succeeded when nobody waited any more: to be closed
 * @orphan_work: closes them
 * @ctrl_busy: bitmap of the slots for control messages, from the session's last one down
 * @closing: no message may be sent any more
 * @msg_wait: somebody waits for a slot
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
	bool few_slots;
	spinlock_t slot_lock; /* any context but hard interrupts */
	u32 *slot;
	u32 spares;
	u32 spares_left;
	u32 spares_epoch;
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
	RNBD_CLIENT_DEV_OPEN,	/* device_id is good; set under session->lock */
	RNBD_CLIENT_DEV_READY,	/* the mapping process has let go of it; the same */
	RNBD_CLIENT_DEV_ADDED,	/* lifecycle: the disk was added */
	RNBD_CLIENT_DEV_SYSFS,	/* lifecycle: the directory is there */
	RNBD_CLIENT_DEV_WAITS,	/* I/O that finds no path waits; set under session->lock */
	RNBD_CLIENT_DEV_PARKED,	/* what waits is set aside; cleared under aside_lock, too */
	RNBD_CLIENT_DEV_FUA,	/* it was mapped so: every write goes with FUA */
	RNBD_CLIENT_DEV_DIRTY,	/* the server has acknowledged what no flush has taken since */
	RNBD_CLIENT_DEV_LOST,	/* and has lost it: the next flush fails */
	RNBD_CLIENT_DEV_DROPS,	/* it is unmapped, and its server too slow: requests are given up */
	RNBD_CLIENT_DEV_RECOVERS,	/* somebody opens it again; under session->lock */
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
 * @devt: number of the disk, 0 before it was added
 * @state: changed under session->lock only
 * @openers: of the disk, under session->lock
 * @last_error: what made it disconnected
 * @gone_work: makes it disconnected, as the server does not know it any more
 * @limits_work: gives the disk the limits that it could not take when it was opened again
 * @scan_work: reads the partition table
 * @scan_disk: @disk, for that
 * @scanned: that is over
 * @remove_work: takes it down
 * @removed: that is over
 * @unmap_ms: how long that may take
 * @drop_work: gives up what is not answered meanwhile
 * @notices: those of the session before it was opened
 * @flushing: flushes under way that have taken RNBD_CLIENT_DEV_DIRTY
 * @write_losses: how often the server has lost what it had acknowledged
 * @aside_lock: protects what is set aside
 * @aside: bios that are to make requests anew
 * @aside_flushes: requests that are a part of a flush
 * @aside_work: submits @aside
 * @open_lock: held while it is opened again, and for its CLOSE; outside of session->lock
 * @ref: the mapping itself, the disk, the kobject, whoever found it
 * @id: in netlink
 * @index: N of rnbdN
 * @session_entry: in session->devs
 * @kobj: directory "rnbd" of the disk
 * @link: name in ctl/devices, NULL for none
 * @info: what the server told
 * @access_mode: enum rnbd_client_access, as asked of the server; migration becomes rw when the
 *	other end is gone, or on demand
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
	struct mutex open_lock; /* see above */
	struct kref ref;
	u32 id;
	int index;
	struct list_head session_entry;
	struct kobject kobj;
	char *link;
	struct rnbd_device_info info;
	u8 access_mode;
	unsigned int timeout_ms;
	char name[RNBD_CLIENT_NAME_LEN];
	char path[RNBD_PATH_LEN];
};

/**
 * struct rnbd_client_io - the driver's part of a block request
 * @status: result
 * @slot: on the wire
 * @borrowed: from session->slots
 * @took_dirty: a flush, of what was RNBD_CLIENT_DEV_DIRTY
 * @epoch: of the session, in which it was sent
 * @msg: user message
 * @sgl: session->max_segments entries
 */
struct rnbd_client_io {
	blk_status_t status;
	int slot;
	bool borrowed;
	bool took_dirty;
	u32 epoch;
	struct rnbd_msg_io msg;
	struct scatterlist sgl[];
};

/* main.c */

/*
 * Maps a device: the one call behind sysfs and netlink. 0 and a reference to the
 * device in *@out. Killable. Uses the module from its start on, so that it cannot
 * be unloaded. Process context.
 */
int rnbd_client_map(const struct rnbd_client_map_args *args, struct netlink_ext_ack *extack,
		    struct rnbd_client_dev **out);

/* session.c; process context */

/* The session of args->name, made if need be, with one user more. Killable. */
struct rnbd_client_session *rnbd_client_session_join(const struct rnbd_client_map_args *args,
						     struct netlink_ext_ack *extack);

/* One user less; the last one closes the session before this returns. */
void rnbd_client_session_leave(struct rnbd_client_session *session);

/* Makes a session without a device; with a reference. -EEXIST. Killable. */
struct rnbd_client_session *rnbd_client_session_add(const struct rnbd_client_map_args *args,
						    struct netlink_ext_ack *extack);
/* The reply about a session; -ENODEV: it ends. */
int rnbd_client_session_fill(struct rnbd_client_session *session, struct sk_buff *msg);
/*
 * Ends it. -ENOENT, -EBUSY (devices are mapped), -EINVAL (it was made by a mapping). Killable, and
 * then goes on by itself.
 */
int rnbd_client_session_del(u32 id, const char *name, struct netlink_ext_ack *extack);
/* What its paths carry now. Under session->lock, or nobody has it yet. */
int rnbd_client_session_limits(struct rnbd_client_session *session,
			       struct netlink_ext_ack *extack);
void rnbd_client_session_get(struct rnbd_client_session *session);
void rnbd_client_session_put(struct rnbd_client_session *session);
int rnbd_client_session_init(void);
void rnbd_client_session_exit(void);

/* dev.c; process context */

/* A device in state INIT, in all lists; takes over the user of @session. */
struct rnbd_client_dev *rnbd_client_dev_create(struct rnbd_client_session *session,
					       const struct rnbd_client_map_args *args,
					       struct netlink_ext_ack *extack);
/* Opens it on the server. Killable. */
int rnbd_client_dev_open(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack);
/* INIT -> MAPPED; -ECONNABORTED where the session was lost since it was opened. */
int rnbd_client_dev_mapped(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack);
/* Lets go of a device that is mapped: from here on others may unmap it. */
int rnbd_client_dev_ready(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack);
/* For the mapping process, when something failed: any state -> UNMAPPED. */
void rnbd_client_dev_abort(struct rnbd_client_dev *dev);
/*
 * For an administrator: -> UNMAPPED, then rnbd_client_dev_unmap(), which takes @timeout_ms, 0 for
 * the default, where the server answers nothing. -EBUSY, -EALREADY.
 */
int rnbd_client_dev_claim(struct rnbd_client_dev *dev, bool force, unsigned int timeout_ms,
			  struct netlink_ext_ack *extack);
/*
 * Has a device taken down, by the one who made the edge to UNMAPPED. Returns when it is; killable:
 * it goes down nevertheless.
 */
int rnbd_client_dev_unmap(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack);
/* The session was lost. */
void rnbd_client_dev_lost(struct rnbd_client_session *session, int err);
/* Whether the edge was made. Under session->lock. */
bool rnbd_client_dev_move(struct rnbd_client_dev *dev, enum rnbd_client_dev_state state);
/* MAPPED -> DISCONNECTED, if it is MAPPED. It is not open any more. Under session->lock. */
void rnbd_client_dev_disconnect(struct rnbd_client_dev *dev, int err);
/* Under session->lock: @dev has got @id from the server in @epoch, nobody else has it any more. */
void rnbd_client_dev_take_id(struct rnbd_client_dev *dev, u32 id, u32 epoch);
/* The session was not lost since. */
bool rnbd_client_epoch_is(const struct rnbd_client_session *session, u32 epoch);
/* Says why an OPEN failed, and returns @err. */
int rnbd_client_dev_open_failed(const struct rnbd_client_dev *dev, int err,
				unsigned int timeout_ms, struct netlink_ext_ack *extack);

void rnbd_client_dev_get(struct rnbd_client_dev *dev);
void rnbd_client_dev_put(struct rnbd_client_dev *dev);

/* The one with the lowest id above @id, with a reference, or NULL. */
struct rnbd_client_dev *rnbd_client_dev_next(u32 id);
/* Under session->lock: requests are sent to @dev->device_id in @dev->epoch from now on. */
static inline void rnbd_client_dev_set_open(struct rnbd_client_dev *dev)
{
	smp_mb__before_atomic();	/* queue_rq() may run */
	set_bit(RNBD_CLIENT_DEV_OPEN, &dev->flags);
}

/* Work that I/O waits for, and that waits for no server. */
extern struct workqueue_struct *rnbd_client_wq;
/* Work that I/O waits for, and that asks a server. */
extern struct workqueue_struct *rnbd_client_recover_wq;
/* Work that waits for I/O of other disks, for their tags. */
extern struct workqueue_struct *rnbd_client_aside_wq;
extern struct workqueue_struct *rnbd_client_remove_wq;
int rnbd_client_dev_init(void);
void rnbd_client_dev_exit(void);

/* park.c; under session->lock where not said otherwise */

/* The device is there, and its I/O is to wait if the settings say so. */
void rnbd_client_park_allow(struct rnbd_client_dev *dev);
/* I/O fails from now on where there is no path. */
void rnbd_client_park_forbid(struct rnbd_client_dev *dev);
/* The session was lost: what is to wait begins to. */
void rnbd_client_park(struct rnbd_client_session *session);
/* It is open again. */
void rnbd_client_unpark(struct rnbd_client_dev *dev);
/* The settings have changed. Process context, no locks held. */
void rnbd_client_park_settings(struct rnbd_client_session *session);
void rnbd_client_park_expired(struct work_struct *work);
/*
 * From queue_rq(), session->lock not held: @rq waits until the device is open again. False:
 * nothing is set aside yet, or any more.
 */
bool rnbd_client_set_aside(struct request *rq);
/* The same: it waited, and is longer than the server takes now. Its bios are cut anew. */
void rnbd_client_resplit(struct request *rq);
void rnbd_client_aside_work(struct work_struct *work);
/* For the block layer, in jiffies. Any context. */
unsigned int rnbd_client_io_timeout(const struct rnbd_client_session *session);

/* recover.c. The session is back, its devices shall be: begins that. Process context. */
void rnbd_client_recover(struct rnbd_client_session *session);
void rnbd_client_recover_init(struct rnbd_client_session *session);
/* Behind rnbd_client_msg_session_stop(). Process context. */
void rnbd_client_recover_stop(struct rnbd_client_session *session);

/* remap.c */

/*
 * DISCONNECTED -> MAPPED, with all that the server tells of it now. Killable. -EALREADY: mapped,
 * -EBUSY: being mapped, -ENODEV: unmapped; -ESTALE where nobody asks for it, @by_itself: another
 * client may have written to it, or it is another disk. Process context.
 */
int rnbd_client_dev_remap(struct rnbd_client_dev *dev, unsigned int timeout_ms, bool by_itself,
			  struct netlink_ext_ack *extack);
/* Another size, in units of 512 bytes. -ENOENT: not mapped. Process context. */
int rnbd_client_dev_resize(struct rnbd_client_dev *dev, u64 sectors,
			   struct netlink_ext_ack *extack);
/* The same under session->lock. */
int rnbd_client_dev_set_size(struct rnbd_client_dev *dev, u64 sectors,
			     struct netlink_ext_ack *extack);
/*
 * Has the server, which tells this of @dev now, lost what it had acknowledged and not flushed?
 * Nothing is sent to it meanwhile. Under session->lock.
 */
bool rnbd_client_lost_writes(const struct rnbd_client_dev *dev,
			     const struct rnbd_device_info *now);
/* The server does not know it any more. Softirq or the process that polls. */
void rnbd_client_dev_gone(struct rnbd_client_dev *dev);
void rnbd_client_dev_gone_work(struct work_struct *work);

/* revalidate.c. _notice: softirq or the process that polls; _stale: the same under msg_lock */
void rnbd_client_notice(void *session, u32 what);
void rnbd_client_stale(struct rnbd_client_session *session, u32 device_id);
void rnbd_client_missed_notice(struct rnbd_client_dev *dev);	/* process context */
/* What the answer to an OPEN says of the right to write. Under session->lock. */
void rnbd_client_take_right(struct rnbd_client_dev *dev, const struct rnbd_device_info *info);
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
/* Shows it to the world, without partitions: rnbd_client_scan_begin(). */
int rnbd_client_disk_add(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack);
/* Takes over @info, and is open again, since @epoch. Under session->lock. */
int rnbd_client_disk_reopen(struct rnbd_client_dev *dev, const struct rnbd_device_info *info,
			    u32 epoch, struct netlink_ext_ack *extack);
void rnbd_client_disk_limits_work(struct work_struct *work);
/* Ends with all requests done. Idempotent. */
void rnbd_client_disk_remove(struct rnbd_client_dev *dev);

/* scan.c; process context */

/* Has the partition table read. The disk was added, and nobody may unmap it yet. */
void rnbd_client_scan_begin(struct rnbd_client_dev *dev);
/* For a moment, as long as it takes where a server answers. Killable. */
void rnbd_client_scan_wait(struct rnbd_client_dev *dev);
void rnbd_client_scan_work(struct work_struct *work);

/* queue.c */
extern const struct blk_mq_ops rnbd_client_mq_ops;

/* Sets up the requests of a session once its attributes are known. Process context. */
int rnbd_client_queue_init(struct rnbd_client_session *session, u32 depth, u32 spares);
void rnbd_client_queue_drop_work(struct work_struct *work);
void rnbd_client_queue_exit(struct rnbd_client_session *session);
/* Under session->lock, no request of this epoch is under way: there are @count slots. */
void rnbd_client_queue_shrink(struct rnbd_client_session *session, u32 count);

/* For each step of what an administrator asks for, where he does not say how long. */
static inline unsigned int rnbd_client_timeout_ms(const struct rnbd_client_session *session)
{
	return READ_ONCE(rtrs_client_settings(session->rtrs)->connect_ms);
}

/* msg.c; process context; killable, bounded by @timeout_ms */
int rnbd_client_msg_sess_info(struct rnbd_client_session *session, unsigned int timeout_ms);
/*
 * *@epoch: that of the session in which the server gave the id. @by_itself: nobody asks for it, so
 * it is to be what it was: else -ESTALE, where the server can tell.
 */
int rnbd_client_msg_open(struct rnbd_client_dev *dev, u8 access_mode, unsigned int timeout_ms,
			 bool by_itself, struct rnbd_device_info *info, u32 *epoch);
int rnbd_client_msg_close(struct rnbd_client_dev *dev, u32 device_id, u32 epoch);
/* The same, with a limit of its own. */
int rnbd_client_msg_close_within(struct rnbd_client_dev *dev, u32 device_id, u32 epoch,
				 unsigned int timeout_ms);
/* The text of an error that a message can end with, whatever it is about; true if it is one. */
bool rnbd_client_msg_failed(int err, unsigned int timeout_ms, struct netlink_ext_ack *extack);
void rnbd_client_msg_session_init(struct rnbd_client_session *session);
/* Before rtrs_client_close(): lets nobody send any more. */
void rnbd_client_msg_session_stop(struct rnbd_client_session *session);
int rnbd_client_msg_init(void);
void rnbd_client_msg_exit(void);

/* sysfs.c; process context */
int rnbd_client_sysfs_dev_add(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack);
void rnbd_client_sysfs_dev_remove(struct rnbd_client_dev *dev);
int rnbd_client_sysfs_init(void);
void rnbd_client_sysfs_exit(void);

/* nl.c */
u32 rnbd_client_nl_new_id(void);

/* The device was made, changed its state, went away. Any context but hard interrupts. */
void rnbd_client_nl_created(struct rnbd_client_dev *dev);
void rnbd_client_nl_changed(struct rnbd_client_dev *dev, enum rnbd_client_dev_state old);
void rnbd_client_nl_destroyed(struct rnbd_client_dev *dev);
int rnbd_client_nl_init(void);
void rnbd_client_nl_exit(void);

#endif /* RNBD_CLIENT_H */
