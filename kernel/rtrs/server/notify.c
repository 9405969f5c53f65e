// SPDX-License-Identifier: GPL-2.0
/* Who is told of sessions and paths. */
#include "notify.h"

const struct rtrs_server_events *rtrs_server_events;
const struct rtrs_server_files *rtrs_server_files;
