// SPDX-License-Identifier: GPL-2.0
/*
 * Commands that change something, and may wait for a peer: a worker runs them and answers, with
 * the reply first and the ack behind it, as netlink does. Whoever has asked waits for
 * that in recv(), with no lock. When its socket is closed, as it was killed, the command ends as
 * if that had met it; what it began is undone or goes on by itself before the socket is gone.
 */
#include <linux/list.h>
#include <linux/netlink.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <net/sock.h>
#include <rtrs/aside.h>
#include <rtrs/nl.h>
#include "main.h"
#include "nl-family.h"

#define ENDS_MS	5000	/* so long a socket waits for its commands that were killed */

static DEFINE_SPINLOCK(commands_lock);	/* process context */
static LIST_HEAD(commands);
static DECLARE_WAIT_QUEUE_HEAD(ended);

/**
 * struct command - a request that a worker deals with
 * @aside: has it run
 * @entry: in the list of commands
 * @cmd: RNBD_CMD_*
 * @skb: the request, and it alone
 * @info: what generic netlink made of it
 * @extack: what is wrong with it
 * @attrs: of @info
 */
struct command {
	struct rtrs_aside aside;
	struct list_head entry;
	u8 cmd;
	struct sk_buff *skb;
	struct genl_info info;
	struct netlink_ext_ack extack;
	struct nlattr *attrs[];
};

static void command_free(struct command *c)
{
	sock_put(NETLINK_CB(c->skb).sk);
	c->skb->sk = NULL;
	consume_skb(c->skb);
	kfree(c);
}

static void run_command(struct rtrs_aside *aside)
{
	struct command *c = container_of(aside, struct command, aside);
	struct nlmsghdr *nlh = (struct nlmsghdr *)c->skb->data;
	int err = rtrs_nl_do_cmd(c->cmd, &c->info);
	bool awaited;

	spin_lock(&commands_lock);
	awaited = rtrs_aside_over(&c->aside);
	list_del(&c->entry);
	spin_unlock(&commands_lock);
	wake_up_all(&ended);
	/* Its port may be somebody else's now. */
	if (awaited && (err || nlh->nlmsg_flags & NLM_F_ACK))
		netlink_ack(c->skb, nlh, err, &c->extack);
	command_free(c);
}

static unsigned int max_attr(u8 cmd)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rnbd_nl_ops); i++)
		if (rnbd_nl_ops[i].cmd == cmd)
			return rnbd_nl_ops[i].maxattr;
	return 0;
}

/* Where in the copy lies what was at @at. */
static void *moved(const struct command *c, const struct genl_info *info, const void *at)
{
	return at ? c->skb->data + (at - (const void *)info->nlhdr) : NULL;
}

static struct command *command_create(u8 cmd, struct sk_buff *skb, const struct genl_info *info)
{
	unsigned int count = info->attrs ? max_attr(cmd) + 1 : 0, i;
	u32 len = info->nlhdr->nlmsg_len;
	struct command *c;

	c = kzalloc(struct_size(c, attrs, count), GFP_KERNEL);
	if (!c)
		return NULL;
	c->skb = alloc_skb(len, GFP_KERNEL);
	if (!c->skb) {
		kfree(c);
		return NULL;
	}
	skb_put_data(c->skb, info->nlhdr, len);
	memcpy(c->skb->cb, skb->cb, sizeof(skb->cb));
	/* The kernel's own, which is there as long as its namespace, and that is the first. */
	c->skb->sk = skb->sk;
	sock_hold(NETLINK_CB(c->skb).sk);
	c->cmd = cmd;
	c->info = *info;
	c->info.nlhdr = moved(c, info, info->nlhdr);
	c->info.genlhdr = moved(c, info, info->genlhdr);
	c->info.extack = &c->extack;
	for (i = 0; i < count; i++)
		c->attrs[i] = moved(c, info, info->attrs[i]);
	c->info.attrs = count ? c->attrs : NULL;
	rtrs_aside_init(&c->aside, run_command);
	return c;
}

int rtrs_nl_later(u8 cmd, struct sk_buff *skb, struct genl_info *info)
{
	struct command *c = command_create(cmd, skb, info);

	if (!c)
		return -ENOMEM;
	spin_lock(&commands_lock);
	list_add_tail(&c->entry, &commands);
	spin_unlock(&commands_lock);
	rtrs_aside_start(&c->aside);
	return -EINTR;
}

/* Whether the socket has any; @kill: from now on none that waits for a peer. */
static bool has_commands(u32 portid, bool kill)
{
	struct command *c;
	bool has = false;

	spin_lock(&commands_lock);
	list_for_each_entry(c, &commands, entry) {
		if (c->info.snd_portid != portid)
			continue;
		has = true;
		if (kill)
			rtrs_aside_kill(&c->aside);
	}
	spin_unlock(&commands_lock);
	return has;
}

static int socket_released(struct notifier_block *nb, unsigned long event, void *arg)
{
	const struct netlink_notify *n = arg;

	if (event != NETLINK_URELEASE || n->protocol != NETLINK_GENERIC ||
	    !net_eq(n->net, &init_net) || !has_commands(n->portid, true))
		return NOTIFY_DONE;
	if (!wait_event_timeout(ended, !has_commands(n->portid, false), msecs_to_jiffies(ENDS_MS)))
		pr_info("a command whose process was killed still clears away what it began\n");
	return NOTIFY_DONE;
}

static struct notifier_block released = {
	.notifier_call = socket_released,
};

int __init rtrs_nl_later_init(void)
{
	return netlink_register_notifier(&released);
}

void rtrs_nl_later_exit(void)
{
	netlink_unregister_notifier(&released);
}
