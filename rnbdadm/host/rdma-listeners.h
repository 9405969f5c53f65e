/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RNBDADM_HOST_RDMA_LISTENERS_H
#define RNBDADM_HOST_RDMA_LISTENERS_H

#include "base/text.h"

/*
 * Who has a CM id on this port without a peer: "process 12 (rping)", "the kernel module rtrs_server". Nobody where the
 * host has no RDMA device: a listener is of devices.
 */
void rdma_listeners(unsigned int port, struct strlist *who);

#endif
