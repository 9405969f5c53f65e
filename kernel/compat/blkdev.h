/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RNBD_COMPAT_BLKDEV_H
#define RNBD_COMPAT_BLKDEV_H

#include <linux/backing-dev.h>
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/pagemap.h>

/**
 * struct rnbd_bdev - a block device that is open, and perhaps claimed
 * @bdev: device
 * @file: what newer kernels open
 * @mode: what older kernels want back at the close
 */
struct rnbd_bdev {
	struct block_device *bdev;
#ifdef RNBD_HAVE_BDEV_FILE
	struct file *file;
#else
	fmode_t mode;
#endif
};

#ifdef RNBD_HAVE_BDEV_FILE
/* With a @holder it is claimed: -EBUSY if somebody else has done so, and nobody else can then. */
static inline int rnbd_bdev_open(struct rnbd_bdev *b, dev_t dev, bool write, void *holder)
{
	b->file = bdev_file_open_by_dev(dev, BLK_OPEN_READ | (write ? BLK_OPEN_WRITE : 0), holder,
					NULL);
	if (IS_ERR(b->file))
		return PTR_ERR(b->file);
	b->bdev = file_bdev(b->file);
	return 0;
}

static inline void rnbd_bdev_close(struct rnbd_bdev *b)
{
	__fput_sync(b->file);	/* bdev_fput() of a kernel thread is put off */
}
#else
static inline int rnbd_bdev_open(struct rnbd_bdev *b, dev_t dev, bool write, void *holder)
{
	b->mode = FMODE_READ | (write ? FMODE_WRITE : 0) | (holder ? FMODE_EXCL : 0);
	b->bdev = blkdev_get_by_dev(dev, b->mode, holder);
	return PTR_ERR_OR_ZERO(b->bdev);
}

static inline void rnbd_bdev_close(struct rnbd_bdev *b)
{
	blkdev_put(b->bdev, b->mode);
}
#endif

/* A queue without a disk, for blk_mq_destroy_queue() and blk_put_queue(), or an ERR_PTR() */
static inline struct request_queue *rnbd_queue_alloc(struct blk_mq_tag_set *set)
{
#ifdef RNBD_HAVE_QUEUE_FEATURES
	return blk_mq_alloc_queue(set, NULL, NULL);
#else
	return blk_mq_init_queue(set);
#endif
}

/* How a disk is opened and closed */

#ifndef RNBD_HAVE_BLK_MODE
#define blk_mode_t	fmode_t
#define BLK_OPEN_WRITE	FMODE_WRITE
#endif

/* Makes NAME_open() and NAME_close(), as newer kernels call them, fit for disk operations. */
#ifdef RNBD_HAVE_BLK_MODE
#define RNBD_DISK_OPS(name)						\
	.open = name##_open,						\
	.release = name##_close
#define RNBD_DISK_OPS_DEFINE(name)
#else
#define RNBD_DISK_OPS(name)						\
	.open = name##_open_bdev,					\
	.release = name##_close_mode
#define RNBD_DISK_OPS_DEFINE(name)					\
static int name##_open_bdev(struct block_device *bdev, fmode_t mode)	\
{									\
	return name##_open(bdev->bd_disk, mode);			\
}									\
static void name##_close_mode(struct gendisk *disk, fmode_t mode)	\
{									\
	name##_close(disk);						\
}
#endif

/* What a disk can do */

/**
 * struct rnbd_disk_limits - limits of a disk, for its making and for changes
 * @logical_block: bytes
 * @physical_block: bytes
 * @io_min: bytes, at least @physical_block
 * @io_opt: bytes, 0 where nothing is known
 * @max_bytes: of a request
 * @max_segments: of a request
 * @virt_boundary: mask
 * @discard_sectors: of a request, 0 for none
 * @discard_granularity: bytes
 * @discard_alignment: bytes
 * @secure_erase_sectors: of a request, 0 for none
 * @write_zeroes_sectors: of a request, 0 for none
 * @write_cache: it has to be flushed
 * @fua: it takes FUA writes
 */
