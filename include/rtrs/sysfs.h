/* SPDX-License-Identifier: GPL-2.0 */
/* What a write to one of our files in /sys comes to. */
#ifndef RTRS_SYSFS_H
#define RTRS_SYSFS_H

#include <linux/err.h>
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

#endif /* RTRS_SYSFS_H */
