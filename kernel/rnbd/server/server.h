/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rnbd-server: sessions of clients, the block devices that they opened, and
 * the I/O on them.
 *
 * Locks, outer before inner:
 *	writer->lock		who gets the right to write to a disk (writers.h)
 *	rnbd_server_access_lock	who may do what (access.h)
 *	session->lock		devices of one session
 *	exports_lock (export.c)	exports, their writers, all opened devices
 */
#ifndef RNBD_SERVER_H
#define RNBD_SERVER_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/percpu-refcount.h>
#include <linux/sysfs.h>
#include <linux/kobject.h>
#include <linux/uuid.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <compat/blkdev.h>
#include <rnbd/proto.h>
#include <rtrs/server.h>
#include <uapi/linux/rnbd.h>

struct rnbd_server_export;
struct rnbd_server_right;
struct rnbd_server_writer;

/**
 * struct rnbd_server_session - a client's session
 * @transport: below it
 * @ids: devices by the id that the client uses; read under RCU. The id of a device that the
 *	administrator closed stays taken until the client closes it, too
 * @version: protocol, 0 before SESS_INFO
 * @minor: that both ends speak, the same
 * @id: in netlink
 * @entry: in the list of all sessions; this and the next two: access.h
 * @peer: of the access list; empty without one
 * @next_peer: of the list that is about to be in force
 * @client: who it is, the same over all sessions that its paths make
 * @name: of the session; belongs to the transport
 * @ref: held by the transport until the session is down, and by each device until it is released
 * @lock: protects @devs, @draining, @opening, @lost and what is in @ids; not held while anything is
 *	opened
 * @devs: of struct rnbd_server_dev
 * @draining: of struct rnbd_server_dev: closed, not released yet
 * @opening: of struct rnbd_server_ctl: an OPEN that is not answered yet; those of a path in the
 *	order in which they came
 * @next_id: where the search for the next free id begins
 * @lost: no message comes any more, and nothing is opened
 * @dev_count: of @devs and @draining; changes under @lock, before a CLOSE is answered
 * @wq: where OPEN and CLOSE begin, in their order
 * @open_wq: where disks are opened: one that hangs holds up no other
 */
struct rnbd_server_session {
	struct kref ref;
	struct rtrs_server_session *transport;
	struct xarray ids;
	u8 version;
	u8 minor;
	u32 id;
	struct list_head entry;
	char peer[RTRS_SERVER_PEER_LEN];
	char next_peer[RTRS_SERVER_PEER_LEN];
	uuid_t client;
	const char *name;
	struct mutex lock; /* see above */
	struct list_head devs;
	struct list_head draining;
	struct list_head opening;
	bool lost;
	u32 next_id;
	unsigned int dev_count;
	struct workqueue_struct *wq;
	struct workqueue_struct *open_wq;
};

#define RNBD_SERVER_OPENS	4	/* of a session at once: our client sends as many */

/**
 * struct rnbd_server_closer - a CLOSE that waits until its device is released
 * @entry: in dev->closers
 * @op: to be answered then
 */
struct rnbd_server_closer {
	struct list_head entry;
	struct rtrs_server_op *op;
};

/**
 * struct rnbd_server_wait - an OPEN that waits for others to close the disk
 * @work: tries again
 * @wq: its queue
 * @session: of the OPEN
 * @from: addresses of the path that it came over
 * @key: of the disk
 * @io_mode: that it wants
 * @reason: why the last try was refused, where the list did that
 * @busy: the last try found one who is not through with the close
 * @entry: in the list of those who wait, until he is; exports_lock
 */
struct rnbd_server_wait {
	struct delayed_work work;
	struct workqueue_struct *wq;
	struct rnbd_server_session *session;
	const struct rtrs_path_addr *from;
	const void *key;
	u8 io_mode;
	u8 reason;
	bool busy;
	struct list_head entry;
};

#define RNBD_SERVER_WORKERS	4	/* of a disk, that submit, and that close it */

