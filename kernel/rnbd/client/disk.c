// SPDX-License-Identifier: GPL-2.0
/* The disk of a mapped device: its limits, its openers, its coming and going. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/blkdev.h>
#include <linux/hdreg.h>
#include <linux/module.h>
#include "client.h"

#define GEO_HEADS	4
#define GEO_SECTORS	16

static int disk_open(struct block_device *bdev, fmode_t mode)
{
	struct rnbd_client_dev *dev = bdev->bd_disk->private_data;
	int err = 0;

	mutex_lock(&dev->session->lock);
	if (dev->state == RNBD_CLIENT_DEV_UNMAPPED)
		err = -EIO;
	else if (mode & FMODE_WRITE && dev->access_mode == RNBD_CLIENT_ACCESS_RO)
		err = -EPERM;
	else
		dev->openers++;
	mutex_unlock(&dev->session->lock);
	return err;
}

static void disk_close(struct gendisk *disk, fmode_t mode)
{
	struct rnbd_client_dev *dev = disk->private_data;

	mutex_lock(&dev->session->lock);
	dev->openers--;
	mutex_unlock(&dev->session->lock);
}

/* All in sectors of 512 bytes, as the block layer has them, whatever the block size. */
static int disk_getgeo(struct block_device *bdev, struct hd_geometry *geo)
{
	sector_t cylinders = get_capacity(bdev->bd_disk);

	sector_div(cylinders, GEO_HEADS * GEO_SECTORS);
	geo->heads = GEO_HEADS;
	geo->sectors = GEO_SECTORS;
	geo->cylinders = min_t(sector_t, cylinders, U16_MAX);
	return 0;
}

/* The last one has closed a disk that was added and removed. */
static void disk_free(struct gendisk *disk)
{
	rnbd_client_dev_put(disk->private_data);
}

static const struct block_device_operations disk_ops = {
	.owner		= THIS_MODULE,
	.open		= disk_open,
	.release	= disk_close,
	.getgeo		= disk_getgeo,
	.free_disk	= disk_free,
};

/* Lengths travel as bytes in 32 bits. */
static unsigned int clamp_sectors(u32 sectors)
{
	return min_t(u32, sectors, UINT_MAX >> SECTOR_SHIFT);
}

static void set_limits(struct rnbd_client_dev *dev)
{
	const struct rnbd_client_session *session = dev->session;
	const struct rnbd_device_info *info = &dev->info;
	struct request_queue *q = dev->disk->queue;
	unsigned int discard = clamp_sectors(info->max_discard_sectors);

	blk_queue_logical_block_size(q, info->logical_block_size);
	blk_queue_physical_block_size(q, info->physical_block_size);
	blk_queue_max_hw_sectors(q, session->max_bytes >> SECTOR_SHIFT);
	blk_queue_max_segments(q, session->max_segments);
	blk_queue_io_opt(q, session->max_bytes);
	/* A region is made of pages: only its first may start, and its last end, inside of one. */
	blk_queue_virt_boundary(q, RNBD_CLIENT_PAGE_BYTES - 1);

	if (discard) {
		blk_queue_max_discard_sectors(q, discard);
		blk_queue_max_discard_segments(q, 1);
		q->limits.discard_granularity =
			max(info->discard_granularity, info->logical_block_size);
		q->limits.discard_alignment = info->discard_alignment;
		if (info->secure_erase)
			blk_queue_max_secure_erase_sectors(q, discard);
	}
	blk_queue_max_write_zeroes_sectors(q, clamp_sectors(info->max_write_zeroes_sectors));
	blk_queue_write_cache(q, info->writeback, info->writeback && info->fua);
	blk_queue_flag_set(QUEUE_FLAG_NONROT, q);
}

int rnbd_client_disk_create(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack)
{
	struct gendisk *disk;

	if (dev->info.logical_block_size > PAGE_SIZE)
		return rtrs_fail(extack, -EINVAL, "blocks of %u bytes are larger than a page",
				 dev->info.logical_block_size);
	disk = blk_mq_alloc_disk(&dev->session->tags, dev);
	if (IS_ERR(disk))
		return rtrs_fail(extack, PTR_ERR(disk), "no memory for the disk");
	rnbd_client_dev_get(dev);
	dev->disk = disk;
	disk->major = rnbd_client_major;
	disk->first_minor = dev->index << RNBD_CLIENT_MINOR_SHIFT;
	disk->minors = 1 << RNBD_CLIENT_MINOR_SHIFT;
	disk->fops = &disk_ops;
	disk->private_data = dev;
	strscpy(disk->disk_name, dev->name, sizeof(disk->disk_name));
	set_limits(dev);
	set_capacity(disk, dev->info.nsectors);
	set_disk_ro(disk, dev->access_mode == RNBD_CLIENT_ACCESS_RO);
	return 0;
}

int rnbd_client_disk_add(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack)
{
	int err = add_disk(dev->disk);

	if (err)
		return rtrs_fail(extack, err, "cannot add disk %s: error %d", dev->name, err);
	set_bit(RNBD_CLIENT_DEV_ADDED, &dev->flags);
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
	put_disk(disk);
	/* The block layer tells us of the end of such disks only that it has shown. */
	if (!added)
		rnbd_client_dev_put(dev);
}
