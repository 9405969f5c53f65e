/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands for kernel/rtrs/client/client.h where policy.c and path-set.c are built on the
 * host: the fields and functions that they use, and no others.
 */
#ifndef STUB_CLIENT_H
#define STUB_CLIENT_H

/* The real one is empty then. */
#define RTRS_CLIENT_CLIENT_H

#include <linux/types.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <rtrs/client.h>
#include "kernel/rtrs/client/state.h"

struct rcu_head {
	void *next;
};

struct rtrs_client_path {
	unsigned int state;
};

struct rtrs_client_path_set {
	struct rcu_head rcu;
	unsigned int count;
	struct rtrs_client_path *path[];
};

struct rtrs_client_session {
	struct rtrs_client_path_set *paths;
	u32 *cursor;
};

struct rtrs_client_pick {
	const struct rtrs_client_path_set *set;
	unsigned int start;
	unsigned int tried;
};

#define __GFP_NOFAIL		0
#define rcu_dereference(p)	(p)
#define rcu_assign_pointer(p, v)	((p) = (v))
#define RCU_INIT_POINTER(p, v)	((p) = (v))
#define kfree_rcu(p, member)	free(p)
#define this_cpu_inc_return(x)	(++(x))
#define struct_size(p, member, n)	(sizeof(*(p)) + (n) * sizeof((p)->member[0]))

static inline struct rtrs_client_path_set *rtrs_client_path_set_locked(struct rtrs_client_session *session)
{
	return session->paths;
}

static inline bool rtrs_client_path_connected(const struct rtrs_client_path *path)
{
	return path->state == RTRS_CLIENT_PATH_CONNECTED;
}

int rtrs_client_policy_check(unsigned int policy);
void rtrs_client_pick_start(struct rtrs_client_pick *pick, struct rtrs_client_session *session);
struct rtrs_client_path *rtrs_client_pick_next(struct rtrs_client_pick *pick);
int rtrs_client_path_set_init(struct rtrs_client_session *session);
int rtrs_client_path_set_add(struct rtrs_client_session *session, struct rtrs_client_path *path);
void rtrs_client_path_set_del(struct rtrs_client_session *session, struct rtrs_client_path *path);

#endif /* STUB_CLIENT_H */
