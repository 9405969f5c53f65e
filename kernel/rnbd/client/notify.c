// SPDX-License-Identifier: GPL-2.0
/* Who is told of devices. */
#include "notify.h"

const struct rnbd_client_events *rnbd_client_events;
const struct rnbd_client_files *rnbd_client_files;
