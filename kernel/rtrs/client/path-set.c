// SPDX-License-Identifier: GPL-2.0
/*
 * The paths of a session, an array that is replaced as a whole. Path workers take the lock
 * under which that is done, and I/O may wait for them.
 */
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "client.h"

int rtrs_client_path_set_init(struct rtrs_client_session *session)
{
	struct rtrs_client_path_set *set = kzalloc(sizeof(*set), GFP_KERNEL);

	if (!set)
		return -ENOMEM;
	RCU_INIT_POINTER(session->paths, set);
	return 0;
}

int rtrs_client_path_set_add(struct rtrs_client_session *session, struct rtrs_client_path *path)
{
	struct rtrs_client_path_set *old = rtrs_client_path_set_locked(session), *set;

	set = kmalloc(struct_size(set, path, old->count + 1), GFP_NOIO);
	if (!set)
		return -ENOMEM;
	memcpy(set->path, old->path, old->count * sizeof(*old->path));
	set->path[old->count] = path;
	set->count = old->count + 1;
	rcu_assign_pointer(session->paths, set);
	kfree_rcu(old, rcu);
	return 0;
}

void rtrs_client_path_set_del(struct rtrs_client_session *session, struct rtrs_client_path *path)
{
	struct rtrs_client_path_set *old = rtrs_client_path_set_locked(session), *set;
	unsigned int i, n = 0;

	/* Small; a removal must not fail. */
	set = kmalloc(struct_size(set, path, old->count), GFP_NOIO | __GFP_NOFAIL);
	for (i = 0; i < old->count; i++)
		if (old->path[i] != path)
			set->path[n++] = old->path[i];
	set->count = n;
	rcu_assign_pointer(session->paths, set);
	kfree_rcu(old, rcu);
}
