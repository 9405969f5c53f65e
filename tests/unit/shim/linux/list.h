/* SPDX-License-Identifier: GPL-2.0 */
/* Lists, for the stubs of those who have some. */
#ifndef SHIM_LIST_H
#define SHIM_LIST_H

#include "../shim.h"

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD(name)		struct list_head name = { &(name), &(name) }

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	entry->next = head;
	entry->prev = head->prev;
	head->prev->next = entry;
	head->prev = entry;
}

static inline void list_del_init(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	entry->prev->next = entry->next;
	INIT_LIST_HEAD(entry);
}

#define list_del(entry)		list_del_init(entry)

#define container_of(p, type, member)	((type *)((char *)(p) - offsetof(type, member)))

#define list_for_each_entry(at, head, member)					\
	for (at = container_of((head)->next, typeof(*at), member);		\
	     &at->member != (head);						\
	     at = container_of(at->member.next, typeof(*at), member))

#endif /* SHIM_LIST_H */
