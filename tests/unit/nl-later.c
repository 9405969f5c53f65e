// SPDX-License-Identifier: GPL-2.0
/*
 * Commands that a worker runs, and a socket that is closed at each moment of that:
 * kernel/rtrs/core/nl-later.c.
 */
#include "stub/nl.h"
#include "tap.h"

#define PORT	77

int init_net;

static struct notifier_block *notifier;
static struct rtrs_aside *started;
static struct sock sock;
static int acks, waits;

static enum moment {
	NEVER,
	RUNNING,
	ANSWERING,
} closed_at;

static void close_socket(void)
{
	struct netlink_notify n = { &init_net, PORT, NETLINK_GENERIC };

	notifier->notifier_call(notifier, NETLINK_URELEASE, &n);
}

bool stub_waits(bool over)
{
	waits += !over;
	return over;
}

struct sk_buff *netlink_skb_clone(struct sk_buff *skb, gfp_t gfp)
{
	struct sk_buff *clone = malloc(sizeof(*skb));

	(void)gfp;
	if (clone)
		*clone = *skb;
	return clone;
}

void consume_skb(struct sk_buff *skb)
{
	free(skb);
}

void netlink_ack(struct sk_buff *skb, struct nlmsghdr *nlh, int err,
		 const struct netlink_ext_ack *extack)
{
	(void)skb, (void)extack;
	EQ(nlh->nlmsg_flags, NLM_F_ACK);
	EQ(err, 0);
	acks++;
	if (closed_at == ANSWERING)
		close_socket();
}

int netlink_register_notifier(struct notifier_block *nb)
{
	notifier = nb;
	return 0;
}

int netlink_unregister_notifier(struct notifier_block *nb)
{
	CHECK(nb == notifier);
	return 0;
}

void rtrs_aside_start(struct rtrs_aside *aside)
{
	started = aside;
}

int rtrs_nl_do_cmd(u8 cmd, struct genl_info *info)
{
	EQ(cmd, 1);
	EQ(info->snd_portid, PORT);
	if (closed_at == RUNNING)
		close_socket();
	return 0;
}

static void command(enum moment moment)
{
	struct nlmsghdr nlh = { sizeof(nlh), NLM_F_ACK };
	struct genl_info info = { .snd_portid = PORT, .nlhdr = &nlh };
	struct sk_buff skb = { .sk = &sock, .data = (void *)&nlh };

	acks = waits = 0;
	closed_at = moment;
	NETLINK_CB(&skb).sk = &sock;
	EQ(rtrs_nl_later_init(), 0);
	EQ(rtrs_nl_later(1, &skb, &info), -EINTR);
	EQ(sock.refs, 1);
	started->run(started);
	EQ(sock.refs, 0);
	rtrs_nl_later_exit();
}

static void answered(void)
{
	command(NEVER);
	EQ(acks, 1);
	close_socket();
	EQ(waits, 0);
}

static void closed_while_it_runs(void)
{
	command(RUNNING);
	EQ(waits, 1);
	EQ(acks, 0);
}

static void closed_while_it_answers(void)
{
	command(ANSWERING);
	EQ(acks, 1);
	EQ(waits, 1);
}

int main(void)
{
	RUN(answered, "a command that has answered: a close waits for nothing");
	RUN(closed_while_it_runs, "closed while it runs: the close waits, there is no answer");
	RUN(closed_while_it_answers, "closed while it answers: the close waits until that is out");
	return tap_end();
}
