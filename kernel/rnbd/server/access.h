/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who may do what: the state of the server, the list that is in force, and what is told of
 * decisions. rnbd_server_access.lock protects all of it. Order of locks: that of a session of the
 * transport, writer->lock; this one; session->lock, exports_lock, locks of the transport's lists.
 */
#ifndef RNBD_SERVER_ACCESS_H
#define RNBD_SERVER_ACCESS_H

#include "server.h"
#include "access-list.h"
#include "path.h"

#define RNBD_ACCESS_IDS	256	/* that the answer to a change has */

/**
 * struct rnbd_access - who may do what
 * @state: of the server
 * @list: where that is LISTED
 * @number: of it
 * @loaded_ns: CLOCK_REALTIME of the last change, 0 before
 * @uid: who made it
 */
struct rnbd_access {
	enum rnbd_access_state state;
	struct rnbd_access_list *list;
	u32 number;
	u64 loaded_ns;
	u32 uid;
};

/**
 * struct rnbd_server_right - the answer to an OPEN
 * @listed: by the list
 * @fixed: one device; the administrator wrote all of @path
 * @io_mode: RNBD_IO_*; RNBD_IO_ANY without a list
 * @number: of what answered
 * @reason: of a refusal
 * @export: name of the export; empty without a list
 * @path: where it leads to
 */
struct rnbd_server_right {
	bool listed;
	bool fixed;
	u8 io_mode;
	u32 number;
	enum rnbd_access_reason reason;
	char export[RNBD_ACCESS_NAME_LEN];
	struct rnbd_server_path path;
};

/**
 * struct rnbd_access_change - a change, and what comes of it
 * @to: state and list; the list is gone afterwards
 * @expect: number that is to be replaced, 0 for any
 * @force: end what is not let in any more
 * @dry: change nothing
 * @loginuid: who asks for it
 * @paths: that end
 * @exports: openings that end
 * @path_id: their ids
 * @export_id: the same
 */
struct rnbd_access_change {
	struct rnbd_access to;
	u32 expect;
	bool force;
	bool dry;
	u32 loginuid;
	u32 paths;
	u32 exports;
	u32 path_id[RNBD_ACCESS_IDS];
	u32 export_id[RNBD_ACCESS_IDS];
};

/**
 * struct rnbd_access_note - a decision; NULL or 0 is not known
 * @event: enum rnbd_access_event
 * @step: enum rnbd_access_step
 * @peer: name of the client
 * @session: name
 * @addr: of the path
 * @asked: name of the device
 * @export: name of the export
 * @path: where it leads to
 * @mode: that was asked for
 * @err: of a refusal
 * @reason: the same
 */
struct rnbd_access_note {
	enum rnbd_access_event event;
	enum rnbd_access_step step;
	const char *peer;
	const char *session;
	const struct rtrs_path_addr *addr;
	const char *asked;
	const char *export;
	const char *path;
	u8 mode;
	int err;
	enum rnbd_access_reason reason;
};

/* access.c */
void rnbd_server_access_free(struct rnbd_access_list *list);
extern struct mutex rnbd_server_access_lock;
extern struct rnbd_access rnbd_server_access;
/* -EAGAIN: another number is in force; -EBUSY: something would end */
int rnbd_server_access_change(struct rnbd_access_change *change);
/* Under the lock: what to say to an OPEN; -ENOENT, -EACCES, -EINVAL */
int rnbd_server_access_judge(const struct rnbd_access *access, const char *peer,
			     const char *session, const char *asked, u8 mode,
			     struct rnbd_server_right *right);
/* Under the lock: -ENOKEY, -EACCES */
int rnbd_server_access_find(const struct rnbd_access *access, const struct rnbd_access_addr *addr,
			    const char *session, u32 *peer, enum rnbd_access_reason *reason);
void rnbd_server_access_addr(const struct sockaddr_storage *from, const u8 *gid,
			     struct rnbd_access_addr *addr);
/* Under the lock: calls @fn for each session that is not lost */
void rnbd_server_access_sessions(void (*fn)(struct rnbd_server_session *session, void *arg),
				 void *arg);

/* access-note.c; under the lock */
void rnbd_server_access_note(const struct rnbd_access_note *note);
void rnbd_server_access_loaded(const struct rnbd_access *old, u32 loginuid);
void rnbd_server_access_totals(u64 *denied, u64 *seq);

/* access-nl.c */
int rnbd_server_access_get(struct sk_buff *msg, struct genl_info *info);
int rnbd_server_access_dump(struct sk_buff *skb, struct netlink_callback *cb,
			    struct nlattr **attrs, u32 *cursor);
int rnbd_server_access_set(struct sk_buff *msg, struct genl_info *info);
int rnbd_server_access_test(struct sk_buff *msg, struct genl_info *info);

#endif /* RNBD_SERVER_ACCESS_H */
