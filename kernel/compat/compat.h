/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included before every file of the modules. The code is written for the
 * newest kernel API; what an older kernel lacks is made here, found by looking at
 * its headers (Kbuild), never by a version number.
 */
#ifndef RNBD_COMPAT_H
#define RNBD_COMPAT_H

/* Before the first header that prints. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "netlink.h"
#include "sysctl.h"

#endif /* RNBD_COMPAT_H */
