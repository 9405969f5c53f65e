// SPDX-License-Identifier: GPL-2.0
#include "kernel/kernel.h"
#include "kernel/netlink/netlink.h"
#include "kernel/sysfs/sysfs.h"

struct kernel *kernel_open(const struct nl_config *cfg, struct nl_error *e)
{
	struct kernel *k = cfg->backend == NL_SYSFS ? NULL : netlink_open(cfg, e);

	if (k || cfg->backend == NL_NETLINK)
		return k;
	/* the same modules without the family are the in-tree ones */
	if (cfg->backend == NL_AUTO && (cfg->replay || e->kind != NL_FAIL_NO_FAMILY ||
					!sysfs_there(cfg->root)))
		return NULL;
	return sysfs_open(cfg, e);
}

void kernel_close(struct kernel *k)
{
	/* another thread is in the kernel with it; the end of the program ends both */
	if (k && !k->stuck)
		k->ops->close(k);
}

bool kernel_is_sysfs(const struct kernel *k)
{
	return k->ops == &sysfs_ops;
}
