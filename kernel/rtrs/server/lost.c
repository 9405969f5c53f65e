// SPDX-License-Identifier: GPL-2.0
/*
 * A client has lost a path, and is about to send its requests over another one. Here the lost path
 * may look well, and have requests coming that are in a queue of the network still. It is closed,
 * and the client told so when its queue pairs take nothing any more. What they have taken is
 * fence.c's.
 */
#include "server.h"

static bool is_tagged(const struct rtrs_server_path *asked, const struct rtrs_server_path *path,
		      u32 tag)
{
	return rtrs_fence_tag(path->uuid, asked->fence_cnt ? path->recon_cnt : 0) == tag;
}

/* May another path of this name still take something? It is closed, and we run again. */
static bool must_wait(struct rtrs_server_path *asked, u32 tag)
{
	struct rtrs_server_session *session = asked->session;
	struct rtrs_server_path *path;
	bool found = false;

	mutex_lock(&session->lock);
	list_for_each_entry(path, &session->paths, entry) {
		if (path == asked || READ_ONCE(path->stopped) || !is_tagged(asked, path, tag))
			continue;
		rtrs_server_path_close(path, -ECONNABORTED);
		found = true;
	}
	if (found)
		rtrs_server_wait(session, &asked->lost,
				 jiffies + msecs_to_jiffies(RTRS_SERVER_STAY_MS));
	mutex_unlock(&session->lock);
	return found;
}

void rtrs_server_lost_work(struct work_struct *work)
{
	struct rtrs_server_path *path = container_of(to_delayed_work(work), struct rtrs_server_path,
						     lost.work);
	u32 tag = READ_ONCE(path->lost_tag);
	int err;

	rtrs_server_wait_end(&path->lost);
	if (must_wait(path, tag))
		return;
	err = rtrs_server_con_send_imm(path->con[0], RTRS_IMM_FENCED, tag);
	/* It would wait for an answer that is not on its way: it is to ask over another one. */
	if (err)
		rtrs_server_path_close(path, err);
}
