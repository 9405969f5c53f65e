/* SPDX-License-Identifier: GPL-2.0 */
/* Directories of paths in sysfs. */
#ifndef RTRS_CLIENT_SYSFS_H
#define RTRS_CLIENT_SYSFS_H

#include "client.h"

/**
 * struct rtrs_client_path_dir - a directory of a path
 * @kobj: directory
 * @path: held until @kobj is released
 */
struct rtrs_client_path_dir {
	struct kobject kobj;
	struct rtrs_client_path *path;
};

static inline struct rtrs_client_path *rtrs_client_path_of(struct kobject *kobj)
{
	return container_of(kobj, struct rtrs_client_path_dir, kobj)->path;
}

/* sysfs-stats.c */
extern const struct attribute_group *rtrs_client_stats_groups[];

#endif /* RTRS_CLIENT_SYSFS_H */
