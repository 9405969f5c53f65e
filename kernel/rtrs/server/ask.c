// SPDX-License-Identifier: GPL-2.0
/* What a client asks for over a path is noted where it comes, and done by a work. */
#include "server.h"

void rtrs_server_slots_kick(struct rtrs_server_session *session)
{
	kref_get(&session->ref);
	if (!queue_work(rtrs_server_wq, &session->slots_work))
		rtrs_server_session_put(session);
}

void rtrs_server_slots_ask(struct rtrs_server_path *path, u32 payload)
{
	u32 number, slots;

	rtrs_imm_slots_parse(payload, &number, &slots);
	if (!path->grants || !slots || slots > rtrs_server_geo.queue_depth) {
		path_err(path, "asks for %u slots\n", slots);
		rtrs_server_path_close(path, -EPROTO);
		return;
	}
	WRITE_ONCE(path->asked, payload | RTRS_SERVER_ASKED);
	rtrs_server_slots_kick(path->session);
}

/* The client has lost the path of this tag, and says so over another, once at a time. */
void rtrs_server_lost_ask(struct rtrs_server_path *path, u32 tag)
{
	WRITE_ONCE(path->lost_tag, tag);
	mod_delayed_work(path->lost.wq, &path->lost.work, 0);
}
