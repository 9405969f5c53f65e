// SPDX-License-Identifier: GPL-2.0
/* rtrs-core: what rtrs-client and rtrs-server share, and the netlink family. */
#include <linux/module.h>
#include "main.h"
#include "rxe.h"

static int __init rtrs_core_init(void)
{
	int err;

	rtrs_census_init();
	err = rtrs_hb_wq_init();
	if (err)
		goto out_census;
	err = rtrs_aside_wq_init();
	if (err)
		goto out_hb;
	err = rtrs_nl_init();
	if (err)
		goto out_aside;
	return 0;

out_aside:
	rtrs_aside_wq_exit();
out_hb:
	rtrs_hb_wq_exit();
out_census:
	rtrs_census_exit();
	return err;
}

static void __exit rtrs_core_exit(void)
{
	rtrs_nl_exit();
	rtrs_aside_wq_exit();
	rtrs_rxe_exit();
	rtrs_hb_wq_exit();
	rtrs_census_exit();
}

module_init(rtrs_core_init);
module_exit(rtrs_core_exit);

MODULE_DESCRIPTION("RDMA transport: core of client and server, netlink family rnbd");
MODULE_VERSION(RNBD_VERSION);
MODULE_LICENSE("GPL");
