// SPDX-License-Identifier: GPL-2.0
/* Messages on their way out: memory and references. */
#include <linux/poll.h>
#include "core.h"

/* A payload of so many bytes is behind the structure: one allocation, and no page of its own. */
#define INLINE_MAX	1024
/*
 * Pages of zerocopy: as many as 1 MiB needs in pieces of any kind that an application is likely to
 * have
 */
#define PIN_MAX		1024

/*
 * Most messages are so small. They have a cache of their own, with a constructor: a kernel that
 * clears what it allocates does so once then, not for each message. kfree() is for both kinds.
 */
#define SMALL		512

static struct kmem_cache *small_cache;

static void small_make(void *msg)
{
	memset(msg, 0, SMALL);
}

int rds_msg_init(void)
{
	small_cache = kmem_cache_create("rds_msg", SMALL, 0, SLAB_ACCOUNT, small_make);
	return small_cache ? 0 : -ENOMEM;
}

void rds_msg_exit(void)
{
	kmem_cache_destroy(small_cache);
}

static struct rds_core_msg *msg_alloc(u32 len, size_t behind, gfp_t gfp)
{
	size_t size = sizeof(struct rds_core_msg) + behind;
	struct rds_core_msg *msg;

	msg = size <= SMALL ? kmem_cache_alloc(small_cache, gfp) : kmalloc(size, gfp);
	if (!msg)
		return NULL;
	/* The rest is initialized by who uses it. */
	refcount_set(&msg->ref, 1);
	msg->flags = 0;
	msg->rs = NULL;
	msg->listed = false;
	msg->hdr = (struct rds_hdr){ .len = len };
	msg->mark = 0;
	msg->zcopy = NULL;
	msg->nr_pages = 0;
	rds_census_created(RDS_CENSUS_MSG);
	return msg;
}

/* With room for @len bytes that are not there yet */
struct rds_core_msg *rds_msg_make(u32 len, gfp_t gfp)
{
	unsigned int nr = DIV_ROUND_UP(len, PAGE_SIZE);
	struct rds_core_msg *msg;
	u32 left = len;

	if (len <= INLINE_MAX)
		return msg_alloc(len, len, gfp);
	msg = msg_alloc(len, nr * sizeof(msg->page[0]), gfp);
	if (!msg)
		return NULL;
	while (msg->nr_pages < nr) {
		struct bio_vec *v = &msg->page[msg->nr_pages];

		v->bv_page = alloc_page(gfp);
		if (!v->bv_page) {
			rds_msg_put(msg);
			return NULL;
		}
		v->bv_offset = 0;
		v->bv_len = min_t(u32, left, PAGE_SIZE);
		left -= v->bv_len;
		msg->nr_pages++;
	}
	return msg;
}

/*
 * What is flat is copied without a look at how large the object is that the allocator has there,
 * which takes longer than the copy: it was made for the length.
 */
int rds_msg_fill(struct rds_core_msg *msg, struct iov_iter *from)
{
	u32 len = msg->hdr.len;
	unsigned int i;

	rds_stat_add(RDS_STAT_COPY_FROM_USER, len);
	if (!msg->nr_pages)
		return _copy_from_iter(rds_core_msg_flat(msg), len, from) == len ? 0 : -EFAULT;
	for (i = 0; i < msg->nr_pages; i++) {
		struct bio_vec *v = &msg->page[i];

		if (copy_page_from_iter(v->bv_page, 0, v->bv_len, from) != v->bv_len)
			return -EFAULT;
	}
	return 0;
}

/* Takes up to @left bytes of @from; how many, or -errno */
static ssize_t pin_some(struct rds_core_msg *msg, struct iov_iter *from, size_t left,
			unsigned int most)
{
	struct page *pages[16];
	size_t offset, rest;
	ssize_t got;
	unsigned int i;

	got = iov_iter_get_pages2(from, pages, left, min_t(unsigned int, most, ARRAY_SIZE(pages)),
				  &offset);
	if (got <= 0)
		return got ?: -EFAULT;
	for (i = 0, rest = got; rest; i++) {
		struct bio_vec *v = &msg->page[msg->nr_pages++];

		v->bv_page = pages[i];
		v->bv_offset = offset;
		v->bv_len = min_t(size_t, rest, PAGE_SIZE - offset);
		rest -= v->bv_len;
		offset = 0;
	}
	return got;
}

/*
 * A message of the sender's own pages. Its record of zerocopy is there before the first page:
 * what has been taken when an error comes is given back by the one put that gives back
 * everything.
 */
struct rds_core_msg *rds_msg_pin(struct rds_sock *rs, struct iov_iter *from, u32 len)
{
	int nr = iov_iter_npages(from, PIN_MAX + 1);
	struct rds_core_msg *msg;
	u32 left = len;
	ssize_t got;
	int err;

	if (nr > PIN_MAX)
		return ERR_PTR(-EMSGSIZE);
	msg = msg_alloc(len, nr * sizeof(msg->page[0]), GFP_KERNEL_ACCOUNT);
	if (!msg)
		return ERR_PTR(-ENOMEM);
	err = rds_zcopy_attach(msg, rs, nr);
	while (!err && left) {
		got = pin_some(msg, from, left, nr - msg->nr_pages);
		if (got < 0)
			err = got;
		else
			left -= got;
	}
	if (!err)
		return msg;
	rds_msg_put(msg);
	return ERR_PTR(err);
}

void rds_msg_get(struct rds_core_msg *msg)
{
	refcount_inc(&msg->ref);
}

void rds_msg_put(struct rds_core_msg *msg)
{
	unsigned int i;

	if (!refcount_dec_and_test(&msg->ref))
		return;
	for (i = 0; i < msg->nr_pages; i++)
		put_page(msg->page[i].bv_page);
	if (msg->zcopy)
		rds_zcopy_end(msg->zcopy);
	if (msg->rs)
		sock_put(&msg->rs->sk);
	kfree(msg);
	rds_census_destroyed(RDS_CENSUS_MSG);
}

int rds_msg_copy(struct rds_core_msg *msg, struct iov_iter *to)
{
	size_t left = min_t(size_t, msg->hdr.len, iov_iter_count(to)), n;
	unsigned int i;

	if (!msg->nr_pages)
		return _copy_to_iter(rds_core_msg_flat(msg), left, to) == left ? 0 : -EFAULT;
	for (i = 0; left; i++) {
		struct bio_vec *v = &msg->page[i];

		n = min_t(size_t, left, v->bv_len);
		if (copy_page_to_iter(v->bv_page, v->bv_offset, n, to) != n)
			return -EFAULT;
		left -= n;
	}
	return 0;
}

/* The caller has a reference of its own. */
void rds_msg_unsend(struct rds_core_msg *msg)
{
	struct rds_sock *rs = msg->rs;
	bool was;

	if (!rs)
		return;
	spin_lock_bh(&rs->lock);
	was = msg->listed;
	if (was) {
		msg->listed = false;
		list_del(&msg->sock_entry);
		rs->snd_bytes -= msg->hdr.len;
		rs->nr_sends--;
	}
	spin_unlock_bh(&rs->lock);
	if (was)
		rds_wake_writers(rs);
	rds_msg_leave(msg);
	if (was)
		rds_msg_put(msg);
}

void rds_msg_leave(struct rds_core_msg *msg)
{
	sock_put(&msg->rs->sk);
	msg->rs = NULL;
}

void rds_wake_writers(struct rds_sock *rs)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(rs->sk.sk_wq);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_poll(&wq->wait, EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND);
	rcu_read_unlock();
}
