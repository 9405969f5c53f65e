/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RNBD_COMPAT_SYSCTL_H
#define RNBD_COMPAT_SYSCTL_H

/* Tables ended with an empty entry until they were given with their size. */
#ifdef RNBD_HAVE_SYSCTL_SIZE
#define RNBD_SYSCTL_END
#else
#define RNBD_SYSCTL_END	{ }
#endif

#endif /* RNBD_COMPAT_SYSCTL_H */
