// SPDX-License-Identifier: GPL-2.0
/* Who is told of sessions and paths, and in which words. */
#include <linux/cache.h>
#include <uapi/linux/rnbd.h>
#include "notify.h"
#include "state.h"

const struct rtrs_client_events *rtrs_client_events __ro_after_init;
const struct rtrs_client_files *rtrs_client_files __ro_after_init;

unsigned int rtrs_client_path_uapi_state(unsigned int state)
{
	static const u8 map[RTRS_CLIENT_PATH_STATE_COUNT] = {
		[RTRS_CLIENT_PATH_CONNECTING]		= RNBD_PATH_STATE_CONNECTING,
		[RTRS_CLIENT_PATH_CONNECTING_ERR]	= RNBD_PATH_STATE_CLOSING,
		[RTRS_CLIENT_PATH_RECONNECTING]		= RNBD_PATH_STATE_RECONNECTING,
		[RTRS_CLIENT_PATH_CONNECTED]		= RNBD_PATH_STATE_CONNECTED,
		[RTRS_CLIENT_PATH_CLOSING]		= RNBD_PATH_STATE_CLOSING,
		[RTRS_CLIENT_PATH_CLOSED]		= RNBD_PATH_STATE_DISCONNECTED,
		[RTRS_CLIENT_PATH_DEAD]			= RNBD_PATH_STATE_DISCONNECTED,
	};

	return map[state];
}
