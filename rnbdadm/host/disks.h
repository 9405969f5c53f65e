/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What /sys, /proc and /dev tell beyond the family: users of a disk, links to it,
 * GIDs of a path, modules. All below a root that tests may move.
 */
#ifndef RNBDADM_HOST_DISKS_H
#define RNBDADM_HOST_DISKS_H

#include "model/objects.h"

/* netdev, link_layer and gid_index of the paths. */
void sys_paths(const char *root, struct path_list *l);

/*
 * holders, mountpoints, links and users ("mount /data", "dm-3 (vg0-lv1)", "swap")
 * of the devices.
 */
void sys_devices(const char *root, struct device_list *l);
/* users of what is exported, of its partitions too. */
void sys_exports(const char *root, struct export_list *l);
/*
 * Afterwards: openers ("process 12 (dd)", "/mnt of process 12 (sh)", "loop0") of those that are open
 * without a known user. Looks at all processes if there are any such.
 */
void sys_openers(const char *root, struct device_list *l);

/* The fields of /sys/block/DISK/stat; times are in ms. */
enum sys_stat {
	SYS_STAT_READS, SYS_STAT_READ_MERGES, SYS_STAT_READ_SECTORS, SYS_STAT_READ_MS,
	SYS_STAT_WRITES, SYS_STAT_WRITE_MERGES, SYS_STAT_WRITE_SECTORS, SYS_STAT_WRITE_MS,
	SYS_STAT_INFLIGHT, SYS_STAT_N
};

/* False if there are none. */
bool sys_disk_stat(const char *root, const char *disk, uint64_t v[SYS_STAT_N]);
/* The same as counters. */
bool sys_disk_counters(const char *root, const char *disk, struct counters *c);

/* A number or word below /sys/block/DISK; M_UNKNOWN or NULL if absent. */
uint64_t sys_disk_number(const char *root, const char *disk, const char *attr);
char *sys_disk_word(const char *root, const char *disk, const char *attr);

/* 1, 0, or M_UNKNOWN of a disk or partition of this host. */
uint64_t sys_block_read_only(const char *root, const char *name);

/*
 * The first GID of a port's table that is set, from index *@i on; *@i becomes its
 * index. NULL if there is none. To be freed.
 */
char *sys_gid(const char *root, const char *hca, const char *port, unsigned int *i);

/* "mlx5_0:1" of each port of each RDMA device. */
void sys_ports(const char *root, struct strlist *l);
/* At least one RDMA device? */
bool sys_has_rdma(const char *root);
/* Is the module there, loaded or built in? @version is to be freed, may be NULL. */
bool sys_module(const char *root, const char *module, char **version);

/* CPUs that are online, or M_UNKNOWN. */
uint64_t sys_cpus(const char *root);

/* Has udev events to handle? */
bool sys_udev_busy(const char *root);

/*
 * Can the node of @d be opened now, with its size known and udev done with it?
 * @waited_ms since the kernel made it.
 */
bool sys_node_ready(const char *root, const struct device *d, int64_t waited_ms);
bool sys_node_exists(const char *root, const struct device *d);

#endif
