// SPDX-License-Identifier: GPL-2.0
/* MSG_ZEROCOPY: pages of the application are in flight; it is told when they are its own again. */
#include <linux/sched/user.h>
#include "core.h"

/**
 * struct rds_zcopy - a message that has pages of an application
 * @entry: in rs->zcopy_flying, under flying_lock; then in rs->zcopy_done
 * @rs: who is told, with a reference, under flying_lock; NULL: nobody is any more
 * @cookie: what it called the message
 * @accepted: sendmsg has succeeded; else there is nothing to tell
 * @pinned: what the pages count against
 */
struct rds_zcopy {
	struct list_head entry;
	struct rds_sock *rs;
	u32 cookie;
	bool accepted;
	struct mmpin pinned;
};

/* RDS_CMSG_ZCOPY_COMPLETION */
#define COOKIES_MAX	8

struct completion_cmsg {
	u32 num;
	u32 cookie[COOKIES_MAX];
};

/* A peer that takes nothing does not keep a socket that is closed. */
static DEFINE_SPINLOCK(flying_lock);

/* Whole pages are pinned, however little of them is sent. */
int rds_zcopy_attach(struct rds_core_msg *msg, struct rds_sock *rs, unsigned int pages)
{
	struct rds_zcopy *z = kzalloc(sizeof(*z), GFP_KERNEL_ACCOUNT);
	int err;

	if (!z)
		return -ENOMEM;
	err = mm_account_pinned_pages(&z->pinned, (size_t)pages << PAGE_SHIFT);
	if (err) {
		kfree(z);
		return err;
	}
	sock_hold(&rs->sk);
	z->rs = rs;
	spin_lock_bh(&flying_lock);
	list_add_tail(&z->entry, &rs->zcopy_flying);
	spin_unlock_bh(&flying_lock);
	msg->zcopy = z;
	rds_census_created(RDS_CENSUS_ZCOPY);
	return 0;
}

void rds_zcopy_cookie(struct rds_core_msg *msg, u32 cookie)
{
	msg->zcopy->cookie = cookie;
	msg->zcopy->accepted = true;
}

static void zcopy_free(struct rds_zcopy *z)
{
	kfree(z);
	rds_census_destroyed(RDS_CENSUS_ZCOPY);
}

/* Its socket, the reference to which is the caller's then, or NULL */
static struct rds_sock *land(struct rds_zcopy *z)
{
	struct rds_sock *rs;

	spin_lock_bh(&flying_lock);
	rs = z->rs;
	z->rs = NULL;
	if (rs)
		list_del(&z->entry);
	spin_unlock_bh(&flying_lock);
	return rs;
}

/* The pages are free. Any context but hard interrupts. */
void rds_zcopy_end(struct rds_zcopy *z)
{
	struct rds_sock *rs = land(z);
	bool told = false;

	mm_unaccount_pinned_pages(&z->pinned);
	if (rs && z->accepted) {
		spin_lock_bh(&rs->lock);
		told = !sock_flag(&rs->sk, SOCK_DEAD);
		if (told)
			list_add_tail(&z->entry, &rs->zcopy_done);
		spin_unlock_bh(&rs->lock);
	}
	if (told)
		rs->sk.sk_data_ready(&rs->sk);
	else
		zcopy_free(z);
	if (rs)
		sock_put(&rs->sk);
}

/* A reader with less room for control messages is not told, and does not wait for it either. */
bool rds_zcopy_room(const struct msghdr *msg)
{
	return msg->msg_control &&
	       msg->msg_controllen >= CMSG_SPACE(sizeof(struct completion_cmsg));
}

/* True: there was something to tell, and it is in the control messages. */
bool rds_zcopy_report(struct rds_sock *rs, struct msghdr *msg)
{
	struct completion_cmsg c = { 0 };
	struct rds_zcopy *z, *next;
	LIST_HEAD(told);

	if (!rds_zcopy_room(msg) || list_empty(&rs->zcopy_done))
		return false;
	spin_lock_bh(&rs->lock);
	while (c.num < COOKIES_MAX) {
		z = list_first_entry_or_null(&rs->zcopy_done, struct rds_zcopy, entry);
		if (!z)
			break;
		c.cookie[c.num++] = z->cookie;
		list_move_tail(&z->entry, &told);
	}
	spin_unlock_bh(&rs->lock);
	if (!c.num)
		return false;
	if (put_cmsg(msg, SOL_RDS, RDS_CMSG_ZCOPY_COMPLETION, sizeof(c), &c)) {
		spin_lock_bh(&rs->lock);
		list_splice(&told, &rs->zcopy_done);
		spin_unlock_bh(&rs->lock);
		return false;
	}
	list_for_each_entry_safe(z, next, &told, entry)
		zcopy_free(z);
	return true;
}

/* The socket is dead: nothing is added any more. */
void rds_zcopy_drop(struct rds_sock *rs)
{
	struct rds_zcopy *z, *next;

	spin_lock_bh(&flying_lock);
	list_for_each_entry_safe(z, next, &rs->zcopy_flying, entry) {
		list_del(&z->entry);
		z->rs = NULL;
		/* Not the last: the caller has one. */
		sock_put(&rs->sk);
	}
	spin_unlock_bh(&flying_lock);
	list_for_each_entry_safe(z, next, &rs->zcopy_done, entry) {
		list_del(&z->entry);
		zcopy_free(z);
	}
}