/**
 * struct rnbd_server_identity - which disk it is
 * @hash: of what names it for ever
 * @weak: that is only the name that it has now
 * @diskseq: its number since the boot
 */
struct rnbd_server_identity {
	u8 hash[RNBD_IDENTITY_LEN];
	bool weak;
	u32 diskseq;
};

/**
 * struct rnbd_server_late - requests that a worker submits, as that may wait
 * @list: of struct rnbd_server_io, the last one first
 * @work: submits them, in their order
 */
struct rnbd_server_late {
	struct llist_head list;
	struct work_struct work;
};

#define RNBD_SERVER_FILE_WORKERS 64	/* of a file, as each waits for its I/O */

/**
 * struct rnbd_server_dev - a block device, or a file, as one session opened it
 * @ref: held by the opening itself until all is released, and by those who wait for that
 * @inflight: I/O; killed at the close, the last one queues @close_work
 * @bdev: device, NULL for a regular file
 * @file: what I/O goes to as file; NULL: bios go to @bdev
 * @read_only: the client may not write
 * @io_mode: RNBD_IO_*, not RNBD_IO_ANY; with RNBD_IO_FILE, or without @bdev, there is a @file
 * @no_discard: the file system of @file has refused one
 * @block: bytes of a logical block of @file
 * @backlog: reads and writes that the device had no room for, and all behind them
 * @backlogged: how many of them are not submitted yet
 * @flushes: and writes behind a flush
 * @discards: and their like
 * @max_discard: sectors that the client was told to be the most, never less than before
 * @max_zeroes: the same
 * @session: owner; outlives the device
 * @id: in messages
 * @nl_id: in netlink
 * @access_mode: as asked for; migration becomes rw when the other end is gone, or if it is asked
 *	for and there is none, under exports_lock
 * @tell_writers: the client wants to know what follows
 * @start: of the record of the disk
 * @writers: what writers.c has counted, 0 for none
 * @identity: which disk it is
 * @beside: another client could write, too, when it got the right
 * @writer: what is known of those who wrote to it; NULL where the client does not write
 * @told_sectors: size that the client was told last; written under session->lock
 * @answers: how often it was told; the same
 * @since_ns: CLOCK_REALTIME at which it was opened
 * @path: as asked for
 * @from: addresses of the path over which it was
 * @access_number: of what has let it in, before it is published
 * @where: that leads to
 * @by: export of the list, empty without one; exports_lock
 * @peer: of the session, the same
 * @handle: of the opened block device
 * @export: of the block device
 * @export_entry: in its openings
 * @session_entry: in session->devs, from the close on in session->draining
 * @closing: the close has begun; session->lock
 * @closers: of struct rnbd_server_closer; session->lock
 * @entry: in the list of all opened devices, ascending @nl_id
 * @dir: in sysfs
 * @attr: files of @dir; sysfs owns nothing here, and is done with it when @dir is deleted
 * @force_work: begins the close for the administrator
 * @close_work: closes the block device
 * @release_work: releases everything else
 * @released: the block device is closed, whoever comes may open it
 */
struct rnbd_server_dev {
	struct kref ref;
	struct percpu_ref inflight;
	struct block_device *bdev;
	struct file *file;
	bool read_only;
	u8 io_mode;
	bool no_discard;
	u32 block;
	struct rnbd_server_late backlog;
	atomic_t backlogged;
	struct rnbd_server_late flushes;
	struct rnbd_server_late discards;
	u32 max_discard;
	u32 max_zeroes;
	struct rnbd_server_session *session;
	u32 id;
	u32 nl_id;
	u8 access_mode;
	bool tell_writers;
	u32 start;
	u32 writers;
	struct rnbd_server_identity identity;
	bool beside;
	struct rnbd_server_writer *writer;
	u64 told_sectors;
	u32 answers;
	u64 since_ns;
	char path[RNBD_PATH_LEN];
	struct rtrs_path_addr from;
	u32 access_number;
	char *where;
	char by[RNBD_PATH_LEN];
	char peer[RTRS_SERVER_PEER_LEN];
	struct rnbd_bdev handle;
	struct rnbd_server_export *export;
	struct list_head export_entry;
	struct list_head session_entry;
	bool closing;
	struct list_head closers;
	struct list_head entry;
	struct kobject *dir;
	struct kobj_attribute attr[4];
	struct work_struct force_work;
	struct work_struct close_work;
	struct work_struct release_work;
	struct completion released;
};

