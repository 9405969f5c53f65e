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
	const struct nl_config *cfg;
	const char *root;
	/* objects have no numbers here: they are given some, which last as long as this */
	json_t *ids;			/* directory: number */
	struct strlist dirs;		/* by number */
};

/* Are there drivers that have these files? */
bool sysfs_there(const char *root);
/* NULL and a failure if not. */
struct sysfs *sysfs_open(const struct nl_config *cfg, struct nl_error *e);
void sysfs_close(struct sysfs *f);

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
/* What can be asked of map_device, and of the files of the session afterwards. */
bool sysfs_can_map(const struct sysfs *f, const struct map_request *req, struct nl_error *e);
bool sysfs_map(struct sysfs *f, const struct map_request *req, struct device *dev,
	       struct nl_error *e);
bool sysfs_unmap(struct sysfs *f, const struct device *dev, bool force, struct nl_error *e);
bool sysfs_remap(struct sysfs *f, uint32_t id, struct device *dev, struct nl_error *e);
bool sysfs_resize(struct sysfs *f, uint32_t id, uint64_t bytes, struct device *dev,
		  struct nl_error *e);
bool sysfs_session_set(struct sysfs *f, uint32_t id, const struct session_settings *want,
		       struct session *now, struct nl_error *e);
bool sysfs_session_del(struct sysfs *f, uint32_t id, struct nl_error *e);
/* False, and why. */
bool sysfs_no_session_del(struct nl_error *e);
bool sysfs_path_add(struct sysfs *f, uint32_t session_id, const struct addr_pair *pair,
		    struct path *now, struct nl_error *e);
bool sysfs_path_del(struct sysfs *f, uint32_t id, struct nl_error *e);
bool sysfs_path_reconnect(struct sysfs *f, uint32_t id, struct path *now, struct nl_error *e);
bool sysfs_path_disconnect(struct sysfs *f, uint32_t id, struct path *now, struct nl_error *e);
bool sysfs_export_close(struct sysfs *f, uint32_t id, struct nl_error *e);
bool sysfs_session_disconnect(struct sysfs *f, uint32_t id, struct nl_error *e);
bool sysfs_stats_reset(struct sysfs *f, const struct nl_stats_reset *r, struct nl_error *e);
/* For what no file does; @what follows "cannot". */
bool sysfs_cannot(struct nl_error *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
