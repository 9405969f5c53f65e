// SPDX-License-Identifier: GPL-2.0
/* Who is told of sessions and paths. */
#include <linux/cache.h>
#include "notify.h"

const struct rtrs_server_events *rtrs_server_events __ro_after_init;
const struct rtrs_server_files *rtrs_server_files __ro_after_init;
