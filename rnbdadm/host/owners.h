/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who made an object, and what it is called: RUN/rnbd/registry/OBJECT/owner and name. They are on a
 * file system that a boot empties, so nothing is taken for made by anybody that another boot made.
 */
#ifndef RNBDADM_HOST_OWNERS_H
#define RNBDADM_HOST_OWNERS_H

#include "base/text.h"

#define OWNER_CONFIG	"config"

/* @device_path NULL: the session itself. To be freed; NULL if nobody is known. */
char *registry_owner(const char *root, const char *session, const char *device_path);
/* 0 or an errno. It holds before the object is there, so that a crash leaves no orphan. */
int registry_set(const char *root, const char *session, const char *device_path, const char *owner);
/* The same for the name of a device that the configuration does not list. */
char *registry_name(const char *root, const char *session, const char *device_path);
int registry_set_name(const char *root, const char *session, const char *device_path,
		      const char *name);
/* What a command makes is not that of a former one of the same name, which went without a word. */
void registry_forget(const char *root, const char *session, const char *device_path);
/* Forgets all but @there, which are those of registry_key(). */
void registry_clean(const char *root, const struct strlist *there);
/* "session:NAME", "device:SESSION:PATH", to be freed. */
char *registry_key(const char *session, const char *device_path);

/*
 * @s for a file name or for udev: what is neither a letter, a digit, valid UTF-8 nor one of
 * "#+-.:=@_" becomes \xNN. To be freed.
 */
char *udev_escape(const char *s);
/* The other way round, for \xNN of systemd-escape as well. To be freed. */
char *hex_unescape(const char *s);
/* A name that no directory takes, cut to @most bytes, ends in a hash of all of it. False: it is short. */
bool shorten(char *name, size_t most);

/* Of a link to a disk; a partition has "-partNNN" behind it. */
#define LINK_NAME_MAX	(255 - 8)
/* Link below /dev/rnbd/by-name. To be freed. */
char *name_link(const char *name);

#endif
