/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who is told of devices. What changes them knows neither netlink nor sysfs: main.c says who is
 * told, before anything can be mapped.
 */
#ifndef RNBD_CLIENT_NOTIFY_H
#define RNBD_CLIENT_NOTIFY_H

#include "client.h"

/**
 * struct rnbd_client_events - changes; any context but hard interrupts
 * @dev_created: a device is in the lists
 * @dev_changed: its state was @old, or is still, and something else of it has changed
 * @dev_destroyed: it is in no list any more
 */
struct rnbd_client_events {
	void (*dev_created)(struct rnbd_client_dev *dev);
	void (*dev_changed)(struct rnbd_client_dev *dev, enum rnbd_client_dev_state old);
	void (*dev_destroyed)(struct rnbd_client_dev *dev);
};

/**
 * struct rnbd_client_files - what users find of a device beside its disk; process context
 * @add_dev: an errno if there is no room
 * @remove_dev: waits for those who read or write a file; nothing, where @add_dev was not called or
 *	failed
 */
struct rnbd_client_files {
	int (*add_dev)(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack);
	void (*remove_dev)(struct rnbd_client_dev *dev);
};

/* notify.c */
extern const struct rnbd_client_events *rnbd_client_events;
extern const struct rnbd_client_files *rnbd_client_files;
/* nl.c, sysfs.c; for main.c */
extern const struct rnbd_client_events rnbd_client_nl_events;
extern const struct rnbd_client_files rnbd_client_sysfs_files;

#endif /* RNBD_CLIENT_NOTIFY_H */
