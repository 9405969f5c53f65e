/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The files of /sys in place of the netlink family, for drivers that have none. Behind the
 * functions of kernel.h: the same requests, the same model, the same failures.
 */
#ifndef RNBDADM_KERNEL_SYSFS_SYSFS_H
#define RNBDADM_KERNEL_SYSFS_SYSFS_H

#include <jansson.h>

#include "kernel/kernel.h"

struct sysfs {
	struct kernel k;
	const char *root;
	/* objects have no numbers here: they are given some, which last as long as this */
	json_t *ids;			/* directory: number */
	struct strlist dirs;		/* by number */
};

static inline struct sysfs *to_sysfs(struct kernel *k)
{
	return (struct sysfs *)k;
}

/* Are there drivers that have these files? */
bool sysfs_there(const char *root);
/* NULL and a failure if not. */
struct kernel *sysfs_open(const struct nl_config *cfg, struct nl_error *e);
void sysfs_close(struct kernel *k);

/* read.c: the tree as the model has it */
bool sysfs_snapshot(struct sysfs *f, enum m_role role, unsigned int what, struct snapshot *s,
		    struct nl_error *e);
/* One object as it is now. */
void sysfs_read_session(struct sysfs *f, const char *dir, struct session *s);
void sysfs_read_path(struct sysfs *f, const char *dir, enum m_role role, struct path *p);
void sysfs_read_device(struct sysfs *f, const char *dir, struct device *d);
/* The directory of an object; NULL if there is no such number. */
const char *sysfs_dir(const struct sysfs *f, uint32_t id);
/* The driver of this side is not loaded. */
bool sysfs_unloaded(const struct sysfs *f, enum m_role role, struct nl_error *e);

/* write.c: the requests of kernel.h, by writing to files */
extern const struct kernel_ops sysfs_ops;
/* For what no file does; @what follows "cannot". */
bool sysfs_cannot(struct nl_error *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
