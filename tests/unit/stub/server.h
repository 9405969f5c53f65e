/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands for kernel/rtrs/server/server.h where fence.c is built on the host: the fields
 * and functions that it uses, and no others.
 */
#ifndef STUB_SERVER_H
#define STUB_SERVER_H

/* The real ones are empty then. */
#define RTRS_SERVER_PRIV_H
#define RTRS_SERVER_TRACE_H

#include <linux/types.h>
#include <linux/kernel.h>
#include <rtrs/proto.h>
#include "kernel/rtrs/server/state.h"

struct rtrs_server_op;

typedef struct {
	int held;
} spinlock_t;

struct rtrs_server_slot {
	unsigned long word;
	struct rtrs_server_op *retry;
};

struct rtrs_server_session {
	struct rtrs_server_slot *slots;
	spinlock_t fence_lock;
};

struct rtrs_server_path {
	struct rtrs_server_session *session;
	struct rtrs_server_op *ops;
	enum rtrs_server_path_state state;
	u32 eager_bytes;
	int refs, closed, last_err;
	bool closing, dropped;	/* the test's */
};

struct rtrs_server_con {
	struct rtrs_server_path *path;
};

struct rtrs_server_op {
	struct rtrs_server_path *path;
	u32 slot;
	struct rtrs_server_con *con;
	u32 off;
	int err;
	bool eager;
	u32 clobbered;
	struct rtrs_request req;
	int begun;		/* the test's */
};

extern struct rtrs_geometry rtrs_server_geo;
extern bool rtrs_server_new_rkey;

void rtrs_server_path_close(struct rtrs_server_path *path, int err);
void rtrs_server_op_put(struct rtrs_server_path *path, u32 count);
void rtrs_server_op_begin(struct rtrs_server_op *op);
enum rtrs_server_slot_verdict rtrs_server_fence_enter(struct rtrs_server_op *op, struct rtrs_server_con *con,
						      u32 off);
bool rtrs_server_fence_leave(struct rtrs_server_op *op);
bool rtrs_server_fence_spoilt(const struct rtrs_server_op *op, const struct rtrs_request *req);
void rtrs_server_fence_drop_retries(struct rtrs_server_path *path);
void rtrs_server_fence_release(struct rtrs_server_path *path, void (*begin)(struct rtrs_server_op *op));

void stub_lock(spinlock_t *lock);
void stub_unlock(spinlock_t *lock);

#define spin_lock_irqsave(l, f)		do { (f) = 1; stub_lock(l); } while (0)
#define spin_unlock_irqrestore(l, f)	do { (void)(f); stub_unlock(l); } while (0)
#define spin_lock_irq(l)		stub_lock(l)
#define spin_unlock_irq(l)		stub_unlock(l)
#define cmpxchg(p, old, new)		__sync_val_compare_and_swap(p, old, new)
#define trace_rtrs_server_slot_fenced(old, new, slot)	((void)(old), (void)(new), (void)(slot))

#endif /* STUB_SERVER_H */