/**
 * struct rnbd_server_export - a block device or file that at least one session has open
 * @key: the block device, or the inode of the file
 * @io_mode: of all openings, by the first one
 * @openings: devices that refer to it
 * @writers: those of them that may write
 * @entry: in the list of exports
 * @dir: in sysfs, devices/<name>
 * @sessions: in sysfs, devices/<name>/sessions
 * @revalidate: file of @dir
 * @path: the same, of a regular file
 * @file_path: what it says, else NULL
 * @stale: its clients are to be told of a new size
 * @submit_wq: of the late requests of its openings: a disk that takes none holds up no other
 * @close_wq: where they are closed, for the same reason
 */
struct rnbd_server_export {
	const void *key;
	u8 io_mode;
	struct list_head openings;
	unsigned int writers;
	struct list_head entry;
	struct kobject *dir;
	struct kobject *sessions;
	struct kobj_attribute revalidate;
	struct kobj_attribute path;
	char *file_path;
	bool stale;
	struct workqueue_struct *submit_wq;
	struct workqueue_struct *close_wq;
};

/* shared.c */
extern struct rtrs_server *rnbd_server_transport;
extern char rnbd_server_search_path[];
extern unsigned int rnbd_server_max_devices;
extern bool rnbd_server_share_local;

/* identity.c; process context */
int rnbd_server_identify(const struct rnbd_server_dev *dev, struct rnbd_server_identity *id);
u32 rnbd_server_boot(void);	/* 0: not known */

/*
 * writers.c; process context. From begin to end nobody else gets the right to write to the disk;
 * -ESTALE: it is not what is claimed. Enter gives it to the client of @dev, which must be alone or
 * may be let in, and notes that; undo takes that back, where the client has not been told.
 */
int rnbd_server_writers_begin(struct rnbd_server_dev *dev, const struct rnbd_claim *claim);
int rnbd_server_writers_enter(struct rnbd_server_dev *dev);
void rnbd_server_writers_undo(struct rnbd_server_dev *dev);
void rnbd_server_writers_end(struct rnbd_server_dev *dev);

/* writer-table.c */
void rnbd_server_writers_exit(void);

/* record.c */
int rnbd_server_record_init(void);

/* session.c: callbacks of the transport; process context */
int rnbd_server_session_init(void);
void rnbd_server_session_exit(void);
int rnbd_server_session_up(struct rtrs_server_session *transport, const char *name, void **priv);
void rnbd_server_session_down(void *priv);
void rnbd_server_session_put(struct rnbd_server_session *session);
u32 rnbd_server_session_opens(void *priv);

/* msg.c: completion context of the transport (process) */
int rnbd_server_msg_init(void);
void rnbd_server_msg_exit(void);
void rnbd_server_msg_request(void *priv, const struct rtrs_server_request *req);

/* objects.c; process context */
extern struct workqueue_struct *rnbd_server_release_wq;
int rnbd_server_dev_init(void);
void rnbd_server_dev_exit(void);
struct rnbd_server_dev *rnbd_server_dev_alloc(void);	/* NULL: no memory */
void rnbd_server_dev_put(struct rnbd_server_dev *dev);
/*
 * For the administrator: begins the close, where nobody has yet, and takes no lock. The caller
 * keeps release_all() from its end: by the lock of the exports, or as a user of dev->dir.
 */
void rnbd_server_dev_force(struct rnbd_server_dev *dev);
const char *rnbd_server_access_name(u8 access_mode);

