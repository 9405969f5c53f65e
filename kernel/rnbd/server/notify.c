// SPDX-License-Identifier: GPL-2.0
/* Who is told of openings. */
#include "notify.h"

const struct rnbd_server_events *rnbd_server_events;
const struct rnbd_server_files *rnbd_server_files;
