// SPDX-License-Identifier: GPL-2.0
/* Namespaces, and net.rds.tcp in each. */
#include <linux/slab.h>
#include "tcp.h"

static int least_sndbuf = SOCK_MIN_SNDBUF;
static int least_rcvbuf = SOCK_MIN_RCVBUF;
static int most_paths = RDS_CORE_PATHS;

/* Buffers are those of new connections: all there are begin anew. */
static void drop_all(struct rds_tcp_net *tn)
{
	struct rds_tcp_path *tp;

	spin_lock_bh(&tn->paths_lock);
	list_for_each_entry(tp, &tn->paths, entry)
		rds_core_path_drop(tp->path, -ECONNRESET);
	spin_unlock_bh(&tn->paths_lock);
}

static int set_buffer(RNBD_CTL_TABLE *ctl, int write, void *buf, size_t *len, loff_t *pos)
{
	int err = proc_dointvec_minmax(ctl, write, buf, len, pos);

	if (!err && write)
		drop_all(ctl->extra1 == &least_sndbuf ?
			 container_of(ctl->data, struct rds_tcp_net, sndbuf) :
			 container_of(ctl->data, struct rds_tcp_net, rcvbuf));
	return err;
}

static int set_listen(RNBD_CTL_TABLE *ctl, int write, void *buf, size_t *len, loff_t *pos)
{
	struct rds_tcp_net *tn = container_of(ctl->data, struct rds_tcp_net, listen);
	int err = proc_dointvec_minmax(ctl, write, buf, len, pos);

	if (err || !write)
		return err;
	if (READ_ONCE(tn->listen))
		return rds_tcp_listen_start(tn);
	rds_tcp_listen_stop(tn);
	return 0;
}

static const struct ctl_table table[] = {
	{
		.procname = "rds_tcp_sndbuf",
		.maxlen = sizeof(int),
		.mode = 0644,
		.proc_handler = set_buffer,
		.extra1 = &least_sndbuf,
	}, {
		.procname = "rds_tcp_rcvbuf",
		.maxlen = sizeof(int),
		.mode = 0644,
		.proc_handler = set_buffer,
		.extra1 = &least_rcvbuf,
	}, {
		.procname = "listen",
		.maxlen = sizeof(int),
		.mode = 0644,
		.proc_handler = set_listen,
		.extra1 = SYSCTL_ZERO,
		.extra2 = SYSCTL_ONE,
	}, {
		.procname = "max_paths",
		.maxlen = sizeof(int),
		.mode = 0644,
		.proc_handler = proc_dointvec_minmax,
		.extra1 = SYSCTL_ONE,
		.extra2 = &most_paths,
	},
	RNBD_SYSCTL_END
};

static int sysctl_start(struct rds_tcp_net *tn)
{
	tn->table = kmemdup(table, sizeof(table), GFP_KERNEL);
	if (!tn->table)
		return -ENOMEM;
	tn->table[0].data = &tn->sndbuf;
	tn->table[1].data = &tn->rcvbuf;
	tn->table[2].data = &tn->listen;
	tn->table[3].data = &tn->max_paths;
	tn->sysctl = rnbd_register_net_sysctl(tn->net, "net/rds/tcp", tn->table,
					      ARRAY_SIZE(table));
	if (tn->sysctl)
		return 0;
	kfree(tn->table);
	return -ENOMEM;
}

/* Nobody connects, then there are no connections. */
static void stop(struct rds_tcp_net *tn)
{
	rds_tcp_listen_stop(tn);
	rds_core_transport_leave(rds_tcp_transport, tn->net);
}

static int __net_init net_start(struct net *net)
{
	struct rds_tcp_net *tn = rds_tcp_net(net);
	int err;

	tn->net = net;
	mutex_init(&tn->lock);
	spin_lock_init(&tn->paths_lock);
	INIT_LIST_HEAD(&tn->paths);
	INIT_WORK(&tn->accept_work, rds_tcp_accept_work);
	tn->listen = 1;
	tn->max_paths = RDS_CORE_PATHS;
	/* Anybody may have the port in a namespace of his own: that is nobody else's concern. */
	err = rds_tcp_listen_start(tn);
	if (err && net_eq(net, &init_net))
		return err;
	err = sysctl_start(tn);
	if (err)
		stop(tn);
	return err;
}

/* Nobody starts the listener again from now on. */
static void __net_exit net_end(struct net *net)
{
	struct rds_tcp_net *tn = rds_tcp_net(net);

	unregister_net_sysctl_table(tn->sysctl);
	kfree(tn->table);
	stop(tn);
}

static struct pernet_operations net_ops = {
	.init = net_start,
	.exit = net_end,
	.id = &rds_tcp_net_id,
	.size = sizeof(struct rds_tcp_net),
};

/* As a device: it ends before the addresses and routes of the namespace do. */
int rds_tcp_net_init(void)
{
	return register_pernet_device(&net_ops);
}

void rds_tcp_net_exit(void)
{
	unregister_pernet_device(&net_ops);
}