/* dev.c; process context */
/*
 * -EBUSY and -EALREADY may pass in a moment, see rnbd_server_export_add(), as for -EMEDIUMTYPE;
 * -ETXTBSY is that of rnbd_server_lookup()
 */
int rnbd_server_dev_open(struct rnbd_server_session *session, const struct rnbd_open *open,
			 struct rnbd_device_info *info, struct rnbd_server_wait *wait);
/* False: no such device. Else @closer is answered and freed when the device is released. */
bool rnbd_server_dev_close_id(struct rnbd_server_session *session, u32 id,
			      struct rnbd_server_closer *closer);
/* Of the transport: the session is lost. */
void rnbd_server_dev_session_lost(void *priv);
/* As rnbd_server_dev_force(), at once: it takes no I/O any more. Under session->lock. */
void rnbd_server_dev_revoke(struct rnbd_server_dev *dev);

/*
 * lookup.c; process context of a kernel thread. Opens what the client named; -EXDEV: outside of the
 * search path; -ETXTBSY: to be written to, and this host uses it
 */
int rnbd_server_lookup(struct rnbd_server_dev *dev, struct rnbd_server_right *right);
/*
 * Opens what was found, in dev->io_mode; RNBD_IO_ANY becomes that of the others who have it open,
 * else blockio. @files: a regular file will do, as the administrator has named it.
 */
int rnbd_server_open_path(struct rnbd_server_dev *dev, const struct path *path, bool files);
void rnbd_server_close(struct rnbd_server_dev *dev);

static inline u64 rnbd_server_sectors(const struct rnbd_server_dev *dev)
{
	if (likely(dev->bdev))
		return bdev_nr_sectors(dev->bdev);
	return round_down(i_size_read(file_inode(dev->file)), dev->block) >> SECTOR_SHIFT;
}

/* What is the same in all openings of a disk, and in no other. */
static inline const void *rnbd_server_key(const struct rnbd_server_dev *dev)
{
	return dev->bdev ? (const void *)dev->bdev : file_inode(dev->file);
}

/* Number of the block device, or of the file system. */
static inline dev_t rnbd_server_devt(const struct rnbd_server_dev *dev)
{
	return dev->bdev ? dev->bdev->bd_dev : file_inode(dev->file)->i_sb->s_dev;
}

/*
 * access.c; process context. Under the lock nothing changes. Callbacks of the transport, then
 * those of sessions, then of an OPEN.
 */
extern struct mutex rnbd_server_access_lock;
void rnbd_server_access_exit(void);
int rnbd_server_access_admit(const struct rtrs_server_guest *guest);
void rnbd_server_access_name_taken(const struct rtrs_server_guest *guest);
int rnbd_server_access_path_up(void *priv, const struct rtrs_server_guest *guest);
int rnbd_server_access_grown(void *priv);
void rnbd_server_access_peer_name(u32 session_id, char *name);
void rnbd_server_access_add(struct rnbd_server_session *session);
void rnbd_server_access_del(struct rnbd_server_session *session);
/* Under the lock, before it is published: it still may be, and there is room for it */
int rnbd_server_access_confirm(struct rnbd_server_dev *dev, u8 *reason);
void rnbd_server_access_denied(const struct rnbd_server_wait *wait, const struct rnbd_open *open,
			       int err);

/* export.c; process context */
int rnbd_server_export_init(void);
void rnbd_server_export_exit(void);
/* What all have it open with, or RNBD_IO_ANY where nobody has */
u8 rnbd_server_export_io_mode(const void *key);
/* What rnbd_server_export_add() would say; where that is nothing dev->beside is set */
int rnbd_server_export_check(struct rnbd_server_dev *dev, struct rnbd_server_wait *wait);
/* It may write, and nobody else may write to the export */
bool rnbd_server_export_alone(const struct rnbd_server_dev *dev);
/* The same of one that came for a migration, which it has no need of then. Under session->lock */
bool rnbd_server_export_become_rw(struct rnbd_server_dev *dev);
/*
 * dev->export, the right to write, sysfs, and dev->nl_id; -EPERM if there are too many writers,
 * -EBUSY where one of those, or this client, has closed it, but is not through; -EALREADY where
 * this client has lost the session that has it: @wait is in the list then. -EMEDIUMTYPE: it is
 * open in the other I/O mode
 */
