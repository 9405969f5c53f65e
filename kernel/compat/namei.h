/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RNBD_COMPAT_NAMEI_H
#define RNBD_COMPAT_NAMEI_H

#include <linux/namei.h>

/* Exported for long, but declared in a public header only lately. */
int vfs_path_lookup(struct dentry *dentry, struct vfsmount *mnt, const char *name,
		    unsigned int flags, struct path *path);

#endif /* RNBD_COMPAT_NAMEI_H */
