// SPDX-License-Identifier: GPL-2.0
/* The disk of a mapped device: its limits, its openers, its creation and removal. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/hdreg.h>
#include <linux/module.h>
#include <compat/blkdev.h>
#include "client.h"

#define GEO_HEADS	4
#define GEO_SECTORS	16
#define FREEZE_MS	5000	/* for requests of a device that the server has closed */

/*
 * The block layer keeps the module (.owner) from before disk_open() until after disk_close(), and
 * each opener keeps the device. The disk itself does not: its last reference may be dropped when
 * nothing keeps the module any more, so there is no .free_disk. Once del_gendisk() has returned,
 * disk_open() is not called any more.
 */
static int disk_open(struct gendisk *disk, blk_mode_t mode)
{
	struct rnbd_client_dev *dev = disk->private_data;
	int err = 0;

	mutex_lock(&dev->session->lock);
	if (dev->state == RNBD_CLIENT_DEV_UNMAPPED)
		err = -EIO;
	else if (mode & BLK_OPEN_WRITE && dev->access_mode == RNBD_CLIENT_ACCESS_RO)
		err = -EPERM;
	else
		dev->openers++;
	mutex_unlock(&dev->session->lock);
	if (!err)
		rnbd_client_dev_get(dev);
	return err;
}

static void disk_close(struct gendisk *disk)
{
	struct rnbd_client_dev *dev = disk->private_data;

	mutex_lock(&dev->session->lock);
	dev->openers--;
	mutex_unlock(&dev->session->lock);
	rnbd_client_dev_put(dev);
}

/* In sectors of 512 bytes, the unit of the block layer, whatever the block size. */
static int disk_getgeo(struct block_device *bdev, struct hd_geometry *geo)
{
	sector_t cylinders = get_capacity(bdev->bd_disk);

	sector_div(cylinders, GEO_HEADS * GEO_SECTORS);
	geo->heads = GEO_HEADS;
	geo->sectors = GEO_SECTORS;
	geo->cylinders = min_t(sector_t, cylinders, U16_MAX);
	return 0;
}

RNBD_DISK_OPS_DEFINE(disk)

static const struct block_device_operations disk_ops = {
	.owner		= THIS_MODULE,
	RNBD_DISK_OPS(disk),
	.getgeo		= disk_getgeo,
};

/*
 * The protocol has 32 bits for the bytes of a request. The limit is a multiple of the block
 * size, as the block layer cuts requests to it.
 */
static unsigned int clamp_sectors(const struct rnbd_device_info *info, u32 sectors)
{
	return round_down(min_t(u32, sectors, UINT_MAX >> SECTOR_SHIFT),
			  info->logical_block_size >> SECTOR_SHIFT);
}

/*
 * The server submits the one buffer of a request: the segment limit of its device does not matter,
 * the byte limit does.
 */
static unsigned int request_bytes(const struct rnbd_client_session *session,
				  const struct rnbd_device_info *info)
{
	u32 sectors = min_not_zero(session->max_bytes >> SECTOR_SHIFT, info->max_hw_sectors);

	sectors = round_down(sectors, info->logical_block_size >> SECTOR_SHIFT);
	return max_t(u32, sectors << SECTOR_SHIFT, PAGE_SIZE);
}

static struct rnbd_disk_limits limits_from_info(const struct rnbd_client_session *session,
						const struct rnbd_device_info *info)
{
	struct rnbd_disk_limits l = {
		.logical_block = info->logical_block_size,
		.physical_block = info->physical_block_size,
		.io_min = max(info->io_min, info->physical_block_size),
		/*
		 * File systems and partitions are aligned to it: the value of the server's device,
		 * not the size of a request.
		 */
		.io_opt = info->io_opt,
		.max_bytes = request_bytes(session, info),
		.max_segments = session->max_segments,
		/* A memory region is made of pages: only the first and the last may be partial. */
		.virt_boundary = RNBD_CLIENT_PAGE_BYTES - 1,
		.discard_sectors = clamp_sectors(info, info->max_discard_sectors),
		.write_zeroes_sectors = clamp_sectors(info, info->max_write_zeroes_sectors),
		/*
		 * The cache of the server's disk may be switched while it is open, and the server
		 * does not tell. So flushes are always sent; the server drops needless ones.
		 */
		.write_cache = true,
		/* A server of ours emulates FUA where its disk has none. */
		.fua = info->fua || info->more,
	};

	if (l.discard_sectors) {
		/* The block layer rounds UINT_MAX bytes down to it; the result must not be 0. */
		l.discard_granularity = clamp_t(u32, info->discard_granularity,
						info->logical_block_size, SZ_1G);
		l.discard_alignment = info->discard_alignment;
	}
	if (info->secure_erase)
		l.secure_erase_sectors = l.discard_sectors;
	return l;
}