struct rnbd_disk_limits {
	unsigned int logical_block;
	unsigned int physical_block;
	unsigned int io_min;
	unsigned int io_opt;
	unsigned int max_bytes;
	unsigned int max_segments;
	unsigned long virt_boundary;
	unsigned int discard_sectors;
	unsigned int discard_granularity;
	unsigned int discard_alignment;
	unsigned int secure_erase_sectors;
	unsigned int write_zeroes_sectors;
	bool write_cache;
	bool fua;
};

#ifdef RNBD_HAVE_QUEUE_FEATURES
static inline void rnbd_limits_fill(struct queue_limits *lim, const struct rnbd_disk_limits *l)
{
	lim->logical_block_size = l->logical_block;
	lim->physical_block_size = l->physical_block;
	lim->io_min = l->io_min;
	lim->io_opt = l->io_opt;
	lim->max_hw_sectors = l->max_bytes >> SECTOR_SHIFT;
	lim->max_segments = l->max_segments;
	lim->max_segment_size = UINT_MAX;
	lim->virt_boundary_mask = l->virt_boundary;
	lim->max_hw_discard_sectors = l->discard_sectors;
	lim->max_discard_segments = 1;
	lim->discard_granularity = l->discard_granularity;
	lim->discard_alignment = l->discard_alignment;
	lim->max_secure_erase_sectors = l->secure_erase_sectors;
	lim->max_write_zeroes_sectors = l->write_zeroes_sectors;
	lim->features &= ~(BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA);
	if (l->write_cache)
		lim->features |= BLK_FEAT_WRITE_CACHE;
	if (l->fua)
		lim->features |= BLK_FEAT_FUA;
}

static inline struct gendisk *rnbd_disk_alloc(struct blk_mq_tag_set *set,
					      const struct rnbd_disk_limits *l, void *queuedata)
{
	struct queue_limits lim = {};

	rnbd_limits_fill(&lim, l);
	return blk_mq_alloc_disk(set, &lim, queuedata);
}

static inline void rnbd_disk_limits_start(struct gendisk *disk, struct queue_limits *lim)
{
	*lim = queue_limits_start_update(disk->queue);
}

/*
 * As rnbd_disk_limits_start(), but false where somebody else is about to change the limits. Who
 * writes to a file below queue/ holds limits_lock while he waits for requests, and the requests may
 * wait for our caller. There is no queue_limits_start_update() that does not wait, so the lock is
 * tried here; queue_limits_commit_update() and _cancel_update() unlock it.
 */
static inline bool rnbd_disk_limits_trystart(struct gendisk *disk, struct queue_limits *lim)
{
	if (!mutex_trylock(&disk->queue->limits_lock))
		return false;
	*lim = disk->queue->limits;
	return true;
}

static inline int rnbd_disk_limits_commit(struct gendisk *disk, struct queue_limits *lim,
					  const struct rnbd_disk_limits *l)
{
	rnbd_limits_fill(lim, l);
	return queue_limits_commit_update(disk->queue, lim);
}

static inline void rnbd_disk_limits_cancel(struct gendisk *disk)
{
	queue_limits_cancel_update(disk->queue);
}
#else
/**
 * struct rnbd_limits_old - what a disk had before its limits are set anew
 * @lim: limits of its queue
 * @ra_pages: read-ahead
 * @write_through: the administrator has switched its write cache off
 */
struct rnbd_limits_old {
	struct queue_limits lim;
	unsigned long ra_pages;
	bool write_through;
};

static inline unsigned long rnbd_ra_default(const struct queue_limits *lim)
{
	return max_t(unsigned long, lim->io_opt * 2 / PAGE_SIZE, VM_READAHEAD_PAGES);
}

