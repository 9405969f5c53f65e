// SPDX-License-Identifier: GPL-2.0
/* rnbd-server: exports block devices of this host to clients over RTRS. */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include "notify.h"

static ushort port_nr = 1234;
module_param(port_nr, ushort, 0444);
MODULE_PARM_DESC(port_nr, "Port to listen on (default: 1234)");

static const struct rtrs_server_ops ops = {
	.admit = rnbd_server_access_admit,
	.name_taken = rnbd_server_access_name_taken,
	.path_up = rnbd_server_access_path_up,
	.grown = rnbd_server_access_grown,
	.peer_name = rnbd_server_access_peer_name,
	.session_up = rnbd_server_session_up,
	.session_lost = rnbd_server_dev_session_lost,
	.session_down = rnbd_server_session_down,
	.request = rnbd_server_msg_request,
	.opens = rnbd_server_session_opens,
};

static int __init rnbd_server_init(void)
{
	int err;

	if (!port_nr) {
		pr_err("port_nr: must not be 0\n");
		return -EINVAL;
	}
	rnbd_server_events = &rnbd_server_nl_events;
	rnbd_server_files = &rnbd_server_sysfs_files;
	err = rnbd_server_record_init() ?: rnbd_server_session_init();
	if (err)
		return err;
	err = rnbd_server_export_init();
	if (err)
		goto session;
	err = rnbd_server_dev_init();
	if (err)
		goto export;
	err = rnbd_server_msg_init();
	if (err)
		goto dev;
	err = rnbd_server_io_init();
	if (err)
		goto msg;
	err = rnbd_server_sysfs_init();
	if (err)
		goto io;
	rnbd_server_transport = rtrs_server_open(&ops, port_nr);
	if (IS_ERR(rnbd_server_transport)) {
		err = PTR_ERR(rnbd_server_transport);
		pr_err("cannot listen on port %u: %pe%s\n", port_nr, rnbd_server_transport,
		       err == -EADDRINUSE ? "; 'rdma resource show cm_id' tells who does" : "");
		goto sysfs;
	}
	/* Last: what is registered may be called while the module is being refused. */
	err = rnbd_server_nl_init();
	if (err)
		goto close;
	return 0;

close:
	rtrs_server_close(rnbd_server_transport);
sysfs:
	rnbd_server_sysfs_exit();
io:
	rnbd_server_io_exit();
msg:
	rnbd_server_msg_exit();
dev:
	rnbd_server_dev_exit();
	rnbd_server_writers_exit();
export:
	rnbd_server_export_exit();
session:
	rnbd_server_session_exit();
	rnbd_server_access_exit();
	return err;
}

static void __exit rnbd_server_exit(void)
{
	rnbd_server_nl_exit();
	rtrs_server_close(rnbd_server_transport);	/* every session is down when it returns */
	rnbd_server_sysfs_exit();
	rnbd_server_io_exit();
	rnbd_server_msg_exit();
	rnbd_server_dev_exit();
	rnbd_server_writers_exit();
	rnbd_server_export_exit();
	rnbd_server_session_exit();
	rnbd_server_access_exit();
}

module_init(rnbd_server_init);
module_exit(rnbd_server_exit);

MODULE_DESCRIPTION("RDMA network block device: server");
MODULE_VERSION(RNBD_VERSION);
MODULE_LICENSE("GPL");
