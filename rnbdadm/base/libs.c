// SPDX-License-Identifier: GPL-2.0
#include <netlink/version.h>
#include <stdio.h>

#include "base/libs.h"

const char *libnl_version(void)
{
	static char buf[32];

	snprintf(buf, sizeof(buf), "%d.%d.%d", nl_ver_maj, nl_ver_min, nl_ver_mic);
	return buf;
}
