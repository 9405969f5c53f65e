// SPDX-License-Identifier: GPL-2.0
/* What the transport has of a path: from the first to the last socket. */
#include <linux/random.h>
#include <linux/slab.h>
#include "tcp.h"

int rds_tcp_path_init(struct rds_core_path *path)
{
	struct rds_core_conn *conn = path->conn;
	struct rds_tcp_net *tn = rds_tcp_net(read_pnet(&conn->net));
	struct rds_tcp_path *tp = kzalloc(sizeof(*tp), GFP_KERNEL_ACCOUNT);

	if (!tp)
		return -ENOMEM;
	tp->path = path;
	/* Of the path, not of the module: what a peer forgets it forgets with that. */
	tp->generation = get_random_u32();
	INIT_DELAYED_WORK(&tp->recv_work, rds_tcp_recv_work);
	INIT_DELAYED_WORK(&tp->ack_work, rds_tcp_ack_work);
	INIT_DELAYED_WORK(&tp->watch_work, rds_tcp_watch_work);
	/* The first path settles it for the connection. */
	tp->announced = path->index ? rds_tcp_path(&conn->path)->announced :
				      READ_ONCE(tn->max_paths);
	path->transport_data = tp;
	conn->passive = memcmp(&conn->laddr, &conn->faddr, sizeof(conn->laddr)) > 0;
	spin_lock_bh(&tn->paths_lock);
	list_add_tail(&tp->entry, &tn->paths);
	spin_unlock_bh(&tn->paths_lock);
	return 0;
}

/* The path is down and stays so. */
void rds_tcp_path_exit(struct rds_core_path *path)
{
	struct rds_tcp_net *tn = rds_tcp_net(read_pnet(&path->conn->net));
	struct rds_tcp_path *tp = rds_tcp_path(path);

	cancel_delayed_work_sync(&tp->recv_work);
	cancel_delayed_work_sync(&tp->ack_work);
	cancel_delayed_work_sync(&tp->watch_work);
	spin_lock_bh(&tn->paths_lock);
	list_del(&tp->entry);
	spin_unlock_bh(&tn->paths_lock);
	kfree(tp);
}

int rds_tcp_connect(struct rds_core_path *path)
{
	struct rds_tcp_path *tp = rds_tcp_path(path);
	struct socket *sock = rds_tcp_sock_make(path);
	int err;

	if (IS_ERR(sock))
		return PTR_ERR(sock);
	rds_tcp_sock_attach(tp, sock);
	err = rds_tcp_sock_connect(sock, path->conn);
	if (err)
		rds_tcp_shutdown(path);
	else
		rds_tcp_watch(tp);
	return err;
}

void rds_tcp_shutdown(struct rds_core_path *path)
{
	struct rds_tcp_path *tp = rds_tcp_path(path);
	struct socket *sock = rds_tcp_sock_detach(tp);

	rds_tcp_watch_end(tp);
	if (sock)
		rds_tcp_sock_close(sock);
}
