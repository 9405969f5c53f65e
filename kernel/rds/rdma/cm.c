// SPDX-License-Identifier: GPL-2.0
/*
 * Connections: who asks, who answers, and how they end.
 *
 * Events of an id come with its handler lock held, most of them from one queue of the connection
 * manager that all ids share. So a handler waits for nothing: it takes no path->sending, whose
 * holder may be destroying an id, which waits for that queue. What asks for a connection is given
 * to its path by accept_work.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <rdma/ib_cm.h>
#include "rdma.h"

#define RESOLVE_MS	5000
#define BACKLOG		128
#define PATIENCE_MAX	(8 * HZ)
#define PATIENCE	HZ
/* Requests that wait for their path, at most */
#define WAITING_MAX	1024
/*
 * A frame that is not acknowledged is sent again after 4.096 us * 2^16, 268 ms, six times: a
 * connection outlives a short cut, and ends 2 s after the peer has. Soft-RoCE takes 7 for ever.
 */
#define ACK_TIMEOUT	16
#define RETRIES		6
#define RNR_RETRIES	7	/* for ever */

static struct rdma_cm_id *listener[2];
static atomic_t waiting;
/*
 * Counts requests and replies in the order in which the connection manager tells them. A request
 * that was told before the reply which made a connection is older than the connection.
 */
static atomic64_t order;

int rds_rdma_addr_put(struct sockaddr_storage *ss, const struct in6_addr *ip, u32 scope, u16 port)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)ss;
	struct sockaddr_in *sin = (struct sockaddr_in *)ss;

	memset(ss, 0, sizeof(*ss));
	if (ipv6_addr_v4mapped(ip)) {
		sin->sin_family = AF_INET;
		sin->sin_port = htons(port);
		sin->sin_addr.s_addr = ip->s6_addr32[3];
		return sizeof(*sin);
	}
	sin6->sin6_family = AF_INET6;
	sin6->sin6_port = htons(port);
	sin6->sin6_addr = *ip;
	sin6->sin6_scope_id = scope;
	return sizeof(*sin6);
}

/* The scope, if it is a link-local address, else 0 */
static u32 addr_get(struct in6_addr *ip, const struct sockaddr_storage *ss)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)ss;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)ss;

	if (ss->ss_family == AF_INET) {
		ipv6_addr_set_v4mapped(sin->sin_addr.s_addr, ip);
		return 0;
	}
	*ip = sin6->sin6_addr;
	return ipv6_addr_type(ip) & IPV6_ADDR_LINKLOCAL ? sin6->sin6_scope_id : 0;
}

static void watch(struct rds_rdma_path *rp)
{
	mod_delayed_work(rds_rdma_wq, &rp->watch_work, rp->patience);
}

void rds_rdma_watch_work(struct work_struct *work)
{
	struct rds_rdma_path *rp = container_of(work, struct rds_rdma_path, watch_work.work);

	if (READ_ONCE(rp->path->state) != RDS_CORE_CONNECTING)
		return;
	rp->patience = min_t(unsigned long, rp->patience * 2, PATIENCE_MAX);
	rds_core_path_drop(rp->path, -ETIMEDOUT);
}

static void param_fill(struct rds_rdma_link *link, struct rdma_conn_param *param, void *buf)
{
	const struct rds_core_conn *conn = link->path->conn;
	const struct ib_device_attr *attrs = &link->id->device->attrs;
	struct rds_priv d = {
		.version = link->version,
		.minors = RDS_MINORS,
		.tos = conn->tos,
		.able = RDS_PRIV_ABLE_CREDIT,
		.credit = link->flow ? atomic_xchg(&link->offered, 0) : 0,
	};

	memcpy(d.saddr, &conn->laddr, sizeof(d.saddr));
	memcpy(d.daddr, &conn->faddr, sizeof(d.daddr));
	*param = (struct rdma_conn_param){
		.private_data = buf,
		.private_data_len = rds_priv_pack(buf, !ipv6_addr_v4mapped(&conn->laddr), &d),
		.responder_resources = min_t(int, attrs->max_qp_rd_atom, link->depth),
		.initiator_depth = min_t(int, attrs->max_qp_init_rd_atom, link->resources),
		.retry_count = RETRIES,
		.rnr_retry_count = RNR_RETRIES,
	};
}

