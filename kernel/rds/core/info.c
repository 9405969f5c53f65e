// SPDX-License-Identifier: GPL-2.0
/*
 * RDS_INFO_*: lists by getsockopt. A list is made twice, first to know its size: locks are held
 * while it is made, and no memory of an application is touched then.
 */
#include <linux/export.h>
#include <linux/rwsem.h>
#include "core.h"

#define LISTS	(RDS_INFO_LAST - RDS_INFO_FIRST + 1)

static struct list {
	rds_core_info_fill fill;
	unsigned int size;
} lists[LISTS];

static DECLARE_RWSEM(lists_lock);

void rds_core_info_register(unsigned int number, unsigned int size, rds_core_info_fill fill)
{
	down_write(&lists_lock);
	lists[number - RDS_INFO_FIRST] = (struct list){ fill, size };
	up_write(&lists_lock);
}
EXPORT_SYMBOL_NS_GPL(rds_core_info_register, RDS_CORE);

void rds_core_info_unregister(unsigned int number)
{
	rds_core_info_register(number, 0, NULL);
}
EXPORT_SYMBOL_NS_GPL(rds_core_info_unregister, RDS_CORE);

void rds_core_info_put(struct rds_core_info *info, const void *element)
{
	if (info->count < info->room)
		memcpy(info->buf + (size_t)info->count * info->size, element, info->size);
	info->count++;
}
EXPORT_SYMBOL_NS_GPL(rds_core_info_put, RDS_CORE);

void rds_core_info_counters(struct rds_core_info *info, const char *const *name, unsigned int nr,
			    const u64 __percpu *value)
{
	struct rds_info_counter c;
	unsigned int i, cpu;

	for (i = 0; i < nr; i++) {
		memset(&c, 0, sizeof(c));
		strscpy((char *)c.name, name[i], sizeof(c.name));
		for_each_possible_cpu(cpu)
			c.value += READ_ONCE(per_cpu_ptr(value, cpu)[i]);
		rds_core_info_put(info, &c);
	}
}
EXPORT_SYMBOL_NS_GPL(rds_core_info_counters, RDS_CORE);

/* Without @info->buf it is the first time. The second time it may be another module's list. */
static int make(struct net *net, struct rds_core_info *info)
{
	const struct list *list = &lists[info->number - RDS_INFO_FIRST];
	int err = 0;

	if (down_read_interruptible(&lists_lock))
		return -EINTR;
	info->count = 0;
	if (!list->fill || (info->buf && list->size != info->size)) {
		err = -ENOPROTOOPT;
	} else {
		info->size = list->size;
		list->fill(net, info);
	}
	up_read(&lists_lock);
	return err;
}

/* Connections are copied as far as there is room, the other lists whole or not at all. */
static int copy_out(struct rds_core_info *info, char __user *value, int have)
{
	bool in_part = info->number == RDS_INFO_CONNECTIONS ||
		       info->number == RDS6_INFO_CONNECTIONS;
	unsigned int whole = min(info->count, info->room);
	bool fits = info->count <= (unsigned int)have / info->size;

	if (!fits && !in_part)
		return 0;
	whole = min(whole, (unsigned int)have / info->size);
	/* What came between the two times, beyond the room: the next time. */
	if (fits)
		info->count = whole;
	/* An application that has not this memory is told to come again. Stock does so. */
	return whole && copy_to_user(value, info->buf, (size_t)whole * info->size) ? -EAGAIN : 0;
}

int rds_info_get(struct net *net, int number, char __user *value, int __user *len)
{
	struct rds_core_info info = { .number = number };
	int have, err;

	err = make(net, &info);
	if (err)
		return err;
	if (get_user(have, len))
		return -EFAULT;
	if (have < 0)
		return -EINVAL;
	/* Some more may come before it is made again. */
	info.room = min(info.count + 16, (unsigned int)have / info.size);
	info.buf = kvcalloc(info.room, info.size, GFP_KERNEL_ACCOUNT);
	if (!info.buf)
		return -ENOMEM;
	err = make(net, &info) ?: copy_out(&info, value, have);
	kvfree(info.buf);
	if (err)
		return err;
	if (put_user(info.count * info.size, len))
		return -EFAULT;
	return info.count > (unsigned int)have / info.size ? -ENOSPC : (int)info.size;
}