int rnbd_server_export_add(struct rnbd_server_dev *dev, struct rnbd_server_wait *wait);
/* Its work runs at @until, or when the one that it waits for is through, which may have been */
void rnbd_server_export_wait(struct rnbd_server_wait *wait, unsigned long until);
/* It waits no more. False: and what it waited for is still there */
bool rnbd_server_export_wait_end(struct rnbd_server_wait *wait);
/* By which export, and as which peer, it is open now */
void rnbd_server_export_name(struct rnbd_server_dev *dev, const char *peer, const char *by);
/* Out of rnbd_server_export_walk(): the block device may be closed then */
void rnbd_server_export_hide(struct rnbd_server_dev *dev);
/* Gives the right to write back, completes dev->released, removes it from sysfs: in one */
void rnbd_server_export_remove(struct rnbd_server_dev *dev);
/* Begins the close of the one with this netlink id and waits for all of its end. -ENOENT, -EINTR */
int rnbd_server_export_force(u32 nl_id);
/* The one with this netlink id, with a reference, after @fn was called on it; or NULL. */
struct rnbd_server_dev *rnbd_server_export_find(u32 nl_id,
						void (*fn)(struct rnbd_server_dev *dev, void *arg),
						void *arg);
/* Tells the clients of @export to ask for its size, a moment later. Takes no lock. */
void rnbd_server_export_stale(struct rnbd_server_export *export);
/*
 * Calls @fn for each opened device with a netlink id above @after, ascending, until it returns
 * other than 0; returns that. Under the lock: @fn must not open or close.
 */
int rnbd_server_export_walk(u32 after, int (*fn)(const struct rnbd_server_dev *dev, void *arg),
			    void *arg);

/*
 * revalidate.c; process context. Tells the client of the opening with this netlink id to ask
 * for its size, and waits until it has, has not in time, or was closed. -ENOENT, -EINTR.
 */
int rnbd_server_revalidate(u32 nl_id, unsigned int timeout_ms, enum rnbd_reach *reach);

/* size.c; process context */
/* Tells the client of the opening to ask; -EOPNOTSUPP where it cannot be. Under exports_lock. */
int rnbd_server_tell_size(struct rnbd_server_dev *dev);
/* The client has been told @sectors. Under session->lock. */
void rnbd_server_size_told(struct rnbd_server_dev *dev, u64 sectors);
/* Those who wait for the client look whether the device is closed. */
void rnbd_server_size_closed(void);
/*
 * Waits until dev->answers is not @answers any more, or the device is closed. Returns the time that
 * is left, 0 if it is over, an errno if the task was killed.
 */
long rnbd_server_size_await(const struct rnbd_server_dev *dev, u32 answers, long timeout);

/* io-file.c; process context of a kernel thread */
int rnbd_server_file_open(struct rnbd_server_dev *dev, const struct path *path);
void rnbd_server_file_begin(struct rnbd_server_dev *dev);	/* nobody uses bios */
void rnbd_server_file_info(const struct rnbd_server_dev *dev, struct rnbd_device_info *info);

/* io.c, io-bdev.c: completion context of the transport (process); ends in any context */
int rnbd_server_io_init(void);
void rnbd_server_io_exit(void);
void rnbd_server_io_dev_init(struct rnbd_server_dev *dev);
void rnbd_server_io_dev_exit(struct rnbd_server_dev *dev);	/* all of its I/O has ended */
void rnbd_server_io_request(struct rnbd_server_session *session,
			    const struct rtrs_server_request *req);

/* sysfs.c */
int rnbd_server_sysfs_init(void);
void rnbd_server_sysfs_exit(void);

/* nl.c */
int rnbd_server_nl_init(void);
void rnbd_server_nl_exit(void);

#endif /* RNBD_SERVER_H */
