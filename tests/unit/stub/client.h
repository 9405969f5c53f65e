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

typedef struct {
	int v;
} atomic_t;

typedef struct {
	s64 v;
} atomic64_t;

typedef s64 ktime_t;

#define STUB_CPUS		3

/* Where the code under test runs, and when */
extern unsigned int stub_cpu;
extern u64 stub_now;

struct rtrs_client_latency {
	u64 ns;
	u64 at;
	atomic_t waiting;
};

struct rtrs_client_cpu_stats {
	struct rtrs_client_latency latency;
};

struct rtrs_hb {
	atomic_t missed;
	ktime_t sent;
	atomic64_t rtt_ns;
};

struct rtrs_client_path {
	unsigned int state;
	atomic_t inflight;
	struct rtrs_hb hb;
	struct rtrs_client_cpu_stats stats[STUB_CPUS];
};

struct rtrs_client_path_set {
	struct rcu_head rcu;
	unsigned int count;
	struct rtrs_client_path *path[];
};

struct rtrs_client_session {
	struct rtrs_client_path_set *paths;
	struct rtrs_client_settings settings;
	u32 *cursor;
};

struct rtrs_client_pick {
	const struct rtrs_client_path_set *set;
	unsigned int start;
	unsigned int tried;
};

#define U64_MAX			(~0ULL)
#define NSEC_PER_MSEC		1000000L
#define NSEC_PER_SEC		1000000000L
#define ktime_get_ns()		(stub_now)
#define ktime_to_ns(t)		(t)
#define atomic_read(a)		((a)->v)
#define atomic_inc_return(a)	(++(a)->v)
#define atomic_dec(a)		(--(a)->v)
#define div_u64(a, b)		((a) / (b))
#define atomic64_read(a)	((a)->v)
#define per_cpu_ptr(p, cpu)	(&(p)[cpu])
#define raw_cpu_ptr(p)		(&(p)[stub_cpu])
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < STUB_CPUS; (cpu)++)
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

u32 rtrs_client_latency_chosen(struct rtrs_client_latency *latency, u64 now);
void rtrs_client_latency_undone(struct rtrs_client_latency *latency);
void rtrs_client_latency_sample(struct rtrs_client_latency *latency, u64 now, u64 ns, u32 waiting);
void rtrs_client_pick_start(struct rtrs_client_pick *pick, struct rtrs_client_session *session);
struct rtrs_client_path *rtrs_client_pick_next(struct rtrs_client_pick *pick);
int rtrs_client_path_set_init(struct rtrs_client_session *session);
int rtrs_client_path_set_add(struct rtrs_client_session *session, struct rtrs_client_path *path);
void rtrs_client_path_set_del(struct rtrs_client_session *session, struct rtrs_client_path *path);

#endif /* STUB_CLIENT_H */
