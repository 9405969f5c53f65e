// SPDX-License-Identifier: GPL-2.0
/* rds: reliable datagram sockets; the family, the congestion maps, the loop. */
#include <linux/module.h>
#include <net/genetlink.h>
#include "core.h"

static int __init rds_init(void)
{
	int err;

	rds_notify = rds_nl_event;
	rds_census_init();
	err = rds_msg_init();
	if (err)
		goto out_census;
	err = rds_path_wq_init();
	if (err)
		goto out_msg;
	err = rds_net_init();
	if (err)
		goto out_wq;
	err = rds_sysctl_init();
	if (err)
		goto out_net;
	err = genl_register_family(&rds_nl_family);
	if (err)
		goto out_sysctl;
	rds_info_lists_init();
	err = rds_core_transport_register(&rds_loop);
	if (err)
		goto out_nl;
	/* Last: there may be sockets from now on. */
	err = rds_family_init();
	if (err)
		goto out_loop;
	return 0;

out_loop:
	rds_core_transport_unregister(&rds_loop);
out_nl:
	genl_unregister_family(&rds_nl_family);
out_sysctl:
	rds_sysctl_exit();
out_net:
	rds_net_exit();
out_wq:
	rds_path_wq_exit();
out_msg:
	rds_msg_exit();
out_census:
	rds_census_exit();
	return err;
}

static void __exit rds_exit(void)
{
	rds_family_exit();
	rds_core_transport_unregister(&rds_loop);
	genl_unregister_family(&rds_nl_family);
	rds_sysctl_exit();
	rds_net_exit();
	rds_path_wq_exit();
	rds_msg_exit();
	rds_census_exit();
}

module_init(rds_init);
module_exit(rds_exit);

MODULE_DESCRIPTION("RDS: reliable datagram sockets");
MODULE_VERSION(RNBD_VERSION);
MODULE_LICENSE("GPL");
