// SPDX-License-Identifier: GPL-2.0
/*
 * The partition table of a new disk. add_disk() would read it under open_mutex, which each opener
 * needs: a server that opens devices and answers no read would block the process that maps, and
 * udev. So add_disk() does not scan. A worker sends a first read, which nobody waits for; when the
 * server has answered it, another one scans the disk.
 *
 * Against an unmap, in this order:
 *   1. The device is UNMAPPED: a scan that has not begun does nothing.
 *   2. drop_work ends each request, also of a scan that has begun: the server may have stopped to
 *	answer since.
 *   3. del_gendisk() takes open_mutex, so it waits for such a scan. The scan waits for step 2,
 *	which takes no lock of the disk and does not wait for the removal. A scan that gets the
 *	mutex later finds the disk dead.
 *   4. del_gendisk() waits for all requests. The first read is one: its end has queued the work.
 *   5. rnbd_client_disk_remove() waits for both workers, without open_mutex, then frees the disk.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/mm.h>
#include "client.h"

#define SCAN_WAIT_MS	2000	/* how long a map waits for the partitions */

static void scan_partitions(struct gendisk *disk)
{
	clear_bit(GD_SUPPRESS_PART_SCAN, &disk->state);
	mutex_lock(&disk->open_mutex);
	bdev_disk_changed(disk, false);
	mutex_unlock(&disk->open_mutex);
}

void rnbd_client_scan_work(struct work_struct *work)
{
	struct rnbd_client_dev *dev = container_of(work, struct rnbd_client_dev, scan_work);

	if (READ_ONCE(dev->state) != RNBD_CLIENT_DEV_UNMAPPED)
		scan_partitions(dev->scan_disk);
	complete_all(&dev->scanned);
}

/* The result does not matter: a scan of a disk with errors logs them. */
static void first_read_end(struct bio *bio)
{
	struct rnbd_client_dev *dev = bio->bi_private;

	__free_page(bio_first_page_all(bio));
	bio_put(bio);
	queue_work(rnbd_client_remove_wq, &dev->scan_work);
}

static struct bio *alloc_first_read(struct gendisk *disk, unsigned int bytes)
{
	struct page *page = alloc_page(GFP_KERNEL);
	struct bio *bio;

	if (!page)
		return NULL;
	bio = bio_alloc(disk->part0, 1, REQ_OP_READ, GFP_KERNEL);
	__bio_add_page(bio, page, bytes, 0);
	return bio;
}

void rnbd_client_scan_begin(struct rnbd_client_dev *dev)
{
	unsigned int bytes = dev->info.logical_block_size;
	struct gendisk *disk = dev->disk;
	struct bio *bio = NULL;

	dev->scan_disk = disk;
	if (get_capacity(disk) >= bytes >> SECTOR_SHIFT)
		bio = alloc_first_read(disk, bytes);
	if (!bio) {
		queue_work(rnbd_client_remove_wq, &dev->scan_work);
		return;
	}
	bio->bi_private = dev;
	bio->bi_end_io = first_read_end;
	dev->first_read = bio;
	queue_work(rnbd_client_aside_wq, &dev->read_work);
}

/* Waits for a tag, which other disks of the session may have all of. */
void rnbd_client_first_read_work(struct work_struct *work)
{
	struct rnbd_client_dev *dev = container_of(work, struct rnbd_client_dev, read_work);

	submit_bio(dev->first_read);
}

void rnbd_client_scan_wait(struct rnbd_client_dev *dev)
{
	wait_for_completion_killable_timeout(&dev->scanned, msecs_to_jiffies(SCAN_WAIT_MS));
}
