// SPDX-License-Identifier: GPL-2.0
/* From the name in an OPEN to an opened block device or file. */
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/slab.h>
#include <compat/namei.h>
#include "server.h"
#include "path.h"

#define TRIES	32	/* of a lookup that others disturb */

static int beneath(const struct path *root, const char *name, unsigned int flags, struct path *out)
{
	unsigned int tries = TRIES;
	int err;

	/* EAGAIN: a ".." in a link, and something was renamed or mounted meanwhile */
	do {
		err = vfs_path_lookup(root->dentry, root->mnt, name,
				      LOOKUP_FOLLOW | LOOKUP_BENEATH | flags, out);
	} while (err == -EAGAIN && --tries);
	return err;
}

/*
 * The lookup starts at the search path and is not allowed to leave it: neither
 * "..", nor a symbolic link, nor a rename on the way gets outside. Nor does the
 * name of the session, which is the client's choice as well. What is opened is
 * the very node that was found, so nothing can change in between.
 */
static int lookup_below(struct rnbd_server_path *p, struct path *out)
{
	char first = p->text[p->base];
	struct path top, root;
	int err;

	p->text[p->base] = '\0';
	err = kern_path(p->text, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &top);
	p->text[p->base] = first;
	if (err)
		return err;
	if (p->base < p->rel) {
		p->text[p->rel - 1] = '\0';
		err = beneath(&top, p->text + p->base, LOOKUP_DIRECTORY, &root);
		path_put(&top);
		if (err)
			return err;
	} else {
		root = top;
	}
	err = beneath(&root, p->text + p->rel, 0, out);
	path_put(&root);
	return err;
}

static int block_device_number(const struct path *path, dev_t *devt)
{
	const struct inode *inode = d_backing_inode(path->dentry);

	if (!S_ISBLK(inode->i_mode))
		return -ENOTBLK;
	if (path->mnt->mnt_flags & MNT_NODEV || path->mnt->mnt_sb->s_iflags & SB_I_NODEV)
		return -EACCES;
	*devt = inode->i_rdev;
	return 0;
}

static int lookup(const struct rnbd_server_session *session, const char *name, struct path *path)
{
	struct rnbd_server_path *p = kmalloc(sizeof(*p), GFP_KERNEL);
	int err;

	if (!p)
		return -ENOMEM;
	err = rnbd_server_path_compose(p, rnbd_server_search_path, session->name, name);
	if (err)
		goto out;
	if (rnbd_server_path_confined(p))
		err = lookup_below(p, path);
	else
		err = kern_path(p->text, LOOKUP_FOLLOW, path);
out:
	kfree(p);
	return err;
}

/* One for all disks and all who write to them: these do not shut each other out. */
static char holder;

static bool is_ours(struct block_device *bdev)
{
	return READ_ONCE(bdev->bd_holder) == &holder;
}

static bool is_used(struct block_device *bdev)
{
	void *by = READ_ONCE(bdev->bd_holder);

	return by && by != &holder;
}

/*
 * It could not be claimed: is that because clients write to the disk that it is a partition of,
 * or to its partitions? Then nobody else has claimed any of them as a whole.
 */
static bool is_used_by_clients(struct block_device *bdev)
{
	struct block_device *part;
	unsigned long i;
	bool ours = false, used = false;

	if (bdev_is_partition(bdev))
		return !is_used(bdev) && is_ours(bdev_whole(bdev));
	rcu_read_lock();
	xa_for_each_start(&bdev->bd_disk->part_tbl, i, part, 1) {
		ours |= is_ours(part);
		used |= is_used(part);
	}
	rcu_read_unlock();
	return ours && !used;
}

/*
 * What this host has mounted, or has given to dm, md or swap, is claimed. Who writes to it as
 * well destroys it, and so does who mounts what a client writes to.
 */
static int open_claimed(dev_t devt, struct rnbd_bdev *handle)
{
	int err = rnbd_bdev_open(handle, devt, true, &holder);

	if (err != -EBUSY)
		return err;
	/* Some kernels let nobody write to what is mounted, claimed or not. */
	err = rnbd_bdev_open(handle, devt, true, NULL);
	if (err == -EBUSY)
		return -ETXTBSY;
	if (err || is_used_by_clients(handle->bdev))
		return err;
	rnbd_bdev_close(handle);
	return -ETXTBSY;
}

static int open_bdev(dev_t devt, bool write, struct rnbd_bdev *handle)
{
	int err;

	if (write && !READ_ONCE(rnbd_server_share_local))
		err = open_claimed(devt, handle);
	else
		err = rnbd_bdev_open(handle, devt, write, NULL);
	if (err)
		return err;
	if (write && bdev_read_only(handle->bdev)) {
		rnbd_bdev_close(handle);
		return -EACCES;
	}
	return 0;
}

static void choose_io_mode(struct rnbd_server_dev *dev, const void *key)
{
	if (dev->io_mode == RNBD_IO_ANY)
		dev->io_mode = rnbd_server_export_io_mode(key) ?: RNBD_IO_BLOCK;
}

int rnbd_server_open_path(struct rnbd_server_dev *dev, const struct path *path, bool files)
{
	dev_t devt;
	int err;

	if (files && d_is_reg(path->dentry)) {
		choose_io_mode(dev, d_backing_inode(path->dentry));
		return rnbd_server_file_open(dev, path);
	}
	err = block_device_number(path, &devt);
	if (!err)
		err = open_bdev(devt, !dev->read_only, &dev->handle);
	if (err)
		return err;
	dev->bdev = dev->handle.bdev;
	choose_io_mode(dev, dev->bdev);
	if (dev->io_mode == RNBD_IO_FILE)
		err = rnbd_server_file_open(dev, path);
	if (err)
		rnbd_bdev_close(&dev->handle);
	return err;
}

void rnbd_server_close(struct rnbd_server_dev *dev)
{
	if (dev->file)
		__fput_sync(dev->file);
	if (dev->bdev)
		rnbd_bdev_close(&dev->handle);
}

int rnbd_server_lookup(struct rnbd_server_dev *dev, const struct rnbd_open *open)
{
	struct path path;
	int err = lookup(dev->session, open->path, &path);

	if (err)
		return err;
	err = rnbd_server_open_path(dev, &path, false);
	path_put(&path);
	return err;
}