/* The way to the peer is known: asks it. */
static int ask(struct rds_rdma_link *link)
{
	u8 buf[RDS_PRIV_LEN6], tos = link->path->conn->tos;
	struct rdma_conn_param param;
	int err;

	if (tos && link->id->route.path_rec)
		link->id->route.path_rec->sl = tos & 15;
	rdma_set_ack_timeout(link->id, ACK_TIMEOUT);
	link->version = RDS_VERSION_3_1;
	link->resources = 255;
	link->depth = 255;
	err = rds_rdma_link_setup(link);
	if (err)
		return err;
	param_fill(link, &param, buf);
	return rdma_connect_locked(link->id, &param);
}

/* The peer has answered. */
static int answered(struct rds_rdma_link *link, const struct rdma_conn_param *param)
{
	const struct rds_core_conn *conn = link->path->conn;
	struct rds_priv *d = &link->peer;

	WRITE_ONCE(rds_rdma_path(link->path)->up_order, atomic64_inc_return(&order));
	if (rds_priv_parse(param->private_data, param->private_data_len,
			   !ipv6_addr_v4mapped(&conn->laddr), d))
		return -EPROTO;
	link->version = rds_version_agreed(d);
	if (!link->version || memcmp(d->saddr, &conn->faddr, sizeof(d->saddr)) ||
	    memcmp(d->daddr, &conn->laddr, sizeof(d->daddr)))
		return -EPROTO;
	link->flow = d->credit;
	atomic_add(min_t(u32, d->credit, RDS_FRAGS_MAX * 16), &link->credits);
	return 0;
}

static int established(struct rds_rdma_link *link, const struct rdma_conn_param *param)
{
	int err = link->passive ? 0 : answered(link, param);

	if (err) {
		rds_rdma_stat(RDS_RDMA_STAT_REFUSED_PEER);
		return err;
	}
	rds_rdma_path(link->path)->patience = PATIENCE;
	rds_core_path_up(link->path);
	return 0;
}

static int rejected(const struct rdma_cm_event *ev)
{
	/* It was busy with a request of its own, or has ended the connection that it had. */
	return ev->status == RDS_REJECT_REASON ? -EBUSY : -ECONNREFUSED;
}

static int request(struct rdma_cm_id *id, const struct rdma_conn_param *param);

int rds_rdma_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	struct rds_rdma_link *link = id->context;
	int err = 0;

	if (ev->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return request(id, &ev->param.conn);
	if (!link || link->closing)
		return 0;
	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		err = rdma_resolve_route(id, RESOLVE_MS);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		err = ask(link);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		err = link->path ? established(link, &ev->param.conn) : 0;
		break;
	case RDMA_CM_EVENT_REJECTED:
		err = rejected(ev);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		err = -EHOSTUNREACH;
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		err = -ETIMEDOUT;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		err = -ECONNRESET;
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		err = -ENODEV;
		break;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		err = -EADDRNOTAVAIL;
		break;
	default:
		break;
	}
	if (err && link->path)
		rds_rdma_link_drop(link, err);
	else if (err)
		link->gone = err;
	/* The id is destroyed by its path, or by accept_work. */
	return 0;
}

static void give_link(struct rds_core_path *path, struct rds_rdma_link *link)
{
	link->path = path;
	spin_lock_bh(&rds_rdma_lock);
	rds_rdma_path(path)->link = link;
	spin_unlock_bh(&rds_rdma_lock);
}