/*
 * Restores what the administrator wrote to the files below queue/. Newer kernels keep that apart
 * from the limits of the driver. Here the calls that set limits overwrite it, and read-ahead and
 * io_pages are kept in disk->bdi alone: what is not the default was written by him.
 */
static inline void rnbd_limits_keep(struct gendisk *disk, const struct rnbd_limits_old *was)
{
	const struct queue_limits *old = &was->lim;
	struct queue_limits *lim = &disk->queue->limits;
	unsigned int max_default = min_t(unsigned int, old->max_hw_sectors, BLK_DEF_MAX_SECTORS);

	if (old->max_sectors != max_default) {
		lim->max_sectors = round_down(min(old->max_sectors, lim->max_hw_sectors),
					      lim->logical_block_size >> SECTOR_SHIFT);
		disk->bdi->io_pages = lim->max_sectors >> (PAGE_SHIFT - SECTOR_SHIFT);
	}
	if (old->max_discard_sectors < old->max_hw_discard_sectors)
		lim->max_discard_sectors = min(old->max_discard_sectors,
					       lim->max_hw_discard_sectors);
	if (was->ra_pages != rnbd_ra_default(old))
		disk->bdi->ra_pages = was->ra_pages;
	if (was->write_through)
		blk_queue_flag_clear(QUEUE_FLAG_WC, disk->queue);
}

static inline void rnbd_limits_apply(struct gendisk *disk, const struct rnbd_disk_limits *l)
{
	struct request_queue *q = disk->queue;

	blk_queue_logical_block_size(q, l->logical_block);
	blk_queue_physical_block_size(q, l->physical_block);
	blk_queue_io_min(q, l->io_min);
	blk_queue_io_opt(q, l->io_opt);
	blk_queue_max_hw_sectors(q, l->max_bytes >> SECTOR_SHIFT);
	blk_queue_max_segments(q, l->max_segments);
	blk_queue_virt_boundary(q, l->virt_boundary);
	blk_queue_max_discard_sectors(q, l->discard_sectors);
	blk_queue_max_discard_segments(q, 1);
	q->limits.discard_granularity = l->discard_granularity;
	q->limits.discard_alignment = l->discard_alignment;
	blk_queue_max_secure_erase_sectors(q, l->secure_erase_sectors);
	blk_queue_max_write_zeroes_sectors(q, l->write_zeroes_sectors);
	blk_queue_write_cache(q, l->write_cache, l->fua);
}

static inline struct gendisk *rnbd_disk_alloc(struct blk_mq_tag_set *set,
					      const struct rnbd_disk_limits *l, void *queuedata)
{
	struct gendisk *disk = blk_mq_alloc_disk(set, queuedata);

	if (!IS_ERR(disk)) {
		rnbd_limits_apply(disk, l);
		blk_queue_flag_set(QUEUE_FLAG_NONROT, disk->queue);
	}
	return disk;
}

static inline void rnbd_disk_limits_start(struct gendisk *disk, struct queue_limits *lim)
{
}

static inline bool rnbd_disk_limits_trystart(struct gendisk *disk, struct queue_limits *lim)
{
	return true;
}

static inline int rnbd_disk_limits_commit(struct gendisk *disk, struct queue_limits *lim,
					  const struct rnbd_disk_limits *l)
{
	struct rnbd_limits_old was = {
		.lim = disk->queue->limits,
		.ra_pages = disk->bdi->ra_pages,
		/* Our disks always begin with one. */
		.write_through = !test_bit(QUEUE_FLAG_WC, &disk->queue->queue_flags),
	};

	rnbd_limits_apply(disk, l);
	rnbd_limits_keep(disk, &was);
	return 0;
}

static inline void rnbd_disk_limits_cancel(struct gendisk *disk)
{
}
#endif

/*
 * Limits of a disk in use change from rnbd_disk_limits_start() to _commit() or _cancel(). The
 * queue is frozen in between, for the commit: the lock of the limits is taken outside of that.
 */

#endif /* RNBD_COMPAT_BLKDEV_H */