static int check_block_size(const struct rnbd_device_info *info, struct netlink_ext_ack *extack)
{
	if (info->logical_block_size <= PAGE_SIZE)
		return 0;
	return rtrs_fail(extack, -EINVAL, "blocks of %u bytes are larger than a page",
			 info->logical_block_size);
}

int rnbd_client_disk_create(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack)
{
	struct rnbd_disk_limits limits;
	struct gendisk *disk;
	int err;

	err = check_block_size(&dev->info, extack);
	if (err)
		return err;
	limits = limits_from_info(dev->session, &dev->info);
	disk = rnbd_disk_alloc(&dev->session->tags, &limits, dev);
	if (IS_ERR(disk))
		return rtrs_fail(extack, PTR_ERR(disk), "no memory for the disk");
	dev->disk = disk;
	blk_queue_rq_timeout(disk->queue, rnbd_client_io_timeout(dev->session));
	/*
	 * Without a major number of its own it gets one of the block layer's, as NVMe has it: LVM
	 * takes only those that it knows.
	 */
	disk->fops = &disk_ops;
	disk->private_data = dev;
	strscpy(disk->disk_name, dev->name, sizeof(disk->disk_name));
	set_capacity(disk, dev->info.nsectors);
	set_disk_ro(disk, dev->access_mode == RNBD_CLIENT_ACCESS_RO);
	return 0;
}

/* Freezes the queue. Polls: the owner of a polled request may not. */
static int freeze_queue(const struct rnbd_client_session *session, struct request_queue *q)
{
	unsigned long until = jiffies + msecs_to_jiffies(FREEZE_MS);
	unsigned int i;

	blk_freeze_queue_start(q);
	while (!blk_mq_freeze_queue_wait_timeout(q, HZ / 10)) {
		if (time_after(jiffies, until)) {
			blk_mq_unfreeze_queue(q);
			return -ETIMEDOUT;
		}
		for (i = 0; i < session->poll_cons; i++)
			rtrs_client_poll(session->rtrs, session->io_cons + i);
	}
	return 0;
}

/*
 * A writer to a file below queue/ holds the lock of the limits while it waits for requests. If the
 * session was lost, the requests may wait for our caller: then the lock is tried once. Else it is
 * tried for as long as a freeze may take.
 */
static int begin_limits_update(struct rnbd_client_dev *dev, bool lost, struct queue_limits *update)
{
	unsigned long until = jiffies + msecs_to_jiffies(FREEZE_MS);
	int err;

	while (!rnbd_disk_limits_trystart(dev->disk, update)) {
		if (lost || time_after(jiffies, until))
			return -ETIMEDOUT;
		msleep(20);
	}
	err = lost ? 0 : freeze_queue(dev->session, dev->disk->queue);
	if (err)
		rnbd_disk_limits_cancel(dev->disk);
	return err;
}

/* If the server has lost writes that it had acknowledged, the next flush fails, once. */
static void note_lost_writes(struct rnbd_client_dev *dev, const struct rnbd_device_info *now)
{
	if (!rnbd_client_lost_writes(dev, now))
		return;
	pr_warn("%s: the server was booted, or its disk began anew, and %s of session %s may have lost what was written since the last flush: the next one fails\n",
		dev->name, dev->path, dev->session->name);
	WRITE_ONCE(dev->write_losses, dev->write_losses + 1);
	clear_bit(RNBD_CLIENT_DEV_DIRTY, &dev->flags);
	set_bit(RNBD_CLIENT_DEV_LOST, &dev->flags);
}

/*
 * Sets the limits of @info and lets requests go to the device that @info names. If the session was
 * lost, no request is in flight: each has failed or is set aside, to be cut anew, and queue_rq()
 * sends nothing. A freeze would wait for set-aside parts of a flush, and hold up the disks behind
 * this one. Else requests to a device that the server has closed may be in flight: the queue is
 * frozen. Under session->lock, so that no process opens the disk.
 */