int rds_rdma_connect(struct rds_core_path *path)
{
	const struct rds_core_conn *conn = path->conn;
	struct rds_rdma_link *link = rds_rdma_link_make();
	bool v4 = ipv6_addr_v4mapped(&conn->faddr);
	struct sockaddr_storage from, to;
	struct rdma_cm_id *id;
	int err;

	if (!link)
		return -ENOMEM;
	id = rdma_create_id(&init_net, rds_rdma_cm_handler, link, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id)) {
		kfree(link);
		return PTR_ERR(id);
	}
	link->id = id;
	give_link(path, link);
	rdma_set_service_type(id, conn->tos);
	rds_rdma_addr_put(&from, &conn->laddr, conn->scope, 0);
	rds_rdma_addr_put(&to, &conn->faddr, conn->scope, v4 ? RDS_RDMA_PORT4 : RDS_RDMA_PORT6);
	watch(rds_rdma_path(path));
	err = rdma_resolve_addr(id, (struct sockaddr *)&from, (struct sockaddr *)&to, RESOLVE_MS);
	if (err)
		rds_rdma_shutdown(path);
	return err;
}

void rds_rdma_shutdown(struct rds_core_path *path)
{
	struct rds_rdma_path *rp = rds_rdma_path(path);
	struct rds_rdma_link *link;

	spin_lock_bh(&rds_rdma_lock);
	link = rp->link;
	rp->link = NULL;
	spin_unlock_bh(&rds_rdma_lock);
	cancel_delayed_work(&rp->watch_work);
	if (link)
		rds_rdma_link_end(link);
}

static void reject(struct rdma_cm_id *id, int why)
{
	rdma_reject(id, &why, sizeof(why), RDS_REJECT_REASON);
}

/* For rds_core_path_accept(); the path has nothing else by now. */
static void install(struct rds_core_path *path, void *arg)
{
	struct rds_rdma_link *link = arg;
	struct rdma_conn_param param;
	u8 buf[RDS_PRIV_LEN6];
	int err;

	rdma_lock_handler(link->id);
	give_link(path, link);
	WRITE_ONCE(rds_rdma_path(path)->up_order, link->order);
	err = link->gone ?: rds_rdma_link_setup(link);
	if (!err) {
		rdma_set_ack_timeout(link->id, ACK_TIMEOUT);
		/* Peers that know of credits tell so, or begin to grant them. */
		link->flow = link->peer.credit || link->peer.able & RDS_PRIV_ABLE_CREDIT;
		atomic_set(&link->credits, min_t(u32, link->peer.credit, RDS_FRAGS_MAX * 16));
		param_fill(link, &param, buf);
		err = rdma_accept(link->id, &param);
	}
	rdma_unlock_handler(link->id);
	if (err)
		rds_core_path_drop(path, err);
	else
		watch(rds_rdma_path(path));
}

/*
 * Both ends have asked at the same time: the request of the lower address is the one. Others than
 * ours refuse while they ask, and both try again later.
 */
static bool loses(const struct rds_core_path *path, const struct rds_rdma_link *link)
{
	const struct rds_core_conn *conn = path->conn;
	const struct rds_rdma_path *rp = rds_rdma_path(path);
	bool asks;

	switch (READ_ONCE(path->state)) {
	case RDS_CORE_UP:
		return link->order < READ_ONCE(rp->up_order);
	case RDS_CORE_CONNECTING:
		spin_lock_bh(&rds_rdma_lock);
		asks = rp->link && !rp->link->passive;
		spin_unlock_bh(&rds_rdma_lock);
		return asks && memcmp(&conn->laddr, &conn->faddr, sizeof(conn->laddr)) < 0;
	default:
		return false;
	}
}

static int place(struct rds_core_path *path, struct rds_rdma_link *link)
{
	if (loses(path, link)) {
		rds_rdma_stat(RDS_RDMA_STAT_CONNECT_RACED);
		return -EBUSY;
	}
	/* The peer has lost what this end takes for a connection. */
	if (READ_ONCE(path->state) == RDS_CORE_UP) {
		rds_rdma_stat(RDS_RDMA_STAT_LISTEN_CLOSED_STALE);
		rds_core_path_drop(path, -ECONNRESET);
	}
	return rds_core_path_accept(path, install, link);
}

