/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RNBDADM_RDS_VIEWS_H
#define RNBDADM_RDS_VIEWS_H

#include "output/output.h"

extern const struct view rds_socket_view, rds_connection_view, rds_stats_view;

#endif
