// SPDX-License-Identifier: GPL-2.0
/*
 * Where a connect request comes from. The uuids in it travel in the clear: whoever has seen them
 * could join a path, or end those of a session by the word that its client has lost them. So that
 * counts only from where the path, or one of the session's, has come from. That is the GID which
 * answers go to: an IP address is text of the request.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/export.h>
#include <rdma/ib_addr.h>
#include "server.h"

/* iWARP has no GIDs, and addresses that TCP has proved. */
void rtrs_server_origin(const struct rdma_cm_id *cm_id, union ib_gid *gid)
{
	if (rdma_cap_ib_cm(cm_id->device, cm_id->port_num) && cm_id->route.path_rec)
		*gid = cm_id->route.path_rec->dgid;
	else
		rdma_ip2gid((struct sockaddr *)&cm_id->route.addr.dst_addr, gid);
}

/* RoCE alone: a GID of InfiniBand has no IP address in it, one of AF_IB is what was asked for. */
bool rtrs_server_is_forged(const struct rdma_cm_id *cm_id)
{
	const struct sockaddr_storage *addr = &cm_id->route.addr.dst_addr;
	union ib_gid origin, claim;

	if (!rdma_protocol_roce(cm_id->device, cm_id->port_num) || addr->ss_family == AF_IB)
		return false;
	rtrs_server_origin(cm_id, &origin);
	rdma_ip2gid((struct sockaddr *)addr, &claim);
	return memcmp(&origin, &claim, sizeof(origin));
}

/* From INFO on with the name of the session. */
void rtrs_server_guest_of(const struct rtrs_server_path *path, struct rtrs_server_guest *guest)
{
	bool named = smp_load_acquire(&path->named); /* pairs with admit() */

	*guest = (struct rtrs_server_guest){
		.addr		= &path->addr,
		.gid		= path->origin.raw,
		.forged		= path->forged,
		.name		= named ? path->name : NULL,
		.session_id	= named ? path->session->id : 0,
		.path_id	= path->id,
	};
}

static bool is_of(const union ib_gid *gid, const struct rdma_cm_id *cm_id)
{
	union ib_gid origin;

	rtrs_server_origin(cm_id, &origin);
	return !memcmp(gid, &origin, sizeof(origin));
}

bool rtrs_server_same_origin(const struct rtrs_server_path *path, const struct rdma_cm_id *cm_id)
{
	return is_of(&path->origin, cm_id);
}

/* session->lock held. Has a path of the session been up that came from there? */
bool rtrs_server_is_client(const struct rtrs_server_session *session,
			   const struct rdma_cm_id *cm_id)
{
	const struct rtrs_server_path *path;
	unsigned int i;

	for (i = 0; i < min(session->origins, RTRS_SERVER_ORIGINS); i++)
		if (is_of(&session->origin[i], cm_id))
			return true;
	list_for_each_entry(path, &session->paths, entry)
		if (path->up && is_of(&path->origin, cm_id))
			return true;
	return false;
}

/* session->lock held. The path goes down: the client may come from there when it has no other. */
void rtrs_server_remember(struct rtrs_server_path *path)
{
	struct rtrs_server_session *session = path->session;
	unsigned int i;

	for (i = 0; i < min(session->origins, RTRS_SERVER_ORIGINS); i++)
		if (!memcmp(&session->origin[i], &path->origin, sizeof(path->origin)))
			return;
	session->origin[session->origins++ % RTRS_SERVER_ORIGINS] = path->origin;
}

/* session->lock held. Once for a session: whoever does that does it often. */
void rtrs_server_stranger(struct rtrs_server_session *session, const struct rdma_cm_id *cm_id)
{
	char addr[RTRS_ADDR_STRLEN];

	if (session->strangers)
		return;
	session->strangers = true;
	rtrs_addr_print(&cm_id->route.addr.dst_addr, addr, sizeof(addr));
	pr_warn("session '%*pE': %s is not where its client is: refused, now and later\n",
		(int)strlen(session->name), session->name, addr);
}

void rtrs_server_judge_paths(struct rtrs_server *srv, rtrs_server_judge_fn fn, void *arg)
{
	struct rtrs_server_guest guest;
	struct rtrs_server_path *path;
	int err;

	mutex_lock(&srv->lock);
	list_for_each_entry(path, &srv->paths, all_entry) {
		if (READ_ONCE(path->state) >= RTRS_SERVER_PATH_CLOSING)
			continue;
		rtrs_server_guest_of(path, &guest);
		err = fn(&guest, arg);
		if (err)
			rtrs_server_path_close(path, err);
	}
	mutex_unlock(&srv->lock);
}
EXPORT_SYMBOL_GPL(rtrs_server_judge_paths);
