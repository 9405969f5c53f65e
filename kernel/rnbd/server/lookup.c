// SPDX-License-Identifier: GPL-2.0
/* From the name in an OPEN to an opened block device or file. */
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/slab.h>
#include <compat/namei.h>
#include "access.h"

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
static int find_root(struct rnbd_server_path *p, struct path *root)
{
	char first = p->text[p->base];
	struct path top;
	int err;

	p->text[p->base] = '\0';
	err = kern_path(p->text, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &top);
	p->text[p->base] = first;
	if (err)
		return err;
	if (p->base < p->rel) {
		p->text[p->rel - 1] = '\0';
		err = beneath(&top, p->text + p->base, LOOKUP_DIRECTORY, root);
		p->text[p->rel - 1] = '/';
		path_put(&top);
		return err;
	}
	*root = top;
	return 0;
}

/*
 * With all directories above it, as far as its file system goes: these may be sticky, where nobody
 * renames what is root's.
 */
static bool is_roots_alone(const struct path *dir)
{
	struct dentry *at = dget(dir->dentry), *up;
	const struct inode *inode;
	bool good;

	for (;;) {
		inode = d_backing_inode(at);
		good = uid_eq(inode->i_uid, GLOBAL_ROOT_UID) &&
		       (!(inode->i_mode & 0022) || (at != dir->dentry && inode->i_mode & S_ISVTX));
		if (!good || IS_ROOT(at))
			break;
		up = dget_parent(at);
		dput(at);
		at = up;
	}
	dput(at);
	return good;
}

/*
 * Volume managers make links: /dev/vg1/disk17 is ../dm-3. The administrator has offered what is in
 * the directory, and links count as that where nobody but root can make one, or can change the
 * way to it.
 */
static int follow_last(struct rnbd_server_right *right, const struct path *root, struct path *out)
{
	char *rest = right->path.text + right->path.rel, *last = strrchr(rest, '/');
	struct path dir;
	int err;

	if (last)
		*last = '\0';
	err = beneath(root, last ? rest : ".", LOOKUP_DIRECTORY, &dir);
	if (last)
		*last = '/';
	if (err)
		return err;
	if (is_roots_alone(&dir)) {
		err = kern_path(right->path.text, LOOKUP_FOLLOW, out);
	} else {
		right->reason = RNBD_ACCESS_REASON_DIRECTORY;
		err = -EACCES;
	}
	path_put(&dir);
	return err;
}

static int lookup_below(struct rnbd_server_right *right, struct path *out)
{
	const char *rest = right->path.text + right->path.rel;
	struct path root;
	int err;

	err = find_root(&right->path, &root);
	if (err)
		return err;
	err = beneath(&root, rest, 0, out);
	if (err == -EXDEV && right->listed)
		err = follow_last(right, &root, out);
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

static int lookup(struct rnbd_server_right *right, struct path *path)
{
	if (!right->fixed && rnbd_server_path_confined(&right->path))
		return lookup_below(right, path);
	return kern_path(right->path.text, LOOKUP_FOLLOW, path);
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

int rnbd_server_lookup(struct rnbd_server_dev *dev, struct rnbd_server_right *right)
{
	struct path path;
	int err = lookup(right, &path);

	if (err)
		return err;
	err = rnbd_server_open_path(dev, &path, right->listed);
	path_put(&path);
	return err;
}
