/* SPDX-License-Identifier: GPL-2.0 */
/* How a path comes up. */
#ifndef RTRS_CLIENT_CONNECT_H
#define RTRS_CLIENT_CONNECT_H

#include "client.h"

/* connect.c: the process that opens the session or adds a path, or path->connect_work */
int rtrs_client_connect(struct rtrs_client_path *path, struct netlink_ext_ack *extack);

/* step.c: as connect.c. The caller starts the step behind _begin(); _wait() has its result. */
int rtrs_client_step_begin(struct rtrs_client_path *path);
int rtrs_client_step_wait(struct rtrs_client_path *path, unsigned int timeout_ms);
/* Any context but hard interrupts. */
void rtrs_client_step_done(struct rtrs_client_path *path);

/* cm.c: context of rdma_cm, may sleep */
int rtrs_client_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event);

/* info.c: as connect.c */
int rtrs_client_info(struct rtrs_client_path *path);

/* founder.c: process context */

/*
 * Sets path->founds: the server may make the session for this attempt to connect. -EBUSY: another
 * path is the founder. Called before resources are made for the path, and again before the first
 * connect request.
 */
int rtrs_client_session_found(struct rtrs_client_path *path);
void rtrs_client_session_answered(struct rtrs_client_path *path);
void rtrs_client_session_gone(struct rtrs_client_path *path);

/* join.c: process context */

/*
 * Checks the limits of a connecting path against the session; a founder sets those of the session.
 */
int rtrs_client_session_join(struct rtrs_client_path *path, struct netlink_ext_ack *extack);
/* Moves it to CONNECTED; an errno if it was lost in this moment. */
int rtrs_client_path_up(struct rtrs_client_path *path);
/* Says that a session would have the path twice. */
int rtrs_client_path_twice(const struct rtrs_path_addr *addr, struct netlink_ext_ack *extack);

#endif /* RTRS_CLIENT_CONNECT_H */
