/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The access list: who is which peer, and what a peer may open. Arrays and text only: the unit
 * tests and fuzzers build access-list.c on the host.
 */
#ifndef RNBD_SERVER_ACCESS_LIST_H
#define RNBD_SERVER_ACCESS_LIST_H

#include <linux/types.h>
#include <uapi/linux/rnbd.h>
#ifndef __KERNEL__
#include <stddef.h>
#include <stdbool.h>
#endif

#define RNBD_ACCESS_PEER_LEN	64	/* bytes of the name of a peer, NUL included */
#define RNBD_ACCESS_NAME_LEN	255	/* bytes of the name of an export, NUL included */
#define RNBD_ACCESS_PATH_LEN	2048	/* bytes of the path of an export, NUL included */
#define RNBD_ACCESS_NOBODY	0xffffffffU

/**
 * struct rnbd_access_addr - where a client is
 * @has_ip: it has given an IP address
 * @ip: that, an IPv4 address as IPv6
 * @gid: GID that answers go to
 */
struct rnbd_access_addr {
	bool has_ip;
	u8 ip[16];
	u8 gid[16];
};

/**
 * struct rnbd_access_prefix - addresses that begin alike
 * @is_gid: of GIDs, not of IP addresses
 * @bits: that count
 * @addr: as in struct rnbd_access_addr
 */
struct rnbd_access_prefix {
	bool is_gid;
	u8 bits;
	u8 addr[16];
};

/**
 * struct rnbd_access_peer - a client, as the list names it
 * @name: of it
 * @pattern: first one in list->pattern
 * @patterns: of names of its sessions; none: NAME and NAME@*
 * @prefix: first one in list->prefix
 * @prefixes: of addresses; none: any
 * @max_sessions: limit, 0 for none
 * @max_devices: the same
 * @max_memory: the same, in bytes
 * @denied: counter, the only thing that changes; the caller's lock
 */
struct rnbd_access_peer {
	const char *name;
	u32 pattern;
	u32 patterns;
	u32 prefix;
	u32 prefixes;
	u32 max_sessions;
	u32 max_devices;
	u64 max_memory;
	u64 denied;
};

/**
 * struct rnbd_access_allow - a right to an export
 * @name: of a peer, or "*"
 * @peer: its number; RNBD_ACCESS_NOBODY for "*"
 * @mode: the most that it may ask for
 */
struct rnbd_access_allow {
	const char *name;
	u32 peer;
	u8 mode;
};

/**
 * struct rnbd_access_export - what the list offers under a name
 * @name: of it
 * @path: on this server
 * @allow: first one in list->allow
 * @allows: rights
 * @io_mode: enum rnbd_io_mode
 * @is_dir: what is in a directory
 * @openings: for who counts them; the caller's lock
 */
struct rnbd_access_export {
	const char *name;
	const char *path;
	u32 allow;
	u32 allows;
	u8 io_mode;
	bool is_dir;
	u32 openings;
};

/* A peer by its name. */
struct rnbd_access_named {
	const char *name;
	u32 number;
};

/* How much of what a list has, or has room for. */
struct rnbd_access_size {
	u32 peers;
	u32 patterns;
	u32 prefixes;
	u32 exports;
	u32 allows;
	u32 text;
};

/**
 * struct rnbd_access_list - a list; one allocation
 * @room: for what
 * @has: what is there
 * @peer: in the order in which they are asked
 * @by_name: their numbers, in the order of their names
 * @pattern: of all peers
 * @prefix: the same
 * @export: in the order of their names
 * @allow: of all exports
 * @text: of all names
 */
struct rnbd_access_list {
	struct rnbd_access_size room;
	struct rnbd_access_size has;
	struct rnbd_access_peer *peer;
	struct rnbd_access_named *by_name;
	const char **pattern;
	struct rnbd_access_prefix *prefix;
	struct rnbd_access_export *export;
	struct rnbd_access_allow *allow;
	char *text;
};

/* Makes an empty list of rnbd_server_list_bytes() zeroed bytes. */
size_t rnbd_server_list_bytes(const struct rnbd_access_size *room);
void rnbd_server_list_init(struct rnbd_access_list *list, const struct rnbd_access_size *room);

/*
 * What is added belongs to the last peer or export. -ENOSPC: there is no room; -EINVAL: not such
 * a name, pattern, address or path. @name need not be terminated.
 */
int rnbd_server_list_add_peer(struct rnbd_access_list *list, const char *name, size_t len);
int rnbd_server_list_add_pattern(struct rnbd_access_list *list, const char *pattern, size_t len);
int rnbd_server_list_add_prefix(struct rnbd_access_list *list,
				const struct rnbd_access_prefix *prefix);
int rnbd_server_list_add_export(struct rnbd_access_list *list, const char *name, size_t len,
				const char *path, size_t path_len);
int rnbd_server_list_add_allow(struct rnbd_access_list *list, const char *peer, size_t len,
			       u8 mode);

/**
 * rnbd_server_list_end - all is added: sort, and check what belongs together
 * @list: it
 * @culprit: name that is at fault
 *
 * Return: 0; -EEXIST: a peer or an export is there twice; -ENOENT: a right of a peer that is not
 * there; -ENODATA: the list is empty
 */
int rnbd_server_list_end(struct rnbd_access_list *list, const char **culprit);

/* '*' stands for any characters, '?' for any one. */
bool rnbd_server_list_match(const char *pattern, const char *text);

/* Is the peer there? @name may be NULL: any session. */
bool rnbd_server_list_is_peer(const struct rnbd_access_list *list, u32 peer,
			      const struct rnbd_access_addr *addr, const char *name);
/* The first one that is; RNBD_ACCESS_NOBODY. */
u32 rnbd_server_list_find_peer(const struct rnbd_access_list *list,
			       const struct rnbd_access_addr *addr, const char *name);
u32 rnbd_server_list_peer_by_name(const struct rnbd_access_list *list, const char *name);
/* The export of exactly this name, or NULL. */
struct rnbd_access_export *rnbd_server_list_export_by_name(const struct rnbd_access_list *list,
							   const char *name);

/**
 * struct rnbd_access_answer - what a list says to an OPEN
 * @export: that decides, or NULL
 * @mode: the most that the peer may ask of it; below 0: nothing
 * @name: as asked for, without leading and double '/'
 * @rest: of @name, below the directory of @export
 */
struct rnbd_access_answer {
	const struct rnbd_access_export *export;
	int mode;
	char name[RNBD_ACCESS_NAME_LEN];
	const char *rest;
};

/* Return: 0, -ENOENT: no right to such an export; -EACCES: not to @mode */
int rnbd_server_list_judge(const struct rnbd_access_list *list, u32 peer, const char *name, u8 mode,
			   struct rnbd_access_answer *answer);

#endif /* RNBD_SERVER_ACCESS_LIST_H */
