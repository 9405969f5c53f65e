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
 * @created: a device is in the lists
 * @changed: its state was @old, or is still, and something else of it has changed
 * @destroyed: it is in no list any more
 */
struct rnbd_client_events {
	void (*created)(struct rnbd_client_dev *dev);
	void (*changed)(struct rnbd_client_dev *dev, enum rnbd_client_dev_state old);
	void (*destroyed)(struct rnbd_client_dev *dev);
};

/**
 * struct rnbd_client_files - what users find of a device beside its disk; process context
 * @add: an errno if there is no room
 * @remove: waits for those who read or write a file; nothing, where @add was not called or failed
 */
struct rnbd_client_files {
	int (*add)(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack);
	void (*remove)(struct rnbd_client_dev *dev);
};

/* notify.c */
extern const struct rnbd_client_events *rnbd_client_events;
extern const struct rnbd_client_files *rnbd_client_files;
/* nl.c, sysfs.c; for main.c */
extern const struct rnbd_client_events rnbd_client_nl_events;
extern const struct rnbd_client_files rnbd_client_sysfs_files;

#endif /* RNBD_CLIENT_NOTIFY_H */
