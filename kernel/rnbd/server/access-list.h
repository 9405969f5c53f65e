/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The access list: who is which peer, and what a peer may open. It is the attributes of the
 * request that brought it. Attributes, addresses and text only: the unit tests and fuzzers build
 * access-list.c on the host.
 */
#ifndef RNBD_SERVER_ACCESS_LIST_H
#define RNBD_SERVER_ACCESS_LIST_H

#include <linux/types.h>
#include <net/netlink.h>
#include <rtrs/types.h>
#include <uapi/linux/rnbd.h>

#define RNBD_ACCESS_NAME_LEN	255	/* bytes of the name of an export, NUL included */

/**
 * struct rnbd_access_entry - a peer or an export
 * @name: of it; that of a directory ends in '/'
 * @nest: all that was said of it
 * @denied: how often a peer was refused; this and the next one: the caller's, and its lock
 * @openings: of an export
 */
struct rnbd_access_entry {
	const char *name;
	const struct nlattr *nest;
	u64 denied;
	u32 openings;
};

/**
 * struct rnbd_access_list - a list; one allocation, for kvfree()
 * @peers: how many
 * @exports: how many
 * @longest: bytes of the longest nest
 * @entry: the peers, in the order in which they are asked, then the exports
 * @by_name: the peers, then the exports, both in the order of their names
 */
struct rnbd_access_list {
	u32 peers;
	u32 exports;
	int longest;
	struct rnbd_access_entry *entry;
	struct rnbd_access_entry **by_name;
};

/* Of attributes that their policy let through. -EINVAL, -EOPNOTSUPP: @extack says why; -ENOMEM */
struct rnbd_access_list *rnbd_server_list_new(const void *attrs, size_t len,
					      struct netlink_ext_ack *extack);

/* What a nest has of this type: "" or @otherwise where it has none. A number is a u32 or u64. */
const char *rnbd_server_list_text(const struct nlattr *nest, int type);
u64 rnbd_server_list_number(const struct nlattr *nest, int type, u64 otherwise);

/* '*' stands for any characters, '?' for any one. */
bool rnbd_server_list_match(const char *pattern, const char *text);

/*
 * Is it the peer, by its address and the GID that answers go to? Without @gid: as RoCE has it, and
 * without @session any session.
 */
bool rnbd_server_list_is_peer(const struct rnbd_access_entry *peer,
			      const struct sockaddr_storage *from, const u8 *gid,
			      const char *session);
/* The first one that is, or NULL. */
const struct rnbd_access_entry *rnbd_server_list_find_peer(const struct rnbd_access_list *list,
							   const struct sockaddr_storage *from,
							   const u8 *gid, const char *session);
/* Those of exactly this name, or NULL. */
struct rnbd_access_entry *rnbd_server_list_peer(const struct rnbd_access_list *list,
						const char *name);
struct rnbd_access_entry *rnbd_server_list_export(const struct rnbd_access_list *list,
						  const char *name, size_t len);

static inline bool rnbd_access_is_dir(const struct rnbd_access_entry *export)
{
	return export->name[strlen(export->name) - 1] == '/';
}

/**
 * struct rnbd_access_answer - what a list says to an OPEN
 * @export: that decides, or NULL
 * @mode: the most that the peer may ask of it; below 0: nothing
 * @name: as asked for, without leading and double '/'
 * @rest: of @name, below the directory of @export
 */
struct rnbd_access_answer {
	const struct rnbd_access_entry *export;
	int mode;
	char name[RNBD_ACCESS_NAME_LEN];
	const char *rest;
};

/* @peer may be none of the list. no-export, access-mode, none */
enum rnbd_access_reason rnbd_server_list_judge(const struct rnbd_access_list *list,
					       const char *peer, const char *name, u8 mode,
					       struct rnbd_access_answer *answer);

#endif /* RNBD_SERVER_ACCESS_LIST_H */
