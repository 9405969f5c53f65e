/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands for what nl-later.c is built against, where it is built on the host: netlink, workers and
 * the table of commands, of which there is one.
 */
#ifndef STUB_NL_H
#define STUB_NL_H

/* The real ones are empty then. */
#define RTRS_ASIDE_H
#define RTRS_NL_H
#define RTRS_CORE_MAIN_H
#define RTRS_NL_FAMILY_H

#include <linux/types.h>
#include <linux/kernel.h>
#include <linux/list.h>

typedef int spinlock_t;

struct sock {
	int refs;
};

struct netlink_skb_parms {
	struct sock *sk;
};

struct sk_buff {
	struct sock *sk;
	char cb[48];
	unsigned char *data;
};

struct nlattr {
	int unused;
};

struct nlmsghdr {
	u32 nlmsg_len;
	u16 nlmsg_flags;
};

struct genl_info {
	u32 snd_portid;
	struct nlmsghdr *nlhdr;
	void *genlhdr;
	struct nlattr **attrs;
	struct netlink_ext_ack *extack;
};

struct netlink_notify {
	const int *net;
	u32 portid;
	int protocol;
};

struct notifier_block {
	int (*notifier_call)(struct notifier_block *nb, unsigned long event, void *arg);
};

struct rtrs_aside {
	void (*run)(struct rtrs_aside *aside);
	bool killed;
};

static const struct {
	u8 cmd;
	unsigned int maxattr;
} rnbd_nl_ops[] = { { 1, 0 } };

extern int init_net;

#define NLM_F_ACK			4
#define NETLINK_GENERIC			16
#define NETLINK_URELEASE		1
#define NOTIFY_DONE			0
#define NETLINK_CB(skb)			(*(struct netlink_skb_parms *)(skb)->cb)
#define net_eq(a, b)			((a) == (b))
#define struct_size(p, member, n)	(sizeof(*(p)) + (n) * sizeof((p)->member[0]))
#define DEFINE_SPINLOCK(l)		spinlock_t l
#define spin_lock(l)			((void)(*(l))++)
#define spin_unlock(l)			((void)(*(l))--)
#define DECLARE_WAIT_QUEUE_HEAD(w)	int w
#define wake_up_all(w)			((void)(w))
#define msecs_to_jiffies(ms)		(ms)
#define pr_info(...)			((void)0)
#define sock_hold(sk)			((sk)->refs++)
#define sock_put(sk)			((sk)->refs--)
#define skb_trim(skb, n)		((void)(n))
#define rtrs_aside_init(a, fn)		((a)->run = (fn))
#define rtrs_aside_kill(a)		((a)->killed = true)
#define rtrs_aside_over(a)		(!(a)->killed)

/* The test's: what somebody waits for when nothing more happens. */
bool stub_waits(bool over);
#define wait_event_timeout(w, cond, t)	stub_waits(cond)

struct sk_buff *netlink_skb_clone(struct sk_buff *skb, gfp_t gfp);
void consume_skb(struct sk_buff *skb);
void netlink_ack(struct sk_buff *skb, struct nlmsghdr *nlh, int err,
		 const struct netlink_ext_ack *extack);
int netlink_register_notifier(struct notifier_block *nb);
int netlink_unregister_notifier(struct notifier_block *nb);
void rtrs_aside_start(struct rtrs_aside *aside);
int rtrs_nl_do_cmd(u8 cmd, struct genl_info *info);

int rtrs_nl_later(u8 cmd, struct sk_buff *skb, struct genl_info *info);
int rtrs_nl_later_init(void);
void rtrs_nl_later_exit(void);

#endif /* STUB_NL_H */
