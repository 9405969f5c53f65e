/* SPDX-License-Identifier: GPL-2.0 */
/* What a write to one of our files in /sys comes to. */
#ifndef RTRS_SYSFS_H
#define RTRS_SYSFS_H

#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/netlink.h>
#include <linux/printk.h>
#include <linux/string.h>

#define RTRS_STORED_MAX	160	/* bytes of what was written: the reason needs room too */

/**
 * rtrs_stored - the value that the store function of a file returns
 * @object: name of what the file belongs to
 * @file: name of the file
 * @buf: what was written
 * @count: its length
 * @err: 0 or a negative errno
 * @extack: what rtrs_fail() said of it. netlink sends that to who asked; the errno of a write is
 *	all that its writer sees, so that the text goes into the kernel log.
 *
 * Return: @err, @count if that is 0. Files have one errno, ECONNRESET, for a server that does not
 *	listen and one that hangs up, as they have in-tree.
 */
static inline ssize_t rtrs_stored(const char *object, const char *file, const char *buf,
				  size_t count, int err, const struct netlink_ext_ack *extack)
{
	const char *why = extack->_msg ?: "not accepted";
	int len = min_t(size_t, strcspn(buf, "\n"), RTRS_STORED_MAX);

	if (!err)
		return count;
	pr_err("%*pE: '%*pE' to %s: %*pE (%pe)\n", (int)strlen(object), object, len, buf, file,
	       (int)strlen(why), why, ERR_PTR(err));
	return err == -ECONNREFUSED ? -ECONNRESET : err;
}

/**
 * rtrs_sysfs_pin - keep a module loaded while a store function removes its own file
 * @fops: .owner is the module, nothing else is set
 *
 * sysfs waits for store functions when it removes a file, but not for one that lets its own file
 * be removed. The module must not be put by the function itself, which would go on running in the
 * text of the module. So the reference belongs to a file: fput() of a process leaves the file to
 * the VFS, which closes it and puts the module when the process returns to user space.
 *
 * Return: the file, for fput(); or an ERR_PTR(), -ENODEV if the module is being unloaded
 */
static inline struct file *rtrs_sysfs_pin(const struct file_operations *fops)
{
	struct file *pin = anon_inode_getfile("[rtrs-sysfs]", fops, NULL, O_RDONLY);

	return pin == ERR_PTR(-ENOENT) ? ERR_PTR(-ENODEV) : pin;
}

#endif /* RTRS_SYSFS_H */
