/* SPDX-License-Identifier: GPL-2.0 */
/* hb.c: heartbeats, on the service connection of a path. Part of core.h, which has its includes. */
#ifndef RTRS_HB_H
#define RTRS_HB_H

struct rtrs_hb;

/**
 * struct rtrs_hb_ops - what a heartbeat does to its path
 * @send: put a heartbeat (RTRS_IMM_HB) or its answer (RTRS_IMM_HB_ACK) on the wire.
 *	Process or softirq context. A heartbeat is sent at each tick before which a message
 *	of the peer arrived, in process context: the user does its periodic checks there.
 * @lost: the peer is silent, or @send failed; called once. Process context of the tick: must
 *	not call rtrs_hb_stop(), which waits for the tick.
 */
struct rtrs_hb_ops {
	int (*send)(struct rtrs_hb *hb, enum rtrs_imm_type type);
	void (*lost)(struct rtrs_hb *hb, int err);
};

/**
 * struct rtrs_hb - heartbeat of one path
 * @interval_ms: of the ticks
 * @missed_max: intervals of silence behind a heartbeat after which the peer is lost
 * @missed: ticks since the last message of the peer. Each receive resets it, and reads it first:
 *	its cache line stays shared
 * @lock: of @stopped and of arming @work
 * @stopped: by rtrs_hb_stop()
 * @sent: time of the last heartbeat sent
 * @rtt_ns: last round trip, 0 before the first
 */
struct rtrs_hb {
	const struct rtrs_hb_ops *ops;
	struct delayed_work work;
	unsigned int interval_ms;
	unsigned int missed_max;
	atomic_t missed;
	spinlock_t lock; /* of @stopped */
	bool stopped;
	ktime_t sent;
	atomic64_t rtt_ns;
};

void rtrs_hb_init(struct rtrs_hb *hb, const struct rtrs_hb_ops *ops, unsigned int interval_ms,
		  unsigned int missed_max);

/* Does nothing after rtrs_hb_stop(). */
void rtrs_hb_start(struct rtrs_hb *hb);

/* Makes rtrs_hb_start() work again after rtrs_hb_stop(). */
void rtrs_hb_reset(struct rtrs_hb *hb);

/* Sets both times; a tick that is armed is armed anew. Process context. */
void rtrs_hb_set(struct rtrs_hb *hb, unsigned int interval_ms, unsigned int missed_max);

/* Idempotent, waits for the running tick. Not from its own callbacks. */
void rtrs_hb_stop(struct rtrs_hb *hb);

/* For each message of the peer. Any context, cheap. */
static inline void rtrs_hb_heard(struct rtrs_hb *hb)
{
	if (atomic_read(&hb->missed))
		atomic_set(&hb->missed, 0);
}

/* No message for as long as it takes to lose the peer. After rtrs_hb_stop(): at that time. */
static inline bool rtrs_hb_silent(const struct rtrs_hb *hb)
{
	return atomic_read(&hb->missed) >= READ_ONCE(hb->missed_max);
}

/* A heartbeat of the peer came: answer it. Returns the error of @send. */
int rtrs_hb_recv(struct rtrs_hb *hb);

/* An answer to ours came. */
void rtrs_hb_recv_ack(struct rtrs_hb *hb);

#endif /* RTRS_HB_H */
