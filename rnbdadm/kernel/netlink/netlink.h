/* SPDX-License-Identifier: GPL-2.0 */
/* Between the files of the netlink layer. */
#ifndef RNBDADM_KERNEL_NETLINK_NETLINK_H
#define RNBDADM_KERNEL_NETLINK_NETLINK_H

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/rnbd.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <stdio.h>

#include "kernel/kernel.h"

/* What the tables of both families are held against where they are compiled. */
#define ATTR_MAX	40		/* of every set at the top of a message */
#define OPS_MAX		64		/* bits of the ops of struct nl */

struct nl_file;

struct nl {
	struct kernel k;
	struct nl_sock *sk;
	struct nl_cb *cb;
	struct nl_file *file;		/* recording or replay */
	int family;
	uint64_t ops;			/* bit per command that the family lists */
	struct { char name[16]; uint32_t id; } groups[8];
	size_t ngroups;
	struct nl_sock *events;
	/* the request under way */
	struct nlmsghdr *req;
	struct nl_error *e;
	void (*reply)(const struct nlmsghdr *h, void *arg);
	void *arg;
	bool done, interrupted;
	uint64_t started_ns;
};

static inline struct nl *to_nl(struct kernel *k)
{
	return (struct nl *)k;
}

/* requests.c */
extern const struct kernel_ops netlink_ops;
/* transact.c */
struct kernel *netlink_open(const struct nl_config *cfg, struct nl_error *e);
void netlink_close(struct kernel *k);
bool netlink_has_group(const struct kernel *k, const char *group);
/* dumps.c */
bool netlink_snapshot(struct kernel *k, enum m_role role, unsigned int what, struct snapshot *s,
		      bool *torn, struct nl_error *e);
/* events.c */
bool netlink_listen(struct kernel *k, const char *group, struct nl_error *e);
enum nl_next netlink_next_event(struct kernel *k, struct nl_event *ev);
bool netlink_events(struct kernel *k);
/* access.c */
bool netlink_access(struct kernel *k, enum access_ask what, const struct access_list *request,
		    struct access_list *reply, struct nl_error *e);

/* transact.c: a message with its generic netlink header; flags as NLM_F_DUMP. */
struct nl_msg *rnl_new(struct nl *nl, int cmd, int flags);
/*
 * Sends @msg, frees it, and calls @reply for each answer up to the end of the
 * dump or the acknowledgement.
 */
bool rnl_transact(struct nl *nl, struct nl_msg *msg,
		 void (*reply)(const struct nlmsghdr *h, void *arg), void *arg,
		 struct nl_error *e);

/* events.c: the next message of a group that was listened to, or of the controller: with NL_NEXT_EVENT in @h */
enum nl_next rnl_next_message(struct nl *nl, const struct nlmsghdr **h);

/* The same with room for @size bytes. */
struct nl_msg *rnl_new_sized(struct nl *nl, int cmd, size_t size);

/* send.c: sends within the limit for changes; errno is set on failure */
#define RNL_LATE	1		/* not done in time, @nl is stuck and keeps @msg */
int rnl_send(struct nl *nl, struct nl_msg *msg);

/* dumps.c */
void rnl_parse_session(const struct nlmsghdr *h, struct session *s);
void rnl_parse_path(const struct nlmsghdr *h, struct path *p);
bool rnl_parse_event(const struct nlmsghdr *h, struct nl_event *ev);
void rnl_parse_device(const struct nlmsghdr *h, struct device *d);
void rnl_parse_revalidated(const struct nlmsghdr *h, struct export *now, enum m_reach *reach);
bool rnl_has_op(const struct nl *nl, int cmd, struct nl_error *e);

/* access.c */
json_t *rnl_parse_access(const struct nlmsghdr *h);

/* record.c: the transfer functions while recording or replaying */
struct nl_file *rnl_file_open(const char *path, bool write, struct nl_error *e);
void rnl_file_attach(struct nl_file *f, struct nl_cb *cb, const struct nl_family *family);
bool rnl_file_close(struct nl_file *f);
/* why the replay stopped, "" if it did not */
const char *rnl_file_problem(const struct nl_file *f);
/* an event that came, @len 0: some were dropped; the next one of a replay, NULL in @h for those, or false */
void rnl_file_put_event(struct nl_file *f, const void *data, size_t len);
bool rnl_file_next_event(struct nl_file *f, const struct nlmsghdr **h);
/* the file that belongs to a socket's callbacks */
void rnl_file_set_current(struct nl_file *f);

/* names.c: names of commands and attributes, from include/netlink/rnbd.yaml and rds.yaml */
enum nl_type { NL_U8 = 1, NL_U16, NL_U32, NL_S32, NL_U64, NL_STR, NL_BIN, NL_FLAG_T, NL_NEST };

struct nl_attr_desc {
	const char *name;
	enum nl_type type;
	const struct nl_attr_set *nest;
	bool list;			/* it comes several times */
};

struct nl_attr_set {
	unsigned int max;
	const struct nl_attr_desc *attrs;
};

struct nl_cmd_desc {
	const char *name;
	const struct nl_attr_set *set;
};

struct nl_family {
	const char *name;
	uint8_t version;
	const struct nl_cmd_desc *cmds;
	size_t ncmds;
};

const char *rnl_cmd_name(const struct nl_family *f, int cmd);
/* The attributes of its messages, NULL if there is no such command. */
const struct nl_attr_set *rnl_cmd_set(const struct nl_family *f, int cmd);
/* NULL if it is unknown. */
const struct nl_attr_desc *rnl_attr(const struct nl_attr_set *set, unsigned int type);
/* Name of the attribute at @offset of a sent message; "" if unknown. */
void rnl_attr_at(const struct nl_family *f, const struct nlmsghdr *h, unsigned int offset, char *buf,
		 size_t len);
/* Name of attribute @type missing in the nest at @nest_offset, 0 = top. */
void rnl_attr_missing(const struct nl_family *f, const struct nlmsghdr *h, unsigned int nest_offset,
		      unsigned int type, char *buf, size_t len);
void rnl_trace_msg(const struct nl *nl, const char *dir, const struct nlmsghdr *h);

#endif
