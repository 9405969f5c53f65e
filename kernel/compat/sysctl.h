/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RNBD_COMPAT_SYSCTL_H
#define RNBD_COMPAT_SYSCTL_H

/* Tables ended with an empty entry until they were given with their size. */
#ifdef RNBD_HAVE_SYSCTL_SIZE
#define RNBD_SYSCTL_END
#define rnbd_register_net_sysctl(net, path, table, size) \
	register_net_sysctl_sz(net, path, table, size)
#else
#define RNBD_SYSCTL_END	{ }
#define rnbd_register_net_sysctl(net, path, table, size) register_net_sysctl(net, path, table)
#endif

/* What a handler gets */
#ifdef RNBD_HAVE_CONST_SYSCTL
#define RNBD_CTL_TABLE	const struct ctl_table
#else
#define RNBD_CTL_TABLE	struct ctl_table
#endif

#endif /* RNBD_COMPAT_SYSCTL_H */
