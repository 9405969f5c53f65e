// SPDX-License-Identifier: GPL-2.0
/* net.rds: settings of the initial namespace, for all. */
#include <linux/sysctl.h>
#include "core.h"

static unsigned long one_jiffy = 1;
unsigned long rds_sysctl_min_delay = 1;	/* jiffies */
unsigned long rds_sysctl_max_delay = HZ;
static int max_unacked_packets = 8;
static int max_unacked_bytes = 16 << 20;
int rds_sysctl_ping = 1;

static struct ctl_table table[] = {
	{
		.procname = "reconnect_min_delay_ms",
		.data = &rds_sysctl_min_delay,
		.maxlen = sizeof(unsigned long),
		.mode = 0644,
		.proc_handler = proc_doulongvec_ms_jiffies_minmax,
		.extra1 = &one_jiffy,
		.extra2 = &rds_sysctl_max_delay,
	}, {
		.procname = "reconnect_max_delay_ms",
		.data = &rds_sysctl_max_delay,
		.maxlen = sizeof(unsigned long),
		.mode = 0644,
		.proc_handler = proc_doulongvec_ms_jiffies_minmax,
		.extra1 = &rds_sysctl_min_delay,
	}, {
		.procname = "max_unacked_packets",
		.data = &max_unacked_packets,
		.maxlen = sizeof(int),
		.mode = 0644,
		.proc_handler = proc_dointvec,
	}, {
		.procname = "max_unacked_bytes",
		.data = &max_unacked_bytes,
		.maxlen = sizeof(int),
		.mode = 0644,
		.proc_handler = proc_dointvec,
	}, {
		.procname = "ping_enable",
		.data = &rds_sysctl_ping,
		.maxlen = sizeof(int),
		.mode = 0644,
		.proc_handler = proc_dointvec,
	},
	RNBD_SYSCTL_END
};

static struct ctl_table_header *header;

int rds_sysctl_init(void)
{
	header = register_net_sysctl(&init_net, "net/rds", table);
	return header ? 0 : -ENOMEM;
}

void rds_sysctl_exit(void)
{
	unregister_net_sysctl_table(header);
}
