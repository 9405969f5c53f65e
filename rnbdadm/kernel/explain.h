/* SPDX-License-Identifier: GPL-2.0 */
/* A failure of the kernel in words. */
#ifndef RNBDADM_KERNEL_EXPLAIN_H
#define RNBDADM_KERNEL_EXPLAIN_H

#include "base/failure.h"
#include "kernel/kernel.h"

/*
 * Fills @f from a netlink failure: the code for its errno, the words "what:
 * text (ENAME)", extack, attribute. Callers may set a better message after it.
 */
int fail_nl(struct fail *f, const struct nl_error *e, const char *what);

/* A server that was reached has no such device, or does not tell of it. */
void fail_no_device(struct fail *f, const char *device_path);

#endif
