/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who is told of openings. What changes them knows neither netlink nor sysfs: main.c says who is
 * told, before the transport is opened.
 */
#ifndef RNBD_SERVER_NOTIFY_H
#define RNBD_SERVER_NOTIFY_H

#include "server.h"

/**
 * struct rnbd_server_events - changes
 * @opening_event: @dev is open, is about to be closed, or has another access mode. Under
 *	session->lock or exports_lock
 */
struct rnbd_server_events {
	void (*opening_event)(const struct rnbd_server_dev *dev, enum rnbd_event event);
};

/**
 * struct rnbd_server_files - what users find of exports and their openings, under exports_lock
 * @add_export: for @dev, its first opening; an errno if there is no room
 * @remove_export: behind its last opening
 * @add_dev: an errno if there is no room
 * @remove_dev: waits for those who read or write a file
 */
struct rnbd_server_files {
	int (*add_export)(struct rnbd_server_export *export, const struct rnbd_server_dev *dev);
	void (*remove_export)(struct rnbd_server_export *export);
	int (*add_dev)(struct rnbd_server_dev *dev);
	void (*remove_dev)(struct rnbd_server_dev *dev);
};

/* notify.c */
extern const struct rnbd_server_events *rnbd_server_events;
extern const struct rnbd_server_files *rnbd_server_files;
/* nl.c, sysfs.c; for main.c */
extern const struct rnbd_server_events rnbd_server_nl_events;
extern const struct rnbd_server_files rnbd_server_sysfs_files;

#endif /* RNBD_SERVER_NOTIFY_H */
