// SPDX-License-Identifier: GPL-2.0
/* Who is told of openings. */
#include <linux/cache.h>
#include "notify.h"

const struct rnbd_server_events *rnbd_server_events __ro_after_init;
const struct rnbd_server_files *rnbd_server_files __ro_after_init;
