/* SPDX-License-Identifier: GPL-2.0 */
/* Checks of the access list, which the table of the server's has. */
#ifndef RNBDADM_CHECK_ACCESS_H
#define RNBDADM_CHECK_ACCESS_H

#include "check.h"

void server_access(struct checkup *k);
void server_access_dirs(struct checkup *k);

#endif
