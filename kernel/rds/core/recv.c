// SPDX-License-Identifier: GPL-2.0
/* recvmsg: notifications of congestion, then data, then zerocopy completions. */
#include <linux/errqueue.h>
#include <linux/sched/clock.h>
#include "core.h"

/* True: it told, or failed to. */
static bool tell_congestion(struct rds_sock *rs, struct msghdr *msg, int *err)
{
	u64 told;

	if (!READ_ONCE(rs->monitor) || !READ_ONCE(rs->cong_notify))
		return false;
	spin_lock_bh(&rs->lock);
	told = rs->cong_notify;
	rs->cong_notify = 0;
	spin_unlock_bh(&rs->lock);
	if (!told)
		return false;
	*err = put_cmsg(msg, SOL_RDS, RDS_CMSG_CONG_UPDATE, sizeof(told), &told);
	if (*err) {
		spin_lock_bh(&rs->lock);
		rs->cong_notify |= told;
		spin_unlock_bh(&rs->lock);
	}
	msg->msg_namelen = 0;
	return true;
}

static int put_stamp(struct rds_sock *rs, const struct rds_core_inc *inc, struct msghdr *msg)
{
	struct __kernel_old_timeval old;
	struct __kernel_sock_timeval tv;
	struct timespec64 ts;

	if (sock_flag(&rs->sk, SOCK_TSTAMP_NEW)) {
		ts = ns_to_timespec64(inc->stamp);
		tv = (struct __kernel_sock_timeval){ .tv_sec = ts.tv_sec,
						     .tv_usec = ts.tv_nsec / NSEC_PER_USEC };
		return put_cmsg(msg, SOL_SOCKET, SO_TIMESTAMP_NEW, sizeof(tv), &tv);
	}
	old = ns_to_kernel_old_timeval(inc->stamp);
	return put_cmsg(msg, SOL_SOCKET, SO_TIMESTAMP_OLD, sizeof(old), &old);
}

/* How long the message took from each of the points that the socket asked for to the next */
static int put_latency(struct rds_sock *rs, const struct rds_core_inc *inc, struct msghdr *msg)
{
	struct rds_cmsg_rx_trace t;
	u64 next;
	unsigned int i;

	memset(&t, 0, sizeof(t));
	t.rx_traces = rs->traces;
	for (i = 0; i < t.rx_traces; i++) {
		unsigned int pos = rs->trace_pos[i];

		next = pos + 1 < RDS_CORE_STAMPS ? inc->at[pos + 1] : local_clock();
		t.rx_trace_pos[i] = pos;
		t.rx_trace[i] = next - inc->at[pos];
	}
	return put_cmsg(msg, SOL_RDS, RDS_CMSG_RXPATH_LATENCY, sizeof(t), &t);
}

static void put_name(const struct rds_core_inc *inc, struct msghdr *msg)
{
	struct rds_addr from = { .ip = inc->saddr,
				 .port = htons(inc->hdr.sport),
				 .scope = inc->scope };

	msg->msg_namelen = rds_addr_put(msg->msg_name, &from);
}

/* It is the reader's then. */
static void take(struct rds_sock *rs, struct rds_core_inc *inc)
{
	bool changed;

	spin_lock_bh(&rs->lock);
	list_del(&inc->entry);
	changed = rds_recv_account(rs, -(s64)inc->hdr.len, -1);
	spin_unlock_bh(&rs->lock);
	if (changed)
		rds_cong_changed(rs->cong);
	if (!list_empty(&rs->stopped))
		rds_recv_resume(rs);
	rds_stat_add(RDS_STAT_RECV_BYTES_FREED, inc->hdr.len);
	rds_stat(RDS_STAT_RECV_DELIVERED);
	inc->ops->free(inc);
}

/* Under rs->reader, so the message stays until it is taken: when it was handed out whole. */
static int read_inc(struct rds_sock *rs, struct rds_core_inc *inc, struct msghdr *msg, size_t len,
		    int flags)
{
	u32 have = inc->hdr.len, copied = min_t(size_t, len, have);
	int err;

	err = inc->ops->copy(inc, &msg->msg_iter);
	rds_stat_add(RDS_STAT_COPY_TO_USER, copied);
	if (!err && inc->stamp && sock_flag(&rs->sk, SOCK_RCVTSTAMP))
		err = put_stamp(rs, inc, msg);
	if (!err && inc->at[0] && rs->traces)
		err = put_latency(rs, inc, msg);
	if (err)
		return err;
	if (!list_empty(&rs->zcopy_done))
		rds_zcopy_report(rs, msg);
	if (msg->msg_name)
		put_name(inc, msg);
	if (copied < have)
		msg->msg_flags |= MSG_TRUNC;
	if (!(flags & MSG_PEEK))
		take(rs, inc);
	return flags & MSG_TRUNC ? have : copied;
}

/* -EAGAIN: there is none. */
static int read_first(struct rds_sock *rs, struct msghdr *msg, size_t len, int flags)
{
	struct rds_core_inc *inc;
	int ret = -EAGAIN;

	if (list_empty(&rs->incs))
		return ret;
	if (mutex_lock_interruptible(&rs->reader))
		return -EINTR;
	/* Nobody else takes one away. Others add them meanwhile, at the end. */
	inc = list_first_or_null_rcu(&rs->incs, struct rds_core_inc, entry);
	if (inc)
		ret = read_inc(rs, inc, msg, len, flags);
	mutex_unlock(&rs->reader);
	return ret;
}

static bool readable(struct rds_sock *rs, const struct msghdr *msg)
{
	return !list_empty(&rs->incs) ||
	       (READ_ONCE(rs->monitor) && READ_ONCE(rs->cong_notify)) ||
	       (rds_zcopy_room(msg) && !list_empty_careful(&rs->zcopy_done));
}

static noinline int wait_readable(struct rds_sock *rs, const struct msghdr *msg, long *timeout)
{
	if (!*timeout)
		return -EAGAIN;
	return rds_waited(wait_event_interruptible_timeout(*sk_sleep(&rs->sk), readable(rs, msg),
							   *timeout), timeout);
}

int rds_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags)
{
	struct rds_sock *rs = rds_sk(sock->sk);
	long timeout = sock_rcvtimeo(&rs->sk, flags & MSG_DONTWAIT);
	int ret;

	if (flags & MSG_ERRQUEUE)
		return sock_recv_errqueue(&rs->sk, msg, len, SOL_IP, IP_RECVERR);
	msg->msg_namelen = 0;
	if (flags & MSG_OOB)
		return 0;
	for (;;) {
		if (tell_congestion(rs, msg, &ret))
			return ret;
		ret = read_first(rs, msg, len, flags);
		if (ret != -EAGAIN)
			return ret;
		if (rds_zcopy_report(rs, msg))
			return 0;
		ret = wait_readable(rs, msg, &timeout);
		if (ret)
			return ret;
	}
}
