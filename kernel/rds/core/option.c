// SPDX-License-Identifier: GPL-2.0
/* Options and ioctls. */
#include <linux/compat.h>
#include "core.h"

/* Of the cancel option: as many bytes as a family has are enough. */
static int set_cancel(struct rds_sock *rs, sockptr_t value, unsigned int len)
{
	struct sockaddr_in6 sa = { 0 };
	struct rds_addr to;
	int err;

	if (!rds_bound(rs))
		return -ENOTCONN;
	if (len < sizeof(struct sockaddr_in))
		return -EINVAL;
	len = len < sizeof(sa) ? sizeof(struct sockaddr_in) : sizeof(sa);
	if (copy_from_sockptr(&sa, value, len))
		return -EFAULT;
	sa.sin6_family = len == sizeof(sa) ? AF_INET6 : AF_INET;
	err = rds_addr_parse(&sa, len, RDS_ADDR_SEND, &to);
	if (!err)
		rds_cancel(rs, &to);
	return err;
}

/*
 * Registering memory is for transports with RDMA; there is none that a socket could be bound
 * through.
 */
static int set_get_mr(struct rds_sock *rs, unsigned int len, unsigned int want)
{
	if (len != want)
		return -EINVAL;
	return rds_bound(rs) ? -EOPNOTSUPP : -ENOTCONN;
}

static int get_int(sockptr_t value, unsigned int len, int *out)
{
	if (len < sizeof(*out))
		return -EINVAL;
	return copy_from_sockptr(out, value, sizeof(*out)) ? -EFAULT : 0;
}

static int set_flag(struct rds_sock *rs, int opt, sockptr_t value, unsigned int len)
{
	int on, err = get_int(value, len, &on);

	if (!err && opt == RDS_RECVERR)
		rs->recverr = on;
	else if (!err)
		rds_cong_monitor(rs, on);
	return err;
}

static int set_transport(struct rds_sock *rs, sockptr_t value, unsigned int len)
{
	int type, err;

	if (rs->transport)
		return -EOPNOTSUPP;
	if (len != sizeof(type))
		return -EINVAL;
	err = get_int(value, len, &type);
	if (err)
		return err;
	if (type < 0 || type >= RDS_TRANS_COUNT)
		return -EINVAL;
	if (type != RDS_TRANS_TCP && !net_eq(sock_net(&rs->sk), &init_net))
		return -EPROTOTYPE;
	return rds_transport_preset(rs, type);
}

static int set_stamps(struct rds_sock *rs, sockptr_t value, unsigned int len, bool wide)
{
	int on;

	if (len != sizeof(on) || copy_from_sockptr(&on, value, sizeof(on)))
		return -EFAULT;
	sock_valbool_flag(&rs->sk, SOCK_RCVTSTAMP, on);
	if (wide)
		sock_valbool_flag(&rs->sk, SOCK_TSTAMP_NEW, on);
	return 0;
}

static int set_latency(struct rds_sock *rs, sockptr_t value, unsigned int len)
{
	struct rds_rx_trace_so t;
	unsigned int i;

	if (len != sizeof(t) || copy_from_sockptr(&t, value, sizeof(t)) ||
	    t.rx_traces > RDS_MSG_RX_DGRAM_TRACE_MAX)
		return -EFAULT;
	for (i = 0; i < t.rx_traces; i++)
		if (t.rx_trace_pos[i] >= RDS_MSG_RX_DGRAM_TRACE_MAX)
			return -EFAULT;
	/* Readers take no lock: what was not checked must never be there. */
	memcpy(rs->trace_pos, t.rx_trace_pos, t.rx_traces);
	rs->traces = t.rx_traces;
	return 0;
}

static int set(struct rds_sock *rs, int opt, sockptr_t value, unsigned int len)
{
	switch (opt) {
	case RDS_CANCEL_SENT_TO:
		return set_cancel(rs, value, len);
	case RDS_GET_MR:
		return set_get_mr(rs, len, sizeof(struct rds_get_mr_args));
	case RDS_GET_MR_FOR_DEST:
		return set_get_mr(rs, len, sizeof(struct rds_get_mr_for_dest_args));
	case RDS_FREE_MR:
		return -EINVAL; /* there is none */
	case RDS_RECVERR:
	case RDS_CONG_MONITOR:
		return set_flag(rs, opt, value, len);
	case SO_RDS_TRANSPORT:
		return set_transport(rs, value, len);
	case SO_TIMESTAMP_OLD:
		return set_stamps(rs, value, len, false);
	case SO_TIMESTAMP_NEW:
		return set_stamps(rs, value, len, true);
	case SO_RDS_MSG_RXPATH_LATENCY:
		return set_latency(rs, value, len);
	default:
		return -ENOPROTOOPT;
	}
}

int rds_setsockopt(struct socket *sock, int level, int opt, sockptr_t value, unsigned int len)
{
	struct rds_sock *rs = rds_sk(sock->sk);
	int err;

	if (level != SOL_RDS)
		return -ENOPROTOOPT;
	lock_sock(&rs->sk);
	err = set(rs, opt, value, len);
	release_sock(&rs->sk);
	return err;
}

static int put_int(int v, int have, char __user *value, int __user *len)
{
	if (have < (int)sizeof(v))
		return -EINVAL;
	if (put_user(v, (int __user *)value) || put_user((int)sizeof(v), len))
		return -EFAULT;
	return 0;
}

int rds_getsockopt(struct socket *sock, int level, int opt, char __user *value, int __user *len)
{
	struct rds_sock *rs = rds_sk(sock->sk);
	int have, type;

	if (level != SOL_RDS)
		return -ENOPROTOOPT;
	if (get_user(have, len))
		return -EFAULT;
	switch (opt) {
	case RDS_INFO_FIRST ... RDS_INFO_LAST:
		return rds_info_get(sock_net(&rs->sk), opt, value, len);
	case RDS_RECVERR:
		return put_int(rs->recverr, have, value, len);
	case SO_RDS_TRANSPORT:
		lock_sock(&rs->sk);
		type = rs->transport ? rs->transport->type : RDS_TRANS_NONE;
		release_sock(&rs->sk);
		return put_int(type, have, value, len);
	default:
		return -ENOPROTOOPT;
	}
}

/* Only as long as none was set; a connection that is there has its own. */
static int set_tos(struct rds_sock *rs, u8 tos)
{
	int err = 0;

	lock_sock(&rs->sk);
	if (!rs->transport || !rs->transport->maps_tos) {
		err = -ENOIOCTLCMD;
	} else {
		spin_lock_bh(&rs->lock);
		if (rs->tos || READ_ONCE(rs->conn))
			err = -EINVAL;
		else
			rs->tos = rs->transport->maps_tos(tos);
		spin_unlock_bh(&rs->lock);
	}
	release_sock(&rs->sk);
	return err;
}

int rds_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct rds_sock *rs = rds_sk(sock->sk);
	u8 __user *value = (u8 __user *)arg;
	u8 tos;

	switch (cmd) {
	case SIOCRDSSETTOS:
		return get_user(tos, value) ? -EFAULT : set_tos(rs, tos);
	case SIOCRDSGETTOS:
		return put_user(rs->tos, value) ? -EFAULT : 0;
	default:
		return -ENOIOCTLCMD;
	}
}