static void accept_work(struct work_struct *work)
{
	struct rds_rdma_link *link = container_of(work, struct rds_rdma_link, accept_work);
	struct rds_core_key key = { .net = &init_net, .tos = link->peer.tos };
	struct rdma_cm_id *id = link->id;
	struct rds_core_conn *conn;
	int err = -EADDRINUSE;

	key.scope = addr_get(&key.laddr, &id->route.addr.src_addr);
	addr_get(&key.faddr, &id->route.addr.dst_addr);
	/* This host connects to itself by the loop. */
	if (!rds_rdma_transport.claims(&init_net, &key.faddr, key.scope)) {
		conn = rds_core_conn_get(&rds_rdma_transport, &key);
		err = PTR_ERR_OR_ZERO(conn);
		if (!err) {
			err = place(&conn->path, link);
			rds_core_conn_put(conn);
		}
	}
	if (err) {
		reject(id, RDS_REJECT_BUSY);
		rds_rdma_link_end(link);
	}
	atomic_dec(&waiting);
}

/* 0, or -errno: what the request says does not fit to where it comes from. */
static int request_check(struct rds_rdma_link *link, const struct rdma_cm_id *id,
			 const struct rdma_conn_param *param)
{
	struct in6_addr laddr, faddr;
	struct rds_priv *d = &link->peer;

	addr_get(&laddr, &id->route.addr.src_addr);
	addr_get(&faddr, &id->route.addr.dst_addr);
	if (rds_priv_parse(param->private_data, param->private_data_len,
			   !ipv6_addr_v4mapped(&laddr), d))
		return -EINVAL;
	link->version = rds_version_answer(d);
	link->resources = param->responder_resources;
	link->depth = param->initiator_depth;
	if (!link->version)
		return -EPROTONOSUPPORT;
	if (memcmp(d->saddr, &faddr, sizeof(faddr)) || memcmp(d->daddr, &laddr, sizeof(laddr)))
		return -EADDRNOTAVAIL;
	return rds_rdma_lacks(id->device) ? -EOPNOTSUPP : 0;
}

/* Not 0: the id is destroyed when this returns. */
static int request(struct rdma_cm_id *id, const struct rdma_conn_param *param)
{
	struct rds_rdma_link *link = rds_rdma_link_make();
	int err = link ? request_check(link, id, param) : -ENOMEM;

	if (!err && !atomic_add_unless(&waiting, 1, WAITING_MAX))
		err = -EBUSY;
	if (err) {
		rds_rdma_stat(RDS_RDMA_STAT_REFUSED_PEER);
		kfree(link);
		reject(id, RDS_REJECT_BUSY);
		return err;
	}
	link->id = id;
	link->passive = true;
	link->order = atomic64_inc_return(&order);
	INIT_WORK(&link->accept_work, accept_work);
	id->context = link;
	queue_work(rds_rdma_wq, &link->accept_work);
	return 0;
}

static int listen_on(struct rdma_cm_id **where, const struct in6_addr *any, u16 port)
{
	struct sockaddr_storage ss;
	struct rdma_cm_id *id;
	int err;

	id = rdma_create_id(&init_net, rds_rdma_cm_handler, NULL, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	rds_rdma_addr_put(&ss, any, 0, port);
	err = ss.ss_family == AF_INET6 ? rdma_set_afonly(id, 1) : 0;
	err = err ?: rdma_bind_addr(id, (struct sockaddr *)&ss) ?: rdma_listen(id, BACKLOG);
	if (err)
		rdma_destroy_id(id);
	else
		*where = id;
	return err;
}

int rds_rdma_listen_start(void)
{
	struct in6_addr any4;
	int err;

	ipv6_addr_set_v4mapped(0, &any4);
	err = listen_on(&listener[0], &any4, RDS_RDMA_PORT4);
	if (err) {
		pr_err("cannot listen on RDMA port %d: error %d. Does another program?\n",
		       RDS_RDMA_PORT4, err);
		return err;
	}
	err = IS_ENABLED(CONFIG_IPV6) ? listen_on(&listener[1], &in6addr_any, RDS_RDMA_PORT6) : 0;
	if (err)
		pr_info("no IPv6: cannot listen on RDMA port %d: error %d\n", RDS_RDMA_PORT6, err);
	return 0;
}

/* What has asked and has no path yet gets one, or is refused. */
void rds_rdma_listen_stop(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(listener); i++)
		if (listener[i])
			rdma_destroy_id(listener[i]);
	flush_workqueue(rds_rdma_wq);
}
