/* SPDX-License-Identifier: GPL-2.0 */
/* The protocol of RDS_INFO_*: a list that is asked for until the buffer holds it. */
#ifndef RNBDADM_RDS_INFO_H
#define RNBDADM_RDS_INFO_H

#include "rds/records.h"

/*
 * As getsockopt() answers: the size of a record, with *@len set to the bytes of all; or a negative errno,
 * -ENOSPC with *@len set to the bytes that are needed.
 */
typedef int (*rds_ask)(void *arg, int list, void *buf, uint32_t *len);

/*
 * Reads a list. 0, also where the kernel does not have it (@l->told is false); or a negative errno: -EBADMSG for an
 * answer that is no list of such records, -EOVERFLOW for one that outgrew every buffer. @l->bytes is to be freed.
 */
int rds_info(rds_ask ask, void *arg, int list, struct rds_list *l);

#endif
