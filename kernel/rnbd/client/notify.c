// SPDX-License-Identifier: GPL-2.0
/* Who is told of devices. */
#include <linux/cache.h>
#include "notify.h"

const struct rnbd_client_events *rnbd_client_events __ro_after_init;
const struct rnbd_client_files *rnbd_client_files __ro_after_init;
