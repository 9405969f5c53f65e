/* SPDX-License-Identifier: GPL-2.0 */
/* rxe.c: what Soft-RoCE needs, for the other files of rtrs-core. They do nothing elsewhere. */
#ifndef RTRS_CORE_RXE_H
#define RTRS_CORE_RXE_H

#include <linux/types.h>

struct rdma_cm_id;
struct rtrs_con;

/* Once @cm_id has its queue pair, before it connects. */
void rtrs_rxe_set_ack_timeout(struct rdma_cm_id *cm_id);

/* True: the CM id is destroyed later, and none of the caller's handlers runs. Process context. */
bool rtrs_rxe_keep_id(struct rtrs_con *con);

/* Destroys all ids that are kept. */
void rtrs_rxe_exit(void);

/* port.c; any context */
bool rtrs_cm_port_is_down(const struct rdma_cm_id *cm_id);

#endif /* RTRS_CORE_RXE_H */