int rnbd_client_disk_reopen(struct rnbd_client_dev *dev, const struct rnbd_device_info *info,
			    u32 epoch, struct netlink_ext_ack *extack)
{
	bool lost = dev->epoch != epoch;
	struct rnbd_disk_limits limits = limits_from_info(dev->session, info);
	struct queue_limits update;
	int err, busy;

	lockdep_assert_held(&dev->session->lock);
	err = check_block_size(info, extack);
	if (err)
		return err;
	/* A file system or a page cache cannot go on with another block size. */
	if (dev->openers && info->logical_block_size != dev->info.logical_block_size)
		return rtrs_fail(extack, -EBUSY,
				 "%s is in use, and its blocks are now %u bytes, not %u", dev->name,
				 info->logical_block_size, dev->info.logical_block_size);
	busy = begin_limits_update(dev, lost, &update);
	if (busy && !lost)
		return rtrs_fail(extack, busy, "requests of %s are still under way", dev->name);
	if (busy)
		queue_work(rnbd_client_remove_wq, &dev->limits_work);
	err = busy ? 0 : rnbd_disk_limits_commit(dev->disk, &update, &limits);
	if (!err) {
		dev->device_id = info->device_id;
		WRITE_ONCE(dev->epoch, epoch);
		smp_mb();	/* ->epoch before DIRTY is read; pairs with note_written() */
		note_lost_writes(dev, info);
		dev->info = *info;
		rnbd_client_dev_set_open(dev);
	}
	if (!lost)
		blk_mq_unfreeze_queue(dev->disk->queue);
	if (err)
		return rtrs_fail(extack, err, "%s cannot take the new limits: error %d", dev->name,
				 err);
	return 0;
}

/* The disk, with a reference, and its limits by ->info. NULL if the device is not MAPPED. */
static struct gendisk *get_open_disk(struct rnbd_client_dev *dev, struct rnbd_disk_limits *limits)
{
	struct gendisk *disk = NULL;

	mutex_lock(&dev->session->lock);
	if (dev->state == RNBD_CLIENT_DEV_MAPPED) {
		disk = dev->disk;
		get_device(disk_to_dev(disk));
		*limits = limits_from_info(dev->session, &dev->info);
	}
	mutex_unlock(&dev->session->lock);
	return disk;
}

/* Sets the limits that a reopen could not, as a writer of sysfs had their lock. */
void rnbd_client_disk_limits_work(struct work_struct *work)
{
	struct rnbd_client_dev *dev = container_of(work, struct rnbd_client_dev, limits_work);
	struct rnbd_disk_limits limits;
	struct queue_limits update;
	struct gendisk *disk;
	int err;

	disk = get_open_disk(dev, &limits);
	if (!disk)
		return;
	rnbd_disk_limits_start(disk, &update);
	err = freeze_queue(dev->session, disk->queue);
	if (err) {
		rnbd_disk_limits_cancel(disk);
	} else {
		err = rnbd_disk_limits_commit(disk, &update, &limits);
		blk_mq_unfreeze_queue(disk->queue);
	}
	if (err)
		pr_warn("%s: keeps the limits of before: %pe\n", dev->name, ERR_PTR(err));
	put_device(disk_to_dev(disk));
}

int rnbd_client_disk_add(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack)
{
	int err;

	set_bit(GD_SUPPRESS_PART_SCAN, &dev->disk->state);
	err = add_disk(dev->disk);
	if (err)
		return rtrs_fail(extack, err, "cannot add disk %s: error %d", dev->name, err);
	set_bit(RNBD_CLIENT_DEV_ADDED, &dev->flags);
	WRITE_ONCE(dev->devt, disk_devt(dev->disk));
	return 0;
}

void rnbd_client_disk_remove(struct rnbd_client_dev *dev)
{
	struct gendisk *disk = dev->disk;
	bool added = test_and_clear_bit(RNBD_CLIENT_DEV_ADDED, &dev->flags);

	if (!disk)
		return;
	dev->disk = NULL;
	if (added)
		del_gendisk(disk);
	flush_work(&dev->aside_work);
	flush_work(&dev->read_work);
	flush_work(&dev->scan_work);
	put_disk(disk);
}
