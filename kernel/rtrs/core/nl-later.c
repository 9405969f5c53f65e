// SPDX-License-Identifier: GPL-2.0
/*
 * Commands that change something and may wait for a peer. A worker runs the command and sends
 * the reply and then the ACK, in the order of netlink. The sender waits in recv(),
 * without a lock. A sender that is killed closes its socket: the worker of its command gets
 * SIGKILL, and the close waits until the command has undone what it began, or left it to a worker.
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

#define KILLED_MS	5000	/* the close of a socket waits for killed commands */

static DEFINE_SPINLOCK(commands_lock);	/* process context */
static LIST_HEAD(commands);	/* that run, or are to */
static DECLARE_WAIT_QUEUE_HEAD(command_ended);

/**
 * struct command - a request that a worker runs
 * @aside: the work
 * @entry: in the list of commands
 * @cmd: RNBD_CMD_*
 * @skb: the request, without others of the same buffer
 * @info: copy of what generic netlink parsed; its pointers lead into @skb
 * @extack: for the ACK
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
	spin_unlock(&commands_lock);
	/* Not to a socket that is closed: another one may have its port ID. A close waits. */
	if (awaited && (err || nlh->nlmsg_flags & NLM_F_ACK))
		netlink_ack(c->skb, nlh, err, &c->extack);
	spin_lock(&commands_lock);
	list_del(&c->entry);
	spin_unlock(&commands_lock);
	wake_up_all(&command_ended);
	command_free(c);
}

static unsigned int max_attr_of(u8 cmd)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rnbd_nl_ops); i++)
		if (rnbd_nl_ops[i].cmd == cmd)
			return rnbd_nl_ops[i].maxattr;
	return 0;
}

static struct command *command_create(u8 cmd, struct sk_buff *skb, const struct genl_info *info)
{
	unsigned int count = info->attrs ? max_attr_of(cmd) + 1 : 0;
	struct command *c;

	c = kzalloc(struct_size(c, attrs, count), GFP_KERNEL);
	if (!c)
		return NULL;
	c->skb = netlink_skb_clone(skb, GFP_KERNEL);	/* it may be large: not copied */
	if (!c->skb) {
		kfree(c);
		return NULL;
	}
	skb_trim(c->skb, info->nlhdr->nlmsg_len);
	/* The kernel's socket of the initial namespace: it is never closed. */
	c->skb->sk = skb->sk;
	sock_hold(NETLINK_CB(c->skb).sk);
	c->cmd = cmd;
	c->info = *info;
	c->info.extack = &c->extack;
	if (count)
		memcpy(c->attrs, info->attrs, count * sizeof(c->attrs[0]));
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

/* Whether commands of the socket run. @kill: ends their waits for peers. */
static bool socket_has_commands(u32 portid, bool kill)
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
	    !net_eq(n->net, &init_net) || !socket_has_commands(n->portid, true))
		return NOTIFY_DONE;
	if (!wait_event_timeout(command_ended, !socket_has_commands(n->portid, false),
				msecs_to_jiffies(KILLED_MS)))
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
