/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RNBD_COMPAT_BLKDEV_H
#define RNBD_COMPAT_BLKDEV_H

#include <linux/blkdev.h>
#include <linux/err.h>
#include <linux/file.h>

/**
 * struct rnbd_bdev - a block device, opened and not claimed
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
static inline int rnbd_bdev_open(struct rnbd_bdev *b, dev_t dev, bool write)
{
	b->file = bdev_file_open_by_dev(dev, BLK_OPEN_READ | (write ? BLK_OPEN_WRITE : 0), NULL,
					NULL);
	if (IS_ERR(b->file))
		return PTR_ERR(b->file);
	b->bdev = file_bdev(b->file);
	return 0;
}

static inline void rnbd_bdev_close(struct rnbd_bdev *b)
{
	bdev_fput(b->file);
}
#else
static inline int rnbd_bdev_open(struct rnbd_bdev *b, dev_t dev, bool write)
{
	b->mode = FMODE_READ | (write ? FMODE_WRITE : 0);
	b->bdev = blkdev_get_by_dev(dev, b->mode, NULL);
	return PTR_ERR_OR_ZERO(b->bdev);
}

static inline void rnbd_bdev_close(struct rnbd_bdev *b)
{
	blkdev_put(b->bdev, b->mode);
}
#endif

#endif /* RNBD_COMPAT_BLKDEV_H */
