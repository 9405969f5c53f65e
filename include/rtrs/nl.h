/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generic netlink family "rnbd" (include/netlink/rnbd.yaml) belongs to
 * rtrs-core. Each other module registers a provider for its nouns and commands.
 * Only nl files include this.
 */
#ifndef RTRS_NL_H
#define RTRS_NL_H

#include <linux/types.h>
#include <net/genetlink.h>
#include <uapi/linux/rnbd.h>

/**
 * struct rtrs_nl_cmd - one command of a provider
 * @cmd: RNBD_CMD_*
 * @get: put the attributes of the object that @info->attrs name into @msg (head and end
 *	are core's). -ENOENT where there is none, with a text in @info->extack. Also for MAP,
 *	whose reply is an object.
 *	@info->user_ptr: uid and loginuid of who asks for a change.
 * @act: do something that has no reply, or NULL
 * @dump: for each object with an id above *@cursor, in ascending order of ids, that fits
 *	the filter in @attrs: begin a message with rtrs_nl_dump_begin(), put, end with
 *	rtrs_nl_dump_end(), and set *@cursor to its id; stop with -EMSGSIZE as soon as
 *	something does not fit. 0 when all are out. cursor[1] is the provider's own, 0 at first.
 */
struct rtrs_nl_cmd {
	u8 cmd;
	int (*get)(struct sk_buff *msg, struct genl_info *info);
	int (*act)(struct genl_info *info);
	int (*dump)(struct sk_buff *skb, struct netlink_callback *cb, struct nlattr **attrs,
		    u32 *cursor);
};

/**
 * struct rtrs_nl_provider - commands of one module
 * @name: of the module, for error texts: "rnbd-client"
 * @owner: pinned while a command runs
 * @role: end whose objects they are
 * @cmds: commands
 * @count: of @cmds
 */
struct rtrs_nl_provider {
	const char *name;
	struct module *owner;
	enum rnbd_role role;
	const struct rtrs_nl_cmd *cmds;
	unsigned int count;
};

/* @provider must stay until unregistered. At most one provider per (command, role). */
int rtrs_nl_register(const struct rtrs_nl_provider *provider);

/* Returns when none of its commands runs any more. */
void rtrs_nl_unregister(const struct rtrs_nl_provider *provider);

/* Messages of a dump. NULL: the skb is full, return -EMSGSIZE. */
void *rtrs_nl_dump_begin(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd);
void rtrs_nl_dump_end(struct sk_buff *skb, struct netlink_callback *cb, void *hdr);

/**
 * struct rtrs_nl_stats - the counters of a path, for rtrs_nl_dump_stats()
 * @id: of the path
 * @path: for the others
 * @totals: puts all but CPUs
 * @cpu: puts those of one CPU as a nest, nothing if there are none; not in part
 */
struct rtrs_nl_stats {
	u32 id;
	void *path;
	int (*totals)(struct sk_buff *skb, void *path);
	int (*cpu)(struct sk_buff *skb, void *path, unsigned int cpu);
};

/*
 * Message of one path in a dump. -EMSGSIZE: some CPUs or all are left for the next skb;
 * @cursor knows.
 */
int rtrs_nl_dump_stats(struct sk_buff *skb, struct netlink_callback *cb,
		       const struct rtrs_nl_stats *stats, u32 *cursor);

/**
 * rtrs_nl_event_begin - start a notification
 * @cmd: RNBD_CMD_*_NTF
 * @hdr: for rtrs_nl_event_send()
 *
 * Moves the generation counter. Any context but hard interrupts, no sleep. The
 * caller puts attributes, then calls rtrs_nl_event_send().
 *
 * Return: NULL where nobody listens or memory is short (listeners then see a gap: the
 * generation jumps)
 */
struct sk_buff *rtrs_nl_event_begin(u8 cmd, void **hdr);
void rtrs_nl_event_send(struct sk_buff *skb, void *hdr, u8 cmd);

/* A change that no event tells of moves the generation, too. */
u32 rtrs_nl_generation(void);

/* put of a sockaddr of its true length (RTRS addresses). */
int rtrs_nl_put_addr(struct sk_buff *skb, int attr, const struct sockaddr_storage *addr);

/*
 * Reads a sockaddr attribute: family known and length fit. Ports stay as they are.
 * -EINVAL with text and attribute in @extack.
 */
int rtrs_nl_get_addr(const struct nlattr *attr, struct sockaddr_storage *out,
		     struct netlink_ext_ack *extack);

#endif /* RTRS_NL_H */
