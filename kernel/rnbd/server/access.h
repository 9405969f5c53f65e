/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who may do what: the state of the server, the list that is in force, and what is told of
 * decisions. rnbd_server_access_lock protects all of it. Order of locks: that of a session of the
 * transport, writer->lock; this one; session->lock, exports_lock, locks of the transport's lists.
 */
#ifndef RNBD_SERVER_ACCESS_H
#define RNBD_SERVER_ACCESS_H

#include "server.h"
#include "access-list.h"
#include "path.h"

#define RNBD_ACCESS_IDS	200	/* of each kind that the answer to a change has */

/**
 * struct rnbd_access - who may do what
 * @state: of the server
 * @list: where that is LISTED
 * @number: of it
 * @loaded_ns: CLOCK_REALTIME of the last change, 0 before
 * @uid: who made it
 * @loginuid: the same
 */
struct rnbd_access {
	enum rnbd_access_state state;
	struct rnbd_access_list *list;
	u32 number;
	u64 loaded_ns;
	u32 uid;
	u32 loginuid;
};

/**
 * struct rnbd_server_right - the answer to an OPEN
 * @listed: by the list
 * @fixed: one device; the administrator wrote all of @path
 * @io_mode: RNBD_IO_*; RNBD_IO_ANY without a list
 * @number: of what answered
 * @reason: of a refusal
 * @mode: the most that may be asked for; below 0: nothing
 * @export: name of the export that decided, if any
 * @path: where it leads to
 */
struct rnbd_server_right {
	bool listed;
	bool fixed;
	u8 io_mode;
	u32 number;
	enum rnbd_access_reason reason;
	int mode;
	char export[RNBD_ACCESS_NAME_LEN];
	struct rnbd_server_path path;
};

/**
 * struct rnbd_access_change - a change, and what comes of it
 * @to: what is to be; what is not in force any more afterwards
 * @expect: number that is to be replaced, 0 for any
 * @force: end what is not let in any more
 * @dry: change nothing
 * @msg: the answer: ids of what ends are put there
 * @paths: that end
 * @exports: openings that end
 * @apply: this is the second look at all that is there, which ends it
 * @right: for answers
 */
struct rnbd_access_change {
	struct rnbd_access to;
	u32 expect;
	bool force;
	bool dry;
	struct sk_buff *msg;
	u32 paths;
	u32 exports;
	bool apply;
	struct rnbd_server_right *right;
};

/* What the sessions of a peer have. */
struct rnbd_access_usage {
	u32 sessions;
	u32 devices;
	u64 pinned;
};

/* access-state.c; under the lock */
extern struct rnbd_access rnbd_server_access;
extern struct list_head rnbd_server_access_sessions;	/* of struct rnbd_server_session */
void rnbd_server_access_list_free(struct rnbd_access_list *list);
int rnbd_server_access_errno(enum rnbd_access_reason reason);

/* access-change.c. -EAGAIN: another number is in force; -EBUSY: something would end */
int rnbd_server_access_change(struct rnbd_access_change *change);

/* access.c; under the lock */

/* The one with this id in netlink that is not lost, or NULL. */
struct rnbd_server_session *rnbd_server_access_session_by_id(u32 id);
/*
 * Which peer it is, or why none; neither where there is no list. The first path says which one a
 * session is, @known, else "", and the others must be of the same.
 */
enum rnbd_access_reason rnbd_server_access_recognise(const struct rnbd_access *access,
						     const struct rtrs_server_guest *guest,
						     const char *known,
						     const struct rnbd_access_entry **peer);
/* What to say to an OPEN: 0, -ENOENT, -EACCES, -EINVAL */
int rnbd_server_access_judge(const struct rnbd_access *access, const char *peer,
			     const char *session, const char *asked, u8 mode,
			     struct rnbd_server_right *right);
/* The same for an open device: it stays open where another export leads to it, too. */
int rnbd_server_access_judge_again(const struct rnbd_access *access, const char *peer,
				   const struct rnbd_server_dev *dev,
				   struct rnbd_server_right *right);
struct rnbd_access_usage rnbd_server_access_usage(const char *peer);

/* access-note.c; under the lock */
extern u64 rnbd_server_access_seq;	/* of the last event */
extern u64 rnbd_server_access_denials;	/* since the module was loaded */
void rnbd_server_access_note_path(enum rnbd_access_event event,
				  const struct rtrs_server_guest *guest, const char *peer,
				  enum rnbd_access_reason reason);
void rnbd_server_access_note_open(enum rnbd_access_event event, const struct rnbd_server_dev *dev,
				  enum rnbd_access_reason reason);
void rnbd_server_access_note_loaded(const struct rnbd_access *old);

/* access-nl.c */
int rnbd_server_access_get(struct sk_buff *msg, struct genl_info *info);
int rnbd_server_access_dump(struct sk_buff *skb, struct netlink_callback *cb,
			    struct nlattr **attrs, u32 *cursor);
int rnbd_server_access_set(struct sk_buff *msg, struct genl_info *info);
int rnbd_server_access_test(struct sk_buff *msg, struct genl_info *info);

#endif /* RNBD_SERVER_ACCESS_H */
